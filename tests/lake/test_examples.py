"""The examples in the docstrings of the lake's public functions hold, and the package offers the few names that one needs first."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

MODULES = (
    "board", "config", "rules", "reward", "draw.generator", "draw.feasible", "draw.hashes", "formats", "solve.solver", "words.checking",
)  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_examples_hold(name: str) -> None:
    result = doctest.testmod(import_module(f"frozenlab.lake.{name}"), raise_on_error=False)
    assert result.attempted > 0 and result.failed == 0
