"""A state is what a reader can believe: gone workers have crashed, recycled pids fool nobody."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time

import psutil

from frozenlab.jobs.state import SLOW_STALLED_AFTER, STALLED_AFTER, as_observed, own_process
from frozenlab.session.state import State


def mine(**fields: object) -> State:
    return State.model_validate({"pid": os.getpid(), "create_time": psutil.Process().create_time(), "heartbeat": time.time()} | fields)


def test_a_silent_one_is_stalled_but_a_language_model_may_be_silent_for_longer() -> None:
    silent = mine(status="running", heartbeat=time.time() - STALLED_AFTER - 1)
    assert as_observed(silent).status == "stalled"
    assert as_observed(silent.model_copy(update={"patience": SLOW_STALLED_AFTER})).status == "running"


def test_a_recycled_pid_is_not_the_worker() -> None:
    assert as_observed(mine(status="running", create_time=psutil.Process().create_time() - 60)).status == "crashed"


def test_a_worker_on_another_machine_is_judged_by_its_heartbeat_alone() -> None:
    far = mine(status="running", host="elsewhere.example", create_time=1.0)
    assert far.elsewhere and as_observed(far).status == "running"
    silent = far.model_copy(update={"heartbeat": time.time() - STALLED_AFTER - 1})
    assert as_observed(silent).status == "crashed"
    assert as_observed(silent.model_copy(update={"patience": SLOW_STALLED_AFTER})).status == "running"


def test_on_this_machine_it_is_judged_by_its_process() -> None:
    assert own_process() == {"pid": os.getpid(), "create_time": psutil.Process().create_time(), "host": socket.gethostname()}
    assert as_observed(mine(status="running", **own_process())).status == "running"
    assert as_observed(mine(status="running", host=socket.gethostname(), create_time=1.0)).status == "crashed"
    assert not State().elsewhere, "a state of before, which names no machine"


def test_a_zombie_has_crashed() -> None:
    child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    state = mine(status="running", pid=child.pid, create_time=psutil.Process(child.pid).create_time())
    assert as_observed(state).status == "running"
    child.kill()
    while psutil.Process(child.pid).status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    assert as_observed(state).status == "crashed"
    child.wait()


def test_a_queued_session_waits_however_long_its_turn_takes_but_one_that_nobody_queued_has_crashed() -> None:
    queued = State().queued()
    assert queued.host == socket.gethostname() and queued.live
    assert as_observed(queued.model_copy(update={"heartbeat": time.time() - 10**6})).status == "queued"
    assert as_observed(State(heartbeat=time.time())).status == "crashed"


def test_a_finished_state_does_not_change() -> None:
    for status in ("done", "stopped", "failed"):
        assert as_observed(State(status=status)).status == status
