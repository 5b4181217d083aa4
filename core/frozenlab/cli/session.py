"""Commands about sessions: one from start to end (``run``, ``resume``, ``reproduce``, ``status``), several side by side (``compare``), a
person in the engineer's place or another way from a stage (``propose``, ``fork``), and a talk in one HTML file (``present``).
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any

from frozenlab.base import places
from frozenlab.base.cells import Config
from frozenlab.base.errors import LabError, printable
from frozenlab.base.files import write_text
from frozenlab.base.numbers import listed, percent
from frozenlab.cli.common import STAGE, InputError, add_allow_host, add_fields, field_help, given, read_model, refusing, show
from frozenlab.engineer.engineers import ENGINEERS, name_of
from frozenlab.engineer.engineers.human import proposal_of, rejecting
from frozenlab.engineer.schema import Proposal
from frozenlab.jobs.environment import TRACK, TRACKERS, worker_environment
from frozenlab.jobs.job import STOP_FILE
from frozenlab.jobs.launcher import release
from frozenlab.jobs.worker import work_on
from frozenlab.models.folders import STUDENT, policy_folder, weights_file
from frozenlab.models.settings import LanguageSettings
from frozenlab.models.training.methods import TrainingSettings, title_of
from frozenlab.session.footprint import takes_of_processor
from frozenlab.session.health.alerts import alerts
from frozenlab.session.launch import propose, resume, start, start_fork
from frozenlab.session.pace import pace_for
from frozenlab.session.presets import PRESETS, preset_spec
from frozenlab.session.reproduce import Comparison, compare, spec_to_reproduce
from frozenlab.session.runs import measured, names_of, pairs, uncorrected
from frozenlab.session.session import Session, problems_of
from frozenlab.session.spec import SessionSpec
from frozenlab.session.state import event_words, rate_words
from frozenlab.session.store import OFFERED, SessionStore
from frozenlab.tasks.families import family_of

OF_LANGUAGE = ("question", "device", "dtype", "rows")
"""Settings of a language model that are options."""


def add_engineer(parser: argparse._ActionsContainer) -> None:
    """Add ``--engineer``, which replaces that of a spec."""
    names = listed((engineer.name() for engineer in ENGINEERS), "or")
    parser.add_argument("--engineer", default=argparse.SUPPRESS, help=f"{field_help(SessionSpec, 'engineer')}: {names}")


def add_session_id(parser: argparse.ArgumentParser) -> None:
    """Add the session that a command is about."""
    parser.add_argument("id", help="session id, or the path of a session folder")


add_status = add_session_id


def find_session(name: str) -> Session:
    """A session by its id or by the path of its folder."""
    return Session(Path(name).resolve()) if (Path(name) / "session.json").exists() else SessionStore().open(name)


def add_run(parser: argparse.ArgumentParser) -> None:
    add_spec(parser)
    instead = parser.add_argument_group("in place of what the spec says")
    add_fields(instead, TrainingSettings, "method", "schedule", defaults=False)
    add_fields(instead, SessionSpec, "policy", "title", "seed", defaults=False)
    add_language(instead)
    add_engineer(instead)
    parser.add_argument("--out", type=Path, help="session folder to create (default: a new one among the sessions)")
    add_track(parser)
    add_allow_host(parser)


def add_spec(parser: argparse.ArgumentParser) -> None:
    """Add what :func:`spec_of` reads."""
    parser.add_argument("spec", nargs="?", type=Path, help="a session spec, a JSON file")
    parser.add_argument("--preset", metavar="NAME", help=f"a preset instead of a spec file: {listed(PRESETS, 'or')}")


def add_language(parser: argparse._ActionsContainer) -> None:
    """Add settings of a language model: how it is asked, and those that depend on the machine."""
    add_fields(parser, LanguageSettings, *OF_LANGUAGE, defaults=False)


def language_of(spec: SessionSpec, options: argparse.Namespace) -> dict[str, Any]:
    """The change of the spec that the options of :func:`add_language` make."""
    changes = given(options, *OF_LANGUAGE)
    if not changes:
        return {}
    if spec.language is None:
        raise InputError(f"--{next(iter(changes))} is about language models, and {spec.policy} is none")
    return {"language": spec.language.model_dump() | changes}


def add_track(parser: argparse.ArgumentParser) -> None:
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
    if (preset is None) == (file is None):
        raise InputError("give either a spec file or --preset")
    if preset is not None and preset not in PRESETS:
        raise InputError(f"there is no preset {preset!r}; the presets are {', '.join(PRESETS)}")
    if file is None:
        return preset_spec(str(preset), method=method)
    return read_model(SessionSpec, file)


def run_run(options: argparse.Namespace) -> int:
    if "method" in options and options.preset is None:
        raise InputError("--method is for presets; a spec file names its own method")
    spec = spec_of(options.spec, options.preset, **given(options, "method"))
    changes = given(options, "policy", "title", "seed", "engineer") | language_of(spec, options)
    if "schedule" in options:
        changes["training"] = spec.training.scheduled(options.schedule)
    with refusing(options.spec or options.preset):
        spec = spec.changed(**changes)
    if spec.policy.startswith(STUDENT) and weights_file(policy_folder(spec.policy)) is None:
        raise InputError(f"{spec.policy} is not made: frozenlab students list shows which there are")
    return run_in_foreground(started(spec, options.out), options.json, options.track)


def started(spec: SessionSpec, out: Path | None) -> Session:
    """A new session that this process is about to run, in the folder ``out`` or among the others."""
    store, session_id = (SessionStore(out.resolve().parent), out.resolve().name) if out else (SessionStore(), None)
    return start(spec, store, session_id, here=True)


def run_resume(options: argparse.Namespace) -> int:
    session = find_session(options.id)
    resume(session, SessionStore(), here=True)
    return run_in_foreground(session, options.json, options.track)


def add_reproduce(parser: argparse.ArgumentParser) -> None:
    add_session_id(parser)
    parser.add_argument("--out", type=Path, help="session folder to create (default: a new one among the sessions)")
    add_allow_host(parser)


def run_reproduce(options: argparse.Namespace) -> int:
    session = find_session(options.id)
    if session.state().status != "done":
        raise InputError(f"{session.id} is {session.state().status}: only what is done can be compared")
    again = started(spec_to_reproduce(session), options.out)
    status = run_in_foreground(again, options.json)
    if status == 0:
        found = compare(session, again)
        differences = [*found.origins, *found.differences]
        compared = {"differences": differences, "not_compared": found.not_compared, "equal": found.equal}
        show(options.json, {"id": again.id, "of": session.id} | compared, *differences, *found.not_compared, *verdict(found, session.id))
    return status


def verdict(found: Comparison, first: str) -> tuple[str, ...]:
    """What may be claimed where nothing differs."""
    if found.differences:
        return ()
    return (f"It equals {first} to the last bit." if found.equal else f"What could be compared equals {first} to the last bit.",)


def run_in_foreground(session: Session, as_json: bool, track: str | None = None) -> int:
    """Run or resume the session in this process and print one line per event. Ctrl+C stops it after the current step."""

    def print_event(event: dict[str, Any]) -> None:
        print(printable(event_words(event)), flush=True)

    os.environ |= {TRACK: track} if track else {}
    if session.spec.processes > 1:
        status = subprocess.call(session.command(), cwd=places.workplace(), env=worker_environment(session.online))
    else:
        if not as_json:
            pace = pace_for(session.spec, SessionStore().sessions(OFFERED)) if not session.events() else None
            about = pace.judged(pace.seconds(session.spec)) if pace else takes_of_processor(session.spec)
            print(f"session {session.id} in {session.dir}{f'. {about}' if about else ''}", flush=True)
        signal.signal(signal.SIGINT, lambda *_: (session.dir / STOP_FILE).touch())
        status = work_on(session, on_event=None if as_json else print_event)
    release(session, places.sessions_folder())
    print_status(session, as_json)
    return status


def run_status(options: argparse.Namespace) -> None:
    print_status(find_session(options.id), options.json)


def print_status(session: Session, as_json: bool) -> None:
    state, spec = session.state(), session.spec
    about = {
        "id": session.id,
        "folder": str(session.dir),
        "method": spec.training.method,
        "engineer": spec.engineer.kind,
        "suite": session.suite,
    }
    found = alerts(session)
    record = about | state.model_dump(mode="json") | {"alerts": [asdict(alert) for alert in found]}
    lines = [
        f"{session.id}: {state.status}, stage {state.stage + 1} of {spec.stages}, {state.phase}, {percent(state.progress)} done",
        f"  trained by {title_of(spec.training.method)}, engineer {name_of(spec.engineer.kind)}",
    ]
    for rate in state.rates:
        where = "base" if rate.stage is None else f"after stage {rate.stage + 1}"
        lines.append(f"  {where}: {rate_words(rate.valid, rate.optimal, rate.n)} {session.suite} boards")
    if state.status == "waiting":
        lines.append(f"  waiting for your proposal: on the Story page, or with frozenlab propose {session.id} CONFIG")
    lines += [f"  {alert.rule}: {alert}" for alert in found]
    lines += [] if as_json else [f"  damaged: {problem}" for problem in problems_of(session)]  # which reads every file
    show(as_json, record, *lines)


def add_compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "sessions", nargs="+", metavar="ID", help="ids of two or more sessions, or their folders; many are paired with the first"
    )


def run_compare(options: argparse.Namespace) -> None:
    found = [find_session(name) for name in options.sessions]
    results = list(filter(None, map(measured, found, names_of(found))))
    if len(results) < 2:
        raise InputError("two sessions with results are needed")
    paired = [pair for pair in pairs(results) if pair.result.n]
    lines = [
        f"{one.name}, {one.after}: "
        + ", ".join(f"{rate.percent} {measure} (95 %: {rate.percents})" for measure, rate in one.rates.items())
        + f"; n = {len(one.table)} {one.session.suite} boards"
        for one in results
    ]
    runs = [
        {"id": one.session.id, "after": one.after, "boards": one.session.suite, "n": len(one.table)}
        | {measure: asdict(rate) for measure, rate in one.rates.items()}
        for one in results
    ]
    pair_records = [{"first": pair.first.session.id, "second": pair.second.session.id} | asdict(pair.result) for pair in paired]
    said = [f"From {pair.first.name} to {pair.second.name}: {pair.result.sentence}" for pair in paired]
    said += [uncorrected(len(paired))] if len(paired) > 1 else []
    none = [] if paired else ["Nothing can be paired: they were measured on different boards"]
    show(options.json, {"runs": runs, "pairs": pair_records}, *lines, *said, *none)


def add_propose(parser: argparse.ArgumentParser) -> None:
    add_session_id(parser)
    parser.add_argument("config", type=Path, help="an environment config (TOML or JSON)")
    parser.add_argument("--why", default="", help="your reason, kept with the proposal")
    add_allow_host(parser)


def add_fork(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("stage", metavar="SESSION:STAGE", help="a session, and the last stage that the fork shares with it")
    parser.add_argument(
        "--keep", nargs="+", metavar="CELL", help="accept the proposal, but leave these cells as they were: 6, or 3@6 if teams are mixed"
    )
    parser.add_argument("--config", type=Path, help="train on this config instead (TOML or JSON)")
    parser.add_argument("--why", default="", help="your reason, kept with the proposal")
    parser.add_argument("--id", help="id of the fork (default: date and title)")
    instead = parser.add_argument_group("in place of what the session's spec says")
    add_engineer(instead)
    add_fields(instead, SessionSpec, "title", defaults=False)
    add_allow_host(parser)


def run_propose(options: argparse.Namespace) -> None:
    session = find_session(options.id)
    environment = session.environment(session.state().stage)
    if environment is None:
        raise InputError(f"{session.id} has not begun a stage, so it does not wait for a proposal")
    propose(session, own_proposal(environment.config, options), SessionStore(session.dir.parent))
    print_status(session, options.json)


def own_proposal(before: Config, options: argparse.Namespace) -> Proposal:
    """A person's proposal, read from a config file."""
    try:
        after = family_of(before.family).config_of(options.config.read_bytes(), options.config.name)
    except LabError as error:
        raise InputError(f"{options.config}: {error}") from None
    if [cell.place for cell in after.described()] != [cell.place for cell in before.described()]:
        kept = ", ".join(cell.words for cell in before.described())
        raise InputError(f"{options.config}: the session has {kept}; a proposal cannot change them")
    return proposal_of(before, after, why=options.why)


