"""Writing that never leaves a torn file, and reading that forgives a torn last line."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

from frozenlab.lake.files import replacing


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
"""What a file is called until it takes its place, see :mod:`frozenlab.lake.files`."""


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
