"""The `rules` engineer: a transparent curriculum over the evidence, and the teacher of the lab model's first engineer.

It uses only the context, so a section that is off changes what it does. Per cell of the config:

1. **Read** the valid rate: from `failures` (held-out boards), else `behaviour` (training samples), else `preserved`.
2. **Preserve**: a cell listed under `preserved`, or one that nothing is known of, keeps its ratios.
3. **Step**: above 80 % valid it gets harder, below 20 % easier, by one step of 0.1 (EnvGen's and Eurekaverse's 80/20 rule). The knob is the
   one its failures point at: the wait ratio where conflicts between agents are at least half of the faults, the hole ratio otherwise.
4. **Practise**: in between, a cell that mostly fails by conflicts gets more boards with conflicts (wait ratio up a step, at most to 0.6).
5. **Step back**: where `history` says that the last change of this cell cost more than 5 points, that change is undone.
6. **Share** by learnability p(1-p) of the sampled valid rate (OpenRange, RLVE), over a floor, so that no cell is forgotten.
7. **Predict** the next valid rate as p + 0.3 p(1-p).

Without `statistics` the present ratios are unknown; then it writes the ratios of a difficulty ladder instead of stepping from them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from frozenlab.base.cells import Cell, Config, Settings
from frozenlab.engineer.protocol import Scripted
from frozenlab.engineer.schema import Claim, Context, Proposal
from frozenlab.engineer.sentences import claim_on, summary_sentence
from frozenlab.tasks.words import Knob

Ratios = dict[str, float]
MASTERED, HOPELESS = 0.8, 0.2
STEP = 0.1
MAX_HOLE_RATIO = 0.5
MAX_PRACTICE = 0.6
COST_OF_A_BAD_STEP = 0.05
SHARE_FLOOR = 0.1
LADDER: dict[str, Ratios] = {
    "hard": {"hole_ratio": 0.4, "wait_ratio": 0.5},
    "fair": {"hole_ratio": 0.2, "wait_ratio": 0.3},
    "easy": {"hole_ratio": 0.1, "wait_ratio": 0.1},
}
HARDNESS = {"hard": 0.6, "fair": 0.4, "easy": 0.2}
"""The ladder for the ratios of other families, as parts of the way from their easiest value to their hardest."""
CONFLICTS = ("vertex_conflict", "edge_conflict")


class RulesEngineer(Scripted):
    kind: Literal["rules"] = "rules"
    label = "transparent rules over the evidence"
    help = (
        "Harder above 80 % valid, easier below 20 %, more boards where success and failure mix; what works stays. It reads nothing but the "
        "context, so a section that is off changes what it does."
    )
    chooses_ratios = True
    expects = "The rules write every expectation as p + 0.3 p(1-p), p being the rate that they read."

    def propose(self, context: Context, config: Config, seed: int) -> Proposal:
        """The rules set shares and ratios only; the layouts stay."""
        return propose(context, config)


class Reading(NamedTuple):
    """What the context says about one cell. A field is None if the section that carries it is off."""

    knobs: tuple[Knob, ...]
    """The ratios of the cell."""
    valid: float | None
    sampled: float | None
    present: Ratios | None
    preserved: bool
    conflicts_dominate: bool
    regretted: tuple[str, float] | None
    """The last change of this cell and its amount, if it cost more than COST_OF_A_BAD_STEP."""
    cited: tuple[str, ...]


def read(context: Context, cell: str, own: Settings) -> Reading:
    knobs = tuple(context.tasks.knobs[name] for name in context.tasks.ratios_of(own))
    lines = {section: context.evidence(section, cell) for section in context.sections}
    numbers = {section: line.numbers for section, line in lines.items() if line}
    behaviour, failures = numbers.get("behaviour", {}), numbers.get("failures", {})
    statistics, history = numbers.get("statistics"), numbers.get("history", {})
    valid = rated.numbers["valid"] if (rated := context.rated(cell)) else None
    faults = sum(context.faults(lines.get("failures")).values())
    conflicts = sum(failures.get(name, 0.0) for name in CONFLICTS)
    regretted = None
    if history.get("gain", 0.0) < -COST_OF_A_BAD_STEP:
        regretted = next(((k.name, history[f"{k.name}_change"]) for k in knobs if history.get(f"{k.name}_change")), None)
    return Reading(
        knobs=knobs,
        valid=valid,
        sampled=behaviour.get("valid", valid),
        present={knob.name: statistics[knob.name] for knob in knobs} if statistics else None,
        preserved="preserved" in numbers,
        conflicts_dominate=faults > 0 and conflicts >= faults / 2,
        regretted=regretted,
        cited=tuple(line.id for line in lines.values() if line),
    )


def ratios(reading: Reading) -> Ratios:
    """Steps 2 to 5: the ratios of the next stage."""
    verdict = "hard" if (reading.valid or 0.5) > MASTERED else "easy" if reading.valid is not None and reading.valid < HOPELESS else "fair"
    if reading.present is None:
        return {knob.name: LADDER[verdict].get(knob.name, rung(knob, HARDNESS[verdict])) for knob in reading.knobs}
    if reading.preserved or reading.valid is None or not reading.knobs:
        return reading.present
    knobs = {knob.name: knob for knob in reading.knobs}
    if reading.regretted:
        return moved(reading.present, knobs[reading.regretted[0]], -reading.regretted[1])
    conflicts = knobs.get("wait_ratio") if reading.conflicts_dominate else None
    if verdict == "fair":
        practise = conflicts and reading.present["wait_ratio"] < MAX_PRACTICE
        return moved(reading.present, conflicts, STEP) if conflicts and practise else reading.present
    knob = conflicts or reading.knobs[0]
    return moved(reading.present, knob, knob.harder * (STEP if verdict == "hard" else -STEP))


def rung(knob: Knob, hardness: float) -> float:
    """The value of a ratio at a part of the way from its easiest to its hardest; of one that makes nothing harder, from low to high."""
    part = 1 - hardness if knob.harder < 0 else hardness
    return round(knob.low + part * (knob.high - knob.low), 3)


def moved(present: Ratios, knob: Knob, amount: float) -> Ratios:
    top = MAX_HOLE_RATIO if knob.name == "hole_ratio" else knob.high
    return present | {knob.name: round(min(max(present[knob.name] + amount, knob.low), top), 3)}


def expected(valid: float) -> float:
    return round(valid + 0.3 * valid * (1 - valid), 3)


def propose(context: Context, config: Config) -> Proposal:
    """The whole proposal for a context; deterministic. Of ``config`` it takes what it has no rule for, such as layouts."""
    readings = {name: read(context, name, config.cells[name]) for name in context.names}
    learnability = {name: SHARE_FLOOR + 4 * p * (1 - p) for name, r in readings.items() for p in [0.5 if r.sampled is None else r.sampled]}
    total = sum(learnability.values())
    cells = {
        name: config.cells[name].model_copy(update={**ratios(reading), "share": learnability[name] / total})
        for name, reading in readings.items()
    }
    claims: list[Claim] = []
    for cell in context.cells:
        claims += claims_of(cell, readings[cell.name], cells[cell.name])
    preserved = tuple(name for name, r in readings.items() if r.preserved)
    summary = summary_sentence(claims, preserved, context.words)
    return Proposal(summary=summary, claims=tuple(claims), preserved=preserved, config=config.with_cells(cells))


def claims_of(cell: Cell, reading: Reading, after: Settings) -> list[Claim]:
    """One claim a knob that moves, or one that the cell is kept."""
    now, present = after.settings(), reading.present
    changed: list[str | None] = [k.name for k in reading.knobs if present is None or abs(now[k.name] - present[k.name]) > 1e-9]
    hope = None if reading.valid is None else expected(reading.valid)
    return [
        claim_on(cell.name, cell.words, knob, present, now, evidence=reading.cited, now=reading.valid, expected=hope)
        for knob in changed or [None]
    ]
