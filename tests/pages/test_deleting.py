"""Studies, diagnoses, contests and results are deleted on their pages, and Undo brings them back."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from frozenlab.experiments.benchmark.results import SHIPPED
from frozenlab.experiments.diagnosis.store import Diagnosis
from frozenlab.experiments.diagnosis.task import task_for
from frozenlab.experiments.shelf import shelf
from frozenlab.experiments.studies.presets import engineers_study
from frozenlab.experiments.studies.store import Study
from frozenlab.jobs.state import WorkerState
from frozenlab.session.store import SessionStore
from tests.builders import small_spec
from tests.contests.builders import tiny_contest
from tests.pages.apptest import open_page
from tests.planted import planted


@pytest.fixture
def sessions_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path))
    for starter in ("frozenlab.jobs.launcher.wake", "frozenlab.jobs.queue.look.wake_if_needed"):
        monkeypatch.setattr(starter, lambda root: None)
    return tmp_path


def lab(root: Path, kind: str) -> Path:
    """A sessions folder with one job of the kind that has stopped."""
    store = SessionStore(root)
    match kind:
        case "study":
            folder = Study.create(engineers_study(1, session=small_spec(), engineers=("rules", "fixed")), store, "mine").dir
        case "diagnosis":
            folder = Diagnosis.create(task_for([planted(store, "weak-5", ("5",))]), store, "mine").dir
        case "contest":
            folder = tiny_contest(store).dir
        case _:
            folder = root / "results" / "mine"
            shutil.copytree(next(path.parent for path in sorted(SHIPPED.glob("*/report.json"))), folder)
            return folder
    (folder / "state.json").write_text(WorkerState(status="stopped").model_dump_json())
    return folder


@pytest.mark.parametrize(
    ("kind", "page", "address", "button"),
    [
        ("study", "studies", {"study": "mine"}, "study-delete"),
        ("diagnosis", "studies", {}, "diagnosis-delete"),
        ("contest", "contest", {"contest": "tiny"}, "contest-delete"),
        ("evaluation", "benchmark", {}, "result-delete"),
    ],
)
def test_what_a_page_deletes_comes_back_there(sessions_folder: Path, kind: str, page: str, address: dict[str, str], button: str) -> None:
    folder = lab(sessions_folder, kind)
    app = open_page(page, **address)
    app.button(key=button).click().run()
    assert not app.exception and not folder.exists()
    assert [gone.name for gone in shelf.in_trash(SessionStore(sessions_folder))] == [f"{kind}:{folder.name}"]
    assert any("is in the trash" in message.value for message in app.success) and not app.error
    app.button(key=f"undo-{kind}").click().run()
    assert not app.exception and not app.success and folder.exists()
    assert not [message.value for message in app.error if "Not restored" in message.value]
    assert app.button(key=button) is not None
