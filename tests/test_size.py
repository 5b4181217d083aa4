"""Git keeps everything, so tracked files stay small: a recorded session ships the weights of its last stage and those a replay needs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from frozenlab.base.places import CHECKOUT, SESSIONS
from recipes.record import RECORDINGS

MOST = 64 * 2**20
"""Bytes of all tracked files."""


@pytest.fixture(scope="module")
def tracked() -> list[Path]:
    if CHECKOUT is None or shutil.which("git") is None or not (CHECKOUT / ".git").exists():
        pytest.skip("this is no git checkout")
    names = subprocess.run(["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout.split("\0")
    return [path for name in names if name and (path := CHECKOUT / name).is_file()]


def test_the_tracked_files_are_few_megabytes(tracked: list[Path]) -> None:
    assert sum(path.stat().st_size for path in tracked) <= MOST


def test_each_recorded_session_ships_the_weights_it_needs(tracked: list[Path]) -> None:
    recorded = [path.relative_to(SESSIONS) for path in tracked if path.is_relative_to(SESSIONS)]
    weights = [str(path.parent) for path in recorded if path.suffix == ".safetensors"]
    stages = [f"{recording.id}/stages/{stage:02}/policy" for recording in RECORDINGS.values() for stage in recording.weights]
    assert sorted(weights) == sorted(stages)
