"""``frozenlab``: everything the app does, without a browser.

Every command prints JSON with ``--json``. Bad input exits with 2 and a one-line reason on stderr. Imports are inside the commands, so that
``frozenlab solve`` does not wait for torch and ``frozenlab status`` not for Numba.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

if TYPE_CHECKING:
    import subprocess

    from frozenlab.benchmark.report import Report, Tally
    from frozenlab.engineer.schema import ApiSettings, Proposal
    from frozenlab.lake.config import EnvironmentConfig
    from frozenlab.loop.store import Session, SessionStore
    from frozenlab.replays.task import Replay, ReplayTask
    from frozenlab.studies.spec import StudySpec
    from frozenlab.studies.store import Study

BAD_INPUT = 2
Name = TypeVar("Name", bound=str)


class InputError(ValueError):
    """What the caller gave cannot be used."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, like every other refusal; the usage is what ``--help`` is for."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"frozenlab: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit status."""
    options = parser().parse_args(arguments)
    try:
        allow_hosts(getattr(options, "allow_host", []))
        return options.run(options) or 0
    except (ValueError, OSError, RuntimeError) as error:  # each of our own errors is one of these and says what is wrong
        print(f"frozenlab: {str(error).splitlines()[0] if str(error) else type(error).__name__}", file=sys.stderr)
        return BAD_INPUT


