import random
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.base.cells import quotas
from frozenlab.base.errors import GenerationError
from frozenlab.lake.board import Agent, Board
from frozenlab.lake.config import EnvironmentConfig, Placement
from frozenlab.lake.config_cell import LAYOUTS, CellConfig, Layout
from frozenlab.lake.draw.feasible import infeasible, measured_rates, natural_wait_rate
from frozenlab.lake.draw.generator import generate, random_instances, realised
from frozenlab.lake.draw.hashes import canonical_hash, canonical_hashes
from frozenlab.lake.draw.stream import Stratum, Stream, holes_of
from frozenlab.lake.exits import ARROWS, DOORS
from frozenlab.lake.instance import Instance
from frozenlab.lake.rules import judge
from frozenlab.lake.solvers.solver import solve
from tests.lake.boards import boards

CONFIG = EnvironmentConfig.of(
    [
        CellConfig(agents=3, size=4, share=0.5, hole_ratio=0.2, wait_ratio=0.5),
        CellConfig(agents=3, size=6, share=0.3, hole_ratio=0.3, wait_ratio=0.1),
        CellConfig(agents=3, size=8, share=0.2, hole_ratio=0.0, wait_ratio=0.0),
    ]
)


def test_quotas_are_exact_and_the_order_is_mixed() -> None:
    instances = generate(CONFIG, 200, seed=7)
    facts = realised(instances)
    assert [(cell, f.boards, f.wait_ratio) for cell, f in facts.items()] == [("4", 100, 0.5), ("6", 60, 0.1), ("8", 40, 0.0)]
    assert all(len(i.board.holes) == holes_of(i.board.size, CONFIG.cells[i.cell].hole_ratio) for i in instances)
    assert {i.board.size for i in instances[:20]} == {4, 6, 8}
    assert len({i.id for i in instances}) == 200 and instances[0].id.endswith("_000000")


def test_one_seed_gives_the_same_boards_and_another_seed_others() -> None:
    once = generate(CONFIG, 60, seed=1)
    assert generate(CONFIG, 60, seed=1) == once
    other = generate(CONFIG, 60, seed=2)
    assert len({i.board for i in once} & {i.board for i in other}) < 5


def test_any_number_of_processes_draws_the_same_boards() -> None:
    seen: list[tuple[int, int]] = []
    config = EnvironmentConfig.of([CellConfig(size=3, share=0.9, wait_ratio=0.1), CellConfig(size=5, share=0.1)])
    alone = generate(config, 900, seed=4)
    together = generate(config, 900, seed=4, workers=2, on_progress=lambda done, wanted: seen.append((done, wanted)))
    assert together == alone
    assert len(seen) > 3 and seen[-1] == (900, 900)


def test_layouts_are_mixed_as_asked_and_keep_the_other_quotas() -> None:
    cell = CellConfig(agents=3, size=8, share=1, hole_ratio=0.35, wait_ratio=0.5, layouts={"scatter": 0.5, "maze": 0.25, "rooms": 0.25})
    instances = generate(EnvironmentConfig.of([cell]), 80, seed=0)
    assert {len(i.board.holes) for i in instances} == {holes_of(8, 0.35)}
    assert sum(bool(i.solution.needs_wait) for i in instances) == 40
    plain = generate(EnvironmentConfig.of([cell.model_copy(update={"layouts": {"scatter": 1.0}})]), 80, seed=0)
    assert len({i.board for i in plain} & {i.board for i in instances}) == 40  # the scatter half; the first of either bucket are the same


def test_the_wait_definition_decides_which_boards_count() -> None:
    config = EnvironmentConfig.uniform((6,), agents=3, hole_ratio=0.3, wait_ratio=0.5)
    by_costs = config.model_copy(update={"wait_definition": "sum_of_costs"})
    instances = generate(by_costs, 60, seed=0)
    assert sum(bool(i.solution.needs_wait) for i in instances) == 30
    assert all(solve(i.board, wait_definition="sum_of_costs").needs_wait == i.solution.needs_wait for i in instances)
    assert any(solve(i.board).needs_wait != i.solution.needs_wait for i in instances)


