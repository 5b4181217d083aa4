"""The examples in the docstrings of the lake's public functions hold, and the package offers the few names that one needs first."""

import doctest
import subprocess
import sys
from importlib import import_module

import pytest

MODULES = (
    "", "board", "config", "rules", "reward", "draw.generator", "draw.feasible", "draw.hashes", "formats", "solvers.solver",
    "words.checking",
)  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_examples_hold(name: str) -> None:
    result = doctest.testmod(import_module(f"frozenlab.lake.{name}".rstrip(".")), raise_on_error=False)
    assert result.attempted > 0 and result.failed == 0


def test_the_lake_loads_nothing_heavy_before_it_solves_or_draws() -> None:
    names = "Agent, Board, EnvironmentConfig, generate, judge, solve"
    modules = ", ".join(f"frozenlab.lake.{name}" for name in ("envs.rl", "formats", "suites", "words.answers", "words.checking"))
    loaded = "{'datasets', 'numba', 'pandas', 'streamlit', 'torch', 'trl'} & set(sys.modules)"
    code = f"from frozenlab.lake import {names}; import sys, {modules}; print({loaded})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
