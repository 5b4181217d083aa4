"""GRPO on the boards of a stage (Shao et al. 2024), through TRL's ``GRPOTrainer``.

TRL's: the advantages (reward less the mean of the group, over its standard deviation), the loss, the optimizer and its checkpoints. Ours:
how plans are sampled (``rollout``), what they earn (``reward_func``), and how they are scored with less work (:class:`PackedGRPOTrainer`).

It is simpler than GRPO as published, and as strict as on-policy gets:

1. Each plan is used for one step, right after it was sampled. The ratio of new to old policy is 1, so its clipping never acts.
2. There is no KL term to a reference model (``beta`` is 0), and no reference model in memory.
3. By default every token of a step counts the same (DAPO's loss), not every plan; ``loss_type`` has the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from frozenlab.base import seeds
from frozenlab.models.lab import self_assessment
from frozenlab.models.training.runs.packing import IGNORED, Example, pack
from frozenlab.models.training.runs.sft import to_example
from frozenlab.models.training.stage_run import Stage, StageRun
from frozenlab.tasks.task import Attempt
from frozenlab.tasks.vocabulary import MAX_AGENTS, MAX_TIME

Batch = dict[str, Any]
"""What the trainer knows about some completions: tensors with a row each, and numbers that hold for all of them."""


def teaches(advantages: torch.Tensor) -> torch.Tensor:
    """Whether each completion has an advantage, and so a gradient."""
    sizes = advantages.abs()
    return sizes > 1e-3 * sizes.max()  # rewards that are equal do not always equal their mean to the last bit


def chosen_rows(step: Batch, chosen: torch.Tensor) -> Batch:
    """The batch with some of its completions."""
    n = len(step["advantages"])
    return {name: value[chosen] if torch.is_tensor(value) and value.shape[:1] == (n,) else value for name, value in step.items()}


def loss_of_part(loss: torch.Tensor, loss_type: str, share: float) -> torch.Tensor:
    """The part that ``share`` of the completions has in the loss of all: DAPO divides by the tokens of the whole step anyway, the others by
    the completions that they are given."""
    return loss if loss_type == "dapo" else loss * share


LONGEST_PLAN = MAX_TIME * MAX_AGENTS + 1
"""Tokens of the longest plan that the lab dialect has words for, the end token included."""


class GRPORun(StageRun):
    """A stage in which the plans of one board are compared with each other."""

    solved: Mapping[int, float] = {}
    """Number of each board of the step -> the part of its plans that is valid."""

    def trainer(self, folder: Path) -> GRPOTrainer:
        trainer = PackedGRPOTrainer(**self.task(folder), rollout_func=self.rollout)
        if self.settings.self_assessment:
            trainer.second_loss = self.self_assessment_loss
        return self.attach(trainer)

    def self_assessment_loss(self) -> torch.Tensor:
        """What the policy should have said about each board of the step, were it asked how likely it is to solve it."""
        policy: Any = self.policy
        asked = [policy.tokenizer(policy.known(self_assessment.question(self.prompts[i])))["input_ids"] for i in self.solved]
        return self.settings.self_assessment * self_assessment.loss(policy.model, asked, list(self.solved.values()))

    def task(self, folder: Path) -> dict[str, Any]:
        """What the stage asks of any GRPO trainer, however it samples and scores."""
        return {
            "model": self.policy.model,
            "processing_class": self.policy.tokenizer,
            "args": GRPOConfig(**self.arguments(folder)),
            "train_dataset": self.dataset(),
            "reward_funcs": self.reward_func,
        }

    def arguments(self, folder: Path) -> dict[str, Any]:
        settings = self.settings
        return super().arguments(folder) | {
            "per_device_train_batch_size": settings.plans_per_step,
            "num_generations": settings.completions_per_board,
            # The loss dr_grpo divides by it: of what is left of a resumed stage, the longest would be another one.
            "max_completion_length": LONGEST_PLAN if settings.loss_type == "dr_grpo" else max(self.limits.values(), default=1),
            "temperature": settings.temperature,
            "loss_type": settings.loss_type,
            "scale_rewards": settings.scale_rewards,
            "beta": 0.0,
        }

    def dataset(self) -> Dataset:
        """One row a board: what the policy is asked, and the board's number."""
        return Dataset.from_dict({"prompt": self.prompts, "index": list(range(len(self.prompts)))})

    def rollout(self, prompts: list[str], trainer: GRPOTrainer) -> dict[str, Any]:
        """Samples the groups; TRL hands each prompt over once for each completion it wants. No sampling log-probabilities: on-policy."""
        group = self.settings.completions_per_board
        completions = self.write_plans(trainer.model, prompts[::group], group, trainer.state.global_step)
        ids = [self.policy.tokenizer(prompt)["input_ids"] for prompt in prompts[::group]]
        return {"prompt_ids": [prompt for prompt in ids for _ in range(group)], "completion_ids": completions, "logprobs": None}

    def reward_func(
        self, prompts: list[str], completions: list[str], completion_ids: list[list[int]], index: list[int], **_: Any
    ) -> list[float]:
        """The reward of each completion; keeps the step's figures and the first boards' completions on the way."""
        group = self.settings.completions_per_board
        judged = self.judge([self.stage.tasks[i] for i in index[::group]], completion_ids, group)
        valid = judged["valid"].to_numpy(dtype=float).reshape(-1, group).mean(axis=1)
        self.solved = dict(zip(index[::group], valid.tolist(), strict=True))
        self.figures |= self.group_figures(self.everywhere(judged), group)
        return judged["reward"].tolist()

    def group_figures(self, judged: pd.DataFrame, group: int) -> dict[str, float]:
        """How far rewards differ within groups."""
        return group_figures(judged["reward"].to_numpy().reshape(-1, group))


