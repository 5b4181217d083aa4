"""Fast token generation with a small Qwen3 network: batched sampling that wastes little on finished rows, and writing under a grammar.

Transformers' forward pass is made for large networks: with a small one on a CPU it spends most of its time between the matrix products, in
an attention kernel that is slow for single queries, and on copies of the prompts' keys and values for each completion of a group. Here the
products that share their input are one, a group shares its prompt to the end, and rows that have ended give their place to others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import linear, rms_norm, scaled_dot_product_attention, silu
from transformers import Qwen3ForCausalLM

from frozenlab.base import seeds

ROOM = 16
"""Tokens for which a row gets room at a time. All of it takes part in the products: torch has slow ones for fewer than 13 tokens."""


class Layer(NamedTuple):
    """The weights of one layer; those that are applied to the same input are joined."""

    attention_norm: Tensor
    queries_keys_values: Tensor
    head_norms: Tensor
    """(query heads + key heads, head size)"""
    attention_out: Tensor
    feed_norm: Tensor
    gate_and_up: Tensor
    down: Tensor


class Decoder:
    """Reads prompts, then token by token what is written after each; computes what ``model`` with a cache does, without gradients.

    Args:
        prompts: (prompts, tokens) ids, padded on the left.
        mask: of the same shape, true where there is no padding.
        group: how many rows are written after each prompt; a row is one text that is being written.
    """

    def __init__(self, model: Qwen3ForCausalLM, prompts: Tensor, mask: Tensor, group: int) -> None:
        config, trunk = model.config, model.model
        self.queries, self.pairs, self.size = config.num_attention_heads, config.num_key_value_heads, config.head_dim
        self.eps = config.rms_norm_eps
        self.layers = [
            Layer(
                layer.input_layernorm.weight,
                torch.cat([layer.self_attn.q_proj.weight, layer.self_attn.k_proj.weight, layer.self_attn.v_proj.weight]),
                torch.stack([layer.self_attn.q_norm.weight] * self.queries + [layer.self_attn.k_norm.weight] * self.pairs),
                layer.self_attn.o_proj.weight,
                layer.post_attention_layernorm.weight,
                torch.cat([layer.mlp.gate_proj.weight, layer.mlp.up_proj.weight]),
                layer.mlp.down_proj.weight,
            )
            for layer in trunk.layers
        ]
        self.embedding, self.norm, self.head = trunk.embed_tokens.weight, trunk.norm.weight, model.lm_head.weight
        self.turns = trunk.rotary_emb
        n, width = prompts.shape
        self.mask = mask.bool()
        self.prompt = self.embedding.new_empty(len(self.layers), 2, n, self.pairs, width, self.size)
        """Keys and values of the prompts: (layers, 2, prompts, heads, tokens, head size)."""
        rows = torch.arange(n * group, device=prompts.device)
        self.of, self.member = rows // group, rows % group
        """Which prompt a row belongs to, and which of its group it is."""
        self.group, self.length, self.written = group, self.mask.sum(1), 0
        self.store = self.embedding.new_zeros(len(self.layers), 2, len(rows), self.pairs, ROOM, self.size)
        """Keys and values of what is written; the rows that are left come first."""
        causal = torch.ones(width, width, dtype=torch.bool, device=prompts.device).tril()
        # Padding reads padding: a softmax over nothing has no value.
        self.sight = (causal & (self.mask[:, None] | ~self.mask[:, :, None]))[:, None]
        logits = self._forward(prompts, (self.mask.cumsum(1) - 1).clamp(min=0), self._attend_in_prompts)
        self.logits = logits.repeat_interleave(group, 0)
        """(rows, vocabulary), after what has been read so far."""

    def read(self, ids: Tensor) -> None:
        """Reads one further token of each row, (rows,)."""
        if self.written == self.store.shape[-2]:
            more = self.store.new_zeros(*self.store.shape[:2], len(ids), self.pairs, self.written + ROOM, self.size)
            more[..., : self.written, :] = self.store[:, :, : len(ids)]
            self.store = more
        positions = self.length[self.of] + self.written
        self.written += 1
        self.logits = self._forward(ids[:, None], positions[:, None], self._attend)

    def keep(self, rows: Tensor) -> Tensor:
        """Drops all rows but these, given by ascending number. Returns them in their new order: few are moved."""
        order = torch.arange(len(rows), device=rows.device)
        vacant = torch.ones_like(order, dtype=torch.bool)
        vacant[rows[rows < len(rows)]] = False
        order[vacant] = moved = rows[rows >= len(rows)]
        self.store[:, :, : len(rows), :, : self.written][:, :, vacant] = self.store[:, :, moved, :, : self.written]
        self.of, self.member, self.logits = self.of[order], self.member[order], self.logits[order]
        left, of = self.of.unique(return_inverse=True)
        if len(left) < 0.7 * len(self.length):  # dropping prompts copies all that are left
            self.prompt, self.mask, self.length, self.of = self.prompt[:, :, left], self.mask[left], self.length[left], of
        return order

    def _forward(self, ids: Tensor, positions: Tensor, attend: Callable[[int, Tensor, Tensor, Tensor], Tensor]) -> Tensor:
        """Logits after the last token of ``ids``, (rows, tokens).

        ``attend`` is called with the layer's number, and queries, keys and values as (rows, tokens, heads, head size).
        """
        x = self.embedding[ids]
        cos, sin = (turn[:, :, None] for turn in self.turns(x, positions))
        turned = self.queries + self.pairs
        for number, layer in enumerate(self.layers):
            heads = linear(rms_norm(x, x.shape[-1:], layer.attention_norm, self.eps), layer.queries_keys_values)
            heads, values = heads.view(*ids.shape, -1, self.size).tensor_split([turned], 2)
            heads = rms_norm(heads, (self.size,), None, self.eps) * layer.head_norms
            left, right = heads.chunk(2, -1)
            heads = heads * cos + torch.cat([-right, left], -1) * sin
            seen = attend(number, heads[:, :, : self.queries], heads[:, :, self.queries :], values)
            x = x + linear(seen.view(*ids.shape, -1), layer.attention_out)
            gate, up = linear(rms_norm(x, x.shape[-1:], layer.feed_norm, self.eps), layer.gate_and_up).chunk(2, -1)
            x = x + linear(silu(gate) * up, layer.down)
        return linear(rms_norm(x[:, -1], x.shape[-1:], self.norm, self.eps), self.head).float()

    def _attend_in_prompts(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        held = self.prompt[layer]
        held[0], held[1] = keys.transpose(1, 2), values.transpose(1, 2)
        out = scaled_dot_product_attention(queries.transpose(1, 2), held[0], held[1], self.sight, enable_gqa=self.queries != self.pairs)
        return out.transpose(1, 2).contiguous()

    def _attend(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """One query a row: on its prompt together with the rest of its group, on what was written after it alone."""
        rows, (prompts, width) = len(queries), self.mask.shape
        own = self.store[layer, :, :rows]
        own[0, :, :, self.written - 1], own[1, :, :, self.written - 1] = keys[:, 0], values[:, 0]
        own_keys, own_values = own.flatten(1, 2)
        prompt_keys, prompt_values = self.prompt[layer].flatten(1, 2)
        query = (queries[:, 0] * self.size**-0.5).view(rows, self.pairs, -1, self.size)

        def of_prompts(of_rows: Tensor, matrices: Tensor) -> Tensor:
            """The products of each row's vectors with a matrix of its prompt; places of the group that have ended are left zero."""
            gathered = of_rows.new_zeros(prompts, self.pairs, self.group, *of_rows.shape[2:])
            gathered[self.of, :, self.member] = of_rows
            products = torch.bmm(gathered.view(prompts * self.pairs, -1, of_rows.shape[-1]), matrices)
            return products.view(*gathered.shape[:-1], -1)[self.of, :, self.member]

        on_prompt = of_prompts(query, prompt_keys.transpose(1, 2)).masked_fill_(~self.mask[self.of][:, None, None], float("-inf"))
        on_own = torch.bmm(query.flatten(0, 1), own_keys.transpose(1, 2)).view(*query.shape[:-1], -1)
        on_own[..., self.written :] = float("-inf")
        on_prompt, on_own = torch.cat([on_prompt, on_own], -1).softmax(-1).tensor_split([width], -1)
        return of_prompts(on_prompt, prompt_values) + torch.bmm(on_own.flatten(0, 1), own_values).view(query.shape)


