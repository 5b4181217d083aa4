"""What a class has done: one line for each answer that was handed in, in a file on this machine. No accounts."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any, NamedTuple

from frozenlab.app import allowances
from frozenlab.base import look_only
from frozenlab.base.errors import LabError
from frozenlab.base.files import append_line, read_lines
from frozenlab.base.places import LESSONS
from frozenlab.session.store import SessionStore

CLASS_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
LONGEST_NAME = 40
MOST_CLASSES, LARGEST = 300, 4_000_000
"""Classes, and bytes of a class's file, which all who reach the server can write to."""


class LessonError(LabError, ValueError):
    """A name cannot be used, or a class's file is full."""


def class_named(given: str) -> str:
    """The name under which a class is kept: "7B maths" is ``7b-maths``."""
    return "-".join(given.lower().split())


def file_of(class_name: str, store: SessionStore) -> Path:
    """Raises LessonError for a name that is no class's."""
    if not CLASS_NAME.fullmatch(class_name):
        raise LessonError(f"{class_name!r} is no name of a class: use small letters, digits and hyphens, 40 at most")
    return store.root / LESSONS / f"{class_name}.jsonl"


def hand_in(class_name: str, learner: str, chapter: str, right: bool, store: SessionStore, fault: str = "") -> None:
    """Notes one answer, and what was wrong with it. Raises LessonError for names that cannot be used, and if the file is full."""
    path, name = file_of(class_name, store), " ".join(learner.split())
    if not name or len(name) > LONGEST_NAME:
        raise LessonError(f"a learner's name has 1 to {LONGEST_NAME} letters")
    if path.exists() and path.stat().st_size > LARGEST:
        raise LessonError(f"the results of class {class_name} are full: give the class another name")
    if not path.exists() and sum(1 for _ in path.parent.glob("*.jsonl")) >= MOST_CLASSES:
        raise LessonError(f"there are {MOST_CLASSES} classes on this machine already: delete files in {path.parent.name}")
    allowances.spend(allowances.HANDED_IN)
    with look_only.handing_in():
        path.parent.mkdir(parents=True, exist_ok=True)
        append_line(path, {"time": time.time(), "learner": name, "chapter": chapter, "right": right, "fault": "" if right else fault})


class Standing(NamedTuple):
    """What a learner has done in a chapter."""

    tries: int
    """Until it was right, or so far."""
    solved: bool
    fault: str = ""
    """What was wrong with the newest answer; empty once it is solved."""

    def __str__(self) -> str:
        counted = f"{self.tries} {'try' if self.tries == 1 else 'tries'}"
        return f"✓ {counted}" if self.solved else f"{counted}, not yet{f': {self.fault}' if self.fault else ''}"


def standings(class_name: str, store: SessionStore) -> dict[str, dict[str, Standing]]:
    """Learner -> chapter -> standing, in the order in which they came. Raises as :func:`file_of`."""
    path = file_of(class_name, store)
    lines = read_lines(path)[0] if path.exists() else []
    found: dict[str, dict[str, Standing]] = {}
    for line in filter(whole, lines):
        chapters = found.setdefault(line["learner"], {})
        so_far = chapters.get(line["chapter"], Standing(0, False))
        if not so_far.solved:
            chapters[line["chapter"]] = Standing(so_far.tries + 1, line["right"], str(line.get("fault", "")))
    return found


def whole(line: dict[str, Any]) -> bool:
    return isinstance(line.get("learner"), str) and isinstance(line.get("chapter"), str) and isinstance(line.get("right"), bool)
