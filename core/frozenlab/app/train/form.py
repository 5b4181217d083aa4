"""The form of a new session."""

from __future__ import annotations

from typing import Any, NamedTuple, get_args

import streamlit as st
from pydantic import ValidationError

from frozenlab.app.train.model import CONFIG_KEY, FROM_PRESET, KEY, LAB_MODEL, OTHER, pick_config, pick_model
from frozenlab.app.train.preview import LIKE, chosen_name, chosen_preset, preview
from frozenlab.app.ui import api_form, form, markup, nav
from frozenlab.app.ui.components.draft import KEPT
from frozenlab.app.ui.form import field, fields
from frozenlab.base.cells import Config
from frozenlab.base.docstrings import field_docs
from frozenlab.base.errors import one_line
from frozenlab.engineer import engineers
from frozenlab.engineer.engineers import BY_NAME, ENGINEERS, ApiEngineer, engineer_of
from frozenlab.engineer.engineers.own_model import PolicyEngineer
from frozenlab.engineer.protocol import EngineerSpec
from frozenlab.engineer.sections import NAMES, USUAL, SectionName, help_of
from frozenlab.models.folders import PLANNER, STUDENT
from frozenlab.models.settings import LanguageSettings, Launcher, Lora, Vllm
from frozenlab.models.training.methods import TrainingSettings, titled
from frozenlab.models.training.stage_settings import SCHEDULES, Schedule
from frozenlab.session.health.rules import NAMES as HEALTH_RULES
from frozenlab.session.presets import PRESETS as SESSION_PRESETS
from frozenlab.session.session import Session
from frozenlab.session.spec import SessionSpec
from frozenlab.tasks.family import Family

SCHEDULE_WORDS: dict[Schedule, str] = {"linear": "over the session", "per-stage": "in every stage", "constant": "not at all"}
VLLM_HERE, VLLM_SERVER, TRANSFORMERS = "vLLM, in the training process", "vLLM, a server on other GPUs", "transformers, slow"
WRITERS: dict[str, Vllm | None] = {VLLM_HERE: Vllm(), VLLM_SERVER: Vllm(mode="server"), TRANSFORMERS: None}
CHOICES = {"device": "Device", "dtype": "Number format"}
"""Settings of a language model that depend on the machine, and are one of a few words."""

"""Session-state entry: why a file could not be opened as a spec."""
LOOP = ("stages", "seed")
SUITE = ("boards_per_cell",)
TRAINING = ("steps", "boards_per_step", "completions_per_board", "learning_rate", "temperature")


def fill_form() -> None:
    """Puts the values of the chosen preset, for the chosen method if it has numbers for that, into the form."""
    trained_by = methods()
    if st.session_state.get("form_method") not in trained_by:
        st.session_state["form_method"] = trained_by[0]
    spec = chosen_preset()
    values: dict[str, Any] = {name: getattr(spec, name) for name in LOOP}
    values |= {name: getattr(spec.suite, name) for name in SUITE}
    values["test_boards"] = spec.test.boards_per_cell if spec.test else None
    values["stop_if"] = list(spec.stop_if)
    values |= {name: getattr(spec.training, name) for name in (*TRAINING, "schedule")}
    values |= language_values(spec)
    values["times"] = 1
    if st.session_state.get("form_engineer") == st.session_state.get("form_suggested_engineer"):
        values["engineer"] = values["suggested_engineer"] = spec.engineer.kind
    st.session_state.update({f"form_{name}": value for name, value in values.items()})


def methods() -> tuple[str, ...]:
    """How what the form begins with can train."""
    name = chosen_name()
    return SESSION_PRESETS[name].methods if name in SESSION_PRESETS else (st.session_state[LIKE].training.method,)


def begin_like(spec: SessionSpec) -> None:
    """Fills the form with a spec that is no preset's: that of a session, or of a file. For callbacks, and before the form is drawn."""
    state, engineer = st.session_state, spec.engineer
    state[LIKE] = spec.changed(parent=None)
    state["form_preset"], state["form_method"] = LIKE, spec.training.method
    state["form_engineer"] = state["form_suggested_engineer"] = engineer.kind
    state["form_sections"], state["form_layouts"] = list(spec.sections), list(spec.layouts)
    state[KEY] = spec.policy if spec.policy.startswith(STUDENT) else LAB_MODEL
    state[CONFIG_KEY] = FROM_PRESET
    state["form_title"] = state["form_suggested"] = spec.title
    if isinstance(engineer, ApiEngineer):
        api_form.fill(engineer)
    fill_form()