def parser() -> argparse.ArgumentParser:
    top = Parser(prog="frozenlab", description="An interactive lab: a language model learns MAPF and engineers its environment.")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Callable[[argparse.Namespace], int | None], text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(run=run)
        sub.add_argument("--json", action="store_true", help="print JSON")
        return sub

    app = command("app", run_app, "open the lab in a browser")
    app.add_argument("--port", type=int, default=8501)
    app.add_argument("--no-browser", action="store_true", help="serve only, open nothing")
    app.add_argument("--sessions", type=Path, help="folder of the sessions (default: FROZENLAB_SESSIONS, else sessions/)")

    session = command("run", run_session, "run a whole session in the foreground")
    session.add_argument("spec", nargs="?", type=Path, help="the session spec, a JSON file")
    session.add_argument("--preset", metavar="NAME", help="instead of a spec file: quick, demo, study, long, paper or qwen3-0.6b")
    session.add_argument("--method", metavar="M", help="how a preset trains: grpo (default), imitation or expert-iteration")
    session.add_argument("--schedule", metavar="S", help="how the learning rate goes: linear (over the session), per-stage or constant")
    session.add_argument("--seed", type=int, help="another seed than the spec's")
    session.add_argument("--engineer", metavar="E", help="another engineer: policy, base, rules, bandit, uniform, random or fixed")
    session.add_argument("--out", type=Path, help="the session folder to make (default: a new one among the sessions)")

    resume = command("resume", run_resume, "go on with a session that stopped, in the foreground")
    stop = command("stop", run_stop, "ask a running session to stop at its next step")
    status = command("status", run_status, "what a session is doing")
    for sub in (resume, stop, status):
        sub.add_argument("id", help="session id, or the path of a session folder")

    generate = command("generate", run_generate, "draw solved boards from an environment config")
    generate.add_argument("config", help="a JSON or TOML file, or the name of a preset")
    generate.add_argument("--agents", type=int, help="team size of a preset (default: 2)")
    generate.add_argument("--n", type=int, required=True)
    generate.add_argument("--seed", type=int, default=0)
    generate.add_argument("--out", type=Path, required=True)
    generate.add_argument("--soc", action="store_true", help="find the optimal sum of costs too")
    generate.add_argument("--exclude-held-out", action="store_true", help="no board of a named suite, turned or mirrored either")
    generate.add_argument("--workers", type=int, default=1, help="processes to use; the boards are the same for any number")

    solve = command("solve", run_solve, "solve a board optimally")
    solve.add_argument("board", help="a file with a board in text or JSON form, or - for standard input")
    solve.add_argument("--soc", action="store_true", help="find the optimal sum of costs too")

    judge = command("judge", run_judge, "check a plan and name its first fault")
    judge.add_argument("board", help="a file with a board in text or JSON form, or - for standard input")
    judge.add_argument("plan", help='a JSON list of motion strings like ["RRD", "WDL"], or a file with one')

    convert = command("convert", run_convert, "take boards and plans from one format to another")
    convert.add_argument("source", type=Path, metavar="IN")
    convert.add_argument("target", type=Path, metavar="OUT", help="a file, or a new folder where several boards need files of their own")
    names = "text, json, jsonl, movingai, tracker, kei18, planviz, pogema or benchmark"
    convert.add_argument("--from", dest="source_format", metavar="FORMAT", help=f"{names} (default: as the name or content of IN tells)")
    convert.add_argument("--to", dest="target_format", metavar="FORMAT", help="the same for OUT (default: as its name tells)")
    convert.add_argument("--map", type=Path, help="the MovingAI map (.map) that IN is about, where IN only names it")
    convert.add_argument("--scen", type=Path, help="the MovingAI scenario (.scen) that IN is about, for MAPF Tracker plans")
    convert.add_argument("--agents", type=int, help="take the first agents only, this many")

    evaluate = command("evaluate", run_evaluate, "what a model does on a suite: rates, gaps, faults")
    evaluate.add_argument("model", help="lab-model, a checkpoint folder, a name on the hub, or SESSION:base, SESSION:1, ...")
    evaluate.add_argument("--suite", required=True, help="a named suite, a file of boards, or hf:benchmark_wr0.5 of the official dataset")
    evaluate.add_argument("--out", type=Path, help="a new folder for the result (default: among those that the Benchmark page shows)")
    evaluate.add_argument("--title", help="what to call it among other results")
    evaluate.add_argument("--temperature", type=float, default=0.0, help="0, the default, plans greedily")
    evaluate.add_argument("--seed", type=int, default=0, help="of the draws at other temperatures")

    propose = command("propose", run_propose, "give a session that waits for a person the next environment config")
    propose.add_argument("id")
    propose.add_argument("config", type=Path, help="an environment config (TOML or JSON)")
    propose.add_argument("--why", default="", help="your reason, kept with the proposal")

    fork = command("fork", run_fork, "go another way from a stage of a session, and run that")
    fork.add_argument("stage", metavar="SESSION:STAGE", help="a session and the last stage that both will have in common")
    fork.add_argument("--keep", type=int, nargs="+", metavar="SIZE", help="take what was proposed, but leave these map sizes as they were")
    fork.add_argument("--config", type=Path, help="or train on this config instead (TOML or JSON)")
    fork.add_argument("--why", default="", help="your reason, kept with the proposal")
    fork.add_argument("--engineer", help="who proposes from then on (default: as before)")
    fork.add_argument("--id", help="what to call it (default: date and title)")
    fork.add_argument("--title")

    replay = command("replay", run_replay, "ask engineers anew for the config after a stage, without any training")
    replay.add_argument("what", metavar="SESSION:STAGE|ID", help="a stage that a session has validated, or a replay that is to go on")
    kinds = ("sections", "left-out", "alone", "engineers")
    replay.add_argument("--vary", choices=kinds, help="what differs between the arms (default: sections, in all combinations)")
    replay.add_argument("--sections", metavar="A,B,...", help="those that are on or off (default: failures,statistics,preserved, or all)")
    replay.add_argument("--engineers", metavar="A,B,...", help="with --vary engineers those that are asked, else one (default: its own)")
    replay.add_argument("--api", type=Path, help="where the engineer api is asked, JSON as in a spec's api (default: as in the session)")
    replay.add_argument("--samples", type=int, default=16, help="answers of each arm")
    replay.add_argument("--seed", type=int, default=0)
    replay.add_argument("--id", help="what to call it (default: date and title)")
    replay.add_argument("--out", type=Path, help="a CSV file for every answer, one row a map size")
    replay.add_argument("--yes", action="store_true", help="do not ask before an API is paid")

    study = command("study", run_study, "run the same session over a grid of arms and seeds, or go on with one")
    study.add_argument("what", help="sections, left-out, alone, engineers or guard, a spec (JSON), or the id of a study that is to go on")
    study.add_argument("--seeds", type=int, help="of a ready-made study, how many (default: 3 where sections differ, else 5)")
    study.add_argument("--engineers", metavar="A,B,...", help="of the study engineers, which; what the others are held against comes first")
    study.add_argument("--smallest-effect", type=float, metavar="POINTS", help="that matters, of a ready-made study (default: 1 point)")
    study.add_argument("--prediction", metavar="TEXT", help="what you expect of a ready-made study; its report says so first")
    study.add_argument("--jobs", type=int, help="sessions that run at a time (default: one a processor core, or a cluster full)")
    study.add_argument("--cluster", metavar="ADDRESS", help="run them on this Ray cluster: auto, HOST:PORT, ray://HOST:PORT or local")
    study.add_argument("--id", help="what to call it (default: date and title)")
    study.add_argument("--background", action="store_true", help="come back at once; the same command with its id shows how far it is")

    for sub in (session, resume, propose, fork, replay, study):
        sub.add_argument(
            "--allow-host", metavar="HOST", action="append", default=[],
            help="let this server be asked as an engineer, as in api.openai.com or 127.0.0.1:8000; remembered on this machine",
        )  # fmt: skip

    export = command("export", run_export, "take a checkpoint out, for use elsewhere")
    export.add_argument("model", help="as for evaluate")
    export.add_argument("out", type=Path, metavar="OUT", help="a new folder")
    export.add_argument("--adapter", action="store_true", help="of a model trained with LoRA, the adapters alone (default: merged into it)")

    command("doctor", run_doctor, "what this machine can run, and what is missing for the rest")
    return top


def allow_hosts(names: Sequence[str]) -> None:
    """Remembers the servers that may be asked from now on."""
    from frozenlab.engineer import hosts

    for name in names:
        hosts.allow(name)


def refuse_unknown(servers: Iterable[ApiSettings | None]) -> None:
    """Raises InputError if one of the servers that would be asked has not been allowed."""
    from frozenlab.engineer import hosts

    for server in filter(None, servers):
        if reason := hosts.refusal(server):
            raise InputError(reason)


# --- the app and its sessions ---------------------------------------------------------------------------------------


