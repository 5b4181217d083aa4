"""Two to twelve runs side by side: curves, paired results, a board that all were measured on, and what differs in their settings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from html import escape
from itertools import accumulate
from math import nan
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from plotly.subplots import make_subplots

from frozenlab.app.session.curves import METRICS, SMOOTH, curve_controls
from frozenlab.app.ui import markup, nav, sessions, theme
from frozenlab.app.ui.components.timeline import rates_by_stage, stage_name
from frozenlab.app.ui.figures import ARM_COLORS, GRID_COLOR, SYMBOLS, Chart, band, common_layout, dots, overall, percent_axis, whiskers
from frozenlab.app.ui.once import once
from frozenlab.app.views.view import Shown
from frozenlab.app.views.views import view_of
from frozenlab.base.files import as_csv
from frozenlab.base.numbers import MANY, counted, percent, share
from frozenlab.engineer.engineers import name_of
from frozenlab.models.training.methods import title_of
from frozenlab.session.runs import Measured, measured, names_of, pairs, shared, uncorrected, without_seed
from frozenlab.session.session import Session
from frozenlab.tasks.families import cell_label, family_of

LEFT_OUT = ("schema_version", "title", "initial_config", "parent")
"""Fields of a spec that say nothing about a difference: the config of each stage is compared on its own."""
NOTHING = "–"
Axis = Literal["step", "stage", "boards", "time"]
AXES: dict[Axis, str] = {"step": "training step", "stage": "stage", "boards": "training boards seen", "time": "minutes of training"}
SEEDS_MEAN = "seeds-mean"
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def side_by_side(found: Sequence[Session]) -> None:
    names = names_of(found)
    results = [one for session, name in zip(found, names, strict=True) if (one := measured(session, name)) is not None]
    cards(found, names, results)
    left, right = st.columns([1.5, 1], gap="large")
    with left:
        curves(found, names)
    with right:
        paired(results)
    boards(results)
    settings(found, names)
    take_along(results)
    for session in found:
        sessions.problems(session)


def look(number: int) -> tuple[str, str, str]:
    """Colour, dash and symbol of a run or a group by its number; from the seventh on the colours come again, with other dashes."""
    again = number // len(ARM_COLORS)
    place = number % len(ARM_COLORS)
    return ARM_COLORS[place], DASHES[(place + again) % len(DASHES)], SYMBOLS[(place + again) % len(SYMBOLS)]


def cards(found: Sequence[Session], names: Sequence[str], results: Sequence[Measured]) -> None:
    """Each run with its colour, its result and the way to its story."""
    by_id = {one.session.id: one for one in results}
    places = theme.places(len(found), len(ARM_COLORS))
    for number, (column, session, name) in enumerate(zip(places, found, names, strict=True)):
        color, one = look(number)[0], by_id.get(session.id)
        if one is None:
            result = '<p class="fl-note">no results yet</p>'
        else:
            now = one.rates["valid"]
            result = (
                f'<p class="fl-answer">{now.percent} <small>valid</small></p>'
                f'<p class="fl-note">{now.percents} (95 %), n = {now.n:,} {session.suite} boards, {one.after}</p>'
            )
        column.html(f'<p><span style="color:{color}" aria-hidden="true">■</span> <b>{escape(name)}</b></p>{result}')
        with column:
            st.caption(markup.plain(sessions.set_up(session.spec)))
            if session.labels.pinned:
                st.badge("pinned", icon=":material/push_pin:", color="gray", help="The baseline: the others are compared with it.")
            sessions.answers_badge(session)
        column.page_link(nav.path("story"), label="Story", query_params={"session": session.id})


def curves(found: Sequence[Session], names: Sequence[str]) -> None:
    head, choice = st.columns([1, 1.2], vertical_alignment="bottom")
    head.header(
        "Learning",
        anchor=False,
        help="Marks: results on test boards (validation boards where a run has no test), with 95 % intervals. "
        "Lines: sampled training plans, a running mean.",
    )
    axis = choice.segmented_control(
        "Along", list(AXES), default="step", key="along", bind="query-params", required=True,
        format_func=lambda name: {"boards": "boards seen"}.get(name, name), label_visibility="collapsed",
    )  # fmt: skip
    measured_by = tuple((str(session.dir), name, session.revision()) for session, name in zip(found, names, strict=True))
    tables = once(lambda: [table for session in found for table in tables_of(session)], "runs tables", *measured_by)
    metric, smooth = curve_controls(tables)
    seeds = groups_of(found)
    mean = any(len(group) > 1 for group in seeds) and st.toggle(
        "Mean over seeds", key=SEEDS_MEAN,
        help="Runs that differ in nothing but their seed are one line, with a band from the lowest to the highest.",
    )  # fmt: skip
    named = dict(zip(names, found, strict=True))
    chart = once(
        lambda: over_seeds(seeds, axis, metric, smooth) if mean else overlay(list(named.items()), axis, metric, smooth),
        "runs overlay", axis, metric, smooth, mean, *measured_by,
    )  # fmt: skip
    theme.chart(chart, f"overlay-{axis}")


def take_along(results: Sequence[Measured]) -> None:
    """The last results as a table for a paper."""
    if not results:
        return
    table = for_papers(results)
    with st.container(horizontal=True):
        for kind, data, name in (
            ("CSV", partial(as_csv, table), "runs.csv"),
            ("LaTeX", partial(table.to_latex, index=False, escape=True), "runs.tex"),
        ):
            st.download_button(f"Results as {kind}", data, name, on_click="ignore", key=f"runs-{kind}", icon=":material/download:")


def for_papers(results: Sequence[Measured]) -> pd.DataFrame:
    """The last results of each run, with 95 % intervals and n."""
    rows = []
    for one in results:
        spec, (valid, optimal) = one.session.spec, one.rates.values()
        about = {"run": one.name, "method": title_of(spec.training.method), "engineer": name_of(spec.engineer.kind), "seed": spec.seed}
        about |= {"measured": one.after, "boards": one.session.suite, "n": valid.n}
        rates = {"valid": valid.percent, "valid, 95 %": valid.percents, "optimal": optimal.percent, "optimal, 95 %": optimal.percents}
        rows.append(about | rates)
    return pd.DataFrame(rows)


def groups_of(found: Sequence[Session]) -> list[list[Session]]:
    """The runs, those that differ in nothing but seed and title together."""
    groups: dict[str, list[Session]] = {}
    for session in found:
        groups.setdefault(session.spec.but("title", "seed"), []).append(session)
    return list(groups.values())


def place(session: Session, axis: Axis, stage: int, step: float) -> float:
    """Where a training step of a stage (0-based) stands on the axis."""
    training = session.spec.training
    if axis == "stage":
        return stage + step / training.steps
    return (stage * training.steps + step) * (training.boards_per_step if axis == "boards" else 1)


def tables_of(session: Session) -> list[pd.DataFrame]:
    """The figures of each stage, one row per step."""
    return [session.metrics(stage) for stage in range(session.spec.stages)]


def minutes(tables: Sequence[pd.DataFrame]) -> list[float]:
    """When each stage has ended, and first of all 0: training alone, in minutes."""
    seconds = (float(table["seconds"].sum()) if "seconds" in table else 0.0 for table in tables)
    return list(accumulate((one / 60 for one in seconds), initial=0.0))


def over_steps(session: Session, axis: Axis, metric: str = "reward", smooth: int = SMOOTH) -> pd.DataFrame:
    """The figures of all stages with their place ``x`` and running means of ``valid`` and ``metric``, which begin anew at every stage."""
    found, tables = [], tables_of(session)
    begins = minutes(tables)
    for stage, table in enumerate(tables):
        if len(table):
            means = table.reindex(columns=["valid", metric]).astype(float).rolling(smooth, min_periods=1).mean()
            if axis == "time":
                x = begins[stage] + table.get("seconds", pd.Series(nan, table.index)).cumsum() / 60
            else:
                x = pd.Series([place(session, axis, stage, step) for step in table["step"]], table.index)
            found.append(means.assign(x=x))
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=["valid", metric, "x"], dtype=float)


def ends_of(session: Session, axis: Axis) -> list[float]:
    """Where training begins, and where each stage ends."""
    if axis == "time":
        return minutes(tables_of(session))
    return [place(session, axis, stage, session.spec.training.steps) for stage in range(-1, session.spec.stages)]


def overlay(runs: Sequence[tuple[str, Session]], axis: Axis, metric: str = "reward", smooth: int = SMOOTH) -> Chart:
    """Valid rate and ``metric`` of each named run. Lines are running means of the sampled plans; marks are the held-out results with 95 %
    intervals."""
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.07, row_heights=[0.62, 0.38])
    spoken, mixed, lowest = [], len({session.suite for _, session in runs}) > 1, [1.0]
    for number, (name, session) in enumerate(runs):
        (color, dash, symbol), curve, checks = look(number), over_steps(session, axis, metric, smooth), rates_by_stage(session.state())
        for row, column in enumerate(("valid", metric), start=1):
            figure.add_trace(training_line(curve, column, number, name), row=row, col=1)
        rates, ends = list(checks.values()), ends_of(session, axis)
        lowest += [rate.low for rate in rates] + curve["valid"].dropna().tolist()
        checked = dots(
            (ends[0 if stage is None else stage + 1] for stage in checks), rates,
            name, f"valid on {session.suite} boards", error_y=whiskers(rates, color),
            mode="lines+markers", name=f"{name}, {session.suite} boards" if mixed else name, legendgroup=str(number),
            line=dict(color=color, width=1.2, dash=dash),
            marker=dict(symbol=symbol, size=11, color=color, line=dict(width=1.2, color="white")),
        )  # fmt: skip
        figure.add_trace(checked, row=1, col=1)
        spoken.append(f"{name}: " + (", ".join(rate.percent for rate in rates) or "not measured"))
    frame_overlay(figure, [session for _, session in runs], axis, metric, min(lowest))
    return Chart(figure, f"Measured valid rates of {len(runs)} runs by {AXES[axis]}. " + "; ".join(spoken) + ".")


def training_line(curve: pd.DataFrame, column: str, number: int, name: str) -> go.Scatter:
    """A figure of the training steps of the run or group with this number and name."""
    color, dash, _ = look(number)
    return go.Scatter(
        x=curve["x"], y=curve[column], mode="lines", line=dict(color=color, width=2.2, dash=dash), opacity=0.75,
        name=f"{name}: {words_of(column)} while training", legendgroup=str(number), showlegend=False,
        hovertemplate=f"{name}<br>{words_of(column)} %{{y:{'.0%' if column == 'valid' else '.3~g'}}}<extra></extra>",
    )  # fmt: skip


def words_of(column: str) -> str:
    return METRICS.get(column, column)


def frame_overlay(figure: go.Figure, found: Sequence[Session], axis: Axis, metric: str, lowest: float) -> None:
    """The scales of both panels."""
    end = max(ends_of(session, axis)[-1] for session in found) or 1.0
    figure.update_xaxes(showgrid=False, range=[-0.02 * end, 1.02 * end])
    figure.update_xaxes(title_text=AXES[axis], row=2, col=1)
    percent_axis(figure, "valid plans", lowest, row=1, col=1)
    figure.update_yaxes(title_text=words_of(metric), gridcolor=GRID_COLOR, zeroline=False, row=2, col=1)
    common_layout(figure, height=410)


def over_seeds(groups: Sequence[Sequence[Session]], axis: Axis, metric: str = "reward", smooth: int = SMOOTH) -> Chart:
    """The mean over the seeds of each group, step by step, with a band from the lowest to the highest; marks are means of the held-out
    results."""
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.07, row_heights=[0.62, 0.38])
    spoken, lowest = [], [1.0]
    for number, group in enumerate(groups):
        (color, dash, symbol), name = look(number), f"{without_seed(group[0].title)}, {counted(len(group), 'seed')}"
        curves = [over_steps(session, axis, metric, smooth) for session in group]
        shared = min(map(len, curves))
        steps = pd.concat([curve[:shared] for curve in curves]).groupby(level=0)
        mean, least, most = steps.mean(), steps.min(), steps.max()
        lowest += least["valid"].dropna().tolist()
        for row, column in enumerate(("valid", metric), start=1):
            if shared:
                around = band(mean["x"].tolist(), least[column].tolist(), most[column].tolist())
                figure.add_trace(around.update(fillcolor=color, opacity=0.18, showlegend=False), row=row, col=1)
            figure.add_trace(training_line(mean, column, number, name), row=row, col=1)
        rates = [rates_by_stage(session.state()) for session in group]
        known = [stage for stage in rates[0] if all(stage in own for own in rates)]
        ends = np.mean([ends_of(session, axis) for session in group], axis=0)
        means = [float(np.mean([own[stage].value for own in rates])) for stage in known]
        places = [ends[0 if stage is None else stage + 1] for stage in known]
        marks = go.Scatter(
            x=places, y=means, mode="markers+lines", name=name, legendgroup=str(number),
            line=dict(color=color, width=1.2, dash=dash), marker=dict(symbol=symbol, size=11, color=color),
            hovertemplate=f"{name}<br>mean <b>%{{y:.1%}}</b> valid on {group[0].suite} boards<extra></extra>",
        )  # fmt: skip
        figure.add_trace(marks, row=1, col=1)
        spoken.append(f"{name}: " + (", ".join(percent(mean, MANY) for mean in means) or "not measured"))
    frame_overlay(figure, [session for group in groups for session in group], axis, metric, min(lowest))
    figure.update_layout(showlegend=True)  # a group alone says how many seeds it has, too
    return Chart(figure, f"Means over seeds of the measured valid rates by {AXES[axis]}. " + "; ".join(spoken) + ".")


def paired(results: Sequence[Measured]) -> None:
    """Each pair of runs on the boards that both were measured on."""
    st.header(
        "On the same boards", anchor=False,
        help="The last results of each two runs on the boards that both were measured on, and the exact McNemar test.",
    )  # fmt: skip
    compared = pairs(results)
    one_to_many = len(compared) < len(results) * (len(results) - 1) // 2
    found = [pair for pair in compared if pair.result.n]
    if not found:
        st.info(
            "Nothing can be paired: these runs were measured on different boards, so a difference of their rates may come from the boards. "
            "Runs with the same suite can be paired."
            if len(results) > 1
            else "Nothing can be paired before two of the runs have results."
        )
        return
    rows = []
    for pair in found:
        result, boards = pair.result, shared([pair.first, pair.second])
        rates = [overall(table) for table in boards]
        valid = "<br>".join(f"<b>{rate.percent}</b> <small>{rate.percents}</small>" for rate in rates)
        p = "< 0.001" if result.p < 0.001 else f"{result.p:.2g}"
        names = f"{escape(pair.first.name)}<br>{escape(pair.second.name)}"
        rows.append((names, valid, f"{result.lost}<br>{result.gained}", str(result.n), p))
    head = [
        ("runs", "Two runs, one above the other"),
        ("valid", "Valid rate of each on the shared boards, with its 95 % interval"),
        ("alone", "Boards that this run solves and the other does not"),
        ("boards", "Boards that both were measured on"),
        ("p", "How often chance alone would bring so clear a difference (exact McNemar test)"),
    ]
    st.html(markup.table("Each two runs on the same boards", head, rows, numbers=("valid", "alone", "boards", "p")))
    if len(found) == 1:
        only = found[0]
        st.caption(f"From the first to the second: {only.result.sentence}")
    else:
        beside = markup.plain(f"Each run beside {results[0].name}. ") if one_to_many else ""
        st.caption(f"{beside}{uncorrected(len(found))}")
    if len(found) < len(compared):
        st.caption(f"{len(compared) - len(found)} of {len(compared)} pairs share no board and cannot be paired.")


def boards(results: Sequence[Measured]) -> None:
    """A board that all runs were measured on, with the plan of each, under one timeline."""
    if len(results) < 2:
        return
    tables = shared(results)
    if tables[0].empty:
        return
    st.header(
        "The same board",
        anchor=False,
        help="The plan that the last measured checkpoint of each run wrote for a board that all were measured on, in lockstep.",
    )
    split = disagreed(tables)
    picker, only = st.columns([2.4, 1], vertical_alignment="bottom")
    apart = only.toggle("Only where they disagree", value=bool(split.any()), key="apart", help="Some solve the board and others do not.")
    chosen = [table[split.to_numpy()] if apart else table for table in tables]
    if chosen[0].empty:
        st.info("They agree on every board: each is solved by all runs or by none.")
        return
    ids = list(chosen[0]["board_id"])
    outcomes = results[0].session.spec.tasks.outcomes
    words = {
        board: f"{cell_label(cell)} · {board} · " + ", ".join(outcomes[name].label for name in said)
        for board, cell, *said in zip(ids, chosen[0]["config_cell"], *(table["outcome"] for table in chosen), strict=True)
    }
    if st.session_state.get("shared-board") not in ids:
        asked = st.query_params.get("board")
        st.session_state["shared-board"] = asked if asked in ids else ids[0]
    label = f"Board ({len(ids)} of {len(tables[0])} that all were measured on)"
    board: str = picker.selectbox(label, ids, key="shared-board", format_func=lambda name: str(words[name]))
    st.query_params["board"] = board
    shown = [Shown(row_of(table, board), f"{one.name}, {one.after}") for one, table in zip(results, chosen, strict=True)]
    view_of(results[0].session.spec.tasks).play(shown, key="runs-board", height=320)


def row_of(table: pd.DataFrame, board: str) -> pd.Series:
    return table[table["board_id"] == board].iloc[0]


def settings(found: Sequence[Session], names: Sequence[str]) -> None:
    st.header("What was different", anchor=False)
    specs, configs = spec_rows(found), config_rows(found)
    different = [row for row in specs if row.differs]
    if different:
        st.html(settings_table("Settings that differ", different, names))
    else:
        st.caption("Every setting is the same.")
    moved = [row for row in configs if row.differs]
    if moved:
        with st.expander(f"Environment configs: {len(moved)} values differ", expanded=not different):
            st.html(settings_table("Values of the configs that differ", moved, names))
    same = [row for row in (*specs, *configs) if not row.differs]
    with st.expander(f"{len(same)} settings and values are equal"):
        st.html(settings_table("What is equal", [Row(row.setting, row.values[:1]) for row in same], ["all runs"]))


def settings_table(caption: str, rows: Sequence[Row], names: Sequence[str]) -> str:
    lines = [(escape(row.setting), *map(escape, row.values)) for row in rows]
    return markup.table(caption, [("setting", ""), *((name, "") for name in names)], lines)


class Row(NamedTuple):
    """A setting and its value in each run; NOTHING where a run does not have it."""

    setting: str
    values: tuple[str, ...]

    @property
    def differs(self) -> bool:
        return len(set(self.values)) > 1


def spec_rows(sessions: Sequence[Session]) -> list[Row]:
    """Every setting of the specs, in their order."""
    return rows([dict(_settings(spec_in_words(session))) for session in sessions])


def spec_in_words(session: Session) -> dict[str, Any]:
    """The spec with its engineer, and the session that it was forked from, as people read them."""
    spec, parent = session.spec, session.spec.parent
    found = spec.model_dump(mode="json", exclude=set(LEFT_OUT))
    found["engineer"]["kind"] = name_of(spec.engineer.kind)
    if parent is not None:
        there = sessions.readable(parent.session, sessions.store())
        found["forked from"] = f"{there.title if there else parent.session}, {stage_name(parent.stage).lower()}"
    return found


def config_rows(sessions: Sequence[Session]) -> list[Row]:
    """Every setting of the configs that the stages trained on: ``stage 2, 5×5, hole ratio``."""
    return rows([dict(_trained_on(session)) for session in sessions])


def rows(settings: Sequence[Mapping[str, str]]) -> list[Row]:
    """A row for each setting that any of them has."""
    names = dict.fromkeys(name for one in settings for name in one)
    return [Row(name, tuple(one.get(name, NOTHING) for one in settings)) for name in names]


def _settings(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The leaves of a spec: ``training, learning rate`` and its value. Lists are one value."""
    if isinstance(value, dict) and value:
        for name, part in value.items():
            yield from _settings(part, f"{path}, {name}" if path else name)
    else:
        yield path.replace("_", " "), _shown(value)


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value)) or "none"
    return value if isinstance(value, str) else NOTHING if value is None else json.dumps(value)


def _trained_on(session: Session) -> Iterator[tuple[str, str]]:
    for stage in range(session.spec.stages):
        drawn = session.environment(stage)
        config = drawn.config if drawn is not None else session.spec.initial_config if stage == 0 and not session.spec.ask_first else None
        if config is None:
            continue
        family = family_of(config.family)
        for cell, own in config.cells.items():
            for knob, value in own.settings().items():
                yield f"stage {stage + 1}, {cell_label(cell)}, {family.setting_label(knob)}", share(value)


def disagreed(tables: Sequence[pd.DataFrame]) -> pd.Series:
    """Whether some runs solve a board and others do not, for each row of the shared tables."""
    solved = pd.concat([table["valid"].reset_index(drop=True) for table in tables], axis=1).sum(axis=1)
    return (solved > 0) & (solved < len(tables))
