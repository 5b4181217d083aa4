"""A plan thought through in words: what a model may write before its answer, made from the plan itself."""

from __future__ import annotations

from frozenlab.lake.board import Board, Plan
from frozenlab.lake.rules import Paths, walk
from frozenlab.lake.words.answers import ACTION_WORDS


def reasoning(board: Board, plan: Plan) -> str:
    """Each step with the cell that each agent comes to, and for whom an agent waits.

    Example:
        >>> board = Board.from_text("S F G s g")
        >>> print(reasoning(board, ("RR", "R")))
        Agent 0 is on (0, 0) and has to reach (0, 2). Agent 1 is on (0, 3) and has to reach (0, 4).
        Step 1: agent 0 RIGHT to (0, 1), agent 1 RIGHT to (0, 4).
        Step 2: agent 0 RIGHT to (0, 2), agent 1 stays on its goal.
        All agents are on their goals after 2 steps.
    """
    steps = max(map(len, plan))
    paths = walk(board, tuple(motions.ljust(steps, "W") for motions in plan))
    asked = " ".join(f"Agent {i} is on {agent.start} and has to reach {agent.goal}." for i, agent in enumerate(board.agents))
    told = [
        f"Step {step}: {', '.join(one_step(board, paths, plan[i].ljust(steps, 'W')[step - 1], i, step) for i in range(len(plan)))}."
        for step in range(1, steps + 1)
    ]
    return "\n".join([asked, *told, f"All agents are on their goals after {steps} step{'s' * (steps != 1)}."])


def one_step(board: Board, paths: Paths, letter: str, agent: int, step: int) -> str:
    """What one agent does in a step (1 is the first)."""
    here = paths[agent][step]
    if letter != "W":
        return f"agent {agent} {ACTION_WORDS[letter]} to {here}"
    if all(cell == board.agents[agent].goal for cell in paths[agent][step - 1 :]):
        return f"agent {agent} stays on its goal"
    for_whom = in_the_way(paths, agent, step)
    return f"agent {agent} WAIT on {here}" + ("" if for_whom is None else f" for agent {for_whom}")


def in_the_way(paths: Paths, agent: int, step: int) -> int | None:
    """Who is on the cell that a waiting agent enters next, in this step or the one before; None if nobody is."""
    path = paths[agent]
    wanted = next((cell for cell in path[step:] if cell != path[step]), None)
    others = (other for other in range(len(paths)) if other != agent)
    return next((other for other in others if wanted in paths[other][step - 1 : step + 1]), None)