def run_app(options: argparse.Namespace) -> int:
    import os
    import subprocess
    import webbrowser

    from frozenlab import places
    from frozenlab.lake.kernels import cache as kernel_cache

    kernel_cache.start()
    environment = os.environ | ({"FROZENLAB_SESSIONS": str(options.sessions.resolve())} if options.sessions else {})
    url = f"http://127.0.0.1:{options.port}"
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", str(places.ROOT / "streamlit_app.py"), "--server.port", str(options.port)],
        cwd=places.workplace(),
        env=environment,
    )
    try:
        if wait_until_up(server, url):
            print(f"FrozenLab is open at {url}  (Ctrl+C closes it; running sessions go on)", flush=True)
            if not options.no_browser:
                webbrowser.open(url)
        return server.wait()
    except KeyboardInterrupt:
        server.terminate()
        return 0


def wait_until_up(server: subprocess.Popen[bytes], url: str) -> bool:
    """Waits for the server to answer; False if it ended instead."""
    import time
    from urllib.error import URLError
    from urllib.request import urlopen

    while server.poll() is None:
        try:
            with urlopen(f"{url}/_stcore/health", timeout=1):
                return True
        except (URLError, OSError):
            time.sleep(0.2)
    return False


def run_session(options: argparse.Namespace) -> int:
    from pydantic import ValidationError

    from frozenlab.jobs.launcher import claim
    from frozenlab.lake.config import first_error
    from frozenlab.loop.footprint import shortfalls
    from frozenlab.loop.presets import PRESETS, preset_spec
    from frozenlab.loop.spec import SessionSpec
    from frozenlab.loop.store import SessionStore
    from frozenlab.training.settings import METHODS, SCHEDULES

    if (options.preset is None) == (options.spec is None):
        raise InputError("give either a spec file or --preset")
    if options.preset is not None and options.preset not in PRESETS:
        raise InputError(f"there is no preset {options.preset!r}; the presets are {', '.join(PRESETS)}")
    if options.method is not None and options.preset is None:
        raise InputError("--method goes with --preset; a spec file says itself how it trains")
    if options.method not in (None, *METHODS):
        raise InputError(f"there is no method {options.method!r}; the methods are {', '.join(METHODS)}")
    if options.schedule not in (None, *SCHEDULES):
        raise InputError(f"there is no schedule {options.schedule!r}; the schedules are {', '.join(SCHEDULES)}")
    others = {name: value for name in ("seed", "engineer") if (value := getattr(options, name)) is not None}
    try:
        if options.preset is not None:
            spec = preset_spec(options.preset, method=options.method or "grpo")
        else:
            spec = SessionSpec.model_validate_json(read_text(options.spec))
        if options.schedule is not None:
            others["training"] = spec.training.scheduled(options.schedule)
        spec = SessionSpec.model_validate(spec.model_dump() | others)
    except ValidationError as error:
        raise InputError(f"{options.spec or options.preset}: {first_error(error)}") from None
    if spec.language and (lacking := shortfalls(spec)):
        raise InputError(f"this session cannot run here: {'; '.join(lacking)}")
    if options.out:
        session = claim(spec, SessionStore(options.out.resolve().parent), options.out.resolve().name)
    else:
        session = claim(spec, SessionStore())
    return run_in_foreground(session, options.json)


def run_replay(options: argparse.Namespace) -> int:
    import os
    import signal

    from tqdm import tqdm

    from frozenlab.loop.store import STOP_FILE, SessionStore, worker_environment
    from frozenlab.replays.cost import estimate
    from frozenlab.replays.task import create, open_replay, replays_folder, servers

    store = SessionStore()
    there = open_replay(options.what, store) if (replays_folder(store) / options.what).is_dir() else None
    if there and any((options.vary, options.sections, options.engineers, options.api, options.id)):
        raise InputError(f"{there.id} is a replay that is there: what is asked, and by which name, is for a new one")
    if there and there.state().live:
        raise InputError(f"{there.id} is running; the Replay page shows how far it is")
    task = there.task if there else replay_task(options, store)
    session = there.session if there else find_session(options.what.rpartition(":")[0])
    refuse_unknown(servers(task, session))
    known = {(answer.arm, answer.sample) for answer in there.answers()} if there else set()
    if asked := estimate(task, session, known):
        print(asked.sentence, file=sys.stderr)
        if asked.cost is not None and not options.yes and not agreed():
            raise InputError("nothing was asked; --yes asks without waiting for a y")
    replay = there or create(task, store, options.id)
    (replay.dir / STOP_FILE).unlink(missing_ok=True)
    os.environ.update(worker_environment(session.spec.online))
    from frozenlab.replays.worker import main as ask

    signal.signal(signal.SIGINT, lambda *_: (replay.dir / STOP_FILE).touch())
    with tqdm(desc="asking", initial=len(known), total=task.total, unit=" answers", disable=None, leave=False) as bar:

        def note(done: int, of: int) -> None:
            bar.update(done - bar.n)

        status = ask(replay.dir, note)
    print_replay(replay, options)
    return status


