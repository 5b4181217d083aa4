"""The examples in all docstrings hold, and the lake offers the few names that one needs first."""

import doctest
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import frozenlab.lake

PACKAGE = Path(frozenlab.lake.__file__).parents[1]
WITH_EXAMPLES = sorted(path for path in PACKAGE.rglob("*.py") if ">>>" in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_examples_hold(path: Path) -> None:
    module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    result = doctest.testmod(import_module(module), raise_on_error=False)
    assert result.attempted > 0 and result.failed == 0


def test_the_lake_loads_nothing_heavy_before_it_solves_or_draws() -> None:
    names = "Agent, Board, EnvironmentConfig, generate, judge, solve"
    modules = ", ".join(f"frozenlab.lake.{name}" for name in ("envs.rl", "formats", "suites", "words.answers", "words.reading"))
    loaded = "{'datasets', 'numba', 'pandas', 'streamlit', 'torch', 'trl'} & set(sys.modules)"
    code = f"from frozenlab.lake import {names}; import sys, {modules}; print({loaded})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
