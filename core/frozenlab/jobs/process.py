"""The processes of workers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from frozenlab.base import places
from frozenlab.base.files import open_to_append


def worker_command(kind: str, folder: Path) -> list[str]:
    """The command that starts the worker of a job in one process."""
    return [sys.executable, "-m", "frozenlab.jobs", kind, str(folder)]


def start_worker(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a worker in a process group of its own, so that it outlives its starter. Its output is appended to ``worker.log``."""
    with open_to_append(folder / "worker.log") as log:
        return subprocess.Popen(
            command,
            cwd=places.workplace(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=environment,
        )
