"""Teaching the lab model's engineer from measured outcomes of proposals, in addition to the rules that it imitates at first.

A table of outcomes (:mod:`frozenlab.tasks.lake.lab_model.outcomes`) has several proposals for each evidence, with their gains. They are
few, and the gains are noisy, so most of the teaching goes through an *outcome model*: a ridge regression of the gain on features of the
config. It chooses the best of many candidates for synthetic contexts, which are taught like the rules' answers; where a context does not
say what the model needs, the rules answer. The best measured proposals are taught too, and solved boards, so that planning is not
forgotten.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from frozenlab import seeds
from frozenlab.cells import Config
from frozenlab.engineer.dialects.lab import render_context, render_proposal
from frozenlab.engineer.engineers import RandomEngineer, rules
from frozenlab.engineer.engineers.human import proposal_of
from frozenlab.engineer.guard import guard
from frozenlab.engineer.schema import Context
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import KNOBS
from frozenlab.lake.suites import held_out
from frozenlab.policy.lab.policy import LabPolicy
from frozenlab.tasks.lake.lab_model.proposals import draw_context, even_config
from frozenlab.tasks.lake.lab_model.warm_start import Progress, WarmStartSettings, solved_boards, train
from frozenlab.training.examples import Example, to_example

PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Penalties of the ridge regression, in units of the number of rows. The one with the least error on left-out evidences is used."""
FEATURES = ("holes", "waits", "size", "valid", "evenness")


@dataclass(frozen=True)
class TeachSettings:
    """Composition and length of the teaching."""

    contexts: int = 4000
    """Number of synthetic contexts."""
    candidates: int = 32
    """Candidate configs per context, of which the outcome model chooses one."""
    measured: int = 400
    """Number of measured proposals to learn, drawn by :func:`weights`; a proposal may be drawn many times."""
    temperature: float = 0.01
    """Temperature of the weights: a gain that is better by this much counts e times as much."""
    boards: int = 8000
    """Number of solved boards, so that planning is not forgotten."""
    presentations: int = 8000
    proposal_share: float = 0.5
    learning_rate: float = 5e-4
    seed: int = 0


# --- the outcome model ----------------------------------------------------------------------------------------------


def centred(table: pd.DataFrame) -> pd.Series:
    """The gains relative to the mean of their evidence (and replicate), the only comparable measure of proposals."""
    return table["gain"] - table.groupby(["evidence", "replicate"])["gain"].transform("mean")


def weights(table: pd.DataFrame, temperature: float) -> pd.Series:
    """How often each row is taught: a softmax of the gains of an evidence, over its proposals; every evidence counts the same.

    A proposal that was measured several times counts by its mean gain, each row having its part of the weight.
    """
    proposal = ["evidence", "author", "number"]
    mean = centred(table).groupby([table[name] for name in proposal]).transform("mean")
    raw = np.exp((mean - mean.groupby(table["evidence"]).transform("max")) / temperature)
    raw /= table.groupby(proposal)["gain"].transform("size")
    return raw / raw.groupby(table["evidence"]).transform("sum") / table["evidence"].nunique()


def features(config: Config, valid: Mapping[str, float]) -> NDArray[np.float64]:
    """FEATURES of a config: over the boards that are drawn from it, the mean hole ratio, wait ratio, map size (in tens) and the valid rate
    (0..1, by cell) that the policy has on their cell; and how evenly they are spread over the cells (entropy, 1 = evenly)."""
    shares = np.array([cell.share for cell in config.cells.values()])
    of_cell = np.array([[cell.hole_ratio, cell.wait_ratio, cell.size / 10, valid[name]] for name, cell in config.cells.items()])
    entropy = -(shares * np.log(np.maximum(shares, 1e-12))).sum()
    return np.array([*(shares @ of_cell), entropy / np.log(len(shares)) if len(shares) > 1 else 1.0])


@dataclass(frozen=True)
class OutcomeModel:
    """Features of a config -> its gain, up to a constant of the evidence."""

    slopes: NDArray[np.float64]
    """Gain (a rate) per unit of each of FEATURES."""
    penalty: float
    skill: float
    """Correlation within evidences of measured gains with predictions for left-out evidences."""

    def value(self, config: Config, valid: Mapping[str, float]) -> float:
        return float(features(config, valid) @ self.slopes)


def fit(table: pd.DataFrame) -> OutcomeModel:
    """Fit the model to a table of outcomes, and choose its penalty by cross-validation. Raises ValueError for less than two evidences."""
    if table["evidence"].nunique() < 2:
        raise ValueError("an outcome model needs at least two evidences: it is validated on evidences that it has not seen")
    seen, gains = design(table), centred(table).to_numpy()
    scale = seen.std(axis=0)
    scale[scale < 1e-12] = 1.0
    errors, guesses = {}, {}
    for penalty in PENALTIES:
        guesses[penalty] = left_out(seen / scale, gains, table["evidence"].to_numpy(), penalty)
        errors[penalty] = float(((gains - guesses[penalty]) ** 2).sum())
    best = min(errors, key=errors.__getitem__)
    moved = np.ptp(guesses[best]) > 0 and np.ptp(gains) > 0
    skill = float(stats.pearsonr(guesses[best], gains).statistic) if moved else 0.0
    return OutcomeModel(ridge(seen / scale, gains, best) / scale, best, skill)


