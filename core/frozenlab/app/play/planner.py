"""Choosing the planner: a model, all stages of a session, planners of the field, or a recorded answer; and what the reader has planned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from frozenlab.app import allowances
from frozenlab.app.play import choices, searching
from frozenlab.app.play.state import DESK, EVERY_STAGE, RECORDED, SEARCH, SINGLE_MODEL, Places, look, state, turn_to
from frozenlab.app.ui import refusals
from frozenlab.app.ui.markup import plain
from frozenlab.app.views.lake.share import encode
from frozenlab.app.views.lake.steer import BY_KEYS, steered
from frozenlab.app.views.lake.tracks import Recorded, Track, followed
from frozenlab.base import look_only
from frozenlab.base.errors import LabError
from frozenlab.base.numbers import listed
from frozenlab.engineer.sentences import capitalised
from frozenlab.lake.board import Board
from frozenlab.lake.instance import Instance
from frozenlab.lake.rules import Paths, Verdict, judge_paths
from frozenlab.lake.words.reading import Answer, judge_answer
from frozenlab.models.evaluation import answer_in_guises
from frozenlab.models.policy import GREEDY, Completion, Progress, Sampling
from frozenlab.models.settings import LanguageSettings
from frozenlab.session.planner import Planner, refuse_beside_training
from frozenlab.session.session import Checkpoint
from frozenlab.session.store import SessionStore
from frozenlab.tasks.family import Family
from frozenlab.tasks.lake.family import LAKE
from frozenlab.tasks.lake.guises import GUISES, guises
from frozenlab.tasks.task import Dialect

BEST = f"Best of {GUISES}"


@dataclass(frozen=True)
class Request:
    """Plans of one or several models for a board."""

    code: str
    """Of the board."""
    names: tuple[str, ...]
    """What the models' plans are called on the board."""
    checkpoints: tuple[Checkpoint, ...]
    sampling: Sampling = GREEDY
    guises: int = 1
    """Turns and mirror images of the board that the model answers."""


@dataclass(frozen=True)
class Planned:
    """The plan of the chosen planner."""

    tracks: Sequence[Track] = ()
    completion: str | None = None
    """The answer as the model wrote it."""
    asked_on: str = ""
    """How the board was turned and renumbered that the model read; empty where it read the board as it is."""
    answers: Sequence[PlannedAnswer] = ()
    """All answers of the model, of which one is shown."""
    request: Request | None = None
    """A model that has to be asked before its plan can be shown."""
    checkpoint: Checkpoint | None = None
    """The chosen model; None where several plan, or none does."""
    stages_of: str | None = None
    """The id of the session all of whose stages plan."""
    search: searching.Search | None = None
    """Planners of the field that have to search before their plans can be shown."""


def choose_planner(board: Board, optimum: int | None, store: SessionStore, places: Places) -> Planned:
    """The controls of the plan, and the plan as far as it is there. ``optimum`` is the best makespan, if that is known."""
    saved: Recorded | None = state.get("play_recorded")
    if saved is not None and saved.board != board:
        saved = None
    with places.plan:
        st.header("Plan", anchor=False)
        options = [SINGLE_MODEL, EVERY_STAGE, SEARCH, *([RECORDED] if saved else [])]
        if state.get("play_planner") not in options:
            state.play_planner = SINGLE_MODEL
        planner = st.segmented_control("Planner", options, required=True, key="play_planner", label_visibility="collapsed", width="stretch")
        if state.play_mode == "plan":
            st.container(key="play_by_keys").caption(BY_KEYS)
        if planner == SINGLE_MODEL:
            return planned_by(model_controls(board, store, places.actions), board)
        if planner == EVERY_STAGE:
            stages_of, request = stage_controls(board, store, places.actions)
            return replace(planned_by(request, board), stages_of=stages_of)
        if planner == SEARCH:
            search = searching.due(searching.search_controls(board, places.actions))
            return Planned(searching.tracks_of(board, optimum), search=search)
        assert saved is not None
        st.caption(plain(saved.origin))
        verdict = saved.verdict or judge_paths(board, saved.paths or (), optimum)
        return Planned([replace(saved, verdict=verdict)], saved.completion)


