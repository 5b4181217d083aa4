"""The answer at the top of Story, and the parts that show records: what happened, failed, was read, written and changed, and was right."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from frozenlab.app.session import evidence
from frozenlab.app.session.claims import ClaimOutcome, boards_of, claims_table, judgement, predictions_of, was_it_right
from frozenlab.app.session.proposals import config_table, knob_rows, layouts_table, raw_answers, repairs, what_changed
from frozenlab.app.story.moment import Moment
from frozenlab.app.ui import markup, nav, theme
from frozenlab.app.ui.components.timeline import PART, stage_name
from frozenlab.app.ui.figures import (
    AFTER_COLOR,
    BEFORE_COLOR,
    GRID_COLOR,
    REWARD_COLOR,
    Chart,
    common_layout,
    faults_by_cell,
    overall,
    overall_by_cell,
    rates_by_cell,
    tick_label,
    whiskers,
)
from frozenlab.app.ui.glossary import explained
from frozenlab.app.ui.markup import cited
from frozenlab.app.ui.once import once
from frozenlab.app.views.view import Shown, View
from frozenlab.app.views.views import view_of
from frozenlab.base.cells import in_order
from frozenlab.base.numbers import board_by_board, counted, decimals_of, number, percent, points, signed
from frozenlab.engineer import faithfulness
from frozenlab.engineer.engineers import who_is
from frozenlab.engineer.measurements import of_cell
from frozenlab.engineer.schema import Context, Evidence, ProposalRecord
from frozenlab.engineer.sections import SECTIONS, help_of
from frozenlab.engineer.sentences import capitalised
from frozenlab.session.ledger import Accuracy
from frozenlab.tasks.families import cell_label, cells_noun, family_of

ANY, FAILED, GAINED, LOST = "all boards", "failed", "won in this stage", "lost in this stage"
SKILL_HELP = (
    "1 less the squared error of its predictions, divided by that of predicting that nothing changes. 1 is perfect, 0 is as good as "
    "predicting no change, below 0 is worse. One proposal has few predictions: the ledger below has those of the whole session."
)


def headline(moment: Moment) -> None:
    now, record = overall(moment.after), moment.record
    if moment.stage is None or moment.before is None:
        optimal = overall(moment.after, "optimal").percent
        result = f"Before training, <b>{now.percent}</b> of its plans are valid."
        note = f"95 % interval {now.percents}, n = {now.n:,} {moment.session.suite} boards. {optimal} are optimal."
    else:
        before, after = moment.before, moment.after
        change = once(lambda: board_by_board(before, after), "story headline", *moment.key)
        was, is_now = (percent(rate, change.n) for rate in (change.before, change.after))
        result = f"{stage_name(moment.stage)} took valid plans from {was} to <b>{is_now}</b>."
        note = f"{change.sentence} Now {now.percents} of all boards like these would be valid (95 % interval)."
        if change.lost > change.gained:
            note += f" {where_it_lost(before, after)}"
    if record is None:
        markup.answer(result, explained(note))
    elif moment.is_last:
        last = f"{note} It was the last stage: what {who_is(record.engineer)} proposed after it was never trained on."
        markup.answer(result, explained(last))
    else:
        said = f" Then {who_is(record.engineer)} {escape(what_changed(record))}."
        if moment.outcomes:
            said += f" <b>{was_it_right(moment.outcomes, record.config_before.cells)}</b>"
        markup.answer(result + said, explained(note))


def where_it_lost(before: pd.DataFrame, after: pd.DataFrame) -> str:
    """The cell that lost most boards, for a stage that lost more than it gained."""
    lost, gained = (filtered(before, after, None, outcome)["config_cell"].value_counts() for outcome in (LOST, GAINED))
    net = lost.sub(gained, fill_value=0).sort_index()
    most = net.idxmax()
    return f"Most went on {cell_label(most)}: {net[most]:.0f} net of {len(of_cell(after, most))}. What failed lists them, as {LOST}."


def results(moment: Moment) -> None:
    now, earlier = moment.now, moment.earlier
    noun = cells_noun(moment.after["config_cell"].unique())
    left, right = st.columns(2, gap="large")
    with left:
        st.header(f"Results by {noun}", anchor=False)
        theme.chart(once(lambda: rates_by_cell(earlier, now), "story rates", *moment.key), "story-rates")
    with right:
        st.header(
            f"First faults by {noun}", anchor=False, help="Why a plan is not valid: its earliest fault. Click a bar to see its boards."
        )
        panels = [now] if earlier is None else [earlier, now]
        drawn = once(lambda: faults_by_cell(panels, moment.session.spec.tasks.outcomes), "story faults", *moment.key)
        theme.chart(drawn, "faults", on_select=follow_bar, selection_mode="points")


def follow_bar() -> None:
    """A click on a bar shows the boards that it counts."""
    points = st.session_state["faults"]["selection"]["points"]
    if points:
        cell, outcome, *_ = points[0]["customdata"]
        st.session_state["board_cell"] = cell
        st.session_state["board_outcome"] = outcome
        st.query_params[PART] = "failed"


def boards(moment: Moment) -> None:
    st.header("The boards behind the numbers", anchor=False)
    view = view_of(moment.session.spec.tasks)
    pick, stage = st.columns([1, 2.1], gap="large")
    with pick:
        row = board_list(moment.before, moment.after, view)
    with stage:
        if row is None:
            st.info("No board of this stage has this outcome there.")
            return
        view.show(Shown(row, moment.label), moment.earlier, key="story-board", every=moment.every)


def board_list(before: pd.DataFrame | None, after: pd.DataFrame, view: View) -> pd.Series | None:
    """The filters and the list; returns the row that is chosen."""
    cells = [None, *in_order(after["config_cell"])]
    seen, known = set(after["outcome"]), view.family.outcomes
    outcomes = [ANY, FAILED, *([GAINED, LOST] if before is not None else []), *(name for name in known if name in seen)]
    take_choice("board_cell", "cell", cells, None)
    usual = ANY if after["valid"].all() else FAILED
    take_choice("board_outcome", "outcome", outcomes, usual)
    left, right = st.columns(2)
    cell = left.selectbox(
        capitalised(cells_noun(after["config_cell"].unique())), cells, key="board_cell",
        format_func=lambda name: "all" if name is None else cell_label(name),
    )  # fmt: skip
    outcome = right.selectbox(
        "Outcome", outcomes, key="board_outcome", format_func=lambda name: known[name].label if name in known else name
    )
    write_choice("cell", cell, None)
    write_choice("outcome", outcome, usual)
    rows = filtered(before, after, cell, outcome)
    if rows.empty:
        return None
    counts = f"{len(rows):,} of {len(after):,} boards"
    listed = best_first(rows, before, after, view)
    row = view.pick(listed, counts, key=f"boards-{cell}-{outcome}-{len(rows)}", first=st.query_params.get("board"))
    write_choice("board", row["board_id"], listed.iloc[0]["board_id"])
    return row


def take_choice(key: str, name: str, options: Sequence[str | None], usual: str | None) -> None:
    """Give a select box that has no choice yet, or one that is no longer there, that of the address, else the usual one."""
    if key not in st.session_state or st.session_state[key] not in options:
        asked = st.query_params.get(name)
        chosen = asked if asked in options else usual
        if chosen is None:
            st.session_state.pop(key, None)  # the box would say that nothing is chosen, and not what its first option says
        else:
            st.session_state[key] = chosen


def write_choice(name: str, chosen: str | None, usual: str | None) -> None:
    """Keep a choice in the address, and the usual one out of it."""
    nav.put(name, None if chosen == usual else chosen)


def best_first(rows: pd.DataFrame, before: pd.DataFrame | None, after: pd.DataFrame, view: View) -> pd.DataFrame:
    """Small boards first, but before all others the one that shows best what the stage did."""
    best = view.showcase(before, after) if before is not None else None
    return view.in_order(rows).assign(first=lambda rows: rows["board_id"] != best).sort_values("first", kind="stable")


def filtered(before: pd.DataFrame | None, after: pd.DataFrame, cell: str | None, outcome: str) -> pd.DataFrame:
    rows = of_cell(after, cell)
    if outcome == FAILED:
        return rows[~rows["valid"]]
    if outcome in (GAINED, LOST) and before is not None:
        held = set(before.loc[before["valid"], "board_id"])
        was = rows["board_id"].isin(held)
        return rows[~was & rows["valid"]] if outcome == GAINED else rows[was & ~rows["valid"]]
    return rows if outcome == ANY else rows[rows["outcome"] == outcome]


def what_it_saw(moment: Moment, context: Context) -> None:
    session, record = moment.session, moment.record
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.header("What it read", anchor=False, help="All that the engineer saw. Click the id of a line to see the boards behind it.")
        if context.stage is not None:  # a replay starts from a stage
            address = {"session": session.address, "stage": str(context.stage + 1)}
            st.page_link(nav.path("replay"), label="Ask others, or ask again", query_params=address, icon=":material/replay:")
    claims = record.claims if record is not None else ()
    lines = markup.evidence_sections(context, {name for claim in claims for name in claim.evidence})
    tokens = evidence.section_tokens(context, record)
    names = [section.name for section in SECTIONS if section.usual or section.name in context.sections]
    labels = {
        section: " · ".join([section, *size_of(context.sections[section], tokens.get(section))])
        if section in context.sections
        else f"{section} · off"
        for section in names
    }
    for tab, section in zip(st.tabs(list(labels.values())), names, strict=True):
        with tab:
            st.caption(f"{help_of(section)[0].upper()}{help_of(section)[1:]}.")
            if section not in context.sections:
                st.info("This section was switched off: the engineer decided without it.", icon=":material/visibility_off:")
            elif not lines[section]:
                when = "before training" if context.stage is None else "after this stage"
                st.caption(f"It was on, and had nothing to say {when}.")
            else:
                with st.container(height=320 if len(context.sections[section]) > 9 else "content", border=False):
                    cited(lines[section], key=f"saw-{section}", on_pick=evidence.follow)
    if context.prompt is not None:
        with st.expander("The exact prompt"):
            st.code(context.prompt, language=None, wrap_lines=True)


def size_of(lines: Sequence[Evidence], tokens: str | None) -> list[str]:
    """How long a section is, for its tab."""
    return [counted(len(lines), "line"), *([tokens] if tokens else [])] if lines else ["nothing"]


def what_it_said(moment: Moment, record: ProposalRecord) -> None:
    outcomes, context = moment.outcomes, moment.context
    st.header("What it wrote", anchor=False)
    if moment.is_last:
        st.caption("It was asked once more after the last stage. Nobody trained on this answer, so nothing tested what it predicts.")
    if record.kept_because is not None:
        st.warning(f"**The previous config was kept.** {markup.plain(record.kept_because)}", icon=":material/undo:")
    if record.proposal is not None:
        st.html(
            markup.quote(
                record.proposal.summary,
                f"{who_is(record.engineer)}, after {stage_name(moment.stage).lower()}; to the letter in the raw answer below"
                if record.attempts[-1].raw
                else who_is(record.engineer),
            )
        )
        if outcomes:
            seen = None if context is None else {line.id for line in context.lines}
            cited(claims_table(outcomes, record, seen), key="claims", on_pick=evidence.follow)
        if context is not None and (checked := faithfulness.in_words(record, context)):
            st.caption(markup.plain(checked), help="Checked: do the cited lines say what each claim says, and does the config do it?")
    raw_answers(record)


def what_it_changed(moment: Moment, record: ProposalRecord) -> None:
    st.header("What it would train on next; nobody did" if moment.is_last else "What changed in the config", anchor=False)
    rows, family = knob_rows(record), family_of(record.config_after.family)
    st.html(config_table(rows, overall_by_cell(moment.validation), family))
    if layouts := layouts_table(rows, family):
        st.markdown("**Layouts of its boards**")
        st.html(layouts)
    guard = record.guard
    if guard.rejected is not None:
        return
    if not guard.repairs:
        st.caption("The guard checked every value and repaired none.")
    repairs(guard, family)


def was_right(moment: Moment) -> None:
    """Predicted and measured changes; nothing where no stage has tested the proposal."""
    accuracy = judgement(moment.outcomes)
    if accuracy is None:
        return
    st.header("Was it right?", anchor=False)
    trained = stage_name(0 if moment.stage is None else moment.stage + 1)
    st.caption(f"How {trained.lower()}, which trained on this proposal, changed the valid rate, predicted and measured.")
    drawn, figures = st.columns([1.9, 1], gap="large", vertical_alignment="center")
    with drawn:
        theme.chart(once(lambda: changes_figure(moment.outcomes), "story changes", *moment.key), "changes")
    with figures:
        theme.facts(facts(accuracy, boards_of(moment.outcomes)))


def facts(accuracy: Accuracy, n: int) -> list[tuple[str, str, str]]:
    """Its figures, of ``n`` boards, for :func:`frozenlab.app.ui.theme.facts`: value, name, help."""
    skill = "–" if accuracy.skill is None else number(accuracy.skill, sign=True)
    return [
        (signed(accuracy.predicted, n), "points predicted", "Mean change of the valid rate over the cells that its claims name."),
        (signed(accuracy.measured, n), "points measured", "Mean over the same cells after the next stage, on the boards of results."),
        (number(100 * accuracy.error, decimals_of(n)), "points off", "Root mean square of predicted less measured change."),
        (
            number(100 * accuracy.naive_error, decimals_of(n)),
            "points off by predicting no change",
            "The prediction that any other has to beat.",
        ),
        (skill, "skill, 0 is no better than no change", SKILL_HELP),
    ]


def changes_figure(outcomes: Sequence[ClaimOutcome]) -> Chart:
    """Predicted and measured change of the valid rate by cell; the line at 0 is the prediction that nothing changes."""
    tested = predictions_of(outcomes)
    cells = [cell_label(outcome.claim.cell) for outcome in tested]
    places = [tick_label(outcome.claim.cell) for outcome in tested]
    came = [outcome.measured for outcome in tested if outcome.measured is not None]
    said = [outcome.predicted for outcome in tested if outcome.predicted is not None]
    figure = go.Figure()
    figure.add_trace(
        go.Scatter(
            x=places, y=[100 * change.value for change in came], mode="markers", name="measured",
            error_y=whiskers(came, AFTER_COLOR, scale=100),
            marker=dict(color=AFTER_COLOR, size=10),
            customdata=[(change.bounds, change.n, points(change.value, change.n)) for change in came],
            hovertemplate="%{x}, measured <b>%{customdata[2]}</b><br>95 % interval %{customdata[0]}, n = %{customdata[1]}<extra></extra>",
        )
    )  # fmt: skip
    figure.add_trace(
        go.Scatter(
            x=places, y=[100 * change for change in said], mode="markers", name="predicted",
            marker=dict(color=REWARD_COLOR, size=13, symbol="line-ew", line=dict(color=REWARD_COLOR, width=4)),
            customdata=[outcome.said for outcome in tested],
            hovertemplate="%{x}, predicted <b>%{customdata} points</b><extra></extra>",
        )
    )  # fmt: skip
    figure.add_hline(y=0, line=dict(color=BEFORE_COLOR, width=1.5, dash="dot"))
    noun = cells_noun(outcome.claim.cell for outcome in tested)
    figure.update_xaxes(showgrid=False, type="category", title=noun)
    figure.update_yaxes(title_text="change, points", gridcolor=GRID_COLOR, zeroline=False)
    common_layout(figure, height=240)
    words = "; ".join(
        f"{cell} predicted {one.said}, measured {c.signed} ({c.bounds})" for cell, one, c in zip(cells, tested, came, strict=True)
    )
    return Chart(figure, f"Change of the valid rate by {noun}, in points: {words}.")
