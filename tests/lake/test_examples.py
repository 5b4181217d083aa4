"""The examples in the docstrings of the lake's public functions hold, and the package offers the few names that one needs first."""

from __future__ import annotations

import doctest
import subprocess
import sys
from importlib import import_module

import pytest

from frozenlab.base import places

MODULES = (
    "", "board", "config", "rules", "reward", "draw.generator", "draw.feasible", "draw.hashes", "formats", "solvers.solver",
    "words.checking",
)  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_examples_hold(name: str) -> None:
    result = doctest.testmod(import_module(f"frozenlab.lake.{name}".rstrip(".")), raise_on_error=False)
    assert result.attempted > 0 and result.failed == 0


def test_the_first_names_come_from_the_package_without_numba_or_torch() -> None:
    names = "Agent, Board, EnvironmentConfig, generate, judge, solve"
    code = f"from frozenlab.lake import {names}; import sys; sys.exit('numba' in sys.modules or 'torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=places.ROOT, check=False).returncode == 0