def replay_task(options: argparse.Namespace, store: SessionStore) -> ReplayTask:
    """What the options ask for."""
    from pydantic import ValidationError

    from frozenlab.engineer.schema import ENGINEERS, SECTIONS, ApiSettings
    from frozenlab.lake.config import first_error
    from frozenlab.replays.task import arms_of_engineers, arms_of_sections, askable, task_for, varied_sections

    name, _, stage = options.what.rpartition(":")
    if not name or not stage.isdigit() or stage == "0":
        raise InputError(f"{options.what!r} is no replay, nor a session and a stage like example-quick:1")
    session, kind = find_session(name), options.vary or ("engineers" if options.engineers and "," in options.engineers else "sections")
    sections, engineers = named(options.sections, SECTIONS, "section"), named(options.engineers, ENGINEERS, "engineer")
    try:
        api = ApiSettings.model_validate_json(read_text(options.api)) if options.api else None
    except ValidationError as error:
        raise InputError(f"{options.api}: {first_error(error)}") from None
    if kind == "engineers":
        if sections is not None:
            raise InputError("--sections is for what one engineer is shown; with --vary engineers all see what the session's own saw")
        arms = arms_of_engineers(engineers or askable(session, int(stage) - 1), session.spec.engineer, api)
    else:
        if len(engineers or ()) > 1:
            raise InputError(f"--vary {kind} asks one engineer; several are for --vary engineers")
        arms = arms_of_sections(kind, varied_sections(kind, sections), engineers[0] if engineers else None, api)
    elsewhere = session.dir if session.dir.parent != store.root and not session.read_only else None
    return task_for(session, int(stage) - 1, arms, kind, folder=elsewhere, samples=options.samples, seed=options.seed)


def named(given: str | None, known: Sequence[Name], what: str) -> tuple[Name, ...] | None:
    """A list of names between commas; None if it was not given."""
    if given is None:
        return None
    names = [name.strip() for name in given.split(",")]
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"there is no {what} {unknown[0]!r}; there are {', '.join(known)}")
    return tuple(name for name in known if name in names)


