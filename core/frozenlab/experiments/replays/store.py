"""The folder of a replay: its task, the state of its worker, and the answers so far.

replays/<id>/
  task.json         what is asked, written once
  state.json        state of the process that asks
  answers.parquet   one row per answer so far: arm, sample, the proposal's whole record as JSON, and how many of its claims are faithful

The session is only read. A replay can be stopped or killed; it shows the answers it has and resumes from there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from frozenlab.base.files import write_parquet
from frozenlab.engineer import hosts
from frozenlab.engineer.faithfulness import Checked
from frozenlab.engineer.schema import ProposalRecord
from frozenlab.experiments.experiment import Experiment, Words
from frozenlab.experiments.replays.task import ReplayError, ReplayTask, servers, session_of, spec_of
from frozenlab.jobs.machine import LAB_MODEL, Needs, language_model
from frozenlab.session.session import Session
from frozenlab.session.spec import SessionSpec
from frozenlab.session.store import SessionStore


class Answer(NamedTuple):
    """One answer of an arm's engineer. ``sample`` counts from 0; answers of the same number had the same random draws."""

    arm: str
    sample: int
    record: ProposalRecord
    checked: Checked | None = None
    """How many of its claims are faithful; None in replays from before that was counted."""

    @property
    def key(self) -> tuple[str, int]:
        return self.arm, self.sample


class Replay(Experiment[ReplayTask]):
    """One replay folder, opened for reading. Opening it raises ReplayError if its spec cannot be read."""

    kind, model, error = "replay", ReplayTask, ReplayError
    words = Words("replay", "replays", "asking", "answers", "What was answered is kept.", "Ask for the rest")

    @classmethod
    def check(cls, spec: ReplayTask, store: SessionStore) -> None:
        """Raises HostError if an engineer's server is not allowed on this machine, SessionError if the stage is gone."""
        session = session_of(spec, store)
        hosts.check(servers(spec, session))
        session.measurements(spec.stage)

    @property
    def size_in_words(self) -> str:
        return f"{len(self.spec.arms)} arms × {self.spec.samples}"

    @property
    def session(self) -> Session:
        """The session of the replay. Raises SessionError if it does not exist any more."""
        return session_of(self.spec, self.store)

    @property
    def asked(self) -> list[SessionSpec]:
        """The session's spec as each arm changes it."""
        session = self.session
        return [spec_of(arm, session) for arm in self.spec.arms]

    @property
    def needs(self) -> Needs:
        return language_model() if any(spec.language and "model" in spec.engineer.author.needs for spec in self.asked) else LAB_MODEL

    @property
    def slow(self) -> bool:
        """Language models take their time, here or behind an API."""
        return any(spec.engineer.author.slow(spec.language) for spec in self.asked)

    @property
    def online(self) -> bool:
        return self.session.spec.online

    def answers(self) -> list[Answer]:
        """The answers so far, in the order in which they came, each once. Raises ReplayError if they cannot be read."""
        answers = self.read("answers.parquet", lambda path: list(map(_answer, pd.read_parquet(path).to_dict("records"))))
        return list({answer.key: answer for answer in answers or ()}.values())


def _answer(row: Mapping[Any, Any]) -> Answer:
    checked = _counted(int(row["faithful"]), int(row["claims"])) if {*Checked._fields} <= {*row} else None
    return Answer(str(row["arm"]), int(row["sample"]), ProposalRecord.model_validate_json(row["record"]), checked)


def _counted(faithful: int, claims: int) -> Checked:
    if not 0 <= faithful <= claims < 2**31:
        raise ValueError(f"{faithful} of {claims} claims cannot be faithful")
    return Checked(faithful, claims)


def write_answers(folder: Path, answers: Sequence[Answer]) -> None:
    """Replace ``answers.parquet``."""
    rows = pd.DataFrame([(one.arm, one.sample, one.record.model_dump_json()) for one in answers], columns=["arm", "sample", "record"])
    if all(one.checked is not None for one in answers):
        rows = rows.join(pd.DataFrame([one.checked for one in answers], columns=Checked._fields))
    write_parquet(folder / "answers.parquet", rows)
