"""``frozenlab generate``, ``solve``, ``judge`` and ``convert``: boards and plans."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from frozenlab.base.errors import cut
from frozenlab.base.files import write_files, write_folder
from frozenlab.base.numbers import UNKNOWN, Interval, counted, listed, number, share
from frozenlab.cli.common import InputError, progress, read_text, show
from frozenlab.lake import formats
from frozenlab.lake.board import Board, Plan
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import Realised, generate, realised
from frozenlab.lake.draw.hashes import NOTHING
from frozenlab.lake.formats import FORMATS, movingai
from frozenlab.lake.formats.entry import Entry
from frozenlab.lake.instance import write_instances
from frozenlab.lake.kernels.warm_up import load_solver
from frozenlab.lake.planners import PLANNERS, Found
from frozenlab.lake.planners.ecbs import ECBS
from frozenlab.lake.planners.planner import check_budget
from frozenlab.lake.presets import PRESETS, preset
from frozenlab.lake.rules import Verdict, judge
from frozenlab.lake.solvers.solver import Solution, solve
from frozenlab.lake.suites import held_out
from frozenlab.tasks.families import cell_label
from frozenlab.tasks.lake.words import OUTCOMES, teams_title

BOARD_HELP = "a file with one board, in any format that convert reads, or - for standard input"
PAUSE = 0.5
"""Seconds from one line about a planner's progress to the next at the least."""


def add_generate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", help=f"a JSON or TOML file, or a preset: {listed(PRESETS, 'or')}")
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
    parser.add_argument("--map", type=Path, help="the MovingAI map of the board (default: the one that a scenario names, beside it)")
    parser.add_argument("-k", "--agents", type=int, metavar="K", help="take only the first agents, this many")
    names = listed([f"{planner.name} ({planner.title})" for planner in PLANNERS.values()], "or")
    parser.add_argument("--planner", metavar="NAME", help=f"plan for a small sum of costs instead, with {names}")
    parser.add_argument("--seconds", type=float, metavar="S", help="time for the planner (default: 10); Ctrl+C ends it sooner")
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the planner (default: 0)")
    parser.add_argument("--factor", type=float, metavar="X", help="times the smallest sum of costs that ecbs may take (default: 1.2)")


