"""A person decides: about a session that waits for them, or otherwise than an engineer did, in a fork."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from frozenlab.app.session.proposals import repairs_table
from frozenlab.app.story.moment import Moment
from frozenlab.app.ui import api_form, nav, refusals, sessions
from frozenlab.app.ui.components.draft import KEPT, Entry, begun, forget_draft, keep_draft, one_of, per_cent, some_of, text
from frozenlab.app.ui.figures import overall, overall_by_cell
from frozenlab.base.cells import Config, Settings, diff
from frozenlab.base.numbers import counted
from frozenlab.engineer.engineers import BY_NAME, who_is
from frozenlab.engineer.engineers.human import decided, proposal_of
from frozenlab.engineer.guard import GuardSettings, guard
from frozenlab.engineer.measurements import of_cell
from frozenlab.engineer.schema import Context, Evidence, GuardReport, Proposal, ProposalRecord
from frozenlab.session import launch
from frozenlab.session.forks import trains_again
from frozenlab.session.session import Session
from frozenlab.tasks.families import cell_label, cells_noun, family_of
from frozenlab.tasks.words import Knob

Verdict = Literal["accept", "edit", "reject"]
VERDICTS: tuple[Verdict, ...] = ("accept", "edit", "reject")
PLAIN: tuple[Verdict, ...] = ("accept", "reject")
CELL_WIDTH, VERDICT_WIDTH, NUMBER_WIDTH, CITES_WIDTH = 0.8, 1.5, 1.0, 1.6
"""Of the columns of a line, relative to each other."""
STEP = 2.5
"""Per cent that a click on a number moves it: the lab model's own grain."""
SAME = 0.05
"""Per cent below which two numbers are shown alike."""


def your_turn(moment: Moment, stage: int, context: Context) -> None:
    """The session waits for a person to write the next config."""
    session = moment.session
    st.header("What should it train on next?", anchor=False, help="Your proposal passes the guard and is scored like any engineer's.")
    drawn = session.environment(stage)
    if drawn is None:
        return
    desk = Desk(f"turn-{session.address}-{stage}", drawn.config, context, moment.validation, session.spec.guard)
    proposal, differs = decide(desk)
    keep_draft(desk.key, desk.entries)
    may = api_form.may_ask([session.spec.engineer.server], "turn")
    allowed = refusals.changes(disabled=not may)

    def go() -> None:
        sessions.go_to_train(lambda: launch.propose(session, proposal, sessions.store()))

    if st.button("Train on this", type="primary", key="turn-go", icon=":material/play_arrow:", **allowed):
        if differs:
            go()
        else:
            confirm_unchanged(go)


@nav.dialog("You changed nothing. Train anyway?")
def confirm_unchanged(go: Callable[[], None]) -> None:
    st.write("The next stage would train on the same config again.")
    yes, no = st.columns(2)
    if yes.button("Train anyway", type="primary", key="turn-yes", width="stretch"):
        go()
    if no.button("Back to the form", key="turn-no", width="stretch"):
        st.rerun()


def what_if(moment: Moment, stage: int, context: Context, record: ProposalRecord) -> None:
    """Another decision after this stage, in a fork."""
    session = moment.session
    desk = Desk(f"fork-{session.address}-{stage}", record.config_before, context, moment.validation, session.spec.guard, record)
    with st.expander(
        "What if? Decide otherwise, cell by cell, and fork the session here", icon=":material/fork_right:", expanded=begun(desk.key)
    ):
        proposal, differs = decide(desk)
        who, title, action = st.columns([1, 1.4, 0.8], vertical_alignment="bottom")
        own = session.spec.engineer
        ready = [name for name, engineer in BY_NAME.items() if not engineer.required() or name == own.kind]
        engineer = who.selectbox(
            "Who proposes after the stages that follow", ready, key=f"{desk.key}-engineer", **KEPT,
            index=None, placeholder=f"as before: {who_is(own.kind)}", format_func=who_is,
        )  # fmt: skip
        name = title.text_input(
            "Title of the fork", f"{session.title}, what if after stage {stage + 1}"[:120], max_chars=120, key=f"{desk.key}-title",
            **KEPT,
        )  # fmt: skip
        keep_draft(desk.key, entries := desk.entries | {f"{desk.key}-engineer": one_of(ready), f"{desk.key}-title": text})
        may = api_form.may_ask([own.server if engineer in (None, own.kind) else None], "fork")
        asked = action.button(
            "Fork and train", type="primary", key="fork-go", icon=":material/fork_right:", width="stretch",
            **refusals.changes(disabled=not may),
        )  # fmt: skip
        if not differs and engineer is None:
            st.caption("This is what the session already did. Change something to fork.")
        if trains_again(session, stage):
            times = "Stage 1 is" if stage == 0 else f"Stages 1 to {stage + 1} are"
            st.caption(f"{times} trained again on the same boards: this session came without what training needs to go on from there.")
        if asked and (differs or engineer is not None):
            changes: dict[str, Any] = {"title": name} | ({"engineer": engineer} if engineer else {})
            given = proposal if differs else None

            def begin() -> Session:
                forked = launch.start_fork(session, stage, sessions.store(), given=given, **changes)
                forget_draft(entries)
                return forked

            sessions.go_to_train(begin)


