"""Story: what did the model change, and was it right?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import pandas as pd
import streamlit as st

from frozenlab.engineer.schema import ENGINEERS, SECTIONS, Context, Evidence, ProposalRecord
from frozenlab.engineer.sentences import counted
from frozenlab.jobs import launcher
from frozenlab.jobs.state import State
from frozenlab.loop.forks import trains_anew
from frozenlab.loop.page import evidence
from frozenlab.loop.page.answers import raw_answers, repairs
from frozenlab.loop.page.board_by_board import board_by_board
from frozenlab.loop.page.branches import Branch, branches_figure, family, parted
from frozenlab.loop.page.claim_outcomes import ClaimOutcome, claim_outcomes, judgement, was_it_right
from frozenlab.loop.page.claims_figure import changes_figure, facts
from frozenlab.loop.page.claims_table import claims_table
from frozenlab.loop.page.config_map import SHADE_HELP, SHADES, map_figure, stops
from frozenlab.loop.page.config_rows import knob_rows, what_changed
from frozenlab.loop.page.config_tables import config_table, layouts_table
from frozenlab.loop.page.decide import Desk, decide
from frozenlab.loop.page.ledger import LEDGER_ANCHOR, show_ledger
from frozenlab.loop.store import OFFERED, Session, SessionError
from frozenlab.tasks.lake.view.board_list import pick_board, show_board
from frozenlab.tasks.lake.view.recorded import showcase
from frozenlab.ui import api_form, markup, nav, sessions, theme
from frozenlab.ui.components.cited import cited
from frozenlab.ui.components.contents import Contents
from frozenlab.ui.components.timeline import marks, rates_by_stage, stage_name, timeline
from frozenlab.ui.engineers import WHO
from frozenlab.ui.figures import (
    Series,
    faults_by_size,
    overall,
    overall_by_size,
    percent,
    rates_by_size,
    rates_over_stages,
    size_label,
)
from frozenlab.ui.once import once

OFFLINE = tuple(name for name in ENGINEERS if name != "api")
"""Engineers that a fork can have without being told where they are."""

MOST_DIFFERENCES = 6
"""Of a fork from its parent that are told in words."""
ANY, FAILED, GAINED, LOST = "all boards", "failed", "won in this stage", "lost in this stage"


def answer(html: str, note: str) -> None:
    """The largest thing on the page. ``html`` is the page's own words, with nothing unescaped in it."""
    st.html(f'<p class="fl-answer">{html}</p><p class="fl-note">{escape(note)}</p>')


# --- the parts -------------------------------------------------------------------------------------------------------


def headline(
    session: Session, stage: int | None, before: pd.DataFrame | None, after: pd.DataFrame, outcomes: Sequence[ClaimOutcome]
) -> None:
    now, record = overall(after), session.proposal(stage)
    if stage is None or before is None:
        led = f"Before training, <b>{percent(now.value)}</b> of its plans are valid."
        note = f"95 % interval {now.interval}, n = {now.n} held-out boards. {percent(overall(after, 'optimal').value)} are optimal."
    else:
        change = board_by_board(before, after)
        led = f"{stage_name(stage)} took valid plans from {percent(change.before)} to <b>{percent(change.after)}</b>."
        note = f"{change.sentence} Now {now.interval} of all boards like these would be valid (95 % interval)."
    if record is None:
        answer(led, note)
    elif is_last(session, stage):
        answer(led, f"{note} It was the last stage: what {WHO[record.engineer]} proposed after it was never trained on.")
    else:
        said = f" Then {WHO[record.engineer]} {escape(what_changed(record))}."
        if outcomes:
            said += f" <b>{was_it_right(outcomes)}</b>"
        answer(led + said, note)


def is_last(session: Session, stage: int | None) -> bool:
    """Whether nothing is trained on what is proposed after the stage."""
    return stage is not None and stage + 1 == session.spec.stages


def was_right(outcomes: Sequence[ClaimOutcome]) -> None:
    """What the proposal predicted beside what came; nothing where no stage has tested it."""
    told = judgement(outcomes)
    if told is None:
        return
    contents.heading(
        "Was it right?", "right",
        help="The change of the valid rate that each map size was predicted, and the one that the next stage brought on the same boards.",
    )  # fmt: skip
    drawn, figures = st.columns([1.9, 1], gap="large", vertical_alignment="center")
    with drawn:
        theme.chart(once(lambda: changes_figure(outcomes), "story changes", *known), "changes")
    with figures:
        theme.facts(facts(told))


