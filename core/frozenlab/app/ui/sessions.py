"""Choosing a session, the same way on every page, and what pages say of one; the choice is kept in the address (``?session=``)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Literal

import streamlit as st

from frozenlab.app.ui import markup, nav, refusals
from frozenlab.base.errors import LabError
from frozenlab.base.numbers import counted
from frozenlab.base.numbers import duration as duration
from frozenlab.engineer.engineers import name_of
from frozenlab.jobs.folders import JOB_ID
from frozenlab.jobs.imported import why_not_own
from frozenlab.jobs.state import Alarm
from frozenlab.models.training.methods import title_of
from frozenlab.session import launch
from frozenlab.session.presets import preset_spec
from frozenlab.session.runs import by_name
from frozenlab.session.session import Session, SessionError
from frozenlab.session.spec import SessionSpec
from frozenlab.session.state import State
from frozenlab.session.store import OFFERED, SessionStore

CHOSEN = "session_chosen"
"""Session-state entry that carries the choice from page to page."""
PICKER = "session_picker"
STATUS_COLORS = {
    "queued": "gray", "running": "blue", "waiting": "violet", "stopped": "orange",
    "done": "green", "failed": "red", "crashed": "red", "stalled": "orange",
}  # fmt: skip


def choose(session_id: str) -> None:
    """Make ``session_id`` the session that pages show; for callbacks, and before switching the page."""
    st.session_state[CHOSEN] = session_id
    st.query_params["session"] = session_id
    st.query_params.pop("stage", None)


def session_picker(
    sessions: Sequence[Session],
    suits: Callable[[Session], object] = lambda session: True,
    label_visibility: Literal["visible", "collapsed"] = "visible",
) -> Session:
    """A select box over ``sessions`` (at least one, newest first) and the session that it shows: the one in the address, else the one
    chosen on another page, else the newest. The address always names it, so that a copied link shows the same tomorrow.

    Args:
        suits: whether a session that is not among ``sessions``, because it is older, may be shown as well.
    """
    by_id = {session.id: session for session in sessions}
    asked = st.query_params.get("session") or st.session_state.get(CHOSEN)
    if asked is not None and asked not in by_id and (older := readable(asked, store())) is not None and suits(older):
        by_id[asked] = older
    if asked is not None and asked not in by_id:
        named = f"`{asked}`" if JOB_ID.fullmatch(asked) else "of that name"
        st.warning(f"There is no session {named} here. This is the newest one instead.")
    current = asked if asked in by_id else sessions[0].id
    st.session_state[PICKER] = current
    st.session_state[CHOSEN] = current
    if st.query_params.get("session") != current:
        st.query_params["session"] = current
    words = dict(zip(by_id, described(list(by_id.values())), strict=True))
    more = sum(not session.read_only for session in sessions) >= OFFERED
    st.selectbox(
        "Session",
        list(by_id),
        key=PICKER,
        format_func=lambda session_id: words.get(session_id, session_id),
        on_change=lambda: choose(st.session_state[PICKER]),
        help="Recorded sessions ship with the project and cannot be changed."
        + (f" The newest {OFFERED} are listed; type the id of an older one." if more else ""),
        accept_new_options=more,
        label_visibility=label_visibility,
    )
    return by_id[current]


def readable(session_id: str, known: SessionStore) -> Session | None:
    """The session of this id; None where there is none, or it cannot be read."""
    try:
        return known.open(session_id)
    except SessionError:
        return None


def describe(session: Session) -> str:
    """``Quick session · running · 12 Jul 10:15 · GRPO``: what tells it from others of its title comes first, for boxes that cut the end
    off."""
    kind = "imported" if why_not_own(session.dir) else "recorded" if session.read_only else session.state().status
    parts = [session.title, kind, time.strftime("%d %b %H:%M", time.localtime(session.created)), title_of(session.spec.training.method)]
    return " · ".join(parts)


def described(found: Sequence[Session]) -> list[str]:
    """The same of several, with the id where they have the same title."""
    return [describe(session) + f" · {session.id}" * (name != session.title) for name, session in by_name(found).items()]


def set_up(spec: SessionSpec) -> str:
    """How a session works, beside its figures: ``GRPO · engineer: the model itself · 3 stages``, a language model's name first."""
    model = [Path(spec.policy).name] if spec.language else []
    stages = counted(spec.stages, "stage")
    return " · ".join([*model, title_of(spec.training.method), f"engineer: {name_of(spec.engineer.kind)}", stages])


def status_look(session: Session, state: State) -> tuple[str, str, str | None]:
    """Its status in a word, the word's color, and what it means for the reader."""
    if why_not_own(session.dir):
        return "imported", "violet", "Comes from another lab; opens read-only."
    if session.read_only:
        return "recorded", "gray", "Ships with the project; opens read-only."
    return status_words(session, state), STATUS_COLORS[state.status], None


