"""The message that a page shows after an unexpected error."""

from __future__ import annotations

from pathlib import Path

import pytest

from frozenlab.base.errors import LabError
from tests.pages.apptest import open_page


def raising(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("frozenlab.app.ui.theme.question", fails)


def test_an_error_that_people_can_fix_is_a_message(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raising(LabError("there is no board 7; boards go from 1 to 6"), monkeypatch)
    app = open_page("studies")
    assert not app.exception
    assert [error.value for error in app.error] == ["there is no board 7; boards go from 1 to 6"]


def test_a_fault_of_ours_is_named_and_logged(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raising(KeyError("a list of ours"), monkeypatch)
    app = open_page("studies")
    assert "This is a fault of FrozenLab" in app.error[0].value
    assert len(app.exception) == 1  # Streamlit's, which it also logs
