"""Writing files atomically, locking them, reading text and JSON of unknown origin, and keeping what was read until a file changes."""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import shutil
import stat
import time
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from html import escape
from math import inf
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, TypeVar

from frozenlab.base.errors import LabError

if TYPE_CHECKING:
    import pandas as pd

MAX_TEXT = 32 * 2**20
"""Bytes of the largest text that is read: some 20,000 boards as JSON lines."""


class TextError(LabError, ValueError):
    """A file is too large, or is not text."""


def regular(path: Path) -> Path:
    """The path itself. Raises OSError if no file is there: a folder cannot be read, a pipe is waited for, and a device has no end.

    Call it before reading a file of unknown origin.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(f"{path.name} is no file")
    return path


def writable(folder: Path) -> bool:
    """Whether this user can keep files in a folder, which is made if need be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def read_json(path: Path) -> Any:
    """The value in a JSON file of unknown origin. Raises OSError if no file is there, ValueError if it holds no JSON."""
    return json_value(regular(path).read_bytes())


def json_value(text: str | bytes, *, whole: bool = True) -> Any:
    """The value of some JSON. Raises ValueError if it is none, or nested deeper than can be read.

    Args:
        whole: whether its texts are whole; else one may end with half a surrogate pair, as a piece of a stream may.
    """
    try:
        value = json.loads(text)
        return value if not whole or (text.isascii() and "\\u" not in repr(text)) else _well_formed_within(value)
    except RecursionError:
        raise ValueError("the JSON is nested too deep") from None


def well_formed(text: str) -> str:
    """The text with the halves of surrogate pairs joined, and with U+FFFD for a half alone, which no file can hold.

    A server that streams UTF-16 may send an emoji in two pieces, and JSON may name any half.

    >>> well_formed("\\ud83d\\ude00 \\ud83d") == "\\U0001f600 \\ufffd"
    True
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _well_formed_within(value: Any) -> Any:
    """The same for every text in the value of some JSON."""
    if isinstance(value, str):
        return value if value.isascii() else well_formed(value)
    if isinstance(value, dict):
        return {_well_formed_within(key): _well_formed_within(inner) for key, inner in value.items()}
    return [_well_formed_within(inner) for inner in value] if isinstance(value, list) else value


def read_text(path: Path) -> str:
    """The text of a file. Raises TextError, and OSError if it cannot be read."""
    with path.open("rb") as file:
        return text_of(file.read(MAX_TEXT + 1), path.name)


def text_of(data: bytes, file_name: str) -> str:
    """The text in the bytes of a file. Raises TextError."""
    if len(data) > MAX_TEXT:
        raise TextError(f"{file_name} is larger than {MAX_TEXT // 2**20} MB")
    try:
        return data.decode("utf-16" if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig")  # PowerShell and Notepad write both
    except UnicodeDecodeError as error:
        raise TextError(f"{file_name} is not a text file in UTF-8 (byte {error.start})") from None


def as_csv(table: pd.DataFrame, index: bool = False) -> str:
    """A table for spreadsheets: a ' keeps each text that they would run as a formula a text. Numbers stay what they are.

    >>> import pandas as pd
    >>> as_csv(pd.DataFrame({"name": ["=1+1", "Ana"], "gain": [-1.5, 2.0]}))
    "name,gain\\n'=1+1,-1.5\\nAna,2.0\\n"
    """
    safe = table.rename(columns=no_formula, index=no_formula if index else None)
    return safe.apply(lambda column: column if column.dtype.kind in "biufM" else column.map(no_formula)).to_csv(index=index)


def as_html(title: str, style: str, body: str) -> str:
    """A page in one file, which loads nothing and runs nothing, whatever the texts in it are."""
    policy = """<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">"""
    head = f'<meta charset="utf-8">{policy}<title>{escape(title)}</title><style>{style}</style>'
    return f'<!doctype html><html lang="en">{head}{body}'


