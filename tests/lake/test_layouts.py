"""The structured layouts: exact counts, structure where it can be had, and one golden drawing each."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from frozenlab.engineer.dialects.lab import parse_proposal
from frozenlab.engineer.schema import Context
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import LAYOUTS, Layout
from frozenlab.lake.draw.feasible import natural_wait_rate, undrawable
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.draw.stream import Stratum, Stream
from frozenlab.lake.layouts import LAYOUTS as RECIPES

STRUCTURED: tuple[Layout, ...] = tuple(recipe.name for recipe in RECIPES if recipe.turns)
SEEDS = st.integers(0, 2**64 - 1)


@cache
def compiled_lay_out() -> Callable[..., np.uint64]:
    """``lay_out`` as Python can call it."""
    import numba

    from frozenlab.lake.draw.layouts import lay_out

    @numba.njit(cache=True)
    def call(layout, size, holes, state, free, cells):  # type: ignore[no-untyped-def]
        return lay_out(layout, size, holes, state, free, cells)

    return call


def drawn(layout: Layout, size: int, holes: int, seed: int) -> np.ndarray:
    """``bool[size, size]``, true where the cell is frozen."""
    free = np.ones(size * size, np.uint8)
    compiled_lay_out()(LAYOUTS.index(layout), size, holes, np.uint64(seed), free, np.empty(size * size, np.int64))
    assert set(np.unique(free)) <= {0, 1}
    return free.reshape(size, size) == 1


def picture(free: np.ndarray) -> list[str]:
    return ["".join("." if cell else "#" for cell in row) for row in free]


def parts(free: np.ndarray) -> int:
    """Number of connected parts of the frozen cells."""
    left = {(int(r), int(c)) for r, c in np.argwhere(free)}
    count = 0
    while left:
        count += 1
        queue = [left.pop()]
        while queue:
            r, c = queue.pop()
            for cell in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
                if cell in left:
                    left.remove(cell)
                    queue.append(cell)
    return count


def joints(free: np.ndarray) -> int:
    """Pairs of frozen cells side by side."""
    return int((free[1:] & free[:-1]).sum() + (free[:, 1:] & free[:, :-1]).sum())


def widest_field(free: np.ndarray) -> int:
    """Side of the largest frozen square."""
    side = 0
    while min(free.shape) > side and np.lib.stride_tricks.sliding_window_view(free, (side + 1, side + 1)).all(axis=(2, 3)).any():
        side += 1
    return side


@st.composite
def boards(draw: st.DrawFn, most: float = 1.0) -> tuple[Layout, int, int, int]:
    size = draw(st.integers(3, 32))
    return draw(st.sampled_from(STRUCTURED)), size, draw(st.integers(0, int(most * size * size))), draw(SEEDS)


@given(boards())
def test_the_hole_count_is_exact_and_the_draw_is_determined(board: tuple[Layout, int, int, int]) -> None:
    free = drawn(*board)
    assert (~free).sum() == board[2]
    assert (free == drawn(*board)).all()


@given(boards(most=0.5).filter(lambda board: board[0] not in ("open", "warehouse")))
@example(("maze", 18, 134, 1))  # the spare row and column of an even size
@example(("maze", 16, 65, 4634816781030606085))  # a post between four walls
def test_no_part_of_the_lake_is_cut_off(board: tuple[Layout, int, int, int]) -> None:
    """Up to half the cells; aisles up to all of their walls, for where no cell but passages is left, one must close."""
    layout, size, holes, seed = board
    assume(layout != "corridor" or holes <= size // 2 * (size - 2))
    assert parts(drawn(layout, size, holes, seed)) == 1


@given(st.integers(2, 15), SEEDS)
def test_a_maze_at_its_own_hole_count_is_a_spanning_tree(half: int, seed: int) -> None:
    size = 2 * half + 1
    nodes = (half + 1) ** 2
    free = drawn("maze", size, size * size - (2 * nodes - 1), seed)
    assert parts(free) == 1 and joints(free) == free.sum() - 1
    assert free[::2, ::2].all()


@example(4, 0.28125, 1348)
@given(st.integers(4, 16), st.floats(0.15, 0.3), SEEDS)
def test_a_bottleneck_has_walls_from_rim_to_rim(half: int, ratio: float, seed: int) -> None:
    free = drawn("bottleneck", 2 * half, round(ratio * (2 * half) ** 2), seed)
    gaps = {int(line.sum()) for line in (*free, *free.T)}
    assert min(gaps - {0}) in (1, 2), "and the holes that are left may close a rim as a whole"


@given(st.integers(4, 16), st.floats(0.3, 0.5), SEEDS)
def test_corridors_are_one_wide(half: int, ratio: float, seed: int) -> None:
    size = 2 * half
    holes = round(ratio * size * size)
    free = drawn("corridor", size, holes, seed)
    long_walls = [(~board[1:-1:2]).sum(axis=1) >= size - 2 for board in (free, free.T, free[::-1], free.T[::-1])]
    assert max(walls.sum() for walls in long_walls) >= min(holes // size, size // 2 - 1)


@given(st.integers(12, 32), st.floats(0.2, 0.5), SEEDS)
def test_open_leaves_a_field_that_scatter_does_not(size: int, ratio: float, seed: int) -> None:
    holes = round(ratio * size * size)
    cells = np.random.default_rng(seed).permutation(size * size) >= holes
    assert widest_field(drawn("open", size, holes, seed)) > widest_field(cells.reshape(size, size))


@given(st.integers(8, 32), st.floats(0.25, 0.35), SEEDS)
def test_rooms_are_more_than_one(size: int, ratio: float, seed: int) -> None:
    """Without its doors (free cells between two holes in a line), a board of rooms falls apart."""
    free = drawn("rooms", size, round(ratio * size * size), seed)
    walled = np.pad(free, 1)
    across = ~walled[:-2, 1:-1] & ~walled[2:, 1:-1]
    along = ~walled[1:-1, :-2] & ~walled[1:-1, 2:]
    assert parts(free & ~across & ~along) >= 4


def test_layouts_have_different_names_and_words_of_their_own() -> None:
    assert len(set(LAYOUTS)) == len({recipe.words for recipe in RECIPES}) == len(RECIPES)
    assert [recipe.name for recipe in RECIPES if not recipe.turns and not recipe.furnish] == ["scatter"]


def test_boards_of_one_layout_differ() -> None:
    for layout in STRUCTURED:
        assert len({tuple(picture(drawn(layout, 8, 22, seed))) for seed in range(20)}) > 15


DRAWN_WITH_SEED_7 = """
    rooms      corridor   bottleneck maze       open       warehouse
    #.....#..# ..#....... #.##.#.... .#.#...#.. ........## #.........
    ...##..... ..#.#.#.#. ..#...#... .#.###.#.. .......### ..#.#.#.#.
    .####.##.# ....#.#.#. ..#.....#. .......... ........## ..#.#.#.#.
    .#.#..##.. ..#.#.#.#. ........## .###.###.. ........## #.........
    ...##....# ..#.#.#.#. #.....#... .#...#.... ........## #.#.#.#.#.
    ..##..#... ..#.#.#.#. ########.# .###.###.. ........## #.#.#.#.#.
    ..##..#.#. ..#.#.#.#. .....##... .#.....#.. ......#### #.........
    .....###.. ..#.#.#.#. .##.....## .###.#.##. ......#### ..#.#.#.#.
    ...#..#... ..#.#.#.#. ###.###.## ...#.#.... #.....#### #.#.#.#.#.
    ...####... ....#.#.#. .......... ###....... ####.##### ..........
