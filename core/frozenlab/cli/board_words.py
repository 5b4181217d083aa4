"""Texts that commands print for people; ``--json`` is for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from frozenlab.base.numbers import UNKNOWN, Interval, number, share
from frozenlab.lake.draw.generator import Realised
from frozenlab.lake.rules import Verdict
from frozenlab.lake.solvers.solver import Solution
from frozenlab.tasks.families import cell_label
from frozenlab.tasks.lake.words import OUTCOMES, teams_title


def solution_words(solution: Solution, with_costs: bool) -> str:
    """The result of solving a board."""
    if solution.status == "unsolvable" or solution.plan is None:
        return "The board has no solution; this is proven."
    if solution.bounds is not None:
        lines = [f"A plan of {solution.bounds[1]} time steps; any plan takes at least {solution.bounds[0]}. The optimum is not known."]
    else:
        lines = [f"Fewest time steps: {solution.makespan}, proven."]
    if solution.needs_wait is not None:
        lines.append("In every optimal plan, an agent has to wait." if solution.needs_wait else "There is an optimal plan without waiting.")
    if with_costs:
        decided = solution.sum_of_costs is not None
        lines.append(f"Smallest sum of costs: {solution.sum_of_costs}, proven." if decided else "The smallest sum of costs is not known.")
    return "\n".join([*lines, "An optimal plan:" if solution.bounds is None else "The plan:", *plan_lines(solution.plan)])


def plan_lines(plan: Sequence[str]) -> list[str]:
    return [f"  agent {number}: {motions or '(stays)'}" for number, motions in enumerate(plan)]


def verdict_words(verdict: Verdict, optimum: int | None) -> str:
    """The verdict on a plan."""
    if verdict.fault is not None:
        agents = " and ".join(f"agent {number}" for number in verdict.agents) or "the plan"
        when = "" if verdict.step is None else f" at time step {verdict.step}"
        where = "" if verdict.cell is None else f", in row {verdict.cell[0]}, column {verdict.cell[1]} (both from 0)"
        return f"Not valid: {OUTCOMES[verdict.fault].sentence.format(agents=agents)}{when}{where} ({verdict.fault})."
    took = f"{verdict.makespan} time steps, sum of costs {verdict.sum_of_costs}"
    if verdict.optimal:
        return f"Valid and optimal: {took}."
    return f"Valid: {took}." + (
        f" The fewest time steps are {optimum}." if optimum is not None else " Whether that is optimal is not known."
    )


def drawn_words(drawn: Mapping[str, Realised], teams: Sequence[int], out: Path) -> str:
    """A table of drawn boards; the wait ratio has its 95 % Wilson interval."""
    total = sum(of_cell.boards for of_cell in drawn.values())
    labels = [cell_label(name).replace("×", "x") for name in drawn]
    width = max(6, *map(len, labels))
    lines = [
        f"{total:,} boards with {teams_title(teams)}, each solved, in {out}", "",
        f"{'size':>{width}}{'boards':>8}{'share':>9}{'holes':>9}{'must wait':>11}  {'95 % interval':<17}{'mean best makespan':>18}",
    ]  # fmt: skip
    for label, of_cell in zip(labels, drawn.values(), strict=True):
        waits = Interval.of(of_cell.wait_ratio * of_cell.boards, of_cell.boards)
        makespan = UNKNOWN if of_cell.mean_makespan is None else number(of_cell.mean_makespan)
        figures = f"{of_cell.boards:>8}{share(of_cell.share):>9}{share(of_cell.hole_ratio):>9}{waits.percent:>11}"
        lines.append(f"{label:>{width}}{figures}  {waits.percents:<17}{makespan:>18}")
    return "\n".join(lines)
