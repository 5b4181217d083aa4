"""Who asks, and what they may do: an *operator* everything, a *viewer* looks, plays and learns.

Whatever changes files or starts processes calls :func:`only_operators` first, so it is refused however it was asked for: by a button,
a link or a message that no button sends. Workers and the command line belong to operators. A server with a door says who asks
(:mod:`frozenlab.app.ui.visitors`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from typing import NamedTuple

from frozenlab.base.errors import LabError


class Role(StrEnum):
    VIEWER = "viewer"
    OPERATOR = "operator"


class Person(NamedTuple):
    """Somebody who asks for something."""

    role: Role
    id: str = ""
    """Of their browser or account; empty for whoever sits at this machine."""
    address: str = ""
    """Where they come from, with everybody else behind the same address; empty for whoever sits at this machine."""


class NotAllowedError(LabError):
    """A viewer asked for what only operators may do."""


HERE = Person(Role.OPERATOR)
"""Whoever sits at this machine."""
_for_everybody: ContextVar[bool] = ContextVar("for_everybody", default=False)


def whoever_is_here() -> Person:
    return HERE


_asks: Callable[[], Person] = whoever_is_here


def ask(asks: Callable[[], Person]) -> None:
    """Learn from ``asks`` who wants something, from now on. It is called in the thread of whoever wants it."""
    global _asks
    _asks = asks


def person() -> Person:
    """Who asks."""
    return _asks()


def viewing() -> bool:
    """Whether a viewer asks."""
    return person().role is Role.VIEWER


def only_operators(what: str) -> None:
    """Raise NotAllowedError if a viewer asks: only an operator may do ``what``."""
    if not _for_everybody.get() and viewing():
        raise NotAllowedError(f"only an operator may {what}")


@contextmanager
def for_everybody() -> Iterator[None]:
    """What happens inside is meant for viewers too, as handing in an exercise is."""
    token = _for_everybody.set(True)
    try:
        yield
    finally:
        _for_everybody.reset(token)
