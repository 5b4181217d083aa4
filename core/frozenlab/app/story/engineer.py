"""The engineer after a stage: the evidence it saw, its words, and the config it wrote."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from frozenlab.app.session import evidence
from frozenlab.app.session.claims import claims_table
from frozenlab.app.session.proposals import config_table, knob_rows, layouts_table, raw_answers, repairs
from frozenlab.app.story.moment import Moment
from frozenlab.app.ui import markup, nav
from frozenlab.app.ui.components.timeline import stage_name
from frozenlab.app.ui.figures import overall_by_cell
from frozenlab.app.ui.markup import cited
from frozenlab.base.numbers import counted
from frozenlab.engineer import faithfulness
from frozenlab.engineer.engineers import who_is
from frozenlab.engineer.schema import Context, Evidence, ProposalRecord
from frozenlab.engineer.sections import SECTIONS, help_of
from frozenlab.tasks.families import family_of


def what_it_saw(moment: Moment, context: Context) -> None:
    session, record = moment.session, moment.record
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.subheader("What it read", anchor=False, help="All that the engineer saw. Click the id of a line to see the boards behind it.")
        if context.stage is not None:  # a replay starts from a stage
            address = {"session": session.id, "stage": str(context.stage + 1)}
            st.page_link(nav.path("replay"), label="Ask others, or ask again", query_params=address, icon=":material/replay:")
    claims = record.proposal.claims if record is not None and record.proposal is not None else ()
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
    st.subheader("What it wrote", anchor=False)
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
            cited(claims_table(outcomes, seen), key="claims", on_pick=evidence.follow)
        if context is not None and (checked := faithfulness.in_words(record, context)):
            st.caption(markup.plain(checked), help="Checked: do the cited lines say what each claim says, and does the config do it?")
    raw_answers(record)


def what_it_changed(moment: Moment, record: ProposalRecord) -> None:
    st.subheader("What it would train on next; nobody did" if moment.is_last else "What changed in the config", anchor=False)
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
