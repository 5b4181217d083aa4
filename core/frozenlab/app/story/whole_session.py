"""The session as a whole: its forks, its path through the config space, and its rates over all stages."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import floor, nan
from typing import Literal

import plotly.graph_objects as go
import streamlit as st
from plotly.subplots import make_subplots

from frozenlab.app.session import evidence
from frozenlab.app.session.curves import rates_over_stages
from frozenlab.app.session.proposals import config_rows
from frozenlab.app.story.moment import Moment
from frozenlab.app.ui import markup, nav, sessions, theme
from frozenlab.app.ui.components.timeline import rates_by_stage, stage_name
from frozenlab.app.ui.figures import (
    AFTER_COLOR,
    ARM_COLORS,
    BEFORE_COLOR,
    BLUES,
    GRID_COLOR,
    REWARD_COLOR,
    SPACED,
    TITLED,
    Chart,
    common_layout,
    dots,
    whiskers,
)
from frozenlab.app.ui.once import once
from frozenlab.base.cells import Config, Settings, in_order
from frozenlab.base.numbers import board_by_board, number, percent, share
from frozenlab.engineer.measurements import sampled_valid
from frozenlab.experiments.replays.task import validated_stages
from frozenlab.session.session import Session
from frozenlab.session.state import State
from frozenlab.session.store import SessionStore
from frozenlab.tasks.families import cell_label, cells_noun, family_of
from frozenlab.tasks.family import Family
from frozenlab.tasks.words import Knob

OTHERS = ARM_COLORS[1:]
"""Of branches beside the one that is shown."""
MOST_DIFFERENCES = 6
"""Differences between a fork's config and its parent's that are listed."""
ROOM = 0.06
"""Of a ratio, around the points."""
LEAST = 0.32
"""Of a ratio, from end to end of an axis."""
WIDE = 0.45
"""An axis from this on has a tick at every fifth, not at every tenth."""
DOT, LETTER = 24, 5
"""Pixels across a point, and more for each further letter in it."""
Shade = Literal["valid rate", "learnability"]
SHADES: dict[Shade, str] = {"valid rate": "valid rate", "learnability": "mix of outcomes"}
"""What a point's colour can say, and how people read it."""
SHADE_HELP = (
    "Of the plans sampled in training. The mix of outcomes is p(1 − p): most where half of the plans hold, nothing where all do "
    "or none does, since then there is nothing to tell a good plan from a bad one."
)
STAGE = Knob("stage", "stage", "", 0, 1, 1, 0)
"""In the place of a knob where only one has moved: the map then shows it over the stages."""
Axes = tuple[Knob, Knob]
"""The knobs that span the map."""


def show_branches(session: Session) -> None:
    """The session with its forks, and with the sessions that it was forked from."""
    branches = family(session, sessions.store())
    if len(branches) == 1:
        return
    st.header("Branches", anchor=False, help=f"Forks share all up to the stage where they part. Intervals: 95 %, {session.suite} boards.")
    drawn, listed = st.columns([1.5, 1], gap="large")
    with drawn:
        theme.chart(branches_figure(branches, session.address), "branches")
    with listed:
        for branch in branches:
            parts = "the first session" if branch.stage is None else f"parts after {stage_name(branch.stage).lower()}"
            here = " · shown here" if branch.session.address == session.address else ""
            address = {"session": branch.session.address} | ({} if branch.stage is None else {"stage": str(branch.stage + 1)})
            st.page_link(nav.path("story"), label=f"{markup.plain(branch.session.title)} · {parts}{here}", query_params=address)
            if branch.session.spec.parent is not None and branch.stage is not None:
                parent = branch.session.spec.parent.session
                compare_branch(branch, next(known.session for known in branches if known.session.address == parent))


def compare_branch(branch: Branch, parent: Session) -> None:
    """How a fork went on from its parent, and what came of it on the same boards."""
    if differences := parted(branch, parent):
        st.caption(f"Then it trained with {', '.join(differences[:MOST_DIFFERENCES])}{', ...' if differences[MOST_DIFFERENCES:] else '.'}")
    there, here = (session.results(branch.session.spec.stages - 1) for session in (parent, branch.session))
    if there is not None and here is not None:
        change = board_by_board(there, here)
        st.caption(
            f"At the end {percent(change.after, change.n)} are valid instead of {percent(change.before, change.n)}. {change.sentence}"
        )


