"""A process that only looks: the server for visitors writes no file and starts no process, whatever its pages ask for.

Python calls a hook before it opens a file to write, moves or deletes one, and before it starts or ends a process (PEP 578). In a
process that only looks the hook refuses all of that, so nothing else has to ask who sits at a page. What visitors hand in is the
exception: it is written within :func:`handing_in`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from frozenlab.base.errors import LabError

VARIABLE = "FROZENLAB_LOOK_ONLY"
"""The environment variable that makes a server one that only looks."""
WHY = "this server only shows the lab: it cannot start, stop, change or delete anything"
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
MODULES, PROGRAM = ("frozenlab.models.serve", "frozenlab.lake.kernels.warm_up"), "nvidia-smi"
"""What may be started: the process that plans for Play, the compiler of the kernels, and the list of the GPUs."""


class LookOnlyError(LabError, PermissionError):
    """This process only looks. To a library it is what a disk says that cannot be written."""


_looks, _hooked, _cache = False, False, ""
_handing_in: ContextVar[bool] = ContextVar("handing_in", default=False)


def begin(cache: Path) -> None:
    """From now on this process only looks. ``cache`` is the folder of compiled code, which it may write."""
    global _looks, _hooked, _cache
    _looks, _cache = True, os.path.realpath(cache)
    sys.dont_write_bytecode = True
    if not _hooked:  # hooks cannot be taken out again
        sys.addaudithook(_hook)
        _hooked = True


def on() -> bool:
    """Whether this process only looks."""
    return _looks


def refuse() -> None:
    """Raise LookOnlyError if this process only looks, for what the hook does not see: SQLite opens its files itself, and the
    process that plans is only written to."""
    if _looks and not _handing_in.get():
        raise LookOnlyError(WHY)


@contextmanager
def handing_in() -> Iterator[None]:
    """What happens inside is for visitors too: an answer to an exercise, and an entry of a contest."""
    token = _handing_in.set(True)
    try:
        yield
    finally:
        _handing_in.reset(token)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _looks and (harmless := _HARMLESS.get(event)) and not _handing_in.get() and not harmless(*arguments):
        raise LookOnlyError(WHY)


def _in_cache(path: Any, *_: object) -> bool:
    if isinstance(path, int):  # a file that is open already
        return True
    found = os.path.realpath(os.fsdecode(path))
    return found == os.devnull or f"{found}{os.sep}".startswith(f"{_cache}{os.sep}")


def _may_start(program: Any, arguments: Any, *_: object) -> bool:
    words = [arguments] if isinstance(arguments, str) else [os.fsdecode(word) for word in arguments]
    return words[0] == PROGRAM or (words[:2] == [sys.executable, "-m"] and words[2] in MODULES)


def _may_end(pid: int, signal: int) -> bool:
    """A process that this one has started; signal 0 only asks whether there is one."""
    import psutil

    return signal == 0 or pid in {child.pid for child in psutil.Process().children()}


MOVES = ("os.rename", "os.link", "os.symlink")
TOUCHES = ("os.mkdir", "os.remove", "os.rmdir", "os.truncate", "os.chmod", "os.chown", "os.utime", "os.setxattr", "shutil.rmtree")
SPAWNS = ("os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.exec", "os.system", "os.killpg", "pty.spawn")
_HARMLESS: dict[str, Callable[..., bool]] = {
    "open": lambda path, mode, flags: not flags & WRITES or _in_cache(path),
    "subprocess.Popen": _may_start,
    "os.kill": _may_end,
    **dict.fromkeys(MOVES, lambda source, target, *_: _in_cache(source) and _in_cache(target)),
    **dict.fromkeys(TOUCHES, _in_cache),
    **dict.fromkeys(SPAWNS, lambda *_: False),
}
"""Event -> whether what it announces is harmless, by the event's arguments."""
