"""The students of a measurement: policies by name."""

from __future__ import annotations

from frozenlab.headroom.spec import HeadroomError
from frozenlab.loop.store import SessionStore
from frozenlab.policy.folders import policy_folder, weights_file

PLANTED = "student:"
"""Prefix of the id of a student that was made on this machine."""


def student_policy(name: str) -> str:
    """The policy of a student as :func:`frozenlab.policy.loading.load_policy` takes it. Raises HeadroomError if there is none."""
    folder = SessionStore().root / "students" / name.removeprefix(PLANTED) / "policy" if name.startswith(PLANTED) else policy_folder(name)
    if weights_file(folder) is None:
        raise HeadroomError(f"there is no student {name!r}: {folder} holds no weights")
    return str(folder)


def student_label(name: str) -> str:
    """A student in figures and tables."""
    return name.removeprefix(PLANTED).rstrip("/").rpartition("/")[2] or name
