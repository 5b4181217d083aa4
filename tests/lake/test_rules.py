import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.lake.board import MOVES, Board
from frozenlab.lake.rules import FAULTS, Fault, Paths, judge, judge_paths, walk
from tests.lake.boards import CROSS, boards


@pytest.mark.parametrize(
    ("plan", "fault", "step", "agents", "cell"),
    [
        (("DD", "WRR"), None, None, (), None),
        (("DD", "RR"), "vertex_conflict", 1, (0, 1), (1, 1)),
        (("UU", "RR"), "out_of_bounds", 1, (0,), (-1, 1)),
        (("DD", "WRRD"), "hole", 4, (1,), (2, 2)),
        (("D", "WWRR"), "vertex_conflict", 3, (0, 1), (1, 1)),
        (("LD", "WU"), "edge_conflict", 2, (0, 1), (1, 0)),
        (("DD", "W"), "goal_not_reached", 2, (1,), (1, 0)),
        (("", ""), "goal_not_reached", 0, (0, 1), (0, 1)),
        (("DD",), "missing_agent", None, (1,), None),
        (("URR", "RR"), "out_of_bounds", 1, (0,), (-1, 1)),
    ],
)
def test_first_fault(plan: tuple[str, ...], fault: Fault | None, step: int | None, agents: tuple[int, ...], cell: object) -> None:
    verdict = judge(CROSS, plan)
    assert (verdict.fault, verdict.step, verdict.agents, verdict.cell) == (fault, step, agents, cell)


def test_precedence_within_one_step_is_that_of_the_list_of_faults() -> None:
    board = Board.from_text("S s A H\nG g a F")
    starts = tuple(agent.start for agent in board.agents)
    leaves, falls, jumps, meets = (-1, 0), (0, 3), (1, 3), (0, 1)

    def fault(*now: tuple[int, int]) -> Fault | None:
        return judge_paths(board, tuple(zip(starts, now, strict=True))).fault

    assert fault(jumps, falls, (0, 4)) == "out_of_bounds"
    assert fault(leaves, meets, meets) == "out_of_bounds"
    assert fault(jumps, meets, falls) == "hole"
    assert fault(jumps, meets, meets) == "illegal_jump"
    assert fault(meets, (0, 0), (0, 1)) == "vertex_conflict"
    assert fault(meets, (0, 0), (0, 2)) == "edge_conflict"


def test_an_agent_whose_path_has_ended_still_blocks() -> None:
    board = Board.from_text("S s G g")
    assert judge(board, ("RR", "RRW")).outcome == "valid"
    assert judge(board, ("RRW", "R")).fault == "vertex_conflict"


def test_following_and_rotation_are_legal() -> None:
    following = Board.from_text("S s F g\nH H G H")
    assert judge(following, ("RRD", "RR")).valid
    ring = [(0, 0), (0, 1), (1, 1), (1, 0)]
    turning = tuple((cell, ring[(i + 1) % 4]) for i, cell in enumerate(ring))
    open_square = Board.from_text("S s F F\nA B F F\nG g a b")
    assert judge_paths(open_square, tuple(turning[i] for i in (0, 1, 3, 2))).fault == "goal_not_reached"


def test_a_path_must_begin_at_its_start() -> None:
    verdict = judge_paths(CROSS, (((1, 1), (2, 1)), ((1, 0),)))
    assert (verdict.fault, verdict.step, verdict.agents, verdict.cell) == ("illegal_jump", 0, (0,), (1, 1))


def test_empty_and_surplus_paths() -> None:
    assert judge_paths(CROSS, ((), ((1, 0),))).fault == "missing_agent"
    assert judge_paths(CROSS, ()).agents == (0, 1)
    assert judge_paths(CROSS, (((0, 1),),) * 3).fault == "parse_error"
    with pytest.raises(ValueError, match="3 motion strings"):
        judge(CROSS, ("", "", ""))
    with pytest.raises(ValueError, match="agent 1: 'X' is no action"):
        walk(CROSS, ("D", "X"))


def test_costs_count_waiting_on_the_goal_before_a_departure_and_not_after_the_last_arrival() -> None:
    board = Board.from_text("S G F")
    verdict = judge(board, ("RWRLWWW",), optimal_makespan=1)
    assert (verdict.makespan, verdict.sum_of_costs, verdict.outcome) == (4, 4, "suboptimal")
    assert judge(board, ("RWWW",), optimal_makespan=1).outcome == "optimal"
    assert judge(board, ("R",)).outcome == "valid"


def test_on_goal_tells_where_each_path_ends_whatever_happens_on_the_way() -> None:
    assert judge(CROSS, ("DD", "RR")).on_goal == (True, True)
    assert judge(CROSS, ("DD",)).on_goal == (True, False)


def slow_first_step(board: Board, paths: Paths) -> tuple[int, set[str]] | None:
    """The first step at which anything is wrong and all that is wrong then, by looking at every step of every agent anew."""
    for step in range(max(map(len, paths))):
        here = [path[step] if step < len(path) else path[-1] for path in paths]
        there = [path[step - 1] if step - 1 < len(path) else path[-1] for path in paths] if step else here
        wrong = set()
        for i, cell in enumerate(here):
            if cell[0] not in range(board.height) or cell[1] not in range(board.width):
                wrong.add("out_of_bounds")
            elif cell in board.holes:
                wrong.add("hole")
            elif board.rows[cell[0]][cell[1]] in "01234".replace(str(i), ""):
                wrong.add("locked_door")
            arrow = board.rows[there[i][0]][there[i][1]]
            if (
                cell != there[i]
                and arrow in "^v<>"
                and MOVES["UDLR"["^v<>".index(arrow)]] != (cell[0] - there[i][0], cell[1] - there[i][1])
            ):
                wrong.add("against_arrow")
            for j in range(i):
                if here[j] == cell:
                    wrong.add("vertex_conflict")
                if step and cell != there[i] and cell == there[j] and here[j] == there[i]:
                    wrong.add("edge_conflict")
        if wrong:
            return step, wrong
    return None


@given(boards(most_side=4, furnished=True), st.data())
def test_agrees_with_a_slow_judge(board: Board, data: st.DataObject) -> None:
    plan = tuple(data.draw(st.text(alphabet="".join(MOVES), max_size=6)) for _ in board.agents)
    verdict = judge(board, plan)
    wrong = slow_first_step(board, walk(board, plan))
    if wrong is None:
        there = all(path[-1] == agent.goal for path, agent in zip(walk(board, plan), board.agents, strict=True))
        assert verdict.fault == (None if there else "goal_not_reached")
    else:
        assert verdict.step == wrong[0]
        assert verdict.fault == min(wrong[1], key=FAULTS.index)
        assert verdict.makespan is None and verdict.optimal is False


@given(boards(most_side=4), st.data())
def test_trailing_waits_change_nothing(board: Board, data: st.DataObject) -> None:
    plan = tuple(data.draw(st.text(alphabet="".join(MOVES), max_size=6)) for _ in board.agents)
    longer = tuple(motions + "W" * data.draw(st.integers(0, 3)) for motions in plan)
    before, after = judge(board, plan), judge(board, longer)
    assert (before.fault, before.makespan, before.sum_of_costs) == (after.fault, after.makespan, after.sum_of_costs)