@dataclass(frozen=True)
class Desk:
    """What lies before the person who decides about one stage."""

    key: str
    """Begins the keys of its widgets."""
    before: Config
    context: Context
    validation: pd.DataFrame
    """Held-out boards after the stage."""
    limits: GuardSettings
    proposed: ProposalRecord | None = None
    """What an engineer proposes, to be accepted, edited or rejected cell by cell; None where a person is asked alone."""

    @property
    def knobs(self) -> Mapping[str, Knob]:
        """Of the config's family."""
        return family_of(self.before.family).knobs

    def knobs_of(self, name: str) -> list[Knob]:
        """Of one cell."""
        return [self.knobs[knob] for knob in ("share", *family_of(self.before.family).ratios_of(self.before.cells[name]))]

    def cell(self, name: str, verdict: Verdict) -> Settings:
        """What a cell would get by a plain yes or no."""
        config = self.before if verdict == "reject" or self.proposed is None else self.proposed.config_after
        return config.cells[name]

    def columns(self) -> list[DeltaGenerator]:
        """Of one line of the form."""
        verdict = [] if self.proposed is None else [VERDICT_WIDTH]
        numbers = [NUMBER_WIDTH] * (len(self.knobs) + 1)  # and the rate expected
        return st.columns([CELL_WIDTH, *verdict, *numbers, CITES_WIDTH], gap="small", vertical_alignment="center")

    def widget(self, cell: str, name: str) -> str:
        return f"{self.key}-{cell}-{name}"

    @property
    def entries(self) -> dict[str, Entry]:
        """The inputs by their keys, for :func:`keep_draft`."""
        found: dict[str, Entry] = {f"{self.key}-why": text}
        for cell in self.before.cells:
            found |= {self.widget(cell, name): per_cent for name in ("expected", *(knob.name for knob in self.knobs_of(cell)))}
            found[self.widget(cell, "layouts")] = one_of(PLAIN)
            found[self.widget(cell, "cites")] = some_of([line.id for line in lines_of(self, cell)])
        return found


def decide(desk: Desk) -> tuple[Proposal, bool]:
    """The form, with what the guard makes of it; the proposal that it holds, and whether that differs from the engineer's, or from the
    config before where there is none."""
    for name in desk.before.cells:
        fill(desk, name)
    st.session_state[f"{desk.key}-numbers"] = numbers(desk)
    with st.container(key=f"decide-{desk.key}"):
        with st.container(key=f"decide-heads-{desk.key}"):
            heading(desk)
        for name in desk.before.cells:
            row_of(desk, name)
    why = st.text_input("Why", key=f"{desk.key}-why", max_chars=500, placeholder="Your reason, kept with the proposal", **KEPT)
    after = config_of(desk)
    proposal = proposal_of(
        desk.before,
        after,
        why=why,
        now={name: rate.value for name, rate in overall_by_cell(desk.validation).items()},
        expected={name: rate / 100 for name in after.cells if (rate := st.session_state[desk.widget(name, "expected")]) is not None},
        cited={name: tuple(st.session_state[desk.widget(name, "cites")]) for name in after.cells},
    )
    guarded, report = guard(after, desk.before, desk.limits, desk.context.layouts)
    tell_guard(desk, after, report)
    return proposal, bool(diff(desk.before if desk.proposed is None else desk.proposed.config_after, guarded))


def fill(desk: Desk, name: str, verdict: Verdict = "accept", *, again: bool = False) -> None:
    """Puts the values of a plain yes or no into a cell's numbers; once, unless ``again``."""
    state = st.session_state
    for knob in desk.knobs_of(name):
        if again or desk.widget(name, knob.name) not in state:
            state[desk.widget(name, knob.name)] = round(100 * getattr(desk.cell(name, verdict), knob.name), 1)
    if again or desk.widget(name, "layouts") not in state:
        state[desk.widget(name, "layouts")] = verdict  # whose layouts it takes, also while its numbers are edited
    if again:
        return
    own = [claim for claim in (desk.proposed.claims if desk.proposed else ()) if claim.cell == name]
    state.setdefault(desk.widget(name, "expected"), next((100 * c.expected for c in own if c.expected is not None), None))
    known = [line.id for line in lines_of(desk, name)]
    state.setdefault(desk.widget(name, "cites"), [line for line in dict.fromkeys(n for c in own for n in c.evidence) if line in known])