def add_judge(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("board", help=BOARD_HELP)
    parser.add_argument("plan", help='a JSON list of motion strings like ["RRD", "WDL"], or a file that holds one')


def run_generate(options: argparse.Namespace) -> None:
    for name in ("n", "workers"):
        if (given := getattr(options, name)) < 1:
            raise InputError(f"--{name} is {given}; use at least 1")
    if options.config in PRESETS:
        config = preset(options.config, options.agents or 2)
    elif options.agents is not None:
        raise InputError("--agents is for presets; a config file has its own number of agents")
    else:
        config = EnvironmentConfig.read(Path(options.config))
    load_solver()
    with progress() as note:
        instances = generate(
            config, options.n, options.seed, sum_of_costs=options.soc, exclude=held_out() if options.exclude_held_out else NOTHING,
            workers=options.workers, on_progress=lambda done, of: note("drawing and solving", done, of),
        )  # fmt: skip
    write_instances(options.out, instances)
    drawn = realised(instances)
    cells = {name: of_cell.model_dump() for name, of_cell in drawn.items()}
    show(options.json, {"boards": len(instances), "out": str(options.out), "cells": cells}, drawn_words(drawn, config.teams, options.out))


def run_solve(options: argparse.Namespace) -> None:
    if options.planner is not None:
        return run_planner(options)
    for name in ("seconds", "seed", "factor"):
        if getattr(options, name) is not None:
            raise InputError(f"--{name} is for planners: add --planner with one of {listed(PLANNERS, 'or')}")
    board = board_in(options.board, options.map, options.agents)
    load_solver()
    solution = solve(board, sum_of_costs=options.soc)
    if solution.status == "undecided":
        raise InputError("no plan was found within the node budget, and no proof that there is none")
    figures = {name: getattr(solution, name) for name in ("makespan", "bounds", "sum_of_costs", "needs_wait", "plan")}
    show(options.json, {"solvable": solution.status != "unsolvable"} | figures, solution_words(solution, options.soc))


def run_planner(options: argparse.Namespace) -> None:
    """``solve --planner``: progress on stderr, then the best plan."""
    if options.soc or (planner := PLANNERS.get(options.planner)) is None:
        reason = "--soc is for the exact solver: planners say what is known of the sum of costs"
        raise InputError(reason if options.soc else f"there is no planner {options.planner!r}; use {listed(PLANNERS, 'or')}")
    if options.factor is not None:
        if not isinstance(planner, ECBS):
            raise InputError("--factor is for the planner ecbs")
        planner = ECBS(options.factor)
    seconds = 10.0 if options.seconds is None else options.seconds
    check_budget(seconds)
    board = board_in(options.board, options.map, options.agents)
    load_solver()
    known, said = [Found()], -PAUSE

    def note(found: Found) -> None:
        nonlocal said
        known.append(found)
        if found.cost is not None and found.seconds >= said + PAUSE:
            said = found.seconds
            print(f"{found.seconds:.1f} s: {costs_words(found)}", file=sys.stderr, flush=True)

    try:
        found = planner.plan(board, seconds, options.seed or 0, note)
    except KeyboardInterrupt:
        found = known[-1]
    if found.plan is None and not found.unsolvable:
        tried = f"{planner.title} found no plan in {found.seconds:.1f} s"
        raise InputError(f"{tried}, and no proof that there is none; --seconds gives it more time")
    record = {"planner": planner.name, "solvable": not found.unsolvable}
    record |= {name: getattr(found, name) for name in ("makespan", "lower_bound", "proven", "seconds", "plan")}
    lines = ["The board has no solution; this is proven."]
    if found.plan is not None:
        lines = [f"{planner.title}, {found.seconds:.1f} s: {costs_words(found)}, {counted(found.makespan or 0, 'time step')}.", "The plan:"]
        lines += plan_lines(found.plan)
    show(options.json, record | {"sum_of_costs": found.cost}, *lines)


def board_in(name: str, map_path: Path | None, agents: int | None) -> Board:
    """The one board of a file, with its first agents only; the map of a MovingAI scenario is looked for beside it."""
    text = read_text(name)
    if agents is not None and agents < 1:
        raise InputError(f"--agents is {agents}; use at least 1")
    source = formats.guess(name, text)
    if map_path is not None and not FORMATS[source].mapped:
        raise InputError(f"--map is for files that leave their map to another one, and {name} has its own")
    if map_path is None and movingai.part_of(name, text) == ".scen":
        named = movingai.base_name(movingai.first_map(text))
        if not named:
            raise InputError("the scenario names no map: give it with --map")
        map_path = Path(name).parent / named
        map_path = map_path if map_path.is_file() else map_path.with_name(f"{map_path.name}.map")
        if not map_path.is_file():
            raise InputError(f"{map_path.with_suffix('')}, the map of the scenario, is not there: name it with --map")
    map_text, map_name = (read_text(map_path), map_path.name) if map_path is not None else (None, None)
    entries = formats.read(source, formats.Source(text, name, map_text, map_name, None, agents))
    if len(entries) > 1:
        raise InputError(f"{name} has {counted(len(entries), 'board')}, and one is expected")
    say_notes(entries)
    return entries[0].board


def say_notes(entries: Sequence[Entry]) -> None:
    """What a person should know of how a file was read, on stderr."""
    for note in dict.fromkeys(note for entry in entries for note in entry.notes):
        print(f"frozenlab: {note}", file=sys.stderr)


def costs_words(found: Found) -> str:
    """The sum of costs of a plan, and how good that is."""
    rest = " there is" if found.proven else f", which is {found.lower_bound:,} or more"
    return f"sum of costs {found.cost:,}, {found.quality}{rest}"


def run_judge(options: argparse.Namespace) -> None:
    board, plan = board_in(options.board, None, None), read_plan(options.plan)
    load_solver()
    optimum = solve(board).makespan
    verdict = judge(board, plan, optimum)
    names = ("valid", "fault", "step", "agents", "cell", "makespan", "sum_of_costs")
    figures = {name: getattr(verdict, name) for name in names} | {"optimal": bool(verdict.optimal)}
    show(options.json, figures, verdict_words(verdict, optimum))


def read_plan(given: str) -> tuple[str, ...]:
    """A plan from the argument itself, or from the file that it names."""
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


def add_convert(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", type=Path, metavar="IN", help="the file to read")
    parser.add_argument("target", type=Path, metavar="OUT", help="a file, or a new folder if several boards need a file each")
    names = listed(FORMATS, "or")
    parser.add_argument("--from", dest="source_format", metavar="FORMAT", help=f"{names} (default: from the name or content of IN)")
    parser.add_argument("--to", dest="target_format", metavar="FORMAT", help="format of OUT, one of the same (default: from its name)")
    parser.add_argument("--map", type=Path, help="the MovingAI map (.map) of IN, if IN only names it")
    parser.add_argument("--scen", type=Path, help="the MovingAI scenario (.scen) of IN, for MAPF Tracker plans")
    parser.add_argument("--agents", type=int, help="take only the first agents, this many")


def run_convert(options: argparse.Namespace) -> None:
    names = ", ".join(FORMATS)
    for name in (options.source_format, options.target_format):
        if name is not None and name not in FORMATS:
            raise InputError(f"there is no format {name!r}; the formats are {names}")
    text, map_text, scenario = (path and read_text(path) for path in (options.source, options.map, options.scen))
    target = options.target_format or formats.suffix_format(options.target.name)
    if target is None:
        raise InputError(f"the name {options.target.name!r} does not determine the format: choose one with --to: {names}")
    source = options.source_format or formats.recognise(options.source.name, text)
    map_name, scenario_name = (path and path.name for path in (options.map, options.scen))
    parts = formats.Source(text, options.source.stem, map_text, map_name, scenario, options.agents, scenario_name)
    entries = formats.read(source, parts)
    say_notes(entries)
    files = formats.write(target, entries, options.target.stem)
    if len(entries) > 1 and FORMATS[target].join is None:
        write_folder(options.target, files)
    else:
        main, *others = files
        if options.target.name not in files:
            files = {options.target.name: files[main], **{name: files[name] for name in others}}
        refuse_to_replace(options.target.parent, {name: files[name] for name in others})
        write_files(options.target.parent, files)
    plans = sum(entry.plan is not None for entry in entries) if FORMATS[target].plans else 0
    record = {"from": source, "to": target, "boards": len(entries), "plans": plans, "files": len(files), "out": str(options.target)}
    what = f"{counted(len(entries), 'board')} and {counted(plans, 'plan')}" if plans else counted(len(entries), "board")
    show(options.json, record, f"{what} from {source} to {target}: {counted(len(files), 'file')}, {options.target}")


def refuse_to_replace(folder: Path, files: dict[str, str]) -> None:
    """Raise InputError if a map or scenario that would be written exists with other content: a person may have made it."""
    for name, text in files.items():
        path = folder / name
        if path.exists() and path.read_bytes() != text.encode():
            raise InputError(f"{path} exists already with other content: choose another name for the output")


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


def plan_lines(plan: Plan) -> list[str]:
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
        return f"Valid, optimal makespan: {took}."
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