def results(label: str, before: pd.DataFrame | None, after: pd.DataFrame, before_label: str) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        contents.heading("Results by map size", "results", short="Results")
        earlier = None if before is None else Series(before_label, before)
        theme.chart(once(lambda: rates_by_size(earlier, Series(label, after)), "story rates", *known), "rates")
    with right:
        st.subheader(
            "First faults by map size", anchor=False, help="Why a plan is not valid: its earliest fault. Click a bar to see its boards."
        )
        panels = [Series(label, after)] if before is None else [Series(before_label, before), Series(label, after)]
        theme.chart(once(lambda: faults_by_size(panels), "story faults", *known), "faults", on_select=follow_bar, selection_mode="points")


def follow_bar() -> None:
    """A click on a bar filters the boards below to the ones it counts."""
    points = st.session_state["faults"]["selection"]["points"]
    if points:
        size, outcome, *_ = points[0]["customdata"]
        st.session_state["board_size"] = int(size)
        st.session_state["board_outcome"] = outcome


def boards(label: str, before: pd.DataFrame | None, after: pd.DataFrame, before_label: str) -> None:
    contents.heading("The boards behind the numbers", "boards", short="Boards")
    pick, stage = st.columns([1, 2.1], gap="large")
    with pick:
        row = board_list(before, after)
    with stage:
        if row is None:
            st.info("No board of this stage has this size and outcome.")
            return
        show_board(row, label, before, before_label, key="story-board")


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
    told = f"{len(rows)} of {len(after)} boards"
    return pick_board(telling_first(rows, before, after), told, key=f"boards-{size}-{outcome}-{len(rows)}")


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


def what_it_saw(session: Session, context: Context, record: ProposalRecord | None) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        contents.heading("What the engineer saw", "saw", help="Click the id of a line to see the boards behind it.")
        if context.stage is not None:  # a replay starts from a stage
            address = {"session": session.id, "stage": str(context.stage + 1)}
            st.page_link(nav.path("replay"), label="Ask others, or ask again", query_params=address, icon=":material/replay:")
    claims = record.proposal.claims if record is not None and record.proposal is not None else ()
    lines = markup.evidence_sections(context, {name for claim in claims for name in claim.evidence})
    tokens = evidence.section_tokens(context, record)
    labels = {
        section: " · ".join([section, *size_of(context.sections[section], tokens.get(section))])
        if section in context.sections
        else f"{section} · off"
        for section in SECTIONS
    }
    for tab, section in zip(st.tabs(list(labels.values())), SECTIONS, strict=True):
        with tab:
            st.caption(markup.SECTION_HELP[section].capitalize() + ".")
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


def what_it_said(
    context: Context | None,
    record: ProposalRecord,
    outcomes: Sequence[ClaimOutcome],
    last: bool,
) -> None:
    contents.heading("What it said", "said")
    if last:
        st.caption("It was asked once more after the last stage. Nobody trained on this answer, so nothing tested what it predicts.")
    if record.kept_because is not None:
        st.warning(f"**The previous config was kept.** {markup.plain(record.kept_because)}", icon=":material/undo:")
    if record.proposal is not None:
        st.html(
            markup.quote(
                record.proposal.summary,
                f"{WHO[record.engineer]}, after {stage_name(stage).lower()}; to the letter in the raw answer below"
                if record.attempts[-1].raw
                else WHO[record.engineer],
            )
        )
        if outcomes:
            seen = None if context is None else {line.id for line in context.lines}
            cited(claims_table(outcomes, seen), key="claims", on_pick=evidence.follow)
    raw_answers(record)


def what_it_changed(record: ProposalRecord, after: pd.DataFrame, last: bool) -> None:
    if last:
        contents.heading("What it would train on next; nobody did", "changed", short="What it would change")
    else:
        contents.heading("What changed in the config", "changed", short="What changed")
    rows = knob_rows(record)
    st.html(config_table(rows, overall_by_size(after)))
    if layouts := layouts_table(rows):
        st.markdown("**Layouts of its boards**")
        st.html(layouts)
    guard = record.guard
    if guard.rejected is not None:
        return
    if not guard.repairs:
        st.caption("The guard checked every value and repaired none.")
    repairs(guard)


# --- what if -----------------------------------------------------------------------------------------------------------


def your_turn(session: Session, stage: int, context: Context, after: pd.DataFrame) -> None:
    """The session waits for a person: what is the next stage to train on?"""
    contents.heading(
        "What should it train on next?",
        "decide",
        short="Your decision",
        help="Your proposal passes the guard and is scored like any engineer's.",
    )
    drawn = session.environment(stage)
    if drawn is None:
        return
    desk = Desk(f"turn-{session.id}-{stage}", drawn.config, context, after, session.spec.guard)
    proposal, _ = decide(desk)
    may = api_form.may_ask([session.spec.api], "turn")
    if st.button("Train on this", type="primary", key="turn-go", icon=":material/play_arrow:", disabled=not may):
        go_to_train(lambda: launcher.propose(session, proposal, sessions.store()), session.id)


