"""Story: what did the model change, and was it right?"""

from __future__ import annotations

import json
from html import escape

import pandas as pd
import streamlit as st

from core.engineer.schema import SECTIONS, Context, ProposalRecord
from core.lake.board import Board
from core.lake.rules import judge_paths
from core.sessions.store import Session
from core.ui import markup, nav, sessions, share, theme
from core.ui.board import Track, board_player, optimal_paths
from core.ui.figures import Series, faults_by_size, overall, percent, rates_by_size, rates_over_stages, size_label
from core.ui.story import answer_of, board_by_board, claim_outcomes, knob_rows, showcase, was_it_right, what_changed
from core.ui.timeline import marks, stage_name, timeline

ENGINEERS = {
    "policy": "the model itself",
    "base": "the model before any training",
    "api": "a model behind an API",
    "rules": "the rules engineer",
    "bandit": "the bandit",
    "uniform": "the uniform baseline",
    "random": "the random baseline",
    "fixed": "the fixed baseline",
}
ANY, FAILED, GAINED, LOST = "all boards", "failed", "won in this stage", "lost in this stage"
MOST_BOARDS = 60
"""Rows of the board list; a filter narrows it down further than scrolling would."""


def answer(html: str, note: str) -> None:
    """The largest thing on the page. ``html`` is the page's own words, with nothing unescaped in it."""
    st.html(f'<p class="fl-answer">{html}</p><p class="fl-note">{escape(note)}</p>')


# --- the parts -------------------------------------------------------------------------------------------------------


def headline(session: Session, stage: int | None, before: pd.DataFrame | None, after: pd.DataFrame, following: pd.DataFrame | None) -> None:
    now = overall(after)
    if stage is None or before is None:
        answer(
            f"Before training, <b>{percent(now.value)}</b> of its plans are valid.",
            f"95 % interval {now.interval}, n = {now.n} held-out boards. {percent(overall(after, 'optimal').value)} are optimal.",
        )
        return
    change = board_by_board(before, after)
    led = f"{stage_name(stage)} took valid plans from {percent(change.before)} to <b>{percent(change.after)}</b>."
    record = session.proposal(stage)
    said = ""
    if record is not None:
        who = ENGINEERS[record.engineer]
        said = f" Then {who} {escape(what_changed(record))}."
        if record.proposal is not None and record.proposal.claims:
            said += f" <b>{was_it_right(claim_outcomes(record.proposal.claims, following))}</b>"
    answer(led + said, f"{change.sentence} Now {now.interval} of all boards like these would be valid (95 % interval).")


def results(label: str, before: pd.DataFrame | None, after: pd.DataFrame, before_label: str) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("Results by map size", anchor=False)
        earlier = None if before is None else Series(before_label, before)
        theme.chart(rates_by_size(earlier, Series(label, after)), "rates")
    with right:
        st.subheader(
            "First faults by map size", anchor=False, help="Why a plan is not valid: its earliest fault. Click a bar to see its boards."
        )
        panels = [Series(label, after)] if before is None else [Series(before_label, before), Series(label, after)]
        theme.chart(faults_by_size(panels), "faults", on_select=follow_bar, selection_mode="points")


def follow_bar() -> None:
    """A click on a bar filters the boards below to the ones it counts."""
    points = st.session_state["faults"]["selection"]["points"]
    if points:
        size, outcome, *_ = points[0]["customdata"]
        st.session_state["board_size"] = int(size)
        st.session_state["board_outcome"] = outcome


def boards(label: str, before: pd.DataFrame | None, after: pd.DataFrame, before_label: str) -> None:
    st.subheader("The boards behind the numbers", anchor=False)
    pick, stage = st.columns([1, 2.1], gap="large")
    with pick:
        row = board_list(before, after)
    with stage:
        if row is None:
            st.info("No board of this stage has this size and outcome.")
            return
        show_board(row, label, before, before_label)


