"""The speed of the lake and its peers, in one run and as ratios, because a busy machine slows both sides.

    python -m benchmarks.lake_speed [--only generation,soc] [--peers VENV]

POGEMA and w9-pathfinding run in an environment of their own, which the first run sets up in the user's cache folder (w9-pathfinding is
built from source and asks for a C++ compiler). Ours and theirs take turns, both are measured in CPU time, and a ratio is the median over
the turns (for sums of costs: the quotient of the best turns). Compiled code is warm; what compiling costs is not measured here.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import cpu_seconds
from frozenlab.base import seeds
from frozenlab.lake.board import Agent, Board
from frozenlab.lake.config import PLACEMENTS
from frozenlab.lake.draw.generator import random_instances
from frozenlab.lake.draw.stream import holes_of
from frozenlab.lake.envs.vector import ACTIONS, Step, VectorLake
from frozenlab.lake.instance import Instance
from frozenlab.lake.solvers.solver import solve_all
from frozenlab.lake.suites import SUITES, build_suite

PINNED = ("pogema==1.4.0", "w9-pathfinding==0.1.3", "gymnasium==0.28.1", "numpy==1.26.4", "pydantic==1.9.1", "setuptools<81")
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "frozenlab" / "peers"
TURNS = 5


@dataclass(frozen=True)
class Row:
    """One line of the table; rates are per CPU second."""

    section: str
    what: str
    ours: float
    theirs: float | None = None
    peer: str = ""
    ratio: float | None = None
    target: float | None = None
    unit: str = "/s"
    """``s``: ``ours`` is a time, and ``target`` the longest that it may take."""
    note: str = ""

    @property
    def met(self) -> str:
        if self.target is None:
            return ""
        return "yes" if (self.ours <= self.target if self.ratio is None else self.ratio >= self.target) else "NO"


# --- the peers --------------------------------------------------------------------------------------------------------


class Peers:
    """The process in which the peers run; :meth:`ask` gives it one task. It starts with the first one.

    Args:
        venv: an environment that has the peers; None for our own.
    """

    def __init__(self, venv: Path | None) -> None:
        self.venv = venv
        self.process: subprocess.Popen[str] | None = None

    def ask(self, task: str, **arguments: Any) -> dict[str, Any]:
        if self.process is None:
            python = self.venv / "bin" / "python" if self.venv else peers_python(CACHE)
            script = Path(__file__).with_name("lake_speed_peers.py")
            self.process = subprocess.Popen([str(python), str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps([task, arguments]) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"the peers' process ended with status {self.process.wait()} in {task}; its last words are above")
        return json.loads(answer)

    def close(self) -> None:
        if self.process is not None and self.process.stdin:
            self.process.stdin.close()
            self.process.wait()


def peers_python(venv: Path) -> Path:
    """The Python of the peers' environment, which is set up first where it is missing. Exits with a one-line reason if that fails."""
    python = venv / "bin" / "python"
    ready = venv / "ready.txt"
    pinned = "\n".join(PINNED)
    if not (ready.exists() and ready.read_text(encoding="utf-8") == pinned):
        if sys.version_info >= (3, 13):
            raise SystemExit(
                "POGEMA 1.4.0 needs Python 3.12 or older: run this benchmark with one, or give it such an environment by --peers"
            )
        print(f"Setting up the peers' environment in {venv} (once) ...", file=sys.stderr)
        for command in ([sys.executable, "-m", "venv", "--clear", str(venv)], [str(python), "-m", "pip", "install", "--quiet", *PINNED]):
            if subprocess.run(command, check=False).returncode:
                raise SystemExit(f"the peers' environment could not be set up: {' '.join(command)}")
        ready.write_text(pinned, encoding="utf-8")
    return python


# --- measuring --------------------------------------------------------------------------------------------------------


def take_turns(ours: Callable[[int], float], theirs: Callable[[int], float], turns: int = TURNS) -> tuple[float, float, float]:
    """Both sides' median rate and the median of the turns' ratios. Each side takes the number of the turn and returns a rate."""
    pairs = [(ours(turn), theirs(turn)) for turn in range(turns)]
    return median(a for a, _ in pairs), median(b for _, b in pairs), median(a / b for a, b in pairs)


# --- sections ---------------------------------------------------------------------------------------------------------


