"""A full disk: detected before a stage begins, and reported if it happens in the middle of one."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

from frozenlab.errors import LabError

RESERVE = ".reserve"
"""In the folder of a job that runs: space that is given back when the disk is full, so that this can be written down."""
RESERVED = 256 * 1024
NOTHING = 2**20
"""Bytes of free space with which nothing goes on."""
GO_ON = "Make room, then resume: what was done until now is kept."


class DiskFullError(LabError, RuntimeError):
    """There is no room for what comes next; the message says how much it takes, and where."""


def reserve(folder: Path) -> None:
    (folder / RESERVE).unlink(missing_ok=True)
    (folder / RESERVE).write_bytes(os.urandom(RESERVED))  # a file system that compresses would make nothing of zeros


def free_reserve(folder: Path) -> None:
    (folder / RESERVE).unlink(missing_ok=True)


def check_room(folder: Path, needed: int, what: str) -> None:
    """Raises DiskFullError if fewer than ``needed`` bytes are free where ``folder`` lies; ``what`` needs them."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise DiskFullError(
            f"The disk is too full for {what}, which takes about {needed / 1e6:.0f} MB: {free / 1e6:.0f} MB are free in {folder}. {GO_ON}"
        )


def size_of(folder: Path) -> int:
    """Bytes of all files in it."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def in_words(error: Exception, folder: Path) -> str:
    """Why a job in ``folder`` failed: a full disk by its name, whichever library met it, else what the error says."""
    if isinstance(error, LabError):
        return str(error)
    if disk_full(error) or shutil.disk_usage(folder).free < NOTHING:
        return f"The disk is full, in {folder}. {GO_ON}"
    return f"{type(error).__name__}: {error}"


def disk_full(error: BaseException) -> bool:
    """Whether an error, or one that it comes from, says that there is no space left."""
    cause = error.__cause__ or error.__context__
    full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or "No space left on device" in str(error)
    return full or (cause is not None and disk_full(cause))
