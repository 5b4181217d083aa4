"""A board that can be solved, as a file."""

from __future__ import annotations

from pathlib import Path

import pytest

BOARD = "S F F g\nF H F F\nF F H F\ns F F G\n"


@pytest.fixture
def board(tmp_path: Path) -> str:
    path = tmp_path / "board.txt"
    path.write_text(BOARD)
    return str(path)
