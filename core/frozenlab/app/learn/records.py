"""What a class has done: one line for each answer that was handed in, in a file on this machine. No accounts."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pandas as pd

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


def file_of(class_name: str, store: SessionStore) -> Path:
    """Raises LessonError for a name that is no class's."""
    if not CLASS_NAME.fullmatch(class_name):
        raise LessonError(f"{class_name!r} is no name of a class: use small letters, digits and hyphens, 40 at most")
    return store.root / LESSONS / f"{class_name}.jsonl"


def hand_in(class_name: str, learner: str, chapter: str, right: bool, store: SessionStore) -> None:
    """Notes one answer. Raises LessonError for names that cannot be used, and if the file is full."""
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
        append_line(path, {"time": time.time(), "learner": name, "chapter": chapter, "right": right})


def results(class_name: str, store: SessionStore) -> pd.DataFrame:
    """A row for each learner, a column for each chapter: ``right, after n tries``, or the tries so far. Raises as :func:`file_of`."""
    path = file_of(class_name, store)
    lines = read_lines(path)[0] if path.exists() else []
    handed = pd.DataFrame([line for line in lines if whole(line)], columns=["learner", "chapter", "right"])
    rows: dict[str, dict[str, str]] = {}
    for (learner, chapter), answers in handed.groupby(["learner", "chapter"], sort=False)["right"]:
        tries = list(answers).index(True) + 1 if answers.any() else len(answers)
        counted = f"{tries} {'try' if tries == 1 else 'tries'}"
        rows.setdefault(str(learner), {})[str(chapter)] = f"✓ {counted}" if answers.any() else f"{counted}, not yet"
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("learner")


def whole(line: dict[str, Any]) -> bool:
    return isinstance(line.get("learner"), str) and isinstance(line.get("chapter"), str) and isinstance(line.get("right"), bool)
