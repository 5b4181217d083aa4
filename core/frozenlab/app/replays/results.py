"""The answers of a replay: what each arm would do, how the arms compare, and each answer in full."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import pandas as pd
import streamlit as st

from frozenlab.app import experiment
from frozenlab.app.bundles import export_button, imported_note
from frozenlab.app.replays.figures import proposals_figure
from frozenlab.app.replays.form import ERROR, arms_table
from frozenlab.app.session import evidence
from frozenlab.app.session.claims import claim_outcomes, claims_table
from frozenlab.app.session.proposals import config_table, knob_rows, raw_answers, repairs, what_changed
from frozenlab.app.ui import api_form, markup, nav, theme
from frozenlab.app.ui.figures import overall_by_cell
from frozenlab.app.ui.markup import cited
from frozenlab.app.ui.once import once
from frozenlab.base.files import Signature, as_csv, signature
from frozenlab.base.numbers import Interval
from frozenlab.engineer.engineers import name_of, who_is
from frozenlab.engineer.schema import Context, ProposalRecord
from frozenlab.engineer.sections import USUAL, describe, help_of
from frozenlab.experiments.bundles.found import Found
from frozenlab.experiments.replays.report import compared, proposals, sentences
from frozenlab.experiments.replays.store import Answer, Replay
from frozenlab.experiments.replays.task import ReplayError, servers, spec_of
from frozenlab.session.session import Session, SessionError
from frozenlab.tasks.families import family_of


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
        arms = compared(table, replay.spec.reference)
        return Read(answers, table, arms, sentences(arms, replay.spec))

    return once(read, "replay", str(replay.dir), written) if written else None


def origin(replay: Replay) -> Session | None:
    """The session that was asked about; None if it is not here any more, which the page says."""
    task = replay.spec
    words, link = st.columns([3, 1], vertical_alignment="center")
    try:
        session = replay.session
    except SessionError:
        words.caption(f"Asked after stage {task.stage + 1} of {markup.plain(task.session)}, which is not here any more.")
        return None
    who = "" if task.arms[0].engineer != task.arms[-1].engineer else f" · engineer: {name_of(spec_of(task.arms[0], session).engineer.kind)}"
    took = f" · seed {task.seed}" if task.seed else ""
    words.caption(f"The evidence of stage {task.stage + 1} of {markup.plain(session.title)}, unchanged{who} · nothing was trained{took}")
    where = {"session": session.address, "stage": str(task.stage + 1)}
    with link, st.container(horizontal_alignment="right"):
        st.page_link(nav.path("story"), label=f"The story of stage {task.stage + 1}", query_params=where, icon=":material/menu_book:")
    return session


def watch(replay: Replay, drawn: int) -> None:
    """Draws the page again when every arm has answered, and whenever the answers have doubled."""
    total, arms = replay.total, len(replay.spec.arms)

    def look(part: float) -> tuple[str, bool]:
        done = round(part * total)
        return f"**{done} of {total} answers**" if done else "**Loading the model**", done >= max(2 * drawn, arms)

    experiment.watch(replay, look)


def go_on(replay: Replay, session: Session | None, answered: int) -> None:
    try:
        may = session is None or api_form.may_ask(servers(replay.spec, session), "replay")
    except ReplayError:  # resuming it says so
        may = True
    experiment.go_on(replay, f", with {answered} of {replay.total} answers", may)


def show_replay(name: str, replay: Replay) -> None:
    session = origin(replay)
    written = signature(replay.dir / "answers.parquet")
    try:
        known = read_replay(replay, written)
    except ReplayError as error:
        st.error(markup.plain(str(error)))
        return
    answered = len(known.answers) if known else 0
    if replay.state().live:
        watch(replay, answered)
    elif not name.startswith(experiment.RECORDED):
        imported_note("replay", replay.dir)
        if answered < replay.total:
            go_on(replay, session, answered)
    if known is None:
        if session is not None:
            arms_table(replay.spec.arms, session.spec.sections)
        return
    answers, table, arms, (first, *others) = known
    markup.answer(re.sub(r"\d+\.\d points per setting", r"<b>\g<0></b>", escape(first)))
    if others:
        with st.expander("How sure this is"):
            st.html("".join(f'<p class="fl-note">{escape(sentence)}</p>' for sentence in others))
    arms_answered = [arm.name for arm in replay.spec.arms if arm.name in set(table["arm"])]
    st.header(
        "What every arm would do",
        anchor=False,
        help="The next config, cell by cell. On the pale band: the reference arm. An arm that keeps a setting has no line for it. Click a "
        "circle to read its answer.",
    )
    before = answers[0].record.config_before
    drawn = once(lambda: proposals_figure(table, before, arms_answered), "replay figure", str(replay.dir), written)
    theme.chart(drawn, "replay-proposals", on_select=follow_circle, selection_mode="points")
    comparison(arms, table, replay.spec.reference)
    one_answer(replay, answers, session)
    downloads(name, replay, answers, table)


def leave() -> None:
    """Shows no replay in particular; for callbacks."""
    for part in ("replay", "arm", "answer", evidence.ASKED):
        st.query_params.pop(part, None)


def follow_circle() -> None:
    """A click on a circle opens the first of the answers in it."""
    points = st.session_state["replay-proposals"]["selection"]["points"]
    if points:
        arm, answer, *_ = points[0]["customdata"]
        st.query_params["arm"], st.query_params["answer"] = str(arm), str(answer)


def comparison(arms: pd.DataFrame, table: pd.DataFrame, reference: str) -> None:
    rows = arms.reset_index()
    shown = pd.DataFrame(
        {
            "arm": rows["arm"].map(name_of),
            "answers": rows["n"],
            "unusable": [unusable(failed, n) for failed, n in zip(rows["unusable"], rows["n"], strict=True)],
            "distance": rows["distance"],
            "p": ["–" if pd.isna(p) else "< 0.001" if p < 0.001 else f"{p:.3f}" for p in rows["p"]],
            "spread": rows["spread"],
            "changes": rows["changes"].round(1),
            "repairs": rows["repairs"].round(1),
            "tokens": rows["tokens"].round(0),
        }
    )
    if rows["claims"].notna().any():
        answered = [faithful(k, n) for k, n in zip(rows["faithful"], rows["claims"], strict=True)]
        shown.insert(shown.columns.get_loc("distance"), "faithful", answered)
    costs = table.drop_duplicates(["arm", "sample"]).groupby("arm", sort=False)["cost"]
    if table["cost"].notna().any():
        shown["cost"] = rows["arm"].map(costs.sum(min_count=1)).round(4)
    st.header("How the arms compare", anchor=False)
    markup.data_table(
        "How the arms compare", shown, decimals={"distance": 1, "spread": 1}, bars=("distance", "spread"),
        hints={
            "unusable": "Answers that could not be used, with the 95 % Wilson interval of their rate.",
            "faithful": "Claims whose cited lines say what they say and whose setting the config has, of those that can be checked.",
            "distance": f"Points per setting between the arm's mean config and that of {reference}.",
            "p": "Of the distance: paired randomisation test over answers of the same draw, after Holm's correction.",
            "spread": "Points per setting between an answer and the arm's mean config.",
            "changes": "Settings that an answer changes, on average.",
            "repairs": "Values that the guard repaired in an answer, on average.",
            "tokens": "Written for an answer, on average.",
        },
    )  # fmt: skip
    st.caption(
        "A setting is the share, hole ratio or wait ratio of one cell. An answer that could not be used counts as the config before."
    )


def one_answer(replay: Replay, answers: Sequence[Answer], session: Session | None) -> None:
    """The rationale, the claims and the config of the answer that the address names."""
    by_arm: dict[str, dict[int, ProposalRecord]] = {}
    for arm, sample, record, _ in answers:
        by_arm.setdefault(arm, {})[sample + 1] = record
    asked = st.query_params.get("arm")
    arm = asked if asked in by_arm else replay.spec.reference
    named = st.query_params.get("answer")
    answer = next((number for number in by_arm[arm] if str(number) == named), min(by_arm[arm]))
    st.query_params["arm"], st.query_params["answer"] = arm, str(answer)
    st.session_state["replay-arm"], st.session_state["replay-answer"] = arm, answer
    title, which, nth = st.columns([2.2, 1.2, 0.8], vertical_alignment="bottom")
    title.header("One answer", anchor=False)
    arms = [one.name for one in replay.spec.arms if one.name in by_arm]
    which.selectbox("Arm", arms, key="replay-arm", on_change=pick, format_func=name_of)
    nth.selectbox(
        "Answer", sorted(by_arm[arm]), key="replay-answer", on_change=pick,
        format_func=lambda n: f"{n} of {replay.spec.samples}" + ("" if by_arm[arm][n].proposal else " · unusable"),
    )  # fmt: skip
    show_answer(by_arm[arm][answer], context_of(replay, arm, session), session, replay.spec.stage)


def pick() -> None:
    st.query_params["arm"], st.query_params["answer"] = st.session_state["replay-arm"], str(st.session_state["replay-answer"])


def context_of(replay: Replay, arm: str, session: Session | None) -> Context | None:
    """What the arm's engineer saw."""
    if session is None:
        return None
    spec = spec_of(next(one for one in replay.spec.arms if one.name == arm), session)
    try:
        return describe(session.measurements(replay.spec.stage), spec.sections, spec.layouts)
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
        st.html(config_table(knob_rows(record), {} if after is None else overall_by_cell(after), family_of(record.config_after.family)))
        repairs(record.guard, family_of(record.config_after.family))
        if record.proposal.claims:
            with st.expander(f"{len(record.proposal.claims)} claims; none was tested, as no stage was trained on this config"):
                claims = claims_table(claim_outcomes(record.proposal.claims, after, None), record, seen)
                if session is not None and context is not None:
                    cited(claims, key="replay-claims", on_pick=evidence.follow)
                    evidence.open_boards(session, stage, context)
                else:
                    st.html(claims)
    if context is not None:
        what_it_saw(context, record)
    raw_answers(record)