def no_formula(value: Any) -> Any:
    """The value, as text behind a ' if a spreadsheet would run it. Text behind a ; counts too: it begins a
    cell where the comma is that of decimals. A bare CR, which nothing quotes, begins a row."""
    if not isinstance(value, str) or re.fullmatch(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?", value, re.IGNORECASE):
        return value
    return re.sub(r"(^|;)(?=[=+\-@\t\r\n＝＋－＠])", r"\1'", value.replace("\r\n", "\n").replace("\r", "\n"))


def write_text(path: Path, text: str) -> None:
    """Replace ``path`` atomically: temporary file, fsync, rename. Creates its folder if it is missing."""
    write_files(path.parent, {path.name: text})


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Write several files (name -> text) into ``folder``; all are complete before the first gets its name."""
    folder.mkdir(parents=True, exist_ok=True)
    ready: dict[Path, Path] = {}
    try:
        for name, text in texts.items():
            ready[folder / name] = temporary = _empty_beside(folder / name)
            with temporary.open("w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        for path, temporary in ready.items():
            os.replace(temporary, path)
        sync(folder)
    finally:
        for temporary in ready.values():
            temporary.unlink(missing_ok=True)


def _beside(path: Path) -> Path:
    """An unpredictable name next to ``path``."""
    return path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}")


def _empty_beside(path: Path) -> Path:
    """An empty file next to ``path``, with the rights of any new file."""
    temporary = _beside(path)
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    return temporary


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """An empty file next to ``path`` with an unpredictable name. It replaces ``path`` when the block ends without an
    error: fsync, rename."""
    temporary = _empty_beside(path)
    try:
        yield temporary
        sync(temporary)
        os.replace(temporary, path)
        sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Flush a file, or the names in a folder, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:
        if not path.is_dir():  # some shared file systems cannot sync folders
            raise
    finally:
        os.close(handle)


def write_folder(folder: Path, texts: Mapping[str, str]) -> None:
    """Create ``folder`` with these files atomically. Raises FileExistsError if it exists and is not empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"{folder} exists already: name a new folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = _beside(folder)
    temporary.mkdir()
    try:
        write_files(temporary, texts)
        os.replace(temporary, folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def write_parquet(path: Path, table: pd.DataFrame) -> None:
    """Replace a table atomically: temporary file, fsync, rename."""
    with replacing(path) as temporary:
        table.to_parquet(temporary, index=False, compression="zstd")


def append_line(path: Path, record: dict[str, Any]) -> None:
    """Append one JSON line in a single write, on its own line even if the last writer was killed within one.

    Raises OSError, also if ``path`` is a link, because a stranger's session folder may lead anywhere.
    """
    line = json_line(record)
    with open_to_append(path) as file:
        end = file.seek(0, os.SEEK_END)
        if end:
            file.seek(end - 1)
            if file.read(1) != b"\n":
                line = "\n" + line
        file.write(line.encode(errors="backslashreplace"))  # half a surrogate pair, as a server may send one, is written as JSON escapes it


def json_line(record: dict[str, Any]) -> str:
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False) + "\n"


def open_to_append(path: Path) -> BinaryIO:
    """Open a file to read it and append to it, creating it if it is missing. Never follows a link."""
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    return os.fdopen(handle, "a+b")


@contextmanager
def locked(path: Path, wait: float = inf) -> Iterator[BinaryIO | None]:
    """Hold the lock of a file, which is created if it is missing. None if another process does not release it within ``wait`` seconds."""
    deadline = time.monotonic() + wait
    with open_to_append(path) as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    yield None
                    return
                time.sleep(0.05)
        yield file


TEMPORARY = re.compile(r"\..+\.\w+\.\w{8}")
"""Names of files that have not replaced their target yet: a dot, its name, a dot, and eight random letters."""


def sweep(folder: Path) -> None:
    """Delete the temporary files of killed writers in ``folder``. No other process may be writing there."""
    for path in folder.rglob(".*"):
        if TEMPORARY.fullmatch(path.name) and path.is_file():
            path.unlink()


def read_lines(path: Path, offset: int = 0) -> tuple[list[dict[str, Any]], int]:
    """The JSON objects after byte ``offset``, and the offset to continue from. Incomplete lines and other values are skipped."""
    if not path.exists():
        return [], offset
    with regular(path).open("rb") as file:
        file.seek(offset)
        data = file.read()
    end = data.rfind(b"\n") + 1
    records = []
    for line in data[:end].splitlines():
        try:
            record = json_value(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            records.append(record)
    return records, offset + end


MOST_OPENINGS = 2000
"""Brackets that are tried, the last ones of a text: each may cost a walk through the rest of it, and a model that repeats itself writes
thousands."""
MOST_NESTED = 10
"""After so many brackets in which others are nested without end nothing more is tried."""


def json_values(text: str, openings: str = "{[") -> Iterator[tuple[Any, int]]:
    """The objects or lists that begin with one of ``openings`` and lie in no other one, in order, each with the place where it ends."""
    decoder, end, nested = json.JSONDecoder(), 0, 0
    starts = [found.start() for found in re.finditer(f"[{re.escape(openings)}]", text)]
    for start in starts[-MOST_OPENINGS:]:
        if start < end or nested == MOST_NESTED:
            continue
        try:
            value, end = decoder.raw_decode(text, start)
            value = _well_formed_within(value)
        except ValueError:
            continue
        except RecursionError:
            nested += 1
            continue
        yield value, end


Result = TypeVar("Result")
Signature = tuple[int, int, int] | None
"""Time of the last change (nanoseconds), size and inode of a file; None where there is no file."""


def signature(path: str | Path) -> Signature:
    """The signature of a file, by which a change is noticed."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


class Kept(Generic[Result]):
    """``read`` with a cache for the whole process: an unchanged file is not opened again.

    All callers share a result and must not change it. Errors are raised, not cached.

    Args:
        most: number of results to keep; the least recently used go first.
    """

    def __init__(self, read: Callable[[Path], Result], most: int) -> None:
        self._read, self._most = read, most
        self._known: OrderedDict[str, tuple[Signature, Result]] = OrderedDict()
        self._guard, self._reading = Lock(), RLock()

    def __call__(self, path: Path) -> Result:
        name = str(path)
        found = self._find(name)
        if found is None:
            with self._reading:  # a second caller finds the result of the first
                found = self._find(name) or self._take(path, name)
        return found[0]

    def _find(self, name: str) -> tuple[Result] | None:
        with self._guard:
            known = self._known.get(name)
            if known is None or known[0] != signature(name):
                return None
            self._known.move_to_end(name)
            return (known[1],)

    def _take(self, path: Path, name: str) -> tuple[Result]:
        before = signature(name)  # after a change during reading, the next caller reads again
        result = self._read(path)
        with self._guard:
            self._known[name] = before, result
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return (result,)
