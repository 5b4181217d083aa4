"""What the pages of all experiments share: which there are, picking one, starting, watching, stopping, resuming and deleting it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from frozenlab.app.ui import api_form, markup, nav, refusals, sessions, theme
from frozenlab.app.ui.live import keep_current
from frozenlab.engineer.hosts import Server
from frozenlab.experiments.experiment import Experiment, RunSettings
from frozenlab.experiments.shelf import shelf
from frozenlab.jobs import launcher
from frozenlab.jobs.job import Job

RECORDED = "recorded-"
"""What the names of experiments begin with that come with FrozenLab."""
AnExperiment = TypeVar("AnExperiment", bound=Experiment[Any])
Choice = TypeVar("Choice", bound=str)
Named = TypeVar("Named")
Look = Callable[[float], tuple[str, bool]]
"""Words for the part of the work that is done, 0..1, and whether the page is drawn again at this part."""


def nothing(*_: Any) -> None:
    """What a page without it draws or says."""


def error_of(kind: str) -> str:
    """Session-state entry: why the last thing that was asked for could not be done."""
    return f"{kind}_error"


def head(kind: type[Experiment[Any]], question: str, lead: str, new: str, form: Callable[[], None]) -> DeltaGenerator:
    """The top of a page: its question, the button ``new`` that opens the ``form`` (as ``?new`` does), and what went wrong or was
    deleted just now. Returns the place of the picker."""
    if nav.OF_JOBS.get(kind.kind) in nav.TABS:
        nav.tabs()
    picker, action = theme.head(question, lead, 2.1, 1.7, 0.6)
    asked = action.button(new, type="primary", key=f"{kind.kind}-new", width="stretch")
    if nav.taken("new") or asked:
        form()
    refusals.show_reason(error_of(kind.kind))
    undo_line(kind.kind, error_of(kind.kind), partial(nav.put, kind.kind))
    return picker


def everything(kind: type[AnExperiment]) -> dict[str, AnExperiment]:
    """All of a kind by the name in the address: one's own, newest first, then those that come with FrozenLab."""
    own = {experiment.id: experiment for experiment in kind.all(sessions.store())}
    return own | {f"{RECORDED}{experiment.id}": experiment for experiment in kind.shipped()}


def page(
    kind: type[AnExperiment],
    question: str,
    lead: str,
    new: str,
    form: Callable[[], None],
    show: Callable[[AnExperiment], None],
    found: Mapping[str, AnExperiment] | None = None,
    *,
    none_yet: Callable[[], None] | None = None,
    beside: Callable[[AnExperiment], None] = nothing,
    look: Callable[[AnExperiment], Look | None] = nothing,
    servers: Callable[[AnExperiment], Sequence[Server]] = lambda experiment: (),
) -> None:
    """The page of a kind: one experiment, how far it is, and what ``show`` draws of it.

    Args:
        new: the button that opens the ``form`` of a new one.
        found: those that can be picked, by the name in the address; None: all of the kind.
        none_yet: draws what is there before the first one; None: that there is none.
        beside: draws what else can be done with one, beside the button that deletes one's own.
        look: for :func:`watch`.
        servers: those that resuming it asks.
    """
    picker = head(kind, question, lead, new, form)
    known = everything(kind) if found is None else found
    if not known:
        (none_yet or partial(st.info, f"There is no {kind.words.one} yet."))()
        return
    name = choose(kind, known, picker, lambda name: label(name, known[name]))
    experiment, own = known[name], not name.startswith(RECORDED)
    state = experiment.state()
    if own and state.live:
        watch(experiment, look(experiment))
    elif own and state.status != "done":
        done = f", with {now(state.progress)[0]}" if (now := look(experiment)) else ""
        go_on(experiment, done, may=api_form.may_ask(servers(experiment), f"{kind.kind}-go-on"))
    show(experiment)
    with st.container(horizontal=True):
        if own and not state.live:
            delete_button(experiment, f"{kind.kind}-delete", error_of(kind.kind), partial(nav.put, kind.kind, None))
        beside(experiment)


def label(name: str, experiment: Experiment[Any]) -> str:
    """What the picker calls one."""
    about = f"{experiment.size_in_words} · " if experiment.size_in_words else ""
    if name.startswith(RECORDED):
        return f"{experiment.title} · {about}recorded"
    state = experiment.state()
    began = time.strftime(" · %d %b %H:%M", time.localtime(state.started)) if state.started else ""
    return f"{experiment.title} · {about}{state.status}{began}"


def choose(
    kind: type[Experiment[Any]],
    found: Mapping[str, Named],
    picker: DeltaGenerator,
    label: Callable[[str], str],
    go_to: Callable[[str], None] | None = None,
) -> str:
    """The name of the one in the address, else of the first; ``picker`` gets the box to pick another.

    Args:
        go_to: puts the one that is picked into the address; None: nothing else in the address depends on it.
    """
    name, words = kind.kind, kind.words
    key, asked = f"{name}-picker", st.query_params.get(name)
    if asked is not None and asked not in found:
        st.warning(f"There is no such {words.one} here. This is another one instead.")
    current = asked if asked is not None and asked in found else next(iter(found))
    st.session_state[key] = st.query_params[name] = current

    def pick() -> None:
        (go_to or partial(nav.put, name))(st.session_state[key])

    picker.selectbox(words.one.capitalize(), list(found), key=key, format_func=label, on_change=pick, label_visibility="collapsed")
    return current


