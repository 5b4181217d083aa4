"""How a page shows tasks and answers: a list to choose from and the chosen one, in plain text unless the family draws them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from frozenlab.app.ui import markup
from frozenlab.app.ui.figures import Series
from frozenlab.base.cells import in_order
from frozenlab.session.session import Session
from frozenlab.tasks.family import Family
from frozenlab.tasks.words import Outcome

MOST_TASKS = 60
"""Rows of a list; a filter narrows it down further than scrolling would."""
BOOKKEEPING = ("board_id", "config_cell", "completion", "outcome", "valid", "optimal", "fault", "training_step", "reward", "tokens")
"""Columns that say nothing about the task itself."""


class Shown(NamedTuple):
    """One answer to a task."""

    row: pd.Series
    """Of a table of judged answers."""
    label: str

    def at(self, moment: Series | None) -> Shown | None:
        """The answer to the same task at another moment; None if there is none."""
        if moment is None:
            return None
        rows = moment.validation[moment.validation["board_id"] == self.row["board_id"]]
        return None if rows.empty else Shown(rows.iloc[0], moment.label)


class Player(NamedTuple):
    """What plays answers in a browser: JavaScript that defines ``class Player``, its HTML and its CSS."""

    code: str
    html: str
    style: str


class View:
    """Tasks and answers as text. A family that draws its own overrides these methods."""

    player = Player("", "", "")
    """Of a family whose :meth:`plain` gives what a player takes; empty for others."""

    def __init__(self, family: Family) -> None:
        self.family = family

    @property
    def idea(self) -> str:
        """What the model learns, in a sentence for readers who are new to it."""
        return self.family.aim

    def rules(self) -> None:
        """The part of the Help page about these tasks: what a good answer is, and what can be wrong with one."""
        st.header(f"The rules of {self.family.name}", anchor=f"rules-{self.family.name}")
        st.markdown(f"{self.family.aim} **What can go wrong.** Every chart uses these words and colours.")
        st.html(self.rules_table())

    def rules_table(self) -> str:
        """The family's faults, and the rules that they break."""
        rows = [(swatch(fault), escape(fault.rule)) for fault in self.family.outcomes.values() if fault.rule]
        return markup.table("Faults and the rules that they break", [("fault", ""), ("the rule that it breaks", "")], rows)

    def columns(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The columns of a list of answers, one row each."""
        about = [name for name in self.family.columns if name not in BOOKKEEPING]
        return rows[["board_id", *about]].assign(outcome=[self.family.outcomes[name].label for name in rows["outcome"]])

    def in_order(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The rows as a list begins with them."""
        place = {cell: number for number, cell in enumerate(in_order(rows["config_cell"]))}
        return rows.sort_values("config_cell", key=lambda cells: cells.map(place), kind="stable")

    def showcase(self, before: pd.DataFrame, after: pd.DataFrame) -> str | None:
        """The id of a task that shows best what training did: it failed before and is solved optimally after."""
        both = before[["board_id", "valid"]].merge(after[["board_id", "optimal"]], on="board_id")
        turned = both[~both["valid"] & both["optimal"]]
        return None if turned.empty else str(turned["board_id"].iloc[0])

    def turned(self, session: Session, task: str = "") -> tuple[pd.Series, pd.Series, int] | None:
        """The answers of a session to the task that shows best what its training did, before training and after the last measured stage,
        and the number of that stage from 1; None if there is no such task.

        Args:
            task: the id of another one that it failed on before and solves after.
        """
        stages = [stage for stage in range(session.spec.stages) if session.results(stage) is not None]
        before, after = session.results(None), session.results(stages[-1]) if stages else None
        if before is None or after is None or (task and task not in turned_tasks(before, after)):
            return None
        if not (task := task or self.showcase(before, after) or ""):
            return None
        first, last = (table[table["board_id"] == task].iloc[0] for table in (before, after))
        return first, last, stages[-1] + 1

    def play(self, shown: Sequence[Shown], *, key: str, height: int, autoplay: bool = False) -> None:
        """Answers to one task, side by side."""
        for answer, place in zip(shown, st.columns(len(shown)), strict=True):
            about = ", ".join(str(answer.row[name]) for name in self.family.columns if name not in BOOKKEEPING)
            place.markdown(f"**{markup.plain(about)}** · {answer.label}: {self.family.outcomes[answer.row['outcome']].label}")
            place.code(answer.row["completion"] or " ", language=None, wrap_lines=True)

    def plain(self, shown: Sequence[Shown]) -> dict[str, Any]:
        """Answers to one task as a talk shows them without a server: ``{"texts": [{"label", "badge", "good", "text"}]}``, or what
        :attr:`player` plays."""
        outcomes = self.family.outcomes
        return {
            "texts": [
                {
                    "label": answer.label,
                    "badge": outcomes[answer.row["outcome"]].label,
                    "good": outcomes[answer.row["outcome"]].valid,
                    "text": answer.row["completion"] or "",
                }
                for answer in shown
            ]
        }

    def still(self, row: pd.Series) -> dict[str, Any]:
        """An answer as a small picture: ``{"svg": text}``, or ``{"lines": [text]}``, first the task."""
        about = ", ".join(str(row[name]) for name in self.family.columns if name not in BOOKKEEPING)
        return {"lines": [about, row["completion"] or ""]}

    def address_of(self, row: pd.Series) -> dict[str, str]:
        """What Play's address says of the task of a row; nothing where Play has no such tasks."""
        return {}

    def pick(self, rows: pd.DataFrame, counts: str, *, key: str, height: int = 430, first: str | None = None) -> pd.Series:
        """The list of ``rows`` (at least one; rows of a validation or completions table) and the row that is chosen.

        Args:
            counts: how many tasks of which kind, for the line below the list.
            first: the id of the row that is chosen before the reader chooses; the first one for None, or if it is not listed.
        """
        shown = rows.head(MOST_TASKS)
        if key not in st.session_state:  # the list comes up anew
            ids = [] if first is None else list(shown["board_id"])
            st.session_state[f"{key}-first"] = ids.index(first) if first in ids else 0
        chosen = markup.grid(
            self.columns(shown),
            key=key,
            height=markup.table_height(len(shown), height),
            on_select="rerun",
            selection_mode="single-row-required",
            selection_default={"selection": {"rows": [st.session_state[f"{key}-first"]]}},
            placeholder="–",
            alt="Boards with their outcome",
        )
        st.caption(counts + (f", the first {MOST_TASKS} listed" if len(rows) > MOST_TASKS else "") + ".")
        picked = chosen["selection"]["rows"]
        return shown.iloc[picked[0] if picked else st.session_state[f"{key}-first"]]

    def show(
        self, shown: Shown, before: Series | None, *, key: str, every: Sequence[Series] = (), height: int = 430, autoplay: bool = False
    ) -> None:
        """One answer; next to it that of an earlier moment to the same task.

        Args:
            every: all moments of the session, for views that can show them at once.
        """
        earlier = shown.at(before)
        self.play([shown] if earlier is None else [earlier, shown], key=key, height=height, autoplay=autoplay)


def turned_tasks(before: pd.DataFrame, after: pd.DataFrame) -> list[str]:
    """The ids of the tasks that are not solved in the first table and are in the second."""
    both = before[["board_id", "valid"]].merge(after[["board_id", "valid"]], on="board_id", suffixes=("", "_after"))
    return [str(name) for name in both[~both["valid"] & both["valid_after"]]["board_id"]]


def word_by_word(row: pd.Series) -> None:
    """The model's answer as it wrote it, to be unfolded."""
    with st.expander("The model's answer, word by word"):
        st.code(row["completion"] or " ", language=None, wrap_lines=True)


def swatch(outcome: Outcome) -> str:
    """An outcome in its colour and its words."""
    return f'<span style="color:{outcome.color}" aria-hidden="true">■</span> {escape(outcome.label)}'