def show_map(moment: Moment) -> None:
    """Where the engineer has led the session."""
    session = moment.session
    axes, paths = once(lambda: ways(session), "story stops", moment.revision)
    if len({stop.stage for path in paths for stop in path}) < 2:
        return
    st.header(
        "The path through the config space", anchor=False,
        help="A point is a stage; arrows lead from stage to stage, and this stage is ringed. Click a point for its boards. " + SHADE_HELP,
    )  # fmt: skip
    asked, usual = st.query_params.get("shade"), next(iter(SHADES))
    shade = st.segmented_control(
        "Colour", SHADES, default=asked if asked in SHADES else usual, required=True, key="map-shade", label_visibility="collapsed",
        format_func=lambda shade: f"{SHADES[shade]} in training",
    )  # fmt: skip
    if shade != usual or asked is not None:
        st.query_params["shade"] = shade
    charts = once(
        lambda: [map_figure(path, pair, shade, moment.stage) for path, pair in zip(paths, axes, strict=True)],
        "story map", *moment.key, shade,
    )  # fmt: skip
    for key, drawn in zip(("config-map", *(f"config-map-{place}" for place in range(2, len(charts) + 1))), charts, strict=True):
        theme.chart(drawn, key, on_select=partial(follow_point, key), selection_mode="points")


def follow_point(chart: str) -> None:
    """A click on a point opens the boards that were drawn there."""
    points = st.session_state[chart]["selection"]["points"]
    if points:
        stage, cell, *_ = points[0]["customdata"]
        st.query_params["stage"], st.query_params[evidence.ASKED] = str(int(stage) + 1), f"S{cell}"


def show_stages(moment: Moment) -> None:
    """Valid rates of each cell over all stages."""
    session = moment.session
    moments = moment.every
    if len(moments) > 1:
        st.header(
            f"The whole session by {cells_noun(session.spec.initial_config.cells)}", anchor=False,
            help="Valid rate before training (0) and after each stage, with 95 % intervals.",
        )  # fmt: skip
        theme.chart(once(lambda: rates_over_stages(moments), "story stages", moment.revision), "over-stages")


@dataclass(frozen=True)
class Branch:
    """A session of the family."""

    session: Session
    state: State
    stage: int | None
    """The last stage that it has in common with its parent, 0-based; None for the first session."""


def family(session: Session, store: SessionStore) -> list[Branch]:
    """The first session and all that was forked from it or from its forks, in that order; the session alone if it has no relatives."""
    trunk = session
    while trunk.spec.parent is not None and (parent := sessions.readable(trunk.spec.parent.session, store)) is not None:
        trunk = parent
    found = [session if name == session.address else sessions.readable(name, store) for name in offspring(trunk.address, store.forked())]
    return [Branch(trunk, trunk.state(), None)] + [
        Branch(fork, fork.state(), fork.spec.parent.stage) for fork in found if fork is not None and fork.spec.parent is not None
    ]


def offspring(trunk: str, parents: Mapping[str, str]) -> Iterator[str]:
    """The ids of what was forked from ``trunk``, then of what was forked from these, and so on; ``parents`` are fork -> parent."""
    generation = {trunk}
    while generation:
        forks = [name for name, parent in parents.items() if parent in generation and name != trunk]
        yield from forks
        generation = set(forks)


def parted(branch: Branch, parent: Session) -> list[str]:
    """Where the config that the fork went on with differs from its parent's: ``5×5 hole ratio 20 % instead of 30 %``. Shares that moved by
    less than a point, because those of other cells did, are left out. Empty as long as one of them has not gone on."""
    assert branch.stage is not None
    there, here = (session.environment(branch.stage + 1) for session in (parent, branch.session))
    if there is None or here is None:
        return []
    moved = [row for row in config_rows(there.config, here.config) if abs(row.change) > (0.01 if row.knob == "share" else 0.0005)]
    return [
        f"{cell_label(row.cell)} {family_of(here.config.family).setting_label(row.knob)} {shown(row.after)} instead of {shown(row.before)}"
        for row in moved
    ]


def shown(value: float | None) -> str:
    return "none" if value is None else share(value)


def branches_figure(branches: Sequence[Branch], here: str) -> Chart:
    """The valid rate of every branch over its stages, from where it parts; the session ``here`` is drawn thick."""
    figure, spoken = go.Figure(), []
    for place, branch in enumerate(branches):
        thick = branch.session.address == here
        color = AFTER_COLOR if thick else OTHERS[place % len(OTHERS)]
        measured = {-1 if stage is None else stage: rate for stage, rate in rates_by_stage(branch.state).items()}
        stages = [stage for stage in sorted(measured) if branch.stage is None or thick or stage >= branch.stage]
        rates = [measured[stage] for stage in stages]
        name = branch.session.title
        trace = dots(
            (stage + 1 for stage in stages), rates, name, error_y=whiskers(rates, color, thickness=1.4),
            mode="lines+markers", name=name, marker=dict(size=11 if thick else 8, symbol="circle" if thick else "diamond-open"),
            line=dict(color=color, width=4 if thick else 2, dash="solid" if branch.stage is None or thick else "dash"),
        )  # fmt: skip
        figure.add_trace(trace)
        spoken.append(f"{name}: " + ", ".join(rate.percent for rate in rates))
    last = max(branch.session.spec.stages for branch in branches)
    figure.update_xaxes(tickvals=list(range(last + 1)), ticktext=["before", *(f"stage {n}" for n in range(1, last + 1))], showgrid=False)
    common_layout(figure, height=300)
    figure.update_yaxes(tickformat=".0%", gridcolor=GRID_COLOR, zeroline=False, nticks=6, title="valid plans")
    return Chart(figure, "Valid rate over the stages of each branch. " + "; ".join(spoken) + ".")


