"""Whole sessions with a small real language model in the paper's roles: policy and engineer, all weights or LoRA."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import torch

from frozenlab.app.play.planner import plans
from frozenlab.cli.main import main
from frozenlab.lake.board import Board
from frozenlab.lake.instance import Instance, write_instances
from frozenlab.lake.suites import build_suite
from frozenlab.models.folders import noted_question
from frozenlab.models.language.policy import HFPolicy
from frozenlab.models.settings import LanguageSettings
from frozenlab.models.training.checkpoints import damage
from frozenlab.session.footprint import shortfalls
from frozenlab.session.planner import Planner
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore
from tests.faults.disturbed import Order
from tests.faults.harness import Bench, differences
from tests.language_sessions import LORA, REAL, needs_real_model, tiny_settings, tiny_spec, trained_weights
from tests.running import finish
from tests.running import finished as to_the_end


@pytest.fixture(scope="module")
def finished(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Session]:
    """A whole session of each kind, run once for all tests."""
    done: dict[str, Session] = {}

    def session(kind: str) -> Session:
        if kind not in done:
            done[kind] = to_the_end(SessionStore(tmp_path_factory.mktemp(kind)).create(tiny_spec(tiny_model, kind), kind))
        return done[kind]

    return session


@pytest.mark.parametrize("kind", LORA)
def test_it_goes_from_stage_to_validation_to_proposal_to_stage(kind: str, finished: Callable[[str], Session]) -> None:
    session = finished(kind)
    for stage in range(2):
        metrics = session.metrics(stage)
        assert metrics["step"].tolist() == [1, 2, 3]
        assert (metrics["grad_norm"] > 0).any(), "rewards differ, so it learns"
        validation, record, context = session.validation(stage), session.proposal(stage), session.context(stage)
        assert validation is not None and len(validation) == 10 and validation["completion"].str.startswith("Agent 0:").all()
        assert context is not None and context.prompt is not None and "multi-agent path finding" in context.prompt
        assert record is not None and record.kept_because is None, record
        assert len(record.attempts) == 1 and (record.attempts[0].prompt_tokens or 0) > 500
        said = json.loads(record.attempts[0].raw)
        assert list(said) == ["rationale", "claims", "preserved", "cells"]
    first, second = session.environment(0), session.environment(1)
    proposal = session.proposal(0)
    assert first and second and proposal and second.config == proposal.config_after != first.config
    assert any(not torch.equal(trained_weights(session, 0)[name], tensor) for name, tensor in trained_weights(session, 1).items())


def test_lora_leaves_only_its_adapters_and_all_weights_nothing_to_go_on_from(finished: Callable[[str], Session]) -> None:
    names = {kind: {path.name for path in (finished(kind).stage_dir(1) / "policy").iterdir()} for kind in LORA}
    assert {"adapter_model.safetensors", "optimizer.pt"} <= names["lora"] and "model.safetensors" not in names["lora"]
    assert not {name for name in names["full"] if name.endswith((".pt", ".pth", ".bin"))}, "twice the size of the model"
    assert all("lora" in name for name in trained_weights(finished("lora"), 1))


@pytest.mark.slow
def test_a_session_with_the_compact_question_leaves_checkpoints_that_are_asked_it(tiny_model: Path, tmp_path: Path) -> None:
    spec = tiny_spec(tiny_model, "lora", "fixed", question="compact").changed(stages=1)
    session = to_the_end(SessionStore(tmp_path).create(spec, "compact"))
    assert (validation := session.validation(0)) is not None and set(validation["outcome"]) <= {"parse_error", "truncated"}, "not taught"
    left = session.stage_dir(0) / "policy"
    assert damage(left) is None and noted_question(str(left)) == "compact"
    onwards = {"policy": str(left), "language": tiny_settings(lora=LORA["lora"])}
    assert 'policy was taught the question "compact", and' in "; ".join(shortfalls(spec.changed(**onwards)))


@pytest.mark.long
def test_adapters_that_a_session_left_are_trained_on_by_another(finished: Callable[[str], Session], tmp_path: Path) -> None:
    left = finished("lora").stage_dir(1) / "policy"
    spec = finished("lora").spec.changed(policy=str(left), stages=1, engineer="fixed")
    session = to_the_end(SessionStore(tmp_path).create(spec, "onwards"))
    assert (session.metrics(0)["grad_norm"] > 0).any()
    before, after = trained_weights(finished("lora"), 1), trained_weights(session, 0)
    assert before.keys() == after.keys() and any(not torch.equal(before[name], after[name]) for name in after)
    first, last = session.validation(None), finished("lora").validation(1)
    assert first is not None and last is not None and first["completion"].tolist() == last["completion"].tolist(), "it goes on from there"


@pytest.mark.long
@pytest.mark.parametrize("kind", [*LORA, "bfloat16"])
@pytest.mark.parametrize(("stage", "step"), [(0, 1), (1, 1)])
def test_stopped_and_resumed_it_ends_with_the_same_weights(
    kind: str, stage: int, step: int, finished: Callable[[str], Session], tiny_model: Path, tmp_path: Path
) -> None:
    session = SessionStore(tmp_path).create(tiny_spec(tiny_model, kind), "halted")
    assert finish(session, lambda event: event["kind"] == "step" and (event["stage"], event["step"]) == (stage, step)) == 3
    assert session.state().status == "stopped"
    assert finish(session) == 0
    whole = finished(kind)
    for n in range(2):
        assert session.proposal(n).config_after == whole.proposal(n).config_after  # type: ignore[union-attr]
        torch.testing.assert_close(trained_weights(session, n), trained_weights(whole, n), atol=0.0, rtol=0.0)


@pytest.mark.long
@needs_real_model
def test_the_real_model_killed_in_its_second_stage_ends_with_the_same_bits(tmp_path: Path) -> None:
    spec = tiny_spec(REAL, "lora", "rules", dtype="auto", question="compact", max_tokens=24, context=2048, rows=16)
    # It solves none, so it learns to end its answers before they are cut off, as about one of 16 does.
    few = {"steps": 2, "boards_per_step": 1, "completions_per_board": 16, "overlong": "penalised"}
    spec = spec.changed(training=spec.training.model_copy(update=few), suite=spec.suite.model_copy(update={"boards_per_cell": 1}))
    bench = Bench(tmp_path)
    whole, killed = (SessionStore(tmp_path / name).create(spec, "real") for name in ("whole", "killed"))
    assert bench.run(whole) == 0, whole.state().error
    assert bench.run(killed, Order(at="event step/1/2")) == -signal.SIGKILL
    assert (killed.stage_dir(1) / "trainer" / "checkpoint-3").is_dir(), "it goes on from the first step of the second stage"
    assert bench.run(killed) == 0, killed.state().error
    assert not differences(killed, whole)
    assert happened(killed) == happened(whole) and any(event["kind"] == "resumed" for event in killed.events())
    assert any((whole.metrics(stage)["grad_norm"] > 0).any() for stage in range(2)), "it learns"


def happened(session: Session) -> list[dict]:
    """Its events, each once, but for times and what the machine alarms about."""
    told = [{name: what for name, what in event.items() if name != "time"} for event in session.events()]
    return [event for place, event in enumerate(told) if event not in told[:place] and event["kind"] not in ("resumed", "alarm")]


@pytest.mark.long
@pytest.mark.parametrize("kind", LORA)
def test_a_stage_is_asked_from_the_app_and_measured_and_exported_from_the_command_line(
    kind: str, finished: Callable[[str], Session], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    session = finished(kind)
    validation = session.validation(1)
    first = validation.iloc[0]
    board = Board.from_dict(json.loads(first["board"]))
    planner = Planner()
    checkpoint = session.checkpoints()[-1]
    optimum = int(first["optimal_makespan"])
    [answer] = plans(planner, checkpoint.path, board, language=checkpoint.language, optimum=optimum)
    planner.close()
    assert (answer.completion, answer.verdict.outcome) == (first["completion"], first["outcome"])

    monkeypatch.setenv("FROZENLAB_SESSIONS", str(session.dir.parent))
    boards = tmp_path / "boards.jsonl"
    write_instances(boards, build_suite(session.spec.suite))
    assert main(["evaluate", f"{kind}:2", "--suite", str(boards), "--out", str(tmp_path / "result"), "--json"]) == 0
    assert sum(cell["n"] for cell in json.loads(capsys.readouterr().out)["cells"]) == len(validation)
    measured = pd.read_parquet(tmp_path / "result" / "boards.parquet")
    assert measured["completion"].tolist() == validation["completion"].tolist()

    assert main(["export-model", f"{kind}:2", str(tmp_path / "whole"), "--json"]) == 0
    policy = HFPolicy.load(str(tmp_path / "whole"), LanguageSettings(dtype="float32", device="cpu", lora=None, vllm=None, max_tokens=40))
    assert policy.answer([Instance.unsolved(board)])[0][0].text == first["completion"]
    assert main(["export-model", f"{kind}:2", str(tmp_path / "whole")]) == 2, "what is there is not written over"
    adapters = main(["export-model", f"{kind}:2", str(tmp_path / "adapters"), "--adapter"])
    assert (adapters, (tmp_path / "adapters" / "adapter_model.safetensors").exists()) == ((0, True) if kind == "lora" else (2, False))
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")], "no half-written folder stays"
