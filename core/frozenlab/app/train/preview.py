"""What would run, what stands in its way, how long it would take, and the button that starts it."""

from __future__ import annotations

import streamlit as st

from frozenlab.app.ui import api_form, markup, refusals, sessions
from frozenlab.base.numbers import counted
from frozenlab.engineer.engineers import who_is
from frozenlab.jobs.machine import THREADS, Gpu, gpus, memory
from frozenlab.jobs.queue.look import look
from frozenlab.models.folders import STUDENT
from frozenlab.models.language.room import on_processor
from frozenlab.models.training.methods import title_of
from frozenlab.session.footprint import GIB, Shape, footprint, footprint_here, needs, processor_seconds, shape_of, shortfalls
from frozenlab.session.pace import pace_for
from frozenlab.session.presets import PRESETS as SESSION_PRESETS
from frozenlab.session.presets import preset_spec
from frozenlab.session.session import Session
from frozenlab.session.spec import SessionSpec

NEW = "train_new"
"""Session-state entry: the form is open."""
LIKE = "train_like"
"""What the form begins with where that is no preset, and the session-state entry with this spec: that of a session, or of a file."""
EXAMPLE_GPUS = (Gpu("an NVIDIA H100", 80 * GIB), Gpu("an A100", 80 * GIB))
"""Examples for estimates on a machine without a GPU."""
A_DAY = 86_400


def preview(spec: SessionSpec, found: list[Session], times: int) -> None:
    """``times``: how many sessions are started, each with the next seed."""
    training = spec.training
    boards = training.steps * training.boards_per_step
    plans = f"{training.plans_per_stage:,} sampled plans"
    stages = counted(spec.stages, "stage")
    st.markdown(
        f"**{stages}** of {training.steps} steps by **{title_of(training.method)}**: {plans} on {boards:,} boards a stage, "
        f"then a validation on boards of {spec.tasks.suite_scope(spec.suite)} that it never trains on"
        + (", and a test on others that no engineer sees." if spec.test else ".")
        + (f" Between stages, {who_is(spec.engineer.kind)} writes the next config." if spec.stages > 1 else "")
    )
    pace = pace_for(spec, found)
    shape = shape_of(spec.policy, spec.language.revision) if spec.language else None
    if pace is not None:
        parts = f"loading, {sum(spec.held_out):,} held-out boards before training and after every stage, training and asking"
        each = " for each of them" if times > 1 else ""
        st.caption(f"{markup.plain(pace.judged(pace.seconds(spec)))}{each}: {parts}.")
    elif shape is None:
        st.caption("No session on this machine shows yet how long that takes.")
    if shape is not None:
        memory_and_time(spec, shape, timed=pace is not None)
    same = next((known for known in found if known.spec.model_copy(update={"title": spec.title}) == spec), None)
    if same is not None:
        st.info(f"This repeats {markup.plain(same.title)} ({same.id}) to the last bit. Another seed makes a run of its own.")
    wrong = obstacles(spec)
    if wrong:
        st.error("This cannot run:\n\n" + "\n".join(f"- {markup.plain(reason)}" for reason in wrong))
    urgent = choose_turn(spec)
    may = api_form.may_ask([spec.engineer.server], "form")
    allowed = refusals.changes(disabled=bool(wrong) or not may)
    if st.button("Start", type="primary", key="form_start", icon=":material/play_arrow:", width="stretch", **allowed):
        st.session_state.pop(NEW, None)
        sessions.start(repeated(spec, times), urgent)
        st.session_state[NEW] = True  # it was not started: the form stays
    with st.expander("The same from the command line"):
        text = spec.model_dump_json(indent=2)
        line = command(spec) if times == 1 else None
        if line is None:
            st.caption("Download the spec, then run this in its folder:")
            line = "\n".join(f"frozenlab run spec.json --seed {one.seed}" for one in repeated(spec, times))
        st.code(line, language="bash")
        st.download_button("Download spec.json", lambda: text, "spec.json", "application/json", on_click="ignore", key="form_spec")
        st.code(text, language="json", height=320)


def repeated(spec: SessionSpec, times: int) -> list[SessionSpec]:
    """The spec with so many seeds, from its own on, which name the sessions if there are several."""
    if times == 1:
        return [spec]
    return [spec.changed(seed=spec.seed + i, title=f"{spec.title[:100]}, seed {spec.seed + i}".lstrip(", ")) for i in range(times)]