def agreed() -> bool:
    """Whether somebody in front of a terminal says yes."""
    if not sys.stdin.isatty():
        return False
    print("Go on? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def print_replay(replay: Replay, options: argparse.Namespace) -> None:
    """What came out, as far as it goes."""
    from frozenlab.replays.report import compared, proposals, sentences

    state, answers, task = replay.state(), replay.answers(), replay.task
    known = {"id": replay.id, "folder": str(replay.dir), "session": task.session, "stage": task.stage + 1, "status": state.status}
    if state.error:
        print(f"frozenlab: {state.error}", file=sys.stderr)
    if not answers:
        if options.json:
            print_json(known | {"answers": 0})
        else:
            print(f"{replay.id}: {state.status}, no answer yet, in {replay.dir}")
        return
    rows = proposals(answers)
    if options.out:
        rows.to_csv(options.out, index=False)
    table = compared(rows, task.reference)
    if options.json:
        arms = table.reset_index().astype(object).where(table.reset_index().notna(), None).to_dict("records")
        print_json(known | {"answers": len(answers), "arms": arms, "sentences": sentences(rows, task)})
        return
    print(table.round(2).assign(p=table["p"].round(4)).to_string(na_rep="-"))
    print(f"\nspread and distance in points per knob; distance from the mean config of {task.reference}, p after Holm\n")
    for sentence in sentences(rows, task):
        print(f"- {sentence}")
    print(f"\n{replay.id}: {state.status}, {len(answers)} of {task.total} answers, in {replay.dir}")


def run_study(options: argparse.Namespace) -> int:
    import time

    from frozenlab.jobs.launcher import resume_study, start_study
    from frozenlab.loop.store import SessionStore
    from frozenlab.studies.cluster import require_ray
    from frozenlab.studies.noise import told_beforehand
    from frozenlab.studies.store import open_study, studies_folder

    if options.jobs is not None and options.jobs < 1:
        raise InputError(f"--jobs is {options.jobs}; at least one session runs at a time")
    if options.cluster:
        require_ray()
    store = SessionStore()
    if (studies_folder(store) / options.what).is_dir():
        if any(value is not None for value in (options.seeds, options.id, options.engineers, options.smallest_effect, options.prediction)):
            raise InputError(f"{options.what} is a study that is there: only --jobs, --cluster and --background go with it")
        study = open_study(options.what, store)
        if study.state().status != "done" and not study.state().live:
            resume_study(study, store, options.jobs, options.cluster)
    else:
        spec = study_spec(options)
        refuse_unknown(spec.servers)
        if not options.json:
            print(told_beforehand(spec), flush=True)
        study = start_study(spec, store, options.jobs, options.id, options.cluster)
    if not options.background:
        try:
            while study.state().live:
                if not options.json:
                    done = sum(1 for _ in study.finished())
                    print(f"\r{study.id}: {done} of {len(study.cells)} sessions done, {study.state().progress:.0%}", end="", flush=True)
                time.sleep(1)
        except KeyboardInterrupt:
            print(f"\n{study.id} goes on in the background; frozenlab study {study.id} shows how far it is")
            return 0
    print_study(study, options.json)
    return int(study.state().status not in ("done", "running", "queued"))


def study_spec(options: argparse.Namespace) -> StudySpec:
    """A ready-made study, or one in a file."""
    from pydantic import ValidationError

    from frozenlab.lake.config import first_error
    from frozenlab.studies.spec import STUDIES, StudySpec

    if options.what not in STUDIES and not options.what.endswith(".json"):
        raise InputError(f"there is no study {options.what!r}; new ones are {', '.join(STUDIES)}, or a spec in a JSON file")
    if options.engineers is not None and options.what != "engineers":
        raise InputError("--engineers is for the study engineers")
    if options.seeds is not None and options.what not in STUDIES:
        raise InputError("--seeds is for ready-made studies; a spec file names its own")
    if options.seeds is not None and options.seeds < 1:
        raise InputError(f"--seeds is {options.seeds}; a study has at least one")
    written = {"smallest_effect": options.smallest_effect and options.smallest_effect / 100, "prediction": options.prediction}
    written = {name: value for name, value in written.items() if value is not None}
    if written and options.what not in STUDIES:
        raise InputError("--smallest-effect and --prediction are for ready-made studies; a spec file has its own")
    if not 0 < written.get("smallest_effect", 0.01) <= 0.5:
        raise InputError(f"--smallest-effect is {options.smallest_effect:g}; it lies above 0 and at most at 50 points")
    try:
        if options.what in STUDIES:
            given = {} if options.seeds is None else {"seeds": options.seeds}
            spec = STUDIES[options.what](**given, **named_engineers(options.engineers))
            return StudySpec.model_validate(spec.model_dump() | written)
        return StudySpec.model_validate_json(read_text(options.what))
    except ValidationError as error:
        raise InputError(f"{options.what}: {first_error(error)}") from None


def named_engineers(names: str | None) -> dict[str, Any]:
    """What ``--engineers`` says, as the study engineers is told it."""
    from frozenlab.studies.spec import STUDY_ENGINEERS

    if names is None:
        return {}
    chosen = tuple(name.strip() for name in names.split(","))
    known = [engineer for engineer in STUDY_ENGINEERS if engineer != "api"]
    if unknown := [name for name in chosen if name not in known]:
        if unknown[0] == "api":
            raise InputError("--engineers: the engineer api has settings of its own: write the study as a spec in a JSON file")
        raise InputError(f"--engineers: there is no engineer {unknown[0]!r} for a study; there are {', '.join(known)}")
    if len(set(chosen)) < max(2, len(chosen)):
        raise InputError(f"--engineers is {names}; a study compares two or more, each named once")
    return {"engineers": chosen}


def print_study(study: Study, as_json: bool) -> None:
    """What came out, as far as it goes."""
    from frozenlab.studies.report import report_of
    from frozenlab.studies.report_page import before_results, seen
    from frozenlab.studies.store import StudyError

    state, done = study.state(), sum(1 for _ in study.finished())
    known = {"id": study.id, "folder": str(study.dir), "status": state.status, "cells": len(study.cells), "done": done}
    known |= {"error": state.error} if state.error else {}
    try:
        report = report_of(study)
    except StudyError as error:
        if as_json:
            print_json(known | {"report": str(error)})
        else:
            print(f"{study.id}: {state.status}, {done} of {len(study.cells)} sessions done, in {study.dir}\n{error}")
        return
    if as_json:
        print_json(known | {"report": report.model_dump(mode="json")})
        return
    print(f"\n{study.title} ({study.id}): {state.status}, {done} of {len(study.cells)} sessions done, in {study.dir}\n")
    if state.error:
        print(f"{state.error}\n")
    print("\n".join(before_results(report)))
    for sentence in filter(None, (report.valid.verdict, seen(report.valid), *report.sentences)):
        print(f"- {sentence}")
    for name, told in (("valid", report.valid), ("optimal", report.optimal)):
        print(f"\nfinal {name} rate by seed, and mean:")
        for arm in told.arms:
            print(f"  {arm.arm:<32} {'  '.join(f'{rate:.1%}' for rate in arm.by_seed.values())}   {arm.mean:.1%}")


def run_propose(options: argparse.Namespace) -> None:
    from frozenlab.jobs.launcher import propose
    from frozenlab.loop.store import SessionStore

    session = find_session(options.id)
    environment = session.environment(session.state().stage)
    if environment is None:
        raise InputError(f"{session.id} has not begun a stage: it waits for no proposal")
    propose(session, own_proposal(environment.config, options), SessionStore(session.dir.parent))
    print_status(session, options.json)


def own_proposal(before: EnvironmentConfig, options: argparse.Namespace) -> Proposal:
    """What a person proposes by a config file."""
    from frozenlab.engineer.engineers.human import proposal_of
    from frozenlab.lake.config import EnvironmentConfig

    after = EnvironmentConfig.read(options.config)
    if tuple(after.sizes) != tuple(before.sizes) or after.agents != before.agents:
        told = f"{before.agents} agents and the sizes {', '.join(map(str, before.sizes))}"
        raise InputError(f"{options.config}: the session has {told}; a proposal keeps to them")
    return proposal_of(before, after, why=options.why)


def run_fork(options: argparse.Namespace) -> int:
    from frozenlab.jobs.launcher import claim_fork
    from frozenlab.loop.store import SessionStore

    name, _, number = options.stage.rpartition(":")
    if not number.isdigit() or number == "0":
        raise InputError(f"{options.stage!r} names no stage: it is SESSION:1, SESSION:2, ...")
    session, stage = find_session(name), int(number) - 1
    changes = {key: value for key in ("engineer", "title") if (value := getattr(options, key)) is not None}
    forked = claim_fork(session, stage, SessionStore(), options.id, other_way(session, stage, options), **changes)
    return run_in_foreground(forked, options.json)


def other_way(session: Session, stage: int, options: argparse.Namespace) -> Proposal | None:
    """What a fork is to train on by ``--keep`` or ``--config``; None where its engineer is asked."""
    from frozenlab.engineer.engineers.human import proposal_of, rejecting

    if not options.keep and not options.config:
        return None
    if options.keep and options.config:
        raise InputError("--keep and --config each say what to train on: give one")
    record = session.proposal(stage)
    if record is None:
        raise InputError(f"{session.id} has no proposal after its stage {stage + 1} to go another way from")
    if options.config:
        return own_proposal(record.config_before, options)
    if unknown := sorted(set(options.keep) - set(record.config_before.sizes)):
        raise InputError(f"{session.id} has no map size {unknown[0]}; it has {', '.join(map(str, record.config_before.sizes))}")
    return proposal_of(record.config_before, rejecting(record, options.keep), why=options.why)


def run_resume(options: argparse.Namespace) -> int:
    from frozenlab.jobs.launcher import reclaim

    session = find_session(options.id)
    reclaim(session)
    return run_in_foreground(session, options.json)


def run_in_foreground(session: Session, as_json: bool) -> int:
    """Runs or resumes the session here, a line an event; Ctrl+C stops it after the present step."""
    import os
    import signal
    import subprocess

    from frozenlab import places
    from frozenlab.jobs.launcher import worker_command
    from frozenlab.loop.recorder import Recorder
    from frozenlab.loop.store import STOP_FILE, worker_environment
    from frozenlab.loop.worker import run_recorded, sole_worker

    os.environ.update(worker_environment(session.spec.online))
    if session.spec.processes > 1:
        status = subprocess.call(worker_command(session), cwd=places.workplace())
        print_status(session, as_json)
        return status
    with sole_worker(session):
        recorder = Recorder(session, on_event=None if as_json else print_event)
        for stop_signal in (signal.SIGINT, signal.SIGTERM):
            signal.signal(stop_signal, lambda *_: (session.dir / STOP_FILE).touch())
        if not as_json:
            print(f"session {session.id} in {session.dir}", flush=True)
        status = run_recorded(session, recorder)
    print_status(session, as_json)
    return status


def print_event(event: dict[str, Any]) -> None:
    from frozenlab.loop.events import event_words

    print(event_words(event), flush=True)


def run_stop(options: argparse.Namespace) -> None:
    from frozenlab.jobs.launcher import stop

    session = find_session(options.id)
    stop(session)
    print_status(session, options.json)


def run_status(options: argparse.Namespace) -> None:
    print_status(find_session(options.id), options.json)


def print_status(session: Session, as_json: bool) -> None:
    from frozenlab.loop.events import rate_words
    from frozenlab.loop.soundness import problems_of
    from frozenlab.training.settings import METHOD_NAMES

    state = session.state()
    if as_json:
        told = {"id": session.id, "folder": str(session.dir), "method": session.spec.training.method, "engineer": session.spec.engineer}
        print(json.dumps(told | state.model_dump(mode="json")))
        return
    spec = session.spec
    print(f"{session.id}: {state.status}, stage {state.stage + 1} of {spec.stages}, {state.phase}, {state.progress:.0%} done")
    print(f"  trained by {METHOD_NAMES[spec.training.method]}, engineer {spec.engineer}")
    for rate in state.rates:
        where = "base" if rate.stage is None else f"after stage {rate.stage + 1}"
        print(f"  {where}: {rate_words(rate.valid, rate.optimal, rate.n)}")
    if state.status == "waiting":
        print(f"  it waits for your proposal: on its Story, or by frozenlab propose {session.id} CONFIG")
    if state.error:
        print(f"  {state.error}")
    for problem in problems_of(session):
        print(f"  damaged: {problem}")


def find_session(name: str) -> Session:
    """A session by id, or by the path of its folder."""
    from frozenlab.loop.store import Session, SessionStore

    return Session(Path(name).resolve()) if (Path(name) / "session.json").exists() else SessionStore().open(name)


# --- the lake -------------------------------------------------------------------------------------------------------


def run_generate(options: argparse.Namespace) -> None:
    from frozenlab.cli_words import drawn_words
    from frozenlab.lake.config import EnvironmentConfig
    from frozenlab.lake.draw.generator import NOTHING, generate, realised
    from frozenlab.lake.instance import write_instances
    from frozenlab.lake.presets import PRESETS, preset
    from frozenlab.lake.suites import held_out

    if options.n < 1:
        raise InputError(f"--n is {options.n}; at least one board is drawn")
    if options.workers < 1:
        raise InputError(f"--workers is {options.workers}; at least one process draws")
    if options.config in PRESETS:
        config = preset(options.config, 2 if options.agents is None else options.agents)
    elif options.agents is not None:
        raise InputError("--agents goes with a preset; a config file says itself how many there are")
    else:
        config = EnvironmentConfig.read(Path(options.config))
    with progress() as note:
        instances = generate(
            config,
            options.n,
            options.seed,
            sum_of_costs=options.soc,
            exclude=held_out() if options.exclude_held_out else NOTHING,
            workers=options.workers,
            on_progress=lambda done, of: note("drawing and solving", done, of),
        )
    write_instances(options.out, instances)
    drawn = realised(instances)
    if options.json:
        sizes = {str(size): of_size.model_dump() for size, of_size in drawn.items()}
        print_json({"boards": len(instances), "out": str(options.out), "sizes": sizes})
    else:
        print(drawn_words(drawn, config.agents, options.out))


def run_solve(options: argparse.Namespace) -> None:
    from frozenlab.cli_words import solution_words
    from frozenlab.lake.board import read_board
    from frozenlab.lake.kernels.warm_up import load_solver
    from frozenlab.lake.solve.solver import solve

    board = read_board(read_text(options.board))
    load_solver()
    solution = solve(board, sum_of_costs=options.soc)
    if solution.status == "undecided":
        raise InputError("no plan was found within the node budget, and no proof that there is none")
    if not options.json:
        print(solution_words(solution, options.soc))
        return
    print_json(
        {
            "solvable": solution.status != "unsolvable",
            "makespan": solution.makespan,
            "bounds": None if solution.bounds is None else list(solution.bounds),
            "sum_of_costs": solution.sum_of_costs,
            "needs_wait": solution.needs_wait,
            "plan": None if solution.plan is None else list(solution.plan),
        }
    )


def run_judge(options: argparse.Namespace) -> None:
    from frozenlab.cli_words import verdict_words
    from frozenlab.lake.board import read_board
    from frozenlab.lake.kernels.warm_up import load_solver
    from frozenlab.lake.rules import judge
    from frozenlab.lake.solve.solver import solve

    board, plan = read_board(read_text(options.board)), read_plan(options.plan)
    load_solver()
    optimum = solve(board).makespan
    verdict = judge(board, plan, optimum)
    if not options.json:
        print(verdict_words(verdict, optimum))
        return
    print_json(
        {
            "valid": verdict.valid,
            "optimal": bool(verdict.optimal),
            "fault": verdict.fault,
            "step": verdict.step,
            "agents": list(verdict.agents),
            "cell": None if verdict.cell is None else list(verdict.cell),
            "makespan": verdict.makespan,
            "sum_of_costs": verdict.sum_of_costs,
        }
    )


def read_plan(given: str) -> tuple[str, ...]:
    """A plan from the argument itself or from a file that it names."""
    from frozenlab.lake.config import cut

    if given.lstrip().startswith("["):
        text = given
    elif given == "-" or Path(given).exists():
        text = read_text(given)
    else:
        raise InputError(f'{cut(given, 60)!r} is neither a file nor a JSON list of motion strings, one an agent, like ["RRD", "WDL"]')
    try:
        plan = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"the plan is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except (ValueError, RecursionError):
        raise InputError("the plan is not JSON: a number too long, or too deeply nested") from None
    if not isinstance(plan, list) or not all(isinstance(motions, str) for motions in plan):
        raise InputError('the plan must be a JSON list of motion strings, one an agent, like ["RRD", "WDL"]')
    return tuple(plan)


def run_convert(options: argparse.Namespace) -> None:
    from frozenlab.engineer.sentences import counted
    from frozenlab.lake import formats
    from frozenlab.lake.files import write_files, write_folder

    known = ", ".join(formats.FORMATS)
    for name in (options.source_format, options.target_format):
        if name is not None and name not in formats.FORMATS:
            raise InputError(f"there is no format {name!r}; the formats are {known}")
    try:
        text, map_text, scenario = (path and formats.load(path) for path in (options.source, options.map, options.scen))
    except OSError as error:
        raise InputError(f"{error.filename} cannot be read: {error.strerror}") from None
    target = options.target_format or formats.suffix_format(options.target.name)
    if target is None:
        raise InputError(f"the name {options.target.name!r} does not tell the format: choose one with --to: {known}")
    source = options.source_format or formats.recognise(options.source.name, text)
    map_name = options.map and options.map.name
    entries = formats.read(source, formats.Source(text, options.source.stem, map_text, map_name, scenario, options.agents))
    files = formats.write(target, entries, options.target.stem)
    if len(entries) > 1 and formats.FORMATS[target].join is None:
        write_folder(options.target, files)
    else:
        main, *others = files
        if options.target.name not in files:
            files = {options.target.name: files[main], **{name: files[name] for name in others}}
        refuse_to_replace(options.target.parent, {name: files[name] for name in others})
        write_files(options.target.parent, files)
    plans = sum(entry.plan is not None for entry in entries) if formats.FORMATS[target].plans else 0
    if options.json:
        print_json({"from": source, "to": target, "boards": len(entries), "plans": plans, "files": len(files), "out": str(options.target)})
    else:
        what = f"{counted(len(entries), 'board')} and {counted(plans, 'plan')}" if plans else counted(len(entries), "board")
        print(f"{what} from {source} to {target}: {counted(len(files), 'file')}, {options.target}")


def refuse_to_replace(folder: Path, files: dict[str, str]) -> None:
    """The maps and scenarios that go with a file may lie there already, but they are never changed: they may be somebody's own."""
    for name, text in files.items():
        path = folder / name
        if path.exists() and path.read_bytes() != text.encode():
            raise InputError(f"{path} exists already and is another one: choose another name for the output")


# --- models ---------------------------------------------------------------------------------------------------------


def run_evaluate(options: argparse.Namespace) -> None:
    import os

    from frozenlab.benchmark.report import results_folder, save_result
    from frozenlab.benchmark.task import fresh_id, task_for
    from frozenlab.loop.store import SessionStore, worker_environment

    store = SessionStore()
    fields = {"temperature": options.temperature, "seed": options.seed} | ({"title": options.title} if options.title else {})
    task = task_for(options.model, options.suite, store, **fields)
    folder = (options.out or results_folder(store) / fresh_id(task, store)).resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} exists already: name a new folder")
    os.environ.update(worker_environment(task.online))
    from frozenlab.benchmark.measuring import measure

    with progress() as note:
        report, rows = measure(task, folder.name, note)
    save_result(folder, report, rows)
    if options.json:
        print_json(report.model_dump(mode="json") | {"folder": str(folder)})
    else:
        print_report(report)
        print(f"\nin {folder}")


