"""Choosing the planner: a model, the reader, or a recorded answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from frozenlab.errors import LabError
from frozenlab.lake.board import Board
from frozenlab.lake.rules import judge, judge_paths, walk
from frozenlab.loop.planner import Planner
from frozenlab.loop.session import Checkpoint
from frozenlab.loop.store import SessionStore
from frozenlab.policy.policy import Sampling
from frozenlab.tasks.lake.page.play import asking, choices
from frozenlab.tasks.lake.page.play.asking import PlannedAnswer
from frozenlab.tasks.lake.page.play.board_controls import Source
from frozenlab.tasks.lake.page.play.state import Places, state
from frozenlab.tasks.lake.view.recorded import Recorded
from frozenlab.tasks.lake.view.share import encode
from frozenlab.tasks.lake.view.steer import steered
from frozenlab.tasks.lake.view.tracks import Track
from frozenlab.ui.plain import plain

BY_HAND = (
    "Press an agent on the board and draw its path, or press the cell where it shall go. Arrow keys move it too, **W** waits, a digit "
    "chooses an agent, **Ctrl+Z** undoes."
)
STEER = "play_steer"
"""The key of the board that the reader plans on."""
Wanted = tuple[str, str, int, float, int]
"""A request for plans: the board's code, the checkpoint's folder, the number of answers, their temperature and seed."""


@dataclass(frozen=True)
class Request:
    """A model that is to plan, and the plans wanted from it."""

    name: str
    checkpoint: Checkpoint
    wanted: Wanted

    @property
    def short_name(self) -> str:
        """Without the id of the session."""
        return self.name.rsplit(" (", 1)[0]


@dataclass(frozen=True)
class Planned:
    """The plan of the chosen planner."""

    tracks: Sequence[Track] = ()
    completion: str | None = None
    """The answer as the model wrote it."""
    answers: Sequence[PlannedAnswer] = ()
    """All answers of the model, of which one is shown."""
    request: Request | None = None
    """A model that has to be asked before its plan can be shown."""
    checkpoint: Checkpoint | None = None
    """The chosen model."""
    hides_solver: bool = False
    """The reader still draws the board, and nobody has planned on it."""
    by_hand: bool = False
    """The reader plans, on the board itself."""


def choose_planner(board: Board, source: Source, optimum: int | None, store: SessionStore, places: Places) -> Planned:
    """The controls of the plan, and the plan as far as it is there. ``optimum`` is the best makespan, if that is known."""
    saved: Recorded | None = state.get("play_recorded")
    if saved is not None and saved.board != board:
        saved = None
    with places.plan:
        st.subheader("Plan", anchor=False)
        options = ["Model", "You", *(["Recorded"] if saved else [])]
        if state.get("play_planner") not in options:
            state.play_planner = "Model"
        planner = st.segmented_control("Planner", options, required=True, key="play_planner", label_visibility="collapsed", width="stretch")
        if planner == "Model":
            request = model_controls(board, store, places.actions)
            return planned_by_model(board, source, request)
        if planner == "You":
            st.caption(BY_HAND)
            return Planned(your_plan(board, optimum), by_hand=True)
        assert saved is not None
        st.caption(plain(saved.origin))
        verdict = saved.verdict or judge_paths(board, saved.paths or (), optimum)
        return Planned([Track(saved.label, saved.paths, verdict)], saved.completion)


def model_controls(board: Board, store: SessionStore, actions: DeltaGenerator) -> Request | None:
    """Which model plans, and how; None if there is no model."""
    models = choices.models(store)
    if not models:
        st.info("There is no model on this machine yet.")
        return None
    model = st.selectbox(
        "Model", models, key="play_model", persist_state="session", help="The shipped model, and every checkpoint of every session"
    )
    way = st.segmented_control(
        "Answer", ["Greedy", "Sampled"], default="Greedy", required=True, key="play_way", width="stretch", persist_state="session",
        help="Greedy takes the most probable word each time. Sampled draws several answers, as training does.",
    )  # fmt: skip
    many = way == "Sampled"
    answers = st.slider("Answers", 2, 16, 8, key="play_count", persist_state="session") if many else 1
    temperature = st.slider("Temperature", 0.1, 1.5, 1.0, 0.1, key="play_temperature", persist_state="session") if many else 0.0
    actions.button("Let the model plan", type="primary", key="play_plan", on_click=lambda: state.update(play_asked=True), help="Key: M")
    st.toggle("Plan every board I show", key="play_follow", persist_state="session", help="Asks the model again whenever the board changes")
    wanted = (encode(board), str(models[model].path), answers, temperature, state.get("play_seed", 0))
    return Request(model, models[model], wanted)


def your_plan(board: Board, optimum: int | None) -> list[Track]:
    """The reader's own plan as far as it has come; empty without a move."""
    plan = steered(board, key=STEER)
    return [Track("Your plan", walk(board, plan), judge(board, plan, optimum))] if any(plan) else []


def planned_by_model(board: Board, source: Source, request: Request | None) -> Planned:
    """The model's answers for this board, or the request for them."""
    due = request if request is not None and is_due(request, source) else None
    checkpoint = request.checkpoint if request else None
    if state.pop("play_answers_new", False):
        state.play_chosen = 0
    answers = state.get("play_answers") if state.get("play_wanted", ("",))[0] == encode(board) else None
    if request is not None and state.get("play_wanted") == request.wanted and state.get("play_failed") and not due:
        st.error(plain(f"The model could not be asked: {state.play_failed}"))
    if answers:
        chosen = min(state.get("play_chosen", 0), len(answers) - 1)
        answer, name = answers[chosen], state.play_answered
        label = name if len(answers) == 1 else f"{name}, answer {chosen + 1}"
        return Planned([Track(label, answer.paths, answer.verdict)], answer.completion, answers, due, checkpoint)
    tracks = [Track(due.short_name, None)] if due else []
    return Planned(tracks, request=due, checkpoint=checkpoint, hides_solver=source == "Draw" and due is None)


def is_due(request: Request, source: Source) -> bool:
    """Whether the model is to plan: a reader asked it to, or it follows the page and has not planned this board."""
    follows = state.play_follow and source != "Draw" and state.get("play_wanted") != request.wanted
    return bool(state.get("play_asked") or follows)


def ask(request: Request, board: Board, optimum: int | None) -> None:
    """Lets the model plan, keeps its answers or why there are none, and draws the page again."""
    state.play_wanted, state.play_answered, state.play_answers_new = request.wanted, request.short_name, True
    state.play_answers, state.play_failed, state.play_asked = None, "", False
    *_, completions, temperature, seed = request.wanted
    try:
        state.play_answers = asking.plans(
            Planner.shared(),
            request.checkpoint.path,
            board,
            Sampling(temperature, completions, seed),
            language=request.checkpoint.language,
            optimum=optimum,
        )
    except LabError as error:
        state.play_failed = str(error)
    st.rerun()


def load(checkpoint: Checkpoint | None) -> None:
    """Lets the planning process load the chosen lab model, so that the first plan comes at once. A language model waits for its first
    request."""
    if checkpoint is not None and checkpoint.language is None:
        Planner.shared().warm_up(checkpoint.path)