def board_list(before: pd.DataFrame | None, after: pd.DataFrame) -> pd.Series | None:
    """The filters and the list; returns the row that is chosen."""
    sizes = [None, *sorted(int(size) for size in after["size"].unique())]
    seen = set(after["outcome"])
    outcomes = [ANY, FAILED, *([GAINED, LOST] if before is not None else []), *(name for name in theme.OUTCOME_WORDS if name in seen)]
    if st.session_state.get("board_size") not in sizes:
        st.session_state["board_size"] = None
    if st.session_state.get("board_outcome") not in outcomes:
        st.session_state["board_outcome"] = ANY
    left, right = st.columns(2)
    size = left.selectbox("Map size", sizes, key="board_size", format_func=lambda size: "all" if size is None else size_label(size))
    outcome = right.selectbox("Outcome", outcomes, key="board_outcome", format_func=lambda name: theme.OUTCOME_WORDS.get(name, name))
    rows = filtered(before, after, size, outcome)
    if rows.empty:
        return None
    shown = telling_first(rows, before, after).head(MOST_BOARDS)
    table = pd.DataFrame(
        {
            "map": [size_label(n) for n in shown["size"]],
            "agents": shown["agents"].to_numpy(),
            "outcome": [theme.OUTCOME_WORDS[name] for name in shown["outcome"]],
            "steps": shown["makespan"].to_numpy(),
            "optimum": shown["optimal_makespan"].to_numpy(),
        }
    )
    chosen = st.dataframe(
        table,
        key=f"boards-{size}-{outcome}-{len(rows)}",
        hide_index=True,
        height=430,
        on_select="rerun",
        selection_mode="single-row-required",
        selection_default={"selection": {"rows": [0]}},
        alt="Held-out boards with their outcome",
    )
    st.caption(f"{len(rows)} of {len(after)} boards" + (f", the first {MOST_BOARDS} listed" if len(rows) > MOST_BOARDS else "") + ".")
    picked = chosen["selection"]["rows"]
    return shown.iloc[picked[0] if picked else 0]


def telling_first(rows: pd.DataFrame, before: pd.DataFrame | None, after: pd.DataFrame) -> pd.DataFrame:
    """Small boards first, but before all others the one that shows best what the stage did."""
    told = showcase(before, after) if before is not None else None
    return rows.assign(first=rows["board_id"] != told).sort_values(["first", "size", "agents"], kind="stable")


def filtered(before: pd.DataFrame | None, after: pd.DataFrame, size: int | None, outcome: str) -> pd.DataFrame:
    rows = after if size is None else after[after["size"] == size]
    if outcome == FAILED:
        return rows[~rows["valid"]]
    if outcome in (GAINED, LOST) and before is not None:
        held = set(before.loc[before["valid"], "board_id"])
        was = rows["board_id"].isin(held)
        return rows[~was & rows["valid"]] if outcome == GAINED else rows[was & ~rows["valid"]]
    return rows if outcome == ANY else rows[rows["outcome"] == outcome]


def show_board(row: pd.Series, label: str, before: pd.DataFrame | None, before_label: str) -> None:
    board = Board.from_dict(json.loads(row["board"]))
    code = share.encode(board)
    best = optimal_paths(code)
    tracks = [answer_of(row, label)]
    earlier = before[before["board_id"] == row["board_id"]] if before is not None else None
    title, option, link = st.columns([2.2, 1.3, 1], vertical_alignment="center")
    title.markdown(f"**{row['board_id']}** · {size_label(row['size'])}, {row['agents']} agents, {100 * row['hole_ratio']:.0f} % holes")
    compare = option.toggle(
        "Also before", key="also_before", disabled=earlier is None or earlier.empty, help="Puts the plan from before this stage beside it."
    )
    link.page_link(nav.path("play"), label="Play this board", query_params={"board": code})
    if compare and earlier is not None and len(earlier):
        tracks.insert(0, answer_of(earlier.iloc[0], before_label))
    if best is not None:
        tracks.append(Track("optimal plan", best, judge_paths(board, best, int(row["optimal_makespan"]))))
    board_player(board, tracks, key="story-board", ghost=best, height=430)
    with st.expander("The model's answer, word by word"):
        st.code(row["completion"] or " ", language=None, wrap_lines=True)


def what_it_saw(context: Context, record: ProposalRecord | None) -> None:
    st.subheader("What the engineer saw", anchor=False)
    claims = record.proposal.claims if record is not None and record.proposal is not None else ()
    cited = {name for claim in claims for name in claim.evidence}
    lines = markup.evidence_sections(context, cited)
    labels = [
        f"{section} · {len(context.sections[section])} lines" if section in context.sections else f"{section} · off" for section in SECTIONS
    ]
    for tab, section in zip(st.tabs(labels), SECTIONS, strict=True):
        with tab:
            st.caption(markup.SECTION_HELP[section].capitalize() + ".")
            if section not in context.sections:
                st.info("This section was switched off: the engineer decided without it.", icon=":material/visibility_off:")
            elif not lines[section]:
                st.caption("It was on, and had nothing to say after this stage.")
            else:
                with st.container(height=320 if len(context.sections[section]) > 9 else "content", border=False):
                    st.html(lines[section])
    if context.prompt is not None:
        with st.expander("The exact prompt"):
            st.code(context.prompt, language=None, wrap_lines=True)


