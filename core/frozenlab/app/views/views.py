"""The view of each task family. A family that draws its tasks has a line here; others are shown as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from frozenlab.app.ui.figures import Series
from frozenlab.app.views.countdown import CountdownView
from frozenlab.app.views.lake.view import LakeView
from frozenlab.app.views.view import Shown, View
from frozenlab.tasks.countdown.family import COUNTDOWN
from frozenlab.tasks.families import cell_label
from frozenlab.tasks.family import Family
from frozenlab.tasks.lake.family import LAKE
from frozenlab.tasks.mixed.config import MEMBERS
from frozenlab.tasks.mixed.family import MIXED, rows_of


class MixedView(View):
    """Lists name the cell of each task; the chosen one is shown as its family shows it."""

    def __init__(self, views: Mapping[str, View]) -> None:
        super().__init__(MIXED)
        self.views = views
        """Name of a family -> its view."""

    def rules(self) -> None:
        """The families have theirs."""

    def columns(self, rows: pd.DataFrame) -> pd.DataFrame:
        outcomes = [self.views[family].family.outcomes[name].label for family, name in zip(rows["family"], rows["outcome"], strict=True)]
        return pd.DataFrame({"task": rows["board_id"].to_numpy(), "cell": list(map(cell_label, rows["config_cell"])), "outcome": outcomes})

    def showcase(self, before: pd.DataFrame, after: pd.DataFrame) -> str | None:
        """One of the first family that has one."""
        found = (view.showcase(rows_of(before, family), rows_of(after, family)) for family, view in self.views.items())
        return next((board_id for board_id in found if board_id is not None), None)

    def play(self, shown: Sequence[Shown], **options: Any) -> None:
        self.views[shown[0].row["family"]].play(shown, **options)

    def still(self, row: pd.Series) -> dict[str, Any]:
        return self.views[row["family"]].still(row)

    def show(self, shown: Shown, before: Series | None, **options: Any) -> None:
        self.views[shown.row["family"]].show(shown, before, **options)


VIEWS: dict[str, type[View]] = {LAKE.name: LakeView, COUNTDOWN.name: CountdownView}


def view_of(family: Family) -> View:
    if family is MIXED:
        return MixedView({one.name: view_of(one) for one in MEMBERS})
    return VIEWS.get(family.name, View)(family)
