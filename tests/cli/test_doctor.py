"""``frozenlab doctor``."""

from __future__ import annotations

import pytest

from frozenlab.cli import doctor
from frozenlab.jobs.machine import Gpu, gpus
from frozenlab.session.footprint import GIB
from frozenlab.session.presets import PRESETS
from tests.cli.calls import answer


def test_doctor_reports_what_can_run(capsys: pytest.CaptureFixture[str]) -> None:
    report = answer(capsys, "doctor")
    assert report["can"]["lab-model"] is True
    assert {"Python", "packages", "lab model", "GPU"} <= {check["what"] for check in report["checks"]}
    assert set(report["presets"]) == set(PRESETS)
    assert report["presets"]["quick"] is None
    if not gpus():
        assert "it needs a GPU" in report["presets"]["paper"]


@pytest.mark.parametrize(("files", "ok"), [(256, False), (65_536, True)])
def test_doctor_says_when_a_server_could_open_few_files(files: int, ok: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "open_files", lambda: files)
    [check] = [check for check in doctor.examine()["checks"] if check["what"] == "open files"]
    assert check["ok"] is ok and ("4,096" in check["advice"]) is not ok


@pytest.mark.parametrize(("fast", "found"), [(True, "the processor has instructions for it"), (False, "so float32 is used")])
def test_doctor_says_whether_the_processor_has_bfloat16(fast: bool, found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frozenlab.models.training.optimizers.fast_bfloat16", lambda: fast)
    assert doctor.bfloat16().endswith(found)


def test_doctor_tells_what_each_preset_takes_on_each_card(monkeypatch: pytest.MonkeyPatch) -> None:
    h100, unknown = Gpu("NVIDIA H100 80GB HBM3", 80 * GIB), Gpu("Voodoo 2", 8 * GIB)
    monkeypatch.setattr(doctor, "gpus", lambda: (h100, h100, unknown))
    known, other = doctor.on_cards()
    assert known["GiB"] == 80 and set(known["presets"]) == {"paper", "qwen3-1.7b", "qwen3-0.6b"}
    assert known["presets"]["paper"]["GiB"] < 80 and known["presets"]["paper"]["hours"] > known["presets"]["qwen3-1.7b"]["hours"] > 0
    assert other["presets"]["paper"]["hours"] is None
