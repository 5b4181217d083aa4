"""TRL's GRPO trainer for long answers of very different lengths: the same gradient from less work."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from accelerate.utils import gather_object
from trl import GRPOTrainer

from frozenlab.models.language.writers import shares_prompts
from frozenlab.models.training.runs.grpo import Batch, chosen_rows, loss_of_part, teaches
from frozenlab.models.training.scoring import score

PROMPT, COMPLETION = "prompt_mask", "completion_mask"


class LeanGRPOTrainer(GRPOTrainer):
    """TRL's trainer, which passes less through the network. TRL has no hook for it (its issues 7179 and 5413), hence a subclass.

    1. **Shorter rows.** TRL pads every completion of a step to the longest: one of 8,192 tokens makes all of them 8,192 wide. Here
       completions of like length pass together, cut to the longest of their pass.
    2. **Fewer rows.** A completion whose advantage is zero has no gradient, so it is left out. (That holds without KL term and entropy
       bonus; :class:`~frozenlab.models.training.runs.grpo.GRPORun` has neither.)
    3. **One pass instead of two.** TRL reads everything once more before it learns, for the probabilities by the policy that wrote.
       On-policy they are those of the learning pass itself.
    4. **On processors, each prompt once a pass**, and logits of completions only (:func:`~frozenlab.models.training.scoring.score`).
       The completions of a prompt pass together.

    **Sampling correction.** An engine does not give a token quite the probability that the network gives it: it rounds in other places.
    Each token's gradient is weighted by the ratio of the two (importance sampling), cut at :attr:`largest_weight`. TRL's usual way weights
    a whole answer by the product of its tokens' ratios, which for thousands of tokens leaves almost nothing of the gradient.
    """

    largest_weight: float | None = None
    """None: no token is weighted."""
    current: Batch
    """The completions that pass through the network now."""
    _buffered_inputs: list[Batch] | None

    @property
    def shares(self) -> bool:
        """Whether completions share their prompt: gradient checkpointing keeps no keys and values."""
        return shares_prompts(self.model) and not self.args.gradient_checkpointing

    def _prepare_inputs(self, generation_batch: Any) -> Batch:
        """The next pass of a step; its completions are written before the first."""
        passes = self.args.steps_per_generation
        if self._step % passes == 0 or self._buffered_inputs is None:
            self._buffered_inputs = list(in_passes(self._generate_and_score_completions(generation_batch), passes, self.shares))
        return self._buffered_inputs[self._step % passes]

    def _compute_loss(self, model: Any, inputs: Batch) -> torch.Tensor:
        """TRL's loss of the whole pass, from those of its completions that teach."""
        self.current = inputs
        if inputs["idle"]:  # the gradient is zero; only that there is one counts, for processes that add theirs together
            ids, mask = (torch.cat([inputs[part + which] for part in ("prompt_", "completion_")], 1) for which in ("ids", "mask"))
            return 0.0 * self._get_per_token_logps_and_entropies(model, ids, mask, 1)[0].sum()
        return loss_of_part(super()._compute_loss(model, inputs), self.loss_type, inputs["share"])

    def _get_per_token_logps_and_entropies(
        self, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor | None, torch.Tensor | None]:
        """As TRL's; the gradient of each log-probability is weighted by its token's ratio."""
        if self.shares:
            logps, entropies, aux_loss = *score(self.temperature, *args[:4]), None
        else:
            logps, entropies, aux_loss = super()._get_per_token_logps_and_entropies(*args, **kwargs)
        sampled = self.current.get("sampling_per_token_logps")
        if sampled is None or self.current["idle"]:
            return logps, entropies, aux_loss
        now, written = logps.detach(), (self.current[COMPLETION] * self.current.get("tool_mask", 1)).bool()
        difference = torch.where(written, now - sampled, 0.0).nan_to_num(nan=0.0)  # the engine has no number for some tokens
        for name, figure in agreement(difference[written], self.largest_weight).items():
            self._metrics["train"][f"sampling/{name}"].append(figure)
        if self.largest_weight is not None:
            logps = now + difference.exp().clamp(max=self.largest_weight) * (logps - now)
        return logps, entropies, aux_loss


def agreement(difference: torch.Tensor, largest_weight: float | None) -> dict[str, float]:
    """How far trainer and engine agree about tokens that the engine drew, from their log-probabilities by the trainer less those by the
    engine.

    ``kl`` is the Kullback-Leibler divergence of a token in nats, ``cut`` the share of tokens whose weight is cut. The mean ratio says
    little: of tokens drawn by the engine it is 1 to be expected, however different the two are.
    """
    ratio = difference.exp()
    return {
        "kl": -difference.mean().item(),
        "cut": 0.0 if largest_weight is None else (ratio > largest_weight).float().mean().item(),
        "sampling_logp_difference/mean": difference.abs().mean().item(),
        "importance_sampling_ratio/mean": ratio.mean().item(),
    }


def in_passes(step: Batch, passes: int, by_prompt: bool = False) -> Iterator[Batch]:
    """The completions of a step in ``passes`` passes: first those that teach, short ones together (``by_prompt``: those of a prompt), each
    cut to the longest of its pass. The passes that are left are idle, of one token after one.

    Processes that learn together pass the same number of rows each time: one that has fewer which teach adds others. Where nothing teaches,
    one completion passes for the figures.
    """
    rows = len(step["advantages"]) // passes
    if not step[COMPLETION].any():  # all were cut off and are masked: the figures are of one token
        alone = torch.zeros_like(step[COMPLETION]).index_fill(1, torch.zeros(1, dtype=torch.long, device=step[COMPLETION].device), 1)
        step = step | {COMPLETION: alone, "advantages": torch.zeros_like(step["advantages"])}
    lengths = step[COMPLETION].sum(1)
    teaching = teaches(step["advantages"]) & (lengths > 0)
    lengths = torch.where(lengths > 0, lengths, 1 + lengths.max())  # those that are masked come last
    needed = max(1, *gather_object([int(teaching.sum())]))
    first_those = torch.argsort(lengths - teaching * (1 + lengths.max()), stable=True)[:needed]
    order = first_those if by_prompt else lengths[first_those]
    in_order = first_those[torch.argsort(order, stable=True)]
    busy = math.ceil(needed / rows)
    for chosen in torch.tensor_split(in_order, busy):
        yield cut(step, chosen, rows)
    idle = narrowed(cut(step, lengths.argmin()[None], rows), 1, 1) | {"idle": True}
    yield from [idle] * (passes - busy)


def cut(step: Batch, chosen: torch.Tensor, rows: int) -> Batch:
    """Some completions of a step without the padding that all of them have; ``share`` is what they are of a pass of ``rows``."""
    batch = chosen_rows(step, chosen)
    longest = (int(batch[mask].sum(1).max()) for mask in (PROMPT, COMPLETION))
    return narrowed(batch, *longest) | {"idle": False, "share": len(chosen) / rows}


def narrowed(batch: Batch, prompt: int, completion: int) -> Batch:
    """The last tokens of the prompts, which are padded on the left, and the first of the completions."""

    def narrow(name: str, value: Any) -> Any:
        if not torch.is_tensor(value) or value.dim() != 2:
            return value
        return value[:, -prompt:] if name.startswith("prompt") else value[:, :completion]

    return {name: narrow(name, value) for name, value in batch.items()}
