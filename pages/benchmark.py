"""Benchmark: how good is a checkpoint, beside others and beside the paper?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from pathlib import Path

import streamlit as st

from frozenlab.benchmark.page import boards as benchmark_boards
from frozenlab.benchmark.page import measure as benchmark_measure
from frozenlab.benchmark.page.address import NOBODY, View, asked_now, follow, go, leave, read, suites, write
from frozenlab.benchmark.page.comparison import (
    METRICS,
    MOST_RESULTS,
    PAPER_SUITE,
    Line,
    as_table,
    changes,
    in_order,
    in_words,
    line_of,
    looks,
    paper_line,
    paper_models,
    teams,
)
from frozenlab.benchmark.page.figures import outcomes_figure, rates_figure
from frozenlab.benchmark.page.tables import cells_table, changes_table, leaderboard, more_table, team_title
from frozenlab.benchmark.paper_results import PaperResults, paper_results
from frozenlab.benchmark.report import Report, Result, results
from frozenlab.lake.suites import SUITES
from frozenlab.ui import markup, nav, sessions, theme
from frozenlab.ui.chart import Chart
from frozenlab.ui.components.scoreboard import scoreboard
from frozenlab.ui.figures import percent

state = st.session_state


def changed(result: Result) -> tuple[int, ...]:
    """When the files of a result were written last."""
    files = (result.dir / name for name in ("report.json", "boards.parquet"))
    return tuple(file.stat().st_mtime_ns if file.exists() else 0 for file in files)


@st.cache_resource(max_entries=200, show_spinner=False)
def opened(folder: str, changed: tuple[int, ...]) -> Result:
    """A result that is read once for all readers, as long as its files are not ``changed``."""
    return Result(Path(folder))


# --- choosing --------------------------------------------------------------------------------------------------------


def choose_suite(view: View, reports: Sequence[Report]) -> None:
    state["bench-suite"] = view.suite
    st.selectbox(
        "Suite", suites(reports), key="bench-suite", format_func=benchmark_measure.suite_label,
        on_change=lambda: change(suite=[state["bench-suite"]], result=[]),
        help="A fixed set of held-out boards. Only results on the same suite are laid beside each other.",
    )  # fmt: skip


def choose(view: View, here: Mapping[str, Report], paper: PaperResults) -> None:
    """What is compared, and by which rate."""
    rows = view.suite == PAPER_SUITE
    ours, theirs, rate = st.columns([1.9, 1.9, 1] if rows else [3.8, 0.01, 1], vertical_alignment="top")
    titles = {name: report.title for name, report in here.items()}
    double = {title for title in titles.values() if list(titles.values()).count(title) > 1}
    state["bench-results"] = list(view.results)
    ours.multiselect(
        "Results", list(titles), key="bench-results", max_selections=MOST_RESULTS, placeholder="choose checkpoints",
        format_func=lambda name: f"{titles[name]} ({name})" if titles[name] in double else titles[name],
        on_change=lambda: change(result=state["bench-results"] or [NOBODY]),
        help="Checkpoints that have been measured on this suite. Measure others with the button at the upper right.",
    )  # fmt: skip
    if rows:
        state["bench-paper"] = list(view.paper)
        theirs.multiselect(
            "Rows of the paper", paper_models(paper), key="bench-paper", placeholder="none",
            on_change=lambda: change(paper=state["bench-paper"] or [NOBODY]),
        )  # fmt: skip
    state["bench-metric"] = view.metric
    rate.segmented_control(
        "Rate", METRICS, key="bench-metric", required=True, on_change=lambda: change(metric=[state["bench-metric"]]),
        help="Valid: every agent arrives and no rule is broken. Optimal: that, in the fewest steps possible.",
    )  # fmt: skip


# --- the figures -----------------------------------------------------------------------------------------------------


def headline(lines: Sequence[Line], view: View) -> None:
    """The best of ours, and what the paper's best shown row has."""
    panels = teams([line for line in lines if line.ours])

    def all_means(line: Line) -> float:
        return sum(line.means[agents, view.metric].value for agents in panels if (agents, view.metric) in line.means)

    def told(line: Line) -> str:
        return " / ".join(percent(line.means[agents, view.metric].value).removesuffix(" %") for agents in panels) + " %"

    best, theirs = (max((line for line in lines if line.ours is ours), key=all_means, default=None) for ours in (True, False))
    if best is None:
        return
    of = " / ".join(map(str, panels)) + (" agents" if panels != [1] else " agent")
    how = "solves" if view.metric == "valid" else "optimally solves"
    note = f"The best result chosen here ({best.method}); means over the map sizes, intervals below."
    if theirs is not None:
        note += f" The best of the paper's rows, {theirs.name}, has {told(theirs)} on the authors' boards."
    name = escape(best.name[:1].upper() + best.name[1:])
    st.html(f'<p class="fl-answer">{name} {how} <b>{told(best)}</b> of boards with {of}.</p><p class="fl-note">{escape(note)}</p>')