def new_session_form(found: list[Session]) -> None:
    """Every setting of a session, filled in by a preset."""
    if "form_stages" not in st.session_state:
        fill_form()
    first, run = st.columns(2, gap="large")
    details = st.container()
    with first:
        preset_and_method()
    begun = chosen_preset()
    with first:
        student = pick_model(begun, chosen_name(), fill_form)
    with details:
        language = None
        if begun.language:
            with st.expander("The language model", expanded=True):
                language = language_fields(begun.language)
        with st.expander("The first environment config", expanded="design_config" in st.session_state):
            config = pick_config(found, begun, student)
        with st.expander("The engineer and what it sees"):
            chosen = engineer_fields(begun.tasks)
        with st.expander("Stages, steps and seed"):
            numbers = number_fields(begun)
            st.page_link(nav.path("studies"), label="Compare two values of a setting in a study", query_params={"new": "sweep"})
    suggest_title(begun.title if config == begun.initial_config else "")
    title = first.text_input("Title", max_chars=120, key="form_title", **KEPT)
    with run:
        st.header("What will run", anchor=False)
        if config is None:
            return
        if chosen.unnamed:
            st.info("Which model is the engineer? Name it as its server does, under *The engineer and what it sees*.")
            return
        if language is not None and not language["policy"]:
            st.info(
                "Which model? Name a folder on this machine, or a model on the hub, such as Qwen/Qwen3-0.6B, under *The language model*."
            )
            return
        try:
            policy = language["policy"] if language else begun.policy
            spec = spec_of(title, student.name if student else policy, begun, config, language, chosen, numbers)
        except ValidationError as error:
            st.error(markup.plain(one_line(error)))
            return
        preview(spec, found, numbers.times)


def language_values(spec: SessionSpec) -> dict[str, Any]:
    """What a spec puts into the widgets, by their keys without ``form_``."""
    language = spec.language
    if language is None:
        return {}
    mode = language.vllm and language.vllm.mode
    return {
        "student": spec.policy if spec.policy == PLANNER else OTHER,
        "policy": spec.policy,
        "rank": language.lora.rank if language.lora else 0,
        **{name: getattr(language, name) for name in ("rows", *CHOICES)},
        "max_tokens": language.max_tokens,
        "thinking": language.thinking,
        "compact": language.question == "compact",
        "guidance": getattr(spec.engineer, "guidance", False),
        "processes": language.launcher.processes,
        "writer": next(name for name, vllm in WRITERS.items() if (vllm and vllm.mode) == mode),
    }


