"""Replay: what would others have proposed from the same evidence?"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import pandas as pd
import streamlit as st
from pydantic import ValidationError
from streamlit.elements.lib.column_types import ColumnConfig

from frozenlab.engineer.engineers import BY_NAME, UNATTENDED, ApiEngineer, engineer_of, who_is
from frozenlab.engineer.evidence import describe
from frozenlab.engineer.protocol import EngineerSpec
from frozenlab.engineer.schema import SECTIONS, Context, ProposalRecord
from frozenlab.errors import LabError, one_line
from frozenlab.intervals import wilson
from frozenlab.jobs import launcher
from frozenlab.jobs.kept import Signature, signature
from frozenlab.loop.page import evidence
from frozenlab.loop.page.answers import raw_answers, repairs
from frozenlab.loop.page.claim_outcomes import claim_outcomes
from frozenlab.loop.page.claims_table import claims_table
from frozenlab.loop.page.config_rows import knob_rows, what_changed
from frozenlab.loop.page.config_tables import config_table
from frozenlab.loop.store import OFFERED, Session, SessionError
from frozenlab.replays import task as replay_task
from frozenlab.replays.cost import estimate
from frozenlab.replays.page.figures import proposals_figure
from frozenlab.replays.report import compared, proposals, sentences
from frozenlab.replays.task import (
    KINDS,
    MOST_SAMPLES,
    Answer,
    Replay,
    ReplayError,
    ReplayTask,
    arms_of_engineers,
    arms_of_sections,
    askable,
    obstacle,
    replays,
    servers,
    shipped,
    spec_of,
    task_for,
    throw_away,
    validated_stages,
    varied_sections,
)
from frozenlab.studies.spec import Arm
from frozenlab.ui import api_form, markup, nav, sessions, theme
from frozenlab.ui.components.cited import cited
from frozenlab.ui.components.timeline import marks, timeline
from frozenlab.ui.figures import overall_by_size
from frozenlab.ui.once import once

TICK = 1.0
"""Seconds between looks at a replay that runs."""
ERROR = "replay_error"
"""Session-state entry: why the last thing that was asked for could not be done."""
RECORDED = "recorded-"
"""What the names of replays begin with that came with the project."""
KIND_WORDS = {
    "sections": "sections, in every combination",
    "leave-one-out": "sections, all but one",
    "one-at-a-time": "sections, one at a time",
    "engineers": "engineers",
}
LEGEND = (
    "Dotted: the config before · diamond: the mean of an arm's answers, orange if up, blue if down · circles: answers, larger where more "
    "agree; click one to read it"
)


# --- which replays there are -----------------------------------------------------------------------------------------


def everything() -> dict[str, Replay]:
    """All replays by the name in the address: one's own, newest first, then those that came with the project."""
    own = {replay.id: replay for replay in replays(sessions.store())}
    return own | {f"{RECORDED}{replay.id}": replay for replay in shipped()}


def label(name: str, replay: Replay) -> str:
    state = replay.state()
    kind = "recorded" if name.startswith(RECORDED) else "running" if state.live else state.status
    return f"{replay.title} · {len(replay.task.arms)} arms × {replay.task.samples} · {kind}"


def go_to(name: str) -> None:
    """Shows a replay; for callbacks."""
    for part in ("session", "stage", "arm", "answer", evidence.ASKED):
        st.query_params.pop(part, None)
    st.query_params["replay"] = name


def compose(like: Replay | None) -> None:
    """Shows the form, for the stage that a replay was about; for callbacks."""
    for part in ("replay", "arm", "answer", evidence.ASKED):
        st.query_params.pop(part, None)
    known = [session.id for session in suitable()]
    if like is not None and like.task.session in known:
        st.query_params["session"], st.query_params["stage"] = like.task.session, str(like.task.stage + 1)
    elif known:
        st.query_params["session"] = known[0]


def suitable() -> list[Session]:
    """The sessions that something can be asked about, newest first."""
    return [session for session in sessions.store().sessions(OFFERED) if validated_stages(session)]


# --- starting and stopping -------------------------------------------------------------------------------------------


def start(task: ReplayTask) -> None:
    """Starts a replay and goes to it, or keeps the reason why not."""
    try:
        go_to(replay_task.start(task, sessions.store()).id)
    except LabError as error:
        st.session_state[ERROR] = f"Not started: {error}."


