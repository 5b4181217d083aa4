"""The lake in words: the question about a board as a language model reads it, and the answer that it is asked for.

The question has the shape of the public MAPF-FrozenLake benchmark (formats/benchmark.py); the instructions after it are our own.

A plan is one line an agent, such as ``Agent 0: RIGHT RIGHT DOWN WAIT``; reading.py reads what models write instead, too.
"""

from __future__ import annotations

from frozenlab.lake.board import Board, Plan
from frozenlab.lake.rules import Paths, walk

ACTIONS = {"UP": "U", "DOWN": "D", "LEFT": "L", "RIGHT": "R", "WAIT": "W", "STAY": "W"}
ACTION_WORDS = {letter: word for word, letter in reversed(ACTIONS.items())}
INSTRUCTIONS = """\
Cells are (row, col), counted from (0, 0) in the top left. At every time step all agents act at once, each by UP, DOWN, LEFT, RIGHT or WAIT.
No agent may leave the map or enter a hole. Two agents may never be on the same cell, nor change places with each other in one time step. \
An agent whose actions have ended stays where it is and is still in the way.
Bring every agent to its goal in as few time steps as possible.
End your answer with one line for each agent: its name, a colon and all its actions in order, separated by spaces. A line looks like this:
Agent 0: RIGHT RIGHT DOWN WAIT"""


def prompt(board: Board) -> str:
    """The question about a board, the rules of the lake, and how to answer. Raises BoardError above five agents, who have no letters."""
    from frozenlab.lake.formats.benchmark import question  # with all formats, which few processes need

    return f"{question(board)}\n\n{INSTRUCTIONS}"


def write_answer(plan: Plan) -> str:
    """The lines that say ``plan``, as the prompt asks for them. An empty motion string is written as one WAIT."""
    return "\n".join(f"Agent {i}: {' '.join(ACTION_WORDS[letter] for letter in motions or 'W')}" for i, motions in enumerate(plan))


def reasoning(board: Board, plan: Plan) -> str:
    """Each step with the cell that each agent comes to, and for which agent another waits.

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
    lines = [
        f"Step {step}: {', '.join(one_step(board, paths, plan[i].ljust(steps, 'W')[step - 1], i, step) for i in range(len(plan)))}."
        for step in range(1, steps + 1)
    ]
    return "\n".join([asked, *lines, f"All agents are on their goals after {steps} step{'s' * (steps != 1)}."])


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
    """The agent on the cell that a waiting agent enters next, in this step or the one before; None if no agent is there."""
    path = paths[agent]
    wanted = next((cell for cell in path[step:] if cell != path[step]), None)
    others = (other for other in range(len(paths)) if other != agent)
    return next((other for other in others if wanted in paths[other][step - 1 : step + 1]), None)
