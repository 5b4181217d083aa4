"""The chosen results: headline, leaderboards, figures, and differences on the same boards."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape

import plotly.graph_objects as go
import streamlit as st
from plotly.subplots import make_subplots

from frozenlab.app.benchmark.lake.address import Change, View, follow
from frozenlab.app.benchmark.lake.lines import PAPER_SUITE, Line, Metric, as_table, ranked, teams
from frozenlab.app.benchmark.lake.tables import (
    cells_table,
    changes,
    changes_table,
    in_words,
    lead_to,
    leaderboard,
    more_table,
    scoreboard,
    team_title,
)
from frozenlab.app.ui import markup, theme
from frozenlab.app.ui.figures import (
    GRID_COLOR,
    TITLED,
    Chart,
    cell_axis,
    common_layout,
    dots,
    outcome_look,
    percent_axis,
    size_label,
    whiskers,
)
from frozenlab.app.ui.once import once
from frozenlab.base.files import as_csv
from frozenlab.base.numbers import percent
from frozenlab.experiments.benchmark.lake.paper_results import PaperResults
from frozenlab.experiments.benchmark.report import best_of
from frozenlab.experiments.benchmark.results import Result
from frozenlab.lake.suites import SUITES
from frozenlab.models.training.methods import title_of
from frozenlab.tasks.lake.words import OUTCOMES

APART, SPREAD = 0.1, 0.5
"""How far lines stand apart at one map size, and all of them together at most; of the distance of two sizes."""


def show_results(view: View, lines: Sequence[Line], found: Mapping[str, Result], paper: PaperResults, change: Change) -> None:
    """Everything about the chosen results, below what they show in a sentence."""
    scoreboard(
        [leaderboard(lines, agents, view.metric) for agents in teams(lines)], key="bench-leaders", label="Leaderboards", on_pick=follow
    )
    if view.paper:
        difference_to_paper(lines)
    by_size(lines, view)
    one_team(lines, view, change)
    difference({line.id: line for line in lines}, view, found, change)
    downloads(lines, view, paper)


def headline(lines: Sequence[Line], view: View) -> None:
    """The best of ours, and what the paper's best shown row has."""
    panels = teams([line for line in lines if line.ours])

    def all_means(line: Line) -> float:
        return sum(line.means[agents, view.metric].value for agents in panels if (agents, view.metric) in line.means)

    def in_percent(line: Line) -> str:
        return " / ".join(line.means[agents, view.metric].percent.removesuffix(" %") for agents in panels) + " %"

    best, theirs = (max((line for line in lines if line.ours is ours), key=all_means, default=None) for ours in (True, False))
    if best is None:
        return
    of = " / ".join(map(str, panels)) + (" agents" if panels != [1] else " agent")
    how = "solves" if view.metric == "valid" else "optimally solves"
    note = f"The best result chosen here ({title_of(best.method)}); means over the map sizes, intervals below."
    if theirs is not None:
        note += f" The best of the paper's rows, {theirs.name}, has {in_percent(theirs)} on the authors' boards."
    name = escape(best.name[:1].upper() + best.name[1:])
    markup.answer(f"{name} {how} <b>{in_percent(best)}</b> of boards with {of}.", escape(note))


def difference_to_paper(lines: Sequence[Line]) -> None:
    """Why our rows and the paper's are not the same test."""
    spec = SUITES[PAPER_SUITE]
    st.html(
        "<p class='fl-note'><b>Not the same test.</b> The paper's rows are about the authors' own boards; ours are about "
        f"{len(spec.cells) * spec.boards_per_cell:,} boards, {spec.boards_per_cell} a cell, that this project's generator drew in the "
        "same shape. The lab model is small, was trained on plans of the exact solver and answers in a language of its own; the paper's "
        "models are general language models that answer in English.</p>"
    )
    for guises in sorted({line.report.guises for line in lines if line.report} - {1}):
        st.html(
            f"<p class='fl-note'><b>Not one answer.</b> A row with <i>{best_of(guises)}</i> in its name counts the shortest legal one of "
            f"{guises} answers to each board. The paper's rows are single answers.</p>"
        )


def drawn(lines: Sequence[Line]) -> tuple[tuple[str, str, float], ...]:
    """What a figure of these lines depends on: their results and colours."""
    return tuple((line.id, line.color, line.report.created if line.report else 0.0) for line in lines)


def chart(drawn: Chart, key: str) -> None:
    """A plot with points that lead to their boards."""

    def picked() -> None:
        points = st.session_state[key]["selection"]["points"]
        if points and points[0].get("customdata") and points[0]["customdata"][0]:
            follow(points[0]["customdata"][0])

    theme.chart(drawn, key, on_select=picked, selection_mode="points")


