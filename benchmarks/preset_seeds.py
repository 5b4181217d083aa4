"""Whether training works whatever the seed: a preset session once a seed, held-out boards before the first and after the last stage.

    python -m benchmarks.preset_seeds OUT [--preset quick] [--method grpo] [--seeds 10]

A session that OUT holds already is counted, not run again; so several of these may share the seeds of one OUT between them (``--seeds 5``
here, ``--first 5`` there).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from core.sessions.statistics import paired_change
from core.sessions.store import Session

METRICS = ("valid", "optimal")


def run(folder: Path, preset: str, method: str, seed: int) -> Session:
    """The finished session of a seed in ``folder``."""
    if not folder.exists():
        command = ["run", "--preset", preset, "--method", method, "--seed", str(seed), "--out", str(folder)]
        subprocess.run([sys.executable, "-m", "core.cli", *command], check=True, stdout=subprocess.DEVNULL)
    return Session(folder)


def line(seed: int, session: Session) -> str:
    """A row of the table: rates before and after in per cent, the paired change with its 95 % interval, and the training's minutes."""
    last = session.spec.stages - 1
    before, after = session.validation(None), session.validation(last)
    if before is None or after is None:
        return f"| {seed} | not done |"
    cells = []
    for metric in METRICS:
        change, low, high, n = paired_change(before, after, metric)
        rates = f"{before[metric].mean():.1%} -> {after[metric].mean():.1%}"
        cells.append(f"{rates}, {100 * change:+.1f} ({100 * low:+.1f}..{100 * high:+.1f})")
    seconds = sum(session.metrics(stage)["seconds"].sum() for stage in range(last + 1))
    return f"| {seed} | {' | '.join(cells)} | {n} | {seconds / 60:.1f} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line; see ``--help``."""
    parser = argparse.ArgumentParser(description="Run a preset session with several seeds.")
    parser.add_argument("out", type=Path, help="folder of the sessions")
    parser.add_argument("--preset", default="quick")
    parser.add_argument("--method", default="grpo")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--seeds", type=int, default=10, help="how many")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    print("| seed | valid | optimal | n | training, min |\n|---|---|---|---|---|")
    for seed in range(options.first, options.first + options.seeds):
        print(line(seed, run(options.out / f"{options.preset}-{seed}", options.preset, options.method, seed)), flush=True)


if __name__ == "__main__":
    main()
