"""The peers' half of lake_speed, run by the Python of their own environment: one JSON task a line in, one answer a line out.

Each answer says how much CPU time the peer's own calls took; reading tasks and writing answers is not counted. Imports nothing of
FrozenLab.
"""

from __future__ import annotations

import json
import sys
import time
import warnings

from pogema import GridConfig, pogema_v0
from pogema.generator import generate_obstacles, generate_positions_and_targets_fast
from w9_pathfinding.envs import Grid
from w9_pathfinding.mapf import CBS, ICTS, MultiAgentAStar

SOLVERS = {"CBS": CBS, "A*OD": MultiAgentAStar, "ICTS": ICTS}
SECONDS_A_BOARD = 0.5


def pogema_generation(size: int, agents: int, density: float, n: int, seed: int) -> dict:
    """POGEMA's grid and placement, with its default settings and a seed a board.

    One configuration a board, as its environment makes it; with one for all boards it would be some 20 % faster (and give one board), with
    the ``Grid`` object that its environment builds around the result several times slower.
    """
    began = time.process_time()
    for i in range(n):
        config = GridConfig(size=size, num_agents=agents, density=density, seed=seed + i)
        generate_positions_and_targets_fast(generate_obstacles(config), config)
    return {"seconds": time.process_time() - began}


def pogema_steps(size: int, agents: int, density: float, steps: int, seed: int) -> dict:
    """Joint steps of POGEMA's environment with its observations; actions are drawn beforehand, an episode that ends is reset uncounted."""
    env = pogema_v0(GridConfig(size=size, num_agents=agents, density=density, seed=seed, on_target="nothing", max_episode_steps=64))
    actions = [env.sample_actions().tolist() for _ in range(256)] if env.reset() else []
    seconds = 0.0
    left = steps
    while left:
        began = time.process_time()
        while left:
            _, _, terminated, truncated, _ = env.step(actions[left % 256])
            left -= 1
            if all(terminated) or all(truncated):
                break
        seconds += time.process_time() - began
        env.reset()
    return {"seconds": seconds}


def w9_costs(solver: str, boards: list) -> dict:
    """Optimal sums of costs by one of w9-pathfinding's solvers, swaps forbidden; null where it gives no answer in SECONDS_A_BOARD.

    A board is ``[rows, starts, goals]``: strings over F and H, and [row, column] pairs. The clock runs from cell weights in Python to the
    answer, the grid object included, as ours runs from a Board.
    """
    seconds, costs = [], []
    for rows, starts, goals in boards:
        weights = [[1 if letter == "F" else -1 for letter in row] for row in rows]
        starts = [(column, row) for row, column in starts]
        goals = [(column, row) for row, column in goals]
        began = time.process_time()
        try:
            paths = SOLVERS[solver](Grid(weights, edge_collision=True)).mapf(starts, goals, max_time=SECONDS_A_BOARD)
        except RuntimeError:
            paths = []
        seconds.append(time.process_time() - began)
        costs.append(sum(arrival(path) for path in paths) if paths else None)
    return {"seconds": seconds, "costs": costs}


def arrival(path: list) -> int:
    """First time step from which a path stays on its last cell."""
    step = len(path) - 1
    while step and path[step - 1] == path[-1]:
        step -= 1
    return step


TASKS = {task.__name__: task for task in (pogema_generation, pogema_steps, w9_costs)}


def main() -> None:
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        name, arguments = json.loads(line)
        print(json.dumps(TASKS[name](**arguments)), flush=True)


if __name__ == "__main__":
    main()
