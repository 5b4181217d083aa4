"""Train: start a session and watch it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import streamlit as st
from pydantic import ValidationError

from frozenlab.engineer.engineers import BY_NAME, ApiEngineer, engineer_of, titled
from frozenlab.engineer.schema import SECTIONS
from frozenlab.errors import LabError, one_line
from frozenlab.jobs import launcher
from frozenlab.lake.board import Board
from frozenlab.lake.config import LAYOUTS, ConfigError, EnvironmentConfig
from frozenlab.lake.presets import PRESETS as CONFIG_PRESETS
from frozenlab.lake.presets import preset
from frozenlab.loop import launch
from frozenlab.loop.events import event_words
from frozenlab.loop.footprint import shape_of
from frozenlab.loop.page import language_form
from frozenlab.loop.page.config_tables import config_list
from frozenlab.loop.page.first_minute import first_minute, is_first_minute
from frozenlab.loop.presets import PRESETS as SESSION_PRESETS
from frozenlab.loop.presets import preset_spec
from frozenlab.loop.spec import SessionSpec
from frozenlab.loop.state import BEFORE_TRAINING, PHASE_WORDS, State
from frozenlab.loop.store import OFFERED, Session
from frozenlab.tasks.lake.view.player import board_player
from frozenlab.tasks.lake.view.recorded import answer_of
from frozenlab.training.settings import METHOD_NAMES, SCHEDULES, Method, Schedule, TrainingSettings
from frozenlab.ui import api_form, markup, nav, sessions, theme
from frozenlab.ui.components.timeline import Mark, marks, rates_by_stage, stage_name, timeline
from frozenlab.ui.figures import StageCurve, percent, training_curves, valid_by_size
from frozenlab.ui.once import once

TICK = 2.0
"""Seconds between looks at a live session."""
NEW = "train_new"
"""Session-state entry: the form is open."""
METHOD_WORDS: dict[Method, str] = {
    "grpo": "GRPO · reinforcement learning, the paper's method",
    "imitation": "imitation · learns how the exact solver corrects its plans",
    "expert-iteration": "expert iteration · learns the best of its own plans",
}
SCHEDULE_WORDS: dict[Schedule, str] = {"linear": "over the session", "per-stage": "in every stage", "constant": "not at all"}
PLANS_HELP: dict[Method, str] = {
    "grpo": "Plans sampled for each board: the group that GRPO compares.",
    "imitation": "Plans sampled for each board; those that are not optimal are cut at some step, and it learns the solver's way on.",
    "expert-iteration": "Plans sampled for each board, of which it imitates the best.",
}
FROM_PRESET, FROM_DESIGN, FROM_FILE = "the preset that it begins with", "the Design page", "a file"
SHOWN_EVENTS = 40


# --- the form --------------------------------------------------------------------------------------------------------


class Field(NamedTuple):
    """A number of the form; its widget has the key ``form_<name>``."""

    label: str
    low: float
    high: float
    help: str
    step: float | None = None
    format: str | None = None


FIELDS = {
    "stages": Field("Stages", 1, 50, "Train, validate, propose; so many times."),
    "steps": Field("Steps a stage", 1, 5000, "Optimizer steps in one stage."),
    "boards": Field("Boards a step", 1, 1024, "Different boards in one step."),
    "plans": Field("Plans a board", 2, 64, ""),
    "rate": Field(
        "Learning rate",
        1e-6,
        1e-2,
        "At its highest. GRPO at 3e-4 with few boards a step destroyed the policy in our trials.",
        1e-5,
        "%.1e",
    ),
    "temperature": Field("Temperature", 0.1, 2.0, "Of the plans sampled while training. Validation is greedy.", 0.1),
    "per_cell": Field("Held-out boards", 5, 1000, "For each map size and team size; more boards, narrower intervals, slower validation."),
    "seed": Field("Seed", 0, 2**31 - 1, "The same spec gives the same boards everywhere."),
}


def fill_form() -> None:
    """Puts the values of the chosen preset, for the chosen method if it has numbers for that, into the form."""
    trained_by = SESSION_PRESETS[chosen_name()].training
    if st.session_state.get("form_method") not in trained_by:
        st.session_state["form_method"] = next(iter(trained_by))
    spec = chosen_preset()
    training = spec.training
    values: dict[str, Any] = {
        "stages": spec.stages, "steps": training.steps, "boards": training.boards_per_step, "plans": training.completions_per_board,
        "rate": training.learning_rate, "temperature": training.temperature, "per_cell": spec.suite.boards_per_cell, "seed": spec.seed,
        "schedule": training.schedule,
    }  # fmt: skip
    values |= language_form.values(spec)
    st.session_state.update({f"form_{name}": value for name, value in values.items()})


def chosen_name() -> str:
    return st.session_state.get("form_preset", next(iter(SESSION_PRESETS)))


def chosen_preset() -> SessionSpec:
    return preset_spec(chosen_name(), method=st.session_state["form_method"])


def new_session_form(found: list[Session]) -> None:
    """Every setting of a session, filled in by a preset."""
    if "form_stages" not in st.session_state:
        fill_form()
    first, run = st.columns(2, gap="large")
    details = st.container()
    with first:
        st.selectbox(
            "Begin with", SESSION_PRESETS, format_func=lambda name: f"{name} · {SESSION_PRESETS[name].words}", key="form_preset",
            on_change=fill_form, help="Fills the form; every value can be changed. The times are for two cores.",
        )  # fmt: skip
        method = st.selectbox(
            "How it trains", list(SESSION_PRESETS[chosen_name()].training), key="form_method", on_change=fill_form,
            format_func=METHOD_WORDS.__getitem__,
            help="Reinforcement learning rewards plans that the model samples. The other two show it what to imitate; their figures are "
            "never those of GRPO.",
        )  # fmt: skip
    begun = chosen_preset()
    with details:
        language = None
        if begun.language:
            with st.expander("The language model", expanded=True):
                language = language_form.fields(begun.language)
        with st.expander("The first environment config", expanded="design_config" in st.session_state):
            config = pick_config(found, begun)
        with st.expander("The engineer and what it sees"):
            engineer, api, sections, layouts = engineer_fields()
        with st.expander("Stages, steps and seed"):
            numbers = number_fields(method)
            schedule = st.segmented_control(
                "The learning rate falls", SCHEDULES, format_func=SCHEDULE_WORDS.__getitem__, key="form_schedule", required=True,
                help="Over the session, a late stage learns less than an early one. In every stage, all learn as much, each with a short "
                "warm-up of its own: compare engineers so.",
            )  # fmt: skip
    as_begun = config == begun.initial_config
    suggest_title(begun.title if as_begun else "")
    title = first.text_input("Title", max_chars=120, key="form_title")
    with run:
        st.subheader("What will run", anchor=False)
        if config is None:
            return
        cells: dict[str, Any] = {} if as_begun else {"agents": (config.agents,), "sizes": tuple(config.sizes)}
        if api is not None and not api["model"]:
            st.info("Which model is the engineer? Name it as its server does, under *The engineer and what it sees*.")
            return
        try:
            proposer = ApiEngineer(**api) if api else engineer_of(engineer, begun.engineer)
            if language and "model" in proposer.needs:
                proposer = proposer.model_copy(update={"guidance": language["guidance"]})
            spec = SessionSpec(
                title=title,
                policy=language["policy"] if language else begun.policy,
                language=language_form.in_even_passes(language["language"], numbers["boards"] * numbers["plans"]) if language else None,
                engineer=proposer,
                sections=tuple(name for name in SECTIONS if name in (sections or ())),
                layouts=tuple(layout for layout in LAYOUTS if layout in (layouts or ())),
                stages=numbers["stages"],
                initial_config=config,
                training=TrainingSettings.model_validate(
                    begun.training.scheduled(schedule or begun.training.schedule).model_dump()
                    | {
                        "steps": numbers["steps"],
                        "boards_per_step": numbers["boards"],
                        "completions_per_board": numbers["plans"],
                        "learning_rate": numbers["rate"],
                        "temperature": numbers["temperature"],
                    }
                ),
                suite=begun.suite.model_copy(update=cells | {"boards_per_cell": numbers["per_cell"]}),
                test=begun.test and begun.test.model_copy(update=cells),
                seed=numbers["seed"],
            )
        except ValidationError as error:
            st.error(markup.plain(one_line(error)))
            return
        preview(spec, found)


def engineer_fields() -> tuple[str, dict[str, Any] | None, Sequence[str], Sequence[str]]:
    """Who proposes, where it is asked if that is an API, which sections it sees, and which layouts it may use."""
    engineer = st.selectbox(
        "Who writes the next config", list(BY_NAME), format_func=titled, key="form_engineer",
        help="Between two stages the engineer reads the evidence and proposes the next environment config.",
    )  # fmt: skip
    api = api_form.fields() if "network" in BY_NAME[engineer].needs else None
    sections = st.pills(
        "What it sees", SECTIONS, selection_mode="multi", default=SECTIONS, key="form_sections",
        help="Sections of the context: " + "; ".join(f"{name}: {words}" for name, words in markup.SECTION_HELP.items()) + ".",
    )  # fmt: skip
    layouts = st.pills(
        "Layouts it may use", LAYOUTS, selection_mode="multi", key="form_layouts",
        help="Without any, every map size keeps the layouts of the first config. So far only the engineer *random* turns layouts.",
    )  # fmt: skip
    return engineer, api, sections, layouts


def suggest_title(title: str) -> None:
    """Puts ``title`` into the form, unless somebody has written one of their own."""
    state = st.session_state
    if state.get("form_title") in (None, state.get("form_suggested")):
        state["form_title"] = state["form_suggested"] = title


def number_fields(method: Method) -> dict[str, Any]:
    """The numbers of the form, in rows of four; returns them by name."""
    numbers = {}
    for place, (name, field) in enumerate(FIELDS.items()):
        if place % 4 == 0:
            row = st.columns(4)
        numbers[name] = row[place % 4].number_input(
            field.label, field.low, field.high, step=field.step, format=field.format, key=f"form_{name}",
            help=PLANS_HELP[method] if name == "plans" else field.help,
        )  # fmt: skip
    return numbers


def pick_config(found: list[Session], begun: SessionSpec) -> EnvironmentConfig | None:
    """The config of the first stage: from the preset session, from Design, from a file, or the last one of a session. None: not chosen
    yet."""
    designed = st.session_state.get("design_config")
    ready_made = {f"the preset {name}": name for name in CONFIG_PRESETS}
    sources = [FROM_PRESET, *([FROM_DESIGN] if designed else []), *ready_made, FROM_FILE, *(session.id for session in found)]
    titles = {session.id: f"{session.title}, its last config" for session in found}
    if "form_source" not in st.session_state and designed:
        st.session_state["form_source"] = FROM_DESIGN
    source = st.selectbox("Taken from", sources, key="form_source", format_func=lambda name: titles.get(name, name))
    config: EnvironmentConfig | None = begun.initial_config
    try:
        if source == FROM_DESIGN:
            config = EnvironmentConfig.from_json(designed or "")
        elif source == FROM_FILE:
            upload = st.file_uploader("Config file", type=["json", "toml"], key="form_file", help="As Design saves it: JSON or TOML.")
            config = EnvironmentConfig.from_bytes(upload.getvalue(), upload.name) if upload else None
        elif source in ready_made:
            config = preset(ready_made[source])
        elif source != FROM_PRESET:
            config = last_config(next(session for session in found if session.id == source))
    except ConfigError as error:
        st.error(markup.plain(f"This is not a config: {error}"))
        return None
    if config is not None:
        st.html(config_list(config))
    return config


def last_config(session: Session) -> EnvironmentConfig:
    """The newest config of a session: what its engineer proposed last."""
    records = [session.proposal(stage) for stage in range(session.spec.stages)]
    return next((record.config_after for record in reversed(records) if record is not None), session.spec.initial_config)


def preview(spec: SessionSpec, found: list[Session]) -> None:
    training = spec.training
    boards = training.steps * training.boards_per_step
    plans = f"{boards * training.completions_per_board:,} sampled plans"
    stages = f"{spec.stages} stage{'s' if spec.stages > 1 else ''}"
    *fewer, most = map(str, spec.suite.agents)
    agents = f"{', '.join(fewer)} and {most}" if fewer else most
    st.markdown(
        f"**{stages}** of {training.steps} steps by **{METHOD_NAMES[training.method]}**: {plans} on {boards:,} boards a stage, "
        f"then a validation on held-out boards of {len(spec.suite.sizes)} map sizes "
        f"with {agents} agents"
        + (", and a test on others that no engineer sees." if spec.test else ".")
        + (f" Between stages, {spec.engineer.who} writes the next config." if spec.stages > 1 else "")
    )
    guess = expected_seconds(spec, found)
    shape = shape_of(spec.policy, spec.language.revision) if spec.language else None
    if guess is not None:
        st.caption(f"About {sessions.duration(guess[0])} of training, judging by {markup.plain(guess[1])}.")
    elif shape is None:
        st.caption("No session on this machine tells yet how long that takes.")
    if shape is not None:
        language_form.memory_and_time(spec, shape, timed=guess is not None)
    wrong = sessions.obstacles(spec)
    if wrong:
        st.error("This cannot run:\n\n" + "\n".join(f"- {markup.plain(reason)}" for reason in wrong))
    busy = launcher.running(sessions.store().root)
    if busy is not None:
        st.warning(
            f"{markup.plain(busy.title)} is running on this machine, which does one job at a time. Stop it or wait until it is done.",
            icon=":material/hourglass_top:",
        )
    may = api_form.may_ask([spec.engineer.server], "form")
    if st.button("Start", type="primary", key="form_start", icon=":material/play_arrow:", width="stretch", disabled=bool(wrong) or not may):
        st.session_state.pop(NEW, None)
        sessions.start(spec)
        st.session_state[NEW] = True  # it was not started: the form stays
    with st.expander("The same from the command line"):
        text = spec.model_dump_json(indent=2)
        line = command(spec)
        if line is None:
            st.caption("Download the spec, then run this in its folder:")
        st.code(line or "frozenlab run spec.json", language="bash")
        st.download_button("Download spec.json", text, "spec.json", "application/json", on_click="ignore", key="form_spec")
        st.code(text, language="json", height=320)


def expected_seconds(spec: SessionSpec, found: list[Session]) -> tuple[float, str] | None:
    """Training time of ``spec`` by the newest session of its model and method that measured its steps: seconds, and that session's
    title."""
    for session in found:
        if (session.spec.policy, session.spec.training.method) != (spec.policy, spec.training.method):
            continue
        metrics = session.metrics(0)
        if len(metrics) and "seconds" in metrics:
            theirs, ours = (s.training.boards_per_step * s.training.completions_per_board for s in (session.spec, spec))
            return float(metrics["seconds"].median()) * ours / theirs * spec.training.steps * spec.stages, session.title
    return None


def command(spec: SessionSpec) -> str | None:
    """What runs the same in a shell, if it takes no file: the spec is that of its preset but for engineer, schedule and seed."""
    plain = chosen_preset()
    try:
        training = plain.training.scheduled(spec.training.schedule)
        if spec != plain.changed(engineer=spec.engineer, seed=spec.seed, training=training):
            return None
    except ValidationError:  # an api engineer needs settings
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


# --- the live view ---------------------------------------------------------------------------------------------------


def session_view(session_id: str, drawn: str) -> None:
    """Everything that moves: the page's one live part. Draws the whole page anew when its badge no longer says what was ``drawn``."""
    session = sessions.store().open(session_id)
    state = session.state()
    mark = timeline(marks(session, state), key="train-thread", follow=True)
    progress(session, state)
    if is_first_minute(session, state):
        first_minute(session, state, sessions.store().sessions(OFFERED))
        event_log(session)
    else:
        measured(session, state, mark)
    sessions.problems(session)
    if sessions.status_words(session, state) != drawn:
        if state.status == "done":
            st.toast(f"{markup.plain(session.title)} is done.", icon=":material/check_circle:")
        elif state.status == "waiting":
            st.toast(f"{markup.plain(session.title)} waits for you.", icon=":material/front_hand:")
        st.rerun()


