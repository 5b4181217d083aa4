"""Small real language models: a Qwen3 of a few thousand weights with a byte-level tokenizer and a chat template, saved to disk.

It has learnt to write plans in the form that it is asked for, of moves at random: some of its plans are valid and most are not, so that
there is something to reward.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from frozenlab.lake.board import Board
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.words.answers import prompt
from recipes.tiny_qwen3 import END, PAD, build_tokenizer

ACTIONS = ("UP", "DOWN", "LEFT", "RIGHT", "WAIT")


def boards(n: int = 64) -> list[Board]:
    return [instance.board for instance in generate(EnvironmentConfig.uniform((3, 4), agents=2), n, seed=99)]


def random_answer(board: Board, rng: np.random.Generator) -> str:
    steps = int(rng.integers(1, 5))
    return "\n".join(f"Agent {i}: {' '.join(rng.choice(ACTIONS, steps))}" for i in range(board.num_agents))


def build(folder: Path, *, steps: int = 150, seed: int = 0) -> Path:
    """A model that knows how plans for boards are written, in ``folder``."""
    maps = boards()
    return build_of(folder, [prompt(board) for board in maps], lambda i, rng: random_answer(maps[i], rng), steps=steps, seed=seed)


def build_of(
    folder: Path, prompts: list[str], answer: Callable[[int, np.random.Generator], str], *, steps: int = 150, seed: int = 0
) -> Path:
    """Trains a model for seconds on answers to the prompts and saves it. The same seed gives the same weights on the same machine."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    tokenizer = build_tokenizer([question + "\n" + answer(i, rng) for i, question in enumerate(prompts) for _ in range(4)], 1000, ())
    config = Qwen3Config(
        vocab_size=len(tokenizer), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1,
        head_dim=32, max_position_embeddings=8192, tie_word_embeddings=True, bos_token_id=None,
        eos_token_id=tokenizer.convert_tokens_to_ids([END, PAD]), pad_token_id=tokenizer.pad_token_id, dtype="float32",
    )  # fmt: skip
    model = Qwen3ForCausalLM(config)
    model.generation_config.eos_token_id = config.eos_token_id
    optimizer = torch.optim.AdamW(model.parameters(), 5e-3)
    model.train()
    for _ in range(steps):
        rows = []
        for i in rng.integers(len(prompts), size=4).tolist():
            chat = [{"role": "user", "content": prompts[i]}]
            question = tokenizer.apply_chat_template(chat, add_generation_prompt=True, enable_thinking=False, return_dict=True)["input_ids"]
            rows.append((question, tokenizer(answer(i, rng) + END)["input_ids"]))
        width = max(len(question) + len(answer) for question, answer in rows)
        ids = torch.tensor([p + a + [tokenizer.pad_token_id] * (width - len(p) - len(a)) for p, a in rows])
        labels = torch.tensor([[-100] * len(p) + a + [-100] * (width - len(p) - len(a)) for p, a in rows])
        model(input_ids=ids, labels=labels).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