def model_controls(board: Board, store: SessionStore, actions: DeltaGenerator) -> Request | None:
    """Which model plans, and how; None if there is no model."""
    models = choices.models(store)
    if not models:
        st.info("There is no model on this machine yet.")
        return None
    reason = st.container()
    model = st.selectbox(
        "Model", models, key="play_model", persist_state="session",
        help="The lab model, SmolLM2 once it is fetched, and every checkpoint of every session",
    )  # fmt: skip
    way = st.segmented_control(
        "Answer", ["Greedy", "Sampled", BEST], default="Greedy", required=True, key="play_way", width="stretch", persist_state="session",
        help="Greedy takes the most probable word each time. Sampled draws several answers, as training does. Best of 8 answers greedily "
        "for all eight rotations and reflections of the board, with its agents renumbered: the shortest valid plan counts.",
    )  # fmt: skip
    many = way == "Sampled"
    answers = st.slider("Answers", 2, 16, 8, key="play_count", persist_state="session") if many else 1
    temperature = st.slider("Temperature", 0.1, 1.5, 1.0, 0.1, key="play_temperature", persist_state="session") if many else 0.0
    sampling = Sampling(temperature, answers, state.get("play_seed", 0))
    name = model.rsplit(" (", 1)[0]  # without the id of the session
    request = Request(encode(board), (name,), (models[model],), sampling, GUISES if way == BEST else 1)
    return ask_button("Let the model plan", request, board, reason, actions)


def stage_controls(board: Board, store: SessionStore, actions: DeltaGenerator) -> tuple[str | None, Request | None]:
    """The id of the session whose stages plan, and the request for them; None if no session has kept any."""
    sessions = dict(sorted(choices.staged(store).items(), key=lambda one: bool(lost_stages(one[1][1]))))  # whole ones first
    if not sessions:
        st.info("No session on this machine has kept its checkpoints.")
        return None, None
    reason = st.container()
    if (asked := state.pop("play_stages_asked", None)) in sessions:
        state.play_stages_of = asked
    session_id = st.selectbox(
        "Session", sessions, key="play_stages_of", persist_state="session", format_func=lambda one: sessions[one][0],
        help="Its base and every stage plan this board, greedily. Their plans run side by side under one timeline.",
    )  # fmt: skip
    checkpoints = tuple(sessions[session_id][1])
    if lost := lost_stages(checkpoints):
        st.caption(f"No checkpoint was kept of {listed(f'stage {stage + 1}' for stage in lost)}.")
    names = tuple("base" if checkpoint.stage is None else f"stage {checkpoint.stage + 1}" for checkpoint in checkpoints)
    return session_id, ask_button("Let them plan", Request(encode(board), names, checkpoints), board, reason, actions)


def lost_stages(checkpoints: Sequence[Checkpoint]) -> list[int]:
    """The stages before the last one of which no weights are left."""
    return sorted(set(range(checkpoints[-1].stage or 0)) - {checkpoint.stage for checkpoint in checkpoints})


def ask_button(label: str, request: Request, board: Board, reason: DeltaGenerator, actions: DeltaGenerator) -> Request | None:
    """Lets the models plan, language models only on a server that does not only look. None, and why, if they cannot read the board."""

    def asked() -> None:
        state.play_asked = True
        turn_to("watch")
        look()

    allowed: dict[str, Any] = {"disabled": False, "help": "Asks for a plan of this board. Key: M"}
    possible: Request | None = request
    if (first := request.checkpoints[0]).language:
        allowed = refusals.changes(allowed["help"])
    try:
        dialect_of(first.language).prompt(Instance.unsolved(board))
    except LabError as error:
        possible, allowed = None, {"disabled": True, "help": f"{capitalised(plain(str(error)))}. Try **Search** instead."}
        reason.info(allowed["help"])
    actions.button(label, type="primary", key="play_plan", on_click=asked, **allowed)
    st.toggle(
        "Plan every board I show", key="play_follow", persist_state="session", disabled=allowed["disabled"],
        help="Asks again whenever the board changes",
    )  # fmt: skip
    return possible


def your_plan(board: Board, optimum: int | None, *, begun: bool) -> list[Track]:
    """The reader's own plan, right or wrong; empty without a move. ``begun``: also one that breaks no rule and is not yet at its end."""
    plan = steered(board, key=DESK)
    if not any(plan):
        return []
    paths, verdict = followed(board, plan, optimum)
    return [Track("Your plan", paths, verdict)] if begun or verdict.fault != "goal_not_reached" else []


def planned_by(request: Request | None, board: Board) -> Planned:
    """The models' answers for this board, or the request for them."""
    due = request if request is not None and is_due(request) else None
    checkpoint = request.checkpoints[0] if request and len(request.checkpoints) == 1 else None
    if (first := state.pop("play_first", None)) is not None:
        state.play_chosen = first
    asked: Request | None = state.get("play_asked_for")
    if request is not None and asked == request and state.get("play_failed") and not due:
        st.error(plain(f"The model could not be asked: {state.play_failed}"))
    if asked is None or asked.code != encode(board) or not (answers := state.get("play_answers")):
        return Planned([Track(name, None) for name in due.names] if due else [], request=due, checkpoint=checkpoint)
    if len(asked.names) > 1:
        tracks = [track_of(answer, name) for answer, name in zip(answers, asked.names, strict=True)]
        return Planned(tracks, answers[-1].completion, request=due)
    chosen = min(state.get("play_chosen", 0), len(answers) - 1)
    answer, [name] = answers[chosen], asked.names
    label = name if len(answers) == 1 else f"{name}, {BEST.lower()}" if answer.best else f"{name}, answer {chosen + 1}"
    looks = guises(board.num_agents, asked.guises, asked.sampling.seed)[chosen].words if asked.guises > 1 else ""
    return Planned([track_of(answer, label)], answer.completion, looks, answers, due, checkpoint)


