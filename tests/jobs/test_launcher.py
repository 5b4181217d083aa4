"""Detached workers: one at a time, alive without their starter, stopped politely, dead ones noticed, and all resumable."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from frozenlab.base import places
from frozenlab.base.files import write_text
from frozenlab.jobs.launcher import LaunchError, end_after_grace, release, stop
from frozenlab.jobs.machine import THREADS
from frozenlab.jobs.queue.db import QueueDB
from frozenlab.jobs.state import own_process, worker_alive
from frozenlab.session.launch import resume, start
from frozenlab.session.presets import preset_spec
from frozenlab.session.session import Session
from frozenlab.session.spec import SessionSpec
from frozenlab.session.state import State
from frozenlab.session.store import SessionStore
from tests.builders import short_spec
from tests.running import end_workers, wait_for, worker_pid

pytestmark = pytest.mark.slow


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SessionStore]:
    store = SessionStore(tmp_path)
    yield store
    own = [session for session in store.sessions() if not session.read_only]
    wait_for(lambda: all(session.state().status != "queued" for session in own), "every worker to say which process it is")
    end_workers(own)


def steps_done(session: Session) -> int:
    return sum(event["kind"] == "step" for event in session.events())


LONG = short_spec(steps=500)


def test_a_crashed_session_is_noticed_and_resumed_then_stopped(store: SessionStore) -> None:
    session = start(LONG, store)
    wait_for(lambda: steps_done(session) >= 2, "two steps")
    with pytest.raises(LaunchError, match="is running; stop it before it can be resumed"):
        resume(session, store)

    os.killpg(worker_pid(session), signal.SIGKILL)
    before = steps_done(session)
    wait_for(lambda: steps_done(session) > before, "a step by the next worker")

    stop(session)
    wait_for(lambda: session.state().status == "stopped", "the stop")
    wait_for(lambda: not worker_alive(session.state()), "the worker to end")
    with pytest.raises(LaunchError, match="it is stopped"):
        stop(session)


def test_simultaneous_launches_share_one_dispatcher_and_wait_for_their_turns(store: SessionStore) -> None:
    with ThreadPoolExecutor(4) as pool:
        sessions = list(pool.map(lambda _: start(LONG, store), range(4)))
    room = 2 if (os.cpu_count() or 1) >= THREADS * 2 else 1
    wait_for(lambda: sum(session.state().status == "running" for session in sessions) == room, "as many as there is room for")
    assert sum(session.state().status == "queued" for session in sessions) == 4 - room
    assert len(QueueDB(store.root).jobs()) == 4
    for session in sessions:
        stop(session)
    wait_for(lambda: not QueueDB(store.root).jobs(), "all to stop")
    assert {session.state().status for session in sessions} == {"stopped"}


def test_a_run_in_a_terminal_takes_its_part_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path))
    store = SessionStore()
    session = start(short_spec(), store, "first", here=True)
    (job,) = QueueDB(store.root).jobs()
    assert (job.folder, job.in_terminal, job.running, job.pid) == (str(session.dir), True, True, os.getpid())
    write_text(session.dir / "state.json", State(status="stopped").model_dump_json())
    release(session, store.root)
    assert not QueueDB(store.root).jobs()
    resume(session, store, here=True)
    assert session.state().status == "queued" and len(QueueDB(store.root).jobs()) == 1


def test_a_worker_outlives_the_process_that_started_it(store: SessionStore) -> None:
    script = (
        "import sys; from pathlib import Path; from frozenlab.session.launch import start;"
        "from frozenlab.session.store import SessionStore;"
        "from frozenlab.session.spec import SessionSpec; spec = SessionSpec.model_validate_json(sys.stdin.read());"
        "print(start(spec, SessionStore(Path(sys.argv[1]))).id)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(store.root)],
        cwd=places.ROOT, input=short_spec().model_dump_json(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    session = store.open(done.stdout.strip())
    wait_for(lambda: session.state().status == "done", "the session to end by itself")
    with pytest.raises(LaunchError, match="nothing to resume"):
        resume(session, store)


def test_a_local_process_with_the_pid_of_a_remote_worker_is_not_killed() -> None:
    bystander = subprocess.Popen(["sleep", "60"], start_new_session=True)
    far = {"pid": bystander.pid, "host": "elsewhere.example", "heartbeat": time.time() + 60, "patience": 0.1}
    end_after_grace(State.model_validate(own_process() | far))
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()


def test_recorded_sessions_are_not_resumed(store: SessionStore) -> None:
    with pytest.raises(LaunchError, match="recorded session"):
        resume(store.create(short_spec(), "example-old"), store)


@pytest.mark.parametrize(
    ("launcher", "words"),
    [
        (None, []),
        ({"processes": 1}, []),
        ({"processes": 4}, ["torch.distributed.run", "--standalone", "--nproc-per-node", "4"]),
        ({"processes": 2, "program": "accelerate"}, ["accelerate.commands.launch", "--multi_gpu", "--num_processes", "2"]),
    ],
)
def test_the_spec_names_what_starts_its_processes(launcher: dict | None, words: list[str], tmp_path: Path) -> None:
    spec = short_spec()
    if launcher:
        paper = preset_spec("paper")
        spec = SessionSpec.model_validate(paper.model_dump() | {"language": {"rows": 1, "launcher": launcher}})
    command = SessionStore(tmp_path).create(spec, "named").command()
    module = ["frozenlab.session.processes"] if words else ["frozenlab.jobs", "session"]
    assert command[0] == sys.executable and command[-len(module) - 2 :] == ["-m", *module, str(tmp_path / "named")]
    assert all(word in command for word in words) and (len(words) > 0) == (len(command) > 5)
