"""What they wrote: the decisions of a study's engineers, arm beside arm and stage by stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from urllib.parse import urlencode

import streamlit as st

from frozenlab.app import experiment
from frozenlab.app.session.proposals import KnobRow, knob_rows
from frozenlab.app.studies.form import start_form
from frozenlab.app.ui import markup
from frozenlab.app.ui.components.timeline import stage_name
from frozenlab.base.cells import in_order
from frozenlab.base.numbers import counted, share, typeset, unbroken
from frozenlab.engineer.engineers import name_of, who_is
from frozenlab.engineer.schema import ProposalRecord
from frozenlab.experiments.replays.store import Replay
from frozenlab.experiments.studies.store import Study
from frozenlab.session.session import Session
from frozenlab.tasks.families import cell_label, cells_noun, family_of
from frozenlab.tasks.family import Family

LEAD = "An arm of a study is an engineer and what it may read. Here its decisions stand beside those of the other arms, to the letter."
Wrote = dict[str, ProposalRecord]
"""Arm -> what its engineer wrote after one stage."""
LEGEND = (
    '<p class="fl-note fl-mix-legend"><span><i class="fl-mix-bar"><i></i></i> stayed</span>'
    '<span><i class="fl-mix-bar"><i class="is-up"></i></i> came</span><span><i class="fl-mix-bar"><i class="is-down"></i></i> went</span>'
    '<span><i class="fl-mix-bar"><i class="was"></i></i> where it was</span><span>asked for: the guard kept another value</span>'
    "<span>Select a row to read it in full.</span></p>"
)
"""How the bars of a matrix are read."""


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
    st.html(LEGEND)
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
    st.html(LEGEND)
    unit = st.selectbox("Training run", list(found), key="wrote-unit", width=420)
    sessions_of = found[unit]
    for stage in (None, *range(study.spec.session.stages)):
        wrote = {arm: record for arm, session in sessions_of.items() if (record := session.proposal(stage)) is not None}
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
    """The matrix of what the arms changed; each row has the way to all that its engineer read and wrote (a page, and the rest of its
    address)."""
    st.html(matrix(wrote, {arm: way_on(arm, *ways[arm]) for arm in wrote}))


def way_on(arm: str, page: str, address: Mapping[str, str]) -> str:
    """The link to an arm's decision with all that it read; one of Streamlit's own cannot stand in a row that opens."""
    words = f"Read {escape(unbroken(name_of(arm)))} in full, with its evidence"
    return f'<p class="fl-way"><a href="{page}?{escape(urlencode(address))}" target="_self">{words}</a></p>'


def matrix(wrote: Wrote, ways: Mapping[str, str]) -> str:
    """A row for each arm, a column for each cell of the configs. A row opens on what its engineer wrote, and ends with its way on."""
    changes = {arm: knob_rows(record) for arm, record in wrote.items()}
    names = in_order({row.cell: None for rows in changes.values() for row in rows})
    shares = [value for rows in changes.values() for row in rows if row.knob == "share" for value in (row.before, row.after) if value]
    longest = max(shares, default=1.0)
    head = "".join(f"<b>{escape(cell_label(name))}</b>" for name in names)
    lines = []
    for arm, record in wrote.items():
        family = family_of(record.config_after.family)
        cells = "".join(mix_cell(name, [row for row in changes[arm] if row.cell == name], family, longest) for name in names)
        said, in_full = words_of(record, wrote)
        who = f'<div class="fl-mix-who"><b>{escape(name_of(arm))}</b><p>{said}</p></div>'
        lines.append(
            f'<details><summary class="fl-mix-row">{who}{cells}</summary><div class="fl-mix-said">{in_full}{ways[arm]}</div></details>'
        )
    return (
        f'<div class="fl-scroll"><div class="fl-mix" style="--cells:{len(names)}">'
        f'<div class="fl-mix-row fl-mix-head" aria-hidden="true"><span>share of the boards, by {cells_noun(names)}</span>{head}</div>'
        f"{''.join(lines)}</div></div>"
    )


def words_of(record: ProposalRecord, wrote: Wrote) -> tuple[str, str]:
    """What an engineer wrote, in a sentence and in full."""
    first, reference = next(iter(wrote.items()))
    if record.proposal is None:
        kept = f"Kept its config: {escape(record.kept_because or '')}"
        return kept, f"<p>{kept}</p>"
    same = record is not reference and record.config_after == reference.config_after
    said = f"The same config as that of {escape(name_of(first))}." if same else escape(typeset(record.proposal.summary))
    claims = "".join(f"<li>{escape(typeset(claim.text))}</li>" for claim in record.claims if claim.text)
    return said, markup.quote(record.proposal.summary, who_is(record.engineer)) + (f'<ul class="fl-claims">{claims}</ul>' if claims else "")


def mix_cell(name: str, rows: Sequence[KnobRow], family: Family, longest: float) -> str:
    """A cell of the matrix: its share of the boards before and after, as words and as a bar, and below what else was changed of it."""
    share_row = next((row for row in rows if row.knob == "share"), None)
    moved = [row for row in rows if row.knob != "share" and (row.words != "same" or row.repair is not None)]
    others = "".join(f"<small>{change(row, family.setting_label(row.knob))}</small>{asked(row)}" for row in moved)
    shown = "–" if share_row is None else change(share_row) + bar(share_row, longest) + asked(share_row)
    return f'<div class="fl-mix-cell"><span class="fl-mix-name">{escape(cell_label(name))}</span>{shown}{others}</div>'


def change(row: KnobRow, label: str = "") -> str:
    """A knob before and after, its direction marked; one value where both are the same."""
    before, after = ("none" if value is None else share(value) for value in (row.before, row.after))
    if "none" not in (before, after):
        before = before.removesuffix(" %")
    kind = "is-up" if row.words == "new" or row.change > 0 else "is-down"
    words = f"<b>{after}</b>" if row.words == "same" else f'<span class="fl-delta {kind}">{before} → <b>{after}</b></span>'
    return f"<span>{escape(label)} {words}</span>"


def asked(row: KnobRow) -> str:
    """What was asked for, where the guard kept another value."""
    if row.repair is None:
        return ""
    return f'<small title="{escape(row.repair.reason)}">asked for {unbroken(share(row.repair.proposed))}</small>'


def bar(row: KnobRow, longest: float) -> str:
    """What stayed of a share, what came or went, and a mark where it was; as long as ``longest`` in the whole width."""
    before, after = (100 * (value or 0) / longest for value in (row.before, row.after))
    kind = "is-up" if after > before else "is-down"
    kept, moved = min(before, after), abs(after - before)
    return (
        f'<i class="fl-mix-bar" aria-hidden="true"><i style="width:{kept:.1f}%"></i>'
        f'<i class="{kind}" style="left:{kept:.1f}%;width:{moved:.1f}%"></i><i class="was" style="left:{before:.1f}%"></i></i>'
    )
