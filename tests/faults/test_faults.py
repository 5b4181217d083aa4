"""A few of each disturbance; ``make test-faults`` does all of them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from frozenlab.session.health.alerts import of_machine, of_worker
from frozenlab.session.session import Session, SessionError
from tests.faults.harness import Bench, small_disk
from tests.faults.jobs import JobBench
from tests.running import wait_for

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    bench = Bench(tmp_path_factory.mktemp("faults"))
    yield bench
    bench.zygote.close()


def test_a_session_killed_after_a_checkpoint_ends_with_the_same_bits(bench: Bench) -> None:
    session = bench.copy("step/1/9")
    assert (session.stage_dir(1) / "trainer" / "checkpoint-20").is_dir(), "it goes on from the eighth step of the second stage"
    assert bench.ends(session) == "equal"


def test_a_session_killed_at_a_random_moment_ends_with_the_same_bits(bench: Bench) -> None:
    assert bench.killed_at_random(1).end == "equal"


@pytest.mark.parametrize("call", ["rename", "rmdir", ".context.json"])
def test_a_session_killed_at_the_end_of_a_stage_ends_with_the_same_bits(bench: Bench, call: str) -> None:
    last = max(number for number, what in enumerate(bench.calls) if call in what)
    assert bench.killed_at_call(last).end == "equal"


@pytest.mark.parametrize(
    ("moment", "file", "how"),
    [
        ("validated/0", "stages/00/policy/optimizer.pt", "gone"),
        ("validated/0", "stages/00/metrics.jsonl", "torn"),
        ("step/1/9", "stages/00/policy/model.safetensors", "zeroed"),
        ("step/1/9", "stages/00/environment.json", "another config"),
        ("step/1/9", "stages/00/context.json", "torn"),
        ("step/1/9", "state.json", "gone"),
        ("step/1/9", "baseline/validation.parquet", "without rows"),
        ("step/1/9", "stages/00/validation.parquet", "without a column"),
    ],
)
def test_a_damaged_file_is_repaired(bench: Bench, moment: str, file: str, how: str) -> None:
    assert bench.damaged(moment, file, how).end == "equal"


def test_a_torn_table_of_a_decided_stage_is_named(bench: Bench) -> None:
    assert bench.damaged("step/1/9", "stages/00/completions.parquet", "torn").end.startswith("named: completions 0")


def test_a_stage_that_is_trained_again_says_why_and_leaves_its_decision(bench: Bench) -> None:
    session = bench.copy("step/1/9")
    decided = (session.stage_dir(0) / "proposal.json").read_bytes()
    (session.stage_dir(0) / "policy" / "optimizer.pt").unlink()
    (session.stage_dir(1) / "trainer" / "checkpoint-20" / "model.safetensors").unlink()
    assert bench.ends(session) == "equal"
    damaged = [event for event in Session(session.dir).events()[0] if event["kind"] == "damaged"]
    assert [event["what"] for event in damaged] == ["stages/00/policy/optimizer.pt is missing"]
    assert (session.stage_dir(0) / "proposal.json").read_bytes() == decided


def test_a_full_disk_is_reported_and_the_session_continues_once_there_is_room(bench: Bench, tmp_path: Path) -> None:
    """An alarm says that there is little room while it runs, another that it failed for that."""
    try:
        with small_disk(tmp_path / "disk") as disk, ThreadPoolExecutor() as thread:
            outcome = thread.submit(bench.full_disk, disk, "step/0/9", 2**20)
            wait_for(lambda: "little-disk" in running_alarms(disk), "an alarm")
            assert outcome.result().end == "equal"
    except OSError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def jobs(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> JobBench:
    return JobBench(tmp_path_factory.mktemp("jobs"), bench.zygote, ("replay", "fork"))


@pytest.mark.parametrize("call", ["answers.parquet", "state.json"])
def test_a_replay_killed_before_it_keeps_its_answers_has_the_same_in_the_end(jobs: JobBench, call: str) -> None:
    assert jobs.killed_at_call("replay", call, 1).end == "equal"


def test_a_replay_killed_at_a_random_moment_has_the_same_answers_in_the_end(jobs: JobBench) -> None:
    assert jobs.killed_at_random("replay", 1).end == "equal"


@pytest.mark.parametrize("call", ["link", "rename"])
def test_a_fork_killed_while_it_is_made_ends_with_the_same_bits(jobs: JobBench, call: str) -> None:
    assert jobs.killed_at_call("fork", call, 0).end == "equal"


def running_alarms(sessions: Path) -> set[str]:
    found = []
    for folder in sessions.glob("case-*"):
        with suppress(SessionError):  # it is being made
            found += of_machine(Session(folder))
    return {alert.rule for alert in found}


def test_a_worker_that_is_silent_and_one_that_is_gone_give_an_alarm(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real worker, stopped in the middle of training and then killed; only the clock is put on by its patience."""
    session = bench.copy()
    with ThreadPoolExecutor() as thread:
        run = thread.submit(bench.zygote.run, session)
        wait_for(lambda: session.state().step > 1, "its second step")
        assert list(of_worker(session)) == []
        state = session.state()
        assert state.pid is not None
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
    assert bench.ends(session) == "equal"