def what_if(session: Session, stage: int, context: Context, record: ProposalRecord, after: pd.DataFrame) -> None:
    """Another decision after this stage, in a fork."""
    with st.expander("What if? Decide otherwise, size by size, and fork the session here", icon=":material/fork_right:"):
        desk = Desk(f"fork-{session.id}-{stage}", record.config_before, context, after, session.spec.guard, record)
        proposal, differs = decide(desk)
        who, title, action = st.columns([1, 1.4, 0.8], vertical_alignment="bottom")
        engineer = who.selectbox(
            "Who proposes after the stages that follow", OFFLINE if session.spec.api is None else ENGINEERS, key="fork-engineer",
            index=None, placeholder=f"as before: {WHO[session.spec.engineer]}", format_func=WHO.__getitem__,
        )  # fmt: skip
        name = title.text_input(
            "Title of the fork", f"{session.title}, what if after stage {stage + 1}"[:120], max_chars=120, key="fork-title"
        )
        may = api_form.may_ask([session.spec.api if engineer in (None, "api") else None], "fork")
        asked = action.button(
            "Fork and train", type="primary", key="fork-go", icon=":material/fork_right:", width="stretch", disabled=not may
        )
        if not differs and engineer is None:
            st.caption("This is what the session already did. Change something to fork.")
        if trains_anew(session, stage):
            times = "Stage 1 is" if stage == 0 else f"Stages 1 to {stage + 1} are"
            st.caption(f"{times} trained again on the same boards: this session came without what training needs to go on from there.")
        if asked and (differs or engineer is not None):
            changes = {"title": name} | ({"engineer": engineer} if engineer else {})
            go_to_train(lambda: launcher.start_fork(session, stage, sessions.store(), proposal if differs else None, **changes).id)


def go_to_train(begin: Callable[[], str | None], session_id: str | None = None) -> None:
    """Begins something in the background and shows it on Train, or says why not."""
    try:
        begun = begin() or session_id
    except (launcher.LaunchError, SessionError) as error:
        st.error(f"Not started: {markup.plain(str(error))}.")
        return
    sessions.choose(str(begun))
    st.switch_page(nav.path("train"), query_params={"session": str(begun)})


def show_branches(session: Session) -> None:
    """The session beside those that it was forked from and that were forked from it."""
    branches = family(session, sessions.store())
    if len(branches) == 1:
        return
    contents.heading(
        "Branches", "branches", help="Forks share everything up to the stage where they part. Intervals: 95 %, held-out boards."
    )
    drawn, told = st.columns([1.5, 1], gap="large")
    with drawn:
        theme.chart(branches_figure(branches, session.id), "branches")
    with told:
        for branch in branches:
            parts = "the first session" if branch.stage is None else f"parts after {stage_name(branch.stage).lower()}"
            here = " · shown here" if branch.session.id == session.id else ""
            address = {"session": branch.session.id} | ({} if branch.stage is None else {"stage": str(branch.stage + 1)})
            st.page_link(nav.path("story"), label=f"{markup.plain(branch.name)} · {parts}{here}", query_params=address)
            if branch.stage is not None:
                compare_branch(branch, next(known.session for known in branches if known.session.id == branch.parent))


def compare_branch(branch: Branch, parent: Session) -> None:
    """How a fork went on from its parent, and what came of it on the same boards."""
    if differences := parted(branch, parent):
        st.caption(f"Then it trained with {', '.join(differences[:MOST_DIFFERENCES])}{', ...' if differences[MOST_DIFFERENCES:] else '.'}")
    there, here = (session.results(branch.session.spec.stages - 1) for session in (parent, branch.session))
    if there is not None and here is not None:
        change = board_by_board(there, here)
        st.caption(f"At the end {percent(change.after)} are valid instead of {percent(change.before)}. {change.sentence}")


