"""The folder of a diagnosis.

diagnoses/<id>/
  task.json                 what is asked, written once
  state.json                state of the process that asks
  evidence/<student>.parquet          the student's greedy answers to the validation boards, one row per board
  evidence/<student>-sampled.parquet  its sampled answers, one row per answer
  answers.parquet           one row per answer of an engineer: student, engineer, shown, sample, hit, aim, and the record as JSON
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from frozenlab.base.files import write_parquet
from frozenlab.engineer import hosts
from frozenlab.engineer.schema import ProposalRecord
from frozenlab.experiments.diagnosis.task import DiagnosisError, DiagnosisTask, Key
from frozenlab.experiments.experiment import Experiment, Words
from frozenlab.session.store import SessionStore


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


class Diagnosis(Experiment[DiagnosisTask]):
    """One diagnosis folder, opened for reading. Opening it raises DiagnosisError if its spec cannot be read."""

    kind, model, error = "diagnosis", DiagnosisTask, DiagnosisError
    words = Words("diagnosis", "diagnoses", "asking", "answers")

    @classmethod
    def check(cls, spec: DiagnosisTask, store: SessionStore) -> None:
        """Raises HostError if an engineer's server is not allowed on this machine."""
        hosts.check([engineer.server for engineer in spec.engineers])

    @property
    def slow(self) -> bool:
        return any(engineer.slow(None) for engineer in self.spec.engineers)

    def answers(self) -> list[Answer]:
        """The answers so far. Raises DiagnosisError if they cannot be read."""
        return self.read("answers.parquet", lambda path: list(map(_answer, pd.read_parquet(path).to_dict("records")))) or []


def _answer(row: Mapping[Any, Any]) -> Answer:
    key, aim = (str(row["student"]), str(row["engineer"]), str(row["shown"]), int(row["sample"])), row["aim"]
    record = ProposalRecord.model_validate_json(row["record"])
    return Answer(*key, float(row["hit"]), None if pd.isna(aim) else float(aim), record)


def write_answers(folder: Path, answers: Sequence[Answer]) -> None:
    """Replace ``answers.parquet``."""
    rows = [(*answer[:-1], answer.record.model_dump_json()) for answer in answers]
    write_parquet(folder / "answers.parquet", pd.DataFrame(rows, columns=list(Answer._fields)).astype({"aim": float}))
