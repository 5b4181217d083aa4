"""The shape of a language model: its parameters and cache, computed before anything is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from frozenlab.base.files import read_json
from frozenlab.models.folders import ADAPTER_CONFIG
from frozenlab.models.settings import Lora


@dataclass(frozen=True)
class Shape:
    """A decoder like Qwen3 or Llama: gated feed-forward layers, grouped queries, no biases."""

    layers: int
    hidden: int
    intermediate: int
    heads: int
    pairs: int
    """Key and value heads."""
    head: int
    """Size of one head."""
    vocabulary: int
    tied: bool
    """Whether input and output share their embedding."""

    @property
    def linears(self) -> tuple[tuple[int, int], ...]:
        """(inputs, outputs) of each linear map of a layer."""
        queries, pairs = self.heads * self.head, self.pairs * self.head
        attention = ((self.hidden, queries), (self.hidden, pairs), (self.hidden, pairs), (queries, self.hidden))
        return (*attention, (self.hidden, self.intermediate), (self.hidden, self.intermediate), (self.intermediate, self.hidden))

    @property
    def parameters(self) -> int:
        norms = 2 * self.hidden + 2 * self.head
        embeddings = self.vocabulary * self.hidden * (1 if self.tied else 2)
        return self.layers * (sum(a * b for a, b in self.linears) + norms) + self.hidden + embeddings

    def adapters(self, lora: Lora) -> int:
        """Parameters of LoRA on all linear maps of the layers."""
        return self.layers * sum(lora.rank * (a + b) for a, b in self.linears)

    @property
    def cache(self) -> int:
        """Numbers per token in the cache of keys and values."""
        return 2 * self.layers * self.pairs * self.head


QWEN3 = {
    "Qwen/Qwen3-0.6B": Shape(28, 1024, 3072, 16, 8, 128, 151_936, True),
    "Qwen/Qwen3-1.7B": Shape(28, 2048, 6144, 16, 8, 128, 151_936, True),
    "Qwen/Qwen3-4B": Shape(36, 2560, 9728, 32, 8, 128, 151_936, True),
    "Qwen/Qwen3-8B": Shape(36, 4096, 12_288, 32, 8, 128, 151_936, False),
    "Qwen/Qwen3-14B": Shape(40, 5120, 17_408, 40, 8, 128, 151_936, False),
    "Qwen/Qwen3-32B": Shape(64, 5120, 25_600, 64, 8, 128, 151_936, False),
}
"""Shapes of common models, from their configs on the hub."""


def of_base(adapters: Path) -> str | None:
    """The model that adapters were trained on; None if their config does not say."""
    try:
        base = read_json(adapters)["base_model_name_or_path"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return base if isinstance(base, str) else None


def shape_of(policy: str, revision: str | None = None) -> Shape | None:
    """The shape of a model in a folder, of the one that adapters in a folder belong to, of a common one, or of one that this machine has
    downloaded; None if it is unknown."""
    path, adapters = Path(policy) / "config.json", Path(policy) / ADAPTER_CONFIG
    if not path.is_file() and adapters.is_file():
        base = of_base(adapters)
        return None if base is None or base == policy else shape_of(base, revision)
    if not path.is_file():
        if policy in QWEN3:
            return QWEN3[policy]
        from huggingface_hub import try_to_load_from_cache

        cached = try_to_load_from_cache(policy, "config.json", revision=revision) if policy.count("/") == 1 else None
        if not isinstance(cached, str):
            return None
        path = Path(cached)
    try:
        config: dict[str, Any] = read_json(path)
        heads = config["num_attention_heads"]
        return Shape(
            layers=config["num_hidden_layers"],
            hidden=config["hidden_size"],
            intermediate=config["intermediate_size"],
            heads=heads,
            pairs=config.get("num_key_value_heads") or heads,
            head=config.get("head_dim") or config["hidden_size"] // heads,
            vocabulary=config["vocab_size"],
            tied=config.get("tie_word_embeddings", True),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
