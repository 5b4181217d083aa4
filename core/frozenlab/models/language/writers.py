"""What writes for a language model: the transformers library here, vLLM in :mod:`frozenlab.models.language.engines`."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from llguidance import LLMatcher, LLTokenizer
from llguidance.hf import from_tokenizer
from llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask
from transformers import AttentionInterface, Cache, GenerationConfig, LogitsProcessor, PreTrainedModel, PreTrainedTokenizerBase
from transformers.cache_utils import DynamicLayer
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

from frozenlab.base import seeds
from frozenlab.base.files import append_line, read_lines
from frozenlab.models.language.room import rows_together
from frozenlab.models.policy import PolicyError, Sampling

Ids = Sequence[int]
Schema = dict[str, Any]
STRETCH = 32
"""Tokens after which texts that have ended leave the batch."""


class Text(NamedTuple):
    """A continuation of a prompt, as tokens."""

    ids: list[int]
    """The end token included."""
    logprobs: list[float | None] | None = None
    """What each token's probability was where an engine of its own wrote it; None: the model's own."""
    own: list[int] | None = None
    """1 for each token that the model wrote, 0 for each that was written for it; None: it wrote all."""


class Begun(NamedTuple):
    """A text that may be written in several parts."""

    ids: list[int]
    logprobs: list[float | None]
    """What each token's probability was where and when it was written."""
    over: bool = False


class Writer(Protocol):
    """Continues prompts."""

    def refresh(self, *, alone: bool = False) -> None:
        """Take up the model's weights of this moment. Until then it may write with those of the last time.

        Of a session's several processes all do so together, but for ``alone``: the others ask for nothing now, so none is waited for.
        """

    def together(self, limit: int) -> int:
        """How many texts of up to ``limit`` tokens it is best asked for at a time."""

    def write(self, prompts: Sequence[Ids], *, limit: int, sampling: Sampling, schema: Schema | None = None, until: Ids = ()) -> list[Text]:
        """One text of at most ``limit`` tokens for each prompt, drawn as ``sampling`` says (its number of completions is the caller's).

        A token of ``until`` ends a text too. With a JSON ``schema`` nothing else can be written. For proposals only: under a constraint,
        the reported probabilities are not the model's own, so plans to learn from must not be written this way.
        """


class TransformersWriter:
    """``model.generate``: everywhere, slowly. On processors texts share their prompts and leave when they have ended."""

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, ends: Ids) -> None:
        """``ends`` are the tokens that end an answer."""
        self.model, self.tokenizer, self.ends = model, tokenizer, list(ends)

    @cached_property
    def tokens(self) -> LLTokenizer:
        return from_tokenizer(self.tokenizer, n_vocab=self.model.config.vocab_size, eos_token=self.ends)

    def refresh(self, *, alone: bool = False) -> None:
        """It writes with the model itself."""

    def together(self, limit: int) -> int:
        config = self.model.config.get_text_config()
        pairs = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        cache = 2 * config.num_hidden_layers * pairs * head * self.model.dtype.itemsize
        return rows_together(limit, cache, processor=self.model.device.type == "cpu")

    def write(self, prompts: Sequence[Ids], *, limit: int, sampling: Sampling, schema: Schema | None = None, until: Ids = ()) -> list[Text]:
        stride = sampling.batch_size or self.together(limit)
        texts: list[Text] = []
        for first in range(0, len(prompts), stride):
            some = prompts[first : first + stride]
            schemas = [schema] * len(some) if schema else None
            texts += self.write_together(some, first, limit, sampling, schemas, [*self.ends, *until])
        return texts

    @torch.inference_mode()
    def write_together(
        self, prompts: Sequence[Ids], first: int, limit: int, sampling: Sampling, schemas: Sequence[Schema] | None, ends: Ids
    ) -> list[Text]:
        """One text for each prompt, under its own schema; ``first`` is the number of the first prompt among all that share their draws."""
        was_training = self.model.training
        self.model.eval()
        width, pad = max(map(len, prompts)), self.tokenizer.pad_token_id
        device = self.model.device
        ids = torch.tensor([[pad] * (width - len(p)) + list(p) for p in prompts], device=device)
        mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts], device=device)
        draw = {"do_sample": True, "temperature": sampling.temperature, "top_k": sampling.top_k, "top_p": sampling.top_p}
        shares = shares_prompts(self.model) and width > 1 and not schemas
        cache = Cache(layer_class_to_replicate=Roomy) if takes_room(self.model) else None
        if shares:
            cache = read_once(self.model, ids[:, :-1], mask[:, :-1], cache)
        stretch = STRETCH if shares else limit
        written: list[list[int]] = [[] for _ in prompts]
        rows = list(range(len(prompts)))
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []), finite_or_said():
            torch.manual_seed(seeds.derive(sampling.seed, "policy/text", first))
            for done in range(0, limit, stretch):
                ids = self.model.generate(
                    input_ids=ids,
                    attention_mask=mask,
                    past_key_values=cache,
                    generation_config=GenerationConfig(
                        max_new_tokens=min(stretch, limit - done),
                        pad_token_id=pad,
                        eos_token_id=ends,
                        **(draw if sampling.temperature > 0 else {}),
                    ),
                    logits_processor=[UnderSchema(self.tokens, schemas, width, self.ends)] if schemas else None,
                )
                for row, tokens in zip(rows, ids[:, width + done :].tolist(), strict=True):
                    written[row] += tokens
                left = [place for place, row in enumerate(rows) if not set(ends) & set(written[row])]
                if not left:
                    break
                rows = [rows[place] for place in left]
                ids = ids[left]
                mask = torch.nn.functional.pad(mask[left], (0, ids.shape[1] - mask.shape[1]), value=1)
                if shares and cache is not None:
                    cache.batch_select_indices(torch.tensor(left, device=device))
        self.model.train(was_training)
        return [Text(row[: next((i + 1 for i, token in enumerate(row) if token in ends), len(row))]) for row in written]