def resume(replay: Replay) -> None:
    try:
        replay_task.resume(replay, sessions.store())
    except LabError as error:
        st.session_state[ERROR] = f"Not started: {error}."


def halt(replay: Replay) -> None:
    try:
        launcher.stop(replay)
    except launcher.LaunchError as error:
        st.session_state[ERROR] = f"Not stopped: {error}."


def remove(replay: Replay) -> None:
    try:
        throw_away(replay)
        st.query_params.pop("replay", None)
    except ReplayError as error:
        st.session_state[ERROR] = f"Not removed: {error}."


@st.fragment(run_every=TICK)
def watch(replay: Replay, drawn: int) -> None:
    """How far a replay is that runs; draws the page anew when every arm has answered, and whenever there are twice as many answers."""
    state, task = replay.state(), replay.task
    done = round(state.progress * task.total)
    left = f" · about {sessions.duration(state.seconds_left)} left" if state.seconds_left is not None else ""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(key="replay-progress"):
            what = "loading the model" if state.status == "queued" or not done else f"{done} of {task.total} answers"
            st.progress(min(max(state.progress, 0.0), 1.0), text=f"**{what[0].upper()}{what[1:]}**{left}")
        st.button("Stop", key="replay-stop", icon=":material/stop:", on_click=halt, args=(replay,), help="What was answered is kept.")
    if done >= max(2 * drawn, len(task.arms)) or not state.live:
        st.rerun()


def go_on(replay: Replay, answered: int) -> None:
    """What can be done with a replay that ended before it had all answers."""
    state, missing = replay.state(), replay.task.total - answered
    if not missing:
        return
    try:
        may = api_form.may_ask(servers(replay.task, replay.session), "replay")
    except (ReplayError, SessionError):  # the session is gone: whoever asks for the rest is told so
        may = True
    with st.container(horizontal=True, vertical_alignment="center"):
        why = f": {markup.plain(state.error)}" if state.error else "."
        st.markdown(f"This replay {state.status}, with {answered} of {replay.task.total} answers{why}")
        st.button("Ask for the rest", key="replay-go-on", icon=":material/play_arrow:", on_click=resume, args=(replay,), disabled=not may)


# --- the form --------------------------------------------------------------------------------------------------------


def form(session: Session) -> None:
    """What is to be asked about which stage of ``session``."""
    chosen = timeline(marks(session, session.state()), key="replay-thread").id
    st.query_params["stage"] = str(chosen)
    stage = chosen - 1
    if stage not in validated_stages(session):
        st.info("Nothing has been validated here, so there is no evidence to propose from. Choose a stage with results.")
        return
    controls, hero = theme.bench(1, 1.25)
    with controls:
        kind = st.selectbox("What differs between the arms", KINDS, format_func=KIND_WORDS.__getitem__, key="replay-kind")
        try:
            arms = engineers_fields(session, stage) if kind == "engineers" else sections_fields(session, stage, kind)
            samples = int(st.number_input("Answers of each arm", 1, MOST_SAMPLES, 16, key="replay-samples"))
            task = task_for(session, stage, arms, kind, samples=samples)
        except (ReplayError, SessionError, ValidationError) as error:
            reason = one_line(error)
            st.warning(f"This cannot be asked: {markup.plain(reason)}.")
            return
    with hero:
        may = api_form.may_ask(servers(task, session), "replay")
        words, button = st.columns([4, 1], vertical_alignment="center")
        words.markdown(effort(task, session))
        button.button(
            "Ask", type="primary", key="replay-start", icon=":material/play_arrow:", width="stretch", on_click=start, args=(task,),
            disabled=not may,
        )  # fmt: skip
        arms_table(task.arms, session)
        if not servers(task, session):
            st.caption("The same from the command line:")
            st.code(command(task, kind, session), language="bash")


def sections_fields(session: Session, stage: int, kind: str) -> tuple[Arm, ...]:
    """One engineer and the sections that are on or off. Raises ValidationError for an API's address that is none."""
    can = offered(session, stage)
    own = session.spec.engineer.kind
    first = can.index(own) if own in can else 0
    engineer = st.selectbox("Who is asked", can, first, format_func=told, key=f"replay-who-{session.id}-{stage}")
    chosen = st.multiselect(
        "Sections that are on or off", SECTIONS, list(varied_sections(kind, None)), key=f"replay-sections-{kind}",
        help="The others are always on. All combinations of k sections are 2ᵏ arms.",
    )  # fmt: skip
    if not chosen:
        raise ReplayError("no section is chosen")
    varied = varied_sections(kind, [section for section in SECTIONS if section in chosen])
    return arms_of_sections(kind, varied, with_settings(engineer, session))


