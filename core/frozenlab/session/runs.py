"""A line about each session for the table of runs, how they are filtered and ordered, and the results of several runs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from frozenlab.base.numbers import CLEAR, BoardByBoard, Interval, board_by_board
from frozenlab.engineer.engineers import BY_NAME
from frozenlab.jobs.state import read_state
from frozenlab.session.catalog import Labels, Listed, Rated
from frozenlab.session.session import Session, SuiteName, suite_of_results

if TYPE_CHECKING:
    import pandas as pd

MOST_PAIRED = 6
"""Runs of which each two are paired."""


class Run(NamedTuple):
    """A session as a line of the table."""

    id: str
    folder: Path
    title: str
    status: str
    """That of its state; ``recorded`` for a session that ships."""
    family: str
    engineer: str
    """Its kind; that it gave no usable answer, if it was asked."""
    method: str
    stages: int
    seed: int
    began: float
    """Unix seconds."""
    base: Rated | None
    """Before training."""
    last: Rated | None
    """After the last stage that was measured."""
    curve: tuple[float, ...]
    """The valid rates so far: before training and after each stage."""
    boards: SuiteName | None
    """The suite of the rates."""
    parent: str | None
    labels: Labels
    alike: str
    """The same in runs that differ in nothing but title and seed."""
    alarms: tuple[str, ...] = ()
    """The rules that give an alarm, while it runs."""

    @property
    def standing(self) -> str:
        """``running``, or, where something goes wrong, ``⚠ reward collapse``."""
        return f"⚠ {', '.join(self.alarms).replace('-', ' ')}" if self.alarms else self.status

    @property
    def words(self) -> str:
        """Everything that a search looks at, in small letters."""
        return "\n".join([self.title, self.id, *self.labels.tags, self.labels.notes]).lower()


class Wanted(NamedTuple):
    """A filter. Whatever is empty lets all runs through."""

    text: str = ""
    """Each of its words has to be in the title, id, tags or notes."""
    statuses: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    engineers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """A run has to have all of them."""
    archived: bool = False
    """Whether archived runs are shown too."""

    def keeps(self, run: Run) -> bool:
        return (
            (self.archived or not run.labels.archived)
            and (not self.statuses or run.status in self.statuses)
            and (not self.families or run.family in self.families)
            and (not self.engineers or run.engineer in self.engineers)
            and set(self.tags) <= set(run.labels.tags)
            and all(word in run.words for word in self.text.lower().split())
        )


def _valid(run: Run) -> float:
    return run.last.valid if run.last is not None else -1.0


def _gained(run: Run) -> float:
    return run.last.valid - run.base.valid if run.last is not None and run.base is not None else -2.0


ORDERS: dict[str, Callable[[Sequence[Run]], list[Run]]] = {
    "newest first": lambda found: sorted(found, key=lambda run: -run.began),
    "oldest first": lambda found: sorted(found, key=lambda run: run.began),
    "best first": lambda found: sorted(found, key=lambda run: -_valid(run)),
    "most gained first": lambda found: sorted(found, key=lambda run: -_gained(run)),
    "by name": lambda found: sorted(found, key=lambda run: run.title.lower()),
}
"""Orders of the whole table. Runs without results come last where results decide."""


def runs(known: Iterable[Listed]) -> list[Run]:
    """The lines of these sessions, in their order. A session whose spec cannot be read has none."""
    return [run for session in known if (run := run_of(session)) is not None]


def pinned_first(found: Sequence[Run]) -> list[Run]:
    return sorted(found, key=lambda run: not run.labels.pinned)


def without_seed(title: str) -> str:
    """What a run and those that differ in nothing but title and seed are called together.

    >>> without_seed("Hard boards, seed 12"), without_seed("Seeds")
    ('Hard boards', 'Seeds')
    """
    return re.sub(r", seed \d+$", "", title)


def over_seeds(found: Sequence[Run]) -> list[list[Run]]:
    """The runs that differ in nothing but title and seed together, each group where its first one stands."""
    groups: dict[str, list[Run]] = {}
    for run in found:
        groups.setdefault(run.alike, []).append(run)
    return list(groups.values())


def run_of(session: Listed) -> Run | None:
    about, state, labels = session.glance
    if about is None:
        return None
    labels, asked = labels or Labels(), BY_NAME.get(about.engineer)
    usable, answers = state.answers if state is not None and state.answers else (0, 0)
    status: str = state.status if state is not None else "failed"
    if session.recorded:
        status = "recorded"
    elif session.at_work:
        status = read_state(session.folder).status  # whether its worker lives
    return Run(
        id=session.folder.name,
        folder=session.folder,
        title=labels.title or about.title or session.folder.name,
        status=status,
        family=about.family,
        engineer=f"{about.engineer}, no usable answer" if answers and not usable else about.engineer,
        method=about.method,
        stages=about.stages,
        seed=about.seed,
        began=session.began,
        base=state.base if state is not None else None,
        last=state.last if state is not None else None,
        curve=state.curve if state is not None else (),
        boards=None if state is None else suite_of_results(about.tested, asked is not None and "person" in asked.needs, state.status),
        parent=about.parent,
        labels=labels,
        alike=about.alike,
        alarms=state.alarms if state is not None and status in ("running", "stalled") else (),
    )


def names_of(found: Sequence[Session]) -> list[str]:
    """The titles, with the id where several have the same."""
    titles = Counter(session.title for session in found)
    return [session.title if titles[session.title] == 1 else f"{session.title} ({session.id})" for session in found]


def by_name(found: Sequence[Session]) -> dict[str, Session]:
    """Each session by its name of :func:`names_of`."""
    return dict(zip(names_of(found), found, strict=True))


@dataclass(frozen=True)
class Measured:
    """The results of a run's last measured stage."""

    session: Session
    name: str
    """The run is called so; no other has the same name."""
    stage: int | None
    """0-based; None: only the base was measured."""
    table: pd.DataFrame

    @property
    def rates(self) -> dict[str, Interval]:
        """The rates of valid and of optimal plans."""
        return {measure: Interval.of(int(self.table[measure].sum()), len(self.table)) for measure in ("valid", "optimal")}

    @property
    def after(self) -> str:
        return "before training" if self.stage is None else f"after stage {self.stage + 1}"


