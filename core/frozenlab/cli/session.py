"""``frozenlab run``, ``resume``, ``stop`` and ``status``: one session from start to end."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frozenlab.cli.common import Command, InputError, add_allow_host, add_session_id, engineer_names, find_session, listed, read_text

if TYPE_CHECKING:
    from frozenlab.session.reproduce import Comparison
    from frozenlab.session.session import Session
    from frozenlab.session.spec import SessionSpec


TRACKERS = ("trackio", "mlflow", "wandb")


def add_run(parser: argparse.ArgumentParser) -> None:
    from frozenlab.models.training.methods import NAMES as METHODS
    from frozenlab.models.training.schedule import SCHEDULES
    from frozenlab.session.presets import PRESETS

    parser.add_argument("spec", nargs="?", type=Path, help="the session spec, a JSON file")
    parser.add_argument("--preset", metavar="NAME", help=f"use a preset instead of a spec file: {listed(PRESETS)}")
    parser.add_argument("--method", metavar="METHOD", help=f"training method of a preset: {listed(METHODS)} (default: {METHODS[0]})")
    parser.add_argument("--schedule", metavar="SCHEDULE", help=f"schedule of the learning rate: {listed(SCHEDULES)}")
    parser.add_argument("--seed", type=int, help="replace the seed of the spec")
    parser.add_argument("--engineer", metavar="ENGINEER", help=f"replace the engineer of the spec: {listed(engineer_names())}")
    parser.add_argument("--policy", metavar="MODEL", help="replace the policy of the spec: lab-model, student:ID or a checkpoint folder")
    parser.add_argument("--out", type=Path, help="session folder to create (default: a new one among the sessions)")
    add_track(parser)
    add_allow_host(parser)


def add_track(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--track", metavar="TRACKER", choices=TRACKERS,
        help=f"follow the session in a tracker that is installed: {listed(TRACKERS)} (default: FROZENLAB_TRACK, else none)",
    )  # fmt: skip


def add_resume(parser: argparse.ArgumentParser) -> None:
    add_session_id(parser)
    add_track(parser)
    add_allow_host(parser)


def spec_of(file: Path | None, preset: str | None, method: str = "grpo") -> SessionSpec:
    """The spec in a file, or that of a preset."""
    from pydantic import ValidationError

    from frozenlab.base.errors import one_line
    from frozenlab.session.presets import PRESETS, preset_spec
    from frozenlab.session.spec import SessionSpec

    if (preset is None) == (file is None):
        raise InputError("give either a spec file or --preset")
    if preset is not None and preset not in PRESETS:
        raise InputError(f"there is no preset {preset!r}; the presets are {', '.join(PRESETS)}")
    if file is None:
        return preset_spec(str(preset), method=method)
    try:
        return SessionSpec.model_validate_json(read_text(file))
    except ValidationError as error:
        raise InputError(f"{file}: {one_line(error)}") from None


def run_session(options: argparse.Namespace) -> int:
    from pydantic import ValidationError

    from frozenlab.base.errors import one_line
    from frozenlab.models.folders import STUDENT, policy_folder, weights_file
    from frozenlab.models.training.methods import NAMES as METHODS
    from frozenlab.models.training.schedule import SCHEDULES
    from frozenlab.session.footprint import shortfalls
    from frozenlab.session.launch import claim
    from frozenlab.session.store import SessionStore

    if options.method is not None and options.preset is None:
        raise InputError("--method is for presets; a spec file names its own method")
    if options.method not in (None, *METHODS):
        raise InputError(f"there is no method {options.method!r}; the methods are {', '.join(METHODS)}")
    if options.schedule not in (None, *SCHEDULES):
        raise InputError(f"there is no schedule {options.schedule!r}; the schedules are {', '.join(SCHEDULES)}")
    others = {name: value for name in ("seed", "engineer", "policy") if (value := getattr(options, name)) is not None}
    try:
        spec = spec_of(options.spec, options.preset, options.method or "grpo")
        if options.schedule is not None:
            others["training"] = spec.training.scheduled(options.schedule)
        spec = spec.changed(**others)
    except ValidationError as error:
        raise InputError(f"{options.spec or options.preset}: {one_line(error)}") from None
    if spec.policy.startswith(STUDENT) and weights_file(policy_folder(spec.policy)) is None:
        raise InputError(f"{spec.policy} is not made: frozenlab students list shows which there are")
    if spec.language and (lacking := shortfalls(spec)):
        raise InputError(f"this session cannot run here: {'; '.join(lacking)}")
    if options.out:
        session = claim(spec, SessionStore(options.out.resolve().parent), options.out.resolve().name)
    else:
        session = claim(spec, SessionStore())
    return run_in_foreground(session, options.json, options.track)


def run_resume(options: argparse.Namespace) -> int:
    from frozenlab.session.launch import reclaim

    session = find_session(options.id)
    reclaim(session)
    return run_in_foreground(session, options.json, options.track)


def add_reproduce(parser: argparse.ArgumentParser) -> None:
    add_session_id(parser)
    parser.add_argument("--out", type=Path, help="session folder to create (default: a new one among the sessions)")
    add_allow_host(parser)


def run_reproduce(options: argparse.Namespace) -> int:
    from frozenlab.session.launch import claim
    from frozenlab.session.reproduce import compare, spec_to_reproduce
    from frozenlab.session.store import SessionStore

    session = find_session(options.id)
    if session.state().status != "done":
        raise InputError(f"{session.id} is {session.state().status}: only what is done can be compared")
    spec = spec_to_reproduce(session)
    store = SessionStore(options.out.resolve().parent) if options.out else SessionStore()
    again = claim(spec, store, options.out.resolve().name if options.out else None)
    status = run_in_foreground(again, options.json)
    if status == 0:
        found = compare(session, again)
        if options.json:
            told = {"differences": [*found.origins, *found.differences], "not_compared": found.not_compared, "equal": found.equal}
            print(json.dumps({"id": again.id, "of": session.id} | told))
        else:
            print(*found.origins, *found.differences, *found.not_compared, *verdict(found, session.id), sep="\n")
    return status


def verdict(found: Comparison, first: str) -> tuple[str, ...]:
    """What may be claimed where nothing differs."""
    if found.differences:
        return ()
    return (f"It equals {first} to the last bit." if found.equal else f"What could be compared equals {first} to the last bit.",)


def run_in_foreground(session: Session, as_json: bool, track: str | None = None) -> int:
    """Run or resume the session in this process and print one line per event. Ctrl+C stops it after the current step."""
    import os
    import signal
    import subprocess

    from frozenlab.base import places
    from frozenlab.jobs.environment import TRACK, worker_environment
    from frozenlab.jobs.job import STOP_FILE
    from frozenlab.jobs.launcher import release
    from frozenlab.jobs.worker import run_job, sole_worker
    from frozenlab.session.recorder import Recorder
    from frozenlab.session.worker import work

    os.environ.update({TRACK: track} if track else {})
    os.environ.update(worker_environment(session.spec.online))
    root = places.sessions_folder()
    if session.spec.processes > 1:
        status = subprocess.call(session.command(), cwd=places.workplace())
        release(session, root)
        print_status(session, as_json)
        return status
    with sole_worker(session):
        recorder = Recorder(session, on_event=None if as_json else print_event)
        for stop_signal in (signal.SIGINT, signal.SIGTERM):
            signal.signal(stop_signal, lambda *_: (session.dir / STOP_FILE).touch())
        if not as_json:
            print(f"session {session.id} in {session.dir}", flush=True)
        status = run_job(recorder, work)
    release(session, root)
    print_status(session, as_json)
    return status


def print_event(event: dict[str, Any]) -> None:
    from frozenlab.session.events import event_words

    print(event_words(event), flush=True)


def run_stop(options: argparse.Namespace) -> None:
    from frozenlab.jobs.launcher import stop

    session = find_session(options.id)
    stop(session)
    print_status(session, options.json)


def run_status(options: argparse.Namespace) -> None:
    print_status(find_session(options.id), options.json)


def print_status(session: Session, as_json: bool) -> None:
    from frozenlab.models.training.methods import title_of
    from frozenlab.session.events import rate_words
    from frozenlab.session.health.alerts import alerts
    from frozenlab.session.soundness import problems_of

    state = session.state()
    if as_json:
        about = {"id": session.id, "folder": str(session.dir), "method": session.spec.training.method}
        wrong = {"alerts": [asdict(alert) for alert in alerts(session)]}
        print(json.dumps(about | {"engineer": session.spec.engineer.kind} | state.model_dump(mode="json") | wrong))
        return
    spec = session.spec
    print(f"{session.id}: {state.status}, stage {state.stage + 1} of {spec.stages}, {state.phase}, {state.progress:.0%} done")
    print(f"  trained by {title_of(spec.training.method)}, engineer {spec.engineer.kind}")
    for rate in state.rates:
        where = "base" if rate.stage is None else f"after stage {rate.stage + 1}"
        print(f"  {where}: {rate_words(rate.valid, rate.optimal, rate.n)}")
    if state.status == "waiting":
        print(f"  waiting for your proposal: on the Story page, or with frozenlab propose {session.id} CONFIG")
    for alert in alerts(session):
        print(f"  {alert.rule}: {alert}")
    for problem in problems_of(session):
        print(f"  damaged: {problem}")


COMMANDS = (
    Command("run", "run a whole session in the foreground", add_run, run_session),
    Command("resume", "resume a session that stopped, in the foreground", add_resume, run_resume),
    Command("reproduce", "run a session that is done again from its spec, and say what differs", add_reproduce, run_reproduce),
    Command("stop", "ask a running session to stop at its next step", add_session_id, run_stop),
    Command("status", "show what a session is doing", add_session_id, run_status),
)
