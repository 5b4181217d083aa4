"""The folder of a diagnosis.

diagnoses/<id>/
  task.json                 what is asked, written once
  state.json                state of the process that asks
  evidence/<student>.parquet          the student's greedy answers to the validation boards, one row per board
  evidence/<student>-sampled.parquet  its sampled answers, one row per answer
  answers.parquet           one row per answer of an engineer: student, engineer, shown, sample, hit, aim, and the record as JSON
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from frozenlab.base.errors import one_line
from frozenlab.base.files import regular, write_parquet
from frozenlab.engineer.schema import ProposalRecord
from frozenlab.experiments.diagnosis.task import DiagnosisError, DiagnosisTask
from frozenlab.jobs.folders import find_folder, make_folder
from frozenlab.jobs.needs import Work
from frozenlab.jobs.task import TaskJob, newest_first
from frozenlab.session.store import SessionStore

Key = tuple[str, str, str, int]
"""Student, engineer, name of the choice of sections, sample."""


class Answer(NamedTuple):
    """One answer of an engineer about one student, with its score."""

    student: str
    engineer: str
    shown: str
    sample: int
    hit: float
    aim: float | None
    record: ProposalRecord

    @property
    def key(self) -> Key:
        return self.student, self.engineer, self.shown, self.sample


class Diagnosis(TaskJob[DiagnosisTask]):
    """One diagnosis folder, opened for reading. Opening it raises DiagnosisError if its task cannot be read."""

    kind = "diagnosis"
    model, error = DiagnosisTask, DiagnosisError

    @property
    def title(self) -> str:
        return self.task.title

    @property
    def work(self) -> Work:
        task = self.task
        return Work("+".join(engineer.kind for engineer in task.engineers), float(len(task.students) * len(task.shown) * task.samples))

    @property
    def slow(self) -> bool:
        return any(engineer.slow(None) for engineer in self.task.engineers)

    @property
    def store(self) -> SessionStore:
        """The sessions next to which the students are."""
        return SessionStore(self.dir.parents[1])

    def answers(self) -> list[Answer]:
        """The answers so far. Raises DiagnosisError if they cannot be read."""
        path = self.dir / "answers.parquet"
        if not path.exists():
            return []
        try:
            rows = pd.read_parquet(regular(path))[list(Answer._fields)]
            return [
                Answer(str(student), str(engineer), str(shown), int(sample), float(hit), None if pd.isna(aim) else float(aim), read(record))
                for student, engineer, shown, sample, hit, aim, record in rows.itertuples(index=False)
            ]
        except Exception as error:  # a damaged table can make its reader raise anything
            raise DiagnosisError(f"diagnosis {self.id!r}: answers.parquet cannot be read: {one_line(error)}") from None


def read(record: str) -> ProposalRecord:
    return ProposalRecord.model_validate_json(record)


def write_answers(folder: Path, answers: Sequence[Answer]) -> None:
    """Replace ``answers.parquet``."""
    rows = [(*answer[:-1], answer.record.model_dump_json()) for answer in answers]
    write_parquet(folder / "answers.parquet", pd.DataFrame(rows, columns=list(Answer._fields)).astype({"aim": float}))


def diagnoses_folder(store: SessionStore) -> Path:
    return store.root / "diagnoses"


def create_diagnosis(task: DiagnosisTask, store: SessionStore, diagnosis_id: str | None = None) -> Diagnosis:
    """Create a folder with ``task.json`` and a queued state. Raises DiagnosisError if the id is invalid or taken."""
    return Diagnosis(
        make_folder(diagnoses_folder(store), diagnosis_id, "task.json", task, title=task.title, kind="diagnosis", error=DiagnosisError)
    )


def diagnoses(store: SessionStore) -> list[Diagnosis]:
    """Every readable diagnosis, newest first."""
    return newest_first(diagnoses_folder(store), Diagnosis)


def open_diagnosis(diagnosis_id: str, store: SessionStore) -> Diagnosis:
    """A diagnosis by its id. Raises DiagnosisError if there is none."""
    return Diagnosis(find_folder(diagnoses_folder(store), diagnosis_id, kind="diagnosis", error=DiagnosisError))
