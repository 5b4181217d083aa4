"""A model behind a server is measured like any other, and no answer is paid for twice."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from frozenlab.engineer import hosts
from frozenlab.engineer.dialects.lab import ProposalError
from frozenlab.engineer.hosts import Server as Address
from frozenlab.experiments.benchmark.api_model import ApiModel
from frozenlab.experiments.benchmark.measuring import measure
from frozenlab.experiments.benchmark.results import report_type
from frozenlab.experiments.benchmark.task import task_for
from frozenlab.lake.words.answers import write_answer
from frozenlab.models.evaluation import evaluate
from frozenlab.models.policy import Sampling
from frozenlab.session.store import SessionStore
from frozenlab.tasks.lake.family import LAKE
from tests.api_server import EVENTS, Server, fails, sends, serving
from tests.cli.calls import answer
from tests.running import wait_for

SUITE = {"agents": (2,), "sizes": (3,), "boards_per_cell": 5, "seed": 4}


@pytest.fixture(scope="module")
def tasks() -> list[Any]:
    from frozenlab.lake.config import EnvironmentConfig
    from frozenlab.lake.suites import SuiteSpec

    return LAKE.suite(SuiteSpec(**SUITE), EnvironmentConfig.uniform((3,), agents=2))


@pytest.fixture
def boards(tasks: list[Any], tmp_path: Path) -> str:
    """The tasks as a file."""
    path = tmp_path / "boards.jsonl"
    path.write_text("\n".join(task.to_line() for task in tasks) + "\n")
    return str(path)


def solves(tasks: list[Any]) -> Any:
    """A server that knows the best plan of each board."""
    plans = {LAKE.plain.prompt(task): write_answer(task.solution.plan) for task in tasks}

    def solve(server: Server, request: dict[str, Any]) -> None:
        assert "response_format" not in request
        server.stream(f"<think>easy</think>\n{plans[request['messages'][0]['content']]}")

    return solve


def model(url: str, folder: Path, **fields: Any) -> ApiModel:
    hosts.allow(url.split("/")[2])
    return ApiModel(Address(base_url=url, model="gpt", **fields), LAKE, folder / "answers.jsonl")


def test_its_answers_are_judged_like_any_others(tasks: list[Any], tmp_path: Path) -> None:
    with serving(solves(tasks)) as server:
        steps: list[int] = []
        rows = evaluate(model(server.url, tmp_path), tasks, on_progress=steps.append)
        assert rows["optimal"].all() and steps == [1, 2, 3, 4, 5] and (rows["tokens"] == 200).all()
        again = evaluate(model(server.url, tmp_path), tasks)
        assert again.equals(rows) and len(server.seen) == 5, "kept answers are not asked for again"
        evaluate(model(server.url, tmp_path, temperature=0.1), tasks[:1])
        assert len(server.seen) == 6, "other settings, other answers"


def test_several_answers_to_a_board_are_asked_for_by_seeds_of_their_own(tasks: list[Any], tmp_path: Path) -> None:
    with serving(solves(tasks)) as server:
        once = evaluate(model(server.url, tmp_path), tasks)
        rows = evaluate(model(server.url, tmp_path), tasks, Sampling(0.7, completions=3))
    assert len(server.seen) == 15, "the first answers are there already"
    assert rows["board_id"].tolist() == [task.id for task in tasks for _ in range(3)] and rows[::3].reset_index(drop=True).equals(once)
    asked = [(request["messages"][0]["content"], request["seed"]) for request in server.seen]
    assert len({*asked}) == 15 and len({seed for _, seed in asked}) == 3


def test_a_broken_server_ends_it_and_what_came_before_is_kept(tasks: list[Any], tmp_path: Path) -> None:
    right = solves(tasks)
    with serving(right, right, right, fails(403)) as server, pytest.raises(ProposalError, match="the server answered 403"):
        evaluate(model(server.url, tmp_path), tasks)
    kept = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    with (tmp_path / "answers.jsonl").open("a") as file:
        file.write('{"key": "half')
    with serving(right) as server:
        resumed = model(server.url, tmp_path)
        assert len(dict(resumed.answers())) == len(kept)


def test_answers_that_come_beside_one_that_fails_late_are_kept(tasks: list[Any], tmp_path: Path) -> None:
    right = solves(tasks)
    first, answered = Event(), list[int]()

    def late(server: Server, request: dict[str, Any]) -> None:
        if first.is_set():
            right(server, request)
            answered.append(1)
            return
        first.set()
        wait_for(lambda: len(answered) >= 3, "the answers beside it")
        fails(403)(server, request)

    with serving(late) as server, pytest.raises(ProposalError, match="the server answered 403"):
        evaluate(model(server.url, tmp_path), tasks)
    kept = (tmp_path / "answers.jsonl").read_text().splitlines()
    assert len(kept) == len(server.seen) - 1 >= 3


@pytest.mark.parametrize("reason", ["length", "MAX_TOKENS", "max_output_tokens", "content_filter: SAFETY"])
def test_an_answer_that_is_cut_off_or_declined_counts_as_what_it_is(tasks: list[Any], tmp_path: Path, reason: str) -> None:
    event = json.dumps({"choices": [{"delta": {"content": "Agent 0: UP"}, "finish_reason": reason}]})
    with serving(sends(f"data: {event}\n\n", **EVENTS)) as server:
        rows = evaluate(model(server.url, tmp_path), tasks[:2])
    assert (rows["outcome"] == "truncated").all()


def test_the_price_is_told_before(tasks: list[Any], tmp_path: Path) -> None:
    asked = model("http://127.0.0.1:9/v1", tmp_path, max_tokens=1000, input_price=1.0, output_price=2.0)
    cost, twice = (asked.estimate(tasks, Sampling(0.7, completions=n)) for n in (1, 2))
    assert cost is not None and cost.requests == 5 and cost.answer_tokens == 5000
    assert twice is not None and twice.requests == 10
    assert cost.cost == pytest.approx((cost.prompt_tokens * 1.0 + 5000 * 2.0) / 1e6)
    assert "at most 5,000 written, which cost at most 0.01" in cost.sentence


def test_the_command_line_measures_it_and_says_how(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tasks: list[Any], boards: str
) -> None:
    with serving(solves(tasks)) as server:
        host = server.url.split("/")[2]
        found = answer(
            capsys, "evaluate", "api:gpt-9", "--base-url", server.url, "--suite", boards, "--out", str(tmp_path / "made"),
            "--allow-host", host, "--max-tokens", "500",
        )  # fmt: skip
    assert found["model"] == "api:gpt-9" and found["title"] == "gpt-9" and found["max_tokens"] == 500
    assert found["temperature"] == 0.0
    report = report_type(LAKE).model_validate_json((tmp_path / "made" / "report.json").read_text())
    assert report.how == "greedily, up to 500 tokens", "whether it thinks is not known"
    assert (tmp_path / "made" / "report.json").exists()
    assert "key" not in (tmp_path / "made" / "report.json").read_text().lower()


def test_each_guise_of_a_board_is_a_question_with_its_price(tmp_path: Path, boards: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path / "sessions"))
    costs: list[Any] = []
    with serving(lambda server, request: server.stream("There is no plan.")) as server:
        hosts.allow(server.url.split("/")[2])
        task = task_for("api:gpt", boards, SessionStore(), server=Address(base_url=server.url, model="gpt"), guises=2)
        report, rows = measure(task, "best", before_paying=costs.append)
    assert costs[0].requests == len(server.seen) == 10 and report.title == "gpt, best of 2 rotations and reflections, self-checked"
    assert (rows["guise"] == 0).all() and (rows["valid_guises"] == 0).all() and (rows["tokens"] == 400).all()


def test_a_temperature_that_the_server_refuses_is_not_claimed(
    tmp_path: Path, tasks: list[Any], boards: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path / "sessions"))
    solve = solves(tasks)

    def reasons(server: Server, request: dict[str, Any]) -> None:
        refused = json.dumps({"error": {"message": "Unsupported value", "param": "temperature"}})
        (fails(400, refused) if "temperature" in request else solve)(server, request)

    with serving(reasons) as server:
        hosts.allow(server.url.split("/")[2])
        address = Address(base_url=server.url, model="o9", temperature=0.0, max_tokens=500)
        task = task_for("api:o9", boards, SessionStore(), server=address)
        first, _ = measure(task, "first")
        requests = len(server.seen)
        again, _ = measure(task, "again")
    assert len(server.seen) == requests, "its answers were kept"
    assert first.temperature is again.temperature is None
    assert first.how == again.how == "as the server decodes, up to 500 tokens"
