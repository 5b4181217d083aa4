"""Where the lake's compiled code is kept, and how far its compilation is. Light: no numba here.

The kernels come in groups, each of which is compiled when something first needs it, by one process at a time: who comes second waits and
then loads what the first has kept. Whoever compiles a group writes into a small file beside the code how far it is.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from frozenlab.places import CHECKOUT

Group = Literal["solver", "judge", "boards", "costs", "answers", "large"]
GROUPS: tuple[Group, ...] = get_args(Group)
"""The optimal makespan; judging plans; drawing boards; the optimal sum of costs; reading answers; boards too large for an exact search."""

SIDE_BY_SIDE: tuple[tuple[Group, ...], ...] = (("solver", "costs"), ("judge", "boards", "answers", "large"))
"""What two processes compile at the same time, in the order in which a newcomer needs it."""

LAKE = Path(__file__).parents[1]
SOURCES = sorted(
    [
        *LAKE.glob("kernels/**/*.py"),
        *LAKE.glob("draw/*.py"),
        *LAKE.glob("layouts/*.py"),
        *(LAKE / f"{name}.py" for name in ("reward", "rules", "config")),
    ]
)
"""All files of compiled code, and those whose constants it has taken in."""


@cache
def cache_folder() -> Path:
    """One for each state of the sources, each numba, Python and processor: ``.cache/`` of the project (or of the home folder, where the
    project is read-only), or under ``NUMBA_CACHE_DIR``.

    Numba notices that a cached function's own file has changed, but not that a file has changed whose functions it calls.
    """
    home = CHECKOUT if CHECKOUT and os.access(CHECKOUT, os.W_OK) else Path.home()
    base = Path(os.environ.get("NUMBA_CACHE_DIR") or home / ".cache" / "frozenlab-kernels")
    machine = " ".join([version("numba"), platform.python_version(), platform.machine(), processor()])
    known = hashlib.blake2b(b"".join(path.read_bytes() for path in SOURCES) + machine.encode(), digest_size=8)
    return base / known.hexdigest()


def processor() -> str:
    """What tells this processor from those that its code does not run on."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n\n")[0].splitlines()
    except OSError:
        return platform.processor()
    return " ".join(line for line in lines if line.startswith(("model name", "flags", "Features", "CPU part")))


class Progress(NamedTuple):
    """How far the compilation of a group is."""

    done: bool
    kernels: int
    of: int
    """Functions that are compiled, of how many; 0 until that is known."""
    began: float
    """Unix seconds."""

    @property
    def seconds(self) -> float:
        return max(0.0, time.time() - self.began)


def progress(group: Group) -> Progress | None:
    """None if nobody has compiled the group and nobody is at it."""
    try:
        told = json.loads((cache_folder() / f"{group}.json").read_bytes())
        at_work = told["done"] or _alive(told["pid"])
        return Progress(told["done"], told["kernels"], told["of"], told["began"]) if at_work else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def note(group: Group, began: float, kernels: int, of: int, done: bool = False, pid: int | None = None) -> None:
    """Writes how far a process, this one or that of ``pid``, is with a group."""
    folder = cache_folder()
    told = {"pid": pid or os.getpid(), "began": began, "kernels": kernels, "of": of, "done": done}
    scratch = folder / f".{group}.{os.getpid()}.json"
    with suppress(OSError):  # where nothing can be kept there is nothing to wait for either
        folder.mkdir(parents=True, exist_ok=True)
        scratch.write_text(json.dumps(told), encoding="utf-8")
        scratch.replace(folder / f"{group}.json")


def start() -> None:
    """Has all kernels compiled in the background that are not kept yet and that nobody compiles."""
    for groups in SIDE_BY_SIDE:
        missing = [group for group in groups if progress(group) is None]
        if missing:
            process = subprocess.Popen(
                [sys.executable, "-m", "frozenlab.lake.kernels.warm_up", "--quiet", *missing],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            threading.Thread(target=process.wait, daemon=True).start()  # reaps it: who has died is no longer at work
            for group in missing:  # so that whoever asks before the process has come to it knows that it will
                note(group, time.time(), 0, 0, pid=process.pid)


@contextmanager
def compiling(group: Group) -> Iterator[None]:
    """Nobody else compiles the group meanwhile, in this process or another one."""
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / f".{group}.lock").open("a")
    except OSError:  # nothing can be kept here; numba says so itself
        yield
        return
    with lock:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
