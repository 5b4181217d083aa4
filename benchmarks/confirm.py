"""Writes the confirmatory test of docs/instrument.md: the study's file, and the recipes of its four students.

python -m benchmarks.confirm FOLDER
frozenlab students make confirm-a --recipe FOLDER/confirm-a.json        and b, c, d
frozenlab study FOLDER/confirm.json --id confirm
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from frozenlab.cells import Config, evenly
from frozenlab.engineer.guard import USUAL
from frozenlab.files import write_text
from frozenlab.students.menu import misled, usual_config
from frozenlab.students.recipe import Recipe
from frozenlab.studies.spec import StudySpec

WEAK = {"a": ("2@9", "2@doors6"), "b": ("3@corridor6", "numbers2"), "c": ("4@6",), "d": ("2@doors6",)}
"""Student -> the cells that it was misled about."""
SEEDS = {"a": 3, "b": 2, "c": 3, "d": 2}
"""Those of seed 2 of a and c came out not as planned."""
TRAINING: dict[str, Any] = {
    "method": "imitation", "steps": 24, "boards_per_step": 16, "completions_per_board": 4, "learning_rate": 3e-3, "schedule": "per-stage",
    "temperature": 0.7,
}  # fmt: skip


def best_for(config: Config, weak: Sequence[str]) -> Config:
    """As many boards as the guard allows from the weak cells."""
    rest = USUAL.min_share
    share = rest + (1 - rest * len(config.cells)) / len(weak)
    return config.with_cells(
        {name: own.model_copy(update={"share": share if name in weak else rest}) for name, own in config.cells.items()}
    )


def study(config: Config) -> StudySpec:
    oracle = {f"student:confirm-{name}": best_for(config, weak) for name, weak in WEAK.items()}
    arms = [
        {"name": "taught", "engineer": "policy"},
        {"name": "taught-blind", "engineer": "policy", "sections": ["statistics"]},
        {"name": "rules", "engineer": "rules"},
        {"name": "learnability", "engineer": "learnability"},
        {"name": "uniform", "engineer": "uniform"},
        {"name": "again", "engineer": "uniform", "draws": 1},
        {"name": "oracle", "configs": oracle},
    ]
    session = {
        "stages": 1, "initial_config": config, "training": TRAINING, "ask_first": True, "engineer": "policy",
        "suite": {"family": "mixed", "boards_per_cell": 40}, "test": {"family": "mixed", "boards_per_cell": 60},
        "sections": ["failures", "statistics"], "guard": {"max_step": 1.0},
    }  # fmt: skip
    return StudySpec.model_validate(
        {
            "title": "Is the taught engineer better?",
            "session": session,
            "arms": arms,
            "students": list(oracle),
            "seeds": [1, 2, 3, 4, 5, 6],
            "suite_by_seed": True,
            "smallest_effect": 0.02,
            "hypothesis": "The lab model's engineer, taught by usual rates, puts the boards on what a student that it never met has lost, "
            "and so wins back more in one short stage than rules, uniform and itself without failures.",
            "prediction": "Taught - rules +5 points, taught - uniform (the best constant config) +3, taught - taught-blind +3; "
            "60 per cent of headroom; A/A below 1 over students.",
            "stopping_rule": "All 168 sessions, once. A session that fails is resumed once and then counts as missing.",
            "primary": [{"arm": "taught", "than": than} for than in ("rules", "uniform", "taught-blind")],
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    config = evenly(usual_config())
    for name, weak in WEAK.items():
        recipe = Recipe.model_validate(misled(config, (name, weak), SEEDS[name]).model_dump() | {"title": f"Confirm {name}"})
        write_text(folder / f"confirm-{name}.json", recipe.model_dump_json(indent=1))
    write_text(folder / "confirm.json", study(config).model_dump_json(indent=1))


if __name__ == "__main__":
    main()
