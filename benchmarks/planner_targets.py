"""The targets of the planners, each measured beside the peer or the figure that sets it.

    python -m benchmarks.planner_targets [--peers FOLDER ...] [--only pibt,lacam,lacam3,ecbs,exact,crowd] [--boards 5]

Both sides get the same boards in one run, and CPU time is measured. A ratio is the median over the boards, in brackets its range. Boards
and peers as in planners.py.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from statistics import median

from benchmarks.planner_peers import Answer, found
from benchmarks.planners import KINDS, board_of, judged, ours
from frozenlab.lake.board import Board
from frozenlab.lake.planners import PLANNERS
from frozenlab.lake.planners.planner import Clock, crowd_of, prepare
from frozenlab.lake.solvers.solver import stacked

Peers = dict[str, Callable[[Board, float], Answer]]
LIMIT = 10.0
"""CPU seconds that a peer gets for a board."""


def boards_of(kind: str, agents: int, boards: int) -> list[Board]:
    return [board for number in range(boards) if (board := board_of(KINDS[kind], agents, number))]


def spread(figures: list[float]) -> str:
    return f"{median(figures):,.1f} ({min(figures):,.1f} to {max(figures):,.1f}, n = {len(figures)})"


def row(target: str, where: str, measured: str, met: bool) -> str:
    return f"| {target} | {where} | {measured} | {'yes' if met else 'NO'} |"


def pibt(peers: Peers, n: int) -> Iterator[str]:
    """Time of a step once all distances are known, and of a whole plan from the board to the judge."""
    for agents in (100, 400):
        steps, plans = [], []
        for board in boards_of("random-32-32-10", agents, n):
            theirs, mine = peers["pypibt"](board, LIMIT), PLANNERS["pibt"].plan(board, LIMIT)
            crowd = crowd_of(board, stacked([board]), Clock(LIMIT))
            assert crowd is not None and mine.makespan is not None
            began = time.process_time()
            ((cells, *_),) = PLANNERS["pibt"].search(board, crowd, Clock(LIMIT), 0)
            took = time.process_time() - began
            assert cells is not None
            steps.append(theirs.a_step / (took / (len(cells) - 1)))
            plans.append(theirs.seconds / theirs.steps / (mine.seconds / mine.makespan))
        measured = f"{spread(steps)}; with distances and judge {spread(plans)}"
        yield row("PIBT: a step at least 50 times as fast as pypibt's", f"random-32-32-10, {agents} agents", measured, median(steps) >= 50)


def lacam(peers: Peers, n: int) -> Iterator[str]:
    """Time to the first plan; where pylacam ends without one, it counts as if it had it then."""
    for agents in (50, 200):
        boards = boards_of("random-32-32-10", agents, n)
        theirs = [judged(peers["pylacam"](board, LIMIT), board) for board in boards]
        ratios = [one.seconds / ours("lacam", board, LIMIT).seconds for one, board in zip(theirs, boards, strict=True)]
        planned = sum(one.cost is not None for one in theirs)
        where = f"random-32-32-10, {agents} agents, of which pylacam plans {planned} in {LIMIT:.0f} s"
        yield row("LaCAM: the first plan at least 30 times as fast as pylacam's", where, spread(ratios), median(ratios) >= 30)


def lacam3(peers: Peers, n: int) -> Iterator[str]:
    """Time to the first plan, as a multiple of that of the C++ program."""
    for kind, agents in (("random-32-32-10", 400), ("random-64-64-20", 1000), ("warehouse-160-64", 1000), ("city-256-256", 1000)):
        ratios = []
        for board in boards_of(kind, agents, n):
            mine, theirs = ours("lacam", board, LIMIT), judged(peers["lacam3"](board, LIMIT), board)
            if mine.cost is not None and theirs.cost is not None:
                ratios.append(mine.seconds / theirs.seconds)
        measured = spread(ratios) if ratios else "no plan of both"
        yield row("LaCAM: the first plan at most 5 times as slow as lacam3's", f"{kind}, {agents} agents", measured, max(ratios) <= 5)


def ecbs(peers: Peers, n: int) -> Iterator[str]:
    """On the boards that w9's CBS solves within 5 s: how many ECBS solves, and the times of both."""
    for kind, agents in (("random-32-32-20", 10), ("random-32-32-10", 20), ("room-32-32-4", 8)):
        solved, mine, theirs = 0, [], []
        for board in boards_of(kind, agents, 4 * n):
            answer = judged(peers["w9 CBS"](board, 5.0), board)
            if answer.cost is None:
                continue
            best = PLANNERS["ecbs"].plan(board, 5.0)
            solved += best.cost is not None and best.cost <= 1.2 * best.lower_bound
            mine.append(best.seconds)
            theirs.append(answer.seconds)
        later = [1000 * (a - b) for a, b in zip(mine, theirs, strict=True) if a > b]
        measured = f"{solved} of {len(mine)} in {sum(mine):.3f} s, w9 in {sum(theirs):.3f} s"
        measured += f"; slower on {len(later)}, by {median(later):.1f} ms (most {max(later):.1f})" if later else ""
        target = "ECBS, 1.2: solves what w9's CBS solves, in at most its time"
        yield row(target, f"{kind}, {agents} agents", measured, solved == len(mine) and not later)


def exact(_: Peers, n: int) -> Iterator[str]:
    """Smallest sums of costs that are proven."""
    boards = boards_of("random-32-32-20", 10, 20 * n)
    ends = [PLANNERS["exact"].plan(board, 5.0) for board in boards]
    proven = sum(one.proven for one in ends)
    measured = f"{proven} of {len(boards)}, median {median(one.seconds for one in ends):.3f} s"
    where = "random-32-32-20, 10 agents"
    yield row("smallest sum of costs decided on 90 % of boards within 5 s each", where, measured, proven >= 0.9 * len(boards))


def crowd(_: Peers, n: int) -> Iterator[str]:
    """Time to the first plan of a crowd."""
    for kind, agents, most in (("random-32-32-10", 400, 2.0), ("city-256-256", 1000, 10.0)):
        ends = [ours("lacam", board, LIMIT) for board in boards_of(kind, agents, n)]
        longest = max(one.seconds for one in ends)
        measured = f"longest {longest:.2f} s, median {median(one.seconds for one in ends):.2f} s, n = {len(ends)}"
        met = longest <= most and all(one.cost is not None for one in ends)
        yield row(f"{agents} agents in at most {most:.0f} s", kind, measured, met)


NEEDS: dict[Callable[[Peers, int], Iterator[str]], str | None] = {
    pibt: "pypibt",
    lacam: "pylacam",
    lacam3: "lacam3",
    ecbs: "w9 CBS",
    exact: None,
    crowd: None,
}
"""The targets, and the peer that each needs."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", nargs="+", default=[], metavar="FOLDER")
    parser.add_argument("--only", default=",".join(measure.__name__ for measure in NEEDS))
    parser.add_argument("--boards", type=int, default=5)
    options = parser.parse_args()
    Clock.now = staticmethod(time.process_time)
    for planner in PLANNERS.values():
        prepare(type(planner))
    peers = found(options.peers)
    print("| target | boards | measured | met |\n|---|---|---|---|", flush=True)
    for measure, peer in NEEDS.items():
        if measure.__name__ in options.only.split(",") and (peer is None or peer in peers):
            for line in measure(peers, options.boards):
                print(line, flush=True)


if __name__ == "__main__":
    main()
