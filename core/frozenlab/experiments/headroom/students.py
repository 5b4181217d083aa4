"""The students of a measurement: policies by name."""

from __future__ import annotations

from frozenlab.experiments.headroom.spec import HeadroomError, HeadroomSpec
from frozenlab.models.folders import policy_folder, weights_file


def check_students(spec: HeadroomSpec) -> None:
    """Raises HeadroomError if a student has no weights here."""
    for student in spec.students:
        folder = policy_folder(student)
        if weights_file(folder) is None:
            raise HeadroomError(f"there is no student {student!r}: {folder} holds no weights")
