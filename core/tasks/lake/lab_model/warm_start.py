"""The warm start: train the lab model from scratch on solver plans and on an engineer's proposals (supervised, before any RL).

    python -m frozenlab.tasks.lake.lab_model.warm_start --out assets/lab-model

The model card in ``assets/lab-model`` gives the settings of the shipped weights.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy, scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
from transformers.modeling_outputs import BaseModelOutputWithPast

from frozenlab import seeds
from frozenlab.lake.board import Board
from frozenlab.lake.config import PAPER_SIZES
from frozenlab.lake.draw.generator import random_instances
from frozenlab.lake.rules import Paths, walk
from frozenlab.lake.suites import held_out
from frozenlab.policy.lab.model import build_network, build_tokenizer, grown
from frozenlab.policy.lab.policy import LabPolicy
from frozenlab.tasks.lake.dialects.vocabulary import ENGINEER, ID_OF, PLAN
from frozenlab.tasks.lake.lab_model.auxiliary import IGNORED, Insight, InsightHead, insight, nothing_to_see
from frozenlab.tasks.lake.lab_model.guises import guise, plan_example
from frozenlab.tasks.lake.lab_model.proposals import demonstrations
from frozenlab.tasks.lake.teacher import padded
from frozenlab.training.examples import Example, to_example
from frozenlab.training.optimizers import MuonAndAdamW, fast_bfloat16

TEAM_WEIGHTS = {2: 0.3, 3: 0.3, 4: 0.25, 5: 0.15}
"""Agents -> share of the solved boards."""
HOLE_RATIOS = (0.1, 0.2, 0.3, 0.4, 0.5)
DEFAULT_BOARDS, DEFAULT_PROPOSALS = 120_000, 40_000
POOL = 4096
"""Examples that are drawn at once, sorted by length and cut into batches, to reduce padding."""


@dataclass(frozen=True)
class WarmStartSettings:
    """Length and rate of the training."""

    presentations: int = 340_000
    """Total number of examples shown. A solved board counts each time it is shown, each time in another variant."""
    demonstration_share: float = 0.08
    """Share of examples that are an engineer's proposals."""
    batch_tokens: int = 2048
    """Tokens in one batch, padding included."""
    batch_rows: int = 256
    """Most examples in one batch."""
    learning_rate: float = 3e-3
    """Peak rate, reached after ``warmup`` of the run; then it falls to zero linearly."""
    warmup: float = 0.02
    weight_decay: float = 0.01
    gradient_norm: float = 1.0
    compiled: bool = True
    """Whether to compile the network first: a minute that pays off within three."""
    bfloat16: bool = field(default_factory=fast_bfloat16)
    """Whether matrix products are computed in 16 bits: faster if the processor has instructions for them, otherwise many times slower."""
    insight_weight: float = 0.3
    """Weight of the auxiliary targets in the loss; see :mod:`frozenlab.tasks.lake.lab_model.auxiliary`."""
    seed: int = 0


@dataclass(frozen=True)
class Lesson:
    """One presentation: an example, and the auxiliary targets of each word of its completion."""

    example: Example
    insight: Insight


@dataclass(frozen=True)
class Progress:
    """Progress of the warm start, reported every hundred optimizer steps."""

    step: int
    presentations: int
    seconds: float
    plan_loss: float
    """Mean cross-entropy of the plans' tokens since the last report, in nats; NaN if none was shown."""
    proposal_loss: float
    """The same for the proposals."""


