"""A session in the background that trains in two processes, as on two GPUs."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from frozenlab.jobs import launcher
from frozenlab.jobs.state import Status
from frozenlab.models.evaluation import evaluate
from frozenlab.models.language.policy import HFPolicy
from frozenlab.models.settings import Launcher
from frozenlab.session import launch
from frozenlab.session.loop import suites_of
from frozenlab.session.session import Session
from frozenlab.session.spec import SessionSpec
from frozenlab.session.store import SessionStore
from tests.language_sessions import STEPS, tiny_spec, trained_weights
from tests.running import wait_for

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def spec(tiny_model: Path) -> SessionSpec:
    return tiny_spec(tiny_model, "lora", rows=4, launcher=Launcher(processes=2))


def ended(session: Session) -> Status:
    wait_for(lambda: not session.state().live, "the end")
    return session.state().status


def log(session: Session) -> str:
    return (session.dir / "worker.log").read_text()[-4000:]


@pytest.fixture(scope="module")
def whole(spec: SessionSpec, tmp_path_factory: pytest.TempPathFactory) -> Session:
    session = launch.start(spec, SessionStore(tmp_path_factory.mktemp("several")))
    assert ended(session) == "done", log(session)
    return session


def test_the_processes_share_the_boards_of_each_step(whole: Session, spec: SessionSpec) -> None:
    for stage in range(2):
        metrics = whole.metrics(stage)
        assert metrics["step"].tolist() == list(range(1, STEPS + 1))
        of_boards = [metrics[name] for name in metrics if name.startswith("valid_")]  # of the sizes that the stage's config asks for
        assert of_boards
        assert (metrics["valid"] <= sum(part.fillna(0) for part in of_boards) + 1e-9).all()
        proposal = whole.proposal(stage)
        assert proposal is not None and proposal.kept_because is None
    kept = whole.completions(0)
    assert kept is not None and len(kept) == STEPS * 2 * spec.training.completions_per_board, "the first process keeps those of its half"


def test_the_processes_answer_the_held_out_boards_as_one_would(whole: Session, spec: SessionSpec) -> None:
    suite, _ = suites_of(spec)
    base = evaluate(HFPolicy.load(spec.policy, spec.language, spec.seed), suite)
    for stage in (None, 0, 1):
        validation = whole.validation(stage)
        assert validation is not None and validation["board_id"].tolist() == base["board_id"].tolist()
    together = whole.validation(None)
    assert together is not None and together["completion"].tolist() == base["completion"].tolist()


def test_stopped_and_resumed_they_end_with_the_same_weights(whole: Session, spec: SessionSpec, tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    session = launch.start(spec, store)
    wait_for(lambda: not session.state().live or any(event["kind"] == "step" for event in session.events()), "a step")
    launcher.stop(session)
    assert ended(session) == "stopped", log(session)
    launch.resume(session, store)
    assert ended(session) == "done", log(session)
    for stage in range(2):
        torch.testing.assert_close(trained_weights(session, stage), trained_weights(whole, stage), atol=0.0, rtol=0.0)
