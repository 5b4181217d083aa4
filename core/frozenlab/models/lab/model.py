"""The lab model's two halves: a tokenizer of whole words and a small Qwen3 network."""

from __future__ import annotations

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from frozenlab.base import seeds
from frozenlab.tasks.vocabulary import END, PAD, WORDS

MAX_POSITIONS = 1024
"""Longest prompt and completion together, in tokens."""


def build_tokenizer() -> PreTrainedTokenizerFast:
    """One token a word of the vocabulary, in its order; text is split at white space. A word outside it raises on encoding."""
    tokenizer = Tokenizer(WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token=None))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=PAD, eos_token=END, padding_side="left", model_max_length=MAX_POSITIONS
    )


def build_network(seed: int = 0, *, hidden: int = 128, layers: int = 6, intermediate: int = 384) -> Qwen3ForCausalLM:
    """An untrained network (1.3 million parameters by default: attention heads of size 32, tied embeddings)."""
    config = Qwen3Config(
        vocab_size=len(WORDS),
        hidden_size=hidden,
        intermediate_size=intermediate,
        num_hidden_layers=layers,
        num_attention_heads=hidden // 32,
        num_key_value_heads=hidden // 32,
        head_dim=32,
        max_position_embeddings=MAX_POSITIONS,
        tie_word_embeddings=True,
        pad_token_id=WORDS.index(PAD),
        eos_token_id=WORDS.index(END),
        bos_token_id=None,
        attn_implementation="sdpa",
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seeds.derive(seed, "lab-model/weights"))
        return Qwen3ForCausalLM(config)
