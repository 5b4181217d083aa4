"""Text generators for a language model: the transformers library, or a vLLM engine that receives the model's current weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from accelerate import Accelerator
from llguidance import LLMatcher, LLTokenizer
from llguidance.hf import from_tokenizer
from llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask
from transformers import GenerationConfig, LogitsProcessor, PreTrainedModel, PreTrainedTokenizerBase

from frozenlab import seeds

if TYPE_CHECKING:
    from trl.generation.vllm_generation import VLLMGeneration

TOKENS_TOGETHER = 65_536
"""That transformers keeps the keys and values of at a time: 10 GB for a model of the size of Qwen3-4B."""
Ids = Sequence[int]
Schema = dict[str, Any]


class Writer(Protocol):
    """Continues prompts."""

    def together(self, limit: int) -> int:
        """How many completions of up to ``limit`` tokens it is best asked for at a time."""
        ...

    def write(self, prompts: Sequence[Ids], *, limit: int, temperature: float, seed: int, schema: Schema | None = None) -> list[list[int]]:
        """One completion of at most ``limit`` tokens for each prompt, the end token included. Temperature 0 takes the likeliest token.

        With a JSON ``schema`` nothing else can be written. For proposals only: under a constraint,
        the reported probabilities are not the model's own, so plans to learn from must not be written this way.
        """
        ...


class TransformersWriter:
    """``model.generate``: everywhere, slowly."""

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, ends: Ids) -> None:
        """``ends`` are the tokens that end an answer."""
        self.model, self.tokenizer, self.ends = model, tokenizer, list(ends)

    @cached_property
    def tokens(self) -> LLTokenizer:
        return from_tokenizer(self.tokenizer, n_vocab=self.model.config.vocab_size, eos_token=self.ends)

    def together(self, limit: int) -> int:
        return max(1, min(64, TOKENS_TOGETHER // limit))

    @torch.inference_mode()
    def write(self, prompts: Sequence[Ids], *, limit: int, temperature: float, seed: int, schema: Schema | None = None) -> list[list[int]]:
        was_training = self.model.training
        self.model.eval()
        width, pad = max(map(len, prompts)), self.tokenizer.pad_token_id
        device = self.model.device
        ids = torch.tensor([[pad] * (width - len(p)) + list(p) for p in prompts], device=device)
        mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts], device=device)
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(seeds.derive(seed, "policy/text"))
            written = self.model.generate(
                input_ids=ids,
                attention_mask=mask,
                generation_config=GenerationConfig(
                    max_new_tokens=limit,
                    pad_token_id=pad,
                    eos_token_id=self.ends,
                    **({"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0} if temperature > 0 else {}),
                ),
                logits_processor=[UnderSchema(self.tokens, schema, width, self.ends)] if schema else None,
            )[:, width:].tolist()
        self.model.train(was_training)
        return [row[: next((i + 1 for i, token in enumerate(row) if token in self.ends), len(row))] for row in written]


class UnderSchema(LogitsProcessor):
    """Leaves only the tokens with which the text can still become JSON of the schema. For one ``generate``: it reads along."""

    def __init__(self, tokens: LLTokenizer, schema: Schema, prompt_width: int, ends: Ids) -> None:
        self.tokens, self.grammar = tokens, LLMatcher.grammar_from_json_schema(schema, defaults={"whitespace_flexible": False})
        self.width, self.ends = prompt_width, list(ends)
        self.matchers: list[LLMatcher] = []

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        rows, vocabulary = scores.shape
        if not self.matchers:
            self.matchers = [LLMatcher(self.tokens, self.grammar) for _ in range(rows)]
        elif input_ids.shape[1] > self.width:
            for matcher, token in zip(self.matchers, input_ids[:, -1].tolist(), strict=True):
                if not matcher.is_stopped():
                    matcher.consume_token(token)
        bits = allocate_token_bitmask(rows, vocabulary)
        over = [matcher.is_stopped() for matcher in self.matchers]
        for row, matcher in enumerate(self.matchers):
            if not over[row]:
                fill_next_token_bitmask(matcher, bits, row)
        allowed = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")[:, :vocabulary].astype(bool)
        allowed[over] = np.isin(np.arange(vocabulary), self.ends)
        return scores.masked_fill(~torch.from_numpy(allowed).to(scores.device), float("-inf"))


BY_GUIDANCE: Schema = {
    "x-guidance": {"whitespace_flexible": False},
    "$defs": {"unused": {"type": "integer", "multipleOf": 1}},
}
"""Added to a schema, makes vLLM constrain by llguidance. Its first choice, xgrammar, lets a model that is unsure write white space without
end, and steps back only from a schema with something that it does not know."""


class VllmWriter:
    """The engine that TRL's trainer generates with, in its process or behind its server."""

    def __init__(self, engine: VLLMGeneration) -> None:
        self.engine = engine

    def together(self, limit: int) -> int:
        return 512  # the engine divides them up itself; each call sends it the weights

    def write(self, prompts: Sequence[Ids], *, limit: int, temperature: float, seed: int, schema: Schema | None = None) -> list[list[int]]:
        self.engine.sync_weights()  # after a stage they are one update old
        extra: dict[str, Any] = {"seed": seed} | ({"structured_outputs": {"json": schema | BY_GUIDANCE}} if schema else {})
        asked = {"temperature": temperature, "max_completion_length": limit, "generation_kwargs": extra}
        token_lists = [list(prompt) for prompt in prompts]
        if self.engine.mode == "server":
            asked = {"temperature": temperature, "max_tokens": limit, "generation_kwargs": extra}
            return self.engine.vllm_client.generate(prompts=token_lists, n=1, **asked)["completion_ids"]
        with overridden(self.engine, asked):
            return [list(ids) for ids in self.engine.generate(token_lists, None, 1)[1]]


def own_engine(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, context: int, memory: float) -> VllmWriter:
    """An engine for a model that is not being trained; ``memory`` is its share of the GPU's memory."""
    from trl.generation.vllm_generation import VLLMGeneration

    engine = VLLMGeneration(model, Accelerator(), tokenizer, gpu_memory_utilization=memory, max_model_length=context)
    return VllmWriter(engine)


@contextmanager
def overridden(engine: VLLMGeneration, settings: dict[str, Any]) -> Iterator[None]:
    """The engine with other settings than those it trains with, for a while."""
    before = {name: getattr(engine, name) for name in settings}
    vars(engine).update(settings)
    try:
        yield
    finally:
        vars(engine).update(before)


def end_tokens(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Every token that ends an answer: the tokenizer's, and those that the model declares, as the end of a turn."""
    declared = model.generation_config.eos_token_id
    declared = [declared] if isinstance(declared, int) else declared or []
    return list(dict.fromkeys([tokenizer.eos_token_id, *declared]))