def ways(session: Session) -> tuple[tuple[Axes, ...], list[list[Stop]]]:
    """The maps of a session, and the stops on each."""
    configs = [drawn.config for stage in validated_stages(session) if (drawn := session.environment(stage)) is not None]
    rows = [row for old, new in pairwise(configs) for row in config_rows(old, new)]
    moved = frozenset(row.knob for row in rows if row.words != "same")
    axes = axes_of(session.spec.initial_config, moved)
    return axes, [stops(session, pair, moved) for pair in axes]


def axes_of(config: Config, moved: Collection[str] = ()) -> tuple[Axes, ...]:
    """The axes of its cells, each pair once: a map each. Cells of one family have the same."""
    family = family_of(config.family)
    found = dict.fromkeys(axes_of_cell(family, own, moved) for own in config.cells.values())
    return tuple(axes for axes in found if axes is not None)


def axes_of_cell(family: Family, own: Settings, moved: Collection[str] = ()) -> Axes | None:
    """Two of a cell's ratios and its share: those that ``moved`` come first, then ratios; one that moved alone over the stages. None: the
    cell has no ratio."""
    ratios = family.ratios_of(own)
    if not ratios:
        return None
    across, up = sorted([*ratios, "share"], key=lambda knob: knob not in moved)[:2]
    if len({*ratios, "share"} & {*moved}) == 1:
        return STAGE, family.knobs[across]
    return family.knobs[across], family.knobs[up]


@dataclass(frozen=True)
class Stop:
    """One cell in one stage."""

    stage: int
    cell: str
    share: float
    at: tuple[float, float]
    """The values of the two knobs."""
    boards: int
    valid: float | None
    """Valid rate of the plans sampled on its boards in the last third of the stage."""

    def shade(self, by: Shade) -> float:
        """NaN where no plan was sampled."""
        rate = nan if self.valid is None else self.valid
        return rate if by == "valid rate" else rate * (1 - rate)


def stops(session: Session, axes: Axes, moved: Collection[str] = ()) -> list[Stop]:
    """Of the cells with these axes, in every stage that has been validated, in the order of stages."""
    found = []
    across, up = axes
    for stage in validated_stages(session):
        drawn_from = session.environment(stage)
        if drawn_from is None:
            break
        metrics = session.metrics(stage)
        for name, own in drawn_from.config.cells.items():
            if axes_of_cell(session.spec.tasks, own, moved) != axes:
                continue
            sampled, drawn = sampled_valid(metrics, name), drawn_from.realised.get(name)
            boards = drawn.boards if drawn else 0
            rate = sampled[0] if sampled else None
            settings = own.settings() | {STAGE.name: stage + 1.0}
            found.append(Stop(stage, name, own.share, (settings[across.name], settings[up.name]), boards, rate))
    return found


