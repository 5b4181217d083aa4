"""Export and import on pages; whatever the files of a stranger say stays words there."""

from __future__ import annotations

import io
import tomllib
import zipfile
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from frozenlab.app import bundles
from frozenlab.app.bundles import LARGEST_UPLOAD, TAKEN
from frozenlab.base.places import ROOT
from frozenlab.experiments.bundles.found import Found, find
from frozenlab.experiments.bundles.importing import take_in
from frozenlab.experiments.bundles.reading import opened
from frozenlab.experiments.bundles.writing import export
from frozenlab.jobs.imported import imported, make_own
from frozenlab.session.store import SessionStore
from tests.builders import build_session, small_spec
from tests.bundles.archives import Part, archive, bundle, job, manifest, parts_of, sound
from tests.marked import Marker, strangers
from tests.pages.apptest import TIMEOUT, open_page, words
from tests.pages.test_foreign_text import TRAP, made_of


def dialog() -> None:
    """What the dialog holds: AppTest closes a dialog with the next run."""
    from frozenlab.app.bundles import choose
    from frozenlab.app.ui import sessions

    choose(sessions.store())


def upload(data: bytes, name: str = "talk.zip") -> AppTest:
    app = AppTest.from_function(dialog, default_timeout=TIMEOUT).run()
    app.file_uploader(key="import-file").set_value((name, data, "application/zip")).run()
    assert not app.exception
    return app


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click()
    return app.run()


def test_a_file_is_looked_into_then_imported_and_then_shown(sessions_folder: Path) -> None:
    app = upload(bundle(sound()))
    assert "session demo: 1 kB in 2 files, without weights" in words(app)
    assert not (sessions_folder / "demo").exists(), "nothing is written before a person says so"
    press(app, "import-now")
    assert (mark := imported(sessions_folder / "demo")) is not None and not mark.own and mark.file == "talk.zip"
    train = open_page("train", session="demo")
    assert "It is read-only: nothing runs in it until you make it yours" in words(train)
    assert "As yours it can be resumed, forked and changed" in words(press(train, "own-session"))
    make_own(sessions_folder / "demo")
    assert "and made yours" in words(open_page("train", session="demo"))


def test_what_is_refused_is_said_and_cannot_be_imported(sessions_folder: Path) -> None:
    app = upload(archive([manifest(job(sound())), *parts_of(sound()), Part("../x", b"")]))
    assert "../x leads out of its folder" in words(app)
    app = upload(b"no archive")
    assert "Nothing can be imported: this is no zip archive" in words(app)
    assert not app.button
    assert not [path for path in sessions_folder.iterdir() if path.is_dir()]


def test_a_session_is_exported_from_its_story(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = build_session(sessions_folder, small_spec(stages=1, sizes=(3,), boards_per_size=4), "mine")
    app = open_page("story", session="mine", stage="1", part="session")
    assert [button.proto.label for button in app.get("download_button") if "story-export" in button.proto.id] == ["Download, up to 52 kB"]
    data = bundles.packed((Found("session", session.dir),), False)
    assert "sessions/mine/session.json" in zipfile.ZipFile(io.BytesIO(data)).namelist()
    monkeypatch.setattr(bundles, "LARGEST_EXPORT", 10)
    app = open_page("story", session="mine", stage="1", part="session")
    assert any("frozenlab jobs export session:mine --out bundle.zip" in code.value for code in app.code)


def test_imported_words_of_a_stranger_stay_words(sessions_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Every string of a session, a study and a replay is marked, and so is every name that a report shows."""
    marker = Marker("markdown", TRAP)
    outside = tmp_path_factory.mktemp("outside")
    theirs, ours = SessionStore(strangers(outside / "theirs", marker)), SessionStore()
    names = ("lab", "language", "study:mine", "replay:mine", "theirs")
    export([find(name, theirs) for name in names], outside / "out.zip")
    with opened(outside / "out.zip", ours, marker.mark("file")[:150]) as found:
        assert len(take_in(found, ours)) == len(names)
    mark = marker.mark("report")
    hostile = archive([manifest(job(sound(), title=mark), frozenlab=mark[:40]), *parts_of(sound()), Part(mark[:90] + ".json", b"{}")])
    report = upload(hostile, f"{mark[:90]}.zip")
    assert TRAP in words(report)
    runs = open_page("runs")
    runs.session_state[TAKEN] = [Found("session", ours.root / "lab")]
    visits = [
        report,
        runs.run(),
        open_page("story", session="lab", stage="1"),
        press(open_page("train", session="language"), "own-session"),
        open_page("studies", study="mine"),
        open_page("replay", replay="mine"),
    ]
    for app in visits:
        assert not (found := made_of(app, marker)), found


def test_the_bound_of_an_upload_is_that_of_the_server() -> None:
    assert tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["server"]["maxUploadSize"] == LARGEST_UPLOAD
