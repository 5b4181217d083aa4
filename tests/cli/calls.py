"""Calling the command line in the test's own process."""

from __future__ import annotations

import json

import pytest

from frozenlab.cli.main import main


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    """The JSON a command prints."""
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def reason(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line on stderr with which a command refuses bad input."""
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err.removeprefix("frozenlab: ").strip()