def test_connected_placement_keeps_every_grid() -> None:
    """With uniform placement a grid without room for the agents' ways is thrown away; with connected placement few grids are."""
    config = EnvironmentConfig.uniform((8,), agents=4, hole_ratio=0.5, wait_ratio=0.0)
    connected = generate(config.model_copy(update={"placement": "connected"}), 50, seed=0)
    uniform = generate(config, 50, seed=0)

    def reach(instances: list[Instance]) -> float:
        return sum(len(i.board.distances_to_goal(agent)) for i in instances for agent in range(i.board.num_agents)) / len(instances)

    assert reach(connected) < 0.7 * reach(uniform)


def test_the_boards_of_a_seed_are_pinned() -> None:
    """A change of the stream, the placement or the search budgets changes every recorded session's boards: bump deliberately."""
    first = generate(EnvironmentConfig.uniform((4,), wait_ratio=0.0), 1, seed=0)[0]
    assert canonical_hash(first.board) == "1c7c6260da569683"


def test_every_board_is_solved_right() -> None:
    for instance in generate(CONFIG, 60, seed=3, sum_of_costs=True):
        assert judge(instance.board, instance.solution.plan, instance.solution.makespan).outcome == "optimal"
        assert solve(instance.board, sum_of_costs=True) == instance.solution


def test_excluded_boards_do_not_come_out_not_even_turned() -> None:
    config = EnvironmentConfig.uniform((3,), agents=2, hole_ratio=0.2)
    held_out = canonical_hashes([i.board for i in generate(config, 100, seed=0)])

    def overlap(instances: Iterable[Instance]) -> int:
        return len(np.intersect1d(held_out, canonical_hashes([i.board for i in instances])))

    assert overlap(generate(config, 500, seed=1)) > 0
    assert overlap(generate(config, 500, seed=1, exclude=held_out)) == 0
    assert overlap(random_instances((3,), (2,), (0.2,), 500, seed=1, exclude=held_out)) == 0


def test_the_bulk_stream_covers_the_cells_and_does_not_depend_on_its_length() -> None:
    def stream(n: int) -> list[Board]:
        return [i.board for i in random_instances((3, 5), (2, 4), (0.1, 0.5), n, seed=0)]

    some = stream(96)
    assert {(b.num_agents, b.size) for b in some} == {(2, 3), (2, 5), (4, 3), (4, 5)}
    assert stream(40) == some[:40]
    assert next(random_instances((3, 5), (2, 4), (0.1, 0.5), 10**9, seed=0)).board == some[0]


@pytest.mark.parametrize(("layout", "furniture"), [("scatter", ""), ("corridor", ""), ("oneway", ARROWS), ("doors", DOORS[:3])])
def test_the_bulk_stream_draws_boards_of_a_layout_with_their_natural_mix_of_waits(layout: Layout, furniture: str) -> None:
    instances = list(random_instances((6,), (3,), (0.4,), 500, seed=0, layout=layout))
    letters = {letter for i in instances for row in i.board.rows for letter in row}
    assert letters == {"F", "H", *furniture}
    assert sum(not {*"".join(i.board.rows)} <= {"F", "H"} for i in instances) >= 450 * bool(furniture)
    cell = CellConfig(agents=3, size=6, share=1, hole_ratio=0.4, layouts={layout: 1.0})
    expected = natural_wait_rate(EnvironmentConfig.of([cell]), "6")  # of corridors nearly twice that of scatter
    assert expected is not None and abs(sum(bool(i.solution.needs_wait) for i in instances) / 500 - expected) < 0.06
    known = canonical_hashes([i.board for i in instances])
    others = [i.board for i in random_instances((6,), (3,), (0.4,), 50, seed=0, layout=layout, exclude=known)]
    assert not np.isin(canonical_hashes(others), known).any()