def generation(peers: Peers) -> list[Row]:
    """Certified boards (makespan and needs_wait, as Python records) against POGEMA's grid and placement without any check.

    ``connected`` is POGEMA's way to place agents: like against like; ``uniform`` is our default, which throws away every grid
    that does not connect all agents to their goals (at 50 % holes 155 of 156).
    """
    rows = []
    cells = ((4, 2, 0.25, 2.5, 4_000), (8, 3, 0.3, 2.5, 2_000), (10, 5, 0.5, 1.0, 2_000))
    for (size, agents, ratio, target, n), placement in product(cells, PLACEMENTS[::-1]):

        def ours(turn: int, cell: Any = (size, agents, ratio, n, placement)) -> float:
            size, agents, ratio, n, placement = cell
            return n / cpu_seconds(lambda: list(random_instances([size], [agents], [ratio], n, seed=turn, placement=placement)))

        def theirs(turn: int, size: int = size, agents: int = agents, ratio: float = ratio, n: int = n) -> float:
            answer = peers.ask("pogema_generation", size=size, agents=agents, density=ratio, n=n, seed=turn * n)
            return n / answer["seconds"]

        ours(TURNS)
        a, b, times = take_turns(ours, theirs)
        what = f"certified boards, {size}x{size}, {agents} agents, {ratio:.0%} holes, {placement}"
        rows.append(Row("generation", what, a, b, "POGEMA, unchecked", times, target))
    return rows


def suite(_: Peers) -> list[Row]:
    """The paper-shaped benchmark in which half of the boards need a WAIT."""
    rows = []
    for target, sum_of_costs in ((15, False), (None, True)):
        boards: list[Instance] = []
        seconds = cpu_seconds(lambda: boards.extend(build_suite(SUITES["paper-wr0.5"], sum_of_costs=sum_of_costs)))  # noqa: B023
        undecided = sum(board.solution.sum_of_costs is None for board in boards)
        note = f"with sums of costs, {undecided} undecided" if sum_of_costs else ""
        rows.append(Row("suite", f"paper-shaped suite, {len(boards)} boards", seconds, target=target, unit="s", note=note))
    return rows


def soc(peers: Peers) -> list[Row]:
    """Optimal sums of costs of the same random boards. Theirs is the best of w9-pathfinding's solvers in each cell.

    Only boards that have a solution count (on the others w9-pathfinding searches until its time is up). A rate counts those that were
    answered, by the time spent on all. Theirs is the time of each board's best turn, ours that of the best turn of all boards together.
    """
    rows = []
    for size, agents, ratio, n in ((4, 2, 0.25, 300), (8, 3, 0.3, 300), (10, 5, 0.5, 100), (10, 5, 0.1, 300), (10, 5, 0.3, 100)):
        boards = random_boards(size, agents, ratio, n, seed=1)
        boards = [board for board, found in zip(boards, solve_all(boards), strict=True) if found.status != "unsolvable"]
        solutions = solve_all(boards, sum_of_costs=True)
        lines = [[board.rows, [agent.start for agent in board.agents], [agent.goal for agent in board.agents]] for board in boards]
        known = [i for i, solution in enumerate(solutions) if solution.sum_of_costs is not None]

        ours = float("inf")
        theirs = {solver: [float("inf")] * len(boards) for solver in ("CBS", "A*OD", "ICTS")}
        answered = {solver: 0 for solver in theirs}
        for turn in range(TURNS):
            ours = min(ours, cpu_seconds(lambda boards=boards: solve_all(boards, sum_of_costs=True)))  # type: ignore[misc]
            for solver, seconds in theirs.items():
                if turn and sum(seconds) > 2:  # long enough to be sure of
                    continue
                answer = peers.ask("w9_costs", solver=solver, boards=lines)
                theirs[solver] = [min(pair) for pair in zip(seconds, answer["seconds"], strict=True)]
                answered[solver] = sum(costs is not None for costs in answer["costs"])
                wrong = [i for i in known if answer["costs"][i] not in (None, solutions[i].sum_of_costs)]
                assert not wrong, f"{solver} and FrozenLab disagree on the sum of costs of\n{boards[wrong[0]].to_text()}"

        rate = len(known) / ours
        rates = {solver: answered[solver] / sum(seconds) for solver, seconds in theirs.items()}
        best = max(rates, key=lambda solver: rates[solver])
        note = f"answered {len(known)} and {answered[best]} of {len(boards)}"
        what = f"sum of costs, {size}x{size}, {agents} agents, {ratio:.0%} holes"
        rows.append(Row("soc", what, rate, rates[best], f"w9 {best}", rate / rates[best], 2, note=note))
    return rows