"""
GOLDEN: dict[Layout, list[str]] = {
    name: rows for name, *rows in zip(*(line.split() for line in DRAWN_WITH_SEED_7.split("\n")[1:-1]), strict=True)
}
HOLES = {"warehouse": 30}
"""Of these drawings; else 35."""


@pytest.mark.parametrize("layout", GOLDEN)
def test_the_golden_drawing(layout: Layout) -> None:
    assert picture(drawn(layout, 10, HOLES.get(layout, 35), 7)) == GOLDEN[layout]


# --- warehouse, for which much is not measured or has no words --------------------------------------------------------

CONFIG = EnvironmentConfig.uniform((5, 8), agents=3, hole_ratio=0.25, wait_ratio=0.5, layouts={"warehouse": 1.0})


@given(st.integers(5, 32), st.floats(0, 0.15), SEEDS)
def test_shelves_leave_the_rim_free_and_can_be_walked_around(size: int, ratio: float, seed: int) -> None:
    free = drawn("warehouse", size, round(ratio * size * size), seed)
    assert free[0].all() and free[-1].all() and free[:, 0].all() and free[:, -1].all()
    assert parts(free) == 1


def test_without_measured_rates_boards_are_drawn_to_see_whether_a_config_can_be_had() -> None:
    """As for connected placement in a layout."""
    config = CONFIG.model_copy(update={"placement": "connected"})
    assert natural_wait_rate(config, "8") is None
    assert undrawable(config, "8") is None
    needs_wait = [instance.solution.needs_wait for instance in generate(config, 16, seed=0)]
    assert sum(map(bool, needs_wait)) == 8
    tight = EnvironmentConfig.uniform((3,), agents=2, hole_ratio=0.4, wait_ratio=1.0, layouts={"warehouse": 1.0})
    tight = tight.model_copy(update={"placement": "connected"})
    assert "in the layout warehouse gave 0 to use, too few to draw from" in (undrawable(tight, "3") or "")


def test_other_boards_need_a_wait_as_often_as_the_measured_ones() -> None:
    config = EnvironmentConfig.uniform((6,), agents=4, hole_ratio=0.4, layouts={"warehouse": 1.0})
    stratum = Stratum.of(config, "6", "warehouse")
    waits = [solution.needs_wait for _, solution in Stream(stratum, stratum.key("test", 1)).take([400])]
    assert natural_wait_rate(config, "6") == pytest.approx(sum(map(bool, waits)) / 400, abs=0.08)


def test_the_lab_dialect_has_no_words_for_it_and_keeps_it() -> None:
    context = Context(stage=0, cells=CONFIG.described(), sections={})
    kept = " ".join(f"#{n} valid#{n} unknown usually unknown because unknown" for n in (1, 2))
    config = " ".join(f"share#{n} 50% hole#{n} 30% wait#{n} keep expect unknown spread unknown" for n in (1, 2))
    after = parse_proposal(context, CONFIG, f"{kept} <config> {config}").config
    assert after.cells["8"].hole_ratio == 0.3 and after.with_layouts_of(CONFIG) == after