def by_size(lines: Sequence[Line], view: View) -> None:
    st.header(
        "By map size", anchor=False,
        help="Ours: solid lines, filled signs. The paper: broken lines, hollow signs. Bars are 95 % intervals. A click on a point of ours "
        "shows its boards.",
    )  # fmt: skip
    chart(once(lambda: rates_figure(lines, view.metric), "benchmark rates", drawn(lines), view.metric), "rates")


def one_team(lines: Sequence[Line], view: View, change: Change) -> None:
    """Cells, faults and the other counts of one team size."""
    shown = teams(lines)
    head, switch = st.columns([3, 1], vertical_alignment="bottom")
    head.header(
        f"{team_title(view.agents)}: every cell, and what went wrong", anchor=False, help="A click on a figure shows the boards behind it."
    )
    if len(shown) > 1:
        st.session_state["bench-agents"] = view.agents
        switch.container(horizontal=True, horizontal_alignment="right").segmented_control(
            "Team size", shown, key="bench-agents", required=True, format_func=team_title, label_visibility="collapsed",
            on_change=lambda: change(agents=[str(st.session_state["bench-agents"])]),
        )  # fmt: skip
    scoreboard([cells_table(lines, view.agents, view.metric)], key="bench-cells", label="Rates by map size", on_pick=follow)
    if any(line.team(view.agents) for line in lines):
        left, right = st.columns([1, 1], gap="large")
        with left:
            st.markdown("**What became of the boards**")
            figure = once(lambda: outcomes_figure(lines, view.agents, view.metric), "outcomes", drawn(lines), view.agents, view.metric)
            chart(figure, "outcomes")
        with right:
            st.markdown("**What else was counted**")
            scoreboard([more_table(lines, view.agents, view.metric)], key="bench-more", label="What else was counted", on_pick=follow)


def difference(lines: Mapping[str, Line], view: View, found: Mapping[str, Result], change: Change) -> None:
    """Two results on the same boards."""
    if view.pair is None:
        return
    st.header("Two checkpoints on the same boards", anchor=False, help="Each board is compared with itself, which shows smaller changes.")
    pick = st.columns(2)
    for column, name, label, other in zip(pick, ("before", "after"), ("First", "Second"), reversed(view.pair), strict=True):
        key = f"bench-{name}"
        st.session_state[key] = view.pair[0 if name == "before" else 1]
        column.selectbox(
            label, [one for one in view.results if one != other], key=key, format_func=lambda one: f"{lines[one].sign} {lines[one].name}",
            on_change=lambda name=name, key=key: change(**{name: [st.session_state[key]]}),
        )  # fmt: skip
    before, after = (lines[name] for name in view.pair)
    if before.report.boards_sha256 != after.report.boards_sha256:  # type: ignore[union-attr]
        st.info("These two were measured on different boards, so that they cannot be compared board by board.")
        return
    old, new = (found[name].rows for name in view.pair)
    if old is None or new is None:
        st.info("The boards of one of them cannot be read, so that they cannot be compared board by board.")
        return
    measured = once(lambda: changes(old, new, view.metric), "benchmark changes", drawn([before, after]), view.metric)
    words, figures = st.columns([1, 1.1], gap="large", vertical_alignment="center")
    lines_of_words = (markup.plain(in_words(one, before.name, after.name, view.metric)) for one in measured)
    words.markdown("\n".join(f"- **{team_title(one.agents)}.** {line}" for one, line in zip(measured, lines_of_words, strict=True)))
    with figures:
        scoreboard([changes_table(measured, before, after)], key="bench-changes", label="Differences on the same boards", on_pick=follow)


def downloads(lines: Sequence[Line], view: View, paper: PaperResults) -> None:
    def as_json() -> str:
        content = {
            "suite": view.suite,
            "results": [json.loads(line.report.model_dump_json()) for line in lines if line.report],
            "paper": {"source": paper.source, "note": paper.note, "rows": [line.name for line in lines if not line.ours]},
        }
        return json.dumps(content, indent=1)

    with st.container(horizontal=True, vertical_alignment="center"):
        for label, data, mime, hint in (
            ("CSV", lambda: as_csv(as_table(lines, view.suite)), "text/csv", "All cells of all rows that are shown"),
            ("JSON", as_json, "application/json", "The reports of all results that are shown"),
        ):
            file, key = f"benchmark-{view.suite}.{label.lower()}", f"bench-{label.lower()}"
            st.download_button(label, data, file, mime, on_click="ignore", key=key, icon=":material/download:", help=hint)
        st.caption("The camera at the upper right of a figure saves it as SVG; beside it are PNG and its data.")


