"""The decoder computes what transformers' Qwen3 computes."""

from __future__ import annotations

import pytest
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from frozenlab.models.lab.generation import ROOM, Decoder


def network(queries: int, pairs: int) -> Qwen3ForCausalLM:
    """Random weights everywhere, the norms' too, and sharp enough for differences to show."""
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=50, hidden_size=48, intermediate_size=40, num_hidden_layers=3, num_attention_heads=queries,
        num_key_value_heads=pairs, head_dim=8, max_position_embeddings=64, tie_word_embeddings=True, attn_implementation="sdpa",
    )  # fmt: skip
    model = Qwen3ForCausalLM(config).eval()
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.5)
    return model


def whole(model: Qwen3ForCausalLM, row: list[int]) -> torch.Tensor:
    return model(input_ids=torch.tensor([row])).logits[0, -1]


@pytest.mark.parametrize(("queries", "pairs"), [(4, 4), (4, 2), (6, 1)])
@torch.inference_mode()
def test_logits_equal_the_plain_forward_pass(queries: int, pairs: int) -> None:
    model = network(queries, pairs)
    draw = torch.Generator().manual_seed(1)
    rows = [torch.randint(1, 50, (n,), generator=draw).tolist() for n in (3, 7, 1, 5)]
    width = max(map(len, rows))
    ids = torch.tensor([[0] * (width - len(row)) + row for row in rows])
    decoder = Decoder(model, ids, ids > 0, group=2)
    rows = [list(row) for row in rows for _ in range(2)]

    def check() -> None:
        torch.testing.assert_close(decoder.logits, torch.stack([whole(model, row) for row in rows]), atol=1e-4, rtol=1e-4)

    check()
    for kept in ([0, 2, 3, 5, 6, 7], [1, 2, 5], [2], *[[0]] * ROOM):  # rows end, prompts end, the room has to grow
        written = torch.randint(1, 50, (len(rows),), generator=draw)
        for row, token in zip(rows, written.tolist(), strict=True):
            row.append(token)
        decoder.read(written)
        check()
        order = decoder.keep(torch.tensor(kept)).tolist()
        assert sorted(order) == kept
        rows = [rows[i] for i in order]
        check()
