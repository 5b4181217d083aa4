"""A process with the large libraries loaded, from which workers are forked: a job begins 5 to 10 CPU seconds sooner.

    python -m frozenlab.jobs.warm SOCKET

One serves all sessions folders of a person on a machine without GPUs, until it has had no order for a while. It loads libraries
only: a worker imports FrozenLab's own modules itself, as they are then. Without a warm process, workers start cold.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

LIBRARIES = (
    "pandas",
    "pyarrow.parquet",
    "scipy.stats",
    "torch",
    "transformers",
    "peft",
    "trl.trainer.grpo_trainer",
    "trl.trainer.sft_trainer",
)
IDLE = 300.0
"""Seconds without an order before it ends."""
ANSWERS_WITHIN = 5.0
"""Seconds that it has to fork a worker."""
READ_AT_IMPORT = (
    "ACCELERATE",
    "HF_",
    "LD_",
    "MKL_",
    "NUMBA_",
    "OMP_",
    "OPENBLAS_",
    "PYTHON",
    "TORCH",
    "TRANSFORMERS_",
    "TRL_",
    "XDG_CACHE",
)
"""Beginnings of the environment variables that the libraries read as they are imported."""
BEGIN = b">"
"""What an order begins with, sent along with the open log."""
OFFLINE = {"HF_HUB_OFFLINE": "1"}
"""The hub's client reads this as it is imported, so a worker that asks the hub has to start itself again."""


def fork_worker(command: Sequence[str], cwd: Path, log: BinaryIO, environment: dict[str, str]) -> int | None:
    """Have a worker forked that prints into the open file ``log``; return its pid, or None if there is no warm process.

    Args:
        command: how it would be started cold: ``[executable, "-m", module, *arguments]``.
    """
    order = {"command": [*command], "cwd": str(cwd), "environment": environment}
    with suppress(OSError, ValueError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(ANSWERS_WITHIN)
        line.connect(str(socket_of(environment)))
        socket.send_fds(line, [BEGIN], [log.fileno()])
        line.sendall(json.dumps(order).encode() + b"\n")
        return int(line.makefile().readline())
    return None


def warm_up(cwd: Path, environment: dict[str, str]) -> None:
    """Start a warm process for such workers, which is ready seconds later. It ends if there is one already."""
    with suppress(OSError):  # jobs begin without it, too
        subprocess.Popen(
            [sys.executable, "-m", "frozenlab.jobs.warm", str(socket_of(environment))],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=environment | OFFLINE,
        )


def socket_of(environment: dict[str, str]) -> Path:
    """Where the warm process for workers with this environment listens: in a folder that is the person's own."""
    folder = Path(environment.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()) / f"frozenlab-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} is not yours")
    read = sorted((name, value) for name, value in (environment | OFFLINE).items() if name.startswith(READ_AT_IMPORT))
    versions = [Path(path).stat().st_mtime_ns for path in (__file__, sysconfig.get_path("purelib"))]
    return folder / hashlib.sha256(json.dumps([sys.executable, versions, read]).encode()).hexdigest()[:16]


def main(path: Path) -> None:
    """Load the libraries, then fork a worker for each order."""
    with path.with_suffix(".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # not by files.locked: workers would inherit our modules
        except BlockingIOError:
            return  # there is one already
        for name in LIBRARIES:
            import_module(name)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that no worker stays as a zombie
        path.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
            door.bind(str(path))
            door.listen()
            door.settimeout(IDLE)
            order = serve(door)
        if order is None:
            path.unlink(missing_ok=True)
            return
    become(order)


def serve(door: socket.socket) -> dict[str, Any] | None:
    """In the warm process: None, once there was no order for a while. In each worker: its order."""
    while True:
        try:
            line, _ = door.accept()
        except TimeoutError:
            return None
        with line, suppress(OSError, ValueError):  # who asks may have gone, or is none of ours
            line.settimeout(ANSWERS_WITHIN)
            _, [log], *_ = socket.recv_fds(line, len(BEGIN), 1)
            with open(log, "ab"):
                order: dict[str, Any] = json.loads(line.makefile().readline())
                pid = os.fork()
                if not pid:
                    for stream in (1, 2):
                        os.dup2(log, stream)
                    return order
            line.sendall(f"{pid}\n".encode())


def become(order: Mapping[str, Any]) -> None:
    """In the fork: do what the command would do in a process of its own."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["environment"])
    _, _, module, *arguments = order["command"]
    sys.argv, sys.path[0] = [module, *arguments], order["cwd"]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
