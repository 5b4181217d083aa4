"""The speed of a step of a GRPO stage and of the same step of plain TRL, and where the time goes.

    python -m benchmarks.stage_speed [--curves 30]

*Plain* is TRL's ``GRPOTrainer`` as it comes: default generation by transformers, default scoring; the model, boards, group, loss, optimizer
and judge are the same. Both take turns from the same weights in one process on one thread, and CPU time is measured: a busy machine slows
both sides. A ratio is the median over the turns. ``--curves`` trains both for some steps from the same weights, on the same boards, with
draws of their own, and tells whether their rewards and their greedy plans on held-out boards afterwards differ by more than chance.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
import torch
from transformers import TrainerControl, TrainerState, TrainingArguments
from trl import GRPOTrainer

from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.instance import Instance
from frozenlab.lake.suites import SUITES, build_suite, held_out
from frozenlab.models.evaluation import evaluate
from frozenlab.models.folders import policy_folder
from frozenlab.models.lab.policy import LabPolicy
from frozenlab.models.training.methods import TrainingSettings
from frozenlab.models.training.runs.grpo import GRPORun
from frozenlab.models.training.stage_run import Stage

TURNS, STEPS = 3, 3
"""Turns of each side, and steps in a turn; the first step of a turn, in which memory is made ready, is not counted."""
PARTS = {
    "rollout": "writing plans",
    "_generate_single_turn": "writing plans",
    "reward_func": "judging",
    "_get_per_token_logps_and_entropies": "scoring",
    "backward": "backward",
}
"""Methods of the run, the trainer and the accelerator -> their names in the table; the rest of a step is TRL's and the optimizer's."""


class Ours(GRPORun):
    """The stage as it runs in a session, with a clock at its parts."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.spent: list[dict[str, float]] = []
        self.judged: list[dict[str, float]] = []

    def trainer(self, folder: Path) -> GRPOTrainer:
        self.clock(self)
        trainer = super().trainer(folder)
        self.clock(trainer)
        self.clock(trainer.accelerator)
        return trainer

    def clock(self, of: Any) -> None:
        """Adds up the CPU time of the parts that ``of`` has."""
        for method, part in PARTS.items():
            if hasattr(of, method):
                setattr(of, method, self.clocked(getattr(of, method), part))

    def clocked(self, do: Callable[..., Any], part: str) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            began = time.process_time()
            try:
                return do(*arguments, **named)
            finally:
                self.spent[-1][part] = self.spent[-1].get(part, 0.0) + time.process_time() - began

        return timed

    def on_step_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **named: Any) -> None:
        super().on_step_begin(args, state, control, **named)
        self.spent.append({"step": -time.process_time()})

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **named: Any) -> None:
        super().on_step_end(args, state, control, **named)
        self.spent[-1]["step"] += time.process_time()
        self.judged.append(self.figures)
        control.should_save = False


class Plain(Ours):
    """The same stage on TRL alone."""

    def trainer(self, folder: Path) -> GRPOTrainer:
        self.clock(self)
        trainer = GRPOTrainer(**self.task(folder))
        self.clock(trainer)
        self.clock(trainer.accelerator)
        return self.attach(trainer)


def train(kind: type[Ours], policy: LabPolicy, boards: Sequence[Instance], settings: TrainingSettings, seed: int) -> Ours:
    """Trains ``policy`` in place on all ``boards``, from its weights and with a fresh optimizer."""
    run = kind(policy, settings, stages=1, seed=seed)
    run.begin(Stage(boards))
    with tempfile.TemporaryDirectory() as folder:
        trainer = run.trainer(Path(folder))
        trainer.train()
    policy.model.eval()
    return run


