"""A full disk: detected before a stage begins, and reported if it happens in the middle of one."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

from frozenlab.base.errors import LabError

RESERVE = ".reserve"
"""A file in the folder of a running job. If the disk becomes full it is deleted, which frees the space to record that."""
RESERVED = 256 * 1024
NOTHING = 2**20
"""Bytes of free space below which no job runs."""
GO_ON = "Make room, then resume: what was done until now is kept."


class DiskFullError(LabError, RuntimeError):
    """The disk has too little space for the next part of a job; the message says where, and how much is needed."""


def reserve(folder: Path) -> None:
    (folder / RESERVE).unlink(missing_ok=True)
    (folder / RESERVE).write_bytes(os.urandom(RESERVED))  # a file system that compresses would make nothing of zeros


def free_reserve(folder: Path) -> None:
    (folder / RESERVE).unlink(missing_ok=True)


def check_room(folder: Path, needed: int, what: str) -> None:
    """Raises DiskFullError if the disk of ``folder`` has fewer free bytes than ``what`` needs."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise DiskFullError(
            f"The disk is too full for {what}, which takes about {needed / 1e6:.0f} MB: {free / 1e6:.0f} MB are free in {folder}. {GO_ON}"
        )


def size_of(folder: Path) -> int:
    """Total size of the files in ``folder``, in bytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def in_words(error: Exception, folder: Path) -> str:
    """Why a job in ``folder`` failed. A full disk is named as such, whichever library reported it."""
    if isinstance(error, LabError):
        return str(error)
    if disk_full(error) or shutil.disk_usage(folder).free < NOTHING:
        return f"The disk is full, in {folder}. {GO_ON}"
    return f"{type(error).__name__}: {error}"


def disk_full(error: BaseException) -> bool:
    """Whether an error or one of its causes says that no space is left."""
    cause = error.__cause__ or error.__context__
    full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or "No space left on device" in str(error)
    return full or (cause is not None and disk_full(cause))
