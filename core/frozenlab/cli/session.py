"""``frozenlab run``, ``resume``, ``reproduce`` and ``status``: one session from start to end."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frozenlab.base.numbers import listed, percent
from frozenlab.cli.common import (
    Command,
    InputError,
    add_allow_host,
    add_engineer,
    add_fields,
    add_session_id,
    find_session,
    given,
    read_model,
    refusing,
)

if TYPE_CHECKING:
    from frozenlab.session.reproduce import Comparison
    from frozenlab.session.session import Session
    from frozenlab.session.spec import SessionSpec


def add_run(parser: argparse.ArgumentParser) -> None:
    from frozenlab.models.training.settings import TrainingSettings
    from frozenlab.session.spec import SessionSpec

    add_spec(parser)
    instead = parser.add_argument_group("in place of what the spec says")
    add_fields(instead, TrainingSettings, "method", "schedule", defaults=False)
    add_fields(instead, SessionSpec, "policy", "seed", defaults=False)
    add_engineer(instead)
    parser.add_argument("--out", type=Path, help="session folder to create (default: a new one among the sessions)")
    add_track(parser)
    add_allow_host(parser)


def add_spec(parser: argparse.ArgumentParser) -> None:
    """Add what :func:`spec_of` reads."""
    from frozenlab.session.presets import PRESETS

    parser.add_argument("spec", nargs="?", type=Path, help="a session spec, a JSON file")
    parser.add_argument("--preset", metavar="NAME", help=f"a preset instead of a spec file: {listed(PRESETS, 'or')}")


def add_track(parser: argparse.ArgumentParser) -> None:
    from frozenlab.jobs.environment import TRACKERS

    parser.add_argument(
        "--track", metavar="TRACKER", choices=TRACKERS,
        help=f"log the session to an installed tracker: {listed(TRACKERS, 'or')} (default: FROZENLAB_TRACK, else none)",
    )  # fmt: skip


def add_resume(parser: argparse.ArgumentParser) -> None:
    add_session_id(parser)
    add_track(parser)
    add_allow_host(parser)


def spec_of(file: Path | None, preset: str | None, method: str = "grpo") -> SessionSpec:
    """The spec in a file, or that of a preset."""
    from frozenlab.session.presets import PRESETS, preset_spec
    from frozenlab.session.spec import SessionSpec

    if (preset is None) == (file is None):
        raise InputError("give either a spec file or --preset")
    if preset is not None and preset not in PRESETS:
        raise InputError(f"there is no preset {preset!r}; the presets are {', '.join(PRESETS)}")
    if file is None:
        return preset_spec(str(preset), method=method)
    return read_model(SessionSpec, file)


def run_session(options: argparse.Namespace) -> int:
    from frozenlab.models.folders import STUDENT, policy_folder, weights_file
    from frozenlab.session.footprint import shortfalls

    if "method" in options and options.preset is None:
        raise InputError("--method is for presets; a spec file names its own method")
    spec = spec_of(options.spec, options.preset, **given(options, "method"))
    changes = given(options, "policy", "seed", "engineer")
    if "schedule" in options:
        changes["training"] = spec.training.scheduled(options.schedule)
    with refusing(options.spec or options.preset):
        spec = spec.changed(**changes)
    if spec.policy.startswith(STUDENT) and weights_file(policy_folder(spec.policy)) is None:
        raise InputError(f"{spec.policy} is not made: frozenlab students list shows which there are")
    if spec.language and (lacking := shortfalls(spec)):
        raise InputError(f"this session cannot run here: {'; '.join(lacking)}")
    return run_in_foreground(started(spec, options.out), options.json, options.track)


def started(spec: SessionSpec, out: Path | None) -> Session:
    """A new session that this process is about to run, in the folder ``out`` or among the others."""
    from frozenlab.session.launch import start
    from frozenlab.session.store import SessionStore

    store, session_id = (SessionStore(out.resolve().parent), out.resolve().name) if out else (SessionStore(), None)
    return start(spec, store, session_id, here=True)


def run_resume(options: argparse.Namespace) -> int:
    from frozenlab.session.launch import resume
    from frozenlab.session.store import SessionStore

    session = find_session(options.id)
    resume(session, SessionStore(), here=True)
    return run_in_foreground(session, options.json, options.track)


def add_reproduce(parser: argparse.ArgumentParser) -> None:
    add_session_id(parser)
    parser.add_argument("--out", type=Path, help="session folder to create (default: a new one among the sessions)")
    add_allow_host(parser)


def run_reproduce(options: argparse.Namespace) -> int:
    from frozenlab.session.reproduce import compare, spec_to_reproduce

    session = find_session(options.id)
    if session.state().status != "done":
        raise InputError(f"{session.id} is {session.state().status}: only what is done can be compared")
    again = started(spec_to_reproduce(session), options.out)
    status = run_in_foreground(again, options.json)
    if status == 0:
        found = compare(session, again)
        if options.json:
            compared = {"differences": [*found.origins, *found.differences], "not_compared": found.not_compared, "equal": found.equal}
            print(json.dumps({"id": again.id, "of": session.id} | compared))
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
    from functools import partial

    from frozenlab.base import places
    from frozenlab.jobs.environment import TRACK, worker_environment
    from frozenlab.jobs.job import STOP_FILE
    from frozenlab.jobs.launcher import release
    from frozenlab.jobs.worker import work_alone
    from frozenlab.session.recorder import Recorder
    from frozenlab.session.worker import work

    os.environ |= {TRACK: track} if track else {}
    if session.spec.processes > 1:
        status = subprocess.call(session.command(), cwd=places.workplace(), env=worker_environment(session.online))
    else:
        if not as_json:
            print(f"session {session.id} in {session.dir}", flush=True)
        signal.signal(signal.SIGINT, lambda *_: (session.dir / STOP_FILE).touch())
        status = work_alone(session, work, partial(Recorder, on_event=None if as_json else print_event))
    release(session, places.sessions_folder())
    print_status(session, as_json)
    return status


def print_event(event: dict[str, Any]) -> None:
    from frozenlab.session.events import event_words

    print(event_words(event), flush=True)


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
    print(f"{session.id}: {state.status}, stage {state.stage + 1} of {spec.stages}, {state.phase}, {percent(state.progress)} done")
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
    Command("resume", "resume a stopped session in the foreground", add_resume, run_resume),
    Command("reproduce", "rerun a finished session from its spec and report differences", add_reproduce, run_reproduce),
    Command("status", "show the state of a session", add_session_id, run_status),
)
