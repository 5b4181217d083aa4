"""Files are whole or absent; readers forgive a torn last line."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

import pandas as pd
import pytest

from frozenlab.base import places
from frozenlab.base.files import (
    MAX_TEXT,
    TextError,
    append_line,
    as_csv,
    read_lines,
    read_text,
    replacing,
    sweep,
    text_of,
    well_formed,
    write_files,
    write_folder,
    write_text,
)


@pytest.mark.parametrize(
    "text", ["two\nlines", "a\u2028b\x85c", "half a pair: \ud83d", "❄"], ids=["newline", "separators", "surrogate", "snow"]
)
def test_any_text_comes_back(tmp_path: Path, text: str) -> None:
    path = tmp_path / "answers.jsonl"
    for n in (1, 2):
        append_line(path, {"n": n, "text": text})
    assert read_lines(path)[0] == [{"n": 1, "text": well_formed(text)}, {"n": 2, "text": well_formed(text)}]


def test_lines_come_back_from_where_the_reader_left_off(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    append_line(path, {"n": 1})
    first, offset = read_lines(path)
    append_line(path, {"n": 2})
    second, _ = read_lines(path, offset)
    assert (first, second) == ([{"n": 1}], [{"n": 2}])


def test_a_half_line_is_left_for_later(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"n": 1}\n{"n": ')
    records, offset = read_lines(path)
    assert records == [{"n": 1}]
    with path.open("a") as file:
        file.write("2}\n")
    assert read_lines(path, offset)[0] == [{"n": 2}]


def test_a_new_writer_does_not_glue_its_line_to_a_torn_one(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"n": 1}\n{"n": ')
    append_line(path, {"n": 2})
    assert read_lines(path)[0] == [{"n": 1}, {"n": 2}]


def test_lines_that_are_no_objects_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('[1]\nnonsense\n{"n": 1}\n')
    assert read_lines(path)[0] == [{"n": 1}]


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    write_text(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "\ud800")
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["state.json"]


def test_only_leftovers_of_killed_writers_are_swept(tmp_path: Path) -> None:
    left = [
        tmp_path / ".state.json.x1y2z3_4",
        tmp_path / "stages" / "00" / ".validation.parquet.0a1b2c3d",
        tmp_path / "report" / ".arms.csv.abcdefg_",
    ]
    kept = [tmp_path / ".worker.lock", tmp_path / "state.json", tmp_path / ".gitignore", tmp_path / "stages" / "00" / "context.json"]
    for path in (*left, *kept):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    sweep(tmp_path)
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == sorted(kept)


@pytest.mark.parametrize("umask", [0o002, 0o022, 0o077])
def test_whoever_may_read_a_new_file_may_read_one_that_was_replaced(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        for n in (1, 2):
            write_text(tmp_path / "text", str(n))
            append_line(tmp_path / "lines", {"n": n})
        write_folder(tmp_path / "folder", {"a": "b"})
        with replacing(tmp_path / "table") as table:
            table.write_text("t")
    finally:
        os.umask(before)
    modes = {path.relative_to(tmp_path).as_posix(): path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert modes == {name: 0o666 & ~umask for name in ("text", "lines", "table", "folder/a")} | {"folder": 0o777 & ~umask}


BROKEN = {"a.txt": "whole", "b.txt": 3}  # the second cannot be written


def test_a_text_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.txt"
    write_text(path, "one\n")
    write_text(path, "two\n")
    assert path.read_bytes() == b"two\n" and [p.name for p in path.parent.iterdir()] == ["a.txt"]


def test_files_written_together_appear_together_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    with pytest.raises(TypeError):
        write_files(tmp_path, BROKEN)  # type: ignore[arg-type]
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a.txt", "old")]


def test_a_folder_appears_at_once_and_only_where_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        write_folder(tmp_path / "out", BROKEN)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
    write_folder(tmp_path / "out", {"a.txt": "a", "b.txt": "b"})
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["a.txt", "b.txt"]
    with pytest.raises(FileExistsError, match="exists already: name a new folder"):
        write_folder(tmp_path / "out", {"c.txt": "c"})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out"]


def test_text_is_bounded_and_has_to_be_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfS\r\nG\r\n")
    assert read_text(tmp_path / "a.txt") == "S\r\nG\r\n"
    for encoding in ("utf-16", "utf-16-be"):  # of PowerShell and Notepad, with a mark
        assert text_of(("\ufeff" * (encoding != "utf-16") + "S\r\nÜ").encode(encoding), "a.txt") == "S\r\nÜ"
    with pytest.raises(TextError, match=r"a\.txt is not a text file in UTF-8 \(byte 2\)"):
        text_of(b"S \xff", "a.txt")
    with pytest.raises(TextError, match=r"a\.txt is larger than 32 MB"):
        text_of(bytes(MAX_TEXT + 1), "a.txt")


FORMULAS = ["=1+1", "+1+1", "-2+3", "@SUM(A1)", '=HYPERLINK("http://x.example","me")', "＝1+1", "\t=1", "\r=1", "Ana\r=1", "Ana;=1+1"]
NUMBERS = [-1.5, "-1.5", "+0.9", -3, "1e-05", "-2.5e-07", None, True, "Ana", "2@4, -1"]


@pytest.mark.parametrize("index", [False, True])
def test_no_cell_of_a_table_is_a_formula_and_numbers_stay_numbers(index: bool) -> None:
    """Not its head and not its index either, and not behind the sign that divides cells in other countries."""
    table = pd.DataFrame({"=name": FORMULAS, "share": NUMBERS, "less": [-0.25] * 10}, index=FORMULAS)
    rows = list(csv.reader(io.StringIO(as_csv(table, index=index), newline="")))
    assert len(rows) == 11
    cells = [part for row in rows for cell in row for part in cell.split(";")]
    assert all(cell[:1] not in tuple("=+@\t\r＝＋－＠") or cell == "+0.9" for cell in cells)
    assert {cell for cell in cells if cell.startswith("-")} == {"-1.5", "-3", "-2.5e-07", "-0.25"}
    assert [row[index + 1] for row in rows[1:]] == ["-1.5", "-1.5", "+0.9", "-3", "1e-05", "-2.5e-07", "", "True", "Ana", "2@4, -1"]


def test_every_table_for_people_is_written_by_as_csv() -> None:
    package = places.PACKAGE
    found = {str(path.relative_to(package)) for path in package.rglob("*.py") if ".to_csv(" in path.read_text(encoding="utf-8")}
    assert found == {"base/files.py", "experiments/benchmark/report.py"}, "the second one is a sum of boards, which nothing writes"
