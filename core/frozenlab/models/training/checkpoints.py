"""The checkpoints of a stage: the trainer's own while it runs, the policy it leaves when it is done. Light: pages look at them too.

A checkpoint that is complete is *sealed*: its files are on the disk, and ``seal.json``, which is written last, holds their SHA-256 sums.
This distinguishes a complete checkpoint from one that was being written when the worker died, or was damaged later.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from frozenlab.base.files import read_json, regular, sync, write_text
from frozenlab.models.folders import WEIGHTS, weights_file

TRAINER_STATE = "trainer_state.json"
RESUME_FILES = ("optimizer.pt", "scheduler.pt", "rng_state*.pth", TRAINER_STATE)
"""Files of a checkpoint that are needed only to continue training from it. Each process has random numbers of its own."""
SEAL = "seal.json"


def seal(checkpoint: Path) -> None:
    """Calls a checkpoint complete, and drops those before it from the trainer's folder."""
    (checkpoint / "training_args.bin").unlink(missing_ok=True)  # a pickle with this machine's paths, never read
    if (state := checkpoint / TRAINER_STATE).is_file():  # its log holds seconds, and is never read: equal runs have equal folders
        write_text(state, json.dumps(read_json(state) | {"log_history": []}, indent=1))
    files = sorted(path for path in checkpoint.iterdir() if path.is_file() and path.name != SEAL)
    for file in files:
        sync(file)
    write_text(checkpoint / SEAL, json.dumps({file.name: checksum(file) for file in files}, indent=1))
    sync(checkpoint.parent)
    for older in checkpoint.parent.glob("checkpoint-*"):
        if older != checkpoint:
            shutil.rmtree(older)


def room(model: Any) -> int:
    """Bytes of disk that training takes: two checkpoints while the second is written."""
    learnt = sum(4 * weight.numel() for weight in model.parameters() if weight.requires_grad)
    return 2 * (3 * learnt)  # the optimizer keeps two numbers for each, and where they are in bfloat16 a copy in float32


def checksum(file: Path) -> str:
    with regular(file).open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def newest_checkpoint(work: Path, last: int) -> Path | None:
    """The furthest checkpoint in a trainer's folder that is complete, and not past the step count ``last``."""
    reached = sorted((path for path in work.glob("checkpoint-*") if steps_of(path) <= last), key=steps_of, reverse=True)
    return next((path for path in reached if (path / SEAL).is_file() and damage(path, to_go_on=True) is None), None)


def steps_of(checkpoint: Path) -> int:
    """The step count in a checkpoint's name."""
    return int(checkpoint.name.split("-")[-1])


def keep_checkpoint(checkpoint: Path, place: Path) -> None:
    """Moves a finished checkpoint to its place and clears the trainer's folder; what was in that place goes too."""
    if place.exists():
        place.rename(checkpoint.parent / "replaced")
    checkpoint.rename(place)
    sync(place.parent)
    shutil.rmtree(checkpoint.parent)


def damage(policy_folder: Path, *, to_go_on: bool = False) -> str | None:
    """What is wrong with a checkpoint: the name of a file, and in words what about it; None if nothing is.

    One without a seal, which an older FrozenLab left, is as good as its files can be read.

    Args:
        to_go_on: whether training is to go on from it as if it had never paused, for which the policy alone is not enough.
    """
    there = {path.name for path in policy_folder.glob("*")}
    try:
        sums = sealed_sums(policy_folder / SEAL) if SEAL in there else {}
    except (OSError, ValueError):
        return f"{SEAL} cannot be read"
    needed = [name for name in sorted(sums or there) if to_go_on or not for_resume(name)]
    for name in needed:
        file = policy_folder / name
        if not file.is_file():
            return f"{name} is missing"
        try:
            as_written = not sums or checksum(file) == sums[name]
        except OSError:
            return f"{name} cannot be read"
        if not as_written:
            return f"{name} is not what was written: torn, or changed since"
        if not readable(file):
            return f"{name} cannot be read"
    missing = [name for name in RESUME_FILES if to_go_on and not fnmatch.filter(there, name)]
    if weights_file(policy_folder) is None:
        missing.insert(0, WEIGHTS)
    return f"{missing[0].replace('*', '')} is missing" if missing else None


def sealed_sums(file: Path) -> dict[str, str]:
    """File name -> checksum. Raises ValueError if the file is no seal."""
    sums = read_json(file)
    if not isinstance(sums, dict) or not sums:
        raise ValueError(f"{file} is no seal")
    return sums


def for_resume(name: str) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in RESUME_FILES)


def readable(file: Path) -> bool:
    """Whether a file of a checkpoint is whole as far as its format tells; no tensor is read."""
    try:
        if file.suffix == ".safetensors":
            with safe_open(regular(file), "np"):
                return True
        if file.suffix == ".json":
            read_json(file)
        return file.suffix not in (".pt", ".pth") or zipfile.is_zipfile(regular(file))
    except (SafetensorError, OSError, ValueError):
        return False


def drop_resume_files(policy_folder: Path) -> None:
    """Leaves only the policy of a checkpoint from which no training goes on."""
    for name in RESUME_FILES:
        for file in policy_folder.glob(name):
            file.unlink()
