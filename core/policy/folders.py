"""Where the weights of a policy lie."""

from __future__ import annotations

from pathlib import Path

LAB_MODEL = Path(__file__).resolve().parents[2] / "assets" / "lab-model"


def policy_folder(name: str) -> Path:
    """``lab-model`` is the shipped one; anything else is the path of a checkpoint folder."""
    return LAB_MODEL if name == "lab-model" else Path(name)