def language_fields(begun: LanguageSettings) -> dict[str, Any]:
    """The language model and how it is trained: ``policy`` and ``language`` of the spec, and the ``guidance`` of its engineer. Everything
    else is as in the preset."""
    policy = st.session_state[KEY]
    if policy != PLANNER:
        st.caption("The preset's numbers are starting points: they are not tuned at this size yet.")
    if policy == OTHER:
        policy = st.text_input(
            "Folder or name", key="form_policy", **KEPT, max_chars=300,
            help="A folder on this machine, or its name on the Hugging Face hub, such as Qwen/Qwen3-0.6B.",
        )  # fmt: skip
    writes, together, *places = st.columns([1.6, 1, 1, 1], vertical_alignment="bottom")
    writer = writes.selectbox("Plans are written by", list(WRITERS), key="form_writer", **KEPT)
    rows = field(LanguageSettings, "rows", key="form_rows", place=together)
    docs = field_docs(LanguageSettings)
    chosen = {
        name: place.selectbox(label, get_args(LanguageSettings.model_fields[name].annotation), key=f"form_{name}", **KEPT, help=docs[name])
        for place, (name, label) in zip(places, CHOICES.items(), strict=True)
    }
    rank, longest, gpus, choices = st.columns(4, vertical_alignment="bottom")
    lora = field(
        Lora, "rank", key="form_rank", place=rank, min_value=0, disabled=policy == PLANNER,
        help="Size of the adapters that are trained; 0 trains all weights. SmolLM2 comes with its own.",
    )  # fmt: skip
    max_tokens = field(LanguageSettings, "max_tokens", key="form_max_tokens", place=longest)
    processes = field(Launcher, "processes", key="form_processes", place=gpus)
    compact = choices.toggle(
        "Compact question", key="form_compact", **KEPT,
        help=f"{field_docs(LanguageSettings)['question']} `frozenlab warm-start --question compact` teaches it.",
    )  # fmt: skip
    thinks = field(LanguageSettings, "thinking", key="form_thinking", place=choices)
    lessons = field(PolicyEngineer, "guidance", key="form_guidance", place=choices)
    vllm = WRITERS[writer]
    language = begun.model_copy(
        update={
            "lora": (begun.lora or Lora()).model_copy(update={"rank": lora, "alpha": 2 * lora}) if lora else None,
            **chosen,
            "rows": rows,
            "max_tokens": max_tokens,
            "context": max(begun.context, 2 * max_tokens),
            "thinking": thinks,
            "question": "compact" if compact else "full",
            "launcher": begun.launcher.model_copy(update={"processes": processes}),
            "vllm": begun.vllm if vllm and begun.vllm and vllm.mode == begun.vllm.mode else vllm,
        }
    )
    return {"policy": policy.strip(), "language": language, "guidance": lessons}