def run_export(options: argparse.Namespace) -> None:
    import os
    import tempfile

    from frozenlab.benchmark.task import checkpoint_of
    from frozenlab.loop.store import SessionStore, worker_environment
    from frozenlab.policy.folders import on_hub

    known = checkpoint_of(options.model, SessionStore())
    name, language = known["policy"], known.get("language")
    out = options.out.resolve()
    if out.exists() or not out.parent.is_dir():
        raise InputError(f"{out} exists already: name a new folder" if out.exists() else f"there is no folder {out.parent}")
    if options.adapter and (language is None or language.lora is None):
        raise InputError(f"{options.model} was not trained with LoRA: it has no adapters")
    os.environ.update(worker_environment(language is not None and on_hub(name)))
    from frozenlab.policy.language.policy import HFPolicy
    from frozenlab.policy.loading import load_policy

    policy = load_policy(name, language)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as scratch:  # so that there is never half a model in OUT
        whole = Path(scratch) / out.name
        if isinstance(policy, HFPolicy) and not options.adapter:
            policy.export(whole)
        else:
            policy.save(whole)
        whole.rename(out)
    if options.json:
        print_json({"model": options.model, "out": str(out)})
    else:
        print(f"{options.model} is in {out}")


def print_report(report: Report) -> None:
    print(f"{report.title} on {report.suite}: {report.n} boards, planned in {report.seconds:.0f} s")
    for team in report.teams:
        print("\nagents  size     n   valid  95 % interval    optimal  95 % interval      CSR     ISR  cost gap  step gap  tokens")
        for cell in report.cells:
            if cell.agents == team.agents:
                print_tally(cell, f"{cell.size}", (cell.valid_rate, *cell.valid_interval), (cell.optimal_rate, *cell.optimal_interval))
        print_tally(team, "mean", (team.mean_valid, *team.mean_valid_interval), (team.mean_optimal, *team.mean_optimal_interval))
        print("        faults: " + (", ".join(f"{fault} {count}" for fault, count in team.faults.items()) or "none"))


