"""The processes of workers: how they start, their environment variables and threads."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from frozenlab.base import places
from frozenlab.base.files import open_to_append
from frozenlab.jobs.machine import gpus
from frozenlab.jobs.warm import fork_worker, warm_up

NICENESS = "FROZENLAB_NICENESS"
"""Environment variable with the niceness of a worker. Without it a worker is nicer than the pages."""
KEEPER = "FROZENLAB_KEEPER"
"""Environment variable with the pid of a process that the worker must not outlive. Without it a worker outlives its starter."""
NO_TELEMETRY = {"DO_NOT_TRACK": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "VLLM_NO_USAGE_STATS": "1", "WANDB_ERROR_REPORTING": "false"}
"""So that no library tells its makers what is done here."""
TRACK = "FROZENLAB_TRACK"
"""Environment variable with the tracker that follows sessions: a choice of a person, which no session file can make."""
TRACKERS = ("trackio", "wandb")
SPACE = "TRACKIO_SPACE_ID"
"""Trackio's variable with the Space on the Hugging Face hub to which it reports, if a person wants that."""
LOG = "worker.log"
"""What a worker prints, in the folder of its job."""
_AT_FIRST = dict(os.environ)


def dispatcher_environment() -> dict[str, str]:
    """The environment of a process that starts workers: this one's, without what makes this process a worker that asks no hub."""
    ours = {KEEPER, NICENESS, *({"HF_HUB_OFFLINE"} - _AT_FIRST.keys())}
    return {name: value for name, value in os.environ.items() if name not in ours}


def worker_environment(online: bool = False) -> dict[str, str]:
    """The environment of processes that import torch: no access to the Hugging Face hub (unless ``online``, or a tracker reports to a Space
    there), no telemetry, no bars for tables of examples, and no TRL warning about the extension point that sampling uses."""
    online = online or (os.environ.get(TRACK) == "trackio" and SPACE in os.environ)
    quiet = NO_TELEMETRY | {"TOKENIZERS_PARALLELISM": "false", "TRL_EXPERIMENTAL_SILENCE": "1", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}
    return os.environ | quiet | ({} if online else {"HF_HUB_OFFLINE": "1"})


def worker_command(kind: str, folder: Path) -> list[str]:
    """The command that starts the worker of a job in one process."""
    return [sys.executable, "-m", "frozenlab.jobs", kind, str(folder)]


def begin_worker(command: Sequence[str], folder: Path, environment: dict[str, str]) -> int:
    """Fork a worker from the warm process; if there is none, start the worker cold, and a warm process for the next. Returns its pid."""
    if gpus():  # a process that has used CUDA cannot be forked, and some libraries do as they are imported
        return start_worker(command, folder, environment).pid
    with open_to_append(folder / LOG) as log:
        pid = fork_worker(command, places.workplace(), log, environment)
    if pid is None:
        pid = start_worker(command, folder, environment).pid
        warm_up(places.workplace(), environment)
    return pid


def start_worker(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a worker whose output is appended to ``LOG``."""
    return start_detached(command, folder / LOG, environment)


def start_detached(command: Sequence[str], log: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a process in a group of its own, so that it outlives its starter. Its output is appended to ``log``."""
    with open_to_append(log) as output:
        return subprocess.Popen(
            command,
            cwd=places.workplace(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=environment,
        )
