"""Writing that never leaves a torn or a half-written file."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


def write_text(path: Path, text: str) -> None:
    """Replaces ``path`` as a whole: temp file, fsync, rename. Its folder is made where it is missing."""
    write_files(path.parent, {path.name: text})


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Puts files that belong together (name -> text) into ``folder``: they are all complete before the first takes its name."""
    folder.mkdir(parents=True, exist_ok=True)
    ready: dict[Path, str] = {}
    try:
        for name, text in texts.items():
            handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name[:100]}.")
            ready[folder / name] = temporary
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        for path, temporary in ready.items():
            os.replace(temporary, path)
        sync(folder)
    finally:
        for temporary in ready.values():
            Path(temporary).unlink(missing_ok=True)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """An empty file beside ``path``, of a name that nobody can foresee; it takes the place of ``path`` when the block ends without an
    error: fsync, rename."""
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}")
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    try:
        yield temporary
        sync(temporary)
        os.replace(temporary, path)
        sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Has a file's content, or what a folder's names stand for, on the disk before anything else happens."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:
        if not path.is_dir():  # some shared file systems know no fsync of folders
            raise
    finally:
        os.close(handle)


def write_folder(folder: Path, texts: Mapping[str, str]) -> None:
    """Makes ``folder`` with these files in it, all at once. Raises FileExistsError if it is there and holds anything."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"{folder} exists already: name a new folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name[:100]}."))
    try:
        temporary.chmod(0o755)
        write_files(temporary, texts)
        os.replace(temporary, folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
