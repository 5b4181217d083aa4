"""The entry point of the command line.

Every command prints JSON with ``--json``. Bad input ends a command with exit status 2 and one line on stderr that gives the
reason; a fault of FrozenLab with 70 and a traceback.

Each file of this package lists its commands and says what options they take; so do the files of :mod:`frozenlab.cli.lake`. Options
read their choices from the lists that define them, so only the chosen command's options are built. Imports stand inside the functions:
``frozenlab solve`` does not wait for torch, nor ``frozenlab status`` for Numba, nor ``frozenlab --help`` for either.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

from frozenlab.base import places
from frozenlab.base.errors import LabError, one_line
from frozenlab.cli import app, bundle, diagnose, door, fork, headroom, housekeeping, model, present, queue, replay, session, students, study
from frozenlab.cli.common import BAD_INPUT, OUR_FAULT, InputError, allow_hosts
from frozenlab.cli.lake import boards, convert

COMMANDS = (
    *app.COMMANDS,
    *door.COMMANDS,
    *session.COMMANDS,
    *queue.COMMANDS,
    *fork.COMMANDS,
    *bundle.COMMANDS,
    *housekeeping.COMMANDS,
    *boards.COMMANDS,
    *convert.COMMANDS,
    *model.COMMANDS,
    *replay.COMMANDS,
    *present.COMMANDS,
    *study.COMMANDS,
    *students.COMMANDS,
    *headroom.COMMANDS,
    *diagnose.COMMANDS,
)


class Parser(argparse.ArgumentParser):
    """A parser that refuses a bad call as commands refuse bad input; ``--help`` prints the usage."""

    def error(self, message: str) -> NoReturn:
        raise InputError(message)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    try:
        options = parse(sys.argv[1:] if arguments is None else arguments)
        allow_hosts(getattr(options, "allow_host", []))
        wake_queue()
        return options.run(options) or 0
    except (LabError, OSError) as error:
        print(f"frozenlab: {one_line(error)}", file=sys.stderr)
        return BAD_INPUT
    except Exception:
        traceback.print_exc()
        print("frozenlab: this is a fault of FrozenLab, not of what you gave it. Please report the lines above.", file=sys.stderr)
        return OUR_FAULT


def wake_queue() -> None:
    """Whoever uses the lab after a reboot lets the queue of this machine go on."""
    root = places.sessions_folder()
    if next(root.glob("*/*"), None) is not None:
        from frozenlab.jobs.queue.watch import wake_if_needed

        wake_if_needed(root)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line; ``run`` of the result is the function to call. Only the chosen command's options are built."""
    top = Parser(prog="frozenlab", description="An interactive lab: a language model learns MAPF and engineers its environment.")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        sub = commands.add_parser(command.name, help=command.help, description=command.help)
        if command.name in arguments[:1]:
            sub.set_defaults(run=command.run)
            sub.add_argument("--json", action="store_true", help="print JSON")
            command.add_options(sub)
    return top.parse_args(arguments)
