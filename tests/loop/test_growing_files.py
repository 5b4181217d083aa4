from __future__ import annotations

import os
from pathlib import Path

import pytest

from frozenlab.base.files import append_line
from frozenlab.session import reading
from frozenlab.session.reading import GrowingLines, sound_lines
from frozenlab.session.session import Figures


def test_of_a_growing_file_only_new_lines_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, read, asked = tmp_path / "metrics.jsonl", GrowingLines(Figures, 10), []
    monkeypatch.setattr(reading, "sound_lines", lambda path, kind, offset: asked.append(offset) or sound_lines(path, kind, offset))
    for step in range(1, 4):
        append_line(path, {"step": step, "valid": 0.5})
        assert read(path) == sound_lines(path, Figures)
    assert asked[0] == 0 < asked[1] < asked[2]


@pytest.mark.parametrize(
    "written", ['{"step": 9, "valid": 0.1}\n', '{"step": 7, "valid": 0.25}\n{"step": 8, "valid": 0.5}\n{"step": 9, "valid": 0.5}\n', ""]
)
def test_a_file_that_was_written_anew_is_read_from_its_start(tmp_path: Path, written: str) -> None:
    path, read = tmp_path / "metrics.jsonl", GrowingLines(Figures, 10)
    for step in (1, 2):
        append_line(path, {"step": step, "valid": 0.5})
    read(path)
    path.write_text(written)
    assert read(path) == sound_lines(path, Figures)


def test_problems_are_told_once(tmp_path: Path) -> None:
    path, read = tmp_path / "metrics.jsonl", GrowingLines(Figures, 10)
    for line in ('{"step": "x"}\n', '{"step": 1}\n', '{"step": "x"}\n', '{"step": 2}'):
        with path.open("a") as file:
            file.write(line)
        found = read(path)
    assert [row["step"] for row in found.lines] == [1] and len(found.problems) == 1


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    path, read = tmp_path / "metrics.jsonl", GrowingLines(Figures, 10)
    append_line(path, {"step": 1, "valid": 0.5})
    read(path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(OSError, match=r"metrics\.jsonl is no file"):
        read(path)
