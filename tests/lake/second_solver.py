"""A second exact solver, to hold ours against where exhaustive search cannot go: a flow through time, solved by OR-Tools CP-SAT.

One commodity an agent, one layer a time step, one boolean an arc (after Yu and LaValle 2013, "Planning optimal paths for multiple robots on
graphs"). An agent is on a cell, or in the place PARKED: on its goal for good. Arcs that cannot lie on a way from the start to being parked
in time are left out, which is what makes the model small.
"""

from collections import defaultdict
from collections.abc import Sequence

from ortools.sat.python import cp_model

from frozenlab.lake.board import MOVES, Board, Cell

PARKED: Cell = (-1, -1)
ONE_WAY = {"^": "U", "v": "D", "<": "L", ">": "R"}


def solvable_within(board: Board, makespan: int, *, waiting: bool = True) -> bool:
    """Whether some plan has all agents on their goals for good after ``makespan`` steps.

    Args:
        waiting: agents may wait before they arrive for good.
    """
    return _solvable(board, [makespan] * board.num_agents, waiting, None)


def affordable(board: Board, costs: int, *, waiting: bool = True) -> bool:
    """Whether some plan has a sum of costs of at most ``costs``. Raises KeyError where an agent cannot reach its goal."""
    alone = [board.distances_to_goal(i)[agent.start] for i, agent in enumerate(board.agents)]
    slack = costs - sum(alone)
    return slack >= 0 and _solvable(board, [steps + slack for steps in alone], waiting, slack)


def _solvable(board: Board, deadlines: Sequence[int], waiting: bool, slack: int | None) -> bool:
    """Whether a plan has each agent arrive by its deadline, and all together at most ``slack`` steps later than each would alone."""
    model = cp_model.CpModel()
    entering: dict[tuple[int, Cell], list[tuple[int, cp_model.IntVar]]] = defaultdict(list)  # by time and cell
    crossing: dict[tuple[int, frozenset[Cell]], list[tuple[int, cp_model.IntVar]]] = defaultdict(list)  # by time and two cells
    losses: list[tuple[cp_model.IntVar, int]] = []
    for i, (agent, deadline) in enumerate(zip(board.agents, deadlines, strict=True)):
        left = {**board.distances_to_goal(i), PARKED: 0}
        if left.get(agent.start, deadline + 1) > deadline:
            return False
        arriving: dict[Cell, list[cp_model.IntVar]] = {agent.start: [model.new_constant(1)]}
        for time in range(1, max(deadlines) + 1):
            leaving: dict[Cell, list[cp_model.IntVar]] = defaultdict(list)
            following: dict[Cell, list[cp_model.IntVar]] = defaultdict(list)
            for here in arriving:
                for there in _next(board, i, here, waiting):
                    if there not in left:
                        continue
                    if there != PARKED and left[there] + (there == agent.goal) > deadline - time:
                        continue
                    arc = model.new_bool_var("")
                    leaving[here].append(arc)
                    following[there].append(arc)
                    from_cell, to_cell = (agent.goal if place == PARKED else place for place in (here, there))
                    entering[time, to_cell].append((i, arc))
                    if from_cell != to_cell:
                        crossing[time, frozenset((from_cell, to_cell))].append((i, arc))
                    if here != PARKED and left[there] >= left[here]:
                        losses.append((arc, 1 + left[there] - left[here]))
            for here, arcs in arriving.items():
                model.add(sum(leaving[here]) == sum(arcs))
            arriving = following
        model.add(sum(arriving[PARKED]) == 1)
    for arcs_of in (*entering.values(), *crossing.values()):
        if len({i for i, _ in arcs_of}) > 1:
            model.add_at_most_one(arc for _, arc in arcs_of)
    if slack is not None:
        model.add(sum(loss * arc for arc, loss in losses) <= slack)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.linearization_level = 2  # the relaxed flow proves bounds that clauses alone do not
    status = solver.solve(model)
    assert status in (cp_model.OPTIMAL, cp_model.INFEASIBLE), solver.status_name(status)
    return status == cp_model.OPTIMAL


def _next(board: Board, agent: int, here: Cell, waiting: bool) -> list[Cell]:
    """The places one step after ``here``, by the letters of the board."""
    if here == PARKED:
        return [PARKED]
    allowed = ONE_WAY.get(board.rows[here[0]][here[1]], "UDLR") + "W" * waiting
    around = [(here[0] + MOVES[move][0], here[1] + MOVES[move][1]) for move in allowed]
    shut = "H" + "01234".replace(str(agent), "")
    cells = [cell for cell in around if cell == here or (board.contains(cell) and board.rows[cell[0]][cell[1]] not in shut)]
    return cells + [PARKED] * (board.agents[agent].goal in cells)
