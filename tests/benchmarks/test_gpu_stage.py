"""The GPU benchmark in small on the processor, because it must work at once on a machine that is lent for minutes."""

from __future__ import annotations

import pytest

from benchmarks.gpu_stage import main

pytestmark = [pytest.mark.training, pytest.mark.xdist_group("language")]


@pytest.mark.parametrize("weights", [[], ["--full"]], ids=["lora", "full"])
def test_it_runs_a_stage_and_prints_what_it_took(weights: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    small = ["--shape", "tiny", "--steps", "2", "--boards", "2", "--plans", "4", "--max-tokens", "16", "--rows", "4"]
    assert main([*small, "--writers", "transformers", *weights]) == 0
    lines = {line.rsplit("  ", 1)[0].strip(): line.rsplit("  ", 1)[1] for line in capsys.readouterr().out.splitlines() if "  " in line}
    for name in ("start, s", "stage, s", "step, s", "writing, s", "learning, s", "tokens/s written", "estimated before the start, GiB"):
        assert float(lines[name].replace(",", "")) >= 0
    assert float(lines["step, s"]) >= float(lines["writing, s"])
