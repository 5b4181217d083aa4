"""Engineer demonstrations for the lab model's warm start: synthetic contexts, each answered by the tutor.

The contexts are drawn, not measured: cells of any kind, valid rates near the usual ones, some of them fallen, faults, configs, and any
subset of the sections.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from frozenlab.base import seeds
from frozenlab.base.cells import Cell, Config
from frozenlab.engineer.dialects.lab import READABLE, render_context, render_proposal
from frozenlab.engineer.engineers import tutor
from frozenlab.engineer.engineers.tutor import usual_rate
from frozenlab.engineer.schema import Context, Evidence
from frozenlab.engineer.sections import behaviour, failures, history, preserved, statistics
from frozenlab.engineer.sections.preserved import TEACHES, WORKS
from frozenlab.lake.config import PAPER_SIZES, EnvironmentConfig
from frozenlab.lake.config_cell import LAYOUTS, BoardKind, CellConfig
from frozenlab.lake.draw.generator import Realised
from frozenlab.tasks.countdown.drawing import COUNTS, CountdownCell, CountdownConfig, DrawnTasks, name_of
from frozenlab.tasks.families import family_of
from frozenlab.tasks.mixed.config import MixedConfig, MixedPart
from frozenlab.tasks.vocabulary import FAULT_WORDS, MAX_CELLS
from recipes.lab_model.usual_rates import TEAMS

SECTIONS = tuple(section.name for section in READABLE)
"""Those that the lab model reads."""
ALL_SECTIONS_CHANCE = 0.5
ONE_TEAM, SEVERAL_TEAMS = 0.3, 0.15
"""Part of the contexts that are of map sizes only, and of teams and map sizes; the others are of any kinds, most of them with Countdown."""
COUNTDOWN_CHANCE = 0.7
LIKE_THE_BASE, FALLEN = 0.3, 0.5
"""Part of the contexts of a model that does as usual, and of one in which some cells have fallen; in the others rates are anything."""
RARE = 0.05
BOARD_FAULTS = dict.fromkeys(FAULT_WORDS, RARE) | {
    "vertex_conflict": 0.8, "edge_conflict": 0.5, "hole": 0.9, "goal_not_reached": 0.3, "truncated": 0.5,
}  # fmt: skip
MECHANIC_FAULTS = {"oneway": {"against_arrow": 1.5}, "doors": {"locked_door": 1.5}}
COUNTDOWN_FAULTS = {
    "wrong_total": 1.5, "wrong_step": 0.8, "not_on_list": 0.5, "used_twice": 0.3, "parse_error": RARE, "truncated": RARE,
}  # fmt: skip
"""Frequencies of the faults of a kind of task, as Dirichlet weights."""
UNTRAINED_CHANCE = 0.2
"""Part of the contexts that are of a model before its first stage, ..."""
BEFORE_TRAINING = ("failures", "statistics")
"""... when only these sections have lines."""
HISTORY_CHANCE = 0.6
"""Chance that two stages were before, so that `history` has something to say."""


def demonstrations(n: int, seed: int) -> Iterator[tuple[str, str]]:
    """``n`` pairs of prompt and completion in the lab dialect; the same for the same seed."""
    rng = seeds.rng(seed, "demonstrations")
    for _ in range(n):
        context, config = draw_context(rng)
        yield render_context(context), render_proposal(context, tutor.propose(context, config))


def draw_context(rng: np.random.Generator) -> tuple[Context, Config]:
    """A context with the config that it tells of, half the time with all sections, otherwise with any subset of them."""
    config = draw_config(rng)
    chosen = SECTIONS if rng.random() < ALL_SECTIONS_CHANCE else tuple(section for section in SECTIONS if rng.random() < 0.5)
    return draw_evidence(config, chosen, rng), config


def draw_evidence(config: Config, chosen: Sequence[str], rng: np.random.Generator, rates: Mapping[str, float] | None = None) -> Context:
    """A context as after a stage or before the first, with the sections ``chosen``, of a model with these valid ``rates`` by cell.

    ``None``: the rates are drawn.
    """
    cells = config.described()
    lines_of: dict[str, list[Evidence]] = {section: [] for section in SECTIONS}
    lines_of["behaviour"].append(behaviour.whole_line(rng.random(), rng.normal(0, 0.05), rng.uniform(0.02, 0.8), rng.uniform(4, 60)))
    boards, has_history = int(rng.integers(16, 150)), rng.random() < HISTORY_CHANCE
    is_trained = rng.random() >= UNTRAINED_CHANCE
    drawn_rates = draw_rates(cells, rng) if rates is None else [rates[cell.name] for cell in cells]
    for cell, rate in zip(cells, drawn_rates, strict=True):
        valid = int(rng.binomial(boards, rate)) / boards
        for line in draw_lines(rng, cell, config, boards, valid, has_history):
            lines_of[line.section].append(line)
    stage = int(rng.integers(0, 5)) if is_trained else None
    sections = {section: tuple(lines_of[section]) if is_trained or section in BEFORE_TRAINING else () for section in chosen}
    return Context(family=config.family, stage=stage, cells=cells, sections=sections)


# --- configs ----------------------------------------------------------------------------------------------------------


def draw_config(rng: np.random.Generator) -> Config:
    """A config of up to MAX_CELLS cells, with any shares and ratios."""
    style = rng.random()
    if style < ONE_TEAM:
        count, team = int(rng.integers(1, len(PAPER_SIZES) + 1)), int(rng.choice(TEAMS))
        kinds = {BoardKind(team, int(size)) for size in rng.choice(PAPER_SIZES, count, replace=False) if size >= team}
        return config_of(sorted(kinds) or [BoardKind(team, 6)], (), rng)
    if style < ONE_TEAM + SEVERAL_TEAMS:
        return config_of(draw_teams(rng), (), rng)
    counts = [int(count) for count in rng.choice(COUNTS, int(rng.integers(1, 4)), replace=False)] if rng.random() < COUNTDOWN_CHANCE else []
    many = int(rng.integers(1, MAX_CELLS - len(counts) + 1))
    return config_of(list(dict.fromkeys(draw_kind(rng) for _ in range(many))), sorted(counts), rng)  # a set would shuffle them


def draw_teams(rng: np.random.Generator) -> list[BoardKind]:
    """Two to four teams on the same sizes, as many as the context has room for; as in the paper, a board has a row for each agent."""
    teams = sorted(int(team) for team in rng.choice(TEAMS, int(rng.integers(2, len(TEAMS) + 1)), replace=False))
    most = min(len(PAPER_SIZES), MAX_CELLS // len(teams))
    sizes = sorted(int(size) for size in rng.choice(PAPER_SIZES, int(rng.integers(1, most + 1)), replace=False))
    kinds = [BoardKind(team, size) for team in teams for size in sizes if size >= team]
    return kinds if len({kind.agents for kind in kinds}) > 1 else draw_teams(rng)


def draw_kind(rng: np.random.Generator) -> BoardKind:
    """Boards with room for the team, half of them scattered."""
    team = int(rng.choice(TEAMS))
    size = int(rng.integers(max(team, PAPER_SIZES[0]), PAPER_SIZES[-1] + 1))
    return BoardKind(team, size, None if rng.random() < 0.5 else str(rng.choice([name for name in LAYOUTS if name != "scatter"])))


def config_of(kinds: Sequence[BoardKind], counts: Sequence[int], rng: np.random.Generator) -> Config:
    """The config of these cells, with shares and ratios at random."""
    shares = iter(rng.dirichlet(np.full(len(kinds) + len(counts), 3.0)).tolist())
    boards = [dict(kind._asdict(), share=next(shares), hole_ratio=grid(rng, 0.5), wait_ratio=grid(rng, 0.9)) for kind in kinds]
    tasks = {name_of(count): CountdownCell(share=next(shares), times_ratio=grid(rng, 1.0)) for count in counts}
    of_boards, of_tasks = sum(own["share"] for own in boards), sum(own.share for own in tasks.values())
    lake = EnvironmentConfig.of(CellConfig(**own | {"share": own["share"] / of_boards}) for own in boards)
    if not tasks:
        return lake
    countdown = CountdownConfig(cells={name: own.model_copy(update={"share": own.share / of_tasks}) for name, own in tasks.items()})
    return MixedConfig(parts={"lake": MixedPart(share=of_boards, config=lake), "countdown": MixedPart(share=of_tasks, config=countdown)})


def grid(rng: np.random.Generator, top: float) -> float:
    """A ratio as in configs: usually a multiple of 0.1, sometimes any value."""
    value = rng.uniform(0, top)
    return round(value, 1) if rng.random() < 0.7 else float(value)


# --- evidence ---------------------------------------------------------------------------------------------------------


def draw_rates(cells: Sequence[Cell], rng: np.random.Generator, usually: Callable[[Cell], float | None] = usual_rate) -> list[float]:
    """The valid rates of a model: as usual, with some cells fallen, or anything."""
    usual = np.array([0.5 if (rate := usually(cell)) is None else rate for cell in cells])
    rates, style = usual + rng.normal(0, 0.06, len(cells)), rng.random()
    if style > LIKE_THE_BASE + FALLEN:
        rates = rng.random(len(cells))
    elif style > LIKE_THE_BASE:
        fallen = rng.choice(len(cells), int(rng.integers(1, max(2, len(cells) // 2 + 1))), replace=False)
        rates[fallen] = usual[fallen] * rng.uniform(0, 0.8, len(fallen))
    return np.clip(rates, 0, 1).tolist()


def draw_lines(rng: np.random.Generator, cell: Cell, config: Config, boards: int, valid: float, has_history: bool) -> Iterator[Evidence]:
    """The lines of every section on one cell with the held-out valid rate ``valid``."""
    sampled = float(np.clip(valid - abs(rng.normal(0, 0.08)), 0, 1))
    yield behaviour.cell_line(cell, sampled, rng.normal(0, 0.05), sampled * rng.uniform(0.5, 1))
    faults = draw_faults(cell, 1 - valid, boards, rng)
    yield failures.cell_line(cell, boards, valid, valid * rng.uniform(0.5, 1), faults)
    commonest = sorted(faults, key=lambda fault: -faults[fault])[: failures.CASES_PER_CELL if rng.random() < 0.7 else 0]
    for letter, fault in zip("ab", commonest, strict=False):
        yield failures.case_line(cell, letter, fault, int(rng.integers(1, 16)), "", "")
    yield statistics.cell_line(cell, *family_of(config.family).statistics(cell, config.cells[cell.name], drawn(cell, config, rng)))
    gain = rng.normal(0.03, 0.06)
    if TEACHES[0] <= sampled <= TEACHES[1] and gain >= WORKS:
        yield preserved.cell_line(cell, valid, gain)
    if has_history:
        ratios = family_of(config.family).ratios_of(config.cells[cell.name])
        changes = {str(rng.choice(ratios)): float(rng.choice([-0.1, 0.1]))} if rng.random() < 0.3 else {}
        yield history.cell_line(cell, 0, changes, float(np.clip(valid - gain, 0, 1)), valid, None)


def draw_faults(cell: Cell, failed: float, boards: int, rng: np.random.Generator) -> dict[str, float]:
    """Fault -> part of the boards that failed by it, ``failed`` in all."""
    own = BOARD_FAULTS | MECHANIC_FAULTS.get(str(cell.place.get("layout")), {}) if "size" in cell.place else COUNTDOWN_FAULTS
    counts = rng.multinomial(round(failed * boards), rng.dirichlet(list(own.values())))
    return {fault: int(count) / boards for fault, count in zip(own, counts, strict=True) if count}


def drawn(cell: Cell, config: Config, rng: np.random.Generator) -> Any:
    """What a stage might have drawn of a cell."""
    own = config.cells[cell.name].settings()
    if "size" in cell.place:
        makespan = rng.uniform(1, 2.2) * int(cell.place["size"])
        ratios = {"hole_ratio": own["hole_ratio"], "wait_ratio": own["wait_ratio"]}
        return Realised(boards=100, share=own["share"], mean_makespan=makespan, **ratios)
    return DrawnTasks(
        boards=100, share=own["share"], times_ratio=own["times_ratio"], optimal_steps=rng.uniform(1, int(cell.place["numbers"]) - 0.5)
    )
