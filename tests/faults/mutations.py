"""Damages a folder in ways that only its seed decides: as a torn disk, another program or a stranger would leave it."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

VALUES: tuple[Any, ...] = (
    None, True, False, "", "x", "7", "-1", 0, -1, 7, 3.5, 1000, 2**31, 2**63, 10**30, 1e300, float("nan"), float("inf"),
    [], [1], [[]], ["x"], [None], {}, {"": None}, {"kind": "x"}, "../../etc/passwd", "/dev/zero", "example-quick", "case",
    "a\x00b", "\ud800",
    "<script>alert(1)</script>", "![x](http://example.com/x)", "{0}{x}%s%d", "$\\frac{1}{0}$",
    "x" * 100_000, "\n" * 1000, "\u202e\u0301" * 50,
)  # fmt: skip
"""What stands in the place of a JSON value."""
DEEP = 100_000
"""Brackets within each other."""
HUGE = 2**20
"""Bytes of a huge line."""
LINKS = ("nowhere", ".", "..", "/dev/zero", "/dev/null", "/etc/passwd", "/proc/self/mem")
"""Where links lead."""
NAMES = (
    "x",
    "x.json",
    ".state.json.abc",
    "stop",
    "labels.json",
    "origin.json",
    "given.json",
    "report.json",
    "task.json",
    "run.json",
    "99",
    "-1",
)
"""Of files and folders that nobody expects."""

Damage = Callable[[Path, random.Random], None]


def damaged(folder: Path, draw: random.Random) -> list[str]:
    """Damages ``folder`` in one to three places; returns what was done, as ``how path``."""
    done = []
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        paths = sorted(path for path in folder.rglob("*") if not path.is_symlink())
        files = [path for path in paths if path.is_file()]
        if not files:
            return done
        if draw.random() < 0.2:
            how, path = draw.choice(OF_TREES), draw.choice(paths)
        else:
            path = draw.choice(files)
            how = way_of_file(path, draw)
        try:
            how(path, draw)
        except Exception:  # it was damaged before, so that its format cannot be read
            continue
        done.append(f"{how.__name__} {path.relative_to(folder)}")
    return done


def way_of_file(path: Path, draw: random.Random) -> Damage:
    """A way in which the content of a file may be damaged."""
    return draw.choice((*BY_SUFFIX.get(path.suffix, ()), *BY_SUFFIX.get(path.suffix, ()), *OF_BYTES))


# --- bytes -----------------------------------------------------------------------------------------------------------


def cut(path: Path, draw: random.Random) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: draw.randrange(len(data))])


def flipped(path: Path, draw: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(draw.randint(1, 8)):
        data[draw.randrange(len(data))] = draw.randrange(256)
    path.write_bytes(data)


def inserted(path: Path, draw: random.Random) -> None:
    data, at = path.read_bytes(), draw.randrange(path.stat().st_size + 1)
    what = draw.choice((b"\xff", b"\x00" * 9, b"\xed\xa0\x80", b"\xef\xbb\xbf", b"{", b'"', b"\n", b"\r\n\r\n", b",", b"9" * 5000, b"NaN"))
    path.write_bytes(data[:at] + what + data[at:])


def zeroed(path: Path, draw: random.Random) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def emptied(path: Path, draw: random.Random) -> None:
    path.write_bytes(b"")


def brackets(path: Path, draw: random.Random) -> None:
    path.write_bytes(draw.choice((b"[", b'{"a":', b"[[], ")) * DEEP)


def huge_line(path: Path, draw: random.Random) -> None:
    path.write_bytes(path.read_bytes() + draw.choice((b"x", b" ", b"1", b"\xf0")) * HUGE + draw.choice((b"", b"\n")))


def twice(path: Path, draw: random.Random) -> None:
    path.write_bytes(path.read_bytes() * 2)


def of_another(path: Path, draw: random.Random) -> None:
    """The content of another file of the same kind beside it or below."""
    like = [other for other in path.parent.parent.rglob(f"*{path.suffix}") if other.is_file() and other != path]
    path.write_bytes(draw.choice(sorted(like)).read_bytes())


# --- JSON ------------------------------------------------------------------------------------------------------------


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all values in a JSON value."""
    yield at
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[key], (*at, key))


def changed(text: str, draw: random.Random) -> str:
    """JSON with a value in it replaced, removed, renamed, repeated or put deep into brackets."""
    value = json.loads(text)
    ways = [way for way in places(value) if way]
    if not ways or draw.random() < 0.02:
        return json.dumps(draw.choice(VALUES))
    *way, last = draw.choice(ways)
    inner = value
    for key in way:
        inner = inner[key]
    match draw.randrange(10):
        case 0:
            del inner[last]
        case 1 if isinstance(inner, dict):
            inner[draw.choice(("", "kind", "x", "schema_version"))] = inner.pop(last)
        case 1 | 2 if isinstance(inner, list):
            inner.extend([inner[last]] * draw.choice((1, 10, 1000)))
        case 3:
            marked = json.dumps(value).replace(json.dumps(inner[last]), "[" * 500 + "]" * 500, 1)
            return marked
        case 4 if isinstance(inner[last], str):
            inner[last] = inner[last] * draw.choice((0, 2, 1000))
        case 4 | 5 if isinstance(inner[last], int | float):
            inner[last] = inner[last] * draw.choice((-1, 0, 2, 1000, 1e-300, 1e300))
        case _:
            inner[last] = draw.choice(VALUES)
    return json.dumps(value)


def json_value(path: Path, draw: random.Random) -> None:
    path.write_text(changed(path.read_text(), draw))


def json_line(path: Path, draw: random.Random) -> None:
    lines = path.read_text().splitlines()
    number = draw.randrange(len(lines))
    lines[number] = changed(lines[number], draw)
    path.write_text("\n".join(lines) + "\n")


