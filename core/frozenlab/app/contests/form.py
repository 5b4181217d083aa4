"""The config that a person writes: shares first, everything else folded."""

from __future__ import annotations

import re

import streamlit as st

from frozenlab.app import allowances
from frozenlab.app.session.proposals import repairs_table
from frozenlab.app.ui import markup, refusals
from frozenlab.base import look_only
from frozenlab.base.cells import Config, in_order
from frozenlab.base.errors import LabError
from frozenlab.base.numbers import share
from frozenlab.engineer.engineers.human import decided
from frozenlab.engineer.guard import guard
from frozenlab.experiments.contests.store import Contest
from frozenlab.experiments.contests.task import Entry
from frozenlab.tasks.families import cell_label, family_of

ERROR, NAME, KNOWN_NAME = "contest-entry-error", "contest-name", "contest-known-name"
ENTRY = "entry"
"""The part of the address with the number of one's own entry, so that a page that is opened again still knows it."""
VIEW, RACE = "contest-view", "The race"
"""Session-state entry with what is shown of a contest that one has entered, and what it is at first."""
MOST, EVEN = 10, 2
"""Parts that a slider gives to a kind of task at most, and at first; the shares are the parts over their sum."""


def task_name(cell: str) -> str:
    """A kind of task, for those who do not know the lab's short names.

    >>> task_name("3@corridor6"), task_name("2@9"), task_name("numbers2")
    ('3 agents on 6×6 corridor', '2 agents on 9×9', 'Countdown, 2 numbers')
    """
    label = cell_label(cell)
    return f"Countdown, {label}" if label.endswith("numbers") else re.sub(r"^(\d+) on ", r"\1 agents on ", label)


def write_config(contest: Contest, again: bool) -> None:
    """The sliders, what the guard makes of them, and the button that enters the config; ``again``: it is not the first."""
    begun = contest.spec.session.initial_config
    st.subheader("Try another config" if again else "What should it practise next?", anchor=False)
    refusals.show_reason(ERROR)
    sliders(contest, begun)
    used, report = guard(config_of(contest), begun, contest.spec.session.guard)
    st.caption("It trains on: " + "; ".join(f"{task_name(name)} {share(used.cells[name].share)}" for name in in_order(used.cells)) + ".")
    if report.repairs:
        with st.expander(f"{len(report.repairs)} repaired: no kind of task gets less than {share(contest.spec.session.guard.min_share)}"):
            st.html(repairs_table(report.repairs, family_of(begun.family)))
    name, why, action = st.columns([1, 2, 1], vertical_alignment="bottom")
    name.text_input("Your name", st.session_state.get(KNOWN_NAME, ""), key=NAME, max_chars=40, placeholder="you")
    why.text_input("Why?", key=f"contest-why-{contest.id}", max_chars=300, placeholder="One sentence, shown beside your score")
    action.button(
        "Train this too" if again else "Train both", type="primary", key="contest-enter", icon=":material/play_arrow:", width="stretch",
        on_click=enter, args=(contest,), help="Your config is then fixed. The engineer writes its own from the same evidence.",
    )  # fmt: skip


def sliders(contest: Contest, begun: Config) -> None:
    """Shares of the kinds of task, and below them, folded, how hard each is."""
    names, family = in_order(begun.cells), family_of(begun.family)
    for name, place in zip(names, st.columns(len(names), gap="medium"), strict=True):
        place.slider(task_name(name), 0, MOST, EVEN, key=widget(contest, name, "share"), help="Parts of its practice.")
    with st.expander("How hard the tasks are"):
        for name in names:
            knobs = family.ratios_of(begun.cells[name])
            for knob, place in zip(knobs, st.columns(len(knobs), gap="medium") if knobs else (), strict=True):
                about = family.knobs[knob]
                place.slider(
                    f"{task_name(name)}: {about.label}, %", round(100 * about.low), round(100 * about.high),
                    round(100 * getattr(begun.cells[name], knob)), key=widget(contest, name, knob), help=about.help,
                )  # fmt: skip


def config_of(contest: Contest) -> Config:
    """The config of the sliders as they stand; a knob that was not touched is as it was, to the last digit."""
    begun, cells = contest.spec.session.initial_config, {}
    for name, old in begun.cells.items():
        turned = {"share": float(st.session_state.get(widget(contest, name, "share"), EVEN))}
        for knob in family_of(begun.family).ratios_of(old):
            was = getattr(old, knob)
            now = st.session_state.get(widget(contest, name, knob), round(100 * was))
            turned[knob] = was if now == round(100 * was) else now / 100
        cells[name] = old.model_copy(update=turned)
    return decided(begun, cells)


def widget(contest: Contest, cell: str, knob: str) -> str:
    return f"contest-{knob}-{contest.id}-{cell}"


def enter(contest: Contest) -> None:
    """Put the config into the queue and wake the worker."""
    state = st.session_state
    entry = Entry(
        name=(state.get(NAME) or "").strip()[:40] or "you",
        config=config_of(contest),
        why=(state.get(f"contest-why-{contest.id}") or "").strip()[:300],
        by=allowances.visitor() if look_only.on() else "",
    )
    with refusals.keeping_reason(ERROR, "Not entered"):
        allowances.spend(allowances.ENTERED)
        number = contest.enter(entry)
        state[mine(contest)] = [*state.get(mine(contest), []), number]
        state[KNOWN_NAME], state[VIEW] = entry.name, RACE
        st.query_params[ENTRY] = str(number)
        try:
            contest.wake()
        except LabError as error:
            st.toast(f"It queues: {markup.plain(str(error))}.", icon=":material/hourglass_empty:")


def mine(contest: Contest) -> str:
    """Session-state entry with the numbers of the entries of this browser tab."""
    return f"contest-mine-{contest.id}"
