"""A diagnosis from students to report: what engineers are asked, that nothing is asked twice, and what the rates are."""

from __future__ import annotations

import pandas as pd
import pytest

from frozenlab.engineer.engineers import engineer_of
from frozenlab.experiments.diagnosis.report import DiagnosisReport, lines, report_of, table, write_report
from frozenlab.experiments.diagnosis.store import Diagnosis
from frozenlab.experiments.diagnosis.task import DiagnosisError, obstacle, task_for
from frozenlab.experiments.shelf.shelf import delete
from frozenlab.jobs.job import STOP_FILE
from frozenlab.jobs.worker import DONE, STOPPED, work_on
from frozenlab.session.store import SessionStore
from tests.cli.calls import answer, reason
from tests.planted import planted


def test_what_cannot_be_diagnosed_is_refused(store: SessionStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no student is as planned" in reason(capsys, "diagnose")
    with pytest.raises(DiagnosisError, match="no student is as planned"):
        task_for([])
    with pytest.raises(DiagnosisError, match="not as planned: it is at 90 %"):
        task_for([planted(store, "sound", ("3",), refused="it is at 90 %")])
    student = planted(store, "weak", ("3",))
    assert obstacle(student, "human") == "it is a person"
    assert obstacle(student, "policy") is None
    with pytest.raises(DiagnosisError, match="samples"):
        task_for([student], samples=0)


def test_engineers_are_asked_once_and_scored_against_the_certificate(store: SessionStore, capsys: pytest.CaptureFixture[str]) -> None:
    students = [planted(store, "weak-3", ("3",)), planted(store, "weak-4-5", ("4", "5"))]
    engineers = [engineer_of(name) for name in ("rules", "uniform", "random")]
    sizes = {"samples": 2, "boards_per_cell": 6, "sampled_boards": 2, "sampled_plans": 2}
    diagnosis = Diagnosis.create(task_for(students, engineers, ("failures",), **sizes), store, "first")
    assert [shown.name for shown in diagnosis.spec.shown] == ["failures", "none"]

    def stop(share: float) -> None:
        if share == 5 / 24:
            (diagnosis.dir / STOP_FILE).touch()

    assert work_on(diagnosis, stop) == STOPPED
    assert len(diagnosis.answers()) == 5
    with pytest.raises(DiagnosisError, match="no student has all"):
        report_of(diagnosis)
    (diagnosis.dir / STOP_FILE).unlink()
    assert work_on(diagnosis) == DONE, Diagnosis(diagnosis.dir).state().error
    answers = diagnosis.answers()
    assert len(answers) == len({answer.key for answer in answers}) == diagnosis.spec.total == 24

    report = report_of(diagnosis)
    assert report.chance == pytest.approx((1 / 3 + 2 / 3) / 2)
    uniform = next(found for found in report.found if found.engineer == "uniform")
    assert uniform.rate.mean == pytest.approx(report.chance), "who moves nothing knows nothing"
    assert (uniform.aim, uniform.moved) == (None, 0)
    by_section = {answer.shown: answer.record for answer in answers if answer.key[:2] == ("weak-3", "rules") and answer.sample == 0}
    assert {claim.now is None for claim in by_section["none"].proposal.claims} == {False}, "rules fall back on the sampled rates"
    validation = pd.read_parquet(diagnosis.dir / "evidence" / "weak-3.parquet")
    read = {claim.cell: claim.now for claim in by_section["failures"].proposal.claims}
    assert read == pytest.approx(validation.groupby("config_cell")["valid"].mean().to_dict())

    write_report(report, diagnosis.dir)
    assert DiagnosisReport.model_validate_json((diagnosis.dir / "report.json").read_text()) == report
    assert len(pd.read_csv(diagnosis.dir / "rates.csv")) == len(table(report)) == 6
    assert "chance 50 %" in lines(report)[0]
    assert answer(capsys, "diagnose", "first") == report.model_dump(mode="json") | {"folder": str(diagnosis.dir), "status": "done"}
    assert "exists already" in reason(capsys, "diagnose", "first", "--sections", "failures")
    assert [found.id for found in Diagnosis.all(store)] == ["first"]
    delete(diagnosis, store)
    assert not Diagnosis.all(store)
