"""The folder of a contest.

contests/<id>/
  task.json           student, session of every side, weakness; written once
  state.json          state of the process that works through the queue
  entries/001.json    the configs in the order in which they came
  sides/base/         the student before training: the evidence, and its answers to the boards of the score
  sides/entry-001/    the session of the first entry, a fork of the base
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from heapq import heapreplace
from statistics import median
from typing import Literal

from frozenlab.base import look_only
from frozenlab.base.files import locked, write_text
from frozenlab.experiments.contests.task import ContestError, ContestTask, Entry
from frozenlab.experiments.experiment import Experiment, Words
from frozenlab.experiments.students.recipe import StudentError
from frozenlab.experiments.students.store import Student
from frozenlab.experiments.studies.presets import best_for
from frozenlab.jobs.folders import read_task
from frozenlab.jobs.imported import imported, refuse_imported
from frozenlab.jobs.machine import HAS_OTHERS_RUN, Needs
from frozenlab.jobs.state import Status
from frozenlab.models.folders import STUDENT
from frozenlab.session.session import Session, SessionError
from frozenlab.session.store import SessionStore

BASE = "base"
TRAINED_AT_ONCE = 2
"""Sides that train at the same time, so that two can be watched side by side: a side takes half of the cores."""
MOST_ENTRIES, MOST_OF_ONE = 300, 12
"""Entries of a contest, and those among them of one visitor."""
Standing = Literal["waits", "trains", "done", "failed"]
"""Of an entry: it waits for its turn, it trains or is measured, it has a score, or it could not be trained."""
STANDINGS: dict[Status, Standing] = {"queued": "trains", "running": "trains", "stalled": "trains", "done": "done", "failed": "failed"}
"""By the status of its session. One that was stopped waits again."""


class Contest(Experiment[ContestTask]):
    """One contest folder, opened for reading. Opening it raises ContestError if its spec cannot be read."""

    kind, model, error = "contest", ContestTask, ContestError
    words = Words("contest", "contests")

    @classmethod
    def create(cls, spec: ContestTask, store: SessionStore, experiment_id: str | None = None) -> Contest:
        """A new folder, with the oracle in the queue. Raises ContestError if the id is invalid or taken."""
        contest = super().create(spec, store, experiment_id)
        if spec.weak:
            contest.enter(Entry(name="the oracle", kind="oracle", config=best_for(spec.session.initial_config, spec.weak)))
        return contest

    def wake(self) -> None:
        """Queue it if there is work and no worker. Raises LaunchError if the disk is full.

        Visitors may wake a worker that ended because no entry waited, but none that failed or was stopped, which may have had a reason.
        """
        state = self.state()
        if state.live or not self.unfinished:
            return
        with look_only.handing_in() if state.status == "done" else nullcontext():
            self.resume()

    @property
    def needs(self) -> Needs:
        return HAS_OTHERS_RUN

    @property
    def sides(self) -> SessionStore:
        return SessionStore(self.dir / "sides")

    @property
    def student(self) -> Student | None:
        """The student that trains, made or being made; None: the lab model trains, or it is not begun yet."""
        name = self.spec.session.policy
        if not name.startswith(STUDENT):
            return None
        try:
            return Student.open(name, self.store)
        except StudentError:
            return None

    @property
    def base(self) -> Session | None:
        """The student before training; None: not begun yet."""
        return self._session(BASE)

    @property
    def is_open(self) -> bool:
        """Whether the student is measured, so that there is evidence to write a config from."""
        base = self.base
        return base is not None and base.context(None) is not None

    @property
    def entries(self) -> list[Entry]:
        """In the order in which they came."""
        files = sorted((self.dir / "entries").glob("[0-9]*.json"))
        read = ((file, read_task(file, Entry, kind="entry", error=ContestError)) for file in files)
        return [entry.model_copy(update={"number": int(file.stem)}) for file, entry in read]

    @property
    def finished(self) -> int:
        """Entries whose training has ended, well or not."""
        return sum(self.standing(entry.number) in ("done", "failed") for entry in self.entries)

    def side(self, number: int) -> Session | None:
        """The session of an entry; None before its turn."""
        return self._session(side_id(number))

    def standing(self, number: int) -> Standing:
        """What became of an entry."""
        side = self.side(number)
        return STANDINGS.get(side.state().status, "waits") if side else "waits"

    def waiting(self) -> list[Entry]:
        """The entries that wait, in the order of their turns: the oracle comes last."""
        found = [entry for entry in self.entries if self.standing(entry.number) == "waits"]
        return sorted(found, key=lambda entry: (entry.kind == "oracle", entry.number))

    @property
    def rounds(self) -> list[float]:
        """Seconds that entries have trained and been measured, those that train by their own pace: of this contest, or before its first
        those of other contests on this machine about such a stage."""

        def took(contest: Contest) -> list[float]:
            states = [side.state() for entry in contest.entries if (side := contest.side(entry.number))]
            ended = [state.took for state in states if state.status == "done" and state.took is not None]
            now = time.time()
            return ended or [now - one.started + one.seconds_left for one in states if one.live and one.started and one.seconds_left]

        def stage(contest: Contest) -> tuple[object, ...]:
            spec = contest.spec.session
            return spec.training, spec.suite, spec.test

        alike = (one for one in Contest.all(self.store) if one.id != self.id and imported(one.dir) is None and stage(one) == stage(self))
        return took(self) or [seconds for contest in alike for seconds in took(contest)]

    def begins(self, rounds: Sequence[float]) -> dict[int, float]:
        """Number -> the seconds until the training of an entry that waits begins, and for 0 until that of one that came now would;
        empty while no round has shown how long it takes.

        Args:
            rounds: those of :attr:`rounds`, for which every contest of the machine is looked at.
        """
        if not rounds:
            return {}
        lasts, found = median(rounds), {}
        left = [
            side.state().seconds_left or lasts
            for entry in self.entries
            if self.standing(entry.number) == "trains" and (side := self.side(entry.number))
        ]
        free = sorted([*left, *[0.0] * TRAINED_AT_ONCE][:TRAINED_AT_ONCE])
        for number in [*(entry.number for entry in self.waiting() if entry.kind != "oracle"), 0]:
            found[number] = free[0]
            heapreplace(free, free[0] + lasts)
        return found

    @property
    def unfinished(self) -> bool:
        """Whether there is work left."""
        return not self.is_open or bool(self.waiting())

    def enter(self, entry: Entry) -> int:
        """Put an entry at the end of the queue and return its number. With the first person's, the engineer enters too.

        Raises ContestError if the entry has another kind of config, or the contest is full, and ImportedError if it was imported and is
        not one's own yet.
        """
        refuse_imported(self.dir)
        begun = self.spec.session.initial_config
        if entry.config is not None and (entry.config.family != begun.family or set(entry.config.cells) != set(begun.cells)):
            raise ContestError("this config is about other tasks than those of the contest")
        folder = self.dir / "entries"
        # Visitors may enter too, and two people may press the button at once.
        with look_only.handing_in(), locked(self.dir / ".entries.lock"):
            folder.mkdir(exist_ok=True)
            known = self.entries
            if len(known) >= MOST_ENTRIES:
                raise ContestError(f"this contest has {MOST_ENTRIES} entries, which is as many as it takes; begin another one")
            if entry.by and sum(other.by == entry.by for other in known) >= MOST_OF_ONE:
                raise ContestError(f"you have {MOST_OF_ONE} entries in this contest, which is as many as one person gets")
            number = 1 + max((other.number for other in known), default=0)
            added = [entry]
            if entry.kind == "person" and not any(other.kind == "engineer" for other in known):
                added.append(Entry(name="the engineer", kind="engineer"))
            for place, one in enumerate(added, start=number):
                write_text(folder / f"{place:03d}.json", one.model_dump_json(indent=1))
        return number

    def _session(self, name: str) -> Session | None:
        try:
            return Session(self.sides.root / name)
        except SessionError:
            return None


def side_id(number: int) -> str:
    return f"entry-{number:03d}"
