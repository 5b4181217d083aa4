"""Folders of version 1 are refused with the command that helps, and read as before once it has run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from frozenlab.base import places
from frozenlab.engineer.engineers import ApiEngineer, BaseEngineer, PolicyEngineer, RulesEngineer
from frozenlab.engineer.protocol import EngineerSpec
from frozenlab.engineer.schema import Context, ProposalRecord
from frozenlab.experiments.replays.task import ReplayTask
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.tables import StudyReport
from frozenlab.session.presets import preset_spec
from frozenlab.session.session import Session, SessionError
from frozenlab.session.spec import SessionSpec
from recipes import migrate
from tests.builders import build_session, small_spec

COMMAND = "python -m recipes.migrate FOLDER"
SERVER = {"base_url": "http://127.0.0.1:8000/v1", "model": "some", "guidance": False, "temperature": 0.2}
QWEN = {"guidance": False, "proposal_tokens": 512, "proposal_temperature": 0.9, "context": 4096, "max_tokens": 256}
MODEL = {"policy": "Qwen/Qwen3-0.6B", "language": QWEN, "engineer": "policy", "api": None}
OWN = {"guidance": False, "max_tokens": 512, "temperature": 0.9}


def old_spec(**fields: Any) -> dict[str, Any]:
    """The preset `study` as version 1 wrote it."""
    spec = json.loads(preset_spec("study").model_dump_json(exclude={"engineer"}))
    return spec | {"schema_version": 1, "engineer": "policy", "api": None} | fields


def of_size(value: Any) -> Any:
    """JSON in which lines, claims and changes have their map size in place of their cell."""
    if isinstance(value, list):
        return [of_size(part) for part in value]
    if not isinstance(value, dict):
        return value
    return {"size" if name == "cell" else name: part and int(part) if name == "cell" else of_size(part) for name, part in value.items()}


def make_old(session: Session) -> None:
    """Write the files of a session of one team as version 1 wrote them."""
    for path in session.dir.rglob("*.json"):
        given = json.loads(path.read_text())
        if path.name == "session.json":
            given |= {"schema_version": 1, "engineer": given["engineer"]["kind"], "api": None}
        elif path.name == "context.json":
            sizes = [cell["place"]["size"] for cell in given.pop("cells")]
            given = of_size(given) | {"schema_version": 1, "agents": 2, "sizes": sizes}
        elif path.name == "proposal.json":
            given = of_size(given) | {"schema_version": 1}
            given["proposal"]["preserved"] = [*map(int, given["proposal"]["preserved"])]
        path.write_text(json.dumps(given, indent=2))
    for path in session.dir.rglob("*.parquet"):
        pd.read_parquet(path).drop(columns="config_cell").to_parquet(path)


def said_by(session: Session) -> list[object]:
    """All that the migrated files hold."""
    stages = range(session.spec.stages)
    records = [(session.context(stage), session.proposal(stage)) for stage in stages]
    tables = [table for stage in stages for table in (session.validation(stage), session.completions(stage)) if table is not None]
    assert not session.problems
    return [session.spec, *records, *(table[sorted(table)].to_dict("list") for table in tables)]


def test_a_session_reads_as_before_even_if_the_script_was_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = build_session(tmp_path, small_spec(stages=2, sizes=(3, 4), engineer="rules").changed(schema_version=2))
    before = said_by(session)
    make_old(session)
    with pytest.raises(SessionError, match=COMMAND):
        Session(session.dir)
    for path in migrate.files(tmp_path)[:5]:
        assert migrate.migrate(path)
    with pytest.raises(SessionError, match=COMMAND):
        Session(session.dir)
    (tmp_path / "report.json").write_text("{torn")
    assert migrate.main([str(tmp_path)]) == 1 and "report.json is left as it is" in capsys.readouterr().out
    assert repr(said_by(Session(session.dir))) == repr(before)
    assert not any(migrate.migrate(path) for path in migrate.files(session.dir))


@pytest.mark.parametrize(
    ("fields", "engineer"),
    [
        ({}, PolicyEngineer()),
        ({"engineer": "rules"}, RulesEngineer()),
        ({"engineer": "api", "api": SERVER}, ApiEngineer(**SERVER)),
        (MODEL, PolicyEngineer(**OWN)),
        (MODEL | {"engineer": "base"}, BaseEngineer(**OWN)),
        (MODEL | {"engineer": "rules"}, RulesEngineer()),
    ],
)
def test_the_three_places_of_an_engineer(fields: dict[str, Any], engineer: EngineerSpec) -> None:
    assert SessionSpec.model_validate(migrate.spec(old_spec(**fields))).engineer == engineer
    with pytest.raises(ValueError, match=COMMAND):
        SessionSpec.model_validate(old_spec(**fields))


def study(session: dict[str, Any], *arms: dict[str, Any]) -> StudySpec:
    older = [{"sections": None, "engineer": None, "api": None, "language": None, "guard": None} | arm for arm in arms]
    return StudySpec.model_validate(migrate.study({"title": "x", "session": session, "arms": older, "seeds": [0]}))


def test_the_arms_of_studies_and_replays() -> None:
    engineers = study(old_spec(), {"name": "rules", "engineer": "rules"}, {"name": "api", "engineer": "api", "api": SERVER})
    assert [arm.engineer for arm in engineers.arms] == [RulesEngineer(), ApiEngineer(**SERVER)]
    guidance = study(old_spec(**MODEL), {"name": "guided", "language": QWEN | {"guidance": True}}, {"name": "not", "language": QWEN})
    assert [arm.engineer for arm in guidance.arms] == [PolicyEngineer(**OWN | {"guidance": True}), PolicyEngineer(**OWN)]
    base = study(old_spec(**MODEL), {"name": "policy"}, {"name": "base", "engineer": "base"})
    assert base.spec_of(base.arms[1], 0).engineer == BaseEngineer(**OWN)
    with pytest.raises(ValueError, match="more than its guidance differs"):
        study(old_spec(**MODEL), {"name": "a"}, {"name": "b", "language": QWEN | {"thinking": True}})
    arms = [{"name": "own", "engineer": "api", "api": None}, {"name": "far", "engineer": "api", "api": SERVER, "sections": []}]
    replay = {"title": "x", "session": "s", "stage": 0, "arms": arms}
    with pytest.raises(ValueError, match=COMMAND):
        ReplayTask.model_validate(replay)
    task = ReplayTask.model_validate(migrate.replay(replay))
    assert [arm.engineer for arm in task.arms] == [None, ApiEngineer(**SERVER)], "without a server it asks the session's own"


MODELS = {
    "session.json": SessionSpec, "study.json": StudySpec, "task.json": ReplayTask, "report.json": StudyReport, "context.json": Context,
    "proposal.json": ProposalRecord,
}  # fmt: skip
SHIPPED = [
    path
    for folder in ("sessions", "assets/studies", "assets/replays")
    for path in migrate.files(places.ROOT / folder)
    if path.name in MODELS and (folder != "sessions" or path.relative_to(places.SESSIONS).parts[0].startswith("example-"))
]


def test_what_ships_is_up_to_date_and_is_written_back_the_same() -> None:
    for path in SHIPPED:
        given = json.loads(path.read_text(encoding="utf-8"))
        assert migrate.migrated(path.name, given) == given, path
        read = MODELS[path.name].model_validate_json(path.read_bytes())
        assert MODELS[path.name].model_validate_json(read.model_dump_json()) == read, path


def test_an_earlier_report_of_a_study_has_its_verdicts() -> None:
    path = places.ASSETS / "studies" / "sections" / "report.json"
    given = json.loads(path.read_text(encoding="utf-8"))
    old = json.loads(path.read_text(encoding="utf-8")) | {"beforehand": ""}
    for measure in ("valid", "optimal"):
        for name in ("visible", "sentences"):
            del old[measure][name]
        old[measure]["sizes"] = of_size(old[measure]["sizes"])
    again = migrate.report(old)
    assert again["valid"]["sizes"] == given["valid"]["sizes"]
    assert [row["p_holm"] for row in again["valid"]["effects"]] == [row["p_holm"] for row in given["valid"]["effects"]]
    assert again["sentences"] == again["valid"]["sentences"]