def print_tally(tally: Tally, size: str, valid: tuple[float, float, float], optimal: tuple[float, float, float]) -> None:
    """One line. The rates come with their bounds; a gap of no valid plan is a dash."""
    rates = "  ".join(f"{rate:>6.1%}  {low:>5.1%} .. {high:>6.1%}" for rate, low, high in (valid, optimal))
    cost, step = ("-" if gap is None else f"{gap:+.1%}" for gap in (tally.soc_gap, tally.makespan_gap))
    arrived = f"{tally.csr:>6.1%}  {tally.isr:>6.1%}"
    print(f"{tally.agents:>6}  {size:>4}  {tally.n:>4}  {rates}  {arrived}  {cost:>8}  {step:>8}  {tally.tokens:>6.1f}")


def run_doctor(options: argparse.Namespace) -> None:
    from frozenlab.doctor import examine

    report = examine()
    if options.json:
        print_json(report)
        return
    for check in report["checks"]:
        print(f"{'yes' if check['ok'] else ' no'}  {check['what']}: {check['found']}" + (f"; {check['advice']}" if check["advice"] else ""))
    print("\nsessions that are ready to run (frozenlab run --preset NAME):")
    for name, reason in report["presets"].items():
        print(f"{' no' if reason else 'yes'}  {name}" + (f": {reason}" if reason else ""))


# --- in and out -----------------------------------------------------------------------------------------------------


def read_text(path: Path | str) -> str:
    """A file's text, or standard input's for ``-``. Raises InputError, or BoardError if it is too large or no text, with the reason."""
    from frozenlab.lake import formats

    if str(path) == "-":
        return sys.stdin.read()
    try:
        return formats.load(Path(path))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


@contextmanager
def progress() -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar on stderr, where that is a terminal, for each part of a job in turn: told (part, done, of how many)."""
    from tqdm import tqdm

    from frozenlab.lake.kernels.warm_up import load_solver

    load_solver()
    bars: dict[str, tqdm] = {}

    def note(part: str, done: int, of: int) -> None:
        if part not in bars:
            bars[part] = tqdm(desc=part, total=of, unit=" boards", disable=None, leave=False)
        bars[part].update(done - bars[part].n)
        if done == of:
            bars[part].close()

    try:
        yield note
    finally:
        for bar in bars.values():
            bar.close()


def print_json(record: dict[str, Any]) -> None:
    """A record as one JSON line."""
    print(json.dumps(record))


if __name__ == "__main__":
    sys.exit(main())
