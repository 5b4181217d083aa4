"""What several commands share: refusals, JSON, sessions by name, progress bars."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeVar, get_args, get_origin

from frozenlab.base.errors import LabError
from frozenlab.base.numbers import listed

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

    from frozenlab.experiments.replays.cost import Estimate
    from frozenlab.jobs.job import Job
    from frozenlab.session.session import Session

BAD_INPUT, OUR_FAULT = 2, 70
"""Exit status of a command that refuses its input, and of one that meets a fault of FrozenLab."""

Name = TypeVar("Name", bound=str)
AModel = TypeVar("AModel", bound="BaseModel")


class InputError(LabError, ValueError):
    """The caller gave something that cannot be used."""


class Command(NamedTuple):
    """One command of the command line: its name, one line of help, its options and what it runs; or the verbs that it has."""

    name: str
    help: str
    add_options: Callable[[argparse.ArgumentParser], None] = lambda parser: None
    run: Callable[[argparse.Namespace], int | None] = lambda options: None
    verbs: tuple[Command, ...] = ()


def add_fields(parser: argparse._ActionsContainer, model: type[BaseModel], *names: str, defaults: bool = True) -> None:
    """Add an option for each of the fields ``names`` of ``model``, which says how it is read and what it means. An option that is not
    given is not in the namespace: see :func:`given`.

    Args:
        defaults: whether the help shows the defaults of the model; False where the value of a spec stays.
    """
    for name in names:
        info = model.model_fields[name]
        flag = bool in (info.annotation, *get_args(info.annotation))
        how: dict[str, Any] = {"action": argparse.BooleanOptionalAction} if flag else {"type": reader(info)}
        how |= {"metavar": "A,B,..."} if get_origin(info.annotation) is tuple else {}
        text = field_help(model, name, default=defaults)
        parser.add_argument(f"--{name.replace('_', '-')}", default=argparse.SUPPRESS, help=text.replace("%", "%%"), **how)


def field_help(model: type[BaseModel], name: str, *, default: bool = False) -> str:
    """The first sentence of a field's docstring, without what None means; then the choices that it has, and its default."""
    from frozenlab.base.docstrings import field_docs

    info = model.model_fields[name]
    sentence = re.split(r"\.(?=\s|$)|[;,] None\b", field_docs(model)[name])[0]
    sentence = " ".join(sentence.replace("`", "").split())
    choices = get_args(info.annotation) if get_origin(info.annotation) is Literal else info.examples
    value = f"{info.default:g}" if isinstance(info.default, int | float) else info.default
    end = f" (default: {value})" if default and value and isinstance(value, str) else ""
    return sentence[0].lower() + sentence[1:] + (f": {listed(choices, 'or')}" if choices else "") + end


def reader(info: FieldInfo) -> Callable[[str], Any]:
    """What makes the value of a field from text; several values have commas between them."""
    from pydantic import TypeAdapter, ValidationError

    from frozenlab.base.errors import one_line

    several = get_origin(info.annotation) is tuple
    value: TypeAdapter[Any] = TypeAdapter(Annotated[(info.annotation, info)])  # type: ignore[arg-type]  # made at run time

    def read(text: str) -> Any:
        try:
            return value.validate_python([part.strip() for part in text.split(",")] if several else text)
        except ValidationError as error:
            raise argparse.ArgumentTypeError(one_line(error)) from None

    return read


@contextmanager
def refusing(what: object = "") -> Iterator[None]:
    """A model is made from input within: raises InputError, which names ``what``, where it is not valid."""
    from pydantic import ValidationError

    from frozenlab.base.errors import one_line

    try:
        yield
    except ValidationError as error:
        raise InputError(f"{what}: {one_line(error)}" if what else one_line(error)) from None


def read_model(model: type[AModel], path: Path | str) -> AModel:
    """A model from a JSON file. Raises InputError, which names the file, where it is not valid."""
    with refusing(path):
        return model.model_validate_json(read_text(path))


