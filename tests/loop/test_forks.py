"""A fork equals its parent file by file up to a stage, and an independent session after it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

from frozenlab.engineer.engineers import PolicyEngineer
from frozenlab.engineer.engineers.human import proposal_of
from frozenlab.models.settings import LanguageSettings
from frozenlab.models.training.checkpoints import drop_resume_files
from frozenlab.session.forks import DECIDED, fork
from frozenlab.session.session import Session, SessionError
from frozenlab.session.store import SessionStore
from tests.builders import build_session, short_spec
from tests.running import finish, finished, weights


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_fork_equals_its_parent_up_to_the_fork_and_an_independent_session_after_it(parent: Session, tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    forked = fork(parent, 0, store, "forked", engineer="uniform")
    until = files(parent.dir / "stages" / "00")
    assert files(forked.dir / "baseline") == files(parent.dir / "baseline")
    assert files(forked.dir / "stages" / "00") == {name: data for name, data in until.items() if name not in DECIDED}
    assert [rate.stage for rate in forked.state().rates] == [None, 0]
    assert forked.spec.parent is not None and (forked.spec.parent.session, forked.spec.parent.stage) == ("parent", 0)
    finished(forked)
    alone = finished(store.create(short_spec("uniform"), "alone"))
    assert weights(forked) == weights(alone)
    for stage in range(2):
        pd.testing.assert_frame_equal(forked.validation(stage), alone.validation(stage))  # type: ignore[arg-type]
        assert forked.environment(stage) == alone.environment(stage)
        assert forked.proposal(stage).config_after == alone.proposal(stage).config_after  # type: ignore[union-attr]
    assert forked.environment(1) != parent.environment(1), "the other engineer had its way"


def test_a_fork_after_the_last_stage_only_asks_again(parent: Session, tmp_path: Path) -> None:
    forked = finished(fork(parent, 1, SessionStore(tmp_path), "asked", engineer="random"))
    assert files(forked.dir / "stages" / "01" / "policy") == files(parent.dir / "stages" / "01" / "policy")
    assert forked.proposal(0) == parent.proposal(0) and forked.proposal(1).engineer == "random"  # type: ignore[union-attr]


def test_a_lost_decision_of_the_parent_is_not_made_again_by_another_engineer(parent: Session, tmp_path: Path) -> None:
    forked = fork(parent, 1, SessionStore(tmp_path), "forked", engineer="uniform")
    (forked.stage_dir(0) / "proposal.json").unlink()
    before = files(forked.dir / "stages")
    assert finish(forked) == 1
    assert "stages/00/proposal.json is lost" in str(forked.state().error)
    shutil.copy(parent.stage_dir(0) / "proposal.json", forked.stage_dir(0))
    assert {name: data for name, data in files(forked.dir / "stages").items() if name in before} == before
    finished(Session(forked.dir))


@pytest.mark.slow
def test_a_person_overrules_the_engineer_once_and_a_parent_without_optimizer_is_trained_again(parent: Session, tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    bare = Session(Path(shutil.copytree(parent.dir, tmp_path / "bare")))
    drop_resume_files(bare.stage_dir(0) / "policy")
    kept = proposal_of(parent.spec.initial_config, parent.spec.initial_config, why="Leave it.", expected={3: 0.5})
    forks = [finished(fork(session, 0, store, name, given=kept)) for session, name in ((parent, "linked"), (bare, "again"))]
    for forked in forks:
        record = forked.proposal(0)
        assert record is not None and record.proposal == kept and record.engineer == "human"
        assert forked.environment(1).config == parent.spec.initial_config  # type: ignore[union-attr]
        assert forked.proposal(1).engineer == "policy"  # type: ignore[union-attr]
        assert weights(forked)[0] == weights(parent)[0]
    assert weights(forks[0]) == weights(forks[1])


@pytest.mark.parametrize(
    ("stage", "changes", "message"),
    [
        (5, {}, "has not validated a stage 6"),
        (-1, {}, "has not validated a stage 0"),
        (2, {}, "has not validated a stage 3"),
        (1, {"seed": 4}, "cannot have another seed"),
        (1, {"engineer": "nobody"}, "engineer"),
        (1, {"language": LanguageSettings()}, "cannot have another language"),
    ],
)
def test_an_impossible_fork_is_refused_and_leaves_nothing(tmp_path: Path, stage: int, changes: dict, message: str) -> None:
    built = build_session(tmp_path / "built", session_id="built", finished_stages=2)
    with pytest.raises(SessionError, match=message):
        fork(built, stage, SessionStore(tmp_path / "forks"), "forked", **changes)
    assert not (tmp_path / "forks").exists() or not list((tmp_path / "forks").iterdir())


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    built = build_session(tmp_path, session_id="built")
    with pytest.raises(SessionError, match="already exists"):
        fork(built, built.spec.stages - 1, SessionStore(tmp_path), "built")
    assert [path.name for path in tmp_path.iterdir()] == ["built"]


def test_a_fork_can_take_away_a_language_models_guidance_and_leaves_files_that_are_being_written(tmp_path: Path) -> None:
    theirs = {"policy": "Qwen/Qwen3-0.6B", "language": LanguageSettings()}
    built = build_session(tmp_path, short_spec().model_copy(update=theirs), "built")
    (built.stage_dir(0) / ".context.json.x1").write_text("half of it")
    forked = fork(built, 0, SessionStore(tmp_path), "forked", engineer=PolicyEngineer(guidance=False))
    assert forked.spec.engineer == PolicyEngineer(guidance=False) and forked.spec.language == built.spec.language
    assert not list(forked.dir.rglob(".context*"))
