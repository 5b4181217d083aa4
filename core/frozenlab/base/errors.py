"""Errors that users can fix, signals that end a job early, and any error in one line."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import ValidationError


class LabError(Exception):
    """An error that the user can fix. The message says what was wrong, where, and what would be right.

    Pages and the command line show the message. Any other exception is a fault of FrozenLab and is shown as one.
    """


class MissingExtra(LabError, ImportError):
    """A package of an optional extra is not installed; the message names the extra."""


class GenerationError(LabError, ValueError):
    """A cell of a config cannot be filled with tasks; the message names the cell, the reason and what is within reach."""


class Stopped(Exception):
    """Not an error but a signal: the job was asked to stop."""


class AwaitsProposal(Exception):
    """Not an error but a signal: the session needs a person's proposal to continue."""


def one_line(error: Exception) -> str:
    """The message of an error in at most 300 characters: pydantic's first problem, a LabError's message, the first line of others, or the
    error's name. It holds nothing that a terminal obeys, whatever file its words are from.

    >>> one_line(ValueError("no such board\\nand a long explanation"))
    'no such board'
    >>> one_line(LabError("no key 'a\\nb\\x1b'"))
    "no key 'a\\\\nb\\\\x1b'"
    >>> one_line(KeyError())
    'KeyError'
    """
    from pydantic import ValidationError  # not needed where nothing has gone wrong

    if isinstance(error, ValidationError):
        return _first_problem(error)
    text = str(error).strip() if isinstance(error, LabError) else (str(error).splitlines() or [""])[0]
    return cut(printable(text), 300) or type(error).__name__


def _first_problem(error: ValidationError) -> str:
    """Where, what, and what was given, each cut short where it is long."""
    first: Any = error.errors(include_url=False)[0]
    where = cut(".".join(cut(printable(str(part)), 60) for part in first["loc"] if part != "[key]"), 120)
    message = cut(printable(first["msg"].removeprefix("Value error, ")), 300)
    return f"{where}: {message} (given: {cut(repr(first['input']), 60)})" if where else message


def printable(text: str) -> str:
    """The text in which line breaks, escape sequences and whatever else has no letter of its own are written as Python writes them.

    >>> printable("a\\tb\\ud800")
    'a\\\\tb\\\\ud800'
    """
    if text.isprintable():
        return text
    odd = ("Zl", "Zp")
    return "".join(ascii(c)[1:-1] if unicodedata.category(c) in odd or unicodedata.category(c)[0] == "C" else c for c in text)


def cut(text: str, most: int) -> str:
    """The text, or its beginning and three dots.

    >>> cut("a long line", 8)
    'a lon...'
    """
    return text if len(text) <= most else text[: most - 3] + "..."