def engineers_fields(session: Session, stage: int) -> tuple[Arm, ...]:
    """The engineers that are asked. Raises ValidationError as :func:`sections_fields` does."""
    chosen = st.multiselect(
        "Who is asked", offered(session, stage), askable(session, stage), format_func=told, key=f"replay-engineers-{session.id}-{stage}"
    )
    if not chosen:
        raise ReplayError("no engineer is chosen")
    return arms_of_engineers([with_settings(name, session) for name in chosen], session.spec.engineer.kind)


def offered(session: Session, stage: int) -> list[str]:
    """The engineers that can be asked here, one behind an API always; says why others cannot."""
    reasons = {engineer: obstacle(session, stage, engineer) for engineer in UNATTENDED}
    for reason in dict.fromkeys(reason for reason in reasons.values() if reason):
        st.caption(f"{markup.plain(reason[0].upper() + reason[1:])}.")
    return [engineer for engineer, reason in reasons.items() if reason is None]


def told(engineer: str) -> str:
    return f"{engineer} · {who_is(engineer)}"


def with_settings(name: str, session: Session) -> EngineerSpec:
    """The engineer of this name: with the session's settings if it is the session's own, as the form has them if it asks a server, else
    with the usual ones. Raises ReplayError and ValidationError for a form that is not filled in."""
    if "network" not in BY_NAME[name].needs or session.spec.engineer.kind == name:
        return engineer_of(name, session.spec.engineer)
    fields = api_form.fields("replay-api")
    if not fields["model"]:
        raise ReplayError("name the model behind the API")
    return ApiEngineer.model_validate(fields)


def arms_table(arms: Sequence[Arm], session: Session) -> None:
    """Who is asked and what each is shown."""
    heads = "".join(f'<th scope="col" style="text-align:center" title="{markup.SECTION_HELP[name]}">{name}</th>' for name in SECTIONS)
    lines = []
    for place, arm in enumerate(arms):
        shown = session.spec.sections if arm.sections is None else arm.sections
        cells = "".join(f'<td style="text-align:center">{"●" if name in shown else "·"}</td>' for name in SECTIONS)
        note = " <small>reference</small>" if not place and len(arms) > 1 else ""
        lines.append(f'<tr><th scope="row">{escape(arm.name)}{note}</th>{cells}</tr>')
    st.html(
        f'<div class="fl-scroll"><table class="fl-table"><caption class="fl-hidden">Arms and the sections that they are shown</caption>'
        f'<thead><tr><th scope="col">arm</th>{heads}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'
    )


def effort(task: ReplayTask, session: Session) -> str:
    """How many answers, how long they will take if that is known, and what they cost."""
    asked = [spec_of(arm, session).engineer for arm in task.arms]
    models = sum("model" in engineer.needs for engineer in asked) * task.samples
    records = [record for stage in range(session.spec.stages) if (record := session.proposal(stage)) is not None]
    seconds = [attempt.seconds for record in records if asks_model(record) for attempt in record.attempts]
    words = f"**{task.total} answers**, the same draws for every arm."
    if models and seconds:
        words += f" Those of the model take about {sessions.duration(models * sum(seconds) / len(seconds))}, if as long as in the session."
    known = estimate(task, session)
    return f"{words} {markup.plain(known.sentence)}" if known else words


def asks_model(record: ProposalRecord) -> bool:
    """Whether the session's own model, or the one before training, wrote this proposal."""
    return record.engineer in BY_NAME and "model" in BY_NAME[record.engineer].needs


def command(task: ReplayTask, kind: str, session: Session) -> str:
    """What does the same in a shell."""
    words = [f"frozenlab replay {task.session}:{task.stage + 1} --vary {kind}"]
    engineers = list(dict.fromkeys(arm.engineer.kind for arm in task.arms if arm.engineer))
    if kind == "engineers" or engineers != [session.spec.engineer.kind]:
        words.append(f"--engineers {','.join(engineers)}")
    if kind != "engineers":
        hidden = {section for arm in task.arms for section in SECTIONS if section not in (arm.sections or ())}
        varied = [section for section in SECTIONS if section in hidden]
        if kind == "sections" and tuple(varied) != varied_sections(kind, None):
            words.append(f"--sections {','.join(varied)}")
    return " ".join([*words, f"--samples {task.samples}"])