def what_it_said(record: ProposalRecord, following: pd.DataFrame | None, stage: int) -> None:
    st.subheader("What it said", anchor=False)
    if record.kept_because is not None:
        st.warning(f"**The previous config was kept.** {markup.plain(record.kept_because)}", icon=":material/undo:")
    if record.proposal is not None:
        st.html(
            markup.quote(
                record.proposal.summary,
                f"{ENGINEERS[record.engineer]}, after {stage_name(stage).lower()}; to the letter in the raw answer below"
                if record.attempts[-1].raw
                else ENGINEERS[record.engineer],
            )
        )
        if record.proposal.claims:
            st.html(markup.claims_table(claim_outcomes(record.proposal.claims, following)))
    for number, attempt in enumerate(record.attempts, start=1):
        if attempt.raw or attempt.error:
            read = f"{attempt.prompt_tokens:,} tokens read, " if attempt.prompt_tokens else ""
            paid = f", cost {attempt.cost:.4f}" if attempt.cost is not None else ""
            figures = f"{read}{attempt.tokens or 0:,} tokens written, {attempt.seconds:.1f} s{paid}"
            with st.expander(f"Raw answer{'' if len(record.attempts) == 1 else f', attempt {number}'} ({figures})"):
                if attempt.error:
                    st.error("It could not be used:")
                    st.text(attempt.error)
                st.code(attempt.raw or " ", language=None, wrap_lines=True)


def what_it_changed(record: ProposalRecord, after: pd.DataFrame) -> None:
    st.subheader("What changed in the config", anchor=False)
    measured = {int(size): overall(rows) for size, rows in after.groupby("size")}
    rows = knob_rows(record)
    st.html(markup.config_table(rows, measured))
    if layouts := markup.layouts_table(rows):
        st.markdown("**Layouts of its boards**")
        st.html(layouts)
    guard = record.guard
    if guard.rejected is not None:
        return
    if not guard.repairs:
        st.caption("The guard checked every value and repaired none.")
    else:
        with st.expander(f"The guard repaired {len(guard.repairs)} value{'s' if len(guard.repairs) > 1 else ''}"):
            st.html(markup.repairs_table(guard.repairs))


# --- the page --------------------------------------------------------------------------------------------------------

nav.ensure_nav()
head, picker = st.columns([2.4, 1], vertical_alignment="bottom")
with head:
    theme.question("What did the model change, and was it right?")
markup.styles()
found = sessions.store().sessions()
if not found:
    sessions.nothing_yet("There is no session to tell of yet.")
    st.stop()
with picker:
    session = sessions.session_picker(found)
state = session.state()
st.caption(f"{sessions.set_up(session.spec)} · seed {session.spec.seed}")
stage = timeline(marks(session, state), key="story-thread").id - 1
here = None if stage < 0 else stage
after = session.validation(here)
if after is None or after.empty:
    sessions.problems(session)
    st.info(f"{stage_name(here)} has no results yet.")
    st.page_link(nav.path("train"), label="Watch it train", query_params={"session": session.id})
    st.stop()
earlier_stage = None if not here else here - 1
before = None if here is None else session.validation(earlier_stage)
following = session.validation(stage + 1) if stage + 1 < session.spec.stages else None
now_label, before_label = stage_name(here), stage_name(earlier_stage)
if here is not None:
    now_label, before_label = f"after {now_label.lower()}", "before training" if earlier_stage is None else f"after {before_label.lower()}"

headline(session, here, before, after, following)
results(now_label, before, after, before_label)
boards(now_label, before, after, before_label)
if here is not None:
    context, record = session.context(here), session.proposal(here)
    if context is not None:
        what_it_saw(context, record)
    if record is not None:
        what_it_said(record, following, here)
        what_it_changed(record, after)
moments = [Series(stage_name(i), table) for i in (None, *range(session.spec.stages)) if (table := session.validation(i)) is not None]
if len(moments) > 1:
    st.subheader(
        "The whole session, size by size", anchor=False, help="Valid rate before training (0) and after each stage, with 95 % intervals."
    )
    theme.chart(rates_over_stages(moments), "over-stages")
sessions.problems(session)
