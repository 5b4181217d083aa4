"""The message that a page shows after an unexpected error."""

from __future__ import annotations

import errno

import pytest
from streamlit.testing.v1 import AppTest

from frozenlab.app.ui import nav
from frozenlab.base import places
from frozenlab.base.errors import LabError
from tests.pages.apptest import TIMEOUT

pytestmark = pytest.mark.usefixtures("sessions_folder")


def failing(error: Exception, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """A page that meets the error."""

    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("frozenlab.app.ui.theme.question", fails)
    app = AppTest.from_file(places.ROOT / "streamlit_app.py", default_timeout=TIMEOUT)
    app.switch_page(nav.path("studies"))
    return app.run()


def test_an_error_that_people_can_fix_is_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    app = failing(LabError("there is no board 7; boards go from 1 to 6"), monkeypatch)
    assert not app.exception
    assert [error.value for error in app.error] == ["there is no board 7; boards go from 1 to 6"]


def test_a_folder_that_cannot_be_written_is_named_with_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    app = failing(PermissionError(errno.EACCES, "Permission denied", "/lab/sessions/drafts"), monkeypatch)
    assert not app.exception
    assert "/lab/sessions/drafts" in app.error[0].value and "FROZENLAB\\_SESSIONS" in app.error[0].value


def test_a_fault_of_ours_is_named_and_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    app = failing(KeyError("a list of ours"), monkeypatch)
    assert "This is a fault of FrozenLab" in app.error[0].value
    assert len(app.exception) == 1  # Streamlit's, which it also logs
