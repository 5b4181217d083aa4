"""The baselines, which read no evidence: the config stays, is even, or is drawn at random after every stage."""

from __future__ import annotations

from typing import Literal

from frozenlab.base import seeds
from frozenlab.base.cells import Config, evenly
from frozenlab.engineer.protocol import Scripted
from frozenlab.engineer.schema import Context, Proposal
from frozenlab.models.settings import LanguageSettings
from frozenlab.tasks.families import family_of


class EqualEngineer(Scripted):
    """Every cell equally often, at the ratios that the config has: what engineers that set shares only are compared with."""

    kind: Literal["equal"] = "equal"
    title = "equal shares"
    label = "every cell equally often, ratios kept"
    who = "the equal-shares baseline"
    help = "Every cell equally often; the ratios stay as they are. The baseline of engineers that set shares and keep the ratios."

    def propose(self, context: Context, config: Config, seed: int) -> Proposal:
        return Proposal(summary=f"Every {noun_of(config)} equally often.", config=evenly(config))


class UniformEngineer(Scripted):
    """Every cell equally often, with the middle of the paper's ratios, after every stage: it changes shares and ratios."""

    kind: Literal["uniform"] = "uniform"
    title = "equal shares, 30 % holes"
    label = "every cell equally often, boards at hole ratio .3 and wait ratio .5"
    who = "the baseline of equal shares, 30 % holes"
    help = (
        "Every cell equally often, with the middle of the paper's ratios on every board: hole ratio 0.3, wait ratio 0.5; the same after "
        "every stage. It changes shares and ratios; the baseline of equal shares keeps the ratios."
    )

    def ratios_of(self, config: Config, language: LanguageSettings | None = None) -> Config | None:
        return family_of(config.family).even(config)

    def propose(self, context: Context, config: Config, seed: int) -> Proposal:
        family = family_of(config.family)
        even = family.even(config)
        ratios = {knob: value for own in reversed(even.cells.values()) for knob, value in own.settings().items()}
        values = "".join(f", {family.knobs[knob].label} {ratios[knob]:.2f}" for knob in family.ratios if knob in ratios)
        return Proposal(summary=f"Every {noun_of(config)} equally often{values}.", config=even)


class RandomEngineer(Scripted):
    """Domain randomisation: a new config at random after every stage."""

    kind: Literal["random"] = "random"
    label = "shares and ratios at random"
    who = "the random baseline"
    help = (
        "After every stage it draws shares from a flat Dirichlet distribution, ratios evenly from the paper's range, and a mix of the "
        "layouts that it may use."
    )
    chooses_ratios = True

    def propose(self, context: Context, config: Config, seed: int) -> Proposal:
        rng = seeds.rng(seed, "engineer/random", -1 if context.stage is None else context.stage)
        drawn = family_of(config.family).at_random(config, rng, context.layouts)
        return Proposal(summary=f"Shares{', ratios and layouts' if context.layouts else ' and ratios'} drawn at random.", config=drawn)


class FixedEngineer(Scripted):
    """The first config stays, as in the paper's fixed environment."""

    kind: Literal["fixed"] = "fixed"
    label = "keeps the first config"
    who = "the fixed baseline"
    help = "The config stays as it is: what training alone brings."

    def propose(self, context: Context, config: Config, seed: int) -> Proposal:
        return Proposal(summary="The config stays as it is.", preserved=context.names, config=config)


def noun_of(config: Config) -> str:
    """What a cell of the config is called."""
    return "size" if all(name.isdigit() for name in config.cells) else "cell"
