"""Whether the contents of unpacked files are what their names say, read by a process of its own with bounded memory and time.

The libraries that read tables and weights were not made for what an enemy writes: whatever they do with a file, take all memory or crash,
it happens to a process that has nothing to lose. What this process has read once within its bounds, a page reads without harm.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from frozenlab.base.places import PACKAGE
from frozenlab.experiments.bundles import limits

MEMORY, SECONDS, OPEN_FILES = 4096 * limits.MB, 120, 64
"""Bounds of the process: bytes of address space, seconds of CPU, files."""
PATIENCE = 300.0
"""Seconds until it is ended."""
BATCH = 4096
"""Rows of a table that are read at a time."""
NPY_DIMENSIONS = 8
TOO_DEEP = f"has more than {limits.NESTED} brackets within each other"


class ContentError(ValueError):
    """A file is not what its name says; the message is the rest of a sentence about it."""


def problems(folder: Path, files: Sequence[tuple[str, str]]) -> dict[str, str]:
    """What is wrong with files in ``folder``, given as (path, format): path -> the rest of a sentence about it.

    The process that reads them may die of one; those after it are refused unread.
    """
    command = [sys.executable, "-P", "-m", "frozenlab.experiments.bundles.contents", str(folder)]
    paths = {"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(sys.path)}
    environment = paths | {"OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    listed = "".join(json.dumps(file) + "\n" for file in files)
    try:
        done = subprocess.run(
            command, input=listed.encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=PATIENCE, env=environment,
            cwd=PACKAGE.parent, check=False,
        ).stdout  # fmt: skip
    except subprocess.TimeoutExpired as late:
        done = late.stdout or b""
    answers = [json.loads(line) for line in done.splitlines() if line.endswith((b'"', b"null"))]
    found = {path: why for (path, _), why in zip(files, answers, strict=False) if why}
    unread = [path for path, _ in files[len(answers) :]]
    return (
        found
        | {path: "cannot be read within bounds of memory and time" for path in unread[:1]}
        | {path: "was not read, because another file could not be read within bounds" for path in unread[1:]}
    )


def main(folder: Path) -> None:
    """Read the files named on standard input, and print an answer for each as soon as there is one."""
    files = [json.loads(line) for line in sys.stdin]
    for limit, most in (
        (resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CPU, SECONDS), (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0),
    ):  # fmt: skip
        with suppress(ValueError, OSError):  # a system may not know a limit, or have a lower one
            resource.setrlimit(limit, (most, most))
    for path, form in files:
        print(json.dumps(problem(folder / path, form)), flush=True)


def problem(path: Path, form: str) -> str | None:
    """What is wrong with one file of a format (:mod:`frozenlab.experiments.bundles.layout`), as the rest of a sentence; None: sound."""
    try:
        READERS[form](path)
    except ContentError as error:
        return str(error)
    except MemoryError:
        return "takes more memory to read than it may"
    except Exception as error:  # a damaged file can make its reader raise anything
        return f"cannot be read: {type(error).__name__}"
    return None


def check_json(data: bytes) -> Any:
    """The value of some JSON. Raises ContentError if it is none, too large, or nested too deep."""
    if data.count(b",") + data.count(b"[") + data.count(b"{") > limits.VALUES:
        raise ContentError(f"has more than {limits.VALUES:,} values")
    try:
        value = json.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError):
        raise ContentError("is no JSON") from None
    except ValueError:
        raise ContentError("has a number of thousands of digits") from None
    except RecursionError:
        raise ContentError(TOO_DEEP) from None
    if not isinstance(value, dict):
        raise ContentError("is no JSON object")
    if depth(value) > limits.NESTED:
        raise ContentError(TOO_DEEP)
    return value


def depth(value: Any) -> int:
    """Brackets within each other."""
    level, deepest = [value], 0
    while level:
        level = [part for one in level if isinstance(one, dict | list) for part in (one.values() if isinstance(one, dict) else one)]
        deepest += 1
    return deepest


def read_lines(path: Path) -> None:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if number > limits.LINES:
                raise ContentError(f"has more than {limits.LINES:,} lines")
            check_json(line)


def read_text(path: Path) -> None:
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise ContentError("is no text in UTF-8") from None
    if "\0" in text:
        raise ContentError("is no text")


def read_table(path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.ParquetFile(path, thrift_string_size_limit=limits.FOOTER, thrift_container_size_limit=limits.COLUMNS * 10_000)
    about, schema = table.metadata, table.schema_arrow
    if about.num_columns > limits.COLUMNS or len(schema) > limits.COLUMNS:
        raise ContentError(f"has more than {limits.COLUMNS} columns")
    if about.serialized_size > limits.FOOTER:
        raise ContentError(f"has a description of more than {limits.FOOTER // limits.MB} MB")
    if about.num_rows > limits.ROWS or about.num_row_groups > 10_000:
        raise ContentError(f"has more than {limits.ROWS:,} rows")
    if sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups)) > limits.IN_MEMORY:
        raise ContentError(f"has columns of more than {limits.IN_MEMORY // limits.MB:,} MB")
    plain = (
        pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_string, pa.types.is_large_string, pa.types.is_null,
        pa.types.is_timestamp,
    )  # fmt: skip
    if odd := next((field for field in schema if not any(kind(field.type) for kind in plain)), None):
        raise ContentError(f"has a column of the type {str(odd.type)[:60]}, and tables here hold numbers and words")
    rows = memory = 0
    for batch in table.iter_batches(batch_size=BATCH, use_threads=False):
        rows, memory = rows + batch.num_rows, memory + batch.nbytes
        if rows > limits.ROWS or memory > limits.IN_MEMORY:
            raise ContentError(f"has more than {limits.ROWS:,} rows, or columns of more than {limits.IN_MEMORY // limits.MB:,} MB")


def read_arrays(path: Path) -> None:
    import numpy as np

    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if len(members) > limits.COLUMNS or any(not one.filename.endswith(".npy") or "/" in one.filename for one in members):
            raise ContentError("holds something else than arrays (npy)")
        if sum(one.file_size for one in members) > limits.IN_MEMORY:
            raise ContentError(f"unpacks to more than {limits.IN_MEMORY // limits.MB:,} MB")
        for one in members:
            with archive.open(one) as file:
                version = np.lib.format.read_magic(file)
                read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                shape, _, dtype = read_header(file)
                if dtype.hasobject:
                    raise ContentError("holds an array of objects (a pickle), which could run code")
                if len(shape) > NPY_DIMENSIONS or int(np.prod(shape, dtype=object)) * dtype.itemsize > one.file_size:
                    raise ContentError("holds an array that is larger than its data")
    with np.load(path, allow_pickle=False) as arrays:
        for name in arrays.files:
            arrays[name]


def read_weights(path: Path) -> None:
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 10 or not 2 <= length <= min(limits.HEADER, size - 8):
            raise ContentError("has no weights in it (safetensors)")
        check_json(file.read(length))
    from safetensors import safe_open

    with safe_open(path, "np") as tensors:
        tensors.keys()


READERS = {
    "json": lambda path: check_json(path.read_bytes()),
    "lines": read_lines,
    "table": read_table,
    "arrays": read_arrays,
    "weights": read_weights,
    "text": read_text,
}

if __name__ == "__main__":
    main(Path(sys.argv[1]))