def heading(desk: Desk) -> None:
    names = [cells_noun(desk.before.cells), *(f"{desk.knobs[knob].label}, %" for knob in desk.knobs), "valid next, %", "because of"]
    hints = [
        None,
        *(desk.knobs[knob].help for knob in desk.knobs),
        "The valid rate that you expect after the next stage, for the ledger.",
        None,
    ]
    if desk.proposed is not None:
        names.insert(1, "the proposal")
        hints.insert(1, "Take what the engineer proposes for this cell, keep what it had, or write your own numbers.")
    for place, name, hint in zip(desk.columns(), names, hints, strict=True):
        place.caption(name, help=hint)


def row_of(desk: Desk, name: str) -> None:
    columns = iter(desk.columns())
    rows = of_cell(desk.validation, name)
    next(columns).markdown(f"**{cell_label(name)}**  \n" + (f":small[{overall(rows).percent} valid]" if len(rows) else ""))
    if desk.proposed is not None:
        st.session_state[desk.widget(name, "verdict")] = verdict_on(desk, name)
        next(columns).segmented_control(
            "What becomes of the proposal", VERDICTS, key=desk.widget(name, "verdict"), required=True,
            on_change=obey, args=(desk, name), **KEPT,
        )  # fmt: skip
    own = desk.knobs_of(name)
    for knob in desk.knobs.values():
        place = next(columns)
        if knob in own:
            place.number_input(
                f"{knob.label.capitalize()} of {cell_label(name)}, %", 0.0, 100.0, step=STEP, format="%.1f",
                key=desk.widget(name, knob.name), **KEPT,
            )  # fmt: skip
    next(columns).number_input(
        f"Valid rate that you expect on {cell_label(name)}, %", 0.0, 100.0, step=STEP, format="%.0f", key=desk.widget(name, "expected"),
        placeholder="no guess", **KEPT,
    )  # fmt: skip
    next(columns).multiselect(
        f"Evidence for {cell_label(name)}", [line.id for line in lines_of(desk, name)], key=desk.widget(name, "cites"),
        placeholder="evidence", **KEPT,
    )  # fmt: skip


def lines_of(desk: Desk, name: str) -> list[Evidence]:
    """Those that a decision about the cell can rest on."""
    return [line for line in desk.context.lines if line.cell in (name, None)]


def obey(desk: Desk, name: str) -> None:
    """A plain yes or no fills the numbers; who edits, begins with those that are there. If a number comes with it, nobody has clicked: the
    browser has not heard yet that the number before made it an edit."""
    if numbers(desk) != st.session_state[f"{desk.key}-numbers"]:
        return
    verdict = st.session_state[desk.widget(name, "verdict")]
    if verdict != "edit":
        fill(desk, name, verdict, again=True)
    st.session_state[desk.widget(name, "editing")] = verdict == "edit"


def numbers(desk: Desk) -> list[float]:
    """All values of knobs in the form."""
    return [st.session_state[desk.widget(name, knob.name)] for name in desk.before.cells for knob in desk.knobs_of(name)]


def verdict_on(desk: Desk, name: str) -> Verdict:
    """What the numbers of a cell amount to."""
    if st.session_state.get(desk.widget(name, "editing")):
        return "edit"
    own = layouts_of(desk, name, st.session_state[desk.widget(name, "layouts")])
    for verdict in PLAIN:
        if layouts_of(desk, name, verdict) == own and all(same(desk, name, verdict, knob.name) for knob in desk.knobs_of(name)):
            return verdict
    return "edit"


def layouts_of(desk: Desk, name: str, verdict: Verdict) -> Any:
    """Those of a cell by a plain yes or no; None for a family that has none."""
    return getattr(desk.cell(name, verdict), "layouts", None)


def same(desk: Desk, name: str, verdict: Verdict, knob: str) -> bool:
    return abs(st.session_state[desk.widget(name, knob)] - 100 * getattr(desk.cell(name, verdict), knob)) <= SAME


def config_of(desk: Desk) -> Config:
    """The config in the form: where a number is shown as it was or as it was proposed, it is that to the last digit; shares are made to sum
    to 1."""
    cells = {}
    for name in desk.before.cells:
        knobs = [knob.name for knob in desk.knobs_of(name)]
        values: dict[str, float] = {knob: st.session_state[desk.widget(name, knob)] / 100 for knob in knobs}
        for verdict in reversed(PLAIN):
            values |= {knob: getattr(desk.cell(name, verdict), knob) for knob in knobs if same(desk, name, verdict, knob)}
        cells[name] = desk.cell(name, st.session_state[desk.widget(name, "layouts")]).model_copy(update=values)
    return decided(desk.before, cells)


def tell_guard(desk: Desk, after: Config, report: GuardReport) -> None:
    """What would become of the numbers, before training on them."""
    total = sum(st.session_state[desk.widget(name, "share")] for name in after.cells)
    if abs(total - 100) > 0.5:
        st.caption(f"The shares sum to {total:.0f} %; they are scaled to 100 %.")
    if report.repairs:
        st.warning(f"The guard will repair {counted(len(report.repairs), 'value')}:", icon=":material/shield:")
        st.html(repairs_table(report.repairs, family_of(after.family)))
