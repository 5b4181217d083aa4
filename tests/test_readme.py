"""What the README shows to others runs as it stands there, and prints what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SNIPPETS = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def test_there_are_three_snippets() -> None:
    assert len(SNIPPETS) == 3


@pytest.mark.parametrize("snippet", SNIPPETS, ids=["solve", "train", "step"])
def test_a_snippet_runs_and_prints_what_it_says(snippet: str) -> None:
    done = subprocess.run([sys.executable, "-c", snippet], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    printed = done.stdout.splitlines()
    for line in re.findall(r"# -> (.*)$", snippet, re.MULTILINE):
        assert line in printed, f"{line!r} is not in what it printed:\n{done.stdout}"
