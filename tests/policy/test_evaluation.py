"""Judged answers as rows of a table."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from subprocess import run
from typing import Any

import pandas as pd
import pytest

from frozenlab.lake.board import Board
from frozenlab.lake.instance import Instance
from frozenlab.lake.rules import walk
from frozenlab.lake.solvers.solver import Solution
from frozenlab.models.evaluation import answer_row, best_of_guises, evaluate, frame
from frozenlab.models.lab.policy import LabPolicy, build_network, build_tokenizer
from frozenlab.models.policy import Completion, Sampling
from frozenlab.tasks.lake.dialects import parse_plan, render_plan
from frozenlab.tasks.lake.family import LAKE
from frozenlab.tasks.lake.guises import guises


def crossing() -> Instance:
    board = Board.from_text("S F G\ns F g")
    return Instance("crossing", board, Solution("solved", 2, 4, False, ("RR", "RR")))


def row(text: str, finished: bool = True) -> dict[str, object]:
    completion = Completion(text, len(text.split()) + finished, finished)
    return answer_row(LAKE, crossing(), completion, parse_plan(crossing().board, text, finished))


def test_the_row_of_an_optimal_plan() -> None:
    got = row("r0c1 r1c1 r0c2 r1c2")
    assert list(got) == list(LAKE.columns)
    assert (got["outcome"], got["valid"], got["optimal"], got["fault"]) == ("optimal", True, True, None)
    assert (got["makespan"], got["sum_of_costs"], got["on_goal"], got["tokens"]) == (2, 4, 1.0, 5)
    assert json.loads(str(got["paths"])) == [[[0, 0], [0, 1], [0, 2]], [[1, 0], [1, 1], [1, 2]]]
    assert Board.from_dict(json.loads(str(got["board"]))) == crossing().board


def test_the_row_of_a_slow_plan() -> None:
    got = row("r0c0 r1c1 r0c1 r1c2 r0c2 r1c2")
    assert (got["outcome"], got["valid"], got["optimal"], got["makespan"], got["sum_of_costs"]) == ("suboptimal", True, False, 3, 5)


def test_the_row_of_a_conflict_names_step_agents_and_cell() -> None:
    got = row("r0c1 r1c1 r1c1 r1c1 r0c1 r1c2")
    assert (got["outcome"], got["fault"], got["step"], got["valid"]) == ("vertex_conflict", "vertex_conflict", 2, False)
    assert (json.loads(str(got["fault_agents"])), json.loads(str(got["cell"]))) == ([0, 1], [1, 1])
    assert got["on_goal"] == 0.5


@pytest.mark.parametrize(("text", "finished", "fault"), [("moves", True, "parse_error"), ("r0c1", False, "truncated")])
def test_the_row_of_an_unreadable_answer(text: str, finished: bool, fault: str) -> None:
    got = row(text, finished)
    assert (got["outcome"], got["fault"], got["paths"], got["step"], got["cell"]) == (fault, fault, None, None, None)
    assert (got["on_goal"], got["completion"]) == (0.0, text)


def test_a_table_keeps_its_types_through_parquet_whatever_its_rows(tmp_path: Path) -> None:
    for rows in ([], [row("moves")], [row("r0c1 r1c1 r0c2 r1c2"), row("moves")]):
        table = frame(rows, LAKE)
        table.to_parquet(tmp_path / "rows.parquet")
        pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "rows.parquet"), table)
        assert list(table.columns) == list(LAKE.columns)


def test_evaluate_judges_every_board_in_order() -> None:
    policy = LabPolicy(build_network(hidden=32, layers=1, intermediate=32).eval(), build_tokenizer())
    other = Instance("other", Board.from_text("S F\nF G"), Solution("solved", 2, 2, False, ("RD",)))
    done: list[int] = []
    table = evaluate(policy, [crossing(), other], on_progress=done.append)
    assert table["board_id"].tolist() == ["crossing", "other"]
    assert table["agents"].tolist() == [2, 1]
    assert done[-1] == 2
    pd.testing.assert_frame_equal(table, evaluate(policy, [crossing(), other], Sampling(batch_size=1)))


def test_reading_rows_needs_no_torch() -> None:
    modules = "frozenlab.models.evaluation, frozenlab.tasks.lake.dialects"
    code = f"import sys, {modules}; sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    assert run([sys.executable, "-c", code], check=False).returncode == 0


class Scripted:
    """Answers prompts with what is written for them, in the lab model's words."""

    family = LAKE

    def __init__(self, *texts: str) -> None:
        self.texts = texts

    def read(self, task: Instance, completion: Completion) -> Any:
        return LAKE.lab.read(task, completion.text, completion.finished)

    def answer(self, tasks: Any, sampling: Any = None, on_progress: Any = None) -> list[list[Completion]]:
        return [[Completion(text, 5, True)] for text, _ in zip(self.texts, tasks, strict=True)]


def test_the_shortest_legal_plan_of_all_guises_counts() -> None:
    task = crossing()
    plans = [(("RRL", "RR"), 0), (("WRR", "WRR"), 0), (("RR", "WRR"), 0), (("RR", "RR"), 1), (("RR", "RR"), 0), (("RR", "RR"), 0)]
    seen = guises(2, len(plans), seed=0)
    texts = [
        render_plan(guise.paths(task.board, walk(task.board, plan))) + " moves" * broken
        for guise, (plan, broken) in zip(seen, plans, strict=True)
    ]
    [row] = best_of_guises(Scripted(*texts), [task], len(plans)).to_dict("records")
    assert (row["guise"], row["valid_guises"], row["outcome"], row["makespan"], row["tokens"]) == (4, 4, "optimal", 2, 30)
    assert json.loads(row["paths"]) == [[[0, 0], [0, 1], [0, 2]], [[1, 0], [1, 1], [1, 2]]] and row["completion"] == texts[4]
    [row] = best_of_guises(Scripted(*texts[:1], "moves"), [task], 2).to_dict("records")
    assert (row["guise"], row["valid_guises"], row["fault"]) == (0, 0, "goal_not_reached"), "the answer to the board as it is"


def test_one_guise_is_a_plain_answer() -> None:
    policy = LabPolicy(build_network(hidden=32, layers=1, intermediate=32).eval(), build_tokenizer())
    tasks = [crossing(), Instance("other", Board.from_text("S F\nF G"), Solution("solved", 2, 2, False, ("RD",)))]
    done: list[int] = []
    best = best_of_guises(policy, tasks, 1, on_progress=done.append)
    pd.testing.assert_frame_equal(best[list(LAKE.columns)], evaluate(policy, tasks))
    best_of_guises(policy, tasks, 8, on_progress=done.append)
    assert (best["guise"] == 0).all() and done[-1] == 2
