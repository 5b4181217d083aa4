"""Planners of the field on Play: which plan each finds of the board on the page in some seconds, side by side."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise

import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from frozenlab.app import allowances
from frozenlab.app.play.state import look, state, turn_to
from frozenlab.app.ui import markup, theme
from frozenlab.app.ui.figures import ARM_COLORS, BEFORE_COLOR, GRID_COLOR, Chart, common_layout, round_step
from frozenlab.app.views.lake import preparing
from frozenlab.app.views.lake.tracks import Track, followed
from frozenlab.base.errors import LabError
from frozenlab.lake.board import Board
from frozenlab.lake.planners import PLANNERS, Found, Planner

AT_FIRST = ["lacam", "lns"]
MOST = 4
"""Planners side by side."""
PAUSE = 0.3
"""Seconds from one look at a search that runs to the next at the least."""
PROMISES = {
    "pibt": "nothing; it is the quickest",
    "prioritized": "nothing; it tries other orders while time lasts",
    "lacam": "a plan, or a proof that there is none",
    "lacam-star": "a plan, or a proof that there is none; then cheaper ones while time lasts",
    "lns": "the plan of LaCAM, then cheaper ones while time lasts; it proves none the smallest",
    "ecbs": "a sum of costs within a factor of the smallest",
    "exact": "the smallest sum of costs, given time",
}
"""By the name of the planner."""


@dataclass(frozen=True)
class Search:
    """What planners are asked."""

    board: Board
    names: tuple[str, ...]
    seconds: float
    """For each."""
    seed: int


def search_controls(board: Board, actions: DeltaGenerator) -> Search:
    """Which planners search, and for how long."""
    names = st.multiselect(
        f"Planners (up to {MOST})", list(PLANNERS), AT_FIRST, key="play_searchers", persist_state="session", max_selections=MOST,
        format_func=lambda name: PLANNERS[name].title,
        help="  \n".join(f"**{planner.title}** promises {PROMISES[planner.name]}." for planner in PLANNERS.values()),
    )  # fmt: skip
    seconds = st.slider("Seconds for each", 1, 60, 5, key="play_seconds", persist_state="session")

    def asked() -> None:
        state.play_search_asked = True
        turn_to("watch")
        look()

    actions.button("Let them search", type="primary", key="play_plan", on_click=asked, disabled=not names, help="In turn. Key: M")
    return Search(board, tuple(names), float(seconds), state.get("play_seed", 0))


def due(search: Search) -> Search | None:
    """The search, if a reader asked for it."""
    return search if state.get("play_search_asked") and search.names else None


def found_on(board: Board) -> dict[str, list[Found]]:
    """What each planner of the last search found of the board, as it came."""
    searched, found = state.get("play_found", (None, {}))
    return found if searched == board else {}


def tracks_of(board: Board, optimum: int | None) -> list[Track]:
    """The best plan of each planner."""
    tracks = []
    for name, history in found_on(board).items():
        best = history[-1]
        paths, verdict = (None, None) if best.plan is None else followed(board, best.plan, optimum)
        tracks.append(Track(PLANNERS[name].title, paths, verdict, best.cost if best.proven else None))
    return tracks


def search_now(search: Search, smallest: int | None, waiting: DeltaGenerator) -> None:
    """Lets the planners search one after the other, each plan as it comes, and draws the page again. What a reader does meanwhile ends it;
    plans that were found are kept. ``smallest``: sum of costs, if it is known."""
    found: dict[str, list[Found]] = {}
    state.play_search_asked = False
    state.play_found, state.play_search_failed = (search.board, found), ""
    preparing.wait_for("planners", place=waiting)
    place = waiting.empty()
    try:
        for name in search.names:
            allowances.spend(allowances.SOLVED)
            search_with(PLANNERS[name], search, found, smallest, place)
    except LabError as error:
        state.play_search_failed = str(error)
    st.rerun()


def search_with(planner: Planner, search: Search, found: dict[str, list[Found]], smallest: int | None, place: DeltaGenerator) -> None:
    """Adds to ``found`` what a planner finds, and says now and then in ``place`` how far it is. A search that ends before its time without
    a plan, because the reader or an error ends it, has found nothing out and is no entry."""
    looked, history = -PAUSE, [Found()]

    def note(now: Found) -> None:
        nonlocal looked
        history.append(now)
        if now.plan is not None:
            found[planner.name] = history
        if now.seconds >= looked + PAUSE:
            looked = now.seconds
            known = words(now, best_bound([*found.values(), history], smallest))
            place.progress(min(1.0, now.seconds / search.seconds), f"{planner.title}, {now.seconds:.1f} s: {known}")

    place.progress(0.0, f"{planner.title} searches")
    history.append(planner.plan(search.board, search.seconds, search.seed, note))
    found[planner.name] = history


def best_bound(histories: Iterable[list[Found]], smallest: int | None) -> int:
    """The best lower bound that is proven: what the exact solver knows as the ``smallest``, else the highest of the planners."""
    return smallest or max(history[-1].lower_bound for history in histories)


def words(found: Found, bound: int) -> str:
    """What is known of the best plan so far."""
    if found.unsolvable:
        return "no plan; this is proven"
    if found.cost is None:
        return "no plan yet"
    return f"sum of costs {found.cost:,}, {replace(found, lower_bound=bound).quality}"


def show_found(board: Board, smallest: int | None) -> None:
    """The planners on this board: what each found, and how its plan became cheaper. ``smallest``: sum of costs, if it is known."""
    if state.get("play_search_failed"):
        st.error(markup.plain(f"The search ended: {state.play_search_failed}"))
    if not (histories := found_on(board)):
        return
    bound = best_bound(histories.values(), smallest)
    st.header("Planners on this board", anchor=False)
    head = [
        ("planner", ""), ("promises", ""), ("first plan after", ""), ("sum of costs", "of the steps at which the agents are home for good"),
        ("against the bound", "the proven lower bound: no plan has a smaller sum of costs"),
        ("makespan", "the step at which the last agent is home for good"), ("best plan after", ""),
    ]  # fmt: skip
    rows = [
        [escape(PLANNERS[name].title), PROMISES[name], *(escape(part) for part in figures(history, bound))]
        for name, history in histories.items()
    ]
    numbers = ("first plan after", "sum of costs", "makespan", "best plan after")
    st.html(markup.table("Planners on this board", head, rows, "fl-cards", numbers))
    if any(len(plans_of(history)) > 1 for history in histories.values()):
        theme.chart(improvement(histories, smallest), key="play-improvement")


def plans_of(history: list[Found]) -> list[Found]:
    """The first report of each plan."""
    return [now for before, now in pairwise(history) if now.cost is not None and now.cost != before.cost]


def figures(history: list[Found], bound: int = 0) -> tuple[str, str, str, str, str]:
    """First plan after, sum of costs, how good that is by the best lower ``bound``, makespan, and after how long it was found."""
    plans, best = plans_of(history), history[-1]
    if not plans:
        return "–", "–", "no plan; this is proven" if best.unsolvable else f"no plan in {best.seconds:.1f} s", "–", "–"
    first, last, quality = plans[0], plans[-1], replace(best, lower_bound=max(best.lower_bound, bound)).quality
    return f"{first.seconds:.2f} s", f"{best.cost:,}", quality, f"{best.makespan:,}", f"{last.seconds:.2f} s"


def improvement(histories: dict[str, list[Found]], smallest: int | None = None) -> Chart:
    """The sum of costs of each planner's best plan, over the seconds of its search. ``smallest``: of the board, if it is known."""
    bound = best_bound(histories.values(), smallest)
    figure = go.Figure()
    for color, (name, history) in zip(ARM_COLORS, histories.items(), strict=False):
        plans = plans_of(history)
        if plans:
            seconds, costs = [found.seconds for found in plans], [found.cost for found in plans]
            line = dict(color=color, shape="hv")
            figure.add_scatter(
                x=[*seconds, history[-1].seconds], y=[*costs, costs[-1]], name=PLANNERS[name].title, mode="lines+markers", line=line
            )
    reached = any(history[-1].cost == bound for history in histories.values())
    label = f"{bound:,}: proved smallest" if reached else f"lower bound {bound:,}: no plan is cheaper"
    dotted = dict(dash="dot", color=BEFORE_COLOR)
    figure.add_hline(bound, line=dotted, annotation_text=label, annotation_position="bottom right")  # where no line comes
    common_layout(figure, 260)
    marks = [first * 10.0**power for power in range(-3, 3) for first in (1, 3)]
    figure.update_xaxes(title="seconds, on a logarithmic scale", type="log", tickvals=marks, gridcolor=GRID_COLOR)
    dearest = max(now.cost for history in histories.values() for now in plans_of(history) if now.cost is not None)
    figure.update_yaxes(title="sum of costs", gridcolor=GRID_COLOR, tick0=0, dtick=round_step((dearest - bound) / 5), tickformat=",")
    said = [f"{PLANNERS[name].title} ends with {words(history[-1], bound)}" for name, history in histories.items()]
    return Chart(figure, f"The sum of costs of the best plan so far over time, on a logarithmic scale. {'; '.join(said)}.")
