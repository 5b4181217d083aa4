import json
from pathlib import Path

import pytest
from hypothesis import given

from frozenlab.lake.board import Board, BoardError
from frozenlab.lake.instance import Instance, instances_in, write_instances
from frozenlab.lake.solvers.solver import Solution, solve
from tests.lake.boards import boards

BOARD = Board.from_text("S g F G s\nH H F H H")


@given(boards(most_side=4, most_agents=3, furnished=True))
def test_a_line_gives_the_instance_back(board: Board) -> None:
    solution = solve(board)
    read = Instance.from_line(Instance("a", board, solution).to_line())
    assert read == Instance("a", board, solution if solution.status == "solved" else Solution("undecided"))


def test_the_line_is_that_of_the_command_line_contract() -> None:
    line = json.loads(Instance("2ag_5x2_000000", BOARD, solve(BOARD, sum_of_costs=True)).to_line())
    assert line["map"][0] == "S g F G s" and line["agents"][0] == {"start": [0, 0], "goal": [0, 3]}
    assert line["optimal"]["makespan"] == 5 and line["optimal"]["needs_wait"] is True and len(line["optimal"]["plan"]) == 2


def test_a_file_gives_its_instances_back_and_names_a_bad_line(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "boards.jsonl"
    instances = [Instance(f"b{i}", BOARD, solve(BOARD)) for i in range(3)]
    write_instances(path, instances)
    assert instances_in(path.read_text()) == instances
    assert [p.name for p in path.parent.iterdir()] == ["boards.jsonl"]
    path.write_text(path.read_text() + '\n{"map": ["S F"], "agents": []}\n')
    with pytest.raises(BoardError, match="line 5: "):
        instances_in(path.read_text())


@pytest.mark.parametrize(
    ("optimal", "reason"),
    [
        (3, "must be an object"),
        ({"makespan": -1}, '"makespan" must be a whole number'),
        ({"makespan": 2, "sum_of_costs": "x"}, '"sum_of_costs"'),
        ({"makespan": 2, "needs_wait": 1}, '"needs_wait"'),
        ({"makespan": 2, "plan": ["R"]}, "one per agent"),
    ],
)
def test_a_bad_optimum_is_told(optimal: object, reason: str) -> None:
    with pytest.raises(BoardError, match=reason):
        Instance.from_line(json.dumps({**BOARD.to_dict(), "optimal": optimal}))


def test_nothing_is_left_where_writing_fails(tmp_path: Path) -> None:
    broken = Instance("x", BOARD, Solution("solved", plan=object()))  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        write_instances(tmp_path / "boards.jsonl", [broken])
    assert list(tmp_path.iterdir()) == []
