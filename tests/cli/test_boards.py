"""``frozenlab solve``, ``judge`` and ``generate``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from frozenlab.cli.main import main
from frozenlab.lake.draw.hashes import canonical_hashes
from frozenlab.lake.instance import instances_in
from frozenlab.lake.rules import FAULTS
from frozenlab.lake.suites import held_out
from frozenlab.tasks.lake.words import OUTCOMES
from tests.cli.calls import answer, reason


def test_solve(capsys: pytest.CaptureFixture[str], board: str) -> None:
    solved = answer(capsys, "solve", board, "--soc")
    assert {key: solved[key] for key in ("solvable", "makespan", "sum_of_costs")} == {"solvable": True, "makespan": 6, "sum_of_costs": 12}
    assert set(solved) == {"solvable", "makespan", "bounds", "sum_of_costs", "needs_wait", "plan"}
    assert answer(capsys, "judge", board, json.dumps(solved["plan"]))["optimal"]


def test_an_unsolvable_board_is_an_answer_not_an_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("S H G\nF H F")
    assert answer(capsys, "solve", str(tmp_path / "b.txt"))["solvable"] is False


def test_judge_names_the_first_fault(capsys: pytest.CaptureFixture[str], board: str) -> None:
    verdict = answer(capsys, "judge", board, '["DDD", "W"]')
    assert verdict == {
        "valid": False, "optimal": False, "fault": "vertex_conflict", "step": 3, "agents": [0, 1], "cell": [3, 0],
        "makespan": None, "sum_of_costs": None,
    }  # fmt: skip


def test_every_fault_has_words() -> None:
    assert set(OUTCOMES) == {*FAULTS, "optimal", "suboptimal", "valid"}


def test_generate_takes_a_preset_and_any_number_of_processes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    answer(capsys, "generate", "small-first", "--agents", "3", "--n", "300", "--out", str(one))
    answer(capsys, "generate", "small-first", "--agents", "3", "--n", "300", "--out", str(two), "--workers", "2")
    assert one.read_text() == two.read_text() and one.read_text().count("\n") == 300


def test_generate_can_leave_out_the_boards_of_suites(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    config, out = tmp_path / "c.json", tmp_path / "boards.jsonl"
    config.write_text('{"agents": 2, "sizes": {"3": {"share": 1, "hole_ratio": 0.2, "wait_ratio": 0.2}}}')
    known = []
    for flags in ((), ("--exclude-held-out",)):
        answer(capsys, "generate", str(config), "--n", "300", "--out", str(out), *flags)
        hashes = canonical_hashes([instance.board for instance in instances_in(out.read_text())])
        known.append(int(np.isin(hashes, held_out()).sum()))
    assert known[0] > 0 and known[1] == 0


def test_generate_writes_solved_boards(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    config, out = tmp_path / "c.json", tmp_path / "boards.jsonl"
    config.write_text('{"agents": 2, "sizes": {"4": {"share": 0.5}, "5": {"share": 0.5, "wait_ratio": 0.5}}}')
    report = answer(capsys, "generate", str(config), "--n", "8", "--seed", "1", "--out", str(out), "--soc")
    assert report["cells"]["5"]["wait_ratio"] == 0.5
    boards = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(boards) == 8
    assert all(board["optimal"]["sum_of_costs"] >= board["optimal"]["makespan"] for board in boards)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"sizes": {}}', "sizes is empty; name at least one map size"),
        ('{"sizes": {"4": {"share": 0.5}}}', "the shares sum to 0.5; they must sum to 1"),
        ('{"sizes": {"4": {"share": 2}}}', "sizes.4.share: Input should be less than or equal to 1 (given: 2)"),
        ('{"agents": 3, "sizes": {"3": {"share": 1, "hole_ratio": 0.5}}}', "size 3"),
        ("{", "not JSON: Expecting property name enclosed in double quotes at line 1, column 2"),
    ],
)
def test_a_bad_config_is_named_and_writes_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, said: str) -> None:
    config, out = tmp_path / "c.json", tmp_path / "boards.jsonl"
    config.write_text(text)
    assert reason(capsys, "generate", str(config), "--n", "4", "--out", str(out)).startswith(said)
    assert not out.exists()


def test_solve_with_a_planner_takes_a_scenario_and_some_of_its_agents(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rows = [f"0\tmaps/m.map\t4\t2\t{x}\t0\t{x}\t1\t1" for x in range(4)]
    (tmp_path / "m.scen").write_text("version 1\n" + "\n".join(rows))
    scenario = str(tmp_path / "m.scen")
    assert "name it with --map" in reason(capsys, "solve", scenario)
    (tmp_path / "m.map").write_text("type octile\nheight 2\nwidth 4\nmap\n....\n....\n")
    found = answer(capsys, "solve", scenario, "-k", "3", "--planner", "lacam", "--seconds", "60", "--seed", "1")
    keys = {"planner", "solvable", "sum_of_costs", "makespan", "lower_bound", "proven", "seconds", "plan"}
    assert set(found) == keys and found["plan"] == ["D", "D", "D"] and found["proven"]
    assert answer(capsys, "solve", scenario, "-k", "3")["makespan"] == 1
    (tmp_path / "own.scen").write_text("1\n0,0,1,0\n")
    assert reason(capsys, "solve", str(tmp_path / "own.scen")) == "the scenario names no map: give it with --map"


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--planner", "best"], "there is no planner 'best'; use pibt"),
        (["--seconds", "3"], "--seconds is for planners: add --planner with one of"),
        (["--planner", "lacam", "--factor", "1.5"], "--factor is for the planner ecbs"),
        (["--planner", "ecbs", "--factor", "0.5"], "the factor is 0.5; ECBS takes one from 1"),
        (["--planner", "lacam", "--soc"], "--soc is for the exact solver"),
        (["--planner", "lacam", "--seconds", "-1"], "the budget is -1 s"),
        (["-k", "9"], "the board has 2 agents; 9 cannot be taken"),
        (["-k", "-1"], "--agents is -1; use at least 1"),
        (["--map", "m.map"], "--map is for files that leave their map to another one"),
    ],
)
def test_solve_refuses_what_does_not_fit_a_planner(capsys: pytest.CaptureFixture[str], board: str, flags: list[str], said: str) -> None:
    assert reason(capsys, "solve", board, *flags).startswith(said)


def test_solve_tells_progress_and_the_plan(capsys: pytest.CaptureFixture[str], board: str) -> None:
    assert main(["solve", board, "--planner", "lacam-star"]) == 0
    out, err = capsys.readouterr()
    assert "s: sum of costs 1" in err and out.startswith("LaCAM*, ") and "\nThe plan:\n  agent 0: " in out
