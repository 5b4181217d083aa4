"""How good is a checkpoint at the lake, compared with others and with the paper?"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from frozenlab.app.benchmark import measure
from frozenlab.app.benchmark.lake import address
from frozenlab.app.benchmark.lake.address import ALL, FAILED, FILTER_WORDS, FILTERS, GAINED, LOST, Boards, Change, View, behind, follow
from frozenlab.app.benchmark.lake.lines import Line, Metric, in_order, line_of, looks, paper_line
from frozenlab.app.benchmark.lake.results import headline as finding_in_words
from frozenlab.app.benchmark.lake.results import show_results
from frozenlab.app.benchmark.lake.tables import Cell, Head, Table, row_of, scoreboard, team_title
from frozenlab.app.ui import markup, nav, refusals, theme
from frozenlab.app.ui.figures import size_label
from frozenlab.app.ui.nav import TO_THE_TOP
from frozenlab.app.views.lake import share
from frozenlab.app.views.lake.pictures import board_gallery
from frozenlab.app.views.lake.player import board_player
from frozenlab.app.views.lake.preparing import optimal_paths
from frozenlab.app.views.lake.tracks import Track, recorded
from frozenlab.app.views.lake.view import MUST_WAIT, board_facts
from frozenlab.base.numbers import Interval
from frozenlab.experiments.benchmark.lake.paper_results import PaperResults, paper_results
from frozenlab.experiments.benchmark.lake.report import LakeReport
from frozenlab.experiments.benchmark.results import Result
from frozenlab.lake.board import Board
from frozenlab.lake.rules import judge_paths
from frozenlab.session.store import SessionStore
from frozenlab.tasks.lake.words import OUTCOMES

LEAD = "Models lead a team over the same frozen lakes, which none of them has practised on. How many of their plans work?"
A_PAGE = 12
"""Boards in the gallery at a time."""
Results = Mapping[str, Result]
"""By id: all results on the suite."""


def compare(opened: Sequence[Result], store: SessionStore) -> None:
    """Figures of the chosen results, or the boards behind one figure."""
    paper = paper_results()
    by_id = {result.id: result for result in opened}
    reports = in_order([result.report for result in opened if isinstance(result.report, LakeReport)])
    view = address.read(reports, paper, address.asked_now()) if reports else None
    if view is not None and view.boards is not None:
        show_boards(view, by_id, reports)
    else:
        show_figures(view, by_id, reports, paper, store)


def show_boards(view: View, found: Mapping[str, Result], reports: Sequence[LakeReport]) -> None:
    """The boards behind a figure of the view."""
    (action,) = theme.head("Which boards are behind the figure?", "", 3.7, 0.6)
    action.button("All figures", key="bench-back", icon=":material/arrow_back:", on_click=address.leave, width="stretch")
    address.write(view)
    here = {report.id: found[report.id] for report in reports if report.suite == view.suite}
    ink = theme.palette().text
    shown = [report for report in reports if report.id in view.results]
    look = looks([report for report in reports if report.id in here and report not in shown], ink) | looks(shown, ink)
    lines = {report.id: line_of(report, look[report.id]) for report in reports if report.id in here}
    assert view.boards is not None
    show(view.boards, lines, here, view.metric)


def show_figures(
    view: View | None, found: Mapping[str, Result], reports: Sequence[LakeReport], paper: PaperResults, store: SessionStore
) -> None:
    """The results that the reader compares; ``view`` is None while nothing has been measured."""
    (action,) = theme.head("How good is a checkpoint?", LEAD, 3.7, 0.6)
    with action:
        measure.button(store, reports)
    measure.under_way(store, address.add)
    if view is None:
        nothing_yet(store)
        return
    address.write(view)
    change: Change = partial(address.go, reports, paper)
    offered = {report.id: report for report in reports if report.suite == view.suite}
    finding = st.container()
    address.choose_results(view, reports, offered, paper, change)
    look = looks([offered[name] for name in view.results], theme.palette().text)
    lines = [*(line_of(offered[name], look[name]) for name in view.results), *(paper_line(name, paper) for name in view.paper)]
    if view.unknown:
        st.warning("Not on this machine, and so not shown: " + ", ".join(markup.plain(name) for name in view.unknown))
    if lines:
        with finding:
            finding_in_words(lines, view)
        show_results(view, lines, found, paper, change)
    else:
        st.info("Choose a result above.")


def nothing_yet(store: SessionStore) -> None:
    """The empty state: what to do, and the button that does it."""
    st.info("No checkpoint has been measured yet. The lab model on the suite *quick* takes under a minute and fills this page.")
    st.button(
        "Measure the lab model", type="primary", key="measure-first", on_click=measure.start, args=("lab-model", "quick", store),
        **refusals.changes(),
    )  # fmt: skip


def show(asked: Boards, lines: Mapping[str, Line], results: Results, metric: Metric) -> None:
    """The whole view: what the boards say together, the boards to choose from, and the chosen one."""
    st.html(f"<script>{TO_THE_TOP}</script>", unsafe_allow_javascript=True)
    line, table = lines[asked.of], results[asked.of].rows
    if table is None:
        st.error("The boards behind this result cannot be read; its figures can.")
        return
    other = results[asked.versus].rows if asked.versus else None
    headline(asked, line, table)
    found = behind(table, asked.agents, asked.size, asked.outcome, metric, other)
    pick, hero = theme.bench(1, 2.1)
    with pick:
        beside = narrow(asked, lines, table)
        chosen = gallery(asked, found)
    with hero:
        if chosen is None:
            st.info("There is no such board. Choose another outcome or map size.")
        else:
            one_board(asked, chosen, beside, lines, results)


def headline(asked: Boards, line: Line, table: pd.DataFrame) -> None:
    """The figure that these boards are behind, in a sentence."""
    of_cell = behind(table, asked.agents, asked.size, ALL, "valid", None)
    solved, best = (Interval.of(int(of_cell[name].sum()), len(of_cell)) for name in ("valid", "optimal"))
    where = f"with {team_title(asked.agents)}" + (f" on {size_label(asked.size)}" if asked.size else " on all map sizes")
    name = escape(line.name[:1].upper() + line.name[1:])
    markup.answer(
        f"{name} solves <b>{int(of_cell['valid'].sum()):,} of {len(of_cell):,}</b> boards {where}.",
        f"{solved.percent} valid (95 % interval {solved.percents}), {best.percent} optimal ({best.percents}).",
    )


def narrow(asked: Boards, lines: Mapping[str, Line], table: pd.DataFrame) -> list[str]:
    """The filters. They show what the address says and write to it. Returns the other results with plans on show."""

    def choice(place: DeltaGenerator, field: str, label: str, options: Sequence[Any], words: Callable[[Any], str]) -> None:
        key = f"bench-boards-{field}"
        st.session_state[key] = getattr(asked, field) or ALL

        def chosen() -> None:
            value: Any = st.session_state[key]
            changed: dict[str, Any] = {field: None if field == "size" and value == ALL else value}
            follow(replace(asked, **changed).code)

        place.selectbox(label, options, key=key, format_func=words, on_change=chosen)

    of_team = table[table["agents"] == asked.agents]
    sizes = [ALL, *sorted(int(size) for size in of_team["size"].unique())]
    seen = {*of_team["outcome"], asked.outcome, ALL, "valid", "optimal", FAILED, *((GAINED, LOST) if asked.versus else ())}
    outcomes = dict(FILTER_WORDS)
    if asked.versus is not None:
        other = lines[asked.versus].name
        outcomes |= {GAINED: f"solved, not by {other}", LOST: f"not solved, but by {other}"}
    choice(st.container(), "of", "Answers of", list(lines), lambda name: lines[name].name)
    beside = others_beside(asked, lines)
    team, size = st.columns(2)
    choice(team, "agents", "Agents", sorted(int(agents) for agents in table["agents"].unique()), str)
    choice(size, "size", "Map size", sizes, lambda size: "all" if size == ALL else size_label(size))
    choice(st.container(), "outcome", "Which of them", [name for name in FILTERS if name in seen], outcomes.__getitem__)
    return beside


def others_beside(asked: Boards, lines: Mapping[str, Line]) -> list[str]:
    """Whose plans for the same board are shown too; at first that of the result that is compared with, or of the last one."""
    others = [name for name in lines if name != asked.of and same_boards(lines[name], lines[asked.of])]
    if not others:
        return []
    key = "bench-beside"
    first = [asked.versus] if asked.versus in others else others[-1:]
    st.session_state[key] = first if asked.beside is None else [name for name in asked.beside if name in others]
    return st.multiselect(
        "Beside it, on the same board", others, format_func=lambda name: lines[name].name, key=key, placeholder="nobody",
        max_selections=address.MOST_BESIDE, on_change=lambda: follow(replace(asked, beside=tuple(st.session_state[key])).code),
    )  # fmt: skip


def gallery(asked: Boards, found: pd.DataFrame) -> pd.Series | None:
    """Small pictures of the boards, a page of them at a time; returns the row of the chosen board."""
    if found.empty:
        return None
    ids = list(found["board_id"])
    place = ids.index(asked.board) if asked.board in ids else 0
    pages = -(-len(ids) // A_PAGE)
    key = f"bench-page-{asked.of}-{asked.agents}-{asked.size}-{asked.outcome}-{asked.versus}"
    st.caption(f"{len(ids):,} boards" + (f", {A_PAGE} a page" if pages > 1 else ""))
    slot = st.container()
    number = st.pagination(pages, default=place // A_PAGE + 1, max_visible_pages=5, key=key) if pages > 1 else 1
    first = (min(number, pages) - 1) * A_PAGE
    shown = found.iloc[first : first + A_PAGE]
    several = asked.size is None
    items = [
        (Board.from_dict(json.loads(row["board"])), (f"{size_label(row['size'])}, " if several else "") + OUTCOMES[row["outcome"]].label)
        for _, row in shown.iterrows()
    ]
    with slot:
        board_gallery(
            items, key="bench-gallery", size=96, default=place - first,
            on_pick=lambda i: follow(replace(asked, board=str(shown.iloc[i]["board_id"])).code),
        )  # fmt: skip
    return found.iloc[place]


def one_board(asked: Boards, row: pd.Series, beside: Sequence[str], lines: Mapping[str, Line], results: Results) -> None:
    """The board with the plan of the result and those of others."""
    board = Board.from_dict(json.loads(row["board"]))
    code = share.encode(board)
    facts, link = st.columns([4.5, 1], vertical_alignment="center")
    link.page_link(nav.path("play"), label="Play this board", query_params={"board": code})
    waits = None if pd.isna(row["needs_wait"]) else bool(row["needs_wait"])
    with facts:
        board_facts(board, whole(row["optimal_makespan"]), whole(row["optimal_sum_of_costs"]), MUST_WAIT[waits])
    answers = {asked.of: row}
    for name in beside:
        if (table := results[name].rows) is not None:
            answers[name] = table[table["board_id"] == row["board_id"]].iloc[0]
    tracks: list[Track] = [recorded(answer, lines[name].name) for name, answer in answers.items()]
    best = optimal_paths(code)
    if beside and best is not None:
        tracks.append(Track("optimal plan", best, judge_paths(board, best, int(row["optimal_makespan"]))))
    board_player(board, tracks, key="bench-board", ghost=best, height=420)
    scoreboard([plans_table(answers, lines)], key="bench-plans", label="The plans in figures")
    with st.expander(f"To the letter: the answer{'s' if len(answers) > 1 else ''} to board {markup.plain(str(row['board_id']))}"):
        for name, answer in answers.items():
            guise = answer.get("guise")
            told = f", written about rotation or reflection {guise + 1} of the board" if pd.api.types.is_integer(guise) and guise else ""
            st.caption(markup.plain(f"{lines[name].name}{told}"))
            st.code(answer["completion"] or " ", language=None, wrap_lines=True)


def same_boards(one: Line, other: Line) -> bool:
    return one.report is not None and other.report is not None and one.report.boards_sha256 == other.report.boards_sha256


def plans_table(answers: Mapping[str, pd.Series], lines: Mapping[str, Line]) -> Table:
    """One row a plan, with the optimum."""
    rows = []
    for name, answer in answers.items():
        line = lines[name]
        cells = (
            Cell(OUTCOMES[answer["outcome"]].label),
            Cell(whole(answer["makespan"]) if answer["valid"] else "–", f"best {whole(answer['optimal_makespan'])}"),
            Cell(whole(answer["sum_of_costs"]) if answer["valid"] else "–", f"best {whole(answer['optimal_sum_of_costs'])}"),
            Cell(f"{round(answer['on_goal'] * answer['agents'])} of {answer['agents']}"),
            Cell(str(answer["tokens"])),
        )
        rows.append(row_of(line, cells))
    heads = (
        Head(""), Head("outcome", "The first fault, or whether a valid plan is optimal"), Head("steps"), Head("sum of costs"),
        Head("agents on goal", "Where the ways end, whatever rule they break"),
        Head("tokens", "Length of the answer, or of all answers where the best one counts"),
    )  # fmt: skip
    return Table("", heads, tuple(rows), wide=True)


def whole(value: object) -> str:
    return "–" if pd.isna(value) else f"{int(value)}"  # type: ignore[call-overload]
