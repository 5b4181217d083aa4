"""The GPU benchmark in small on the processor, because it must work at once on a machine that is lent for minutes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks import processor_speed
from benchmarks.gpu_stage import SHAPES, build_model, main, options_of, run_stage, spec_of
from frozenlab.models.training.runs.grpo import Batch, teaches
from frozenlab.models.training.runs.lean_grpo import LeanGRPOTrainer

pytestmark = pytest.mark.long

SMALL = ["--shape", "tiny", "--steps", "2", "--boards", "4", "--plans", "4", "--max-tokens", "16", "--rows", "4"]


def test_it_runs_a_stage_and_prints_what_it_took(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SMALL, "--writers", "transformers"]) == 0
    lines = {line.rsplit("  ", 1)[0].strip(): line.rsplit("  ", 1)[1] for line in capsys.readouterr().out.splitlines() if "  " in line}
    for name in ("start, s", "stage, s", "step, s", "writing, s", "learning, s", "tokens/s written", "estimated before the start, GiB"):
        assert float(lines[name].replace(",", "")) >= 0
    assert float(lines["step, s"]) >= float(lines["writing, s"])


@pytest.mark.parametrize("how", [["--full"], ["--trl", "--checkpointing", "on", "--mixed"]], ids=["full", "trl"])
def test_it_can_be_told_how_to_learn(how: list[str], tmp_path: Path) -> None:
    build_model(SHAPES["tiny"], tmp_path, "float32")
    options = options_of([*SMALL, *how])
    figures = run_stage(spec_of(options, str(tmp_path), "transformers"), options)
    assert figures["step, s"] > figures["writing, s"] > 0 and figures["tokens/s learned"] > 0


def test_what_it_learns_from_has_a_gradient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random weights solve nothing: did they earn what they deserve, nothing would be learnt, and learning would seem to cost nothing."""
    taught: list[int] = []
    monkeypatch.setattr(LeanGRPOTrainer, "_compute_loss", noting(LeanGRPOTrainer._compute_loss, taught))
    build_model(SHAPES["tiny"], tmp_path, "float32")
    options = options_of([*SMALL, "--teaching", "0.5"])
    run_stage(spec_of(options, str(tmp_path), "transformers"), options)
    assert sum(taught) == 2 * 2 * 4


def noting(compute_loss: Callable[..., Any], taught: list[int]) -> Callable[..., Any]:
    """The loss as it is; notes how many completions it is made of."""

    def noted(trainer: LeanGRPOTrainer, model: Any, inputs: Batch) -> Any:
        taught.append(0 if inputs["idle"] else int(teaches(inputs["advantages"]).sum()))
        return compute_loss(trainer, model, inputs)

    return noted


def test_the_speed_on_a_processor_is_told_for_each_saving(capsys: pytest.CaptureFixture[str]) -> None:
    processor_speed.main(["--shape", "tiny", "--examples", "4", "--boards", "2", "--plans", "4", "--max-tokens", "16", "--rows", "4"])
    rows = [line for line in capsys.readouterr().out.splitlines() if " x, this " in line]
    assert len(rows) == 2 + len(processor_speed.WARM_START) + len(processor_speed.GRPO)
    assert all(float(row.split(" s ")[0].split()[-1]) >= 0 for row in rows)
