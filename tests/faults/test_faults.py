"""A few of each disturbance; ``make test-faults`` does all of them."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from frozenlab.session.health.alerts import of_machine, of_worker
from frozenlab.session.session import Session, SessionError
from tests.faults.harness import Bench, small_disk
from tests.running import wait_for

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("faults"))


def test_a_session_killed_after_a_checkpoint_ends_with_the_same_bits(bench: Bench) -> None:
    session = bench.at("session", "event step/1/9")
    assert (session.stage_dir(1) / "trainer" / "checkpoint-20").is_dir(), "it goes on from the eighth step of the second stage"
    assert bench.ends("session", session) == "equal"


def test_a_session_killed_at_a_random_moment_ends_with_the_same_bits(bench: Bench) -> None:
    assert bench.killed_at_random("session", 1).end == "equal"


@pytest.mark.parametrize("call", ["rename", "rmdir", ".context.json"])
def test_a_session_killed_at_the_end_of_a_stage_ends_with_the_same_bits(bench: Bench, call: str) -> None:
    last = sum(call in what for what in bench.acts) - 1
    assert bench.killed_at("session", call, last).end == "equal"


BEHIND_A_CHECKPOINT, UNDECIDED = "event step/1/9", "event validated/0"


@pytest.mark.parametrize(
    ("moment", "file", "how", "end"),
    [
        (UNDECIDED, "stages/00/policy/optimizer.pt", "gone", "equal"),
        (UNDECIDED, "stages/00/metrics.jsonl", "torn", "equal"),
        (BEHIND_A_CHECKPOINT, "stages/00/policy/model.safetensors", "zeroed", "equal"),
        (BEHIND_A_CHECKPOINT, "stages/00/environment.json", "another config", "equal"),
        (BEHIND_A_CHECKPOINT, "stages/00/context.json", "torn", "equal"),
        (BEHIND_A_CHECKPOINT, "state.json", "gone", "equal"),
        (BEHIND_A_CHECKPOINT, "baseline/validation.parquet", "without rows", "equal"),
        (BEHIND_A_CHECKPOINT, "stages/00/validation.parquet", "without a column", "equal"),
        (BEHIND_A_CHECKPOINT, "stages/00/completions.parquet", "torn", "named: completions 0"),
    ],
)
def test_a_damaged_file_is_repaired_or_named_if_its_stage_is_decided(bench: Bench, moment: str, file: str, how: str, end: str) -> None:
    assert bench.damaged("session", moment, file, how).end.startswith(end)


def test_a_stage_that_is_trained_again_says_why_and_leaves_its_decision(bench: Bench) -> None:
    session = bench.at("session", "event step/1/9")
    decided = (session.stage_dir(0) / "proposal.json").read_bytes()
    (session.stage_dir(0) / "policy" / "optimizer.pt").unlink()
    (session.stage_dir(1) / "trainer" / "checkpoint-20" / "model.safetensors").unlink()
    assert bench.ends("session", session) == "equal"
    damaged = [event for event in Session(session.dir).events() if event["kind"] == "damaged"]
    assert [event["what"] for event in damaged] == ["stages/00/policy/optimizer.pt is missing"]
    assert (session.stage_dir(0) / "proposal.json").read_bytes() == decided


def test_a_full_disk_is_reported_and_the_session_continues_once_there_is_room(bench: Bench, tmp_path: Path) -> None:
    """An alarm says that there is little room while it runs, another that it failed for that."""
    try:
        with small_disk(tmp_path / "disk", "session") as disk, ThreadPoolExecutor() as thread:
            outcome = thread.submit(bench.full_disk, disk, "session", "event step/0/9", 2**20)
            wait_for(lambda: "little-disk" in running_alarms(disk), "an alarm")
            assert outcome.result().end == "equal"
    except OSError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(
    ("kind", "call", "nth"), [("replay", "answers.parquet", 1), ("replay", "state.json", 1), ("fork", "link", 0), ("fork", "rename", 0)]
)
def test_a_replay_and_a_fork_killed_before_a_call_end_as_if_they_had_not_been(bench: Bench, kind: str, call: str, nth: int) -> None:
    assert bench.killed_at(kind, call, nth).end == "equal"


def test_a_replay_killed_at_a_random_moment_has_the_same_answers_in_the_end(bench: Bench) -> None:
    assert bench.killed_at_random("replay", 1).end == "equal"


def running_alarms(sessions: Path) -> set[str]:
    found = []
    for folder in sessions.glob("case-*/tiny"):
        with suppress(SessionError):  # it is being made
            found += of_machine(Session(folder))
    return {alert.rule for alert in found}


def test_a_worker_that_is_silent_and_one_that_is_gone_give_an_alarm(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real worker, stopped in the middle of training and then killed; only the clock is put on by its patience."""
    session = bench.fresh("session")
    with ThreadPoolExecutor() as thread:
        run = thread.submit(bench.run, session)
        wait_for(lambda: session.state().step > 1, "its second step")
        assert list(of_worker(session)) == []
        state = session.state()
        os.kill(state.pid, signal.SIGSTOP)
        try:
            now = time.time()
            monkeypatch.setattr("frozenlab.jobs.state.time.time", lambda: now + state.patience + 5)
            assert [alert.rule for alert in of_worker(session)] == ["stalled"]
        finally:
            monkeypatch.undo()
            os.kill(state.pid, signal.SIGKILL)
        assert run.result() == -9
    assert [alert.rule for alert in of_worker(session)] == ["crashed"]
    assert bench.ends("session", session) == "equal"
