"""The exercises of the course. Each draws itself, and marks an answer with a reason that the rules or a solver gives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from frozenlab.app.play.optimum import solution_of
from frozenlab.app.ui import markup
from frozenlab.app.views.lake.player import board_player
from frozenlab.app.views.lake.search import COSTS, Solved, search_player
from frozenlab.app.views.lake.share import encode
from frozenlab.app.views.lake.steer import BY_HAND, steer
from frozenlab.app.views.lake.tracks import Track, fault_sentence, names
from frozenlab.base.numbers import counted
from frozenlab.lake.board import Board, Plan
from frozenlab.lake.rules import judge, judge_paths
from frozenlab.lake.solvers.cbs import Objective
from frozenlab.lake.solvers.priorities import plan_in_order
from frozenlab.tasks.lake.words import OUTCOMES

HEIGHT = 330
TEAM_TASK = "Bring all agents to their goals in as few steps as possible."
"""What is asked of a board that a teacher has chosen."""


@dataclass(frozen=True)
class Mark:
    """What the judge says of an answer."""

    right: bool
    reason: str


@dataclass(frozen=True)
class Exercise(ABC):
    """One task for the learner."""

    task: str

    @abstractmethod
    def ask(self, key: str) -> Mark | None:
        """Draws the exercise; returns the mark of the answer that the learner has just handed in."""


@dataclass(frozen=True)
class OnBoard(Exercise):
    """A task on a board."""

    board: Board


@dataclass(frozen=True)
class Steering(OnBoard):
    """Bring a team to its goals with the smallest makespan or sum of costs."""

    objective: Objective = "makespan"

    def ask(self, key: str) -> Mark | None:
        st.markdown(self.task)
        solution = solution_of(encode(self.board), True)
        optimum = solution.makespan if self.objective == "makespan" else solution.sum_of_costs
        plan = steer(self.board, key=f"{key}-board", objective=self.objective, optimum=optimum, height=HEIGHT)
        st.caption(BY_HAND)
        return self.mark(plan) if st.button("Check my plan", type="primary", key=f"{key}-check") else None

    def mark(self, plan: Plan) -> Mark:
        solution = solution_of(encode(self.board), True)
        verdict = judge(self.board, plan, solution.makespan)
        if verdict.fault is not None:
            return Mark(False, f"{fault_sentence(verdict)} The rule: {OUTCOMES[verdict.fault].rule}")
        if self.objective == "makespan":
            reached, best = verdict.makespan, solution.makespan
            figures = f"All agents are on their goals after {reached} steps"
        else:
            reached, best = verdict.sum_of_costs, solution.sum_of_costs
            figures = f"All agents are on their goals, and your sum of costs is {reached}"
        if best is None:
            return Mark(True, f"{figures}. The best one is not known for this board.")
        proven = "nothing less is possible" if reached == best else f"{best} is possible"
        return Mark(reached == best, f"{figures}; the exact solver proves that {proven}.")


@dataclass(frozen=True)
class Choice(Exercise):
    """A question with one right answer."""

    options: Sequence[str]
    right: int
    reasons: Sequence[str]
    """Why each option is right or wrong."""

    def ask(self, key: str) -> Mark | None:
        chosen = st.radio(self.task, range(len(self.options)), format_func=self.options.__getitem__, index=None, key=f"{key}-choice")
        pressed = st.button("Check my answer", type="primary", key=f"{key}-check", disabled=chosen is None)
        return self.mark(chosen) if pressed and chosen is not None else None

    def mark(self, chosen: int) -> Mark:
        return Mark(chosen == self.right, self.reasons[chosen])


@dataclass(frozen=True)
class Ordering(OnBoard):
    """Find an order of priorities in which every agent finds a path."""

    def ask(self, key: str) -> Mark | None:
        st.markdown(self.task)
        order = st.pills(
            "Who plans first, second, ...", range(self.board.num_agents), format_func="agent {}".format, selection_mode="multi",
            key=f"{key}-order", help="Click the agents in planning order.",
        )  # fmt: skip
        priorities(self.board, order, key=f"{key}-board")
        complete = len(order) == self.board.num_agents
        return self.mark(order) if st.button("Check this order", type="primary", key=f"{key}-check", disabled=not complete) else None

    def mark(self, order: Sequence[int]) -> Mark:
        planned = plan_in_order(self.board, order)
        if len(planned) == self.board.num_agents:
            return Mark(True, "Every agent found a path around those before it.")
        return Mark(False, f"Agent {order[len(planned)]} finds no path around {names(order[: len(planned)])}.")


def priorities(board: Board, order: Sequence[int], *, key: str) -> None:
    """The paths that the agents take one after the other, as far as the order goes."""
    planned = plan_in_order(board, order)
    waiting = tuple((agent.start,) for agent in board.agents)
    paths = tuple(planned.get(i, waiting[i]) for i in range(board.num_agents))
    stuck = order[len(planned)] if len(planned) < len(order) else None
    says = "No agent has planned yet." if not order else f"Planned: {names(list(planned))}." if planned else ""
    settled = stuck is not None or len(planned) == board.num_agents
    track = Track("", paths, judge_paths(board, paths) if settled else None)
    board_player(board, [track], key=key, height=HEIGHT, autoplay=bool(planned))
    st.caption(says if stuck is None else f"{says} Agent {stuck} finds no path.")


@dataclass(frozen=True)
class Searching(OnBoard):
    """Be the search: choose the node that is expanded next, until a plan without a conflict is the cheapest."""

    objective: Objective = "sum_of_costs"

    def ask(self, key: str) -> Mark | None:
        st.markdown(self.task)
        solution = solution_of(encode(self.board), True)
        solved = search_player(self.board, self.objective, solution, key=f"{key}-search", choosing=True, height=300)
        if solved is None or st.session_state.get(f"{key}-marked") == solved:
            return None
        st.session_state[f"{key}-marked"] = solved
        return self.mark(solved)

    def mark(self, solved: Solved) -> Mark:
        best = solution_of(encode(self.board), True).sum_of_costs
        slips = "without a wrong choice" if not solved.wrong else f"with {counted(solved.wrong, 'wrong choice')}"
        return Mark(
            solved.cost == best,
            f"Your tree of {solved.nodes} nodes ends {slips} in a plan with a {COSTS[self.objective]} of {solved.cost}; "
            f"the exact solver says that {best} is the best.",
        )


def show_mark(mark: Mark) -> None:
    (st.success if mark.right else st.error)(f"**{'Right.' if mark.right else 'Not yet.'}** {markup.plain(mark.reason)}")