def difference_to_paper() -> None:
    """What has to be known before ours and the paper's rows are laid beside each other."""
    spec = SUITES[PAPER_SUITE]
    st.html(
        "<p class='fl-note'><b>Not the same test.</b> The paper's rows are about the authors' own boards; ours are about "
        f"{len(spec.cells) * spec.boards_per_cell:,} boards, {spec.boards_per_cell} a cell, that this project's generator drew anew in the "
        "same shape. The lab model is small, was trained on plans of the exact solver and answers in a language of its own; the paper's "
        "models are general language models that answer in English.</p>"
    )


def chart(drawn: Chart, key: str) -> None:
    """A plot whose points lead to their boards."""

    def picked() -> None:
        points = state[key]["selection"]["points"]
        if points and points[0].get("customdata") and points[0]["customdata"][0]:
            follow(points[0]["customdata"][0])

    theme.chart(drawn, key, on_select=picked, selection_mode="points")


def by_size(lines: Sequence[Line], view: View) -> None:
    st.subheader(
        "By map size", anchor=False,
        help="Ours: solid lines, filled signs. The paper: broken lines, hollow signs. Bars are 95 % intervals. A click on a point of ours "
        "shows its boards.",
    )  # fmt: skip
    chart(rates_figure(lines, view.metric), "rates")


def one_team(lines: Sequence[Line], view: View) -> None:
    """Cells, faults and the other counts of one team size."""
    shown = teams(lines)
    head, switch = st.columns([3, 1], vertical_alignment="bottom")
    head.subheader(
        f"{team_title(view.agents)}: every cell, and what went wrong", anchor=False, help="A click on a figure shows the boards behind it."
    )
    if len(shown) > 1:
        state["bench-agents"] = view.agents
        switch.container(horizontal=True, horizontal_alignment="right").segmented_control(
            "Team size", shown, key="bench-agents", required=True, format_func=team_title, label_visibility="collapsed",
            on_change=lambda: change(agents=[str(state["bench-agents"])]),
        )  # fmt: skip
    scoreboard([cells_table(lines, view.agents, view.metric)], key="bench-cells", label="Rates by map size", on_pick=follow)
    if any(line.team(view.agents) for line in lines):
        left, right = st.columns([1, 1], gap="large")
        with left:
            st.markdown("**What became of the boards**")
            chart(outcomes_figure(lines, view.agents, view.metric), "outcomes")
        with right:
            st.markdown("**What else was counted**")
            scoreboard([more_table(lines, view.agents, view.metric)], key="bench-more", label="What else was counted", on_pick=follow)


def difference(lines: Mapping[str, Line], view: View, found: Mapping[str, Result]) -> None:
    """Two results on the same boards."""
    if view.pair is None:
        return
    st.subheader(
        "Two checkpoints on the same boards", anchor=False, help="Each board is compared with itself, which tells smaller changes."
    )
    pick = st.columns(2)
    for column, name, label, other in zip(pick, ("before", "after"), ("First", "Second"), reversed(view.pair), strict=True):
        key = f"bench-{name}"
        state[key] = view.pair[0 if name == "before" else 1]
        column.selectbox(
            label, [one for one in view.results if one != other], key=key, format_func=lambda one: f"{lines[one].sign} {lines[one].name}",
            on_change=lambda name=name, key=key: change(**{name: [state[key]]}),
        )  # fmt: skip
    before, after = (lines[name] for name in view.pair)
    if before.report.boards_sha256 != after.report.boards_sha256:  # type: ignore[union-attr]
        st.info("These two were measured on different boards, so that they cannot be compared board by board.")
        return
    tables = [found[name].rows for name in view.pair]
    if tables[0] is None or tables[1] is None:
        st.info("The boards of one of them cannot be read, so that they cannot be compared board by board.")
        return
    told = changes(tables[0], tables[1], view.metric)
    words, figures = st.columns([1, 1.1], gap="large", vertical_alignment="center")
    lines_of_words = (markup.plain(in_words(change, before.name, after.name, view.metric)) for change in told)
    words.markdown("\n".join(f"- **{team_title(change.agents)}.** {line}" for change, line in zip(told, lines_of_words, strict=True)))
    with figures:
        scoreboard([changes_table(told, before, after)], key="bench-changes", label="Differences on the same boards", on_pick=follow)


