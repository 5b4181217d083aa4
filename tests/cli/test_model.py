"""``frozenlab evaluate``."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from frozenlab.cli.main import main
from frozenlab.experiments.benchmark.task import task_for
from frozenlab.experiments.references import references
from frozenlab.experiments.replays.task import obstacle
from frozenlab.jobs.machine import gpus
from frozenlab.jobs.queue.db import QueueDB
from frozenlab.jobs.state import store_state
from frozenlab.models.folders import ADAPTER, ADAPTER_CONFIG, PLANNER, policy_folder
from frozenlab.session.presets import preset_spec
from frozenlab.session.state import State
from frozenlab.session.store import SessionStore
from tests.cli.calls import answer, reason
from tests.language_sessions import tiny_spec


def test_evaluate_gives_the_same_every_time(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path / "sessions"))
    config, suite = tmp_path / "c.json", tmp_path / "suite.jsonl"
    config.write_text('{"agents": 3, "sizes": {"4": {"share": 0.5}, "5": {"share": 0.5}}}')
    answer(capsys, "generate", str(config), "--n", "12", "--out", str(suite))
    reports = [answer(capsys, "evaluate", "assets/lab-model", "--suite", str(suite), "--out", str(tmp_path / name)) for name in "ab"]
    for number, name in enumerate("ab"):
        written = json.loads((tmp_path / name / "report.json").read_text())
        assert reports[number] == written | {"folder": str(tmp_path / name)}
        assert sorted(path.name for path in (tmp_path / name).iterdir()) == ["boards.parquet", "cells.csv", "origin.json", "report.json"]
    assert not QueueDB(tmp_path / "sessions").jobs(), "it counts no more"
    first, second = ({k: v for k, v in one.items() if k not in ("created", "seconds", "folder", "id")} for one in reports)
    assert first == second
    assert (first["title"], first["suite"], [team["n"] for team in first["teams"]]) == ("lab model", "suite.jsonl", [12])
    for file in ("boards.parquet", "cells.csv"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    assert reason(capsys, "evaluate", "lab-model", "--suite", str(suite), "--out", str(tmp_path / "a")).endswith("name a new folder")

    assert main(["evaluate", "lab-model", "--suite", str(suite), "--title", "Mine"]) == 0
    table = capsys.readouterr().out
    assert table.startswith("Mine on suite.jsonl: 12 boards")
    assert "     3  mean    12" in table and "faults: " in table
    (result,) = (tmp_path / "sessions" / "results").iterdir()
    assert result.name.endswith("-mine") and (result / "report.json").exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((), "give either a spec file or --preset"),
        (("--preset", "quick"), "a warm start is for language models"),
        (("--preset", "nonsense"), "there is no preset 'nonsense'"),
        (("--preset", "paper"), "it needs a GPU"),
    ],
)
def test_a_warm_start_that_makes_no_sense_is_refused(
    given: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if said == "it needs a GPU" and gpus():
        pytest.skip("there is one")
    assert said in reason(capsys, "warm-start", *given, "--out", str(tmp_path / "new"))
    assert "exists already" in reason(capsys, "warm-start", "--preset", "qwen3-0.6b", "--out", str(tmp_path))


@pytest.mark.slow
def test_a_warm_start_that_was_stopped_goes_on_to_the_same_weights(
    tiny_model: Path, store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from frozenlab.models.training import checkpoints, warm_start

    spec = tmp_path / "spec.json"
    spec.write_text(tiny_spec(tiny_model, "full", max_tokens=400).model_dump_json())
    monkeypatch.setattr(warm_start, "KEEP_EVERY", 0)
    monkeypatch.setattr("frozenlab.cli.common.LONG", 0)

    def begun(out: str, *, rate: str = "1e-3", halt: int = 0, status: int = 0) -> str:
        """What it says on stderr."""

        def seal(checkpoint: Path) -> None:
            checkpoints.seal(checkpoint)
            if checkpoints.steps_of(checkpoint) == halt:
                raise KeyboardInterrupt

        monkeypatch.setattr(warm_start, "seal", seal)
        given = ["--examples", "24", "--batch", "4", "--learning-rate", rate, "--out", str(tmp_path / out)]
        assert main(["warm-start", str(spec), *given]) == status
        return capfd.readouterr().err

    assert "learning: 6 of 6 steps, loss " in begun("whole")
    said = begun("halted", halt=2, status=2)
    assert said.endswith("frozenlab: stopped: the same command goes on from where it was at most ten minutes ago\n")
    left = tmp_path / "halted.unfinished"
    said = begun("halted", rate="2e-3", status=2)
    assert f"the warm start in {left} began with other learning_rate: give the same, or delete that folder" in said
    said = begun("halted")
    assert "goes on after step 2 of 6\n" in said and "learning: 3 of 6 steps" in said and "learning: 2 of 6" not in said
    whole, halted = (tmp_path / name / "model.safetensors" for name in ("whole", "halted"))
    assert whole.read_bytes() == halted.read_bytes()
    assert not [path for path in tmp_path.iterdir() if "unfinished" in path.name]


def test_a_model_behind_a_server_needs_an_address_that_is_allowed(capsys: pytest.CaptureFixture[str]) -> None:
    assert "needs --base-url" in reason(capsys, "evaluate", "api:gpt", "--suite", "quick")
    assert "openai" in reason(capsys, "evaluate", "api:gpt", "--suite", "quick", "--base-url", "https://api.openai.com/v1")


def test_adapters_wait_for_the_model_that_they_belong_to(
    quiet: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("frozenlab.models.folders.ASSETS", tmp_path / "assets")
    (shipped := policy_folder(PLANNER)).mkdir(parents=True)
    (shipped / ADAPTER).touch()
    (shipped / ADAPTER_CONFIG).write_text('{"base_model_name_or_path": "smollm2"}')
    session = quiet.create(preset_spec("smollm2"), "mine")
    shutil.copytree(shipped, session.stage_dir(0) / "policy")
    for one in (session, quiet.create(preset_spec("smollm2").changed(policy="smollm2"), "as-published")):
        store_state(one.dir, State(status="stopped"))
    out, suite = ("--out", str(tmp_path / "new")), ("--suite", "quick")
    commands = (
        ("run", "--preset", "smollm2"), ("warm-start", "--preset", "smollm2", *out), ("resume", "mine"), ("resume", "as-published"),
        *(("evaluate", name, *suite) for name in (PLANNER, str(shipped), "mine:base", "mine:1", "as-published:base")),
        ("export-model", PLANNER, str(tmp_path / "new")),
    )  # fmt: skip
    for command in commands:
        assert "the model smollm2 is not on this machine yet: frozenlab fetch-model smollm2" in reason(capsys, *command), command
    assert "frozenlab fetch-model smollm2" in (obstacle(session, 0, "policy") or ""), "nor is it asked again for a config"
    assert not references({"policy": PLANNER}), "a session that is imported elsewhere finds it by its name"
    (folder := policy_folder("smollm2")).mkdir(parents=True)
    (folder / "model.safetensors").touch()
    task = task_for(str(shipped), "quick", quiet)
    assert (task.policy, task.title) == (PLANNER, PLANNER) and task.language is not None and task.language.question == "full"
    (shipped / "question.json").write_text('{"question": "compact"}')
    for name in (PLANNER, "mine:base", "mine:1"):
        asked = task_for(name, "quick", quiet).language
        assert asked is not None and asked.question == "compact"
