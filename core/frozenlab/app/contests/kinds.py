"""Cards of a contest: the students, and the kinds of task, a task of each that the student fails, to guess from and to lay tokens on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from frozenlab.app.ui.components import NODES, component
from frozenlab.app.ui.figures import overall_by_cell
from frozenlab.app.ui.once import once
from frozenlab.app.views.view import View
from frozenlab.app.views.views import view_of
from frozenlab.base.cells import in_order
from frozenlab.experiments.benchmark.results import SHIPPED, Result
from frozenlab.experiments.contests.store import Contest
from frozenlab.models.folders import LAB_MODEL
from frozenlab.tasks.families import cell_label
from frozenlab.tasks.lake.family import LAKE

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
    title, comma, more = label.partition(", ")
    if comma:
        return title, more
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


def student_cards(titles: Mapping[str, str], notes: Mapping[str, str], weaknesses: Mapping[str, dict[str, Any]], key: str) -> str:
    """To be clicked; returns the name of the student that is chosen, the first to begin with, which the session state holds as ``key``.

    Args:
        weaknesses: pictures of what students were taught wrong, of those whose reader knows it by now.
    """
    chosen: str = st.session_state.setdefault(key, next(iter(titles)))
    place = f"{key}-cards"

    def keep() -> None:
        st.session_state[key] = st.session_state[place].guessed

    students = [
        {"cell": name, "title": title, "says": f"Choose {title}", "more": notes[name], "alt": "", **weaknesses.get(name, portrait)}
        for (name, title), portrait in zip(titles.items(), portraits(len(titles)), strict=True)
    ]
    _kinds(key=place, data={"asks": True, "level": "h2", "kinds": students, "guess": chosen}, on_guessed_change=keep, height="content")
    return chosen


def weakness(contest: Contest) -> dict[str, Any]:
    """A task of those that the student was taught wrong, and failed before training, as a picture."""
    table = contest.base.validation(None) if contest.base else None
    return {} if table is None else failed(view_of(contest.spec.session.tasks), table[table["config_cell"].isin(contest.spec.weak)])


def portraits(count: int) -> list[dict[str, Any]]:
    """So many boards that the lab model fails, of which every student is a copy: no two alike, and none tells what a student was taught."""
    rows = once(lambda: Result(SHIPPED / LAB_MODEL.name).rows, "failed by the lab model")
    if rows is None:
        return [{"lines": ["?"], "fault": ""}] * count
    seen = rows[~rows["valid"] & rows["cell"].notna()]
    sizes, faults = sorted(seen["size"].unique()), seen["outcome"].value_counts().index
    kinds = [seen[(seen["size"] == sizes[n % len(sizes)]) & (seen["outcome"] == faults[n % len(faults)])] for n in range(count)]
    return [failed(view_of(LAKE), kind.iloc[len(kind) * n // count :]) for n, kind in enumerate(kinds)]


def guess_cards(contest: Contest, table: pd.DataFrame) -> None:
    """To be clicked; the kind that was is in the session state. ``table``: the student's answers before training."""
    key = f"contest-guessing-{contest.id}"

    def keep() -> None:
        st.session_state[guess_key(contest)] = st.session_state[key].guessed

    _kinds(key=key, data={"asks": True, "level": "h3", "kinds": cards(contest, table)}, on_guessed_change=keep, height="content")


def token_cards(contest: Contest, table: pd.DataFrame, guess: str | None) -> None:
    """With the rates, the guess, and the tokens, which are in the session state as they lie."""
    key = f"contest-laying-{contest.id}"

    def keep() -> None:
        st.session_state[tokens_key(contest)] = dict(st.session_state[key].laid)

    data = {"asks": False, "level": "h3", "kinds": cards(contest, table), "guess": guess, "laid": laid(contest), "tokens": TOKENS}
    _kinds(key=key, data=data, on_laid_change=keep, height="content")


def cards(contest: Contest, table: pd.DataFrame) -> list[dict[str, Any]]:
    rates, view = overall_by_cell(table), view_of(contest.spec.session.tasks)
    return [
        {"cell": cell, "title": titled(cell)[0], "more": titled(cell)[1], "rate": rate.value, "percent": rate.percent}
        | {"note": f"of {rate.n} right, {rate.percents}", "says": f"It was taught wrong about {titled(cell)[0]}"}
        | {"alt": f"A board of {titled(cell)[0]} on which its plan fails", **failed(view, table[table["config_cell"] == cell])}
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
