"""Writing that never leaves a torn file, and reading that forgives a torn last line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pandas as pd


def write_parquet(path: Path, table: pd.DataFrame) -> None:
    """Replaces a table as a whole."""
    temporary = path.with_name(f".{path.name}.tmp")
    table.to_parquet(temporary, index=False, compression="zstd")
    os.replace(temporary, path)


def append_line(path: Path, record: dict[str, Any]) -> None:
    """Adds one JSON line in a single write, on a line of its own even if the last writer died half-way through one."""
    line = json.dumps(record, separators=(",", ":"), ensure_ascii=False) + "\n"
    with path.open("a+b") as file:
        end = file.seek(0, os.SEEK_END)
        if end:
            file.seek(end - 1)
            if file.read(1) != b"\n":
                line = "\n" + line
        file.write(line.encode())


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