def chosen(kind: type[Experiment[Any]], part: str, options: Sequence[Choice], label: str, words: Mapping[str, str]) -> Choice:
    """A choice that stands in the address, such as the view of a report. One that is alone is not asked for."""
    key, asked = f"{kind.kind}-{part}", st.query_params.get(part)
    if st.session_state.get(key) not in options:  # another experiment had other options
        st.session_state[key] = asked if asked in options else options[0]
    choice: Choice | None = options[0]
    if len(options) > 1:
        choice = st.segmented_control(
            label, options, required=True, key=key, format_func=lambda option: words.get(option, option), label_visibility="collapsed",
        )  # fmt: skip
    assert choice is not None  # it is required
    st.query_params[part] = choice
    return choice


def start(kind: type[Experiment[Any]], spec: Any, run: RunSettings | None = None) -> None:
    """Start one and put it into the address, or keep the reason why not; for callbacks."""
    with refusals.keeping_reason(error_of(kind.kind), "Not started"):
        st.query_params[kind.kind] = kind.start(spec, sessions.store(), run=run).id


def start_button(kind: type[Experiment[Any]], spec: Any, run: RunSettings | None = None, may: bool = True) -> None:
    """The end of a form in a dialog: the button that starts one, the reason if it was refused, and the head of the same as a command."""
    asked = st.button(
        "Start", type="primary", key=f"{kind.kind}-start", icon=":material/play_arrow:", width="stretch", on_click=start,
        args=(kind, spec, run), **refusals.changes(disabled=not may),
    )  # fmt: skip
    if asked and error_of(kind.kind) not in st.session_state:
        st.rerun()
    refusals.show_reason(error_of(kind.kind))
    st.caption("The same from the command line:")


def resume(experiment: Experiment[Any]) -> None:
    with refusals.keeping_reason(error_of(experiment.kind), "Not started"):
        experiment.resume()


def halt(experiment: Experiment[Any]) -> None:
    with refusals.keeping_reason(error_of(experiment.kind), "Not stopped"):
        launcher.stop(experiment)


@st.fragment
def watch(experiment: Experiment[Any], look: Look | None = None) -> None:
    """The progress of one that runs. Draws the page again when it ends. Without ``look``: the parts that are done, and only at the end."""
    keep_current(experiment)
    state, kind, words = experiment.state(), experiment.kind, experiment.words
    counted = f"**{round(state.progress * experiment.total)} of {experiment.total} {words.units}**"
    done, anew = look(state.progress) if look else (counted, False)
    left = f" · about {sessions.duration(state.seconds_left)} left" if state.seconds_left is not None else ""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(key=f"{kind}-progress"):
            st.progress(min(max(state.progress, 0.0), 1.0), text=f"{done}{left}")
        st.button(
            "Stop", key=f"{kind}-stop", icon=":material/stop:", on_click=halt, args=(experiment,),
            **refusals.changes(words.kept),
        )  # fmt: skip
    if anew or not state.live:
        nav.draw_anew()


def go_on(experiment: Experiment[Any], so_far: str = "", may: bool = True) -> None:
    """What ended one before it was done, and the button that resumes it.

    Args:
        so_far: what it has done, after the status.
        may: whether its servers may be asked.
    """
    state, kind, words = experiment.state(), experiment.kind, experiment.words
    with st.container(horizontal=True, vertical_alignment="center"):
        status = "waits" if state.status == "queued" else state.status
        why = f": {markup.plain(state.error)}" if state.error else "."
        st.markdown(f"This {words.one} {status}{so_far}{why}")
        st.button(
            words.resume, key=f"{kind}-go-on", icon=":material/play_arrow:", on_click=resume, args=(experiment,),
            **refusals.changes(disabled=not may),
        )  # fmt: skip


DELETED = "deleted-"
"""Session-state entry of a kind: the id and the title of the job of this kind that was deleted last in this browser tab."""


def delete_button(job: Job, key: str, error: str, then: Callable[[], None] = lambda: None) -> None:
    """A button that moves a job into the trash.

    Args:
        error: the session-state entry for the reason if it has to stay.
        then: called when it is gone, to take it out of the address.
    """
    st.button(
        "Delete", key=key, icon=":material/delete:", on_click=delete, args=(job, error, then),
        **refusals.changes("Moves it to the trash; Undo brings it back."),
    )  # fmt: skip


def delete(job: Job, error: str, then: Callable[[], None]) -> None:
    with refusals.keeping_reason(error, "Not deleted"):
        title = job.title
        shelf.delete(job, sessions.store())
        st.session_state[DELETED + job.kind] = job.id, title
        then()


def undo_line(kind: str, error: str, then: Callable[[str], None] = lambda job_id: None) -> None:
    """What was deleted last, with a way back; nothing where nothing was.

    Args:
        error: the session-state entry for the reason if it cannot come back.
        then: called with its id when it is back, to show it again.
    """
    if DELETED + kind not in st.session_state:
        return
    job_id, title = st.session_state[DELETED + kind]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.success(f"{markup.plain(title)} is in the trash.", icon=":material/check:")
        st.button("Undo", key=f"undo-{kind}", icon=":material/undo:", on_click=undo, args=(kind, job_id, error, then))


def undo(kind: str, job_id: str, error: str, then: Callable[[str], None]) -> None:
    del st.session_state[DELETED + kind]
    with refusals.keeping_reason(error, "Not restored"):
        shelf.restore(job_id, sessions.store(), kind)
        then(job_id)
