"""The whole loop with the shipped lab model, in small: what it writes, that a seed fixes it, and that stopping loses nothing."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from frozenlab.base.errors import GenerationError
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.draw.hashes import canonical_hashes
from frozenlab.lake.suites import SuiteSpec
from frozenlab.models.folders import LAB_MODEL
from frozenlab.models.lab.policy import LabPolicy
from frozenlab.models.training.methods import TrainingSettings
from frozenlab.session.loop import boards_of, suites_of
from frozenlab.session.session import Session
from frozenlab.session.spec import SessionSpec
from frozenlab.session.store import SessionStore
from tests.builders import SEALED, short_spec
from tests.running import finish, finished, weights


def test_the_folder_holds_everything(whole: Session) -> None:
    for stage in range(2):
        names = {path.name for path in whole.stage_dir(stage).iterdir()}
        assert names == {
            "environment.json", "metrics.jsonl", "completions.parquet", "validation.parquet", "test.parquet",
            "context.json", "proposal.json", "policy",
        }  # fmt: skip
        assert len(whole.metrics(stage)) == 3
        assert len(whole.validation(stage)) == 10
        assert len(whole.completions(stage)) == 3 * 4 * 4
        assert whole.context(stage).prompt.startswith("<engineer>")
        assert whole.proposal(stage).attempts[-1].error is None
        assert whole.environment(stage).config.teams == (2,)
        assert len(whole.test(stage)) == 12
    assert {path.name for path in whole.stage_dir(None).iterdir()} == {
        "environment.json", "validation.parquet", "test.parquet", "context.json", "proposal.json",
    }  # fmt: skip
    assert whole.environment(0).config == whole.proposal(None).config_after
    assert whole.environment(1).config == whole.proposal(0).config_after
    assert whole.validation(None)["board_id"].tolist() == whole.validation(0)["board_id"].tolist()
    assert (whole.stage_dir(1) / "policy" / "optimizer.pt").exists(), "a fork may go on from it"
    assert whole.problems == []


def test_the_state_holds_the_end_and_the_rates(whole: Session) -> None:
    state = whole.state()
    assert (state.status, state.phase, state.progress) == ("done", "done", 1.0)
    assert [(rate.stage, rate.n) for rate in state.rates] == [(None, 12), (0, 12), (1, 12)], "counted on the test boards"
    kinds = [event["kind"] for event in whole.events()]
    assert kinds[0] == "started"
    assert kinds[-1] == "done"
    assert kinds.count("step") == 6


def test_the_same_seed_gives_the_same_session(whole: Session, tmp_path: Path) -> None:
    again = finished(SessionStore(tmp_path).create(short_spec(**SEALED), "again"))
    assert weights(again) == weights(whole)
    for stage in range(2):
        assert again.environment(stage) == whole.environment(stage)
        assert again.validation(stage).equals(whole.validation(stage))
        assert again.proposal(stage).config_after == whole.proposal(stage).config_after


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param(("step", 1, 1), id="in the second stage"),
        pytest.param(("proposed", None, None), id="after the first proposal"),
        pytest.param(("step", 0, 1), id="in a stage", marks=pytest.mark.slow),
        pytest.param(("validated", 0, None), id="after validation", marks=pytest.mark.slow),
        pytest.param(("tested", 1, None), id="after the test", marks=pytest.mark.slow),
        pytest.param(("baseline", None, None), id="at the base", marks=pytest.mark.slow),
    ],
)
def test_stop_and_resume_end_where_an_uninterrupted_run_ends(whole: Session, tmp_path: Path, moment: tuple) -> None:
    session = SessionStore(tmp_path).create(short_spec(**SEALED), "halted")
    assert finish(session, lambda event: (event["kind"], event.get("stage"), event.get("step")) == moment) == 3
    assert session.state().status == "stopped"
    assert finish(session) == 0
    assert weights(session) == weights(whole)
    assert [len(session.metrics(stage)) for stage in range(2)] == [3, 3]
    assert [len(session.completions(stage)) for stage in range(2)] == [48, 48]
    assert session.proposal(1).config_after == whole.proposal(1).config_after
    assert session.context(None) == whole.context(None) and session.test(None).equals(whole.test(None))


def test_test_boards_are_other_boards_than_those_of_validation_and_training(whole: Session) -> None:
    suite, test = suites_of(whole.spec)
    records = [whole.environment(stage) for stage in range(2)]
    drawn = [boards_of(record.config, suite + test, whole.spec, record.seed) for record in records]
    read, sealed, *trained = (set(canonical_hashes([instance.board for instance in boards])) for boards in (suite, test, *drawn))
    assert len(read) == 10 and len(sealed) == 12
    assert not sealed & read and not any(sealed & boards for boards in trained)


def test_the_engineer_sees_nothing_of_the_test_boards(whole: Session, tmp_path: Path) -> None:
    session = Session(shutil.copytree(whole.dir, tmp_path / "turned"))
    for stage in (None, 0, 1):
        rows = session.test(stage)
        valid = ~rows["valid"]
        fault, outcome = np.where(valid, None, "hole"), np.where(valid, "optimal", "hole")
        turned = rows.assign(valid=valid, optimal=valid, fault=fault, outcome=outcome, tokens=7)
        turned.to_parquet(session.stage_dir(stage) / "test.parquet")
        for name in ("context.json", "proposal.json"):
            (session.stage_dir(stage) / name).unlink()
    assert finish(session) == 0
    for stage in (None, 0, 1):
        assert not session.results(stage)["valid"].equals(whole.results(stage)["valid"])
        assert (session.stage_dir(stage) / "context.json").read_bytes() == (whole.stage_dir(stage) / "context.json").read_bytes()
        assert session.proposal(stage).attempts[-1].raw == whole.proposal(stage).attempts[-1].raw


def test_the_engineer_that_is_asked_first_reads_the_base_and_its_config_is_trained_on(whole: Session) -> None:
    context = whole.context(None)
    assert context.stage is None and context.sections["behaviour"] == () and context.sections["history"] == ()
    assert {line.cell for line in context.sections["failures"]} == {line.cell for line in context.sections["statistics"]} == {"3", "4"}
    assert whole.environment(None).config == whole.spec.initial_config
    assert whole.environment(0).config == whole.proposal(None).config_after
    assert "before stage 1" in whole.context(0).sections["history"][0].text
    with pytest.raises(ValueError, match="a person is first asked after stage 1"):
        short_spec("human", ask_first=True)
    for after in (None, 2):
        with pytest.raises(ValueError, match="would never be asked"):
            short_spec({"kind": "once", "of": "rules", "after": after})


def test_the_base_engineer_is_not_the_model_that_is_trained(whole: Session) -> None:
    context, policy = whole.context(1), LabPolicy.load(LAB_MODEL)
    engineers = {name: spec.engineer.build(spec.models(policy)) for name in ("base", "policy") for spec in [short_spec(name)]}
    before = {name: engineer.answer(context, seed=1).text for name, engineer in engineers.items()}
    with torch.no_grad():
        for weight in policy.model.parameters():
            weight.add_(torch.randn(weight.shape, generator=torch.Generator().manual_seed(0)))
    after = {name: engineer.answer(context, seed=1).text for name, engineer in engineers.items()}
    assert before["base"] == before["policy"] == after["base"] != after["policy"]


def test_a_proposal_whose_boards_cannot_be_drawn_is_not_trained_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = short_spec("random", ask_first=True).model_copy(update={"stages": 1})

    def draw(config: EnvironmentConfig, *arguments: Any, **options: Any) -> Any:
        if config != spec.initial_config:
            raise GenerationError("too few boards of size 3 have a solution")
        return generate(config, *arguments, **options)

    monkeypatch.setattr("frozenlab.tasks.lake.family.generate", draw)
    session = finished(SessionStore(tmp_path).create(spec, "undrawable"))
    record = session.proposal(None)
    assert record is not None and record.kept_because == "its boards cannot be drawn: too few boards of size 3 have a solution"
    assert record.proposal is None and not record.changes and session.environment(0).config == spec.initial_config


def test_a_policy_that_cannot_be_read_fails_with_the_reason(tmp_path: Path) -> None:
    spec = short_spec().model_copy(update={"policy": str(tmp_path / "nowhere")})
    session = SessionStore(tmp_path).create(spec, "broken")
    assert finish(session) == 1
    assert session.state().status == "failed"
    assert "nowhere" in (session.state().error or "")


@pytest.mark.parametrize(("version", "schedule", "first"), [(2, "linear", 0.0), (3, "linear", 1 / 3), (3, "constant", 1 / 3)])
def test_the_first_step_learns_in_new_sessions_and_those_of_version_2_go_on_as_they_began(
    tmp_path: Path, version: int, schedule: Any, first: float
) -> None:
    training = TrainingSettings(steps=4, boards_per_step=2, completions_per_board=2, schedule=schedule, warmup_steps=2)
    suite = SuiteSpec(agents=(2,), sizes=(3,), boards_per_cell=2, seed=1)
    spec = short_spec("fixed", stages=1, schema_version=version, training=training, suite=suite)
    assert SessionSpec.model_validate_json(spec.model_dump_json()).schema_version == spec.changed(seed=4).schema_version == version
    rates = finished(SessionStore(tmp_path).create(spec, "short")).metrics(0)["learning_rate"] / training.learning_rate
    assert rates[0] == pytest.approx(first) and rates.max() == pytest.approx(1)