def run_fork(options: argparse.Namespace) -> int:
    name, _, number = options.stage.rpartition(":")
    if not re.fullmatch(STAGE, number):
        raise InputError(f"{options.stage!r} names no stage: use SESSION:1, SESSION:2, ...")
    session, stage = find_session(name), int(number) - 1
    proposal, changes = other_way(session, stage, options), given(options, "engineer", "title")
    forked = start_fork(session, stage, SessionStore(), options.id, given=proposal, here=True, **changes)
    return run_in_foreground(forked, options.json)


def other_way(session: Session, stage: int, options: argparse.Namespace) -> Proposal | None:
    """The proposal that ``--keep`` or ``--config`` makes; None if the engineer is to be asked."""
    if not options.keep and not options.config:
        return None
    if options.keep and options.config:
        raise InputError("--keep and --config exclude each other: give one")
    record = session.proposal(stage)
    if record is None:
        raise InputError(f"{session.id} has no proposal after its stage {stage + 1} to branch off from")
    if options.config:
        return own_proposal(record.config_before, options)
    if unknown := sorted(set(options.keep) - set(record.config_before.cells)):
        raise InputError(f"{session.id} has no cell {unknown[0]}; it has {', '.join(record.config_before.cells)}")
    return proposal_of(record.config_before, rejecting(record, options.keep), why=options.why)


def add_present(parser: argparse.ArgumentParser) -> None:
    from frozenlab.app.present.scenes import PARTS

    parser.add_argument("session", help="id of a session, one of its stages followed by another")
    parser.add_argument("--out", type=Path, required=True, help="the HTML file to write")
    parser.add_argument(
        "--scenes", metavar="A,B,...", help=f"scenes in their order, of {', '.join(part.name for part in PARTS)} (default: as prepared)"
    )


def run_present(options: argparse.Namespace) -> None:
    from frozenlab.app.present.deck import html_file, talk
    from frozenlab.app.present.scenes import chosen, prepared, scenes_for

    session = find_session(options.session)
    preparation = prepared(session, SessionStore())
    names = list(preparation.scenes) if options.scenes is None else [name.strip() for name in options.scenes.split(",")]
    scenes = chosen(scenes_for(session, preparation), names)
    text = html_file(session.spec.tasks, talk(session, scenes, preparation.notes))
    write_text(options.out, text)
    size = len(text.encode())
    words = f"{options.out}: {len(scenes)} scenes, {size / 1000:.0f} kB; open it in a browser, N shows your notes"
    show(options.json, {"file": str(options.out), "bytes": size, "scenes": [scene["name"] for scene in scenes]}, words)
