"""What Muon and a step of imitation cost in float32 and in bfloat16, on this processor and on one without instructions for bfloat16.

    python -m benchmarks.optimizer_dtype [--steps 6]

*float32* is the lab's Muon, *bfloat16* torch's own. A processor without AVX-512 BF16, and one without AVX-512, are imitated by telling
oneDNN, MKL and torch to use no newer instructions; each figure comes from a process of its own. CPU seconds on one thread: a busy machine
slows all alike. An imitation step is one of the preset ``quick``, with all that belongs to it: sampling, the solver, the optimizer.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from statistics import median

from benchmarks.timing import cpu_seconds

PROCESSORS = {
    "this processor": {},
    "AVX-512 without BF16": {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE"},
    "AVX2": {"ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"},
}
KINDS = ("float32", "bfloat16")


def measure(kind: str, steps: int) -> dict[str, float]:
    """CPU seconds of one Muon step of the lab model and of one imitation step."""
    import torch

    from frozenlab.lake.config import EnvironmentConfig
    from frozenlab.lake.draw.generator import generate
    from frozenlab.models.folders import LAB_MODEL
    from frozenlab.models.lab.policy import LabPolicy
    from frozenlab.models.training import optimizers
    from frozenlab.models.training.runs.sft import ImitationRun
    from frozenlab.models.training.stage_run import Stage
    from frozenlab.session.presets import preset_spec

    torch.set_num_threads(1)
    if kind == "bfloat16":
        optimizers.Muon = torch.optim.Muon  # type: ignore[misc, assignment]
    policy = LabPolicy.load(LAB_MODEL)
    optimizer = optimizers.MuonAndAdamW(policy.model, 0.0)
    for weight in policy.model.parameters():
        weight.grad = weight.detach().clone()
    muon = [cpu_seconds(optimizer.parts[0].step) for _ in range(steps)]
    spec = preset_spec("quick", method="imitation")
    settings = spec.training.model_copy(update={"steps": steps + 1})
    assert isinstance(spec.initial_config, EnvironmentConfig)
    boards = generate(spec.initial_config, settings.steps * settings.boards_per_step, seed=0)
    run = ImitationRun(LabPolicy.load(LAB_MODEL), settings, stages=1, seed=0)
    marks: list[float] = []
    run.begin(Stage(boards, report=lambda *_: marks.append(time.process_time())))
    with tempfile.TemporaryDirectory() as folder:
        run.trainer(Path(folder)).train()
    return {"muon": median(muon[1:]), "imitation": median(after - before for before, after in pairwise(marks))}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--kind", choices=KINDS, help="measure this one here, and print it as JSON")
    options = parser.parse_args()
    if options.kind:
        print(json.dumps(measure(options.kind, options.steps)))
        return
    print("| processor | Muon step: float32 | bfloat16 | ratio | imitation step: float32 | bfloat16 | ratio |")
    print("|---" * 7 + "|")
    costs: list[dict[str, dict[str, float]]] = []
    for processor, without in PROCESSORS.items():
        costs.append({kind: in_own_process(kind, options.steps, without) for kind in KINDS})
        cells = []
        for what in ("muon", "imitation"):
            float32, bfloat16 = (costs[-1][kind][what] for kind in KINDS)
            cells += [f"{float32:.3f} s", f"{bfloat16:.3f} s", f"{bfloat16 / float32:.2f}"]
        print(f"| {processor} | {' | '.join(cells)} |", flush=True)
    ratio = costs[-1]["float32"]["imitation"] / costs[0]["float32"]["imitation"]
    print(f"\nAn imitation step in float32 takes {ratio:.2f} times as long on the last as on the first.")


def in_own_process(kind: str, steps: int, environment: dict[str, str]) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.optimizer_dtype", "--kind", kind, "--steps", str(steps)]
    done = subprocess.run(command, env=os.environ | environment | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
