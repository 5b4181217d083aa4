"""Online imitation: from where the policy's own plans lead, the exact solver shows how to go on (DAgger, Ross et al. 2011).

A policy that has only ever seen good plans does not know what to do where its own have brought it. So it writes plans, and each that is not
optimal is cut at some time step before its first fault; what it learns is an optimal way home from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from frozenlab import seeds
from frozenlab.lake.board import Agent, Board
from frozenlab.lake.rules import judge_paths, walk
from frozenlab.lake.solvers.solver import solve_all
from frozenlab.policy.lab.plan_dialect import parse_plan, render_plan
from frozenlab.policy.lab.vocabulary import END, WORDS
from frozenlab.training.demonstrations import Example, padded, to_example, vary
from frozenlab.training.runs.sft import SFTRun


class ImitationRun(SFTRun):
    """For each board the policy writes ``completions_per_board`` plans, and the solver corrects those that are not optimal."""

    def training_examples(self, model: Any, boards: Sequence[int], step: int) -> list[Example]:
        group = self.settings.completions_per_board
        written, judged = self.sample_and_judge(model, boards, step)
        wrong = [(place, boards[place // group]) for place in np.flatnonzero(~judged["optimal"])]
        draws = [seeds.rng(self.seed, "imitation/cuts", step, place) for place, _ in wrong]
        cuts = [cut(self.instances[i].board, written[place], rng) for (place, i), rng in zip(wrong, draws, strict=True)]
        ways_home = solve_all([state for _, state in cuts])
        return [
            to_example(f"{self.prompts[i]} {begun}".strip(), render_plan(vary(state, padded(walk(state, home.plan)), rng)))
            for (_, i), (begun, state), home, rng in zip(wrong, cuts, ways_home, draws, strict=True)
            if home.plan is not None
        ]


class Cut(NamedTuple):
    """A plan up to some time step."""

    begun: str
    """Its words until then."""
    state: Board
    """The board with the agents where they are then."""


def cut(board: Board, written: Sequence[int], rng: np.random.Generator) -> Cut:
    """A written plan, as token ids, cut at a random time step before its first fault."""
    words = [word for i in written if (word := WORDS[i]) != END]
    whole = len(words) // board.num_agents * board.num_agents
    answer = parse_plan(board, " ".join(words[:whole]), finished=True)
    legal = 0
    if answer.paths:
        verdict = judge_paths(board, answer.paths)
        steps = len(answer.paths[0]) - 1
        legal = steps if verdict.valid or verdict.fault == "goal_not_reached" else max(0, (verdict.step or 0) - 1)
    kept = int(rng.integers(legal + 1))
    if not answer.paths or not kept:
        return Cut("", board)
    agents = tuple(Agent(path[kept], agent.goal) for path, agent in zip(answer.paths, board.agents, strict=True))
    return Cut(" ".join(words[: kept * board.num_agents]), Board.known_good(board.rows, agents))  # agents may stand on goals by now