def show_map(session: Session, here: int | None) -> None:
    """Where the engineer has led the session."""
    path = once(lambda: stops(session), "story stops", revision)
    if len({stop.stage for stop in path}) < 2:
        return
    contents.heading(
        "The path through the config space", "path", short="Config space",
        help="A point is a stage; arrows lead from stage to stage, and this stage is ringed. Click a point for its boards. " + SHADE_HELP,
    )  # fmt: skip
    asked = st.query_params.get("shade")
    shade = st.segmented_control(
        "Colour", SHADES, default=asked if asked in SHADES else SHADES[0], required=True, key="map-shade", label_visibility="collapsed"
    )
    if shade != SHADES[0] or asked is not None:
        st.query_params["shade"] = shade
    drawn = once(lambda: map_figure(path, shade, here), "story map", *known, shade)
    theme.chart(drawn, "config-map", on_select=follow_point, selection_mode="points")


def follow_point() -> None:
    """A click on a point opens the boards that were drawn there."""
    points = st.session_state["config-map"]["selection"]["points"]
    if points:
        stage, size, *_ = points[0]["customdata"]
        st.query_params["stage"], st.query_params[evidence.ASKED] = str(int(stage) + 1), f"S{int(size)}"


def first_judged(session: Session, state: State) -> int | None:
    """The stage (0-based) that the page opens with: the one that waits for a person, else the first whose proposal changed the config and
    was tested by the next stage. None: no such stage."""
    if state.status == "waiting":
        return state.stage
    measured = rates_by_stage(state)
    for stage in range(session.spec.stages - 1):
        if stage in measured and stage + 1 in measured and (record := session.proposal(stage)) is not None and record.changes:
            return stage
    return None


# --- the page --------------------------------------------------------------------------------------------------------

nav.ensure_nav()
head, picker = st.columns([2.4, 1], vertical_alignment="bottom")
with head:
    theme.question("What did the model change, and was it right?")
markup.styles()
store = sessions.store()
found = store.sessions(OFFERED)
if not found:
    sessions.nothing_yet("There is no session to tell of yet.")
    st.stop()
with picker:
    session = sessions.session_picker(found)
state = session.state()
st.caption(f"{markup.plain(sessions.set_up(session.spec))} · seed {session.spec.seed} · results on {session.results_from}")
opening = first_judged(session, state)
thread = marks(session, state)
chosen = timeline(thread, key="story-thread", default=None if opening is None else opening + 1)
stage = chosen.id - 1
here = None if stage < 0 else stage
revision = session.revision()
known = revision, here
"""What every figure of the page hangs on; taken before anything is read, so that what is drawn is never older than it says."""
after, read = session.results(here), session.validation(here)
if after is None or after.empty:
    sessions.problems(session)
    st.info(f"{stage_name(here)} has no results yet.")
    st.page_link(nav.path("train"), label="Watch it train", query_params={"session": session.id})
    st.stop()
earlier_stage = None if not here else here - 1
before = None if here is None else session.results(earlier_stage)
following = session.results(stage + 1) if stage + 1 < session.spec.stages else None
now_label, before_label = stage_name(here), stage_name(earlier_stage)
if here is not None:
    now_label, before_label = f"after {now_label.lower()}", "before training" if earlier_stage is None else f"after {before_label.lower()}"
record = session.proposal(here)
claims = record.proposal.claims if record is not None and record.proposal is not None else ()
outcomes = once(lambda: claim_outcomes(claims, after, following, read), "story claims", *known)
headline(session, here, before, after, outcomes)
contents = Contents("story-contents")
was_right(outcomes)
results(now_label, before, after, before_label)
boards(now_label, before, after, before_label)
context, last = session.context(here), is_last(session, here)
shown = after if read is None else read
if context is not None:
    what_it_saw(session, context, record)
    evidence.open_boards(session, here, context)
    if state.status == "waiting" and state.stage == here:
        your_turn(session, state.stage, context, shown)
if record is not None:
    what_it_said(context, record, outcomes, last)
    what_it_changed(record, shown, last)
    if here is not None and context is not None and not last:
        what_if(session, here, context, record, shown)
show_branches(session)
if show_ledger(session, store):
    contents.add("Predictions", LEDGER_ANCHOR)
show_map(session, here)
moments = [Series(stage_name(i), table) for i in (None, *range(session.spec.stages)) if (table := session.results(i)) is not None]
if len(moments) > 1:
    contents.heading(
        "The whole session, size by size", "session", short="Whole session",
        help="Valid rate before training (0) and after each stage, with 95 % intervals.",
    )  # fmt: skip
    theme.chart(once(lambda: rates_over_stages(moments), "story stages", revision), "over-stages")
measured_marks = [mark for mark in thread if mark.state == "done"]
contents.show(
    chosen,
    next((mark for mark in reversed(measured_marks) if mark.id < chosen.id), None),
    next((mark for mark in measured_marks if mark.id > chosen.id), None),
)
sessions.problems(session)
sessions.unreadable(store)
