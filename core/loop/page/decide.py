"""Where a person proposes the next config: map size by map size, with the guard's answer at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from frozenlab.engineer.engineers.human import decided, proposal_of
from frozenlab.engineer.guard import GuardSettings, guard
from frozenlab.engineer.schema import Context, Evidence, GuardReport, Proposal, ProposalRecord
from frozenlab.lake.config import KNOBS, EnvironmentConfig, Knob, SizeConfig, diff
from frozenlab.loop.page.config_tables import repairs_table
from frozenlab.tasks.lake import words
from frozenlab.ui.figures import overall, overall_by_size, percent, size_label

Verdict = Literal["accept", "edit", "reject"]
VERDICTS: tuple[Verdict, ...] = ("accept", "edit", "reject")
PLAIN: tuple[Verdict, ...] = ("accept", "reject")
WIDTHS = [0.8, 1, 1, 1, 1, 1.6]
VERDICT_WIDTH = 1.5
STEP = 2.5
"""Per cent that a click on a number moves it: the lab model's own grain."""
SAME = 0.05
"""Per cent below which two numbers are shown alike."""


@dataclass(frozen=True)
class Desk:
    """What lies before the person who decides about one stage."""

    key: str
    """Begins the keys of its widgets."""
    before: EnvironmentConfig
    context: Context
    validation: pd.DataFrame
    """Held-out boards after the stage."""
    limits: GuardSettings
    proposed: ProposalRecord | None = None
    """What an engineer proposes, to be accepted, edited or rejected size by size; None where a person is asked alone."""

    def cell(self, size: int, verdict: Verdict) -> SizeConfig:
        """What a map size would get by a plain yes or no."""
        config = self.before if verdict == "reject" or self.proposed is None else self.proposed.config_after
        return config.sizes[size]

    def columns(self) -> list[DeltaGenerator]:
        """Of one line of the form."""
        verdict = [] if self.proposed is None else [VERDICT_WIDTH]
        return st.columns([WIDTHS[0], *verdict, *WIDTHS[1:]], gap="small", vertical_alignment="center")

    def widget(self, size: int, name: str) -> str:
        return f"{self.key}-{size}-{name}"


def decide(desk: Desk) -> tuple[Proposal, bool]:
    """The form, with what the guard makes of it; the proposal that it holds and whether that differs from the engineer's."""
    for size in desk.before.sizes:
        fill(desk, size)
    with st.container(key=f"decide-{desk.key}"):
        with st.container(key=f"decide-heads-{desk.key}"):
            heading(desk)
        for size in desk.before.sizes:
            row_of(desk, size)
    why = st.text_input("Why", key=f"{desk.key}-why", max_chars=500, placeholder="Your reason, kept with the proposal")
    after = config_of(desk)
    proposal = proposal_of(
        desk.before,
        after,
        why=why,
        now={size: rate.value for size, rate in overall_by_size(desk.validation).items()},
        expected={size: rate / 100 for size in after.sizes if (rate := st.session_state[desk.widget(size, "expected")]) is not None},
        cited={size: tuple(st.session_state[desk.widget(size, "cites")]) for size in after.sizes},
    )
    guarded, report = guard(after, desk.before, desk.limits, desk.context.layouts)
    tell_guard(desk, after, report)
    return proposal, desk.proposed is None or bool(diff(desk.proposed.config_after, guarded))


def fill(desk: Desk, size: int, verdict: Verdict = "accept", *, again: bool = False) -> None:
    """Puts the values of a plain yes or no into a size's numbers; once, unless ``again``."""
    state = st.session_state
    for knob in KNOBS:
        if again or desk.widget(size, knob) not in state:
            state[desk.widget(size, knob)] = round(100 * getattr(desk.cell(size, verdict), knob), 1)
    if again:
        return
    claims = desk.proposed.proposal.claims if desk.proposed and desk.proposed.proposal else ()
    own = [claim for claim in claims if claim.size == size]
    state.setdefault(desk.widget(size, "expected"), next((100 * c.expected for c in own if c.expected is not None), None))
    known = [line.id for line in lines_of(desk, size)]
    state.setdefault(desk.widget(size, "cites"), [name for name in dict.fromkeys(n for c in own for n in c.evidence) if name in known])