def stepping(peers: Peers) -> list[Row]:
    """Joint steps with every agent's observation. Ours follow the certified plans, so that episodes end solved and start again; the
    steps that only begin one are not counted, nor are POGEMA's resets."""
    rows = []
    n, steps = 4096, 100
    for size, agents, ratio in ((8, 3, 0.3), (10, 5, 0.1)):
        instances = list(random_instances([size], [agents], [ratio], n, seed=0))
        actions = np.stack([joint_actions(instance, steps) for instance in instances], axis=1)
        lake = VectorLake(instances, auto_reset=True)

        def follow(lake: VectorLake = lake, actions: NDArray[np.int8] = actions) -> list[Step]:
            return [lake.step(joint) for joint in actions]

        def ours(turn: int, lake: VectorLake = lake, follow: Callable[[], list[Step]] = follow) -> float:
            lake.reset()
            done: list[Step] = []
            seconds = cpu_seconds(lambda: done.extend(follow()))
            assert all((step.faults < 0).all() for step in done), "a certified plan broke a rule"
            return sum(int((step.steps > 0).sum()) for step in done) / seconds

        def theirs(turn: int, size: int = size, agents: int = agents, ratio: float = ratio) -> float:
            return 10_000 / peers.ask("pogema_steps", size=size, agents=agents, density=ratio, steps=10_000, seed=turn)["seconds"]

        ours(TURNS)
        a, b, times = take_turns(ours, theirs)
        rows.append(Row("step", f"joint steps, {size}x{size}, {agents} agents, {n} rows", a, b, "POGEMA", times, 100))
    return rows


def joint_actions(instance: Instance, steps: int) -> NDArray[np.int8]:
    """``[steps, agents]``: the instance's plan again and again, with one idle step between, in which the episode starts again."""
    makespan = instance.solution.makespan or 0
    motions = [(letters.ljust(makespan + 1, "W") * (steps // makespan + 1))[:steps] for letters in instance.solution.plan or ()]
    return np.array([[ACTIONS.index(letter) for letter in joint] for joint in zip(*motions, strict=True)], np.int8)


def random_boards(size: int, agents: int, hole_ratio: float, n: int, seed: int) -> list[Board]:
    """Uniform holes, starts and goals where each agent alone could reach its goal; nothing is left out that is hard or has no solution."""
    rng = seeds.rng(seed, "lake-speed/boards")
    cells = [(r, c) for r in range(size) for c in range(size)]
    holes = holes_of(size, hole_ratio)
    boards: list[Board] = []
    while len(boards) < n:
        rng.shuffle(cells)
        solid, used = set(cells[:holes]), cells[holes : holes + 2 * agents]
        rows = tuple("".join("H" if (r, c) in solid else "F" for c in range(size)) for r in range(size))
        board = Board(rows, tuple(Agent(used[2 * i], used[2 * i + 1]) for i in range(agents)))
        if all(agent.start in board.distances_to_goal(i) for i, agent in enumerate(board.agents)):
            boards.append(board)
    return boards


SECTIONS: dict[str, Callable[[Peers], list[Row]]] = {
    "generation": generation,
    "suite": suite,
    "soc": soc,
    "step": stepping,
}


def show(rows: Sequence[Row]) -> None:
    for row in rows:
        ours = f"{row.ours:,.1f} s" if row.unit == "s" else f"{row.ours:,.0f}{row.unit}"
        theirs = f"{row.theirs:,.0f}{row.unit} {row.peer}" if row.theirs is not None else ""
        ratio = f"{row.ratio:.1f}x" if row.ratio is not None else ""
        target = "" if row.target is None else f"<= {row.target:g} s" if row.unit == "s" else f">= {row.target:g}x"
        print(f"{row.what:<62}{ours:>13}  {theirs:<30}{ratio:>8}  {target:>8} {row.met:>3}  {row.note}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", default=",".join(SECTIONS), help=f"sections, separated by commas: {', '.join(SECTIONS)}")
    parser.add_argument("--peers", type=Path, help="a virtual environment that has the peers (default: one in the cache folder)")
    options = parser.parse_args()
    chosen = options.only.split(",")
    for name in chosen:
        if name not in SECTIONS:
            parser.error(f"--only: there is no section {name!r}; there are {', '.join(SECTIONS)}")
    if options.peers and not (options.peers / "bin" / "python").exists():
        parser.error(f"--peers: {options.peers} is no virtual environment")
    peers = Peers(options.peers)
    print(f"{'what':<62}{'FrozenLab':>13}  {'peer':<30}{'ratio':>8}  {'target':>8}")
    for name in chosen:
        show(SECTIONS[name](peers))
    peers.close()


if __name__ == "__main__":
    main()
