"""Files are complete or not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from frozenlab.lake.files import write_files, write_folder, write_text

BROKEN = {"a.txt": "whole", "b.txt": 3}  # the second cannot be written


def test_a_text_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.txt"
    write_text(path, "one\n")
    write_text(path, "two\n")
    assert path.read_bytes() == b"two\n" and [p.name for p in path.parent.iterdir()] == ["a.txt"]


def test_of_files_that_belong_together_none_appears_if_one_fails(tmp_path: Path) -> None:
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
