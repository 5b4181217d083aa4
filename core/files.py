"""Writing that never leaves a torn or half-written file, and reading that forgives a torn last line."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    import pandas as pd


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
    """An empty file next to ``path`` with an unpredictable name. It replaces ``path`` when the block ends without an
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


def write_parquet(path: Path, table: pd.DataFrame) -> None:
    """Replaces a table as a whole: temp file, fsync, rename."""
    with replacing(path) as temporary:
        table.to_parquet(temporary, index=False, compression="zstd")


def append_line(path: Path, record: dict[str, Any]) -> None:
    """Adds one JSON line in a single write, on a line of its own even if the last writer died half-way through one.

    Raises OSError, also where ``path`` is a link: a session folder of somebody else may lead anywhere.
    """
    line = json_line(record)
    with open_to_append(path) as file:
        end = file.seek(0, os.SEEK_END)
        if end:
            file.seek(end - 1)
            if file.read(1) != b"\n":
                line = "\n" + line
        file.write(line.encode())


def json_line(record: dict[str, Any]) -> str:
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False) + "\n"


def open_to_append(path: Path) -> BinaryIO:
    """The file, made where it is missing, read and written at its end; never another one that a link leads to."""
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    return os.fdopen(handle, "a+b")


TEMPORARY = re.compile(r"\.[\w-]+\.(json|jsonl|parquet)\.\w+")
"""What a file is called until it takes its place."""


def sweep(folder: Path) -> None:
    """Deletes what writers left in ``folder`` that were killed before their file took its place; nobody else may be writing there."""
    for path in folder.rglob(".*"):
        if TEMPORARY.fullmatch(path.name) and path.is_file():
            path.unlink()


def read_lines(path: Path, offset: int = 0) -> tuple[list[dict[str, Any]], int]:
    """The JSON objects after byte ``offset`` and the offset to go on from; half lines and lines that are not JSON objects are skipped."""
    if not path.exists():
        return [], offset
    with path.open("rb") as file:
        file.seek(offset)
        data = file.read()
    end = data.rfind(b"\n") + 1
    records = []
    for line in data[:end].splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            records.append(record)
    return records, offset + end
