"""``make test-faults``: every disturbance of :mod:`tests.faults.harness`, and the table of what came of it."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tests.faults.harness import Bench, Outcome, damages, small_disk, table

KINDS = ("session", "study", "replay", "fork")
KILLS = 30
MOMENTS = ("event step/1/9", "event validated/0")
"""In which files of sessions are damaged: in the middle of a stage behind a checkpoint; when a stage is not decided yet."""
CALLS = (
    *(("study", at, 0) for at in (
        "registered.sha256", "rename", "session.json", "boards.parquet", "arms.csv", "effects.csv", "report.html", "report.json",
        "fsync", "unlink",
    )),
    ("study", "rename", 1),
    *(("replay", "answers.parquet", n) for n in range(4)),
    *(("replay", "state.json", n) for n in (0, 1, 3, 6)),
    *(("replay", "fsync", n) for n in (0, 2, 5)),
    *(("fork", at, n) for at in ("mkdir", "link", "fsync") for n in (0, 1, 2)),
    *(("fork", "replace", n) for n in (0, 1)),
    ("fork", "rename", 0),
)  # fmt: skip
"""Kind, part of a call, which of them."""
FULL = (
    ("session", "event step/0/5", 0), ("session", "event step/0/9", 2**20), ("session", "event step/1/12", 300 * 1024),
    ("session", "event validated/0", 0), ("replay", "answers.parquet", 0), ("replay", "state.json", 8 * 1024), ("study", "rename", 2**20),
    ("study", "boards.parquet", 0),
)  # fmt: skip
"""Kind, when the disk is filled, bytes that are left: of a session in the middle of training, before a checkpoint, before the validation
and before the proposal."""
DAMAGED = {
    ("study", "rename"): (
        "study.json", "state.json", "run.json", "registered.sha256", "cells/policy-s0/session.json", "cells/policy-s0/state.json",
        "cells/policy-s0/baseline/validation.parquet", "cells/policy-s0/baseline/environment.json",
    ),
    ("replay", "answers.parquet"): ("task.json", "state.json", "answers.parquet"),
}  # fmt: skip
"""Kind, part of the call before whose second the worker is killed -> the files that are damaged then."""
PARENT = (
    "session.json", "state.json", "baseline/validation.parquet", "baseline/proposal.json", "stages/00/environment.json",
    "stages/00/validation.parquet", "stages/00/metrics.jsonl", "stages/00/completions.parquet", "stages/00/policy/model.safetensors",
    "stages/00/policy/optimizer.pt", "stages/00/policy/seal.json",
)  # fmt: skip
"""Files of the session that is forked after its first stage."""


class Case(NamedTuple):
    """A disturbance, and what of a job it is done to."""

    kind: str
    how: str
    run: Callable[[Bench], Outcome]


def cases(kind: str, bench: Bench) -> list[Case]:
    """Every disturbance of a kind of job that needs no disk of its own."""
    runs: list[tuple[str, Callable[[Bench], Outcome]]]
    runs = [("random", lambda b, n=n: b.killed_at_random(kind, n)) for n in range(KILLS)]
    runs += [("calls", lambda b, at=at, n=n: b.killed_at(kind, at, n)) for of, at, n in CALLS if of == kind]
    for (of, moment), files in DAMAGED.items():
        if of == kind:
            damage = [(file, how) for file in files for how in ("torn", "gone", "zeroed", "a folder")]
            runs += [("damage", lambda b, m=moment, f=file, h=how: b.damaged(kind, m, f, h)) for file, how in damage]
    if kind == "session":
        runs += [("calls", lambda b, n=n: b.killed_at(kind, "", n)) for n in bench.points]
        for moment in MOMENTS:
            damage = [case for case in damages(bench.at(kind, moment)) if moment == MOMENTS[0] or early_alone(case[0])]
            runs += [("damage", lambda b, m=moment, f=file, h=how: b.damaged(kind, m, f, h)) for file, how in damage]
    if kind == "study":
        runs += [("random", lambda b, n=n, w=w: b.workers_killed(n, w)) for w in (False, True) for n in range(KILLS // 2)]
    if kind == "fork":
        runs += [("damage", lambda b, f=file, h=how: b.parent_damaged(f, h)) for file in PARENT for how in ("torn", "gone")]
    return [Case(kind, how, run) for how, run in runs]


def early_alone(file: str) -> bool:
    """Whether a file's damage means something else before its stage is decided."""
    return file.startswith("stages/00/") and (file.count("/") == 2 or file.endswith((".pt", ".safetensors", "trainer_state.json")))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", choices=["random", "calls", "disk", "damage"], help="one kind of disturbance (default: all)")
    parser.add_argument("--of", choices=KINDS, help="one kind of job (default: all)")
    parser.add_argument("--sessions", type=int, help="try about this many of each kind, spread evenly over all cases (default: all)")
    options = parser.parse_args()
    began, outcomes = time.monotonic(), list[Outcome]()
    for kind in [options.of] if options.of else KINDS:
        outcomes += of_kind(kind, options)
    print(table(outcomes))
    print(f"\n{len(outcomes)} jobs in {time.monotonic() - began:.0f} s")
    return int(not all(outcome.good for outcome in outcomes))


def of_kind(kind: str, options: argparse.Namespace) -> list[Outcome]:
    with tempfile.TemporaryDirectory(prefix="faults-") as scratch, ThreadPoolExecutor(options.jobs) as pool:
        benches = list(pool.map(Bench, [folder for n in range(options.jobs) if not (folder := Path(scratch) / str(n)).mkdir()]))
        chosen = [] if options.only == "disk" else [case.run for case in cases(kind, benches[0]) if options.only in (None, case.how)]
        if options.sessions:
            chosen = chosen[:: max(1, len(chosen) // options.sessions)]
        shares = [chosen[n :: options.jobs] for n in range(options.jobs)]
        outcomes = [outcome for part in pool.map(run_all, benches, shares) for outcome in part]
        full = [(at, left) for of, at, left in FULL if of == kind and options.only in (None, "disk")]
        if full:
            try:
                with small_disk(Path(scratch) / "disk", kind) as disk:
                    outcomes += [benches[0].full_disk(disk, kind, at, left) for at, left in full]
            except OSError as error:
                print(f"disk full: skipped, {error}", file=sys.stderr)
    return outcomes


def run_all(bench: Bench, chosen: list[Callable[[Bench], Outcome]]) -> list[Outcome]:
    outcomes = []
    for case in chosen:
        try:
            outcomes.append(case(bench))
        except Exception as error:  # the others are of interest all the same
            outcomes.append(Outcome("could not be tried", f"number {len(outcomes)}", repr(error)))
        print("." if outcomes[-1].good else f"\n{outcomes[-1]}\n", end="", file=sys.stderr, flush=True)
    return outcomes


if __name__ == "__main__":
    sys.exit(main())