def measured(session: Session, state: State, mark: Mark) -> None:
    """Curves, a plan, and what was logged."""
    left, right = st.columns([1.75, 1], gap="large")
    with left:
        curves(session, state)
    with right:
        newest_plan(session, state, mark)
    below_left, below_right = st.columns([1.75, 1], gap="large")
    with below_left:
        by_size(session, mark)
    with below_right:
        event_log(session)


def progress(session: Session, state: State) -> None:
    """The bar, what happens now, time left, and how fresh that is."""
    if state.status == "done":
        first, last = (rates_by_stage(state).get(stage) for stage in (None, session.spec.stages - 1))
        if first and last:
            st.html(
                f'<p class="fl-answer">Valid plans went from {percent(first.value)} to <b>{percent(last.value)}</b>.</p>'
                f'<p class="fl-note">95 % intervals {first.interval} and {last.interval}, n = {last.n} {session.results_from}.</p>'
            )
        return
    now = PHASE_WORDS[state.phase]
    where = f"Stage {state.stage + 1} of {session.spec.stages}: {now}" if state.phase not in BEFORE_TRAINING else now.capitalize()
    if state.phase == "training":
        where += f", step {state.step} of {state.steps}"
    parts = [where, f"{percent(state.progress)} of the session"]
    if state.live and session.stop_asked:
        parts[0] = f"Stopping after this step. {where}"
    elif state.seconds_left is not None and state.status == "running":
        parts.append(f"about {sessions.duration(state.seconds_left)} left")
    st.progress(min(max(state.progress, 0.0), 1.0), text=" · ".join(parts))
    heard = f"Heard from the worker {sessions.ago(state.heartbeat)}." if state.heartbeat else "The worker has not reported yet."
    if state.status == "stalled":
        st.warning(f"The worker lives but is silent. {heard} It may be swapping; stop it if it does not come back.")
    elif state.status == "crashed":
        st.error("The worker is gone without a word (killed, or the machine went down). Resume goes on from the last finished step.")
    elif state.status == "failed":
        st.error("The session failed. What it said last is in its worker.log.")
        st.code(state.error or "no reason given", language=None, wrap_lines=True)
    elif state.status == "stopped":
        st.info("Stopped. Resume goes on where it stopped.")
    elif state.status == "waiting":
        with st.container(horizontal=True, vertical_alignment="center"):
            st.info(f"It waits for you: what should it train on after {stage_name(state.stage).lower()}?", icon=":material/front_hand:")
            address = {"session": session.id, "stage": str(state.stage + 1)}
            st.page_link(nav.path("story"), label="Read the evidence and decide", query_params=address)
    else:
        st.caption(f"Began {sessions.ago(session.created)}. {heard}")