def given(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """The values of those options of :func:`add_fields` that were given."""
    return {name: getattr(options, name) for name in names if name in options}


def add_engineer(parser: argparse._ActionsContainer) -> None:
    """Add ``--engineer``, which replaces that of a spec."""
    from frozenlab.engineer.engineers import ENGINEERS
    from frozenlab.session.spec import SessionSpec

    names = listed((engineer.name() for engineer in ENGINEERS), "or")
    parser.add_argument("--engineer", default=argparse.SUPPRESS, help=f"{field_help(SessionSpec, 'engineer')}: {names}")


def add_session_id(parser: argparse.ArgumentParser) -> None:
    """Add the session that a command is about."""
    parser.add_argument("id", help="session id, or the path of a session folder")


def add_allow_host(parser: argparse.ArgumentParser) -> None:
    """Add ``--allow-host``, for commands that may ask an engineer behind an API."""
    parser.add_argument(
        "--allow-host", metavar="HOST", action="append", default=[],
        help="allow requests to this engineer's server, such as api.openai.com or 127.0.0.1:8000; remembered on this machine",
    )  # fmt: skip


def allow_hosts(names: Sequence[str]) -> None:
    """Remember servers that may be asked from now on."""
    if names:
        from frozenlab.engineer import hosts

        for name in names:
            hosts.allow(name)


def find_session(name: str) -> Session:
    """A session by its id or by the path of its folder."""
    from frozenlab.session.session import Session
    from frozenlab.session.store import SessionStore

    return Session(Path(name).resolve()) if (Path(name) / "session.json").exists() else SessionStore().open(name)


def named(given: str | None, known: Sequence[Name], what: str) -> tuple[Name, ...] | None:
    """Names from a comma-separated list, in the order of ``known``; None if no list was given. Raises InputError for an unknown name."""
    if given is None:
        return None
    names = [name.strip() for name in given.split(",")]
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"there is no {what} {unknown[0]!r}; there are {', '.join(known)}")
    return tuple(name for name in known if name in names)


def read_text(path: Path | str) -> str:
    """The text of a file, or of standard input for ``-``.

    Raises:
        InputError: the file cannot be read.
        TextError: it is too large, or no text.
    """
    from frozenlab.base import files

    if str(path) == "-":
        return sys.stdin.read()
    try:
        return files.read_text(Path(path))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def refuse_live(job: Job) -> None:
    """Raise InputError if another process has the job, or will have it."""
    if job.state().live:
        raise InputError(f"{job.id} is {job.state().status} already; frozenlab jobs queue shows what waits and runs")


@contextmanager
def worked_on_here(job: Job) -> Iterator[None]:
    """This process is about to do a job: Ctrl+C asks it to stop soon, and what it takes of the machine counts in the queue.

    Raises InputError if another process has the job.
    """
    from frozenlab.base import places
    from frozenlab.jobs.environment import worker_environment
    from frozenlab.jobs.job import STOP_FILE
    from frozenlab.jobs.launcher import claim, release

    refuse_live(job)
    os.environ.update(worker_environment(job.online))
    signal.signal(signal.SIGINT, lambda *_: (job.dir / STOP_FILE).touch())
    if job.state().status == "done":
        yield
        return
    root = places.sessions_folder()
    claim(job, root)
    try:
        yield
    finally:
        release(job, root)


@contextmanager
def progress() -> Iterator[Callable[[str, int, int], None]]:
    """Show a progress bar on stderr, if that is a terminal, for each part of a job. The caller reports (part, done, total)."""
    from tqdm import tqdm

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


def show(options: argparse.Namespace, record: dict[str, Any], *lines: str) -> None:
    """Print what a command has found: the record with ``--json``, else the lines."""
    print(json.dumps(record) if options.json else "\n".join(lines))


def print_json(record: dict[str, Any]) -> None:
    """Print a record as one line of JSON."""
    print(json.dumps(record))


def agree(cost: Estimate, *, yes: bool) -> None:
    """Tells what asking would cost, and asks for leave where that is money. Raises InputError if it is not given."""
    print(cost.sentence, file=sys.stderr)
    if cost.cost is not None and not yes and not agreed():
        raise InputError("nothing was asked; --yes skips the confirmation")


def new_folder(path: Path) -> Path:
    """The whole path of a folder that is to be made. Raises InputError if it is there, or its parent is not."""
    folder = path.resolve()
    if folder.exists() or not folder.parent.is_dir():
        raise InputError(f"{folder} exists already: name a new folder" if folder.exists() else f"there is no folder {folder.parent}")
    return folder


def agreed() -> bool:
    """Whether somebody at a terminal confirms."""
    if not sys.stdin.isatty():
        return False
    print("Continue? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