def design(table: pd.DataFrame) -> NDArray[np.float64]:
    """(rows, FEATURES), relative to the mean of the evidence."""
    valid = [valid_before(*row) for row in zip(table["sizes"], table["answers_before"], strict=True)]
    rows = np.array([features(EnvironmentConfig.from_json(after), read) for after, read in zip(table["after"], valid, strict=True)])
    means = pd.DataFrame(rows, index=table.index).groupby([table["evidence"], table["replicate"]]).transform("mean")
    return rows - means.to_numpy()


def valid_before(sizes: str, answers: str) -> dict[str, float]:
    """Map size, the name of its cell -> the valid rate (0..1) in a row's evidence."""
    rates = pd.Series([answer == "1" for answer in answers]).groupby(json.loads(sizes)).mean()
    return {str(size): float(rate) for size, rate in rates.items()}


def ridge(seen: NDArray[np.float64], gains: NDArray[np.float64], penalty: float) -> NDArray[np.float64]:
    return np.linalg.solve(seen.T @ seen + penalty * len(seen) * np.eye(seen.shape[1]), seen.T @ gains).astype(np.float64)


def left_out(seen: NDArray[np.float64], gains: NDArray[np.float64], groups: NDArray[np.int64], penalty: float) -> NDArray[np.float64]:
    """Predictions for each row by a model fitted without the row's group."""
    guesses = np.empty_like(gains)
    for group in np.unique(groups):
        out = groups == group
        guesses[out] = seen[out] @ ridge(seen[~out], gains[~out], penalty)
    return guesses


# --- what is taught --------------------------------------------------------------------------------------------------


def worded(context: Context, before: EnvironmentConfig, after: Config) -> str:
    """A config as a proposal in the lab dialect that cites all evidence. Readings and predictions are those of the rules."""
    now = {name: line.numbers["valid"] for name in context.names if (line := context.evidence("failures", name))}
    cited = {name: [line.id for section in context.sections if (line := context.evidence(section, name))] for name in context.names}
    expected = {name: rules.expected(valid) for name, valid in now.items()}
    return render_proposal(context, proposal_of(before, after, now=now, expected=expected, cited=cited))


def told_config(context: Context) -> EnvironmentConfig | None:
    """The config that a context states; None if it does not state all of it."""
    lines = [(cell.place, context.evidence("statistics", cell.name)) for cell in context.cells]
    cells = [place | {knob: line.numbers[knob] for knob in KNOBS} for place, line in lines if line]
    return EnvironmentConfig.model_validate({"cells": cells}) if len(cells) == len(lines) else None


def blend(one: Config, other: Config, part: float) -> Config:
    """The config at fraction ``part`` (0..1) of the way from one config to the other."""
    cells = {
        name: cell.model_copy(update={knob: (1 - part) * getattr(cell, knob) + part * getattr(other.cells[name], knob) for knob in KNOBS})
        for name, cell in one.cells.items()
    }
    return one.with_cells(cells)


def answer(context: Context, outcome: OutcomeModel, settings: TeachSettings, rng: np.random.Generator) -> str:
    """The answer to teach: among the rules' config, the current one and random steps from these, the one with the best predicted gain; the
    rules' answer if the context does not state config and valid rates."""
    before, ruled = told_config(context), rules.propose(context, even_config(context))
    read = {name: line.numbers["valid"] for name in context.names if (line := context.evidence("failures", name))}
    if before is None or len(read) < len(context.cells):
        return render_proposal(context, ruled)
    candidates = [ruled.config, before]
    while len(candidates) < settings.candidates:
        drawn = RandomEngineer().propose(context, before, int(rng.integers(2**31))).config
        candidates.append(blend(candidates[int(rng.integers(2))], drawn, rng.uniform()))
    allowed = [guard(candidate, before)[0] for candidate in candidates]
    return worded(context, before, max(allowed, key=lambda config: outcome.value(config, read)))


def lessons(table: pd.DataFrame, outcome: OutcomeModel, settings: TeachSettings) -> list[Example]:
    """The proposals to learn: synthetic contexts with their answers, and measured proposals."""
    rng = seeds.rng(settings.seed, "teach/lessons")
    contexts = [draw_context(rng) for _ in range(settings.contexts)]
    invented = [to_example(render_context(context), answer(context, outcome, settings, rng)) for context in contexts]
    drawn = rng.choice(len(table), settings.measured, p=weights(table, settings.temperature).to_numpy())
    return invented + [to_example(table["prompt"].iloc[i], table["completion"].iloc[i]) for i in drawn]


def teach(
    policy: LabPolicy, table: pd.DataFrame, outcome: OutcomeModel, settings: TeachSettings, report: Callable[[Progress], None]
) -> None:
    """Train ``policy`` in place, like the warm start, at a smaller rate."""
    solved = solved_boards(settings.boards, seeds.derive(settings.seed, "teach/boards"), held_out())
    proposals: Sequence[Example] = lessons(table, outcome, settings)
    warm = WarmStartSettings(
        presentations=settings.presentations,
        demonstration_share=settings.proposal_share,
        learning_rate=settings.learning_rate,
        compiled=False,
        insight_weight=0.0,
        seed=settings.seed,
    )
    train(policy, solved, proposals, warm, report)