def curves(session: Session, state: State) -> None:
    st.subheader(
        "Learning",
        anchor=False,
        help="Thin: single steps. Thick: a running mean. Diamonds: " + session.results_from + ", with 95 % intervals.",
    )
    checks = rates_by_stage(state)
    measured = tuple(session.metrics_revision(stage) for stage in range(session.spec.stages))  # before it is read: never newer than it
    stages = [
        StageCurve(stage_name(stage), session.metrics(stage), session.spec.training.steps, checks.get(stage))
        for stage in range(session.spec.stages)
    ]
    if not checks and all(stage.metrics.empty for stage in stages):
        st.caption("Nothing has been measured yet.")
        return
    below: Literal["reward", "loss"] = "reward" if session.spec.training.method == "grpo" else "loss"
    known = str(session.dir), measured, tuple(checks.items()), below
    theme.chart(once(lambda: training_curves(checks.get(None), stages, below=below), "curves", *known), "curves")


def newest_plan(session: Session, state: State, mark: Mark) -> None:
    """The last plan that the model sampled, in the chosen stage or the present one."""
    stages = [mark.id - 1] if mark.id else []
    stages += [stage for stage in range(state.stage, -1, -1) if stage not in stages]
    if state.live:
        stages.sort(reverse=True)
    for stage in stages:
        table = session.completions(stage)
        if table is not None and len(table):
            row = table.iloc[-1]
            st.subheader(
                "Newest sampled plan" if state.live else "A sampled plan",
                anchor=False,
                help="Drawn at the training temperature, mistakes and all.",
            )
            track = answer_of(row, f"{stage_name(stage).lower()}, step {int(row['training_step'])}")
            board_player(Board.from_dict(json.loads(row["board"])), [track], key="newest", height=300, autoplay=state.live)
            rewarded = session.spec.training.method == "grpo"
            with st.expander(f"The answer, word by word (reward {row['reward']:.2f})" if rewarded else "The answer, word by word"):
                st.code(row["completion"] or " ", language=None, wrap_lines=True)
            return
    st.subheader("Newest sampled plan", anchor=False)
    st.caption("The first one comes after a few training steps.")


