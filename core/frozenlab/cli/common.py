"""What several commands share: options of models, refusals, JSON and progress bars."""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from tqdm import tqdm

from frozenlab.base import files
from frozenlab.base.docstrings import field_docs
from frozenlab.base.errors import LabError, one_line, printable
from frozenlab.base.numbers import listed

if TYPE_CHECKING:
    from frozenlab.experiments.replays.cost import Estimate

STAGE = r"[1-9][0-9]{0,3}"
"""The number of a stage, as people count them."""
Name = TypeVar("Name", bound=str)
AModel = TypeVar("AModel", bound=BaseModel)


class InputError(LabError, ValueError):
    """The caller gave something that cannot be used."""


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
    info = model.model_fields[name]
    sentence = re.split(r"\.(?=\s|$)|[;,] None\b", field_docs(model)[name])[0]
    sentence = " ".join(sentence.replace("`", "").split())
    choices = get_args(info.annotation) if get_origin(info.annotation) is Literal else info.examples
    value = f"{info.default:g}" if isinstance(info.default, int | float) else info.default
    end = f" (default: {value})" if default and value and isinstance(value, str) else ""
    return sentence[0].lower() + sentence[1:] + (f": {listed(choices, 'or')}" if choices else "") + end


def reader(info: FieldInfo) -> Callable[[str], Any]:
    """What makes the value of a field from text; several values have commas between them."""
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


def add_allow_host(parser: argparse.ArgumentParser) -> None:
    """Add ``--allow-host``, for commands that may ask an engineer behind an API."""
    parser.add_argument(
        "--allow-host", metavar="HOST", action="append", default=[],
        help="allow requests to this engineer's server, such as api.openai.com or 127.0.0.1:8000; remembered on this machine",
    )  # fmt: skip


def named(given: str | None, known: Sequence[Name], what: str) -> tuple[Name, ...] | None:
    """Names from a comma-separated list, in the order of ``known``; None if no list was given. Raises InputError for an unknown name."""
    if given is None:
        return None
    names = [name.strip() for name in given.split(",")]
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"there is no {what} {unknown[0]!r}; there are {', '.join(known)}")
    return tuple(name for name in known if name in names)


def read_text(path: Path | str) -> str:
    """The text of a file, or of standard input for ``-``. Raises InputError if it cannot be read, and TextError if it is too large, or
    no text."""
    if str(path) == "-":
        return sys.stdin.read()
    try:
        return files.read_text(Path(path))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def new_path(path: Path, what: str = "folder") -> Path:
    """The whole path of a folder or a file that is to be made. Raises InputError if it is there, or its parent is not."""
    path = path.resolve()
    if path.exists() or not path.parent.is_dir():
        raise InputError(f"{path} exists already: name a new {what}" if path.exists() else f"there is no folder {path.parent}")
    return path


LINES, LONG = 20, 10.0
"""Lines of progress for a part of a job where no bar can be drawn, and seconds from one to the next at the least."""


@contextmanager
def progress(unit: str = "boards") -> Iterator[Callable[..., None]]:
    """Show a progress bar on stderr for each part of a job; where that is no terminal, a line after each twentieth of it.

    The caller reports (part, done, total), and in a word or two how well.
    """
    bars: dict[str, tqdm] = {}
    said = time.monotonic()

    def note(part: str, done: int, of: int, how: str = "") -> None:
        nonlocal said
        if part not in bars:
            bars[part] = tqdm(desc=part, total=of, unit=f" {unit}", disable=None, leave=False)
        bar = bars[part]
        bar.set_postfix_str(how, refresh=False)
        bar.update(done - bar.n)
        if bar.disable and done * LINES // of > bar.n * LINES // of and time.monotonic() - said >= LONG:
            bar.n, said = done, time.monotonic()
            print(f"{part}: {done:,} of {of:,} {unit}{how and ', '}{how}", file=sys.stderr, flush=True)
        if done == of:
            bar.close()

    try:
        yield note
    finally:
        for bar in bars.values():
            bar.close()


def show(as_json: bool, record: dict[str, Any], *lines: str) -> None:
    """Print what a command has found: the record as one line of JSON with ``--json``, else the lines."""
    text = json.dumps(record) if as_json else "\n".join(printable(line) for part in lines for line in part.split("\n"))
    print(text, flush=True)


def confirm(warning: str, refusal: str, *, yes: bool) -> None:
    """Print on stderr what would happen, and ask for leave unless ``yes``. Raises InputError if it is not given."""
    print(warning, file=sys.stderr)
    if not yes and not agreed():
        raise InputError(refusal)


def agree(cost: Estimate, *, yes: bool) -> None:
    """Print on stderr what asking would cost, and ask for leave where that is money. Raises InputError if it is not given."""
    confirm(cost.sentence, "nothing was asked; --yes skips the confirmation", yes=yes or cost.cost is None)


def agreed() -> bool:
    """Whether a person at a terminal confirms."""
    if not sys.stdin.isatty():
        return False
    print("Continue? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
