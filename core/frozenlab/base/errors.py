"""Errors that users can fix, signals that end a job early, and any error in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import ValidationError


class LabError(Exception):
    """An error that the user can fix. The message says what was wrong, where, and what would be right.

    Pages and the command line show the message. Any other exception is a fault of FrozenLab and is shown as one.
    """


class GenerationError(LabError, ValueError):
    """A cell of a config cannot be filled with tasks; the message names the cell, the reason and what is within reach."""


class Stopped(Exception):
    """Not an error but a signal: the job was asked to stop."""


class AwaitsProposal(Exception):
    """Not an error but a signal: the session needs a person's proposal to continue."""


def one_line(error: Exception) -> str:
    """The message of an error in at most 300 characters: pydantic's first problem, the first line of others, or the error's name.

    >>> one_line(ValueError("no such board\\nand a long explanation"))
    'no such board'
    >>> one_line(KeyError())
    'KeyError'
    """
    from pydantic import ValidationError  # not needed where nothing has gone wrong

    if isinstance(error, ValidationError):
        return _first_problem(error)
    return cut((str(error).splitlines() or [""])[0], 300) or type(error).__name__


def _first_problem(error: ValidationError) -> str:
    """Where, what, and what was given, each cut short where it is long."""
    first: Any = error.errors(include_url=False)[0]
    where = cut(".".join(cut(str(part), 60) for part in first["loc"] if part != "[key]"), 120)
    message = cut(first["msg"].removeprefix("Value error, "), 300)
    return f"{where}: {message} (given: {cut(repr(first['input']), 60)})" if where else message


def cut(text: str, most: int) -> str:
    """The text, or its beginning and three dots.

    >>> cut("a long line", 8)
    'a lon...'
    """
    return text if len(text) <= most else text[: most - 3] + "..."