def by_groups(
    module: torch.nn.Module, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None, **how: Any
) -> tuple[torch.Tensor, None]:
    """Attention on processors: where one token is written, heads that share keys and values read them once. SDPA copies them for each head,
    which takes most of the time of a long text."""
    rows, heads, tokens, size = query.shape
    if tokens > 1 or how.get("dropout") or how.get("position_bias") is not None:
        return sdpa_attention_forward(module, query, key, value, mask, **how)
    scale = how.get("scaling") or size**-0.5
    scores = (query.reshape(rows, key.shape[1], -1, size) @ key.transpose(2, 3)).float() * scale
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf")) if mask.dtype == torch.bool else scores + mask
    return (scores.softmax(-1).to(value.dtype) @ value).reshape(rows, 1, heads, size), None


BY_GROUPS = "sdpa_by_groups"
"""Its name in the transformers library."""
AttentionInterface.register(BY_GROUPS, by_groups)
AttentionMaskInterface.register(BY_GROUPS, sdpa_mask)


def shares_prompts(model: PreTrainedModel) -> bool:
    """Whether prompts that are alike are read once: on processors, for networks whose layers all keep keys and values."""
    return model.device.type == "cpu" and kinds(model) <= {"full_attention", "sliding_attention"}


def takes_room(model: PreTrainedModel) -> bool:
    """Whether its layers may be :class:`Roomy`: on processors, for networks whose layers all look back at everything."""
    return model.device.type == "cpu" and kinds(model) <= {"full_attention"}


def kinds(model: PreTrainedModel) -> set[str]:
    """Of its layers, as far as its config names them."""
    return set(getattr(model.config.get_text_config(), "layer_types", None) or ())


class Roomy(DynamicLayer):
    """Keys and values with room for the tokens that come next, which the mask hides. Usually all are copied for each token, and on a
    processor the memory for that is fetched anew. For writing only: it changes them in place."""

    length = 0

    def update(self, keys: torch.Tensor, values: torch.Tensor, *_: Any, **__: Any) -> tuple[torch.Tensor, torch.Tensor]:
        had, self.length = self.length, self.length + keys.shape[2]
        if not had:
            self.lazy_initialization(keys, values)
            self.keys, self.values = keys, values
            return keys, values
        more = self.with_room(self.length) - self.keys.shape[2]
        if more:
            self.keys, self.values = (torch.nn.functional.pad(old, (0, 0, 0, more)) for old in (self.keys, self.values))
        self.keys[:, :, had : self.length], self.values[:, :, had : self.length] = keys, values
        return self.keys, self.values

    def with_room(self, length: int) -> int:
        """For how many tokens there is room when there are so many."""
        if not self.length:
            return length
        now = self.keys.shape[2]
        return now if length <= now else length + STRETCH

    def get_seq_length(self) -> int:
        return self.length

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.with_room(self.length + query_length), 0


