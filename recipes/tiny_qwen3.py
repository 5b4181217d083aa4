"""A Qwen3 of a million random weights that a processor can train: the tokenizer's shape is Qwen's, its words are those of the lake."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from tokenizers.pre_tokenizers import PreTokenizer
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from frozenlab.base import seeds
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.tasks.lake.family import LAKE

END, START, PAD = "<|im_end|>", "<|im_start|>", "<|endoftext|>"
TEMPLATE = """\
{%- for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}
{%- if enable_thinking is defined and not enable_thinking %}{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}{% endif %}"""
"""What matters of Qwen3's: turns, and an empty thought where thinking is off."""
WORDS = 1200
LAYERS, HIDDEN, INNER, HEADS = 4, 128, 384, 4


DIGITS = pre_tokenizers.Digits(individual_digits=True)


def build_tokenizer(texts: list[str], words: int = WORDS, first: Sequence[PreTokenizer] = (DIGITS,)) -> PreTrainedTokenizerFast:
    """Byte-level, like Qwen's; ``first`` cuts the texts before. Thoughts are marked by two tokens that are text, not special ones."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*first, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=words, special_tokens=[PAD, START, END], initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token=PAD, eos_token=END)
    fast.add_tokens(["<think>", "</think>"])
    fast.chat_template = TEMPLATE
    return fast


def build(folder: Path, config: EnvironmentConfig, others: Sequence[str] = (), seed: int = 0) -> Path:
    """Random weights, and a tokenizer that has read questions about boards of ``config``, their worked answers and ``others``."""
    texts = [*others]
    for task in generate(config, 300, seed=seed):
        shown = LAKE.plain.demonstrate(task)
        assert shown is not None, "drawn boards come with a plan"
        texts.append(f"{LAKE.plain.prompt(task)}\n{shown.reasoning}\n{shown.answer}")
    tokenizer = build_tokenizer(texts)
    torch.manual_seed(seeds.derive(seed, "tiny-qwen3/weights"))
    model = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(tokenizer), hidden_size=HIDDEN, intermediate_size=INNER, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
            num_key_value_heads=HEADS // 2, head_dim=HIDDEN // HEADS, max_position_embeddings=16_384, tie_word_embeddings=True,
            bos_token_id=None, eos_token_id=tokenizer.convert_tokens_to_ids(END), pad_token_id=tokenizer.pad_token_id, dtype="float32",
        )
    )  # fmt: skip
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