# --- what came out ---------------------------------------------------------------------------------------------------


class Read(NamedTuple):
    """What a replay has so far."""

    answers: list[Answer]
    table: pd.DataFrame
    """Of the proposals."""
    arms: pd.DataFrame
    """Compared with the reference."""
    sentences: list[str]


def read_replay(replay: Replay, written: Signature) -> Read | None:
    """The answers ``written`` until now; None before the first. Raises ReplayError."""

    def read() -> Read:
        answers = replay.answers()
        table = proposals(answers)
        return Read(answers, table, compared(table, replay.task.reference), sentences(table, replay.task))

    return once(read, "replay", str(replay.dir), written) if written else None


def source(replay: Replay) -> Session | None:
    """The session that was asked about; None if it is not here any more, which the page says."""
    task = replay.task
    words, link = st.columns([3, 1], vertical_alignment="center")
    try:
        session = replay.session
    except SessionError:
        words.caption(f"Asked after stage {task.stage + 1} of {markup.plain(task.session)}, which is not here any more.")
        return None
    who = "" if task.arms[0].engineer != task.arms[-1].engineer else f" · {spec_of(task.arms[0], session).engineer.kind} engineer"
    took = f" · seed {task.seed}" if task.seed else ""
    words.caption(f"The evidence of stage {task.stage + 1} of {markup.plain(session.title)}, unchanged{who} · nothing was trained{took}")
    where = {"session": session.id, "stage": str(task.stage + 1)}
    with link, st.container(horizontal_alignment="right"):
        st.page_link(nav.path("story"), label=f"The story of stage {task.stage + 1}", query_params=where, icon=":material/menu_book:")
    return session


def show(name: str, replay: Replay) -> None:
    session = source(replay)
    written = signature(replay.dir / "answers.parquet")
    try:
        known = read_replay(replay, written)
    except ReplayError as error:
        st.error(markup.plain(str(error)))
        return
    if replay.state().live:
        watch(replay, len(known.answers) if known else 0)
    elif not name.startswith(RECORDED):
        go_on(replay, len(known.answers) if known else 0)
    if known is None:
        if session is not None:
            arms_table(replay.task.arms, session)
        return
    answers, table, arms, (first, *others) = known
    led = re.sub(r"\d+\.\d points per knob", r"<b>\g<0></b>", escape(first))
    st.html(f'<p class="fl-answer">{led}</p><p class="fl-note">{escape(" ".join(others))}</p>')
    there = [arm.name for arm in replay.task.arms if arm.name in set(table["arm"])]
    st.subheader(
        "What every arm would do",
        anchor=False,
        help="The next config, by map size. On the pale band: the reference arm.",
    )
    st.caption(LEGEND)
    before = answers[0].record.config_before
    drawn = once(lambda: proposals_figure(table, before, there), "replay figure", str(replay.dir), written)
    theme.chart(drawn, "replay-proposals", on_select=follow_circle, selection_mode="points")
    comparison(arms, table, replay.task.reference)
    one_answer(replay, answers, session)
    downloads(name, replay, answers, table)


def follow_circle() -> None:
    """A click on a circle opens the first of the answers in it."""
    points = st.session_state["replay-proposals"]["selection"]["points"]
    if points:
        arm, answer, *_ = points[0]["customdata"]
        st.query_params["arm"], st.query_params["answer"] = str(arm), str(answer)