def half_line(path: Path, draw: random.Random) -> None:
    lines = path.read_text().splitlines()
    number = draw.randrange(len(lines))
    lines[number] = lines[number][: draw.randrange(len(lines[number]))]
    path.write_text("\n".join(lines) + draw.choice(("\n", "")))


def other_lines(path: Path, draw: random.Random) -> None:
    """Its lines missing, repeated or in another order."""
    lines = path.read_text().splitlines()
    path.write_text("\n".join(draw.choices(lines, k=draw.choice((1, len(lines), 20 * len(lines))))) + "\n")


# --- tables ----------------------------------------------------------------------------------------------------------


def column(path: Path, draw: random.Random) -> None:
    """A column gone, renamed, twice, of another type, or with other values in all or some rows."""
    table = pq.read_table(path)
    number = draw.randrange(table.num_columns)
    name, values = table.column_names[number], table.column(number).to_pylist()
    match draw.randrange(7):
        case 0:
            table = table.remove_column(number)
        case 1:
            names = table.column_names
            names[number] = draw.choice(("x", "", names[0], "__index_level_0__"))
            table = table.rename_columns(names)
        case 2:
            table = table.append_column(draw.choice((name, "x")), table.column(number))
        case 3:
            table = table.set_column(number, name, pa.nulls(table.num_rows, draw.choice((pa.null(), pa.string(), pa.float64()))))
        case 4:
            table = table.set_column(number, name, pa.array([str(value) for value in values]).dictionary_encode())
        case 5:
            value = draw.choice(("x", "[[1]]", 1.5, -1, 2**62, 1e300, True, [1], [], {"a": 1}, b"\xff", float("nan"), "[" * 1000))
            table = table.set_column(number, name, pa.array([value] * table.num_rows))
        case _:
            others = [draw.choice(values) if draw.random() < 0.5 else None for _ in values]
            table = table.set_column(number, name, pa.array(others, table.column(number).type))
    pq.write_table(table, path)


def cell_text(path: Path, draw: random.Random) -> None:
    """JSON within a column changed in one row."""
    table = pq.read_table(path)
    texts = [n for n in range(table.num_columns) if table.schema.field(n).type in (pa.string(), pa.large_string())]
    number, row = draw.choice(texts), draw.randrange(table.num_rows)
    values = table.column(number).to_pylist()
    values[row] = (
        changed(values[row], draw) if values[row] and values[row][0] in "[{" else draw.choice(("", "x" * 10_000, "<b>", "2@3", None))
    )
    pq.write_table(table.set_column(number, table.column_names[number], pa.array(values, table.schema.field(number).type)), path)


def other_rows(path: Path, draw: random.Random) -> None:
    """No rows, some rows, or rows twice."""
    table = pq.read_table(path)
    rows = draw.choice(([], [0], [*range(table.num_rows)] * 2, draw.choices(range(table.num_rows), k=table.num_rows)))
    pq.write_table(table.take(pa.array(rows, pa.int64())), path)


def metadata(path: Path, draw: random.Random) -> None:
    """Another description of the table than pandas wrote."""
    table = pq.read_table(path)
    written = (table.schema.metadata or {}).get(b"pandas", b"{}").decode()
    index = {
        "index_columns": [
            {"kind": "range", "name": None, "start": 0, "stop": draw.choice((10**30, 10**9, -1)), "step": draw.choice((0, 1))}
        ]
    }
    other = json.dumps(json.loads(written) | index) if draw.random() < 0.5 else changed(written, draw)
    pq.write_table(table.replace_schema_metadata({b"pandas": other.encode("utf-8", "surrogatepass")}), path)


# --- the tree --------------------------------------------------------------------------------------------------------


def remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def gone(path: Path, draw: random.Random) -> None:
    remove(path)


def a_folder(path: Path, draw: random.Random) -> None:
    remove(path)
    path.mkdir()


def a_file(path: Path, draw: random.Random) -> None:
    folder = path.parent
    remove(folder if folder.name and draw.random() < 0.2 and len(folder.parts) > 6 else path)
    path.parent.mkdir(exist_ok=True)
    path.write_text(draw.choice(("", "x", "{}", "[]")))


def a_link(path: Path, draw: random.Random) -> None:
    remove(path)
    path.symlink_to(draw.choice(LINKS))


def a_pipe(path: Path, draw: random.Random) -> None:
    """Opening it waits for somebody who writes."""
    remove(path)
    os.mkfifo(path)


def unexpected(path: Path, draw: random.Random) -> None:
    """A file or folder that nobody expects."""
    extra = path.parent / draw.choice(NAMES)
    if not extra.exists():
        extra.mkdir() if draw.random() < 0.5 else extra.write_text(draw.choice(("", "{}", "x", "[]")))


def copied(path: Path, draw: random.Random) -> None:
    """A copy beside it, by a name that a file or folder of this kind could have."""
    other = path.with_name(draw.choice(("07", "00", "01", "copy", f"x-{path.name}")))
    if not other.exists():
        shutil.copytree(path, other, symlinks=True) if path.is_dir() else shutil.copy2(path, other)


OF_BYTES: tuple[Damage, ...] = (cut, flipped, inserted, zeroed, emptied, brackets, huge_line, twice, of_another)
OF_TREES: tuple[Damage, ...] = (gone, a_folder, a_file, a_link, a_pipe, unexpected, copied)
BY_SUFFIX: dict[str, tuple[Damage, ...]] = {
    ".json": (json_value,) * 6,
    ".jsonl": (json_line, json_line, json_line, half_line, other_lines),
    ".parquet": (column, column, cell_text, cell_text, other_rows, metadata),
}
