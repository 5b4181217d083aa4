"""Other people's planners on our boards, each in its own way of calling, for planners.py and planner_targets.py. None of them is part of
this project: ``found`` takes what is installed, and what lies in folders that it is given.
"""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from frozenlab.lake.board import Board, Cell, Plan
from frozenlab.lake.formats import read
from frozenlab.lake.formats.entry import Source, plan_of, trimmed
from frozenlab.lake.formats.movingai import write_map

WALL = 4
"""Where a peer looks at the clock on the wall, it gets so many times the seconds; what took more CPU time than they does not count."""


class Answer(NamedTuple):
    """What a peer makes of a board."""

    plan: Plan | None
    seconds: float
    """CPU seconds, from the board in the peer's own form to its plan."""
    steps: int = 0
    """Time steps that it has planned, with or without an end."""
    a_step: float = 0.0
    """CPU seconds of a time step once it knows all distances."""


def pypibt(board: Board, seconds: float) -> Answer:
    """PIBT in Python (Kei18/pypibt). It measures distances when it first needs them, so a second walk tells what a step takes."""
    from pypibt import PIBT

    grid, starts, goals = in_python(board)
    began = time.process_time()
    planner = PIBT(grid, starts, goals)
    configs = walked(planner, seconds)
    took, began = time.process_time() - began, time.process_time()
    again = walked(planner, min(seconds, 1.0))
    a_step = (time.process_time() - began) / (len(again) - 1)
    return Answer(plan_of_steps(configs) if configs[-1] == goals else None, took, len(configs) - 1, a_step)


def walked(planner: Any, seconds: float) -> list[list[Cell]]:
    """The steps of pypibt: its method ``run`` with a clock."""
    starts, goals, began = planner.starts, planner.goals, time.process_time()
    urgency = [table.get(start) / planner.grid.size for table, start in zip(planner.dist_tables, starts, strict=True)]
    configs = [starts]
    while configs[-1] != goals and time.process_time() - began < seconds:
        configs.append(planner.step(configs[-1], urgency))
        at_home = [here == goal for here, goal in zip(configs[-1], goals, strict=True)]
        urgency = [before - np.floor(before) if home else before + 1 for home, before in zip(at_home, urgency, strict=True)]
    return configs


class Deadline:
    """The clock that pylacam asks, in CPU time."""

    elapsed = 0.0

    def __init__(self, seconds: float) -> None:
        self.ends = time.process_time() + seconds

    @property
    def is_expired(self) -> bool:
        return time.process_time() > self.ends


def pylacam(board: Board, seconds: float) -> Answer:
    """LaCAM in Python (Kei18/pylacam) up to its first plan. Its branch ``pibt`` is the whole of it: ``main`` draws next steps by chance."""
    from pycam import LaCAM
    from pycam.mapf_utils import Config

    grid, starts, goals = in_python(board)
    began = time.process_time()
    configs = LaCAM().solve(grid, Config(starts), Config(goals), deadline=Deadline(seconds), flg_star=False, verbose=0)
    took = time.process_time() - began
    return Answer(plan_of_steps([config.positions for config in configs]) if configs else None, took)


def w9_cbs(board: Board, seconds: float) -> Answer:
    """Conflict-Based Search in C++ (w9-pathfinding), swaps forbidden."""
    from w9_pathfinding.envs import Grid
    from w9_pathfinding.mapf import CBS

    grid, starts, goals = in_python(board)
    weights = np.where(grid, 1, -1).tolist()
    began = time.process_time()
    try:
        solver = CBS(Grid(weights, edge_collision=True))
        paths = solver.mapf([(c, r) for r, c in starts], [(c, r) for r, c in goals], max_time=WALL * seconds)
    except RuntimeError:
        paths = []
    took = time.process_time() - began
    return Answer(trimmed(plan_of([tuple((r, c) for c, r in path) for path in paths])) if paths and took <= seconds else None, took)


