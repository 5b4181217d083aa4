"""The checkpoints of a stage: the trainer's own while it runs, the policy it leaves when it is done."""

from __future__ import annotations

import shutil
from pathlib import Path

from core.policy.folders import weights_file

RESUME_FILES = ("optimizer.pt", "scheduler.pt", "rng_state*.pth", "trainer_state.json")
"""What a checkpoint holds beside the policy, needed only to go on training from it. Each process has random numbers of its own."""


def newest_checkpoint(work: Path) -> Path | None:
    """The furthest checkpoint in a trainer's folder that is complete; one that was being written when the worker died is not."""
    return max(filter(can_go_on, work.glob("checkpoint-*")), key=steps_of, default=None)


def steps_of(checkpoint: Path) -> int:
    """The step count in a checkpoint's name."""
    return int(checkpoint.name.split("-")[-1])


def keep_checkpoint(checkpoint: Path, place: Path) -> None:
    """Moves a finished checkpoint to its place and clears the trainer's folder."""
    (checkpoint / "training_args.bin").unlink(missing_ok=True)  # a pickle with this machine's paths; nobody reads it
    if place.exists():
        shutil.rmtree(place)
    checkpoint.rename(place)
    shutil.rmtree(checkpoint.parent)


def can_go_on(policy_folder: Path) -> bool:
    """Whether training can go on from a checkpoint as if it had never paused."""
    return weights_file(policy_folder) is not None and all(any(policy_folder.glob(name)) for name in RESUME_FILES)


def drop_resume_files(policy_folder: Path) -> None:
    """Leaves only the policy of a checkpoint from which nobody will go on."""
    for name in RESUME_FILES:
        for file in policy_folder.glob(name):
            file.unlink()