def heading(desk: Desk) -> None:
    names = ["map size", *(f"{words.KNOBS[knob].label}, %" for knob in KNOBS), "valid next, %", "because of"]
    hints = [
        None,
        *(words.KNOBS[knob].help for knob in KNOBS),
        "The valid rate that you expect after the next stage, for the ledger.",
        None,
    ]
    if desk.proposed is not None:
        names.insert(1, "the proposal")
        hints.insert(1, "Take what the engineer proposes for this size, keep what it had, or write your own numbers.")
    for place, name, hint in zip(desk.columns(), names, hints, strict=True):
        place.caption(name, help=hint)


def row_of(desk: Desk, size: int) -> None:
    columns = iter(desk.columns())
    rows = desk.validation[desk.validation["size"] == size]
    next(columns).markdown(f"**{size_label(size)}**  \n" + (f":small[{percent(overall(rows).value)} valid]" if len(rows) else ""))
    if desk.proposed is not None:
        st.session_state[desk.widget(size, "verdict")] = verdict_on(desk, size)
        next(columns).segmented_control(
            "What becomes of the proposal", VERDICTS, key=desk.widget(size, "verdict"), required=True,
            on_change=obey, args=(desk, size),
        )  # fmt: skip
    for knob in KNOBS:
        next(columns).number_input(
            f"{words.KNOBS[knob].label.capitalize()} of {size_label(size)}, %", 0.0, 100.0, step=STEP, format="%.1f",
                key=desk.widget(size, knob),
        )  # fmt: skip
    next(columns).number_input(
        f"Valid rate that you expect on {size_label(size)}, %", 0.0, 100.0, step=STEP, format="%.0f", key=desk.widget(size, "expected"),
        placeholder="no guess",
    )  # fmt: skip
    next(columns).multiselect(
        f"Evidence for {size_label(size)}", [line.id for line in lines_of(desk, size)], key=desk.widget(size, "cites"),
        placeholder="evidence",
    )  # fmt: skip


def lines_of(desk: Desk, size: int) -> list[Evidence]:
    """Those that a decision about the size can rest on."""
    return [line for line in desk.context.lines if line.size in (size, None)]


def obey(desk: Desk, size: int) -> None:
    """A plain yes or no fills the numbers; who edits, begins with those that are there."""
    verdict = st.session_state[desk.widget(size, "verdict")]
    if verdict != "edit":
        fill(desk, size, verdict, again=True)
    st.session_state[desk.widget(size, "editing")] = verdict == "edit"


def verdict_on(desk: Desk, size: int) -> Verdict:
    """What the numbers of a size amount to."""
    if st.session_state.get(desk.widget(size, "editing")):
        return "edit"
    return next((verdict for verdict in PLAIN if all(same(desk, size, verdict, knob) for knob in KNOBS)), "edit")


def same(desk: Desk, size: int, verdict: Verdict, knob: Knob) -> bool:
    return abs(st.session_state[desk.widget(size, knob)] - 100 * getattr(desk.cell(size, verdict), knob)) <= SAME


def config_of(desk: Desk) -> EnvironmentConfig:
    """The config in the form: where a number is shown as it was or as it was proposed, it is that to the last digit; shares are made to sum
    to 1."""
    cells = {}
    for size, old in desk.before.sizes.items():
        values: dict[Knob, float] = {knob: st.session_state[desk.widget(size, knob)] / 100 for knob in KNOBS}
        for verdict in reversed(PLAIN):
            values |= {knob: getattr(desk.cell(size, verdict), knob) for knob in KNOBS if same(desk, size, verdict, knob)}
        layouts = desk.cell(size, "accept").layouts if verdict_on(desk, size) == "accept" else old.layouts
        cells[size] = old.model_copy(update={"layouts": layouts} | dict(values))
    return decided(desk.before, cells)


def tell_guard(desk: Desk, after: EnvironmentConfig, report: GuardReport) -> None:
    """What would become of the numbers, before anybody trains on them."""
    total = sum(st.session_state[desk.widget(size, "share")] for size in after.sizes)
    if abs(total - 100) > 0.5:
        st.caption(f"The shares sum to {total:.0f} %; they are scaled to 100 %.")
    if report.repairs:
        st.warning(f"The guard will repair {len(report.repairs)} value{'s' if len(report.repairs) > 1 else ''}:", icon=":material/shield:")
        st.html(repairs_table(report.repairs))
