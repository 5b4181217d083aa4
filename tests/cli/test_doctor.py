from __future__ import annotations

import argparse

import pytest

from frozenlab.cli import doctor
from frozenlab.jobs.machine import Gpu, gpus
from frozenlab.models.folders import PLANNER
from frozenlab.session.footprint import COMMON, GIB
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
    monkeypatch.setattr(doctor, "fast_bfloat16", lambda: fast)
    assert doctor.bfloat16().endswith(found)


def test_doctor_tells_what_each_preset_takes_on_each_card(monkeypatch: pytest.MonkeyPatch) -> None:
    h100, unknown = Gpu("NVIDIA H100 80GB HBM3", 80 * GIB), Gpu("Voodoo 2", 8 * GIB)
    monkeypatch.setattr(doctor, "gpus", lambda: (h100, h100, unknown))
    known, other = doctor.on_cards()
    assert known["GiB"] == 80 and set(known["presets"]) == {"paper", "qwen3-1.7b", "qwen3-0.6b", "smollm2"}
    assert known["presets"]["paper"]["GiB"] < 80 and known["presets"]["paper"]["hours"] > known["presets"]["qwen3-1.7b"]["hours"] > 0
    assert other["presets"]["paper"]["hours"] is None


def test_doctor_tells_what_a_language_model_takes_on_the_processor(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "shortfalls", lambda spec: [] if spec.policy == PLANNER else ["it needs a GPU"])
    monkeypatch.setattr(doctor, "shape_on_processor", lambda spec: COMMON["smollm2"])
    report = doctor.examine()
    assert list(report["processor"]) == ["smollm2"] and report["presets"]["smollm2"] is None
    taken = report["processor"]["smollm2"]
    assert 1 < taken["GiB"] < 8 and 0.3 < taken["CPU hours"] < 40
    [check] = [check for check in report["checks"] if check["what"] == "language models on the processor"]
    assert "0.13 billion weights learns about" in check["found"]
    doctor.run_doctor(argparse.Namespace(json=False))
    assert f"yes  smollm2: about {taken['GiB']:g} GiB and" in capsys.readouterr().out