def comparison(arms: pd.DataFrame, table: pd.DataFrame, reference: str) -> None:
    told = arms.reset_index()
    shown = pd.DataFrame(
        {
            "arm": told["arm"],
            "answers": told["n"],
            "unusable": [unusable(failed, n) for failed, n in zip(told["unusable"], told["n"], strict=True)],
            "distance": told["distance"],
            "p": ["–" if pd.isna(p) else "< 0.001" if p < 0.001 else f"{p:.3f}" for p in told["p"]],
            "spread": told["spread"],
            "changes": told["changes"].round(1),
            "repairs": told["repairs"].round(1),
            "tokens": told["tokens"].round(0),
        }
    )
    costs = table.drop_duplicates(["arm", "sample"]).groupby("arm", sort=False)["cost"]
    if table["cost"].notna().any():
        shown["cost"] = shown["arm"].map(costs.sum(min_count=1)).round(4)
    longest = float(max(told["distance"].max(), told["spread"].max(), 1.0))

    def bar(words: str) -> ColumnConfig:
        return st.column_config.ProgressColumn(min_value=0.0, max_value=longest, format="%.1f", help=words)

    st.subheader("How the arms compare", anchor=False)
    st.dataframe(
        shown, hide_index=True, width="stretch", key="replay-table",
        column_config={
            "unusable": st.column_config.TextColumn(help="Answers that could not be used, with the 95 % Wilson interval of their rate."),
            "distance": bar(f"Points per knob between the arm's mean config and that of {reference}."),
            "p": st.column_config.TextColumn(
                help="Of the distance: paired randomisation test over answers of the same draw, after Holm's correction."
            ),
            "spread": bar("Points per knob between an answer and the arm's mean config."),
            "changes": st.column_config.NumberColumn(help="Knobs that an answer changes, on average."),
            "repairs": st.column_config.NumberColumn(help="Values that the guard repaired in an answer, on average."),
            "tokens": st.column_config.NumberColumn(help="Written for an answer, on average."),
        },
    )  # fmt: skip
    st.caption(
        f"A knob is the share, hole ratio or wait ratio of one map size. Distance (from {markup.plain(reference)}) and spread are means "
        "over all knobs, in points. An answer that could not be used counts as the config before, which would have been kept."
    )


def unusable(failed: int, n: int) -> str:
    low, high = wilson(failed, n)
    return f"{failed} ({100 * low:.0f} to {100 * high:.0f} %)"


# --- one answer ------------------------------------------------------------------------------------------------------


def one_answer(replay: Replay, answers: Sequence[Answer], session: Session | None) -> None:
    """The rationale, the claims and the config of the answer that the address names."""
    by_arm: dict[str, dict[int, ProposalRecord]] = {}
    for arm, sample, record in answers:
        by_arm.setdefault(arm, {})[sample + 1] = record
    asked = st.query_params.get("arm")
    arm = asked if asked in by_arm else replay.task.reference
    number = st.query_params.get("answer", "1")
    answer = int(number) if number.isdigit() and int(number) in by_arm[arm] else min(by_arm[arm])
    st.query_params["arm"], st.query_params["answer"] = arm, str(answer)
    st.session_state["replay-arm"], st.session_state["replay-answer"] = arm, answer
    title, which, nth = st.columns([2.2, 1.2, 0.8], vertical_alignment="bottom")
    title.subheader("One answer", anchor=False)
    which.selectbox("Arm", [one.name for one in replay.task.arms if one.name in by_arm], key="replay-arm", on_change=pick)
    nth.selectbox(
        "Answer", sorted(by_arm[arm]), key="replay-answer", on_change=pick,
        format_func=lambda n: f"{n} of {replay.task.samples}" + ("" if by_arm[arm][n].proposal else " · unusable"),
    )  # fmt: skip
    show_answer(by_arm[arm][answer], context_of(replay, arm, session), session, replay.task.stage)


def pick() -> None:
    st.query_params["arm"], st.query_params["answer"] = st.session_state["replay-arm"], str(st.session_state["replay-answer"])


def context_of(replay: Replay, arm: str, session: Session | None) -> Context | None:
    """What the arm's engineer saw."""
    if session is None:
        return None
    spec = spec_of(next(one for one in replay.task.arms if one.name == arm), session)
    try:
        return describe(session.measurements(replay.task.stage), spec.sections, spec.layouts)
    except SessionError:
        return None