class Grammar(Protocol):
    """What may be written next."""

    def allowed(self, words: Sequence[str]) -> Sequence[str]:
        """The words that may follow ``words``; an empty list ends the text."""


@torch.inference_mode()
def sample(
    model: Qwen3ForCausalLM,
    prompts: Sequence[Sequence[int]],
    limits: Sequence[int],
    noise: Sequence[np.random.Generator],
    *,
    temperature: float,
    completions: int,
    pad: int,
    end: int,
) -> list[list[int]]:
    """Completes each prompt ``completions`` times; returns len(prompts) x completions id lists, grouped by prompt.

    A list ends with the id ``end`` unless its prompt's limit (tokens, at least 1) came first. ``temperature`` 0 takes the likeliest token.
    Each completion draws from a generator of its own (``noise``, in the order of the result), so what it becomes does not depend on its
    batch. A group shares the pass over its prompt, and rows that have ended leave the batch.
    """
    width = max(len(prompt) for prompt in prompts)
    ids = torch.tensor([[pad] * (width - len(p)) + list(p) for p in prompts], device=model.device)
    mask = torch.tensor([[False] * (width - len(p)) + [True] * len(p) for p in prompts], device=model.device)
    decoder = Decoder(model, ids, mask, completions)
    limit = np.repeat(np.asarray(limits), completions)
    draws = np.stack([generator.random(limit.max()) for generator in noise]) if temperature > 0 else None
    written = np.full((len(limit), limit.max()), pad)
    lengths = np.zeros(len(limit), dtype=int)  # 0: still being written
    batch = np.arange(len(limit))  # which rows are still in the batch
    for step in range(limit.max()):
        chosen = _choose(decoder.logits, temperature, None if draws is None else draws[batch, step])
        tokens = chosen.cpu().numpy()
        written[batch, step] = tokens
        ended = batch[(lengths[batch] == 0) & ((tokens == end) | (step + 1 >= limit[batch]))]
        lengths[ended] = step + 1
        open_rows = lengths[batch] == 0
        if not open_rows.any():
            break
        if open_rows.mean() < 0.95:  # dropping rows costs about a token of theirs
            order = decoder.keep(torch.from_numpy(np.flatnonzero(open_rows)).to(model.device))
            chosen, batch = chosen[order], batch[order.cpu().numpy()]
        decoder.read(chosen)
    return [row[:length].tolist() for row, length in zip(written, lengths, strict=True)]