def what_it_saw(context: Context, record: ProposalRecord) -> None:
    lines = markup.evidence_sections(context, {name for claim in record.claims for name in claim.evidence})
    hidden = [section for section in USUAL if section not in context.sections]
    kept_from = f", {' and '.join(hidden)} hidden" if hidden else ""
    with st.expander(f"What this arm was shown: {len(context.lines)} lines{kept_from}"):
        for section in context.sections:
            if lines[section]:
                st.markdown(f"**{section}** · {help_of(section)}")
                cited(lines[section], key=f"replay-saw-{section}", on_pick=evidence.follow)


def faithful(k: float, n: float) -> str:
    return "–" if pd.isna(n) or not n else f"{k:.0f} of {n:.0f}"


def unusable(failed: int, n: int) -> str:
    return f"{failed} ({Interval.of(failed, n).percents})"


def downloads(name: str, replay: Replay, answers: Sequence[Answer], table: pd.DataFrame) -> None:
    def as_json() -> str:
        rows = [{"arm": answer.arm, "answer": answer.sample + 1, "record": answer.record.model_dump(mode="json")} for answer in answers]
        return json.dumps({"task": replay.spec.model_dump(mode="json"), "answers": rows}, indent=1)

    with st.container(horizontal=True):
        for kind, data in (("CSV", lambda: as_csv(table)), ("JSON", as_json)):
            st.download_button(
                kind, data, f"replay-{replay.id}.{kind.lower()}", on_click="ignore", key=f"replay-{kind}", icon=":material/download:"
            )
        if not name.startswith(experiment.RECORDED) and not replay.state().live:
            experiment.delete_button(replay, "replay-delete", ERROR, leave)
        if not name.startswith(experiment.RECORDED):
            export_button([Found("replay", replay.dir)], key="replay-export")