def test_a_cell_that_cannot_be_filled_is_named() -> None:
    crowded = EnvironmentConfig.uniform((3,), agents=3, hole_ratio=0.5)
    with pytest.raises(
        GenerationError, match=r"size 3: hole ratio 0\.50 leaves 4 free cells, 3 agents need 6 \(reachable: 0\.00 to 0\.38\)"
    ):
        generate(crowded, 10, seed=0)
    with pytest.raises(GenerationError, match=r"size 4: .*one agent alone never needs to WAIT \(reachable: 0\.00\)"):
        generate(EnvironmentConfig.uniform((4,), agents=1, wait_ratio=0.5), 10, seed=0)
    everything = canonical_hashes([i.board for i in random_instances((3,), (2,), (0.5,), 5000, seed=0)])
    with pytest.raises(GenerationError, match=r"size 3: .*none of them on the exclusion list"):
        generate(EnvironmentConfig.uniform((3,), hole_ratio=0.5), 10, seed=0, exclude=everything)
    with pytest.raises(GenerationError, match="no size"):
        next(random_instances((3,), (5,), (0.1,), 1, seed=0))


def test_the_reachable_hole_ratio_can_be_reached() -> None:
    for size in range(3, 11):
        for agents in range(1, 6):
            if size * size < 2 * agents:
                continue
            reason = infeasible(EnvironmentConfig.uniform((size,), agents, hole_ratio=1.0), str(size), natural=True)
            most = float(reason.rsplit("to ", 1)[1].rstrip(")"))
            assert size * size - holes_of(size, most) >= 2 * agents
            assert size * size - holes_of(size, most + 0.02 + 1 / size**2) < 2 * agents


MEASURED = [layout for layout in LAYOUTS if measured_rates(Stratum(5, 3, holes_of(5, 0.3), layout)) is not None]


@pytest.mark.parametrize(("layout", "placement"), [*((layout, "uniform") for layout in MEASURED), ("scatter", "connected")])
def test_natural_wait_rates_are_close_to_what_is_drawn(layout: Layout, placement: Placement) -> None:
    config = EnvironmentConfig.of([CellConfig(agents=3, size=5, share=1, hole_ratio=0.3, layouts={layout: 1.0})], placement=placement)
    stratum = Stratum(5, 3, holes_of(5, 0.3), layout, placement)
    drawn = [bool(solution.needs_wait) for _, solution in Stream(stratum, stratum.key("test", 0)).take([800])]
    expected = natural_wait_rate(config, "5")
    assert expected is not None and abs(sum(drawn) / 800 - expected) < 0.06


def test_natural_wait_rates_are_mixed_like_the_layouts_and_unknown_where_not_measured() -> None:
    def rate(size: int, agents: int = 3, **cell: object) -> float | None:
        whole = {"agents": agents, "size": size, "share": 1, "hole_ratio": 0.4} | cell
        return natural_wait_rate(EnvironmentConfig.of([CellConfig.model_validate(whole)]), str(size))

    maze, scatter = rate(6, layouts={"maze": 1}), rate(6)
    assert maze and scatter and rate(6, layouts={"maze": 0.5, "scatter": 0.5}) == pytest.approx((maze + scatter) / 2)
    assert rate(6, agents=1) == 0
    assert rate(32) is None
    assert {"scatter", "rooms", "corridor", "bottleneck", "maze", "open"} <= set(MEASURED)
    by_costs = EnvironmentConfig.uniform((6,)).model_copy(update={"wait_definition": "sum_of_costs"})
    assert natural_wait_rate(by_costs, "6") is None


@given(st.integers(0, 1000), st.lists(st.floats(0, 1), min_size=1, max_size=8).filter(lambda w: sum(w) > 0.01))
def test_quotas_share_out_everything_within_one_of_the_exact_part(n: int, weights: list[float]) -> None:
    shares = quotas(n, weights)
    assert sum(shares) == n
    assert all(abs(share - n * weight / sum(weights)) < 1 + 1e-6 for share, weight in zip(shares, weights, strict=True))