def map_figure(path: Sequence[Stop], axes: Axes, by: Shade, here: int | None) -> Chart:
    """The map, a panel a cell, with arrows from stage to stage; the stage ``here`` is ringed. ``customdata`` of each point begins with
    its stage (0-based) and cell."""
    across, up = axes
    place = f"{up.label} %{{y:.0%}}" if across is STAGE else f"{across.label} %{{x:.0%}}, {up.label} %{{y:.0%}}"
    cells = in_order(stop.cell for stop in path)
    figure = make_subplots(
        rows=1, cols=len(cells), shared_yaxes=True, horizontal_spacing=0.012, subplot_titles=list(map(cell_label, cells))
    )
    shades = [stop.shade(by) for stop in path if stop.valid is not None]
    low, high = floor(10 * min(shades, default=0.0)) / 10, 1.0 if by == "valid rate" else 0.25
    for column, cell in enumerate(cells, start=1):
        own = [stop for stop in path if stop.cell == cell]
        draw_arrows(figure, own, column)
        shown = visited(own, here)
        figure.add_trace(
            go.Scatter(
                x=[stop.at[0] for stop, _ in shown],
                y=[stop.at[1] for stop, _ in shown],
                mode="markers+text",
                text=[numbers for _, numbers in shown],
                textposition="middle center",
                textfont=dict(size=12, color=["white" if stop.shade(by) > (low + 2 * high) / 3 else "#04101F" for stop, _ in shown]),
                marker=dict(
                    size=[DOT + LETTER * (len(numbers) - 1) for _, numbers in shown],
                    color=[stop.shade(by) for stop, _ in shown],
                    coloraxis="coloraxis",
                    opacity=1,
                    line=dict(width=[4 if stop.stage == here else 0 for stop, _ in shown], color=REWARD_COLOR),
                ),
                meta=["", "", "stage", "share of boards", "", "boards"],
                customdata=[
                    (stop.stage, stop.cell, stop.stage + 1, share(stop.share), rate_words(stop), stop.boards, cell_label(cell))
                    for stop, _ in shown
                ],
                hovertemplate=f"<b>%{{customdata[6]}}, stage %{{customdata[2]}}</b><br>{place}"
                "<br>share %{customdata[3]}, %{customdata[5]} boards<br>%{customdata[4]}<extra></extra>",
                showlegend=False,
                cliponaxis=False,
            ),
            row=1,
            col=column,
        )
    scale = dict(tickformat=".0%" if by == "valid rate" else ".2f", labelalias=SPACED)
    bar = dict(title=f"{SHADES[by]}<br>in training", thickness=12, len=0.95, **scale)
    figure.update_layout(coloraxis=dict(cmin=low, cmax=high, colorscale=BLUES, colorbar=bar))
    common_layout(figure, height=330, top=TITLED)
    for n, update in enumerate((figure.update_xaxes, figure.update_yaxes)):
        ends = span([stop.at[n] for stop in path])
        apart = 0.1 if ends[1] - ends[0] < WIDE else 0.2
        update(range=ends, tickformat=".0%", gridcolor=GRID_COLOR, zeroline=False, dtick=apart, tickangle=0)
    figure.update_xaxes(title=across.label)
    if across is STAGE:
        figure.update_xaxes(range=[0.4, max(stop.at[0] for stop in path) + 0.6], tickformat="d", dtick=1)
    figure.update_yaxes(title=up.label, col=1)
    way = "; ".join(spoken(path, axes, cell) for cell in cells)
    words = f"{SHADES[by]} of the plans sampled in training"
    return Chart(figure, f"Path through {across.label} and {up.label}, coloured by {words}: {way}.")


def span(values: Sequence[float]) -> tuple[float, float]:
    """The ends of an axis, with room around the points and for three ticks at the least."""
    middle = (min(values) + max(values)) / 2
    half = max((max(values) - min(values)) / 2 + ROOM, LEAST / 2)
    low = max(middle - half, -ROOM)
    return low, low + 2 * half


def draw_arrows(figure: go.Figure, own: Sequence[Stop], column: int) -> None:
    """From stage to stage, where the knobs moved."""
    axis = "" if column == 1 else str(column)
    for old, new in pairwise(own):
        if old.at != new.at:
            figure.add_annotation(
                x=new.at[0], y=new.at[1], xref=f"x{axis}", yref=f"y{axis}",
                ax=old.at[0], ay=old.at[1], axref=f"x{axis}", ayref=f"y{axis}",
                arrowhead=2, arrowwidth=2, arrowcolor=BEFORE_COLOR, standoff=DOT / 2 + 3, startstandoff=DOT / 2,
            )  # fmt: skip


def visited(own: Sequence[Stop], here: int | None) -> list[tuple[Stop, str]]:
    """One stop for each place on the way of a cell, the stage ``here`` or else the last one there, and the numbers of all stages that
    were there."""
    places: dict[tuple[float, float], list[Stop]] = {}
    for stop in own:
        places.setdefault(stop.at, []).append(stop)
    return [
        (max(there, key=lambda stop: (stop.stage == here, stop.stage)), ", ".join(str(stop.stage + 1) for stop in there))
        for there in places.values()
    ]


def rate_words(stop: Stop) -> str:
    if stop.valid is None:
        return "no plan sampled"
    return f"{percent(stop.valid)} of sampled plans valid, p(1 − p) = {number(stop.valid * (1 - stop.valid))}"


def spoken(path: Sequence[Stop], axes: Axes, cell: str) -> str:
    def place(stop: Stop) -> str:
        named = ((knob, value) for knob, value in zip(axes, stop.at, strict=True) if knob is not STAGE)
        return ", ".join(f"{knob.label} {share(value)}" for knob, value in named)

    return f"{cell_label(cell)} " + " then ".join(f"{place(stop)} ({rate_words(stop)})" for stop in path if stop.cell == cell)
