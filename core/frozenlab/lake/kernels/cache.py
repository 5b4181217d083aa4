"""Where the lake's compiled code is cached, and the progress of its compilation. Light: no numba here.

Kernels come in groups. A group is compiled when something first needs it, by one process at a time; a second process waits and then loads
what the first has cached. The process that compiles a group writes its progress into a small file next to the code.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from frozenlab.base import places
from frozenlab.base.errors import LabError
from frozenlab.base.files import writable
from frozenlab.base.places import CHECKOUT

Group = Literal["solver", "judge", "boards", "costs", "large", "layouts", "planners"]
GROUPS: tuple[Group, ...] = get_args(Group)
"""The optimal makespan; judging plans; drawing scatter boards; the optimal sum of costs; boards too large for an exact search;
drawing boards of the other layouts; planners for many agents."""

SIDE_BY_SIDE: tuple[tuple[Group, ...], ...] = (("solver", "costs"), ("judge", "boards", "large", "layouts", "planners"))
"""What two processes compile at the same time, in the order in which a newcomer needs it."""

LAKE = Path(__file__).parents[1]
SOURCES = sorted(
    [
        *LAKE.glob("kernels/**/*.py"),
        *LAKE.glob("draw/*.py"),
        *(LAKE / f"{name}.py" for name in ("exits", "layouts", "reward", "rules", "config")),
    ]
)
"""All files with compiled code, and those with constants that it contains."""


@cache
def cache_folder() -> Path:
    """One for each state of the sources, each numba, Python and processor: under ``NUMBA_CACHE_DIR``, or where a folder can be written: in
    ``.cache/`` of the project, of the home folder, or in the user's own part of the temporary folder.

    Numba notices a change in a cached function's own file, but not in the files of the functions that it calls.

    Raises LabError if there is no such folder.
    """
    given = os.environ.get("NUMBA_CACHE_DIR")
    if (base := next(filter(writable, [Path(given)] if given else usual_folders()), None)) is None:
        reason = f"{given}, which cannot be written" if given else "not set, and no usual place for compiled code can be written"
        raise LabError(f"NUMBA_CACHE_DIR is {reason}: set it to a folder of yours that can be")
    machine = " ".join([version("numba"), platform.python_version(), platform.machine(), processor()])
    known = hashlib.blake2b(b"".join(path.read_bytes() for path in SOURCES) + machine.encode(), digest_size=8)
    return base / known.hexdigest()


def usual_folders() -> Iterator[Path]:
    if CHECKOUT:
        yield CHECKOUT / ".cache" / "frozenlab-kernels"
    yield Path(os.environ.get("XDG_CACHE_HOME") or places.home() / ".cache") / "frozenlab-kernels"
    with suppress(OSError):  # no temporary folder either
        own = Path(tempfile.gettempdir()) / f"frozenlab-kernels-{os.getuid()}"
        own.mkdir(mode=0o700, exist_ok=True)
        found = own.lstat()
        if found.st_uid == os.getuid() and not found.st_mode & 0o022:  # what others can write there would be run
            yield own


def processor() -> str:
    """What tells this processor from those that its code does not run on."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n\n")[0].splitlines()
    except OSError:
        return platform.processor()
    return " ".join(line for line in lines if line.startswith(("model name", "flags", "Features", "CPU part")))


class Progress(NamedTuple):
    """The progress of compiling a group."""

    done: bool
    kernels: int
    of: int
    """Functions compiled so far, and their total; 0 until that is known."""
    began: float
    """Unix seconds."""

    @property
    def seconds(self) -> float:
        return max(0.0, time.time() - self.began)


def progress(group: Group) -> Progress | None:
    """None if the group is not compiled and no process is compiling it."""
    try:
        noted = json.loads((cache_folder() / f"{group}.json").read_bytes())
        at_work = noted["done"] or _alive(noted["pid"])
        return Progress(noted["done"], noted["kernels"], noted["of"], noted["began"]) if at_work else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def note(group: Group, began: float, kernels: int, of: int, done: bool = False, pid: int | None = None) -> None:
    """Writes the progress of a process, this one or ``pid``, with a group."""
    folder = cache_folder()
    state = {"pid": pid or os.getpid(), "began": began, "kernels": kernels, "of": of, "done": done}
    scratch = folder / f".{group}.{os.getpid()}.json"
    with suppress(OSError):  # where nothing can be kept there is nothing to wait for either
        folder.mkdir(parents=True, exist_ok=True)
        scratch.write_text(json.dumps(state), encoding="utf-8")
        scratch.replace(folder / f"{group}.json")


def start() -> None:
    """Starts compiling, in the background, all kernels that are neither cached nor being compiled."""
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
            for group in missing:  # so that a page that asks before the process has come to it knows that it will
                note(group, time.time(), 0, 0, pid=process.pid)


@contextmanager
def compiling(group: Group) -> Iterator[None]:
    """Keeps all others, in this process and elsewhere, from compiling the group meanwhile."""
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
