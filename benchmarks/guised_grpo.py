"""Is a group of one board in 8 guises a better group for GRPO than 8 plans for one and the same prompt?

python -m benchmarks.guised_grpo [--seeds 3] [--steps 60] [--guised-steps 40] [--out TABLE.csv]

Both train the lab model for one stage on the same boards, as the preset `long` does, and take about the same time; a guised group costs
more, because each of its prompts has to be read. Greedy plans are measured before and after, on boards in the shape of the suite `paper`.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from trl import GRPOTrainer

from frozenlab.base import seeds
from frozenlab.base.files import as_csv, write_text
from frozenlab.base.numbers import MANY, percent
from frozenlab.experiments.studies.statistics import mean_of
from frozenlab.lake.instance import Instance
from frozenlab.lake.suites import SuiteSpec, build_suite
from frozenlab.models.evaluation import evaluate
from frozenlab.models.lab.policy import LabPolicy
from frozenlab.models.loading import load_policy
from frozenlab.models.training.runs.grpo import GRPORun, group_figures
from frozenlab.models.training.stage_run import Stage, train_stage
from frozenlab.session.presets import preset_spec
from frozenlab.tasks.families import family_of
from frozenlab.tasks.lake.guises import guises

BOARDS = 32
"""Boards of a step."""
SUITE = SuiteSpec(agents=(3, 4, 5), sizes=tuple(range(3, 11)), boards_per_cell=50, seed=20261128)


class GuisedGRPORun(GRPORun):
    """A stage of GRPO in which a group is one board in as many guises, with one plan for each."""

    def begin(self, stage: Stage) -> None:
        super().begin(stage)
        self.task_of: dict[str, Any] = dict(zip(self.prompts, stage.tasks, strict=True))

    def rollout(self, prompts: list[str], trainer: GRPOTrainer) -> dict[str, Any]:
        group, step = self.settings.completions_per_board, trainer.state.global_step
        tasks = [self.task_of[prompt] for prompt in prompts[::group]]
        self.seen = [
            guised
            for place, task in enumerate(tasks)
            for guised in in_guises(task, group, seeds.derive(self.seed, "guised-grpo/guises", step, place))
        ]
        asked = [self.policy.prompt(task) for task in self.seen]
        self.limits |= {prompt: self.policy.limit(task) for prompt, task in zip(asked, self.seen, strict=True)}
        written = self.write_plans(trainer.model, asked, 1, step)
        return {"prompt_ids": [self.policy.tokenizer(prompt)["input_ids"] for prompt in asked], "completion_ids": written, "logprobs": None}

    def reward_func(
        self, prompts: list[str], completions: list[str], completion_ids: list[list[int]], index: list[int], **_: Any
    ) -> list[float]:
        judged = self.judge(self.seen, completion_ids, 1)
        self.figures |= group_figures(judged["reward"].to_numpy().reshape(-1, self.settings.completions_per_board))
        return judged["reward"].tolist()


def in_guises(task: Instance, n: int, seed: int) -> list[Instance]:
    """The board in its first ``n`` guises, with its own optimum: a plan is as good in each."""
    best = replace(task.solution, plan=None, cheapest_plan=None)
    return [replace(task, board=guise.board(task.board), solution=best) for guise in guises(task.board.num_agents, n, seed)]


def trained(run_type: type[GRPORun], steps: int, seed: int) -> tuple[LabPolicy, float]:
    """The lab model after one stage, and the CPU seconds that the stage took."""
    spec = preset_spec("long")
    settings = spec.training.model_copy(update={"steps": steps, "boards_per_step": BOARDS})
    policy = load_policy("lab-model")
    assert isinstance(policy, LabPolicy)
    tasks = family_of("lake").draw(spec.initial_config, steps * BOARDS, seeds.derive(seed, "guised-grpo/boards"))
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        run = run_type(policy, settings, stages=1, seed=seed)
        train_stage(
            run, tasks, stage=0, folder=Path(folder), previous=None, recorded=0, report=lambda *_: None, stopping=lambda: False
        )  # fmt: skip
    return policy, time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--guised-steps", type=int, default=40)
    parser.add_argument("--out", type=Path, help="a table of all answers: method, seed, board, cell, valid, optimal")
    options = parser.parse_args()
    torch.set_num_threads(1)
    boards, tables = build_suite(SUITE, sum_of_costs=False), []
    methods = {"base": (None, 0), "GRPO": (GRPORun, options.steps), "guises": (GuisedGRPORun, options.guised_steps)}
    for seed in range(options.seeds):
        for name, (run_type, steps) in methods.items():
            policy, seconds = trained(run_type, steps, seed) if run_type else (load_policy("lab-model"), 0.0)
            answered = evaluate(policy, boards)
            tables.append(answered[["board_id", "cell", "valid", "optimal"]].assign(method=name, seed=seed))
            rates = ", ".join(f"{percent(answered[measure].mean(), MANY)} {measure}" for measure in ("valid", "optimal"))
            print(f"seed {seed}, {name}, {steps} steps, {seconds:.0f} CPU s: {rates} of {len(answered)}", flush=True)
    table = pd.concat(tables)
    if options.seeds > 1:
        for measure in ("valid", "optimal"):
            means = table.groupby(["seed", "method"])[measure].mean().unstack()
            print(f"{measure}: guises - GRPO {mean_of((means['guises'] - means['GRPO']).tolist()).change}, t interval over seeds")
    if options.out:
        write_text(options.out, as_csv(table))


if __name__ == "__main__":
    main()
