"""The structured layouts: exact counts, structure where it can be had, and one golden drawing each."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from frozenlab.lake.config_cell import LAYOUTS, Layout
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


@given(boards(most=0.5).filter(lambda board: board[0] in GOLDEN and board[0] != "open"))
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


@given(st.integers(4, 16), st.floats(0.15, 0.3), SEEDS)
def test_a_bottleneck_has_walls_from_rim_to_rim(half: int, ratio: float, seed: int) -> None:
    size = 2 * half
    free = drawn("bottleneck", size, round(ratio * size * size), seed)
    gaps = [int(line.sum()) for line in (*free, *free.T)]
    assert min(gaps) in (1, 2)


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


GOLDEN: dict[Layout, str] = {
    "rooms": """
        #.....#..#
        ...##.....
        .####.##.#
        .#.#..##..
        ...##....#
        ..##..#...
        ..##..#.#.
        .....###..
        ...#..#...
        ...####...
    """,
    "corridor": """
        ..#.......
        ..#.#.#.#.
        ....#.#.#.
        ..#.#.#.#.
        ..#.#.#.#.
        ..#.#.#.#.
        ..#.#.#.#.
        ..#.#.#.#.
        ..#.#.#.#.
        ....#.#.#.
    """,
    "bottleneck": """
        #.##.#....
        ..#...#...
        ..#.....#.
        ........##
        #.....#...
        ########.#
        .....##...
        .##.....##
        ###.###.##
        ..........
    """,
    "maze": """
        .#.#...#..
        .#.###.#..
        ..........
        .###.###..
        .#...#....
        .###.###..
        .#.....#..
        .###.#.##.
        ...#.#....
        ###.......
    """,
    "open": """
        ........##
        .......###
        ........##
        ........##
        ........##
        ........##
        ......####
        ......####
        #.....####
        ####.#####
    """,
}


@pytest.mark.parametrize("layout", GOLDEN)
def test_the_golden_drawing(layout: Layout) -> None:
    assert picture(drawn(layout, 10, 35, 7)) == GOLDEN[layout].split()
