"""Locations and kinds of a policy's weights."""

from __future__ import annotations

import json
from pathlib import Path

from frozenlab.places import ASSETS
from frozenlab.tasks.lake.dialects.vocabulary import WORDS

LAB_MODEL = ASSETS / "lab-model"
WEIGHTS = "model.safetensors"
ADAPTER, ADAPTER_CONFIG = "adapter_model.safetensors", "adapter_config.json"
SHARDS = "model.safetensors.index.json"


def policy_folder(name: str) -> Path:
    """``lab-model`` is the shipped one; anything else is the path of a checkpoint folder."""
    return LAB_MODEL if name == "lab-model" else Path(name)


def on_hub(name: str) -> bool:
    """Whether a model comes from the hub: there is no folder of this name."""
    return not policy_folder(name).exists()


def is_lab_model(folder: Path) -> bool:
    """Whether a checkpoint folder holds a lab model, which has the words of the lab dialect."""
    try:
        words = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return list(words) == list(WORDS)


def weights_file(folder: Path) -> Path | None:
    """The file that makes a folder a checkpoint: its weights, their index where there are many, or those of its adapters."""
    return next((folder / name for name in (WEIGHTS, ADAPTER, SHARDS) if (folder / name).is_file()), None)