def measured(session: Session, name: str) -> Measured | None:
    """The run's last results; None before the first."""
    for stage in (*reversed(range(session.spec.stages)), None):
        table = session.results(stage)
        if table is not None:
            return Measured(session, name, stage, table)
    return None


def shared(runs: Sequence[Measured]) -> list[pd.DataFrame]:
    """The rows of the boards that all runs were measured on, in the same order; empty tables where there is none.

    Suites name boards by their place, so the same id may be another board: the board itself has to be the same too.
    """
    family = runs[0].session.spec.tasks
    if any(run.session.spec.tasks is not family for run in runs):
        return [run.table.iloc[:0] for run in runs]
    same = ["board_id", *family.task_columns]
    common = reduce(lambda left, right: left.merge(right, on=same), [run.table[same].drop_duplicates() for run in runs])
    # each board once, as a damaged table may not have it
    return [common[["board_id"]].drop_duplicates().merge(run.table.drop_duplicates("board_id"), on="board_id") for run in runs]


@dataclass(frozen=True)
class Pair:
    """Two runs on the boards that both were measured on."""

    first: Measured
    second: Measured
    result: BoardByBoard
    """``gained`` are boards that only the second solves, ``lost`` those that only the first does."""


def pairs(runs: Sequence[Measured]) -> list[Pair]:
    """Each two of the runs, in their order; where the first is pinned or there are many, only the first and each other one."""
    first_only = len(runs) > MOST_PAIRED or any(run.session.labels.pinned for run in runs[:1])
    found = [(runs[0], other) for other in runs[1:]] if first_only else combinations(runs, 2)
    return [Pair(first, second, board_by_board(*shared([first, second]))) for first, second in found]


def uncorrected(many: int) -> str:
    """What a reader has to know about the p values of several pairs."""
    return f"{many} pairs are tested, and p is not corrected for that: below {CLEAR / many:.2g} it is clear for all."