def memory_and_time(spec: SessionSpec, shape: Shape, timed: bool) -> None:
    """What a language model's session takes, before anything is loaded; no word on time where a session has been ``timed``."""
    assert spec.language is not None, "the lab model has no such shape"
    taken, processor = footprint_here(spec, shape), on_processor(spec.language)
    seconds = processor_seconds(spec, shape) if processor else 0.0
    weights, size = f"**{shape.parameters / 1e9:.2g} billion weights**", taken.total / GIB
    if processor:
        free = f"{memory().available / GIB:.0f} of this machine's {memory().total / GIB:.0f} GiB are free"
        st.markdown(f"{weights}; on the processor about **{size * spec.processes:.1f} GiB** of memory; {free}.")
    else:
        st.markdown(f"{weights}; on each GPU at least **{size:.0f} GiB** of memory.")
    if processor and not timed:
        wall = f"{rough(seconds / THREADS)} on the {counted(THREADS, 'core')} that it takes here"
        st.markdown(f"About **{rough(seconds)} of CPU time**, measuring included: {wall}.")
    parts = ", ".join(f"{what} {size / GIB:.1f}" for what, size in taken.parts.items() if size)
    st.caption(
        f"GiB: {parts}. Estimated from the model's shape"
        + (
            " and this processor's speed: the time is right to a factor of two or three."
            if processor
            else "; memory of the libraries comes on top."
        )
    )
    if not timed and (not processor or seconds / THREADS > A_DAY):
        steps = spec.training.steps * spec.stages
        times = [
            f"{rough(a_step * steps)} on {gpu.name}"
            for gpu in gpus()[:1] or EXAMPLE_GPUS
            if (a_step := footprint(spec, shape, gpu).step_seconds(gpu)) is not None
        ]
        if times:
            st.caption(f"Training about {' or '.join(times)}, by published speeds: right to a factor of two or three.")


def rough(seconds: float) -> str:
    """A time that is not known better than to a factor: ``20 min``, ``35 h``, ``3 days``."""
    hours = seconds / 3600
    if hours < 1.5:
        return f"{max(10, round(seconds / 600) * 10)} min"
    return f"{hours:.0f} h" if hours < 72 else f"{hours / 24:.0f} days"


def choose_turn(spec: SessionSpec) -> bool:
    """Says what runs before, if the machine has no room now, and lets the reader choose to begin at once. Returns that choice."""
    found = look(sessions.store().root)
    if found.has_room(needs(spec)):
        return False
    st.info(f"This machine is at work: {found.summary}. This session will be {found.in_line()}.", icon=":material/hourglass_top:")
    return st.checkbox(
        "Begin at once",
        key="form_urgent",
        help="For a live demonstration: running jobs make room at their next step and resume afterwards.",
    )


def command(spec: SessionSpec) -> str | None:
    """What runs the same in a shell, if it takes no file: the spec is that of its preset but for an engineer with its usual settings,
    schedule and seed."""
    if chosen_name() == LIKE:
        return None
    plain = chosen_preset()
    engineer = plain.engineer if spec.engineer == plain.engineer else spec.engineer.kind
    try:
        training = plain.training.scheduled(spec.training.schedule)
        if spec != plain.changed(engineer=engineer, seed=spec.seed, training=training):
            return None
    except ValueError:  # an engineer that has no usual settings, like one behind an API
        return None
    words = ["frozenlab run --preset", chosen_name()]
    if spec.training.method != "grpo":
        words += ["--method", spec.training.method]
    if spec.engineer != plain.engineer:
        words += ["--engineer", spec.engineer.kind]
    if spec.training.schedule != plain.training.schedule:
        words += ["--schedule", spec.training.schedule]
    if spec.seed != plain.seed:
        words += ["--seed", str(spec.seed)]
    return " ".join(words)


def chosen_name() -> str:
    return st.session_state.get("form_preset", next(iter(SESSION_PRESETS)))


def chosen_preset() -> SessionSpec:
    """The spec that the form begins with."""
    if chosen_name() == LIKE:
        like: SessionSpec = st.session_state[LIKE]
        return like
    return preset_spec(chosen_name(), method=st.session_state["form_method"])


def obstacles(spec: SessionSpec) -> list[str]:
    """Why the session would fail: cells that cannot be drawn, tasks that the model has no words for, a machine that lacks something."""
    lacking = shortfalls(spec, waits=True) if spec.language else []
    found = [f"{reason[0].upper()}{reason[1:]}." for reason in lacking]
    config, family = spec.initial_config, spec.tasks
    if spec.policy == "lab-model" or spec.policy.startswith(STUDENT):
        engineer = "model" in spec.engineer.author.needs
        found += family.lab.obstacles(config, engineer) if family.lab else [f"The lab model has no words for the tasks of {family.name}."]
    return found + [reason for name in config.cells if (reason := family.undrawable(config, name))]
