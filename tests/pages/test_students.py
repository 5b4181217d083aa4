"""Planted students on the pages: to train, to find out about, and to ask engineers about."""

from __future__ import annotations

from pathlib import Path

import pytest

from frozenlab.app.diagnosis.section import diagnosis_figure
from frozenlab.app.studies.figures import Ink
from frozenlab.engineer.engineers import engineer_of
from frozenlab.experiments.diagnosis.report import report_of
from frozenlab.experiments.diagnosis.store import Diagnosis
from frozenlab.experiments.diagnosis.task import DiagnosisTask, task_for
from frozenlab.experiments.experiment import RunSettings
from frozenlab.experiments.students.recipe import StudentError
from frozenlab.experiments.students.store import Student, candidates, hide
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.store import Study
from frozenlab.jobs.worker import work_on
from frozenlab.session.spec import SessionSpec
from frozenlab.session.store import SessionStore
from tests.builders import build_session, small_spec
from tests.pages.apptest import open_page, words
from tests.pages.conftest import note_starts
from tests.planted import CONFIG, planted

pytestmark = pytest.mark.usefixtures("sessions_folder")


def test_without_students_none_is_offered_and_the_recorded_diagnosis_is_shown() -> None:
    app = open_page("train")
    assert "form_student" not in [box.key for box in app.selectbox]
    said = words(open_page("studies"))
    assert "Who finds a planted weakness?" in said and "Recorded." in said and "Ask engineers about" not in said


def test_a_student_is_trained_on_the_config_that_its_weakness_is_about(sessions_folder: Path, launched: list[SessionSpec]) -> None:
    planted(SessionStore(), "never-saw-4", ("4",))
    app = open_page("train")
    app.selectbox(key="form_student").set_value("student:never-saw-4").run()
    app.button(key="form_start").click().run()
    assert not app.exception
    (spec,) = launched
    assert spec.policy == "student:never-saw-4"
    assert {name: cell.share for name, cell in spec.initial_config.cells.items()} == pytest.approx(dict.fromkeys(CONFIG.cells, 1 / 3))


def test_back_to_the_lab_model_is_back_to_the_preset(sessions_folder: Path, launched: list[SessionSpec]) -> None:
    planted(SessionStore(), "never-saw-4", ("4",))
    app = open_page("train")
    app.selectbox(key="form_student").set_value("student:never-saw-4").run()
    app.selectbox(key="form_student").set_value("lab-model").run()
    assert not app.exception
    app.button(key="form_start").click().run()
    assert (launched[0].policy, launched[0].initial_config.sizes) == ("lab-model", (3, 4, 5, 6, 7, 8))


def test_a_secret_is_kept_until_somebody_reveals_it(sessions_folder: Path) -> None:
    store = SessionStore()
    with pytest.raises(StudentError, match="at least two"):
        hide(store)
    for name, weak in (("never-saw-4", ("4",)), ("never-saw-5", ("5",))):
        planted(store, name, weak)
    planted(store, "failed", ("3",), refused="it is at 90 %")
    app = open_page("train")
    app.button(key="student-secret").click().run()
    assert not app.exception
    chosen = app.selectbox(key="form_student").value
    assert chosen.startswith("student:secret-")
    assert "never-saw" not in chosen
    assert [student.id for student in candidates(store)] == ["never-saw-4", "never-saw-5"], "a copy is not hidden again"
    secret = next(student for student in Student.all(store) if student.name == chosen)
    assert secret.title.startswith("A student with a secret weakness")
    assert secret.as_planned
    session = build_session(sessions_folder, small_spec(policy=chosen), "trained")
    shown = open_page("train", session=session.id)
    assert not shown.exception
    assert "planted student, whose weakness was made: **A student with a secret weakness" in words(shown)
    assert "The weakness is as planned" in words(shown), "in the popover that reveals it"


def test_the_first_figure_of_studies_is_the_diagnosis(sessions_folder: Path) -> None:
    store = SessionStore()
    planted_students = [planted(store, "never-saw-4", ("4",)), planted(store, "never-saw-5", ("5",))]
    sizes = {"samples": 1, "boards_per_cell": 4, "sampled_boards": 0}
    task = task_for(planted_students, [engineer_of("rules"), engineer_of("uniform")], ("failures",), **sizes)
    diagnosis = Diagnosis.create(task, store, "first")
    assert work_on(diagnosis) == 0, diagnosis.state().error
    report = report_of(Diagnosis.open("first", store))
    chart = diagnosis_figure(report, Ink("#000", 14))
    assert len(chart.figure.data) == 2
    assert "chance is 33 %" in chart.alt
    assert "uniform, failures shown, 33 %" in chart.alt
    app = open_page("studies")
    assert not app.exception
    assert app.subheader[0].value == "Who finds a planted weakness?"
    said = words(app)
    assert report.sentences[0] in said
    assert "Ask engineers about 2 students" in [button.label for button in app.button]


def test_a_diagnosis_starts_from_the_page(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    planted(SessionStore(), "never-saw-4", ("4",))
    asked: list[DiagnosisTask] = note_starts(monkeypatch, Diagnosis, Diagnosis.create)
    app = open_page("studies")
    app.button(key="diagnosis-start").click().run()
    assert not app.exception
    assert asked[0].students == ("never-saw-4",)
    assert {engineer.kind for engineer in asked[0].engineers} >= {"rules", "learnability", "uniform"}


def test_a_study_on_students_is_started_from_the_form(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page("studies")
    app.session_state["study-kind"] = "students"
    app = app.button(key="study-new").click().run()
    assert "frozenlab students make misled-about-agents-4" in words(app), "it says how to make students where there are none"
    for name, weak in (("never-saw-4", ("4",)), ("never-saw-5", ("5",))):
        planted(SessionStore(), name, weak)
    asked: list[StudySpec] = []

    def start(spec: StudySpec, store: SessionStore, run: RunSettings | None = None) -> Study:
        asked.append(spec)
        return Study.create(spec, store, "made")

    monkeypatch.setattr("frozenlab.experiments.studies.store.Study.start", start)
    app = open_page("studies")
    app.session_state["study-kind"] = "students"
    app = app.button(key="study-new").click().run()
    said = words(app)
    assert not app.exception and "**72 sessions** of 1 stage: 6 arms × 2 students × 6 seeds" in said
    assert (
        "frozenlab study students --students student:never-saw-4,student:never-saw-5 --engineers policy,rules,learnability,uniform "
        "--controls blind --seeds 6" in said
    )
    app.button(key="study-start").click().run()
    assert [spec.students for spec in asked] == [("student:never-saw-4", "student:never-saw-5")]
