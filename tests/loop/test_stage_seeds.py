"""The seeds of a stage: its boards and its proposal have their own, and boards drawn by an older version keep theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from frozenlab.engineer.schema import Attempt, Context, Proposal, Written
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.draw.hashes import canonical_hashes
from frozenlab.lake.instance import Instance
from frozenlab.session import loop
from frozenlab.session.recorder import Recorder
from frozenlab.session.session import Session
from tests.builders import build_session, small_spec


class Speechless:
    """An engineer of whom no answer can be used; keeps the seeds that it was asked with."""

    kind: str = "policy"

    def __init__(self) -> None:
        self.seeds: list[int] = []

    def prompt(self, context: Context) -> str | None:
        return None

    def answer(self, context: Context, seed: int, failed: Attempt | None = None) -> Written:
        self.seeds.append(seed)
        raise ValueError("no words")

    def read(self, context: Context, config: EnvironmentConfig, raw: str, seed: int) -> Proposal:
        raise AssertionError("there was no answer")


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return build_session(tmp_path, small_spec(stages=3, sizes=(3, 4)))


def test_no_two_draws_of_a_session_have_the_same_seed(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    for record in session.dir.glob("stages/*/*.json"):
        if record.name in ("environment.json", "proposal.json"):
            record.unlink()
    engineer, recorder, config = Speechless(), Recorder(session), session.spec.initial_config
    drawn: list[int] = []

    def generated(config: EnvironmentConfig, n: int, seed: int, **named: object) -> list[Instance]:
        drawn.append(seed)
        return generate(config, 4, seed=0)

    monkeypatch.setattr("frozenlab.tasks.lake.family.generate", generated)
    for stage in range(3):
        context = session.context(stage)
        loop.draw_boards(config, [], stage, recorder)
        record = loop.propose(engineer, context, config, recorder)
        assert len(record.attempts) == 2
    assert len(drawn) == 3 and len(engineer.seeds) == 6
    assert len({*drawn, *engineer.seeds}) == 9


def test_a_stage_that_was_drawn_by_another_version_keeps_its_boards(session: Session) -> None:
    record = session.environment(1)
    assert record is not None and record.seed == 1, "as builders draw it"
    boards = loop.draw_boards(record.config, [], 1, Recorder(session))
    expected = loop.boards_of(record.config, [], session.spec, seed=1)
    assert canonical_hashes([instance.board for instance in boards]).tolist() == canonical_hashes([e.board for e in expected]).tolist()
    assert session.environment(1) == record