class ShownGRPORun(GRPORun):
    """A stage of GRPO in which plans of the teacher take the places of the last quarter of each group, one at least.

    They count as if the policy had written them: their ratio is 1, too. All figures but those of the groups are of the policy's own plans,
    which are written for every place.
    """

    def begin(self, stage: Stage) -> None:
        super().begin(stage)
        self.task_of = dict(zip(self.prompts, stage.tasks, strict=True))

    def rollout(self, prompts: list[str], trainer: GRPOTrainer) -> dict[str, Any]:
        rolled = super().rollout(prompts, trainer)
        self.own = list(rolled["completion_ids"])
        family, group, step = self.policy.family, self.settings.completions_per_board, trainer.state.global_step
        assert family.teacher is not None, "the spec checks that the family has one"
        places = [place for place in range(len(prompts)) if place % group >= group - max(1, group // 4)]
        rngs = [seeds.rng(self.seed, "training/demonstrations", step, place) for place in places]
        attempts = [Attempt(self.task_of[prompts[place]], "", rng) for place, rng in zip(places, rngs, strict=True)]
        self.shown = {place: shown for place, shown in zip(places, family.teacher.answers(attempts), strict=True) if shown}
        for place, shown in self.shown.items():
            rolled["completion_ids"][place] = list(to_example("", shown.learned).completion)
        return rolled

    def reward_func(
        self, prompts: list[str], completions: list[str], completion_ids: list[list[int]], index: list[int], **_: Any
    ) -> list[float]:
        rewards = super().reward_func(prompts, completions, self.own, index)
        for place in self.shown:
            task = self.stage.tasks[index[place]]
            judged = self.policy.family.judge(task, self.policy.read(task, self.policy.completion(completion_ids[place])))
            rewards[place] = judged.reward(self.settings.optimality)
        self.figures |= group_figures(np.array(rewards).reshape(-1, self.settings.completions_per_board))
        return rewards


class PackedGRPOTrainer(GRPOTrainer):
    """TRL's trainer with the same gradient from a third of the work; a subclass, because TRL has no hook for how completions are scored.

    TRL pads all completions of a step to the longest, reads the prompt of a group again for each of them, and scores those that teach
    nothing too. Groups are packed behind their prompts (:mod:`frozenlab.models.training.runs.packing`), and a completion whose advantage
    is zero is left out. It is for texts, attention that takes a mask (``sdpa`` or ``eager``), and losses in which a completion without
    advantage has no gradient: no KL term and no entropy bonus.
    """

    LONGEST = 256
    """Maximum tokens per packed sequence. Beyond this, masked attention costs more than reading the prompt again."""
    BATCH = 1024
    """Tokens that pass the network together: what they leave on a CPU stays in its cache. Twice or four times as many took longer."""
    second_loss: Callable[[], torch.Tensor] | None = None
    """Added to the loss of a step."""

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        """TRL's loss of all completions, from those that have an advantage; the entropy it logs is theirs."""
        advantages = inputs["advantages"]
        teaching = torch.nonzero(teaches(advantages)).flatten()
        if not len(teaching):
            teaching = torch.zeros(1, dtype=torch.long, device=advantages.device)  # a loss of zero that has a gradient
        loss = super()._compute_loss(model, chosen_rows(inputs, teaching))
        whole = loss_of_part(loss, self.loss_type, len(teaching) / len(advantages))
        return whole if self.second_loss is None else whole + self.second_loss()

    def _get_per_token_logps_and_entropies(
        self, model: Any, input_ids: torch.Tensor, attention_mask: torch.Tensor, logits_to_keep: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor | None, None]:
        """As TRL's, (rows, logits_to_keep) each; values on padding are 0, which the loss masks anyway."""
        prompts, completions = (
            [tuple(ids[kept].tolist()) for ids, kept in zip(part, mask.bool(), strict=True)]
            for part, mask in zip(
                input_ids.tensor_split([-logits_to_keep], 1), attention_mask.tensor_split([-logits_to_keep], 1), strict=True
            )
        )
        logps, entropies, places = [], [], []
        for packed in pack(list(map(Example, prompts, completions)), self.LONGEST, self.BATCH, input_ids.device):
            with self.accelerator.autocast():
                out = model(
                    input_ids=packed.ids,
                    attention_mask=packed.attention_mask,
                    position_ids=packed.positions,
                    shift_labels=packed.labels,
                    fused_lm_head=True,
                )
            scored = packed.labels != IGNORED
            logps.append(out.log_probs[scored])
            entropies.append(out.entropy[scored])
            places.append(packed.places)
        rows, columns = torch.cat(places).unbind(1)
        empty = logps[0].new_zeros(len(input_ids), logits_to_keep)
        logps, entropies = (empty.index_put((rows, columns), torch.cat(values)) for values in (logps, entropies))
        return logps, entropies, None


def group_figures(rewards: np.ndarray, valid: np.ndarray | None = None) -> dict[str, float]:
    """How far rewards differ within groups, (boards, plans); ``mixed`` is the share of groups whose rewards differ, which alone teach, and
    which with ``valid`` have a valid plan too."""
    mixed = np.ptp(rewards, axis=1) > 1e-9
    if valid is not None:
        mixed &= valid.any(axis=1)
    return {"reward_std": float(rewards.std(axis=1).mean()), "mixed": float(mixed.mean())}