@torch.inference_mode()
def write_under_grammar(
    model: Qwen3ForCausalLM, prompt: Sequence[int], grammar: Grammar, words: Sequence[str], *, temperature: float, seed: int, room: int
) -> list[str]:
    """Writes words after ``prompt`` that ``grammar`` allows, until it allows none. ``words`` are the vocabulary by id; ``room`` is the most
    that prompt and text may hold together.

    Raises:
        ValueError: the text does not end within ``room``, or the grammar allows a word that the vocabulary lacks.
    """
    id_of = {word: i for i, word in enumerate(words)}
    noise = seeds.rng(seed, "policy/words")
    ids = torch.tensor([list(prompt)], device=model.device)
    decoder = Decoder(model, ids, torch.ones_like(ids), group=1)
    text: list[str] = []
    unread: list[int] = []  # ids the model has not seen yet: it reads only where there is a choice to make
    while allowed := grammar.allowed(text):
        if unknown := [word for word in allowed if word not in id_of]:
            raise ValueError(f"the grammar allows {unknown[0]!r}, which the vocabulary does not hold")
        if len(prompt) + len(text) >= room:
            raise ValueError(f"the text did not end within the {room} tokens the model can hold")
        word = allowed[0]
        if len(allowed) > 1:
            for i in unread:
                decoder.read(torch.tensor([i], device=model.device))
            among = decoder.logits[:, [id_of[word] for word in allowed]]
            word = allowed[int(_choose(among, temperature, noise.random(1) if temperature > 0 else None))]
            unread = []
        text.append(word)
        unread.append(id_of[word])
    return text


def _choose(logits: torch.Tensor, temperature: float, draws: np.ndarray | None) -> torch.Tensor:
    """One token a row: the likeliest, or with ``draws`` (uniform in 0..1) the one at which the cumulated probability passes it."""
    if draws is None:
        return logits.argmax(1)
    cumulated = (logits.double() / temperature).softmax(1).cumsum(1)
    threshold = torch.from_numpy(draws).to(logits.device)[:, None] * cumulated[:, -1:]
    return torch.searchsorted(cumulated, threshold, right=True)[:, 0].clamp(max=logits.shape[1] - 1)