def track_of(answer: PlannedAnswer, label: str) -> Track:
    return Track(label, answer.paths, answer.verdict, completion=answer.completion)


def is_due(request: Request) -> bool:
    """Whether the models are to plan: a reader asked them to, or they follow the page and have not planned this board."""
    follows = state.play_follow and state.play_mode != "draw" and state.get("play_asked_for") != request
    return bool(state.get("play_asked") or follows)


def ask(request: Request, board: Board, optimum: int | None) -> None:
    """Lets the models plan, keeps their answers or why there are none, and draws the page again."""
    state.play_asked_for, state.play_first = request, 0
    state.play_answers, state.play_failed, state.play_asked = None, "", False
    try:
        if any(checkpoint.language for checkpoint in request.checkpoints):
            look_only.refuse()
            refuse_beside_training(SessionStore())
        allowances.spend(allowances.PLANS, request.sampling.completions * request.guises * len(request.checkpoints))
        how: dict[str, Any] = {"guises": request.guises, "optimum": optimum}
        state.play_answers = [
            answer
            for checkpoint in request.checkpoints
            for answer in plans(Planner.shared(), checkpoint.path, board, request.sampling, language=checkpoint.language, **how)
        ]
        state.play_first = next((i for i, answer in enumerate(state.play_answers) if answer.best), 0)
    except LabError as error:
        state.play_failed = str(error)
    st.rerun()


def load(checkpoint: Checkpoint | None) -> None:
    """Lets the planning process load the chosen lab model, so that the first plan comes at once. A language model waits for its first
    request."""
    if checkpoint is not None and checkpoint.language is None:
        Planner.shared().warm_up(checkpoint.path)


@dataclass(frozen=True)
class PlannedAnswer:
    """One answer of a checkpoint to a board."""

    completion: str
    paths: Paths | None
    """The plan; None if the completion could not be parsed."""
    verdict: Verdict
    best: bool = False
    """Whether the model takes it of its answers in several guises."""


def dialect_of(language: LanguageSettings | None) -> Dialect[Instance, Answer]:
    """How a checkpoint is asked: in words if it is a language model, else in the lab model's own tokens."""
    return LAKE.asked(language.question) if language else LAKE.lab


@dataclass(frozen=True)
class Asked:
    """A checkpoint that answers boards in the planning process."""

    planner: Planner
    checkpoint: Path
    language: LanguageSettings | None
    family: Family = LAKE

    def read(self, task: Any, completion: Completion) -> Answer:
        return dialect_of(self.language).read(task, completion.text, completion.finished)

    def answer(self, tasks: Sequence[Any], sampling: Sampling = GREEDY, on_progress: Progress | None = None) -> list[list[Completion]]:
        limits = [self.language.max_tokens if self.language else LAKE.lab.limit(task) for task in tasks]
        prompts = map(dialect_of(self.language).prompt, tasks)
        asked = zip(prompts, limits, strict=True)
        return [self.planner.answer(self.checkpoint, *one, sampling, language=self.language) for one in asked]


def plans(
    planner: Planner,
    checkpoint: Path,
    board: Board,
    sampling: Sampling = GREEDY,
    *,
    language: LanguageSettings | None = None,
    guises: int = 1,
    optimum: int | None = None,
) -> list[PlannedAnswer]:
    """The plans of the policy in ``checkpoint`` for a board.

    Args:
        language: the settings of a language model; None for a lab model.
        guises: turns and mirror images of the board that are answered, once each.
        optimum: the best makespan, if that is known.

    Raises:
        PlannerError: the planning process failed, or the checkpoint cannot be read.
        DialectError, BoardError: the dialect has no words for the board.
    """
    policy, task = Asked(planner, checkpoint, language), Instance.unsolved(board)
    if guises > 1:
        [found] = answer_in_guises(policy, [task], guises, sampling)
        written, answers, best = found.written, found.answers, found.best
    else:
        [written] = policy.answer([task], sampling)
        answers, best = [policy.read(task, text) for text in written], None
    return [
        PlannedAnswer(text.text, answer.paths, judge_answer(board, answer, optimum), i == best)
        for i, (text, answer) in enumerate(zip(written, answers, strict=True))
    ]
