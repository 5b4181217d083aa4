"""Workers forked from a process with the libraries loaded: processes of their own, as those that start cold."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from frozenlab.base import places
from frozenlab.base.files import open_to_append
from frozenlab.jobs import warm
from frozenlab.jobs.environment import worker_command, worker_environment
from frozenlab.models.settings import LanguageSettings
from frozenlab.session.store import SessionStore
from tests.builders import short_spec
from tests.running import wait_for

SCRIPT = """
import json, os, sys
print(json.dumps({
    "argv": sys.argv[1:], "pid": os.getpid(), "session": os.getsid(0), "cwd": os.getcwd(), "environment": dict(os.environ),
    "ours": [name for name in sys.modules if name.startswith("frozenlab.") and name != "frozenlab.jobs"],
    "libraries": "trl.trainer.grpo_trainer" in sys.modules,
}))
sys.exit(int(sys.argv[1]))
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Of workers, with a warm process that is ready."""
    environment = worker_environment(online=True)
    environment.pop("HF_HUB_OFFLINE", None)  # set by tests that run a worker in their own process
    warm.warm_up(places.workplace(), environment)
    folder = tmp_path_factory.mktemp("warm")
    wait_for(lambda: fork([sys.executable, "-m", "this"], folder, folder, environment), "the warm process")
    return environment


def fork(command: list[str], cwd: Path, folder: Path, environment: dict[str, str]) -> int | None:
    with open_to_append(folder / "worker.log") as log:
        return warm.fork_worker(command, cwd, log, environment)


def forked(folder: Path, environment: dict[str, str], *arguments: str) -> dict:
    """What a worker that runs the script says of itself, once it has ended."""
    (folder / "it.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "it", *arguments]
    pid = fork(command, folder, folder, environment)
    wait_for(lambda: not psutil.pid_exists(pid), "the worker to end")
    return json.loads((folder / "worker.log").read_text().splitlines()[-1]) | {"forked": pid}


def test_a_worker_is_a_process_of_its_own_with_the_libraries_alone(tmp_path: Path, environment: dict[str, str]) -> None:
    mine = environment | {"FROZENLAB_SESSIONS": str(tmp_path)}
    found = forked(tmp_path, mine, "0", "two words")
    assert found["argv"] == ["0", "two words"] and found["cwd"] == str(tmp_path)
    assert found["forked"] == found["pid"] == found["session"] != os.getsid(0)
    assert found["environment"] == mine
    assert found["libraries"] and not found["ours"]


def test_the_log_is_appended_to_and_an_error_stands_in_it(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "worker.log").write_text("before\n")
    forked(tmp_path, environment, "3")
    forked(tmp_path, environment, "0")
    assert len((tmp_path / "worker.log").read_text().splitlines()) == 3
    pid = fork([sys.executable, "-m", "nothing_of_the_kind"], tmp_path, tmp_path, environment)
    wait_for(lambda: not psutil.pid_exists(pid), "the worker to end")
    assert "nothing_of_the_kind" in (tmp_path / "worker.log").read_text()


def test_there_is_one_warm_process_which_libraries_settings_choose(tmp_path: Path, environment: dict[str, str]) -> None:
    second = [sys.executable, "-m", "frozenlab.jobs.warm", str(warm.socket_of(environment))]
    assert subprocess.run(second, cwd=places.workplace(), timeout=60).returncode == 0  # it ends at once
    assert warm.socket_of(environment | {"FROZENLAB_SESSIONS": "elsewhere"}) == warm.socket_of(environment)
    other = environment | {"OMP_NUM_THREADS": "17"}
    assert fork([sys.executable, "-m", "it"], tmp_path, tmp_path, other) is None


def test_what_is_no_order_does_not_end_it(tmp_path: Path, environment: dict[str, str]) -> None:
    for sent in (b"", b"\n", b"not json\n"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.connect(str(warm.socket_of(environment)))
            line.sendall(sent)
    assert forked(tmp_path, environment, "0")["libraries"]


def test_a_worker_that_may_ask_the_hub_starts_itself_again(tmp_path: Path, environment: dict[str, str]) -> None:
    spec = short_spec(engineer="fixed").model_copy(update={"policy": "nobody/has-this", "language": LanguageSettings()})
    job = SessionStore(tmp_path).create(spec, "online")
    command = worker_command("session", job.dir)
    pid = fork(command, places.workplace(), job.dir, environment | {"HF_ENDPOINT": "http://127.0.0.1:9"})
    assert pid is None  # the hub's client reads the address as it is imported
    pid = fork(command, places.workplace(), job.dir, environment)
    assert pid is not None
    worker = psutil.Process(pid)
    wait_for(lambda: worker.cmdline() == command, "the worker to be the cold one")
    os.killpg(pid, signal.SIGKILL)
