"""What they wrote: the decisions of a study's engineers, arm beside arm and stage by stage."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape

import streamlit as st

from frozenlab.app import experiment
from frozenlab.app.session.proposals import KnobRow, knob_rows
from frozenlab.app.studies.form import start_form
from frozenlab.app.ui import markup, nav, theme
from frozenlab.app.ui.components.timeline import stage_name
from frozenlab.base.numbers import counted, share
from frozenlab.engineer.engineers import name_of
from frozenlab.engineer.schema import ProposalRecord
from frozenlab.experiments.replays.store import Replay
from frozenlab.experiments.studies.store import Study
from frozenlab.session.session import Session
from frozenlab.tasks.families import cell_label, family_of

LEAD = "An arm of a study is an engineer and what it may read. Here its decisions stand beside those of the other arms, to the letter."
BESIDE = 4
"""Arms that are shown at first, and in a row."""
Wrote = dict[str, ProposalRecord]
"""Arm -> what its engineer wrote after one stage."""


def page() -> None:
    """One study of one's own; those that come with FrozenLab have no sessions."""
    own = {name: study for name, study in experiment.everything(Study).items() if not study.recorded}
    experiment.page(Study, "What did the engineers write?", LEAD, "New study", start_form, show, own, none_yet=none_yet)


def none_yet() -> None:
    """The first answer of each engineer in a recorded replay."""
    replay = Replay.shipped()[0]
    found = {answer.arm: answer.record for answer in reversed(replay.answers())}
    st.caption(
        "A study of your own appears here. Until then: what engineers wrote in a recorded replay, each from the same evidence, the first "
        f"of its {replay.spec.samples} answers."
    )
    shown = [arm.name for arm in replay.spec.arms]
    show_stage(
        {arm: found[arm] for arm in shown}, {arm: ("replay", {"replay": f"{experiment.RECORDED}{replay.id}", "arm": arm}) for arm in shown}
    )


def show(study: Study) -> None:
    """The decisions of one unit, a seed or a student with a seed, by stage."""
    found = units_of(study)
    if not found:
        st.info("No engineer has been asked yet.")
        return
    st.markdown(how_many_agree(found))
    choice, arms = st.columns([1, 2.2], vertical_alignment="bottom")
    with choice:
        unit = st.selectbox("Training run", list(found), key="wrote-unit")
    sessions_of = found[unit]
    shown = arms.multiselect(
        "Arms", list(sessions_of), list(sessions_of)[:BESIDE], key=f"wrote-arms-{study.id}",
        help="The others are compared with the first: what it did not do is marked.",
    )  # fmt: skip
    for stage in (None, *range(study.spec.session.stages)):
        wrote = {arm: record for arm in shown if (record := sessions_of[arm].proposal(stage)) is not None}
        if wrote:
            st.header(f"After {stage_name(stage).lower()}" if stage is not None else "Before training", anchor=False)
            of_stage = {"part": "wrote"} | ({} if stage is None else {"stage": str(stage + 1)})
            show_stage(wrote, {arm: ("story", {"session": sessions_of[arm].address} | of_stage) for arm in wrote})


def units_of(study: Study) -> dict[str, dict[str, Session]]:
    """Each training run that has decisions, in words -> the session of each arm."""
    found: dict[str, dict[str, Session]] = {}
    for cell in study.cells:
        session = study.session(cell)
        if session is not None and session.proposals():
            found.setdefault(cell.unit, {})[cell.arm.name] = session
    return found


def how_many_agree(found: Mapping[str, Mapping[str, Session]]) -> str:
    """In how many training runs all arms wrote the same configs, which then varied nothing."""
    several = {unit: arms for unit, arms in found.items() if len(arms) > 1}
    if not several:
        return "One arm has decided so far, so there is nothing to compare it with."
    same = [unit for unit, arms in several.items() if all_alike([session.proposals() for session in arms.values()])]
    runs = counted(len(several), "training run")
    if not same:
        return f"In each of {runs} the arms wrote different configs."
    end = ": **nothing was varied**, so no effect can be seen." if len(same) == len(several) else "; nothing was varied there."
    return f"In {len(same)} of {runs} all arms wrote the same configs{end}"


def all_alike(arms: Sequence[Sequence[ProposalRecord]]) -> bool:
    first, *others = ([record.config_after for record in arm] for arm in arms)
    return all(configs == first for configs in others)


def show_stage(wrote: Wrote, ways: Mapping[str, tuple[str, dict[str, str]]]) -> None:
    """Arm beside arm: the way to all that it wrote (a page, and the rest of its address), its sentence, and what it changed; what the
    first arm did not do is marked."""
    first = next(iter(wrote))
    for column, (arm, record) in zip(theme.places(len(wrote), BESIDE), wrote.items(), strict=True):
        with column.container(border=True, height="stretch"):
            page, address = ways[arm]
            st.page_link(nav.path(page), label=f"**{name_of(arm)}** · in full", query_params=address, icon=":material/menu_book:")
            if record.kept_because is not None:
                st.caption(f"Kept its config: {markup.plain(record.kept_because)}")
            elif record.proposal is not None:
                st.html(markup.quote(record.proposal.summary, record.engineer))
            if arm != first and record.config_after == wrote[first].config_after:
                st.caption(f"The same config as that of {name_of(first)}.")
            else:
                st.html(changes_list(changed(record), changed(wrote[first])))
    if len(wrote) > 1:
        st.caption(f"◆ What {name_of(first)} did not do.")


def changed(record: ProposalRecord) -> list[str]:
    """The knobs that changed, in words with their values before and after."""
    family = family_of(record.config_after.family)
    moved = [row for row in knob_rows(record) if row.words != "same"]
    return [f"{cell_label(row.cell)}: {family.setting_label(row.knob)} {in_words(row)}" for row in moved]


def in_words(row: KnobRow) -> str:
    before, after = ("none" if value is None else share(value) for value in (row.before, row.after))
    return f"{before} → {after}"


def changes_list(changes: Sequence[str], known: Collection[str]) -> str:
    """The changes as a list, those that are not ``known`` marked."""
    if not changes:
        return '<p class="fl-note">It changed nothing.</p>'
    lines = (f'<li class="{"" if words in known else "is-own"}">{escape(words)}</li>' for words in changes)
    return f'<ul class="fl-changes">{"".join(lines)}</ul>'
