"""The view of each task family. A family that draws its tasks has a line here; others are shown as text."""

from __future__ import annotations

from frozenlab.app.views.countdown import CountdownView
from frozenlab.app.views.lake.view import LakeView
from frozenlab.app.views.mixed import MixedView
from frozenlab.app.views.view import View
from frozenlab.tasks.countdown.family import COUNTDOWN
from frozenlab.tasks.family import Family
from frozenlab.tasks.lake.family import LAKE
from frozenlab.tasks.mixed.config import MEMBERS
from frozenlab.tasks.mixed.family import MIXED

VIEWS: dict[str, type[View]] = {LAKE.name: LakeView, COUNTDOWN.name: CountdownView}


def view_of(family: Family) -> View:
    if family is MIXED:
        return MixedView({one.name: view_of(one) for one in MEMBERS})
    return VIEWS.get(family.name, View)(family)
