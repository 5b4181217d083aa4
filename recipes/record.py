"""Records again what ships and comes from the lab model: sessions, a fork of one, replays, and results on suites.

    make record         about three hours on two cores; run again, it goes on where it was stopped
    python -m recipes.record --quick FOLDER      without the long sessions: minutes

All of it is made in FOLDER (default: ``.cache/record``), with this checkout's code and weights. Only when everything is there does it
replace what shipped before. Do this once after new weights of the lab model, not after each change: git keeps every recording
(``tests/test_size.py``). Studies take days and are not recorded here, nor is what comes from SmolLM2 (``recipes/record_smollm2.py``). What
reads recordings is brought up to date by

    python -m recipes.preset_seeds FOLDER/seeds      ten sessions, after the old tables in assets/preset_seeds are deleted
    python -m tests.pages.test_recorded_numbers         the numbers that pages show of recordings
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from frozenlab.base import places
from frozenlab.jobs.worker import LOCK_FILE
from frozenlab.models.training.checkpoints import RESUME_FILES
from frozenlab.session.session import Session


class Recording(NamedTuple):
    """A recorded session."""

    id: str
    root: str
    """The folder of sessions that it is made in. Only one session of a folder can run at a time. None of a language model's: new weights of
    the lab model do not change it."""
    command: tuple[str, ...]
    weights: tuple[int, ...]
    """Stages (0 is the first) whose weights ship: the last one, and those that a recorded replay asks."""


TWIN = "Quick session, config kept"
"""The session beside which a talk asks whether it was the redesign."""
RECORDINGS = {
    recording.id: recording
    for recording in (
        Recording("example-long", "grpo", ("run", "--preset", "long"), (3,)),
        Recording("example-long-imitation", "imitation", ("run", "--preset", "long", "--method", "imitation"), (3,)),
        Recording("example-quick", "quick", ("run", "--preset", "quick"), (1, 2)),
        Recording("example-quick-fixed", "quick", ("run", "--preset", "quick", "--engineer", "fixed", "--title", TWIN), ()),
        Recording("example-quick-kept", "quick", ("fork", "example-quick:1", "--keep", "5", "--title", "Quick session, size 5 kept"), ()),
        Recording("example-smollm2", "", (), (2,)),
        Recording("example-smollm2-fixed", "", (), ()),
    )
}
QUICK = "quick"
"""The root of the sessions that take minutes."""
REPLAYS = ("engineers", "sections")
"""What varies in the replays of stage 2 of the quick session."""
RESULTS = {"lab-model": ("lab-model", "paper"), "lab-model-train-shape": ("lab-model", "train-shape")} | {
    f"{session}-4": (f"{session}:4", "paper") for session in ("example-long", "example-long-imitation")
}
"""Name -> model and suite."""


def lab(root: Path, *command: str) -> None:
    """One command of FrozenLab with ``root`` as its folder of sessions. Raises CalledProcessError if it fails."""
    print("frozenlab", *command, flush=True)
    environment = os.environ | {"FROZENLAB_SESSIONS": str(root), "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-m", "frozenlab.cli", *command], env=environment, check=True, stdout=subprocess.DEVNULL)


def record(folder: Path, recording: Recording) -> None:
    """Runs a session to its end, from where it was stopped."""
    root = folder / recording.root
    place = root / recording.id
    root.mkdir(parents=True, exist_ok=True)
    if not place.exists():
        named = ("--out", str(place)) if recording.command[0] == "run" else ("--id", recording.id)
        lab(root, *recording.command, *named)
    elif Session(place).state().status != "done":
        lab(root, "resume", recording.id)


def record_all(folder: Path, chain: Sequence[Recording]) -> None:
    """One after the other: a fork needs its parent."""
    for recording in chain:
        record(folder, recording)


def ask(folder: Path, varied: str) -> None:
    """Makes one replay."""
    root = folder / "quick"
    made = (root / "replays" / varied).exists()
    lab(root, "replay", *([varied] if made else ["example-quick:2", "--vary", varied, "--id", varied]))


def measure(folder: Path, name: str) -> None:
    """Makes one result."""
    place, (model, suite) = folder / "results" / name, RESULTS[name]
    if not (place / "report.json").exists():
        shutil.rmtree(place, ignore_errors=True)
        session = RECORDINGS.get(model.partition(":")[0])
        titled = () if session else ("--title", "lab model (base)")
        lab(folder / (session.root if session else "quick"), "evaluate", model, "--suite", suite, "--out", str(place), *titled)


def shipped_files(session: Path, weights: tuple[int, ...]) -> Iterator[Path]:
    """The files of a recorded session that ship: no lock, no log, no optimizer state, and weights of the stages ``weights`` only."""
    for path in sorted(path for path in session.rglob("*") if path.is_file()):
        inside = path.relative_to(session).parts
        unused_weights = "policy" in inside and int(inside[1]) not in weights
        if not unused_weights and not any(fnmatch(path.name, pattern) for pattern in (LOCK_FILE, "worker.log", *RESUME_FILES)):
            yield path


def ship_sessions(folder: Path, recordings: Iterable[Recording]) -> None:
    """Replaces these recordings of this checkout."""
    for recording in recordings:
        made, target = folder / recording.root / recording.id, places.SESSIONS / recording.id
        shutil.rmtree(target, ignore_errors=True)
        for path in shipped_files(made, recording.weights):
            copy = target / path.relative_to(made)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)


def ship(folder: Path, recordings: Sequence[Recording], results: Sequence[str]) -> None:
    """Replaces these recordings of this checkout, these results, and the replays."""
    ship_sessions(folder, recordings)
    for varied in REPLAYS:
        for file in ("task.json", "answers.parquet"):
            shutil.copyfile(folder / "quick" / "replays" / varied / file, places.ASSETS / "replays" / varied / file)
    for name in results:
        for file in ("boards.parquet", "cells.csv", "report.json"):
            shutil.copyfile(folder / "results" / name / file, places.ASSETS / "results" / name / file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", nargs="?", type=Path, default=places.workplace() / ".cache" / "record")
    parser.add_argument("--quick", action="store_true", help="without the long sessions and their results, which take the most time")
    options = parser.parse_args()
    folder = options.folder.resolve()
    recordings = [one for one in RECORDINGS.values() if one.root == QUICK or (one.root and not options.quick)]
    sessions = {recording.id for recording in recordings}
    results = [name for name, (model, _) in RESULTS.items() if ":" not in model or model.partition(":")[0] in sessions]
    chains = [
        [recording for recording in recordings if recording.root == root] for root in {recording.root: None for recording in recordings}
    ]
    with ThreadPoolExecutor(2) as cores:
        list(cores.map(lambda chain: record_all(folder, chain), chains))
        list(cores.map(lambda name: measure(folder, name), results))
        list(cores.map(lambda varied: ask(folder, varied), REPLAYS))
    ship(folder, recordings, results)


if __name__ == "__main__":
    main()
