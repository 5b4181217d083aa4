"""One answer of a replay: its rationale, its claims, its config, and what the engineer saw."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from frozenlab.app.session import evidence
from frozenlab.app.session.claims import claim_outcomes, claims_table
from frozenlab.app.session.proposals import config_table, knob_rows, raw_answers, repairs, what_changed
from frozenlab.app.ui import markup
from frozenlab.app.ui.figures import overall_by_cell
from frozenlab.app.ui.markup import cited
from frozenlab.engineer.engineers import who_is
from frozenlab.engineer.schema import Context, ProposalRecord
from frozenlab.engineer.sections import USUAL, describe, help_of
from frozenlab.experiments.replays.store import Answer, Replay
from frozenlab.experiments.replays.task import spec_of
from frozenlab.session.session import Session, SessionError
from frozenlab.tasks.families import family_of


def one_answer(replay: Replay, answers: Sequence[Answer], session: Session | None) -> None:
    """The rationale, the claims and the config of the answer that the address names."""
    by_arm: dict[str, dict[int, ProposalRecord]] = {}
    for arm, sample, record, _ in answers:
        by_arm.setdefault(arm, {})[sample + 1] = record
    asked = st.query_params.get("arm")
    arm = asked if asked in by_arm else replay.spec.reference
    number = st.query_params.get("answer", "1")
    answer = int(number) if number.isdigit() and int(number) in by_arm[arm] else min(by_arm[arm])
    st.query_params["arm"], st.query_params["answer"] = arm, str(answer)
    st.session_state["replay-arm"], st.session_state["replay-answer"] = arm, answer
    title, which, nth = st.columns([2.2, 1.2, 0.8], vertical_alignment="bottom")
    title.subheader("One answer", anchor=False)
    which.selectbox("Arm", [one.name for one in replay.spec.arms if one.name in by_arm], key="replay-arm", on_change=pick)
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
    hidden = [section for section in USUAL if section not in context.sections]
    kept_from = f", {' and '.join(hidden)} hidden" if hidden else ""
    with st.expander(f"What this arm was shown: {len(context.lines)} lines{kept_from}"):
        for section in context.sections:
            if lines[section]:
                st.markdown(f"**{section}** · {help_of(section)}")
                cited(lines[section], key=f"replay-saw-{section}", on_pick=evidence.follow)