def measure_speed(name: str, boards: Sequence[Instance], settings: TrainingSettings, turns: int) -> None:
    """Prints steps and completions a second of both sides, their ratio, and the share of each part."""
    parts: dict[type[Ours], list[pd.Series]] = {Ours: [], Plain: []}
    for turn in range(turns):
        for kind, means in parts.items():
            run = train(kind, LabPolicy.load(policy_folder(name)), boards, settings, seed=turn)
            means.append(pd.DataFrame(run.spent[1:]).fillna(0.0).mean())
    completions = settings.plans_per_step
    table = pd.DataFrame({kind.__name__.lower(): pd.DataFrame(means).median() for kind, means in parts.items()})
    table.loc["the rest"] = 2 * table.loc["step"] - table.sum()
    ratio = median(plain["step"] / ours["step"] for ours, plain in zip(parts[Ours], parts[Plain], strict=True))
    print(
        f"\n{settings.boards_per_step} boards x {settings.completions_per_board} plans a step, CPU seconds on one thread, median of {turns}"
    )
    print(table.round(3).to_string())
    for kind in table:
        print(f"{kind}: {1 / table.loc['step', kind]:.2f} steps/s, {completions / table.loc['step', kind]:.0f} completions/s")
    print(f"a step of ours is {ratio:.1f} times as fast as one of plain TRL", flush=True)


def compare_curves(name: str, boards: Sequence[Instance], settings: TrainingSettings) -> None:
    """Prints the reward of both along the steps, their held-out rates afterwards, and the differences with their standard errors."""
    suite = build_suite(SUITES["session"])
    curves, after = {}, {"before": evaluate(LabPolicy.load(policy_folder(name)), suite)}
    for kind in (Ours, Plain):
        policy = LabPolicy.load(policy_folder(name))
        run = train(kind, policy, boards, settings, seed=0)
        side = kind.__name__.lower()
        curves[side] = pd.DataFrame(run.judged)[["reward", "valid", "optimal"]]
        after[side] = evaluate(policy, suite)
    every = max(1, settings.steps // 6)
    blocks = pd.concat(curves, axis=1).groupby(np.arange(settings.steps) // every * every + 1).mean()
    print(f"\nMeans over {every} steps, from the step on that is named:\n{blocks.round(3).to_string()}")
    print("\nDifference of ours and plain over all steps (the same boards in each step):")
    for figure in ("reward", "valid", "optimal"):
        print(f"{figure:8}{paired(curves['ours'][figure], curves['plain'][figure])}")
    print(f"\nGreedy on the {len(suite)} boards of the suite 'session':")
    for side, rows in after.items():
        print(f"{side:8}valid {rows['valid'].mean():.3f}  optimal {rows['optimal'].mean():.3f}")
    for figure in ("valid", "optimal"):
        print(f"{figure:8}{paired(after['ours'][figure].astype(float), after['plain'][figure].astype(float))}")


def paired(left: pd.Series, right: pd.Series) -> str:
    """The mean difference with its standard error."""
    difference = left - right
    return f"{difference.mean():+.4f} +- {difference.std() / len(difference) ** 0.5:.4f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line; see ``--help``."""
    parser = argparse.ArgumentParser(description="Time a GRPO step against plain TRL.")
    parser.add_argument("--policy", default="lab-model", help="lab-model or a checkpoint folder")
    parser.add_argument("--agents", type=int, default=2)
    parser.add_argument("--sizes", type=int, nargs="+", default=[3, 4, 5, 6, 7, 8], help="map sizes")
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--curves", type=int, metavar="STEPS", help="compare the learning curves over so many steps instead")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", "You are using 'rollout_func'")
    settings = TrainingSettings(steps=options.curves or 1 + STEPS)
    config = EnvironmentConfig.uniform(tuple(options.sizes), agents=options.agents)
    boards = generate(config, settings.steps * settings.boards_per_step, seed=0, exclude=held_out())
    if options.curves:
        compare_curves(options.policy, boards, settings)
    else:
        measure_speed(options.policy, boards, settings, options.turns)


if __name__ == "__main__":
    main()
