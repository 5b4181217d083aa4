"""What the commands of all experiments share: one that is there or a new one from a spec, worked on here, and shown.

A kind without options of its own needs no more than :func:`add_experiment` and :func:`run_experiment`.
"""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from tqdm import tqdm

from frozenlab.base import places
from frozenlab.base.numbers import listed, percent
from frozenlab.cli.common import InputError, add_fields, given, read_model, refusing, show
from frozenlab.experiments.experiment import Experiment, RunSettings
from frozenlab.jobs.environment import worker_environment
from frozenlab.jobs.job import STOP_FILE, Job
from frozenlab.jobs.launcher import claim, release
from frozenlab.jobs.worker import work_on
from frozenlab.session.store import SessionStore

AnExperiment = TypeVar("AnExperiment", bound=Experiment[Any])
Tell = Callable[[AnExperiment, argparse.Namespace], None]
"""Prints what an experiment found."""


def add_experiment(parser: argparse.ArgumentParser, kind: type[Experiment[Any]], fields: Sequence[str] = ()) -> None:
    """Add what :func:`run_experiment` reads: a spec or an id, and options for these ``fields`` of the spec."""
    one = kind.words.one
    parser.add_argument("what", nargs="?", metavar="SPEC|ID", help=f"a spec (JSON), or the id of a {one} to resume")
    if presets := [shipped.id for shipped in kind.shipped()]:
        parser.add_argument("--preset", metavar="NAME", help=f"a ready-made {one}: {', '.join(presets)}")
    add_fields(parser, kind.model, *fields, defaults=False)
    add_id(parser, kind)


def add_id(parser: argparse.ArgumentParser, kind: type[Experiment[Any]]) -> None:
    parser.add_argument("--id", help=f"id of the {kind.words.one} (default: date and title)")


def run_experiment(
    kind: type[AnExperiment],
    options: argparse.Namespace,
    fields: Sequence[str] = (),
    tell: Tell[AnExperiment] | None = None,
    make: Callable[[argparse.Namespace], Any] | None = None,
    before: Callable[[Any, AnExperiment | None], None] = lambda spec, experiment: None,
) -> int:
    """Make one or go on with it in this process, unless it is done, and ``tell`` what it found; return the exit status.

    Args:
        fields: the options that only a new one takes.
        make: makes its spec of the options; None: it is a preset or in a file, and ``fields`` are some of its fields.
        before: called with the spec, and with the experiment that goes on, before anything is written; it may raise a LabError.
    """
    store, run, status = SessionStore(), given(options, "jobs"), 0
    experiment = existing(kind, options.what, options, *([] if make else ["preset"]), *fields, "id")
    if experiment is None or experiment.state().status != "done":
        if experiment is not None:
            refuse_live(experiment)
            spec = experiment.spec
        else:
            spec = make(options) if make else spec_of(kind, options, fields)
        kind.check(spec, store)
        before(spec, experiment)
        experiment = experiment or kind.create(spec, store, options.id)
        if run:
            experiment.keep_run(RunSettings(**run))
        status = work_here(experiment)
    (tell or tell_standing)(experiment, options)
    return status


def existing(kind: type[AnExperiment], name: str | None, options: argparse.Namespace, *new: str) -> AnExperiment | None:
    """The user's experiment of this id, which goes on or is shown again; None if there is none.

    Args:
        new: the options that only a new one takes. Raises InputError if one of them is given too.
    """
    store = SessionStore()
    if not name or not (kind.place(store.root) / name).is_dir():
        return None
    if any(getattr(options, option, None) is not None for option in new):
        flags = listed(f"--{option.replace('_', '-')}" for option in new)
        raise InputError(f"{name} exists already: {flags} are for a new {kind.words.one}")
    return kind.open(name, store)


def spec_of(kind: type[Experiment[Any]], options: argparse.Namespace, fields: Sequence[str]) -> Any:
    """The spec in a file or of a preset, with the fields that are given as options."""
    preset = getattr(options, "preset", None)
    presets = {shipped.id: shipped.spec for shipped in kind.shipped()} if preset else {}
    if bool(options.what) == bool(preset):
        raise InputError(f"name a spec (JSON), the id of a {kind.words.one}, or a --preset")
    if preset and preset not in presets:
        raise InputError(f"there is no {kind.kind} preset {preset!r}; there are {', '.join(presets)}")
    spec = presets[preset] if preset else read_model(kind.model, options.what)
    with refusing(preset or options.what):
        return kind.model.model_validate(spec.model_dump() | given(options, *fields))


def refuse_live(job: Job) -> None:
    """Raise InputError if another process has the job, or will have it."""
    if job.state().live:
        raise InputError(f"{job.id} is {job.state().status} already; frozenlab jobs queue shows what waits and runs")


@contextmanager
def worked_on_here(job: Job) -> Iterator[None]:
    """This process is about to do a job: Ctrl+C asks it to stop soon, and what it takes of the machine counts in the queue.

    Raises InputError if another process has the job.
    """
    refuse_live(job)
    os.environ.update(worker_environment(job.online))
    signal.signal(signal.SIGINT, lambda *_: (job.dir / STOP_FILE).touch())
    if job.state().status == "done":
        yield
        return
    root = places.sessions_folder()
    claim(job, root)
    try:
        yield
    finally:
        release(job, root)


def work_here(experiment: Experiment[Any]) -> int:
    """Do the work in this process, with a bar; return the exit status. Raises InputError if another process has the job."""
    total, words = experiment.total, experiment.words
    done = round(experiment.state().progress * total)
    bar = tqdm(desc=words.doing, initial=done, total=total, unit=f" {words.units}", disable=None, leave=False)
    with worked_on_here(experiment), bar:

        def move(share: float) -> None:
            bar.update(round(share * total) - bar.n)

        return work_on(experiment, move)


def tell_standing(experiment: Experiment[Any], options: argparse.Namespace) -> None:
    """Print how far it is, and why it failed."""
    state = experiment.state()
    record = about(experiment) | {"progress": state.progress, "error": state.error}
    show(options.json, record, standing(experiment, percent(state.progress)), *filter(None, [state.error]))


def about(experiment: Experiment[Any]) -> dict[str, Any]:
    """What JSON says of every experiment."""
    return {"id": experiment.id, "folder": str(experiment.dir), "status": experiment.state().status}


def standing(experiment: Experiment[Any], so_far: str = "") -> str:
    """How far it is, in a line: ``demo: stopped, 3 of 8 answers, in /lab/replays/demo``."""
    return f"{experiment.id}: {experiment.state().status}{so_far and ', '}{so_far}, in {experiment.dir}"
