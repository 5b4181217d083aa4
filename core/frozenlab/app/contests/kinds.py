"""The kinds of task of a contest as cards: a task of each that the student fails, to guess from, and to lay tokens on."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import streamlit as st

from frozenlab.app.ui.components import NODES, component
from frozenlab.app.ui.figures import overall_by_cell
from frozenlab.app.views.view import View
from frozenlab.app.views.views import view_of
from frozenlab.base.cells import in_order
from frozenlab.experiments.contests.store import Contest
from frozenlab.tasks.families import cell_label

TOKENS = 10
"""To lay on the kinds of task; each is a tenth of the practice."""
BOARD = re.compile(r"(?:(\d+) on )?(\d+×\d+)(?: (\w.*))?")

_kinds = component(__file__, "kinds", '<section class="kinds"></section>', code=NODES)


def titled(cell: str) -> tuple[str, str]:
    """A kind of task for those who do not know the lab's short names: what it is called, and what there is to add.

    >>> titled("3@corridor6"), titled("2@9"), titled("numbers2")
    (('Corridor', '3 agents on 6×6'), ('2 agents on 9×9', ''), ('Countdown', '2 numbers'))
    """
    label = cell_label(cell)
    if label.endswith("numbers"):
        return "Countdown", label
    if (parts := BOARD.fullmatch(label)) is None:
        return label, ""
    team, size, layout = parts.groups()
    where = f"{team} agents on {size}" if team else size
    return (layout.capitalize(), where) if layout else (where, "")


def task_name(cell: str) -> str:
    """
    >>> task_name("3@corridor6"), task_name("2@9")
    ('Corridor (3 agents on 6×6)', '2 agents on 9×9')
    """
    title, more = titled(cell)
    return f"{title} ({more})" if more else title


def guess_key(contest: Contest) -> str:
    return f"contest-guess-{contest.id}"


def tokens_key(contest: Contest) -> str:
    return f"contest-tokens-{contest.id}"


def laid(contest: Contest) -> dict[str, int]:
    """The tokens that lie on each kind of task now."""
    known = st.session_state.get(tokens_key(contest), {})
    return {cell: int(known.get(cell, 0)) for cell in in_order(contest.spec.session.initial_config.cells)}


def guess_cards(contest: Contest, table: pd.DataFrame) -> None:
    """To be clicked; the kind that was is in the session state. ``table``: the student's answers before training."""
    key = f"contest-guessing-{contest.id}"

    def keep() -> None:
        st.session_state[guess_key(contest)] = st.session_state[key].guessed

    _kinds(key=key, data={"asks": True, "kinds": cards(contest, table)}, on_guessed_change=keep, height="content")


def token_cards(contest: Contest, table: pd.DataFrame, guess: str | None) -> None:
    """With the rates, the guess, and the tokens, which are in the session state as they lie."""
    key = f"contest-laying-{contest.id}"

    def keep() -> None:
        st.session_state[tokens_key(contest)] = dict(st.session_state[key].laid)

    data = {"asks": False, "kinds": cards(contest, table), "guess": guess, "laid": laid(contest), "tokens": TOKENS}
    _kinds(key=key, data=data, on_laid_change=keep, height="content")


def cards(contest: Contest, table: pd.DataFrame) -> list[dict[str, Any]]:
    rates, view = overall_by_cell(table), view_of(contest.spec.session.tasks)
    return [
        {"cell": cell, "title": titled(cell)[0], "more": titled(cell)[1], "rate": rate.value, "percent": rate.percent}
        | {"note": f"of {rate.n} right, {rate.percents}", **failed(view, table[table["config_cell"] == cell])}
        for cell in in_order(rates)
        for rate in [rates[cell]]
    ]


def failed(view: View, rows: pd.DataFrame) -> dict[str, Any]:
    """A task of these that was failed, as a picture; one where the fault can be seen if there is any."""
    wrong = rows[~rows["valid"]]
    if wrong.empty:
        return {"lines": ["It failed none."], "fault": ""}
    seen = wrong[wrong[[name for name in ("cell", "steps") if name in wrong]].notna().any(axis=1)]
    row = (wrong if seen.empty else seen).iloc[0]
    return {**view.still(row), "fault": view.family.outcomes[row["outcome"]].label}