def rates_figure(lines: Sequence[Line], metric: Metric) -> Chart:
    """The rate by map size with its interval, a panel a team size: ours solid and filled, the paper's hollow and dashed.

    ``customdata`` of each point begins with the way to its boards, empty for the paper.
    """
    panels = teams(lines)
    figure = make_subplots(
        rows=1, cols=len(panels), shared_yaxes=True, horizontal_spacing=0.03, subplot_titles=[team_title(agents) for agents in panels]
    )
    named: set[str] = set()
    for column, agents in enumerate(panels, start=1):
        sizes = sorted({size for line in lines for size in line.sizes(agents)})
        shown = [line for line in lines if line.sizes(agents)]
        for place, line in enumerate(shown):
            shift = min(APART, SPREAD / len(shown)) * (place - (len(shown) - 1) / 2)
            rates = {size: line.cells[agents, size, metric] for size in line.sizes(agents)}
            trace = dots(
                (sizes.index(size) + shift for size in rates), list(rates.values()),
                f"{line.name} ({line.method})<br>{team_title(agents)}, %{{customdata[1]}}", metric,
                [(lead_to(line, agents, size), size_label(size)) for size in rates],
                error_y=whiskers(rates.values(), line.color, thickness=1.3, width=0), mode="lines+markers",
                line=dict(color=line.color, width=2 if line.ours else 1.4, dash=line.dash),
                marker=dict(color=line.color, size=9, symbol=line.symbol, line=dict(width=1.6, color=line.color)),
                name=line.name, legendgroup=line.id, showlegend=line.id not in named,
            )  # fmt: skip
            figure.add_trace(trace, row=1, col=column)
            named.add(line.id)
        cell_axis(figure, [str(size) for size in sizes], row=1, col=column)
    percent_axis(figure, "share of boards")
    common_layout(figure, height=290, top=TITLED)

    def mean(line: Line, agents: int) -> str:
        rate = line.means.get((agents, metric))
        return f"{team_title(agents)} {rate.percent if rate else 'not measured'}"

    means = "; ".join(f"{line.name}: " + ", ".join(mean(line, agents) for agents in panels) for line in lines)
    return Chart(figure, f"{metric} rate by map size, a panel a team size. Means: {means}.")


def outcomes_figure(lines: Sequence[Line], agents: int, metric: Metric) -> Chart:
    """What became of all boards of one team size, a stacked bar a result; ``customdata`` begins with the way to the boards it counts."""
    shown = [line for line in ranked(lines, agents, metric) if line.ours]
    teams_of = {line.id: team for line in shown if (team := line.team(agents))}
    counts = {name: {"optimal": team.optimal, "suboptimal": team.valid - team.optimal} | team.faults for name, team in teams_of.items()}
    figure = go.Figure()
    for outcome in (name for name in OUTCOMES if any(name in counted for counted in counts.values())):
        words = OUTCOMES[outcome].label
        boards = [counts[line.id].get(outcome, 0) for line in shown]
        n = [sum(counts[line.id].values()) for line in shown]
        figure.add_trace(
            go.Bar(
                y=[f"{line.sign} {line.name}" for line in shown], x=[had / of for had, of in zip(boards, n, strict=True)],
                orientation="h", name=words, marker=outcome_look(outcome, OUTCOMES[outcome]),
                customdata=[
                    [lead_to(line, agents, outcome=outcome), had, of, percent(had / of, of)]
                    for line, had, of in zip(shown, boards, n, strict=True)
                ],
                hovertemplate=f"%{{y}}<br><b>{words}</b>: %{{customdata[1]:,}} of %{{customdata[2]:,}} boards "
                "(%{customdata[3]})<extra></extra>",
            )
        )  # fmt: skip
    for line in shown:  # above its bar, so that a narrow screen has room for bars and legend
        name, sign = f"{line.sign} {line.name}", f'<span style="color:{line.color}">{line.sign}</span>'
        figure.add_annotation(x=0, y=name, text=f"{sign} {line.name}", showarrow=False, xanchor="left", yanchor="bottom", yshift=10)
    figure.update_xaxes(range=[0, 1], tickformat=".0%", gridcolor=GRID_COLOR, zeroline=False, title="share of boards")
    figure.update_yaxes(autorange="reversed", showgrid=False, showticklabels=False)
    common_layout(figure, height=70 + 50 * len(shown))
    figure.update_layout(barmode="stack", bargap=0.6, margin_r=24)
    shares = "; ".join(
        f"{line.name}: " + ", ".join(f"{OUTCOMES[name].label} {boards}" for name, boards in counts[line.id].items()) for line in shown
    )
    return Chart(figure, f"What became of the boards with {team_title(agents)}. {shares}.")