def in_even_passes(language: LanguageSettings, plans: int) -> LanguageSettings:
    """The same settings with the most rows, but no more than before, that divide the ``plans`` of a step evenly. Raises pydantic's
    ValidationError if they are not valid."""
    own = max(1, plans // language.launcher.processes)
    rows = max(rows for rows in range(1, language.rows + 1) if own % rows == 0)
    return LanguageSettings.model_validate(language.model_dump() | {"rows": rows})  # and it is checked


def preset_and_method() -> None:
    words = {name: f"{name} · {preset.words}" for name, preset in SESSION_PRESETS.items()}
    if LIKE in st.session_state:
        words[LIKE] = f"as in {st.session_state[LIKE].title or 'the file'}"
    begin, file = st.columns([2.6, 1], vertical_alignment="bottom")
    begin.selectbox(
        "Begin with", list(words), format_func=words.__getitem__, key="form_preset", **KEPT,
        on_change=fill_form, help="Fills the form; every value can be changed. The times are for two cores.",
    )  # fmt: skip
    with file:
        form.open_file(
            "Open a file", SessionSpec, begin_like, "the spec of a session",
            "spec.json as this page saves it, or session.json from a session's folder.", key="form_spec_file",
        )  # fmt: skip
    st.selectbox(
        "How it trains", methods(), key="form_method", **KEPT, on_change=fill_form,
        format_func=titled,
        help="Reinforcement learning rewards plans that the model samples. The others show it what to imitate; their figures are "
        "never those of GRPO.",
    )  # fmt: skip


class Numbers(NamedTuple):
    """Stages, steps and seed."""

    loop: dict[str, Any]
    """Fields of SessionSpec."""
    suite: dict[str, Any]
    test: dict[str, Any]
    """Fields of the suite of test boards."""
    training: dict[str, Any]
    schedule: Schedule
    times: int
    """Sessions, each with the next seed."""


def number_fields(begun: SessionSpec) -> Numbers:
    left, right = st.columns([2, 1])
    with left:
        loop = fields(SessionSpec, LOOP, key="form", columns=2)
        times = st.number_input(
            "Sessions", 1, 20, key="form_times", **KEPT, help="How many are started, each with the next seed. Runs compares them.",
        )  # fmt: skip
    with right:
        suite, test = fields(type(begun.suite), SUITE, key="form", columns=1), dict[str, Any]()
        if begun.test:
            test["boards_per_cell"] = field(
                type(begun.test), "boards_per_cell", key="form_test_boards", label="Test boards",
                help="Per cell; no engineer sees them. They are measured before training and after every stage, which takes time.",
            )  # fmt: skip
    training = fields(TrainingSettings, TRAINING, key="form", columns=5, steps={"learning_rate": 1e-5, "temperature": 0.1})
    schedule = st.segmented_control(
        "The learning rate falls", SCHEDULES, format_func=SCHEDULE_WORDS.__getitem__, key="form_schedule", **KEPT, required=True,
        help="Over the session: a late stage learns less than an early one. In every stage: all learn as much, each with its own short "
        "warm-up; choose this to compare engineers.",
    )  # fmt: skip
    assert schedule is not None  # it is required
    loop["stop_if"] = tuple(st.multiselect(
        "Stop if", HEALTH_RULES, key="form_stop_if", **KEPT, placeholder="never: only show alarms",
        help="An alarm of one of these rules stops the session after the step, or after the validation, that gave it. It can be resumed.",
    ))  # fmt: skip
    return Numbers(loop, suite, test, training, schedule, times)


def spec_of(
    title: str, policy: str, begun: SessionSpec, config: Config, language: dict[str, Any] | None, chosen: ChosenEngineer, numbers: Numbers
) -> SessionSpec:
    """The spec that the form holds. Raises pydantic's ValidationError."""
    cells = {} if config == begun.initial_config else begun.tasks.suite_cells(config)
    training = begun.training.scheduled(numbers.schedule).model_dump() | numbers.training
    plans = training["boards_per_step"] * training["completions_per_board"]
    return begun.changed(
        title=title,
        policy=policy,
        language=in_even_passes(language["language"], plans) if language else None,
        engineer=chosen.spec(begun, language),
        sections=chosen.sections,
        layouts=chosen.layouts,
        initial_config=config,
        training=TrainingSettings.model_validate(training),
        suite=begun.suite.model_copy(update=cells | numbers.suite),
        test=begun.test and begun.test.model_copy(update=cells | numbers.test),
        **numbers.loop,
    )


def suggest_title(title: str) -> None:
    """Puts ``title`` into the form, unless a person has written another."""
    state = st.session_state
    if state.get("form_title") in (None, state.get("form_suggested")):
        state["form_title"] = state["form_suggested"] = title


class ChosenEngineer(NamedTuple):
    """Who proposes, and what it sees."""

    name: str
    server: dict[str, Any] | None
    """The settings of an engineer behind an API; None for others."""
    sections: tuple[SectionName, ...]
    layouts: tuple[str, ...]

    @property
    def unnamed(self) -> bool:
        """Whether its model has no name yet."""
        return self.server is not None and not self.server["model"]

    def spec(self, begun: SessionSpec, language: dict[str, Any] | None) -> EngineerSpec:
        """Raises pydantic's ValidationError for settings that are none."""
        if self.server is not None:
            return BY_NAME[self.name].model_validate(self.server)
        engineer = engineer_of(self.name, begun.engineer)
        if language and "model" in engineer.needs:
            return engineer.model_copy(update={"guidance": language["guidance"]})
        return engineer


def engineer_fields(family: Family) -> ChosenEngineer:
    engineer = st.selectbox(
        "Who writes the next config", [one.name() for one in ENGINEERS], format_func=engineers.titled, key="form_engineer", **KEPT,
        help="Between two stages the engineer reads the evidence and proposes the next environment config.",
    )  # fmt: skip
    if "model" in BY_NAME[engineer].needs and st.session_state.get(KEY) == PLANNER:
        st.caption("SmolLM2 states rightly which rates it reads, but the shares that it proposes are noise (docs/smollm2.md).")
    server = api_form.fields() if "network" in BY_NAME[engineer].needs else None
    sections = st.pills(
        "What it sees", NAMES, selection_mode="multi", default=USUAL, key="form_sections", **KEPT,
        help="Sections of the context: " + "; ".join(f"{name}: {help_of(name)}" for name in NAMES) + ".",
    )  # fmt: skip
    layouts: list[str] = []
    if family.parts:
        layouts = st.pills(
            "Layouts it may use", family.parts, selection_mode="multi", key="form_layouts", **KEPT,
            help="Without any, every map size keeps those of the first config. The lab model has no words for layouts: it keeps them.",
        )  # fmt: skip
    return ChosenEngineer(
        engineer, server, tuple(name for name in NAMES if name in sections), tuple(layout for layout in family.parts if layout in layouts)
    )
