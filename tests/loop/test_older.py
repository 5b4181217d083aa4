"""Files of version 1, which kept an engineer in three places, are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from frozenlab.base import places
from frozenlab.engineer.engineers import ApiEngineer, BaseEngineer, PolicyEngineer, RulesEngineer
from frozenlab.experiments.replays.task import ReplayTask
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.session.presets import preset_spec
from frozenlab.session.spec import SessionSpec

SERVER = {"base_url": "http://127.0.0.1:8000/v1", "model": "some", "guidance": False, "temperature": 0.2}
QWEN = {"guidance": False, "proposal_tokens": 512, "proposal_temperature": 0.9, "context": 4096, "max_tokens": 256}
MODEL = {"policy": "Qwen/Qwen3-0.6B", "language": QWEN, "engineer": "policy", "api": None}


def version_1(**fields: Any) -> dict[str, Any]:
    """The preset `study` as version 1 wrote it."""
    spec = json.loads(preset_spec("study").model_dump_json(exclude={"engineer"}))
    return spec | {"schema_version": 1, "engineer": "policy", "api": None} | fields


@pytest.mark.parametrize(
    ("fields", "engineer"),
    [
        ({}, PolicyEngineer()),
        ({"engineer": "rules"}, RulesEngineer()),
        ({"engineer": "api", "api": SERVER}, ApiEngineer(**SERVER)),
        (MODEL, PolicyEngineer(guidance=False, max_tokens=512, temperature=0.9)),
        (MODEL | {"engineer": "base"}, BaseEngineer(guidance=False, max_tokens=512, temperature=0.9)),
        (MODEL | {"engineer": "rules"}, RulesEngineer()),
    ],
)
def test_a_spec_of_version_1_is_read_and_written_as_version_2(fields: dict[str, Any], engineer: object) -> None:
    spec = SessionSpec.model_validate_json(json.dumps(version_1(**fields)))
    assert spec.engineer == engineer
    written = json.loads(spec.model_dump_json())
    assert written["schema_version"] == 2 and "api" not in written and "guidance" not in (written["language"] or {})
    assert SessionSpec.model_validate(written) == spec


def test_a_spec_of_version_1_without_an_engineer_has_the_policy() -> None:
    bare = {name: value for name, value in version_1(**MODEL).items() if name not in ("engineer", "api")}
    assert SessionSpec.model_validate(bare).engineer == PolicyEngineer(guidance=False, max_tokens=512, temperature=0.9)


@pytest.mark.parametrize("fields", [{"engineer": "api"}, {"engineer": "rules", "api": SERVER}])
def test_a_server_without_its_engineer_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="give both or neither"):
        SessionSpec.model_validate(version_1(**fields))


def study(session: dict[str, Any], *arms: dict[str, Any]) -> StudySpec:
    older = [{"sections": None, "engineer": None, "api": None, "language": None, "guard": None} | arm for arm in arms]
    return StudySpec.model_validate({"schema_version": 1, "title": "x", "session": session, "arms": older, "seeds": [0]})


def test_arms_of_version_1_are_read() -> None:
    engineers = study(version_1(), {"name": "rules", "engineer": "rules"}, {"name": "api", "engineer": "api", "api": SERVER})
    assert [arm.engineer for arm in engineers.arms] == [RulesEngineer(), ApiEngineer(**SERVER)]
    guidance = study(version_1(**MODEL), {"name": "told", "language": QWEN | {"guidance": True}}, {"name": "untold", "language": QWEN})
    own = PolicyEngineer(max_tokens=512, temperature=0.9, guidance=True)
    assert [arm.engineer for arm in guidance.arms] == [own, own.model_copy(update={"guidance": False})]
    base = study(version_1(**MODEL), {"name": "policy"}, {"name": "base", "engineer": "base"})
    assert base.spec_of(base.arms[1], 0).engineer == BaseEngineer(guidance=False, max_tokens=512, temperature=0.9)
    with pytest.raises(ValidationError, match="more than its guidance differs"):
        study(version_1(**MODEL), {"name": "a"}, {"name": "b", "language": QWEN | {"thinking": True}})


def test_a_replay_of_version_1_is_read() -> None:
    arms = [{"name": "own", "engineer": "api", "api": None}, {"name": "far", "engineer": "api", "api": SERVER, "sections": []}]
    task = ReplayTask.model_validate({"title": "x", "session": "s", "stage": 0, "arms": arms})
    assert [arm.engineer for arm in task.arms] == [None, ApiEngineer(**SERVER)], "without a server it asks the session's own"


RECORDED = sorted(
    [*places.ROOT.glob("sessions/example-*/session.json"), *places.ROOT.glob("assets/studies/*/study.json"),
     *places.ROOT.glob("assets/replays/*/task.json")]
)  # fmt: skip


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}")
def test_what_is_recorded_opens_and_is_written_back_the_same(path: Path) -> None:
    model = {"session.json": SessionSpec, "study.json": StudySpec, "task.json": ReplayTask}[path.name]
    read = model.model_validate_json(path.read_text(encoding="utf-8"))
    assert model.model_validate_json(read.model_dump_json()) == read
