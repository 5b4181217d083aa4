"""The entry point of the command line.

Every command prints JSON with ``--json``. Bad input ends a command with exit status 2 and one line on stderr that gives the
reason; a fault of FrozenLab with 70 and a traceback.

Each file of this package lists its commands. Only the options of the chosen command are built, and imports are inside the functions:
``frozenlab solve`` does not wait for torch, nor ``frozenlab status`` for Numba, nor ``frozenlab --help`` for either.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from frozenlab.base import places
from frozenlab.base.errors import LabError, one_line
from frozenlab.cli import app, boards, diagnose, fork, headroom, jobs, model, present, replay, session, students, study
from frozenlab.cli.common import BAD_INPUT, OUR_FAULT, Command, InputError, allow_hosts

COMMANDS = (
    *app.COMMANDS,
    *session.COMMANDS,
    *jobs.COMMANDS,
    *fork.COMMANDS,
    *boards.COMMANDS,
    *model.COMMANDS,
    *replay.COMMANDS,
    *present.COMMANDS,
    *study.COMMANDS,
    *students.COMMANDS,
    *headroom.COMMANDS,
    *diagnose.COMMANDS,
)
SCRIPT = """_frozenlab() {
  local words
  case "${COMP_WORDS[*]:1:COMP_CWORD-1} " in
%s
  esac
  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _frozenlab frozenlab"""
FOR_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"
"""zsh reads what is written for bash after this."""


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
    """Let the queue of this machine continue after a reboot."""
    root = places.sessions_folder()
    if next(root.glob("*/*"), None) is not None:
        from frozenlab.jobs.queue.watch import wake_if_needed

        wake_if_needed(root)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line; ``run`` of the result is the function to call. Only the chosen command's options are built."""
    return parser(arguments).parse_args(arguments)


def parser(arguments: Sequence[str] | None = None) -> Parser:
    """The parser of a command line; without one, with the options of all commands."""
    top = Parser(prog="frozenlab", description="An interactive lab: a language model learns MAPF and engineers its environment.")
    top.add_argument("--version", action=Version, nargs=0, help="print the version")
    top.add_argument("--completion", action=Completion, choices=("bash", "zsh"), help="print a script for completion in this shell")
    add_commands(top, COMMANDS, arguments, "COMMAND")
    return top


def add_commands(above: Parser, commands: Sequence[Command], arguments: Sequence[str] | None, metavar: str) -> None:
    """Add these commands, with options to the one that is chosen. Raises InputError for one that is not there."""
    chosen = None if arguments is None else next(iter(arguments), "")
    if chosen and not chosen.startswith("-") and chosen not in [command.name for command in commands]:
        raise InputError(unknown(above.prog, chosen, commands))
    below = above.add_subparsers(required=True, metavar=metavar)
    for command in commands:
        sub = below.add_parser(command.name, help=command.help, description=command.help)
        if chosen not in (None, command.name):
            continue
        if command.verbs:
            add_commands(sub, command.verbs, None if arguments is None else arguments[1:], "VERB")
        else:
            sub.set_defaults(run=command.run)
            sub.add_argument("--json", action="store_true", help="print JSON")
            command.add_options(sub)


def unknown(above: str, name: str, commands: Sequence[Command]) -> str:
    """The sentence about a command that is not there, with the most similar one."""
    from difflib import get_close_matches

    verbs = {verb.name: f"{above} {command.name} {verb.name}" for command in commands for verb in command.verbs}
    there = verbs | {command.name: f"{above} {command.name}" for command in commands}
    close = get_close_matches(name, there, 1)
    return f"there is no command {name!r}; " + (f"did you mean {there[close[0]]}?" if close else f"{above} --help lists them")


class Version(argparse.Action):
    """Print the version."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version

        print(f"frozenlab {version('frozenlab')}")
        parser.exit()


class Completion(argparse.Action):
    """Print the script of a shell."""

    def __call__(self, top: argparse.ArgumentParser, namespace: argparse.Namespace, shell: Any, option: str | None = None) -> NoReturn:
        print(script(parser(), shell))
        top.exit()


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script that completes all words of a whole parser."""
    cases = "\n".join(f'    "{" ".join([*path, ""])}"*) words="{" ".join(words)}" ;;' for path, words in words_after(parser))
    return (FOR_ZSH if shell == "zsh" else "") + SCRIPT % cases


def words_after(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """(the words of a command, what may follow), the longest first, for the shell takes the first that fits."""
    words = [name for action in parser._actions for name in action.option_strings if name.startswith("--")]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            words = [*action.choices, *words]
            for name, below in action.choices.items():
                yield from words_after(below, (*path, name))
    yield path, words
