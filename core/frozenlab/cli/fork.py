"""``frozenlab propose`` and ``fork``: taking the engineer's place, and going another way from a stage."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from frozenlab.base.cells import Config
from frozenlab.base.errors import LabError
from frozenlab.cli.common import STAGE, InputError, add_allow_host, add_fields, given
from frozenlab.cli.session import add_engineer, add_session_id, find_session, print_status, run_in_foreground
from frozenlab.engineer.engineers.human import proposal_of, rejecting
from frozenlab.engineer.schema import Proposal
from frozenlab.session.launch import propose, start_fork
from frozenlab.session.session import Session
from frozenlab.session.spec import SessionSpec
from frozenlab.session.store import SessionStore
from frozenlab.tasks.families import family_of


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