STEPS = [(-1, 0), (1, 0), (0, -1), (0, 1)]


def image(board: Board, turned: bool, upside: bool, mirrored: bool, order: list[int]) -> Board:
    rows = [list(row) for row in board.rows]

    def move(cell: tuple[int, int]) -> tuple[int, int]:
        r = board.height - 1 - cell[0] if upside else cell[0]
        c = board.width - 1 - cell[1] if mirrored else cell[1]
        return (c, r) if turned else (r, c)

    height, width = (board.width, board.height) if turned else (board.height, board.width)
    grid = [["F"] * width for _ in range(height)]
    for r, row in enumerate(rows):
        for c, letter in enumerate(row):
            y, x = move((r, c))
            grid[y][x] = letter
            if letter in ARROWS:
                dr, dc = STEPS[ARROWS.index(letter)]
                (y2, x2) = move((r + dr, c + dc))
                grid[y][x] = ARROWS[STEPS.index((y2 - y, x2 - x))]
            elif letter in DOORS:
                grid[y][x] = str(order.index(int(letter)))
    agents = [Agent(move(a.start), move(a.goal)) for a in board.agents]
    return Board(tuple("".join(row) for row in grid), tuple(agents[i] for i in order))


@given(boards(furnished=True), st.booleans(), st.booleans(), st.booleans(), st.randoms())
def test_the_hash_is_blind_to_symmetry_and_numbering(board: Board, a: bool, b: bool, c: bool, rng: random.Random) -> None:
    order = rng.sample(range(board.num_agents), board.num_agents)
    assert canonical_hash(image(board, a, b, c, order)) == canonical_hash(board)


def test_the_hash_tells_different_boards_apart() -> None:
    board = Board.from_text("S F G\nF F F\ns H g")
    swapped = Board(board.rows, (Agent(board.agents[0].goal, board.agents[0].start), board.agents[1]))
    crossed = Board(board.rows, (Agent((0, 0), (2, 2)), Agent((2, 0), (0, 2))))
    solid = Board.from_text("S F G\nF H F\ns H g")
    straight, column = Board.from_text("S F F G"), Board.from_text("S F\nF G")
    assert len({canonical_hash(b) for b in (board, crossed, solid, straight, column)}) == 5
    furnished = [Board.from_text(f"S F G\nF {letter} F\ns H g") for letter in "F>v^01"]
    assert len({canonical_hash(b) for b in furnished}) == 6
    assert canonical_hash(Board.from_text("S > G\nF F F\ns H g")) != canonical_hash(Board.from_text("S < G\nF F F\ns H g"))
    assert canonical_hash(swapped) != canonical_hash(board)


def test_a_config_of_many_cells_is_drawn_cell_by_cell_and_each_board_knows_its_own() -> None:
    kinds = [(2, 4, None), (3, 4, None), (3, 5, "maze"), (4, 5, "scatter")]
    cells = [CellConfig(agents=a, size=n, layout=layout, share=0.25, wait_ratio=0.5) for a, n, layout in kinds]
    config = EnvironmentConfig.of(cells)
    boards = generate(config, 40, seed=0)
    assert {name: found.boards for name, found in realised(boards).items()} == dict.fromkeys(config.cells, 10)
    assert all(config.cells[i.cell].agents == i.board.num_agents and config.cells[i.cell].size == i.board.size for i in boards)
    assert all(found.wait_ratio == 0.5 for found in realised(boards).values())


def test_boards_of_a_team_are_the_same_alone_and_among_other_teams() -> None:
    alone = {i.board for i in generate(EnvironmentConfig.uniform((4, 5), agents=3), 40, seed=3)}
    mixed = generate(EnvironmentConfig.uniform((4, 5), agents=(2, 3)), 80, seed=3)
    assert {i.board for i in mixed if i.board.num_agents == 3} == alone