def read_once(model: PreTrainedModel, ids: torch.Tensor, mask: torch.Tensor, cache: Cache | None = None) -> Cache:
    """The keys and values of prompts, padded on the left, (rows, tokens), with their gradient; rows that are alike are read once.
    They come into ``cache``, if it is given."""
    prompts, of = torch.where(mask == 1, ids, -1).unique(dim=0, return_inverse=True)
    seen = (prompts >= 0).long()
    read = {"input_ids": prompts.clamp(min=0), "attention_mask": seen, "position_ids": positions(seen)}
    head = getattr(model, "module", model).get_output_embeddings()
    # No logits are asked for. Of the last tokens of all rows, which do not lie together, torch would copy the head's weights for each row.
    with head.register_forward_pre_hook(lambda _, given: (given[0][:1].contiguous(),)):
        cache = model(**read, past_key_values=cache, use_cache=True, logits_to_keep=1).past_key_values
    assert cache is not None
    cache.batch_select_indices(of)
    return cache


def positions(mask: torch.Tensor) -> torch.Tensor:
    """Where each token is in its text; 0 for padding before it."""
    return (mask.cumsum(1) - 1).clamp(min=0)


@contextmanager
def finite_or_said() -> Iterator[None]:
    """Raises PolicyError where torch has no probabilities to draw from."""
    try:
        yield
    except RuntimeError as error:
        if "probability tensor" not in str(error):
            raise
        reason = (
            "the model's probabilities are not finite (NaN or infinite): it was trained too fast, or its dtype overflows, as float16 may"
        )
        raise PolicyError(reason) from None


class UnderSchema(LogitsProcessor):
    """Leaves only the tokens with which each text can still become JSON of its schema. For one ``generate``: it reads along."""

    def __init__(self, tokens: LLTokenizer, schemas: Sequence[Schema], prompt_width: int, ends: Ids) -> None:
        grammars = [LLMatcher.grammar_from_json_schema(schema, defaults={"whitespace_flexible": False}) for schema in schemas]
        self.matchers = [LLMatcher(tokens, grammar) for grammar in grammars]
        self.width, self.ends = prompt_width, list(ends)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        rows, vocabulary = scores.shape
        if input_ids.shape[1] > self.width:
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


def end_tokens(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Every token that ends an answer: the tokenizer's, and those that the model declares, as the end of a turn."""
    declared = model.generation_config.eos_token_id
    declared = [declared] if isinstance(declared, int) else declared or []
    return list(dict.fromkeys([tokenizer.eos_token_id, *declared]))


class Batch(NamedTuple):
    """Texts that were written together, and what that took."""

    texts: list[list[int]]
    seconds: float


@dataclass
class KeepingWriter:
    """Writes by another writer, keeps each batch in a file, and takes it from there when it is asked for again: measuring a language model
    takes hours, and what it wrote before a stop is not written again.

    The file is for one model. A batch is known by all that its texts depend on: prompts, limits, draws.
    """

    writer: Writer
    file: Path
    """A JSON object a line."""
    spared: float = 0.0
    """Seconds that the batches took which were there already."""

    def refresh(self, *, alone: bool = False) -> None:
        self.writer.refresh(alone=alone)

    def together(self, limit: int) -> int:
        return self.writer.together(limit)

    def write(self, prompts: Sequence[Ids], *, limit: int, sampling: Sampling, schema: Schema | None = None, until: Ids = ()) -> list[Text]:
        asked = [[list(prompt) for prompt in prompts], limit, vars(sampling), schema, list(until)]
        key = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:24]
        if key in self.kept:
            self.spared += self.kept[key].seconds
            return [Text(ids) for ids in self.kept[key].texts]
        began = time.monotonic()
        texts = self.writer.write(prompts, limit=limit, sampling=sampling, schema=schema, until=until)
        append_line(self.file, {"key": key, "texts": [text.ids for text in texts], "seconds": time.monotonic() - began})
        return texts

    @cached_property
    def kept(self) -> dict[str, Batch]:
        """The batches of earlier tries."""
        return {line["key"]: Batch(line["texts"], line["seconds"]) for line in read_lines(self.file)[0]}