def show_answer(record: ProposalRecord, context: Context | None, session: Session | None, stage: int) -> None:
    st.markdown(f"Here {who_is(record.engineer)} **{markup.plain(what_changed(record))}**.")
    if record.kept_because is not None:
        st.warning(f"**The previous config would be kept.** {markup.plain(record.kept_because)}", icon=":material/undo:")
    seen = {line.id for line in context.lines} if context else None
    if record.proposal is not None:
        st.html(markup.quote(record.proposal.summary, who_is(record.engineer)))
        after = session.validation(stage) if session else None
        st.html(config_table(knob_rows(record), {} if after is None else overall_by_size(after)))
        repairs(record.guard)
        if record.proposal.claims:
            with st.expander(
                f"{len(record.proposal.claims)} claims; none was tested, as no stage was trained on this config", expanded=True
            ):
                claims = claims_table(claim_outcomes(record.proposal.claims, after, None), seen)
                if session is not None and context is not None:
                    cited(claims, key="replay-claims", on_pick=evidence.follow)
                    evidence.open_boards(session, stage, context)
                else:
                    st.html(claims)
    if context is not None:
        what_it_saw(context, record)
    raw_answers(record)


def what_it_saw(context: Context, record: ProposalRecord) -> None:
    claims = record.proposal.claims if record.proposal is not None else ()
    lines = markup.evidence_sections(context, {name for claim in claims for name in claim.evidence})
    hidden = [section for section in SECTIONS if section not in context.sections]
    kept_from = f", {' and '.join(hidden)} hidden" if hidden else ""
    with st.expander(f"What this arm was shown: {len(context.lines)} lines{kept_from}"):
        for section in context.sections:
            if lines[section]:
                st.markdown(f"**{section}** · {markup.SECTION_HELP[section]}")
                cited(lines[section], key=f"replay-saw-{section}", on_pick=evidence.follow)


def downloads(name: str, replay: Replay, answers: Sequence[Answer], table: pd.DataFrame) -> None:
    def as_json() -> str:
        told = [{"arm": answer.arm, "answer": answer.sample + 1, "record": answer.record.model_dump(mode="json")} for answer in answers]
        return json.dumps({"task": replay.task.model_dump(mode="json"), "answers": told}, indent=1)

    with st.container(horizontal=True):
        for kind, data in (("CSV", lambda: table.to_csv(index=False)), ("JSON", as_json)):
            st.download_button(
                kind, data, f"replay-{replay.id}.{kind.lower()}", on_click="ignore", key=f"replay-{kind}", icon=":material/download:"
            )
        if not name.startswith(RECORDED) and not replay.state().live:
            st.button("Remove this replay", key="replay-remove", icon=":material/delete:", on_click=remove, args=(replay,))


def nothing_yet() -> None:
    """The empty state: a sentence and the button that makes it non-empty."""
    for session in suitable():
        for stage in reversed(validated_stages(session)):
            if session.spec.engineer.kind in askable(session, stage):
                arms = arms_of_sections("sections", varied_sections("sections", None), session.spec.engineer)
                task = task_for(session, stage, arms, "sections")
                st.info("There is no replay yet. This asks what the engineer would have proposed had it seen less.")
                words = f"Ask about stage {stage + 1} of {session.title}"
                may = api_form.may_ask(servers(task, session), "replay")
                st.button(words, type="primary", key="replay-first", on_click=start, args=(task,), disabled=not may)
                return
    sessions.nothing_yet("No finished stage to replay yet.")


# --- the page --------------------------------------------------------------------------------------------------------

nav.ensure_nav()
head, picker, action = st.columns([2.1, 1.7, 0.6], vertical_alignment="bottom")
with head:
    theme.question("What would others have proposed from the same evidence?")
markup.styles()
sessions.said_why(ERROR)
found = everything()
asked_replay = st.query_params.get("replay")
composing = asked_replay is None and "session" in st.query_params
if asked_replay is not None and asked_replay not in found:
    st.warning("There is no such replay here." + (" This is another one instead." if found else ""))
current = None if composing or not found else asked_replay if asked_replay in found else next(iter(found))
action.button(
    "New replay", type="secondary" if composing else "primary", key="replay-new", width="stretch", disabled=composing,
    on_click=compose, args=(found[current] if current else None,),
)  # fmt: skip
if composing:
    able = suitable()
    if not able:
        sessions.nothing_yet("No session has finished a stage yet.")
        st.stop()
    with picker:
        session = sessions.session_picker(able, validated_stages)
    form(session)
elif current is None:
    nothing_yet()
else:
    st.query_params["replay"] = st.session_state["replay-picker"] = current
    picker.selectbox(
        "Replay", list(found), key="replay-picker", format_func=lambda name: label(name, found[name]),
        on_change=lambda: go_to(st.session_state["replay-picker"]),
    )  # fmt: skip
    show(current, found[current])