def by_size(session: Session, mark: Mark) -> None:
    """Valid rate of the sampled plans by map size in the chosen stage."""
    if not mark.id:
        return
    known = str(session.dir), mark.id, session.metrics_revision(mark.id - 1)
    metrics = session.metrics(mark.id - 1)
    if len(metrics):
        st.subheader(
            f"{mark.title}, size by size", anchor=False, help="Valid rate of the sampled training plans, a running mean over five steps."
        )
        theme.chart(once(lambda: valid_by_size(metrics, session.spec.training.steps), "sizes", *known), "by-size")


def event_log(session: Session) -> None:
    st.subheader("Log", anchor=False)
    events = [event for event in session.events()[0] if event.get("kind") != "step"][-SHOWN_EVENTS:]
    st.html(markup.log([(float(event.get("time", 0)), event_words(event)) for event in reversed(events)]))


# --- stop and resume -------------------------------------------------------------------------------------------------


@st.dialog("Stop this session?")
def confirm_stop(session: Session) -> None:
    st.write("It stops after the step it is in and keeps everything it has. You can resume it later.")
    yes, no = st.columns(2)
    if yes.button("Stop it", type="primary", key="stop-yes", width="stretch", on_click=try_stop, args=(session,)):
        st.rerun()
    if no.button("Let it run", key="stop-no", width="stretch"):
        st.rerun()


