"""``make test-faults``: every disturbance of :mod:`tests.faults.harness` and :mod:`tests.faults.jobs`, and the table of what came of it."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from tests.faults.harness import Bench, Outcome, damages, small_disk, table
from tests.faults.jobs import FULL as FULL_JOBS
from tests.faults.jobs import KINDS, JobBench, cases

AnyBench = TypeVar("AnyBench", Bench, JobBench)

KILLS = 30
JOBS_DISK = 250 * 2**20
"""Bytes of the disk that studies and replays fill."""
FULL = (("step/0/5", 0), ("step/0/9", 2**20), ("step/1/12", 300 * 1024), ("validated/0", 0))
"""When the disk is filled, and how many bytes are left: in the middle of training, before a checkpoint, before the validation, before the
proposal."""
MOMENTS = ("step/1/9", "validated/0")
"""In which files are damaged: in the middle of a stage behind a checkpoint; when a stage is not decided yet."""


def early_alone(file: str) -> bool:
    """Whether a file's damage means something else before its stage is decided."""
    return file.startswith("stages/00/") and (file.count("/") == 2 or file.endswith((".pt", ".safetensors", "trainer_state.json")))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", choices=["random", "calls", "disk", "damage"], help="one kind of disturbance (default: all)")
    parser.add_argument("--of", choices=["session", *KINDS], help="one kind of job (default: all)")
    parser.add_argument("--sessions", type=int, help="try about this many of each, spread evenly over all cases (default: every case)")
    options = parser.parse_args()
    began, outcomes = time.monotonic(), list[Outcome]()
    if options.of in (None, "session"):
        outcomes += of_sessions(options)
    if options.of != "session":
        outcomes += of_jobs(options)
    print(table(outcomes))
    print(f"\n{len(outcomes)} jobs in {time.monotonic() - began:.0f} s")
    return int(not all(outcome.good for outcome in outcomes))


def of_sessions(options: argparse.Namespace) -> list[Outcome]:
    with tempfile.TemporaryDirectory(prefix="faults-") as scratch, ThreadPoolExecutor(options.jobs) as pool:
        benches = list(pool.map(Bench, [folder for n in range(options.jobs) if not (folder := Path(scratch) / str(n)).mkdir()]))
        cases: list[tuple[str, Callable[[Bench], Outcome]]] = []
        cases += [("random", lambda bench, n=n: bench.killed_at_random(n)) for n in range(KILLS)]
        cases += [("calls", lambda bench, n=n: bench.killed_at_call(n)) for n in benches[0].points]
        whole, early = (damages(benches[0].at(moment)) for moment in MOMENTS)
        cases += [("damage", lambda bench, f=file, h=how: bench.damaged(MOMENTS[0], f, h)) for file, how in whole]
        cases += [("damage", lambda bench, f=file, h=how: bench.damaged(MOMENTS[1], f, h)) for file, how in early if early_alone(file)]
        chosen = [case for kind, case in cases if options.only in (None, kind)]
        if options.sessions:
            chosen = chosen[:: max(1, len(chosen) // options.sessions)]
        shares = [chosen[n :: options.jobs] for n in range(options.jobs)]
        outcomes = [outcome for part in pool.map(run_all, benches, shares) for outcome in part]
        if options.only in (None, "disk"):
            outcomes += full_disks(benches[0], Path(scratch) / "disk")
        for bench in benches:
            bench.zygote.close()
    return outcomes


def of_jobs(options: argparse.Namespace) -> list[Outcome]:
    """Studies, replays and forks."""
    with tempfile.TemporaryDirectory(prefix="faults-") as scratch, ThreadPoolExecutor(options.jobs) as pool:
        benches = list(pool.map(JobBench, [folder for n in range(options.jobs) if not (folder := Path(scratch) / str(n)).mkdir()]))
        chosen = [case.run for case in cases(KILLS) if options.only in (None, case.how) and options.of in (None, case.kind)]
        if options.sessions:
            chosen = chosen[:: max(1, len(chosen) // options.sessions)]
        shares = [chosen[n :: options.jobs] for n in range(options.jobs)]
        outcomes = [outcome for part in pool.map(run_all, benches, shares) for outcome in part]
        if options.only in (None, "disk"):
            full = [(kind, at, left) for kind, at, left in FULL_JOBS if options.of in (None, kind)]
            outcomes += full_disks_of_jobs(benches[0], Path(scratch) / "disk", full)
        for bench in benches:
            bench.zygote.close()
    return outcomes


def run_all(bench: AnyBench, cases: list[Callable[[AnyBench], Outcome]]) -> list[Outcome]:
    outcomes = []
    for case in cases:
        try:
            outcomes.append(case(bench))
        except Exception as error:  # the others are of interest all the same
            outcomes.append(Outcome("could not be tried", f"number {len(outcomes)}", repr(error)))
        print("." if outcomes[-1].good else f"\n{outcomes[-1]}\n", end="", file=sys.stderr, flush=True)
    return outcomes


def full_disks(bench: Bench, folder: Path) -> list[Outcome]:
    try:
        with small_disk(folder) as disk:
            return [bench.full_disk(disk, moment, left) for moment, left in FULL]
    except OSError as error:
        print(f"disk full: skipped, {error}", file=sys.stderr)
        return []


def full_disks_of_jobs(bench: JobBench, folder: Path, full: list[tuple[str, str, int]]) -> list[Outcome]:
    try:
        with small_disk(folder, JOBS_DISK) as disk:
            return [bench.full_disk(disk, kind, at, left) for kind, at, left in full]
    except OSError as error:
        print(f"disk full: skipped, {error}", file=sys.stderr)
        return []


if __name__ == "__main__":
    sys.exit(main())