def status_badge(session: Session, state: State) -> None:
    words, color, meaning = status_look(session, state)
    st.badge(words, color=color, help=meaning)  # type: ignore[arg-type]


def answers_badge(session: Session) -> None:
    """How many of its engineer's answers could be used, if not all."""
    usable, asked = session.usable_answers()
    if usable < asked:
        words = f"{usable if usable else 'none'} of {counted(asked, 'answer')} used"
        st.badge(words, icon=":material/warning:", color="orange", help="Where an answer could not be used, the previous config was kept.")


def alarm_badges(alarms: Sequence[Alarm]) -> None:
    """What goes wrong in a job that runs, in a word or two; the figures are a tip."""
    for alarm in {alarm.rule: alarm for alarm in reversed(alarms)}.values():
        st.badge(markup.plain(alarm.words), icon=":material/warning:", color="orange", help=markup.plain(alarm.evidence))


def status_words(session: Session, state: State) -> str:
    """``running``, ``stopping``, ``done``."""
    return "stopping" if state.live and session.stop_asked else state.status


def problems(session: Session) -> None:
    """Warn of the session's files that could not be read; the page shows the rest."""
    if session.problems:
        st.warning("Part of this session is damaged; the rest is shown.  \n" + "  \n".join(map(markup.plain, session.problems)))


def unreadable(known: SessionStore) -> None:
    """Name the listed folders that cannot be shown as sessions, with the reasons."""
    for why in known.unreadable.values():
        st.warning(f"{markup.plain(why[0].upper() + why[1:])}.")


def store() -> SessionStore:
    return SessionStore()


def start(specs: Sequence[SessionSpec], urgent: bool = False) -> None:
    """Queue sessions and go to Train, to the first, or show why that failed."""

    def begin() -> Session:
        first, *_ = [launch.start(spec, store(), urgent=urgent) for spec in specs]
        return first

    go_to_train(begin)


def go_to_train(begin: Callable[[], Session]) -> None:
    """Begin something in the background and show it on Train, or say why not."""
    try:
        session = begin()
    except LabError as error:
        st.error(markup.plain(f"Not started: {error}."))
        return
    st.session_state[CHOSEN] = session.id
    st.switch_page(nav.path("train"), query_params={"session": session.id})


def start_quick_button(width: Literal["stretch", "content"] = "content") -> None:
    """Three stages with the shipped lab model on this machine."""
    if st.button(
        "Start the quick session",
        key="start-quick",
        icon=":material/bolt:",
        width=width,
        **refusals.changes("Three stages with the lab model, in under three minutes on two cores. Each has a seed of its own."),
    ):
        start([another(preset_spec("quick"))])


def again_button(session: Session) -> None:
    """The way to a new session that begins as this one did."""
    nav.button(
        "Run again with changes", "train", query={"like": session.address}, key="again", icon=":material/restart_alt:",
        help="Opens the form of a new session with the settings of this one. Change what you want to.",
    )  # fmt: skip


def another(spec: SessionSpec) -> SessionSpec:
    """The spec with a seed, named in its title, that no listed session of this title has: with the same seed it would repeat that one."""
    known = [session.glance.about for session in store().listed()]
    taken = {about.seed for about in known if about is not None and about.title.startswith(spec.title)}
    seed = next(number for number in count(spec.seed) if number not in taken)
    return spec.changed(seed=seed, title=f"{spec.title}, seed {seed}")


def nothing_yet(what: str) -> None:
    """The empty state: one sentence, and a button that starts a session."""
    st.info(what)
    start_quick_button()


def ago(moment: float) -> str:
    """How long ago a unix time was, in one unit: ``5 h ago``, ``2 days ago``."""
    seconds = max(0.0, time.time() - moment)
    hours = round(seconds / 3600)
    if hours < 24:
        return f"{f'{hours} h' if hours else duration(seconds)} ago"
    return f"{counted(round(seconds / 86400), 'day')} ago"


def origin_details(session: Session) -> None:
    """The same, folded away."""
    with st.expander("Where its numbers come from: commit, machine, versions"):
        origin_lines(session)


def origin_lines(session: Session) -> None:
    """The commit, the machine and the versions behind the run's numbers."""
    origin = session.origin
    if origin is None:
        st.caption("It is from an early version of FrozenLab, which did not record the commit and the machine.")
        return
    versions = ", ".join(f"{name} {number}" for name, number in origin.versions.items())
    began = time.strftime("%Y-%m-%d %H:%M", time.localtime(origin.time))
    lines = [f"Began {began} from {origin.code}", f"on {origin.machine}", f"Python {origin.python}, {versions}"]
    st.caption("  \n".join(map(markup.plain, lines)))
