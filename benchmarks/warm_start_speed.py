"""Throughput of the lab model's warm start: boards a second, and what each part of the recipe costs or gains, as ratios in one run.

    python -m benchmarks.warm_start_speed [--presentations N] [--threads N]

Times are CPU seconds of this process. The first third of each variant, in which the network is compiled, is left out: that is paid once
a run. What a variant learns from a board is another question: the search's table in the model card answers it.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import torch

from benchmarks.timing import cpu_seconds
from frozenlab.base import seeds
from frozenlab.models.lab.policy import LabPolicy, build_network, build_tokenizer
from recipes.lab_model.auxiliary import insight
from recipes.lab_model.courses import TEAMS, SolvedBoards, boards
from recipes.lab_model.guises import guise, plan_example
from recipes.lab_model.warm_start import WarmStartSettings, train


def boards_a_second(settings: WarmStartSettings, course: SolvedBoards) -> float:
    """Boards shown per CPU second after the first third of a run."""
    marks: list[tuple[int, float]] = []
    policy = LabPolicy(build_network(), build_tokenizer())
    train(policy, {course: 1.0}, settings, lambda progress: marks.append((progress.presentations, time.process_time())), report_every=5)
    (shown, began), (all_shown, ended) = marks[len(marks) // 3], marks[-1]
    return (all_shown - shown) / (ended - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--presentations", type=int, default=6000, help="boards shown to each variant")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    course = boards("scatter", TEAMS, 2000, 3)
    shipped = WarmStartSettings(presentations=options.presentations)
    variants = {
        "as shipped": shipped,
        "not compiled": replace(shipped, compiled=False),
        "batches of 8,192 tokens": replace(shipped, batch_tokens=8192),
    }
    speeds = {name: boards_a_second(settings, course) for name, settings in variants.items()}
    print(f"{options.threads} threads, {options.presentations} boards, sizes 3..10, 2..5 agents\n")
    print("| variant | boards/s | ratio to as shipped |\n|---|---|---|")
    for name, speed in speeds.items():
        print(f"| {name} | {speed:.0f} | {speed / speeds['as shipped']:.2f} |")
    rng = seeds.rng(0, "warm-start-speed/guises")
    drawing = cpu_seconds(lambda: [plan_example(*guise(board, paths, rng)) for board, paths in course.solved[:1000]])
    seeing = cpu_seconds(lambda: [insight(board, paths) for board, paths in course.solved[:1000]])
    share = speeds["as shipped"] / 1000
    print(f"\nOf the time of a board: {drawing * share:.0%} making the example, {seeing * share:.0%} its auxiliary targets.")


if __name__ == "__main__":
    main()