def train(
    policy: LabPolicy,
    solved: Sequence[tuple[Board, Paths]],
    proposals: Sequence[Example],
    settings: WarmStartSettings,
    report: Callable[[Progress], None],
    report_every: int = 100,
) -> None:
    """Train ``policy`` in place on the completions (not the prompts). ``solved`` are square boards with plans of equal length for all
    agents."""
    model, rng = policy.model.train(), seeds.rng(settings.seed, "warm-start/lessons")
    model.set_attn_implementation(FLOAT32_ATTENTION)
    trunk = torch.compile(model.model, dynamic=True) if settings.compiled else model.model
    head = InsightHead(model.config.hidden_size, settings.seed)
    optimizer = MuonAndAdamW(model, settings.learning_rate, weight_decay=settings.weight_decay, others=head.parameters())
    started, shown, step = time.monotonic(), 0, 0
    losses: dict[int, list[torch.Tensor]] = {ID_OF[PLAN]: [], ID_OF[ENGINEER]: []}
    while shown < settings.presentations:
        pool = draw(solved, proposals, min(POOL, settings.presentations - shown), settings.demonstration_share, rng)
        for batch in batches(pool, settings, rng):
            rate = learning_rate(shown / settings.presentations, settings)
            with torch.autocast("cpu", torch.bfloat16, enabled=settings.bfloat16):
                hidden, targets = completion_states(trunk, [lesson.example for lesson in batch])
                logits = model.lm_head(hidden)
            each = cross_entropy(logits.float(), targets, reduction="none")
            insight_loss = head.loss(hidden.float(), [lesson.insight for lesson in batch])
            (each.mean() + settings.insight_weight * insight_loss).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), settings.gradient_norm)
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.step()
            optimizer.zero_grad()
            shown, step = shown + len(batch), step + 1
            tasks = torch.tensor([lesson.example.prompt[0] for lesson in batch for _ in lesson.example.completion])
            for task, of_task in losses.items():
                of_task.append(each.detach()[tasks == task])
            if step % report_every == 0:
                report(Progress(step, shown, time.monotonic() - started, *(float(torch.cat(part).mean()) for part in losses.values())))
                losses = {task: [] for task in losses}
    model.set_attn_implementation("sdpa")
    model.eval()


def draw(
    solved: Sequence[tuple[Board, Paths]], proposals: Sequence[Example], n: int, share: float, rng: np.random.Generator
) -> list[Lesson]:
    """``n`` examples: proposals at the given share, otherwise solved boards, each in a new variant."""
    n_proposals = int(rng.binomial(n, share)) if proposals else 0
    shown = [proposals[i] for i in rng.integers(len(proposals), size=n_proposals)] if proposals else []
    lessons = [Lesson(example, nothing_to_see(len(example.completion))) for example in shown]
    for i in rng.integers(len(solved), size=n - n_proposals):
        board, paths = solved[i]
        board, paths = guise(board, paths, rng)
        lessons.append(Lesson(plan_example(board, paths), insight(board, paths)))
    return lessons


def batches(pool: list[Lesson], settings: WarmStartSettings, rng: np.random.Generator) -> Iterator[list[Lesson]]:
    """Cut the pool into batches of examples of about the same length, in random order."""
    cut: list[list[Lesson]] = [[]]
    for lesson in sorted(pool, key=lambda lesson: lesson.example.length):  # ascending: the newest is the longest of its batch
        if len(cut[-1]) == settings.batch_rows or (len(cut[-1]) + 1) * lesson.example.length > settings.batch_tokens:
            cut.append([])
        cut[-1].append(lesson)
    for i in rng.permutation(len(cut)):
        if cut[i]:
            yield cut[i]


def learning_rate(done: float, settings: WarmStartSettings) -> float:
    """Factor of the learning rate: rises linearly over the warmup, then falls to zero. ``done`` is the completed fraction of the run."""
    rising = (done + 1e-3) / settings.warmup
    return settings.learning_rate * min(1.0, rising, (1 - done) / (1 - settings.warmup))


def completion_states(trunk: Callable[..., BaseModelOutputWithPast], batch: Sequence[Example]) -> tuple[torch.Tensor, torch.Tensor]:
    """The last hidden state (words, width) from which each completion word is predicted, and the word's id, in the order of the batch.

    Padding is on the right, where causal attention needs no mask to skip it.
    """
    width = max(example.length for example in batch)
    ids = torch.zeros(len(batch), width, dtype=torch.long)
    targets = torch.full((len(batch), width), IGNORED)
    for row, example in enumerate(batch):
        ids[row, : example.length] = torch.tensor(example.prompt + example.completion)
        # The token at place p is predicted at place p - 1.
        targets[row, len(example.prompt) - 1 : example.length - 1] = torch.tensor(example.completion)
    learnt = targets != IGNORED
    hidden = trunk(input_ids=ids, use_cache=False).last_hidden_state
    return hidden[learnt], targets[learnt]


