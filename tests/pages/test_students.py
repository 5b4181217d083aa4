"""Planted students on the pages: to train, to find out about, and to ask engineers about."""

from __future__ import annotations

from pathlib import Path

import pytest

from frozenlab.app.diagnosis.page import diagnosis_figure
from frozenlab.app.studies.figures import Ink
from frozenlab.engineer.engineers import engineer_of
from frozenlab.experiments.diagnosis.report import report_of
from frozenlab.experiments.diagnosis.store import Diagnosis
from frozenlab.experiments.diagnosis.task import DiagnosisTask, task_for
from frozenlab.experiments.students.recipe import StudentError
from frozenlab.experiments.students.store import Student, candidates, hide
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.store import Study
from frozenlab.jobs.worker import work_on
from frozenlab.session.presets import preset_spec
from frozenlab.session.spec import SessionSpec
from frozenlab.session.store import SessionStore
from tests.builders import build_session, small_spec
from tests.pages.apptest import open_page, words
from tests.pages.conftest import note_starts
from tests.pages.test_studies import form
from tests.planted import CONFIG, planted

pytestmark = pytest.mark.usefixtures("sessions_folder")


def two_planted(store: SessionStore) -> list[Student]:
    return [planted(store, f"never-saw-{size}", (size,)) for size in ("4", "5")]


def test_without_students_none_is_offered_and_the_recorded_diagnosis_is_shown() -> None:
    app = open_page("train")
    assert not [name for name in app.selectbox(key="form_student").options if "Student" in name]
    app = open_page("diagnosis")
    assert "Who finds a planted weakness?" in words(app) and "Recorded." in words(app)
    app.button(key="diagnosis-new").click().run()
    assert "There is no student yet" in words(app) and not [button for button in app.button if button.key == "diagnosis-start"]
    (planted(SessionStore(), "never-saw-4", ("4",)).dir / "certificate.json").unlink()
    app = open_page("diagnosis")
    app.button(key="diagnosis-new").click().run()
    assert "No student here came out as planned" in words(app)


@pytest.mark.parametrize("back", [False, True])
def test_a_student_is_trained_on_the_config_that_its_weakness_is_about(back: bool, launched: list[SessionSpec]) -> None:
    """Back to the lab model is back to the preset."""
    planted(SessionStore(), "never-saw-4", ("4",))
    app = open_page("train")
    app.selectbox(key="form_student").set_value("student:never-saw-4").run()
    if back:
        app.selectbox(key="form_student").set_value("lab-model").run()
    app.button(key="form_start").click().run()
    (spec,) = launched
    assert spec.policy == ("lab-model" if back else "student:never-saw-4")
    expected = preset_spec("quick").initial_config if back else CONFIG
    ours, theirs = ({name: cell.share for name, cell in config.cells.items()} for config in (spec.initial_config, expected))
    assert ours == pytest.approx(theirs)


def test_a_secret_is_kept_until_a_reader_reveals_it(sessions_folder: Path) -> None:
    store = SessionStore()
    with pytest.raises(StudentError, match="at least two"):
        hide(store)
    two_planted(store)
    planted(store, "failed", ("3",), refused="it is at 90 %")
    app = open_page("train")
    app.button(key="student-secret").click().run()
    chosen = app.selectbox(key="form_student").value
    assert chosen.startswith("student:secret-")
    assert "never-saw" not in chosen
    assert [student.id for student in candidates(store)] == ["never-saw-4", "never-saw-5"], "a copy is not hidden again"
    secret = next(student for student in Student.all(store) if student.name == chosen)
    assert secret.title.startswith("A student with a secret weakness")
    assert secret.as_planned
    session = build_session(sessions_folder, small_spec(policy=chosen), "trained")
    shown = open_page("train", session=session.id)
    assert "planted student, whose weakness was made: **A student with a secret weakness" in words(shown)
    assert "The weakness is as planned" in words(shown), "in the popover that reveals it"


def test_a_diagnosis_is_drawn_and_said_in_words() -> None:
    store = SessionStore()
    sizes = {"samples": 1, "boards_per_cell": 4, "sampled_boards": 0}
    task = task_for(two_planted(store), [engineer_of("rules"), engineer_of("uniform")], ("failures",), **sizes)
    diagnosis = Diagnosis.create(task, store, "first")
    assert work_on(diagnosis) == 0, diagnosis.state().error
    report = report_of(Diagnosis.open("first", store))
    chart = diagnosis_figure(report, Ink("#000", 14))
    assert len(chart.figure.data) == 2 and "chance is 33 %" in chart.alt and "equal shares, 30 % holes, failures shown, 33 %" in chart.alt
    assert report.sentences[0] in words(open_page("diagnosis"))


def test_a_diagnosis_starts_from_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    planted(SessionStore(), "never-saw-4", ("4",))
    asked: list[DiagnosisTask] = note_starts(monkeypatch, Diagnosis, Diagnosis.create)
    app = open_page("diagnosis", new="1")
    assert "about 1 student: " in words(app)
    app.button(key="diagnosis-start").click().run()
    assert asked[0].students == ("never-saw-4",)
    assert {engineer.kind for engineer in asked[0].engineers} >= {"rules", "learnability", "uniform"}


def test_a_study_on_students_is_started_from_the_form(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "frozenlab students make misled-about-agents-4" in words(form(kind="students")), "where there are none"
    two_planted(SessionStore())
    asked: list[StudySpec] = note_starts(monkeypatch, Study, Study.create)
    app = form(kind="students")
    said = words(app)
    assert "**84 sessions** of 1 stage: 7 arms × 2 students × 6 seeds" in said
    assert (
        "frozenlab study students --students student:never-saw-4,student:never-saw-5 --engineers policy,rules,learnability,lowest,equal "
        "--controls blind --seeds 6" in said
    )
    app.button(key="study-start").click().run()
    assert [spec.students for spec in asked] == [("student:never-saw-4", "student:never-saw-5")]