def lacam3(board: Board, seconds: float) -> Answer:
    """LaCAM in C++ (Kei18/lacam3) up to its first plan, with swaps: one PIBT a step, no scatter, nothing made cheaper afterwards. Its time
    is what it says itself, on the clock on the wall, or the CPU time of its whole process, whichever is less."""
    command = "lacam3 -m b.map -i b.scen -N {agents} -t {wall} -o b.txt --pibt-num 1 --recursive-rate 0"
    command += " --no-star --no-multi-thread --no-scatter --no-refiner"
    text, took = run_program(command, board, seconds)
    said = re.search(r"^comp_time=([0-9.]+)", text, re.MULTILINE)
    if said is None or "solved=1" not in text:
        return Answer(None, took)
    return Answer(read("kei18", Source(text, map=write_map(board, "b")["b.map"]))[0].plan, min(took, float(said[1]) / 1000))


def eecbs(board: Board, seconds: float) -> Answer:
    """EECBS in C++ (Jiaoyang-Li/EECBS), with a factor of 1.2 and its other settings as they come; it measures its CPU time itself."""
    command = "eecbs -m b.map -a b.scen -k {agents} -t {seconds} -o b.csv --outputPaths b.txt --suboptimality 1.2 -s 0"
    text, took = run_program(command, board, seconds)
    source = Source(text, map=write_map(board, "b")["b.map"], scenario=scenario_of(board))
    return Answer(read("paths", source)[0].plan if text else None, took)


PEERS: dict[str, tuple[str, Callable[[Board, float], Answer]]] = {
    "pypibt": ("pypibt", pypibt),
    "pylacam": ("pycam", pylacam),
    "w9 CBS": ("w9_pathfinding", w9_cbs),
    "lacam3": ("lacam3", lacam3),
    "eecbs": ("eecbs", eecbs),
}
"""By name: its package, or its program, and how it is called."""
_programs: dict[str, str] = {}


def found(folders: Iterable[str]) -> dict[str, Callable[[Board, float], Answer]]:
    """The peers that there are, by name; prints which are not. Packages and programs are also looked for in ``folders``."""
    places = [str(Path(folder).resolve()) for folder in folders]
    sys.path += places
    for name in ("lacam3", "eecbs"):
        if program := shutil.which(name) or shutil.which(name, path=":".join(places)):
            _programs[name] = program
    there = {name: call for name, (what, call) in PEERS.items() if what in _programs or find_spec(what) is not None}
    if missing := [name for name in PEERS if name not in there]:
        print(f"not found, so not compared with: {', '.join(missing)}", flush=True)
    return there


def in_python(board: Board) -> tuple[Any, list[Cell], list[Cell]]:
    """(``[row, col]`` whether a cell is free, starts, goals)."""
    grid = np.array([[letter == "F" for letter in row] for row in board.rows])
    return grid, [agent.start for agent in board.agents], [agent.goal for agent in board.agents]


def plan_of_steps(configs: list[list[Cell]]) -> Plan:
    """The plan that takes all agents from each list of cells to the next."""
    return trimmed(plan_of(list(zip(*configs, strict=True))))


def scenario_of(board: Board) -> str:
    """A MovingAI scenario of the board, for readers that look at no lengths: to measure them takes long."""
    ends = [(*agent.start[::-1], *agent.goal[::-1]) for agent in board.agents]
    rows = ["\t".join(map(str, (0, "b.map", board.width, board.height, *cells, 0))) for cells in ends]
    return "\n".join(["version 1", *rows, ""])


def run_program(command: str, board: Board, seconds: float) -> tuple[str, float]:
    """(what a program writes into ``b.txt``, nothing if it writes none; its CPU seconds), in a folder with the board's map and scenario."""
    program, *words = command.format(agents=board.num_agents, seconds=seconds, wall=round(seconds)).split()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**write_map(board, "b"), "b.scen": scenario_of(board)}.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        began = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([_programs[program], *words], cwd=folder, capture_output=True, check=False)
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        out = Path(folder) / "b.txt"
        took = ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime
        return out.read_text(encoding="utf-8") if out.exists() else "", took