def causal_float32(
    module: torch.nn.Module, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: None, **options: Any
) -> tuple[torch.Tensor, None]:
    """Causal attention in 32 bits under a 16 bit autocast: on CPUs, matrix products are faster in bfloat16 but the attention kernel is much
    slower."""
    with torch.autocast("cpu", enabled=False):
        out = scaled_dot_product_attention(query.float(), key.float(), value.float(), is_causal=True, scale=options["scaling"])
    return out.transpose(1, 2).contiguous(), None


FLOAT32_ATTENTION = "causal-float32"
AttentionInterface.register(FLOAT32_ATTENTION, causal_float32)
AttentionMaskInterface.register(FLOAT32_ATTENTION, ALL_MASK_ATTENTION_FUNCTIONS["sdpa"])


def solved_boards(n: int, seed: int, exclude: NDArray[np.uint64]) -> list[tuple[Board, Paths]]:
    """About ``n`` boards of sizes 3..10 with optimal plans, without those that have a canonical hash in ``exclude``."""
    solved = []
    for team, weight in TEAM_WEIGHTS.items():
        for instance in random_instances(PAPER_SIZES, [team], HOLE_RATIOS, round(n * weight), seed, exclude=exclude):
            assert instance.solution.plan is not None
            solved.append((instance.board, padded(walk(instance.board, instance.solution.plan))))
    return solved


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line; see ``--help``."""
    defaults = WarmStartSettings()
    parser = argparse.ArgumentParser(description="Train the lab model from scratch on solver plans and engineer demonstrations.")
    parser.add_argument("--out", type=Path, required=True, help="checkpoint folder to write")
    parser.add_argument("--boards", type=int, default=DEFAULT_BOARDS, help="solved boards to learn from")
    parser.add_argument("--proposals", type=int, default=DEFAULT_PROPOSALS, help="engineer demonstrations to learn from")
    parser.add_argument("--presentations", type=int, default=defaults.presentations, help="examples shown in all")
    parser.add_argument("--learning-rate", type=float, default=defaults.learning_rate, help="the peak")
    share = defaults.demonstration_share
    parser.add_argument("--demonstration-share", type=float, default=share, help="part of the examples that are engineer demonstrations")
    parser.add_argument("--mixed-share", type=float, default=0.0, help="part of the engineer demonstrations that mix teams")
    parser.add_argument("--seed", type=int, default=defaults.seed, help="seed of the untrained weights, the boards and their order")
    parser.add_argument(
        "--continue-from", type=Path, help="checkpoint folder to continue from, with a fresh optimizer (default: from scratch)"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--save-every", type=int, default=500, help="optimizer steps between intermediate checkpoints in OUT/step-N")
    options = parser.parse_args(arguments)

    torch.set_num_threads(options.threads)
    settings = WarmStartSettings(
        presentations=options.presentations,
        demonstration_share=options.demonstration_share,
        learning_rate=options.learning_rate,
        seed=options.seed,
    )
    source = options.continue_from
    network = grown(LabPolicy.load(source).model, options.seed) if source else build_network(options.seed)
    policy = LabPolicy(network, build_tokenizer())
    solved = solved_boards(options.boards, seeds.derive(options.seed, "warm-start/boards"), held_out())
    proposals = [to_example(*pair) for pair in demonstrations(options.proposals, options.seed, options.mixed_share)]
    print(f"{policy.model.num_parameters()} parameters, {len(solved)} boards, {len(proposals)} proposals, {settings}", flush=True)

    def report(progress: Progress) -> None:
        print(
            f"step {progress.step}  shown {progress.presentations}  {progress.presentations / progress.seconds:.0f}/s  "
            f"{progress.seconds / 60:.1f} min  plan loss {progress.plan_loss:.4f}  proposal loss {progress.proposal_loss:.4f}",
            flush=True,
        )
        if progress.step % options.save_every == 0:
            policy.save(options.out / f"step-{progress.step}")

    train(policy, solved, proposals, settings, report)
    policy.save(options.out)


if __name__ == "__main__":
    main()
