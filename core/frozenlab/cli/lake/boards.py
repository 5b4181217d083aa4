"""``frozenlab generate``, ``solve`` and ``judge``: boards and plans."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from frozenlab.cli.common import Command, InputError, listed, print_json, progress, read_text

BOARD_HELP = "a file with a board in text or JSON form, or - for standard input"


def add_generate(parser: argparse.ArgumentParser) -> None:
    from frozenlab.lake.presets import PRESETS

    parser.add_argument("config", help=f"a JSON or TOML file, or a preset: {listed(PRESETS)}")
    several = "number of agents of a preset, or of each of several teams (default: 2)"
    parser.add_argument("--agents", type=int, nargs="+", metavar="N", help=several)
    parser.add_argument("--n", type=int, required=True, help="number of boards")
    parser.add_argument("--seed", type=int, default=0, help="seed of the boards (default: %(default)s)")
    parser.add_argument("--out", type=Path, required=True, help="the file to write, one board per line (JSON)")
    parser.add_argument("--soc", action="store_true", help="also find the optimal sum of costs")
    parser.add_argument("--exclude-held-out", action="store_true", help="draw no board of a named suite, also not rotated or mirrored")
    parser.add_argument("--workers", type=int, default=1, help="processes to use; the boards do not depend on it (default: %(default)s)")


def add_solve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("board", help=BOARD_HELP)
    parser.add_argument("--soc", action="store_true", help="also find the optimal sum of costs")


def add_judge(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("board", help=BOARD_HELP)
    parser.add_argument("plan", help='a JSON list of motion strings like ["RRD", "WDL"], or a file that holds one')


def run_generate(options: argparse.Namespace) -> None:
    from frozenlab.cli.lake.words import drawn_words
    from frozenlab.lake.config import EnvironmentConfig
    from frozenlab.lake.draw.generator import generate, realised
    from frozenlab.lake.draw.hashes import NOTHING
    from frozenlab.lake.instance import write_instances
    from frozenlab.lake.kernels.warm_up import load_solver
    from frozenlab.lake.presets import PRESETS, preset
    from frozenlab.lake.suites import held_out

    if options.n < 1:
        raise InputError(f"--n is {options.n}; use at least 1")
    if options.workers < 1:
        raise InputError(f"--workers is {options.workers}; use at least 1")
    if options.config in PRESETS:
        config = preset(options.config, options.agents or 2)
    elif options.agents is not None:
        raise InputError("--agents is for presets; a config file has its own number of agents")
    else:
        config = EnvironmentConfig.read(Path(options.config))
    load_solver()
    with progress() as note:
        instances = generate(
            config,
            options.n,
            options.seed,
            sum_of_costs=options.soc,
            exclude=held_out() if options.exclude_held_out else NOTHING,
            workers=options.workers,
            on_progress=lambda done, of: note("drawing and solving", done, of),
        )
    write_instances(options.out, instances)
    drawn = realised(instances)
    if options.json:
        cells = {name: of_cell.model_dump() for name, of_cell in drawn.items()}
        print_json({"boards": len(instances), "out": str(options.out), "cells": cells})
    else:
        print(drawn_words(drawn, config.teams, options.out))


def run_solve(options: argparse.Namespace) -> None:
    from frozenlab.cli.lake.words import solution_words
    from frozenlab.lake.board import read_board
    from frozenlab.lake.kernels.warm_up import load_solver
    from frozenlab.lake.solvers.solver import solve

    board = read_board(read_text(options.board))
    load_solver()
    solution = solve(board, sum_of_costs=options.soc)
    if solution.status == "undecided":
        raise InputError("no plan was found within the node budget, and no proof that there is none")
    if not options.json:
        print(solution_words(solution, options.soc))
        return
    print_json(
        {
            "solvable": solution.status != "unsolvable",
            "makespan": solution.makespan,
            "bounds": None if solution.bounds is None else list(solution.bounds),
            "sum_of_costs": solution.sum_of_costs,
            "needs_wait": solution.needs_wait,
            "plan": None if solution.plan is None else list(solution.plan),
        }
    )


def run_judge(options: argparse.Namespace) -> None:
    from frozenlab.cli.lake.words import verdict_words
    from frozenlab.lake.board import read_board
    from frozenlab.lake.kernels.warm_up import load_solver
    from frozenlab.lake.rules import judge
    from frozenlab.lake.solvers.solver import solve

    board, plan = read_board(read_text(options.board)), read_plan(options.plan)
    load_solver()
    optimum = solve(board).makespan
    verdict = judge(board, plan, optimum)
    if not options.json:
        print(verdict_words(verdict, optimum))
        return
    print_json(
        {
            "valid": verdict.valid,
            "optimal": bool(verdict.optimal),
            "fault": verdict.fault,
            "step": verdict.step,
            "agents": list(verdict.agents),
            "cell": None if verdict.cell is None else list(verdict.cell),
            "makespan": verdict.makespan,
            "sum_of_costs": verdict.sum_of_costs,
        }
    )


def read_plan(given: str) -> tuple[str, ...]:
    """A plan from the argument itself, or from the file that it names."""
    from frozenlab.base.errors import cut

    if given.lstrip().startswith("["):
        text = given
    elif given == "-" or Path(given).exists():
        text = read_text(given)
    else:
        raise InputError(f'{cut(given, 60)!r} is neither a file nor a JSON list of motion strings, one per agent, like ["RRD", "WDL"]')
    try:
        plan = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"the plan is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except (ValueError, RecursionError):
        raise InputError("the plan is not JSON: a number too long, or too deeply nested") from None
    if not isinstance(plan, list) or not all(isinstance(motions, str) for motions in plan):
        raise InputError('the plan must be a JSON list of motion strings, one per agent, like ["RRD", "WDL"]')
    return tuple(plan)


COMMANDS = (
    Command("generate", "draw solved boards from an environment config", add_generate, run_generate),
    Command("solve", "solve a board optimally", add_solve, run_solve),
    Command("judge", "check a plan and name its first fault", add_judge, run_judge),
)