def downloads(lines: Sequence[Line], view: View, paper: PaperResults) -> None:
    def as_json() -> str:
        told = {
            "suite": view.suite,
            "results": [json.loads(line.report.model_dump_json()) for line in lines if line.report],
            "paper": {"source": paper.source, "note": paper.note, "rows": [line.name for line in lines if not line.ours]},
        }
        return json.dumps(told, indent=1)

    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "CSV", lambda: as_table(lines, view.suite).to_csv(index=False), f"benchmark-{view.suite}.csv", "text/csv", on_click="ignore",
            key="bench-csv", icon=":material/download:", help="All cells of all rows that are shown",
        )  # fmt: skip
        st.download_button(
            "JSON", as_json, f"benchmark-{view.suite}.json", "application/json", on_click="ignore", key="bench-json",
            icon=":material/download:", help="The reports of all results that are shown",
        )  # fmt: skip
        st.caption("The camera at the upper right of a figure saves it as SVG.")


def figures(view: View, lines: Sequence[Line], found: Mapping[str, Result], paper: PaperResults) -> None:
    headline(lines, view)
    scoreboard(
        [leaderboard(lines, agents, view.metric) for agents in teams(lines)], key="bench-leaders", label="Leaderboards", on_pick=follow
    )
    if view.paper:
        difference_to_paper()
    by_size(lines, view)
    one_team(lines, view)
    difference({line.id: line for line in lines}, view, found)
    downloads(lines, view, paper)


# --- the page --------------------------------------------------------------------------------------------------------

nav.ensure_nav()
store, paper = sessions.store(), paper_results()
everything = [opened(str(result.dir), changed(result)) for result in results(store)]
found = {result.id: result for result in everything if result.report is not None}
reports = in_order([result.report for result in found.values() if result.report is not None])
change = partial(go, reports, paper)
view = read(reports, paper, asked_now()) if reports else None

if view is not None and view.boards is not None:
    head, action = st.columns([3.7, 0.6], vertical_alignment="bottom")
    with head:
        theme.question("Which boards are behind the figure?")
    markup.styles()
    action.button("All figures", key="bench-back", icon=":material/arrow_back:", on_click=leave, width="stretch")
    write(view)
    here = {report.id: found[report.id] for report in reports if report.suite == view.suite}
    ink = theme.palette().text
    shown = [report for report in reports if report.id in view.results]
    look = looks([report for report in reports if report.id in here and report not in shown], ink) | looks(shown, ink)
    lines = {name: line_of(report, look[name]) for name in here if (report := here[name].report)}
    benchmark_boards.show(view.boards, lines, here, view.metric)
else:
    head, picker, action = st.columns([2.4, 1.3, 0.6], vertical_alignment="bottom")
    with head:
        theme.question("How good is a checkpoint?")
    markup.styles()
    with action:
        benchmark_measure.button(store, reports)
    benchmark_measure.under_way(store)
    if view is None:
        benchmark_measure.nothing_yet(store)
    else:
        write(view)
        with picker:
            choose_suite(view, reports)
        offered = {report.id: report for report in reports if report.suite == view.suite}
        choose(view, offered, paper)
        look = looks([offered[name] for name in view.results], theme.palette().text)
        ours = [line_of(offered[name], look[name]) for name in view.results]
        compared = [*ours, *(paper_line(name, paper) for name in view.paper)]
        if view.unknown:
            st.warning("Not on this machine, and so not shown: " + ", ".join(markup.plain(name) for name in view.unknown))
        if compared:
            figures(view, compared, found, paper)
        else:
            st.info("Choose a result above.")
for problem in [problem for result in everything for problem in result.problems]:
    st.warning(f"A result is damaged; the rest is shown. {markup.plain(problem)}")