def try_stop(session: Session) -> None:
    try:
        launcher.stop(session)
    except launcher.LaunchError as error:
        st.session_state["train_error"] = str(error)


def try_resume(session: Session) -> None:
    try:
        launch.resume(session, sessions.store())
    except LabError as error:
        st.session_state["train_error"] = str(error)


def controls(session: Session, state: State) -> bool:
    """Status, Live, stop or resume, and the way to the Story. Returns whether to look again by itself."""
    ended = state.status in ("stopped", "failed", "crashed") and not session.read_only
    may = api_form.may_ask([session.spec.engineer.server] if ended else [], "resume")
    with st.container(horizontal=True, vertical_alignment="center"):
        sessions.status_badge(session, state)
        began = "" if state.live else f" · began {sessions.ago(session.created)}"
        st.caption(f"{markup.plain(sessions.set_up(session.spec))} · seed {session.spec.seed}{began}")
        live = st.toggle("Live", True, key="live", help="Off: the charts stand still, so that zoom stays.") if state.live else False
        if state.live and not session.read_only and not session.stop_asked and st.button("Stop", key="stop", icon=":material/stop:"):
            confirm_stop(session)
        if ended:
            st.button("Resume", key="resume", icon=":material/play_arrow:", on_click=try_resume, args=(session,), disabled=not may)
        st.page_link(nav.path("story"), label="Read its story", query_params={"session": session.id})
    sessions.said_why("train_error")
    return live


# --- the page --------------------------------------------------------------------------------------------------------

nav.ensure_nav()
store = sessions.store()
found = store.sessions(OFFERED)
if "design_config" in st.session_state and st.session_state["design_config"] != st.session_state.get("design_seen"):
    st.session_state["design_seen"] = st.session_state["design_config"]
    st.session_state[NEW] = True
    st.session_state["form_source"] = FROM_DESIGN
writing = st.session_state.get(NEW, False) or not found

head, picker, action = st.columns([2.4, 1, 0.5], vertical_alignment="bottom")
with head:
    theme.question("What should run?" if writing else "Is the model learning?")
markup.styles()
if writing:
    if found and action.button("Back", key="form_back", width="stretch"):
        st.session_state.pop(NEW, None)
        st.rerun()
    new_session_form(found)
else:
    with picker:
        session = sessions.session_picker(found)
    if action.button("New session", type="primary", key="new", width="stretch"):
        st.session_state[NEW] = True
        st.rerun()
    state = session.state()
    live = controls(session, state)
    st.fragment(session_view, run_every=TICK if live else None)(session.id, sessions.status_words(session, state))
sessions.unreadable(store)
