"""The view of each task family. A family that draws its tasks has a line here; others are shown as text."""

from __future__ import annotations

from frozenlab.tasks.family import Family
from frozenlab.tasks.lake.family import LAKE
from frozenlab.tasks.lake.view.view import LakeView
from frozenlab.tasks.view.view import View

VIEWS: dict[str, type[View]] = {LAKE.name: LakeView}


def view_of(family: Family) -> View:
    return VIEWS.get(family.name, View)(family)
