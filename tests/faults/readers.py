"""All that reads a folder that anybody may have written: what pages and commands are made of, by kind of folder.

A reader gets the sessions folder and the name of the folder within it that is damaged.
"""

from __future__ import annotations

import argparse
import contextlib
import io
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from frozenlab.cli import main
from frozenlab.cli.main import parse
from frozenlab.cli.replay import print_replay
from frozenlab.cli.study import print_study
from frozenlab.engineer.sections import describe
from frozenlab.experiments.benchmark.results import results
from frozenlab.experiments.benchmark.task import Evaluation
from frozenlab.experiments.contests.store import Contest
from frozenlab.experiments.diagnosis.store import Diagnosis
from frozenlab.experiments.experiment import Experiment
from frozenlab.experiments.headroom.report import report_of as headroom_report
from frozenlab.experiments.headroom.store import Headroom
from frozenlab.experiments.references import needed_by
from frozenlab.experiments.replays.store import Replay
from frozenlab.experiments.replays.task import validated_stages
from frozenlab.experiments.shelf.housekeeping import IN_TRASH, RULES, disk_use, removals
from frozenlab.experiments.shelf.shelf import in_trash, why_kept
from frozenlab.experiments.students.store import Student
from frozenlab.experiments.studies.store import Study
from frozenlab.jobs.queue.watch import recovered
from frozenlab.session.forks import forked_spec
from frozenlab.session.ledger import predictions
from frozenlab.session.reproduce import compare, spec_to_reproduce
from frozenlab.session.runs import runs
from frozenlab.session.session import Session, problems_of
from frozenlab.session.store import SessionStore

Reader = Callable[[Path, str], object]


@cache
def options_of(words: tuple[str, ...]) -> argparse.Namespace:
    return parse(words)


def parsed(words: Sequence[str]) -> argparse.Namespace:
    """The options of a command line; to read the same one again costs as much as many a command."""
    return options_of(tuple(words))


# --- all folders -----------------------------------------------------------------------------------------------------


def store(root: Path, name: str) -> None:
    found = SessionStore(root)
    known = found.listed()
    runs(known), found.sessions(known=known), found.running(known), found.forked(), in_trash(found), list(recovered(root))


def commands(*lines: str) -> Reader:
    """Commands, with ``ID`` for the name of the folder, and none that changes something. ``status`` tells the alarms, ``present`` makes a
    talk."""

    def run(root: Path, name: str) -> None:
        for line in lines:
            said = io.StringIO()
            words = [name if word == "ID" else word.replace("ROOT", str(root)) for word in line.split()]
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), patch.object(main, "parse", parsed):
                status = main.main(words)
            if status not in (0, 2):
                raise AssertionError(f"frozenlab {line}: exit status {status}\n{said.getvalue()[-3000:]}")

    return run


# --- sessions --------------------------------------------------------------------------------------------------------


def session(root: Path, name: str) -> None:
    opened = SessionStore(root).open(name)
    problems_of(opened), opened.checkpoints(), opened.created, opened.title, opened.origin, opened.state(), opened.rates(), opened.events()
    for stage in (None, *range(opened.spec.stages)):
        opened.environment(stage), opened.context(stage), opened.proposal(stage), opened.given(stage), opened.results(stage)
        if stage is not None:
            opened.metrics(stage), opened.completions(stage), opened.recorded_steps(stage)


def evidence(root: Path, name: str) -> None:
    opened = SessionStore(root).open(name)
    for stage in validated_stages(opened):
        describe(opened.measurements(stage), opened.spec.sections, opened.spec.layouts)
        forked_spec(opened, stage, engineer="uniform")


def ledger(root: Path, name: str) -> None:
    predictions(SessionStore(root).open(name))


def housekeeping(root: Path, name: str) -> None:
    found = SessionStore(root)
    opened = found.open(name)
    disk_use(opened.dir), removals(found, [*RULES, IN_TRASH]), list(needed_by(opened, found)), why_kept(opened, found)


def again(root: Path, name: str) -> None:
    """What a repetition would be compared with; here the undamaged one."""
    opened = SessionStore(root).open(name)
    compare(opened, Session(root / "whole"))
    spec_to_reproduce(opened)


# --- jobs about sessions ---------------------------------------------------------------------------------------------


def study(root: Path, name: str) -> None:
    Study.all(SessionStore(root))
    opened = Study.open(name, SessionStore(root))
    opened.state(), opened.run, opened.title, list(opened.finished())


def printed_study(root: Path, name: str) -> None:
    """Its report, counted anew."""
    with contextlib.redirect_stdout(io.StringIO()):
        print_study(Study.open(name, SessionStore(root)), as_json=False)


def replay(root: Path, name: str) -> None:
    opened = Replay.open(name, SessionStore(root))
    opened.slow, opened.answers()


def printed_replay(root: Path, name: str) -> None:
    """Its figures and sentences."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        print_replay(Replay.open(name, SessionStore(root)), argparse.Namespace(json=False, out=None))


def result(root: Path, name: str) -> None:
    for each in results(SessionStore(root)):
        if not each.shipped:
            report, rows = each.report, each.rows
            if report is not None:
                report.lines(), report.cells_table(), rows


def certificate(root: Path, name: str) -> None:
    Student.open(name, SessionStore(root)).certificate  # noqa: B018


def every(kind: type[Experiment[Any]], *more: Callable[[Any], object]) -> Reader:
    """State and title of each of a kind, and what ``more`` reads of it."""

    def read(root: Path, name: str) -> None:
        for each in kind.all(SessionStore(root)):
            each.state(), each.title, [one(each) for one in more]

    return read


READERS: dict[str, tuple[Reader, ...]] = {
    "session": (
        store, session, evidence, ledger, housekeeping, again,
        commands("status ID", "status ID --json", "list", "jobs disk", "jobs gc --rules optimizer,middle-weights"),
        commands("present ID --out ROOT/talk.html"),
    ),
    "study": (store, study, printed_study, commands("list", "jobs disk", "jobs gc")),
    "replay": (store, every(Replay), replay, printed_replay, commands("list", "jobs disk")),
    "result": (store, result, every(Evaluation), commands("list", "jobs disk")),
    "student": (store, every(Student), certificate, commands("students list", "students show ID")),
    "diagnosis": (store, every(Diagnosis, Diagnosis.answers)),
    "contest": (store, every(Contest, lambda each: each.entries)),
    "headroom": (store, every(Headroom, headroom_report)),
}  # fmt: skip
PAGES: dict[str, tuple[tuple[str, dict[str, str]], ...]] = {
    "session": (
        ("home", {}), ("runs", {}), ("runs", {"compare": "case,whole"}), ("train", {"session": "case"}), ("story", {"session": "case"}),
        ("present", {"session": "case"}), ("replay", {"session": "case"}),
    ),
    "study": (("studies", {"study": "case"}), ("studies", {})),
    "replay": (("replay", {"replay": "case"}), ("replay", {})),
    "result": (("benchmark", {}),),
    "student": (("contest", {}), ("studies", {})),
    "diagnosis": (("diagnosis", {}),),
    "contest": (("contest", {"contest": "case"}),),
    "headroom": (("headroom", {"headroom": "case"}),),
}  # fmt: skip
"""Pages and the addresses at which they show the damaged folder."""
