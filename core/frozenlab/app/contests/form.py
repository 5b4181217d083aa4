"""The config that a person writes: ten tokens on the kinds of task, and everything else folded."""

from __future__ import annotations

from statistics import median

import pandas as pd
import streamlit as st

from frozenlab.app import allowances
from frozenlab.app.contests.kinds import TOKENS, guess_key, laid, task_name, token_cards
from frozenlab.app.session.proposals import repairs_table
from frozenlab.app.ui import markup, refusals
from frozenlab.base import look_only
from frozenlab.base.cells import Config, in_order
from frozenlab.base.errors import LabError
from frozenlab.base.numbers import counted, duration, share
from frozenlab.engineer.engineers.human import decided
from frozenlab.engineer.guard import guard
from frozenlab.experiments.contests.store import Contest
from frozenlab.experiments.contests.task import ContestError, Entry
from frozenlab.tasks.families import family_of

ERROR, NAME, KNOWN_NAME = "contest-entry-error", "contest-name", "contest-known-name"
ENTRY = "entry"
"""The part of the address with the number of one's own entry, so that a page that is opened again still knows it."""
VIEW, RACE = "contest-view", "The race"
"""Session-state entry with what is shown of a contest that one has entered, and what it is at first."""


def write_config(contest: Contest, table: pd.DataFrame, again: bool) -> None:
    """The cards, what the guard makes of them, and the button that enters the config.

    Args:
        table: the student's answers before training.
        again: it is not the first config.
    """
    begun = contest.spec.session.initial_config
    st.header("Try another config" if again else "What should it practise next?", anchor=False)
    refusals.show_reason(ERROR)
    token_cards(contest, table, guess_of(contest))
    left = TOKENS - sum(laid(contest).values())
    name, why, action = st.columns([1, 2, 1], vertical_alignment="bottom")
    name.text_input("Your name", st.session_state.get(KNOWN_NAME, ""), key=NAME, max_chars=40, placeholder="you")
    why.text_input("Why?", key=f"contest-why-{contest.id}", max_chars=300, placeholder="One sentence, shown beside your score")
    # The engineer trains once, beside the first.
    label = "Train this too" if again else "Train" if any(entry.kind == "engineer" for entry in contest.entries) else "Train both"
    action.button(
        label, type="primary", key="contest-enter", icon=":material/play_arrow:", width="stretch", on_click=enter, args=(contest,),
        disabled=left > 0, help="Lay all tokens first." if left else "Your config is then fixed.",
    )  # fmt: skip
    st.caption(
        f"{how_long(contest)} A token is a tenth of the practice. The rates are those before training, on {len(table)} tasks outside it. "
        "The engineer writes its own config from the same evidence, without knowing yours."
    )
    how_hard(contest, begun)
    if not left:
        report = guard(config_of(contest), begun, contest.spec.session.guard)[1]
        if report.repairs:
            with st.expander(
                f"No kind of task gets less than {share(contest.spec.session.guard.min_share)}: {len(report.repairs)} repaired"
            ):
                st.html(repairs_table(report.repairs, family_of(begun.family)))


def how_long(contest: Contest) -> str:
    """What an entry has to expect now, by the rounds that this machine has trained."""
    if not (rounds := contest.rounds):
        return "No round has been trained on this machine yet, so nobody knows how long one takes here."
    waiting = sum(entry.kind != "oracle" for entry in contest.waiting())
    turn = (
        f" {waiting} {'waits' if waiting == 1 else 'wait'} before you: yours begins {when(contest.begins(rounds)[0])}." if waiting else ""
    )
    return f"Training and measuring take about {duration(median(rounds))} here, judging by {counted(len(rounds), 'round')}.{turn}"


def when(seconds: float) -> str:
    """How long a turn is to be waited for."""
    return f"in about {duration(seconds)}" if seconds >= 1 else "next"


def how_hard(contest: Contest, begun: Config) -> None:
    family = family_of(begun.family)
    with st.expander("How hard the tasks are"):
        for name in in_order(begun.cells):
            knobs = family.ratios_of(begun.cells[name])
            for knob, place in zip(knobs, st.columns(len(knobs), gap="medium") if knobs else (), strict=True):
                about = family.knobs[knob]
                place.slider(
                    f"{task_name(name)}: {about.label}, %", round(100 * about.low), round(100 * about.high),
                    round(100 * getattr(begun.cells[name], knob)), key=widget(contest, name, knob), help=about.help,
                )  # fmt: skip


def config_of(contest: Contest) -> Config:
    """The config of the tokens and sliders as they stand; a knob that was not touched is as it was, to the last digit."""
    begun, cells, tokens = contest.spec.session.initial_config, {}, laid(contest)
    for name, old in begun.cells.items():
        turned = {"share": float(tokens[name])}
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
    with refusals.keeping_reason(ERROR, "Not entered"):
        if sum(laid(contest).values()) != TOKENS:
            raise ContestError(f"lay all {TOKENS} tokens first")
        entry = Entry(
            name=(state.get(NAME) or "").strip()[:40] or "you",
            config=config_of(contest),
            why=(state.get(f"contest-why-{contest.id}") or "").strip()[:300],
            guess=guess_of(contest),
            by=allowances.visitor() if look_only.on() else "",
        )
        allowances.spend(allowances.ENTERED)
        number = contest.enter(entry)
        state[mine(contest)] = [*state.get(mine(contest), []), number]
        state[KNOWN_NAME], state[VIEW] = entry.name, RACE
        st.query_params[ENTRY] = str(number)
        try:
            contest.wake()
        except LabError as error:
            st.toast(f"It queues: {markup.plain(str(error))}.", icon=":material/hourglass_empty:")


def guess_of(contest: Contest) -> str | None:
    """What the reader guessed in this browser tab, or with the first entry that is their own; None: nothing yet."""
    guess: str | None = st.session_state.get(guess_key(contest))
    own = own_entries(contest)
    return guess or next((entry.guess for entry in contest.entries if entry.number in own and entry.guess), None)


def own_entries(contest: Contest) -> list[int]:
    """The entries that were made in this browser tab, and the one that the address names."""
    named = st.query_params.get(ENTRY, "")
    known = {entry.number for entry in contest.entries if entry.kind == "person"}
    own: list[int] = st.session_state.get(mine(contest), [])
    return sorted({*own, *(number for number in known if str(number) == named)} & known)


def mine(contest: Contest) -> str:
    """Session-state entry with the numbers of the entries of this browser tab."""
    return f"contest-mine-{contest.id}"
