"""Folders of a stranger: a session, a study, a replay and a result with a mark in every string that a reader accepts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import BaseModel, ValidationError

from frozenlab.base.files import write_parquet, write_text
from frozenlab.engineer.engineers import engineer_of
from frozenlab.engineer.schema import Context, Proposal, ProposalRecord
from frozenlab.experiments.benchmark.lake.report import LakeReport
from frozenlab.experiments.replays.store import Answer, Replay, write_answers
from frozenlab.experiments.replays.task import ReplayTask, arms_of_engineers, task_for
from frozenlab.experiments.studies.presets import engineers_study
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.store import Study
from frozenlab.jobs.state import WorkerState
from frozenlab.lake.suites import SuiteSpec, build_suite
from frozenlab.models.settings import LanguageSettings
from frozenlab.session.session import EnvironmentRecord, Event
from frozenlab.session.spec import Parent, SessionSpec
from frozenlab.session.state import State
from frozenlab.session.store import SessionStore
from tests.builders import build_result, build_session, small_spec

MODELS: dict[str, type[BaseModel]] = {
    "session.json": SessionSpec,
    "state.json": WorkerState,
    "environment.json": EnvironmentRecord,
    "context.json": Context,
    "proposal.json": ProposalRecord,
    "given.json": Proposal,
    "study.json": StudySpec,
    "task.json": ReplayTask,
    "report.json": LakeReport,
}
KEPT = {"session", "folder", "id", "kind"}
"""Names of other things, by which they are found."""
FORMS = {
    "markdown": "`![i](http://{trap}/{n})<img src=//{trap}/{n}>[l](javascript:trap({n}))",
    "entities": "`![i](http:&#47;&#47;{trap}&#47;{n})<img src=http:&#47;&#47;{trap}&#47;{n} onerror=trap({n})>",
}
"""Ways in which a text may get a browser to ask a server; each mark has a number of its own. The second passes where a path is cut at its
slashes."""
TYPED_COLUMNS = {"board", "paths", "outcome", "fault", "fault_agents", "cell", "arm", "record"}


class Marker:
    """Puts marks into files and remembers where which one is."""

    def __init__(self, form: str, trap: str) -> None:
        self.form, self.trap = FORMS[form], trap
        self.places: list[str] = []
        self.board = self.mark("board_id")
        """One in all tables, so that they still speak of the same boards."""

    def mark(self, place: str) -> str:
        self.places.append(place)
        return self.form.format(trap=self.trap, n=len(self.places) - 1)

    def place(self, text: str) -> str:
        """Where the first mark in a text stands."""
        found = re.search(rf"{re.escape(self.trap)}(?:/|&#47;)(\d+)", text)
        return self.places[int(found[1])] if found else "somewhere"

    def folder(self, folder: Path) -> None:
        """Marks all files below."""
        for path in sorted(folder.rglob("*")):
            if path.name in MODELS:
                model = State if path.name == "state.json" and (path.parent / "session.json").exists() else MODELS[path.name]
                path.write_text(json.dumps(self.json(json.loads(path.read_text()), model, path.name)))
            elif path.name == "events.jsonl":
                events = [self.json(json.loads(line), Event, path.name) for line in path.read_text().splitlines()]
                events.append({"time": 1.8e9, "kind": self.mark("events.jsonl kind"), self.mark("events.jsonl key"): self.mark("value")})
                path.write_text("".join(json.dumps(event) + "\n" for event in events))
            elif path.suffix == ".parquet":
                write_parquet(path, self.table(pd.read_parquet(path), path.name))

    def json(self, value: Any, model: type[BaseModel], name: str) -> Any:
        """The same with a mark in each string and one more key in each object, as far as ``model`` takes them."""
        for where, put in leaves(value):
            if where.split(".")[-1] not in KEPT or (name == "context.json" and where.count(".") > 2):
                before = put(mark := self.mark(f"{name} {where}"))
                try:
                    model.model_validate_json(json.dumps(value))
                except ValidationError:
                    put(before)
                    assert self.places.pop() and mark
        return value

    def table(self, table: pd.DataFrame, name: str) -> pd.DataFrame:
        for column in table.columns:
            if pd.api.types.is_string_dtype(table[column]) and column not in TYPED_COLUMNS:
                mark = self.board if column == "board_id" else self.mark(f"{name} {column}")
                table[column] = [None if pd.isna(text) else f"{mark} {text}" for text in table[column]]
        if "record" in table:
            table["record"] = [json.dumps(self.json(json.loads(text), ProposalRecord, f"{name} record")) for text in table["record"]]
        return table


def leaves(value: Any, where: str = "") -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Each string or null in a JSON value, and a new key in each object: where it is, and what puts another there and gives the old one."""

    def putter(within: Any, key: Any) -> Callable[[Any], Any]:
        def put(text: Any) -> Any:
            before, within[key] = within[key], text
            return before

        return put

    def key_putter(within: dict[str, Any]) -> Callable[[Any], Any]:
        added: list[str] = []

        def put(key: Any) -> Any:
            if added:
                del within[added.pop()]
            elif within:
                within[key] = next(iter(within.values()))
                added.append(key)
            return None

        return put

    items = list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    for key, inner in items:
        if isinstance(inner, str | None):
            yield f"{where}.{key}", putter(value, key)
        yield from leaves(inner, f"{where}.{key}")
    if isinstance(value, dict):
        yield f"{where}.KEY", key_putter(value)


def strangers(root: Path, marker: Marker) -> Path:
    """A sessions folder as somebody else may hand it on: a lab model's and a language model's session, a failed one, one with a damaged
    file, a study, a replay and a result."""
    store = SessionStore(root)
    small = small_spec(stages=2, sizes=(3, 4), boards_per_size=4)
    lab = build_session(root, small, "lab")
    build_session(root, small.changed(policy="Some/model", language=LanguageSettings()), "language", broken_stage=0)
    build_session(root, small, "failed", status="failed", finished_stages=1)
    damaged = build_session(root, small, "damaged", finished_stages=1, status="stopped")
    study = Study.create(engineers_study(1, session=small, engineers=("rules", "fixed")), store, "mine")
    for cell in study.cells:
        build_session(study.dir / "cells", study.spec.spec_of(cell.arm, cell.seed), cell.id)
    write_text(study.dir / "state.json", WorkerState(status="done").model_dump_json())
    replay = Replay.create(
        task_for(lab, 0, arms_of_engineers(map(engineer_of, ("rules", "fixed")), "rules"), "engineers", samples=2),
        store,
        "mine",
    )
    record = lab.proposal(0)
    write_answers(replay.dir, [Answer(arm, sample, record) for arm in ("rules", "fixed") for sample in range(2)])
    write_text(replay.dir / "state.json", WorkerState(status="failed").model_dump_json())
    boards = build_suite(SuiteSpec(agents=(3,), sizes=(3, 4), boards_per_cell=5, seed=5))
    build_result(root, "theirs", boards, 0.5, session="lab", stage=0)
    build_session(root, small.changed(parent=Parent(session="lab", stage=0), engineer="rules"), "branch")
    (root / "shipped").mkdir()
    marker.folder(root)
    for number, name in enumerate(("environment.json", "proposal.json", "context.json")):
        (damaged.stage_dir(0) / name).write_text(json.dumps({"stage": marker.mark(f"damaged {name}"), marker.mark("a key"): number}))
    (damaged.dir / "baseline" / "validation.parquet").write_text(marker.mark("damaged table"))
    return root
