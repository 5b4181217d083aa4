"""What planners promise, held against an exhaustive search on random small boards; and by how much they are late.

    python -m benchmarks.planner_promises [--boards 5000] [--first 0] [--planners pibt,ecbs]
    python -m benchmarks.planner_promises --late [--boards 3]

A board has up to 4x4 cells and 4 agents, with holes, one-way ice, doors, and starts that are others' goals; some have no plan. A planner
that does not end by itself gets 20 ms. ``--late`` measures how much longer than its budget a call takes, on crowds that no planner is
done with. Times are CPU seconds.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

from benchmarks.planners import KINDS, board_of
from frozenlab.lake.planners import PLANNERS, Planner
from frozenlab.lake.planners.planner import Clock, prepare
from tests.lake.boards import numbered_board
from tests.lake.brute_force import brute_force
from tests.lake.test_planners import ENDING, promises_held

BUDGETS = 0.05, 0.3, 1.0
CROWDS = ("random-32-32-20", 100), ("random-32-32-10", 400), ("city-256-256", 1000)


def hold(planners: list[Planner], first: int, boards: int) -> None:
    """Prints a table of what each planner did on the boards, and each broken promise."""
    count: Counter[tuple[str, str]] = Counter()
    for number in range(first, first + boards):
        board = numbered_board(number)
        truth = brute_force(board)
        count["all", truth.status] += 1
        count["all", "shared"] += bool({agent.start for agent in board.agents} & {agent.goal for agent in board.agents})
        for planner in planners:
            budget = 2.0 if planner.name in ENDING else 0.02
            try:
                found = promises_held(planner, board, budget, truth)
            except AssertionError as broken:
                print(f"board {number}, {planner.name}: {broken}\n{board}", flush=True)
                count[planner.name, "broken"] += 1
                continue
            count[planner.name, "ended"] += found.seconds < budget
            count[planner.name, "planned"] += found.plan is not None
            count[planner.name, "cheapest"] += found.cost is not None and found.cost == truth.sum_of_costs
            count[planner.name, "no plan"] += found.unsolvable
    print(f"{boards} boards: {count['all', 'solved']} have a plan; {count['all', 'shared']} have a start that is a goal")
    print(
        "| planner | promise | planned | of smallest sum of costs | proven to have none | ended by itself | broken |\n" + "|---" * 7 + "|"
    )
    for planner in planners:
        kinds = (count[planner.name, kind] for kind in ("planned", "cheapest", "no plan", "ended", "broken"))
        print(f"| {planner.name} | {planner.promise} | {' | '.join(map(str, kinds))} |")


def late(planners: list[Planner], boards: int) -> None:
    """Prints a table of the most seconds by which each planner was late."""
    print(f"| planner | {' | '.join(f'{kind}, {agents} agents' for kind, agents in CROWDS)} |\n" + "|---" * (1 + len(CROWDS)) + "|")
    crowds = [[board_of(KINDS[kind], agents, number) for number in range(boards)] for kind, agents in CROWDS]
    for planner in planners:
        worst = []
        for crowd in crowds:
            over = []
            for board in crowd:
                for budget in BUDGETS:
                    assert board is not None
                    began = time.process_time()
                    planner.plan(board, budget)
                    over.append(time.process_time() - began - budget)
            worst.append(max(over))
        print(f"| {planner.name} | {' | '.join(f'{seconds:.2f} s' for seconds in worst)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--planners", default=",".join(PLANNERS))
    parser.add_argument("--late", action="store_true")
    options = parser.parse_args()
    Clock.now = staticmethod(time.process_time)
    planners = [PLANNERS[name] for name in options.planners.split(",")]
    for planner in planners:
        prepare(type(planner))
    if options.late:
        late(planners, options.boards or 3)
    else:
        hold(planners, options.first, options.boards or 5_000)


if __name__ == "__main__":
    main()
