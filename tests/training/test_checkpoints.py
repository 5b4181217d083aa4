"""Checkpoints: a whole one is distinguished from a torn one, and the file that is wrong is named."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from frozenlab.models.training.checkpoints import SEAL, damage, drop_resume_files, keep_checkpoint, newest_checkpoint, seal

RESUME = ["optimizer.pt", "rng_state.pth", "scheduler.pt", "trainer_state.json"]


def checkpoint(work: Path, steps: int = 10) -> Path:
    folder = work / f"checkpoint-{steps}"
    folder.mkdir(parents=True)
    save_file({"w": np.arange(64.0)}, folder / "model.safetensors")
    for name in RESUME[:3]:
        torch.save({"state": torch.arange(64)}, folder / name)
    (folder / "trainer_state.json").write_text(json.dumps({"global_step": steps}))
    (folder / "config.json").write_text("{}")
    (folder / "training_args.bin").write_text("a pickle")
    return folder


def break_file(file: Path, how: str) -> None:
    data = file.read_bytes()
    if how == "gone":
        file.unlink()
    else:
        file.write_bytes(data[: len(data) // 2] if how == "torn" else bytes(len(data)))


@pytest.mark.parametrize("how", ["gone", "torn", "zeroed"])
@pytest.mark.parametrize("name", ["model.safetensors", "config.json", *RESUME])
@pytest.mark.parametrize("sealed", [True, False])
def test_a_broken_file_is_named(tmp_path: Path, name: str, how: str, sealed: bool) -> None:
    folder = checkpoint(tmp_path)
    if sealed:
        seal(folder)
    assert damage(folder, to_go_on=True) is None
    break_file(folder / name, how)
    expected = sealed or (name, how) not in (("config.json", "gone"),)  # no list says that it was there
    assert str(damage(folder, to_go_on=True)).startswith(name if expected else "None")
    if name in RESUME:
        assert damage(folder) is None, "it is a policy all the same"


def test_the_seconds_that_a_step_took_are_in_no_seal(tmp_path: Path) -> None:
    seals = []
    for seconds in (1.5, 2.5):
        folder = checkpoint(tmp_path / str(seconds))
        (folder / "trainer_state.json").write_text(json.dumps({"global_step": 10, "log_history": [{"step": 1, "step_time": seconds}]}))
        seal(folder)
        assert damage(folder, to_go_on=True) is None
        seals.append((folder / SEAL).read_bytes())
    assert seals[0] == seals[1]


def test_one_changed_number_is_noticed(tmp_path: Path) -> None:
    folder = checkpoint(tmp_path)
    seal(folder)
    data = bytearray((folder / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (folder / "model.safetensors").write_bytes(data)
    assert damage(folder) == "model.safetensors is not what was written: torn, or changed since"


@pytest.mark.parametrize("text", ["", "[]", '{"model.safetensors": 1}', '{"../x": "y"}', "null", "[" * 100_000])
def test_a_seal_that_is_none_is_damage(tmp_path: Path, text: str) -> None:
    folder = checkpoint(tmp_path)
    (folder / SEAL).write_text(text)
    assert damage(folder, to_go_on=True) is not None


def test_the_one_before_goes_when_the_next_is_sealed_and_none_without_seal_counts(tmp_path: Path) -> None:
    seal(checkpoint(tmp_path, 10))
    later = checkpoint(tmp_path, 20)
    assert newest_checkpoint(tmp_path, 30) == tmp_path / "checkpoint-10", "the other is not complete"
    seal(later)
    assert newest_checkpoint(tmp_path, 30) == later and not (tmp_path / "checkpoint-10").exists()
    assert newest_checkpoint(tmp_path, 19) is None, "the record does not reach that far"
    assert not (later / "training_args.bin").exists()


def test_a_finished_checkpoint_takes_the_place_of_a_torn_one(tmp_path: Path) -> None:
    place = tmp_path / "policy"
    place.mkdir()
    (place / "model.safetensors").write_text("half of it")
    done = checkpoint(tmp_path / "trainer", 20)
    seal(done)
    keep_checkpoint(done, place)
    assert damage(place, to_go_on=True) is None
    assert [path.name for path in tmp_path.iterdir()] == ["policy"]
    drop_resume_files(place)
    assert damage(place) is None and damage(place, to_go_on=True) == "optimizer.pt is missing"
