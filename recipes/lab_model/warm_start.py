"""The warm start: train the lab model on courses, such as solver plans and an engineer's proposals (supervised, before any RL).

    python -m recipes.lab_model.warm_start --out assets/lab-model --course scatter=0.92 --course proposals=0.08

The model card in ``assets/lab-model`` gives the settings of the shipped weights.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy, scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface, Qwen3ForCausalLM
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
from transformers.modeling_outputs import BaseModelOutputWithPast

from frozenlab.base import seeds
from frozenlab.jobs.machine import fast_bfloat16
from frozenlab.models.lab.policy import LabPolicy, build_network, build_tokenizer
from frozenlab.models.training.optimizers import MuonAndAdamW
from frozenlab.models.training.runs.sft import Example
from frozenlab.tasks.vocabulary import WORDS
from recipes.lab_model.auxiliary import IGNORED, InsightHead
from recipes.lab_model.courses import NAMES, Course, Lesson, drawn

DEFAULT_LESSONS = 120_000
POOL = 4096
"""Examples that are drawn at once, sorted by length and cut into batches, to reduce padding."""


@dataclass(frozen=True)
class WarmStartSettings:
    """Length and rate of the training."""

    presentations: int = 340_000
    """Total number of examples shown. A solved board counts each time it is shown, each time in another variant."""
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
    """Weight of the auxiliary targets in the loss; see :mod:`recipes.lab_model.auxiliary`."""
    seed: int = 0


@dataclass(frozen=True)
class Progress:
    """Progress of the warm start, reported every hundred optimizer steps."""

    step: int
    presentations: int
    seconds: float
    losses: Mapping[str, float]
    """First word of a prompt, which says its kind (``<plan>``, ``<countdown>``, ``<engineer>``) -> mean cross-entropy of the words that
    were learnt after it since the last report, in nats."""


def train(
    policy: LabPolicy,
    courses: Mapping[Course, float],
    settings: WarmStartSettings,
    report: Callable[[Progress], None],
    report_every: int = 100,
) -> None:
    """Train ``policy`` in place on the completions (not the prompts) of courses, by their shares of what is shown."""
    model, rng = policy.model.train(), seeds.rng(settings.seed, "warm-start/lessons")
    model.set_attn_implementation(FLOAT32_ATTENTION)
    trunk = torch.compile(model.model, dynamic=True) if settings.compiled else model.model
    head = InsightHead(model.config.hidden_size, settings.seed)
    optimizer = MuonAndAdamW(model, settings.learning_rate, weight_decay=settings.weight_decay, others=head.parameters())
    started, shown, step = time.monotonic(), 0, 0
    losses = defaultdict[int, list[torch.Tensor]](list)
    while shown < settings.presentations:
        pool = draw(courses, min(POOL, settings.presentations - shown), rng)
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
            kinds = torch.tensor([lesson.example.prompt[0] for lesson in batch for _ in lesson.example.completion])
            for kind in kinds.unique().tolist():
                losses[kind].append(each.detach()[kinds == kind])
            if step % report_every == 0:
                means = {WORDS[kind]: float(torch.cat(parts).mean()) for kind, parts in sorted(losses.items())}
                report(Progress(step, shown, time.monotonic() - started, means))
                losses.clear()
    model.set_attn_implementation("sdpa")
    model.eval()


def draw(courses: Mapping[Course, float], n: int, rng: np.random.Generator) -> list[Lesson]:
    """``n`` lessons of courses, course by course; each course comes as often as its share says, but for chance."""
    counts = rng.multinomial(n, np.array(list(courses.values())) / sum(courses.values()))
    return [course.lesson(rng) for course, count in zip(courses, counts, strict=True) for _ in range(count)]


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


def share_of_course(said: str) -> tuple[str, float]:
    """``NAME=SHARE`` as name and share. Raises ArgumentTypeError if there is no such course, or its share is no number above 0, up to 1."""
    name, _, share = said.partition("=")
    if name not in NAMES:
        raise argparse.ArgumentTypeError(f"there is no course {name[:40]!r}; there are {', '.join(NAMES)}")
    try:
        part = float(share)
    except ValueError:
        part = 0.0
    if not 0 < part <= 1:
        raise argparse.ArgumentTypeError(f"the share of {name} is {share[:40]!r}; it must be a number above 0, up to 1")
    return name, part


def grown(network: Qwen3ForCausalLM, seed: int = 0) -> Qwen3ForCausalLM:
    """A network with a row for each word of today's vocabulary, made from one with fewer: old rows stay, new ones are small and random."""
    old = network.config.vocab_size
    larger = build_network(
        seed,
        hidden=network.config.hidden_size,
        layers=network.config.num_hidden_layers,
        intermediate=network.config.intermediate_size,
    )
    weights = network.state_dict()
    rows = larger.model.embed_tokens.weight.detach().clone()
    rows[:old] = weights["model.embed_tokens.weight"]
    larger.load_state_dict(weights | {"model.embed_tokens.weight": rows, "lm_head.weight": rows})
    return larger


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line; see ``--help``."""
    defaults = WarmStartSettings()
    parser = argparse.ArgumentParser(description="Train the lab model on courses, from scratch or from a checkpoint.")
    parser.add_argument("--out", type=Path, required=True, help="checkpoint folder to write")
    parser.add_argument(
        "--course", type=share_of_course, action="append", required=True, dest="courses", metavar="NAME=SHARE",
        help=f"a course and its share of the examples; say it for each course to learn; there are {', '.join(NAMES)}",
    )  # fmt: skip
    parser.add_argument("--lessons", type=int, default=DEFAULT_LESSONS, help="different lessons to draw, by the shares")
    parser.add_argument("--presentations", type=int, default=defaults.presentations, help="examples shown in all")
    parser.add_argument("--learning-rate", type=float, default=defaults.learning_rate, help="the peak")
    parser.add_argument("--seed", type=int, default=defaults.seed, help="seed of the untrained weights, the boards and their order")
    parser.add_argument(
        "--continue-from", type=Path, help="checkpoint folder to continue from, with a fresh optimizer (default: from scratch)"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--save-every", type=int, default=500, help="optimizer steps between intermediate checkpoints in OUT/step-N")
    options = parser.parse_args(arguments)
    shares = dict[str, float](options.courses)
    if len(shares) < len(options.courses):
        parser.error("a course is there twice: give each of them one share")
    if not math.isclose(sum(shares.values()), 1):
        parser.error(f"the shares of the courses add up to {sum(shares.values()):g}; they must add up to 1")

    torch.set_num_threads(options.threads)
    settings = WarmStartSettings(presentations=options.presentations, learning_rate=options.learning_rate, seed=options.seed)
    source = options.continue_from
    network = grown(LabPolicy.load(source).model, options.seed) if source else build_network(options.seed)
    policy = LabPolicy(network, build_tokenizer())
    courses = {drawn(name, math.ceil(options.lessons * share), options.seed, policy): share for name, share in shares.items()}
    print(f"{policy.model.num_parameters()} parameters, {shares}, {settings}", flush=True)

    def report(progress: Progress) -> None:
        losses = "  ".join(f"{kind} {loss:.4f}" for kind, loss in progress.losses.items())
        print(
            f"step {progress.step}  shown {progress.presentations}  {progress.presentations / progress.seconds:.0f}/s  "
            f"{progress.seconds / 60:.1f} min  losses: {losses}",
            flush=True,
        )
        if progress.step % options.save_every == 0:
            policy.save(options.out / f"step-{progress.step}")

    train(policy, courses, settings, report)
    policy.save(options.out)


if __name__ == "__main__":
    main()
