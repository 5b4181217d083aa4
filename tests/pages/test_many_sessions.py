"""The cost of a page, in files opened, does not grow with the number of sessions that it does not show."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from frozenlab.app.home import LISTED
from frozenlab.session.store import SessionStore
from tests.builders import build_session, small_spec
from tests.pages.apptest import open_page

opened: list[str] = []
"""What Python has opened since this list was last cleared."""
sys.addaudithook(lambda event, arguments: opened.append(str(arguments[0])) if event == "open" else None)


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tables that were read: Arrow opens them where Python does not see it."""
    found: list[str] = []
    read = pd.read_parquet

    def noting(path: Any, *options: Any, **named: Any) -> pd.DataFrame:
        found.append(str(path))
        return read(path, *options, **named)

    monkeypatch.setattr(pd, "read_parquet", noting)
    return found


def in_a_session(path: str, folder: Path) -> bool:
    """Whether a file of a session was opened. The book of the queue beside them is read whatever their number."""
    return path.startswith(str(folder)) and not path.startswith(str(folder / ".queue"))


def test_pages_open_no_more_files_for_fifty_sessions_than_for_five(sessions_folder: Path, tables: list[str]) -> None:
    built = build_session(sessions_folder, small_spec(stages=2, sizes=(3,), boards_per_size=6), "built-0")
    cost: dict[int, dict[str, tuple[int, int]]] = {}
    for many in (5, 50):
        for number in range(len(SessionStore().listed()), many):
            shutil.copytree(built.dir, sessions_folder / f"built-{number}")
        cost[many] = {}
        for page in ("home", "train", "story"):
            tables.clear()
            open_page(page)
            opened.clear()
            open_page(page)
            cost[many][page] = len([path for path in opened if in_a_session(path, sessions_folder)]), len(tables)
    assert cost[50].pop("home")[1] <= 2 * LISTED, "two tables of each session that has a card"
    assert cost[50] == {page: cost[5][page] for page in cost[50]}
    assert all(files == 0 for of_pages in cost.values() for files, _ in of_pages.values())


def test_a_list_opens_only_what_has_changed(sessions_folder: Path) -> None:
    built = build_session(sessions_folder, small_spec(stages=1, sizes=(3,), boards_per_size=4), "one")
    shutil.copytree(built.dir, sessions_folder / "two")
    store = SessionStore()
    assert {session.folder.name for session in store.listed()} == {"one", "two"}
    opened.clear()
    store.listed()
    assert not [path for path in opened if path.startswith(str(sessions_folder))]
    state = sessions_folder / "two" / "state.json"
    state.write_text(state.read_text().replace('"done"', '"queued"'))
    opened.clear()
    assert [session.at_work for session in store.listed() if session.folder.name == "two"] == [True]
    assert [path for path in opened if path.startswith(str(sessions_folder))] == [str(state)]


def test_an_older_session_opens_by_its_id(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frozenlab.app.ui.sessions.OFFERED", 1)
    monkeypatch.setattr("frozenlab.app.story.page.OFFERED", 1)
    spec = small_spec(stages=1, sizes=(3,), boards_per_size=4, title="The old one")
    old = build_session(sessions_folder, spec, "old")
    shutil.copytree(old.dir, sessions_folder / "new")
    state = sessions_folder / "new" / "state.json"
    state.write_text(state.read_text().replace('"started":', '"started": 1790000000.0, "before":'))
    app = open_page("story", session="old")
    assert not app.warning
    assert app.selectbox(key="session_picker").value == "old"
