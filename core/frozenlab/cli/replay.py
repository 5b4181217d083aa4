"""``frozenlab replay``: asking engineers again for the config after a stage."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from frozenlab.base.errors import printable
from frozenlab.base.files import as_csv
from frozenlab.base.numbers import listed
from frozenlab.cli.common import STAGE, InputError, add_allow_host, add_fields, agree, given, named, read_model, show
from frozenlab.cli.experiment import about, add_id, run_experiment, standing
from frozenlab.cli.session import find_session
from frozenlab.engineer.engineers import BY_NAME, UNATTENDED, ApiEngineer, engineer_of
from frozenlab.engineer.protocol import EngineerSpec
from frozenlab.engineer.sections import NAMES
from frozenlab.experiments.replays.cost import estimate
from frozenlab.experiments.replays.report import compared, proposals, sentences
from frozenlab.experiments.replays.store import Replay
from frozenlab.experiments.replays.task import (
    KINDS,
    TWO_BY_TWO,
    ReplayTask,
    arms_of_engineers,
    arms_of_sections,
    arms_two_by_two,
    askable,
    session_of,
    task_for,
    varied_sections,
)
from frozenlab.experiments.studies.arms import PAPER_SECTIONS
from frozenlab.session.store import SessionStore


def add_replay(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", metavar="SESSION:STAGE|ID", help="a validated stage of a session, or a replay to resume")
    parser.add_argument("--vary", choices=KINDS, help=f"what differs between the arms (default: {KINDS[0]}, in all combinations)")
    parser.add_argument(
        "--sections", metavar="A,B,...",
        help=f"sections to switch on and off, of {', '.join(NAMES)} (default: {','.join(PAPER_SECTIONS)}, or all)",
    )  # fmt: skip
    parser.add_argument(
        "--engineers", metavar="A,B,...",
        help=f"with --vary engineers those to ask, otherwise one: {listed(UNATTENDED, 'or')} (default: the session's own)",
    )  # fmt: skip
    parser.add_argument("--api", type=Path, help="settings of the engineer api, JSON as in a spec's engineer (default: the session's)")
    add_fields(parser, ReplayTask, "samples", "seed")
    add_id(parser, Replay)
    parser.add_argument("--out", type=Path, help="write every answer to this CSV file, one row per cell of the config")
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation before paying an API")
    add_allow_host(parser)


def run_replay(options: argparse.Namespace) -> int:
    def pay(task: ReplayTask, replay: Replay | None) -> None:
        answered = {answer.key for answer in replay.answers()} if replay else set()
        if asked := estimate(task, session_of(task, SessionStore()), answered):
            agree(asked, yes=options.yes)

    return run_experiment(Replay, options, ("vary", "sections", "engineers", "api"), print_replay, replay_task, pay)


def replay_task(options: argparse.Namespace) -> ReplayTask:
    """The replay that the options describe."""
    name, _, stage = options.what.rpartition(":")
    if not name or not re.fullmatch(STAGE, stage):
        raise InputError(f"{options.what!r} is neither a replay nor a session and a stage like example-quick:1")
    session, kind = find_session(name), options.vary or ("engineers" if options.engineers and "," in options.engineers else "sections")
    sections, engineers = named(options.sections, NAMES, "section"), named(options.engineers, tuple(BY_NAME), "engineer")
    api = read_model(ApiEngineer, options.api) if options.api else None
    own = session.spec.engineer

    def chosen(name: str) -> EngineerSpec:
        return api if api is not None and name == "api" else engineer_of(name, own)

    if kind == TWO_BY_TWO:
        if sections is not None or engineers is not None:
            raise InputError(f"--vary {TWO_BY_TWO} asks policy and base, with failures and behaviour and without: leave out the rest")
        arms = arms_two_by_two(session.spec)
    elif kind == "engineers":
        if sections is not None:
            raise InputError("--sections varies what one engineer sees; with --vary engineers, all see the session's sections")
        arms = arms_of_engineers(map(chosen, engineers or askable(session, int(stage) - 1)), own.kind)
    else:
        if len(engineers or ()) > 1:
            raise InputError(f"--vary {kind} asks one engineer; use --vary engineers for several")
        arms = arms_of_sections(kind, varied_sections(kind, sections), chosen(engineers[0]) if engineers else None)
    elsewhere = session.dir if session.dir.parent != SessionStore().root and not session.read_only else None
    return task_for(session, int(stage) - 1, arms, kind, folder=elsewhere, **given(options, "samples", "seed"))


def print_replay(replay: Replay, options: argparse.Namespace) -> None:
    """Print the results so far."""
    answers, task = replay.answers(), replay.spec
    record = about(replay) | {"session": task.session, "stage": task.stage + 1, "answers": len(answers)}
    if error := replay.state().error:
        print(f"frozenlab: {printable(error)}", file=sys.stderr)
    if not answers:
        show(options.json, record, standing(replay, "no answer yet"))
        return
    rows = proposals(answers)
    if options.out:
        options.out.write_text(as_csv(rows), encoding="utf-8")
    table = compared(rows, task.reference)
    arms = table.reset_index().astype(object).where(table.reset_index().notna(), None).to_dict("records")
    found = sentences(table, task)
    show(
        options.json,
        record | {"arms": arms, "sentences": found},
        table.round(2).assign(p=table["p"].round(4)).to_string(na_rep="-"),
        f"\nspread and distance in points per setting; distance from the mean config of {task.reference}, p after Holm\n",
        *(f"- {sentence}" for sentence in found),
        "",
        standing(replay, f"{len(answers)} of {task.total} answers"),
    )
