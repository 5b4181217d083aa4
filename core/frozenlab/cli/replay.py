"""``frozenlab replay``: asking engineers again for the config after a stage."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from frozenlab.base.numbers import listed
from frozenlab.cli.common import (
    Command,
    InputError,
    add_allow_host,
    add_fields,
    agree,
    find_session,
    given,
    named,
    print_json,
    read_model,
    refuse_live,
    show,
)
from frozenlab.cli.experiment import about, add_id, existing, standing, work_here

if TYPE_CHECKING:
    from frozenlab.engineer.protocol import EngineerSpec
    from frozenlab.experiments.replays.store import Replay
    from frozenlab.experiments.replays.task import ReplayTask
    from frozenlab.session.store import SessionStore


def add_replay(parser: argparse.ArgumentParser) -> None:
    from frozenlab.engineer.engineers import UNATTENDED
    from frozenlab.engineer.sections import NAMES
    from frozenlab.experiments.replays.arms import KINDS
    from frozenlab.experiments.replays.store import Replay
    from frozenlab.experiments.replays.task import ReplayTask
    from frozenlab.experiments.studies.arms import PAPER_SECTIONS

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
    from frozenlab.engineer import hosts
    from frozenlab.experiments.replays.cost import estimate
    from frozenlab.experiments.replays.store import Replay
    from frozenlab.experiments.replays.task import servers
    from frozenlab.session.store import SessionStore

    store = SessionStore()
    replay = existing(Replay, options.what, options, "vary", "sections", "engineers", "api", "id")
    task = replay.spec if replay else replay_task(options, store)
    session = replay.session if replay else find_session(options.what.rpartition(":")[0])
    hosts.check(servers(task, session))
    if replay:
        refuse_live(replay)
    answered = {(answer.arm, answer.sample) for answer in replay.answers()} if replay else set()
    if asked := estimate(task, session, answered):
        agree(asked, yes=options.yes)
    replay = replay or Replay.create(task, store, options.id)
    status = work_here(replay, done=len(answered))
    print_replay(replay, options)
    return status


def replay_task(options: argparse.Namespace, store: SessionStore) -> ReplayTask:
    """The replay that the options describe."""
    from frozenlab.engineer.engineers import BY_NAME, ApiEngineer, engineer_of
    from frozenlab.engineer.sections import NAMES
    from frozenlab.experiments.replays.arms import TWO_BY_TWO, arms_of_engineers, arms_of_sections, arms_two_by_two, varied_sections
    from frozenlab.experiments.replays.task import askable, task_for

    name, _, stage = options.what.rpartition(":")
    if not name or not stage.isdigit() or stage == "0":
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
    elsewhere = session.dir if session.dir.parent != store.root and not session.read_only else None
    return task_for(session, int(stage) - 1, arms, kind, folder=elsewhere, **given(options, "samples", "seed"))


def print_replay(replay: Replay, options: argparse.Namespace) -> None:
    """Print the results so far."""
    from frozenlab.experiments.replays.report import compared, proposals, sentences

    answers, task = replay.answers(), replay.spec
    told = about(replay) | {"session": task.session, "stage": task.stage + 1}
    if error := replay.state().error:
        print(f"frozenlab: {error}", file=sys.stderr)
    if not answers:
        show(options, told | {"answers": 0}, standing(replay, "no answer yet"))
        return
    rows = proposals(answers)
    if options.out:
        rows.to_csv(options.out, index=False)
    table = compared(rows, task.reference)
    if options.json:
        arms = table.reset_index().astype(object).where(table.reset_index().notna(), None).to_dict("records")
        print_json(told | {"answers": len(answers), "arms": arms, "sentences": sentences(table, task)})
        return
    print(table.round(2).assign(p=table["p"].round(4)).to_string(na_rep="-"))
    print(f"\nspread and distance in points per knob; distance from the mean config of {task.reference}, p after Holm\n")
    for sentence in sentences(table, task):
        print(f"- {sentence}")
    print("", standing(replay, f"{len(answers)} of {task.total} answers"), sep="\n")


COMMANDS = (Command("replay", "ask engineers again for the config after a stage, without training", add_replay, run_replay),)
