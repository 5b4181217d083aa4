"""Bring folders of version 1 up to date, in place::

    python -m recipes.migrate sessions

Version 1 knew one team, named cells by their map size, and kept an engineer in three places: its name in ``engineer``, the
server of the engineer ``api`` in ``api``, and a language model's settings as engineer in ``language``. Each file is replaced
as a whole, and the file that describes a job last, so the script can be stopped at any time and run again. Run it while no
worker is running in the folder.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from frozenlab.base.errors import one_line
from frozenlab.base.files import read_json, read_text, write_parquet, write_text
from frozenlab.engineer.engineers import BY_NAME
from frozenlab.engineer.engineers.own_model import ModelEngineer
from frozenlab.experiments.studies.grid import MEASURES
from frozenlab.experiments.studies.tables import StudyReport, judged, seen_by, sentences_of
from frozenlab.lake.config import EnvironmentConfig

Data = dict[str, Any]
OF_MODEL = {"guidance": "guidance", "proposal_tokens": "max_tokens", "proposal_temperature": "temperature"}
"""Settings of the engineer in a language model's settings -> their names today."""
KINDS = {"left out": "leave-one-out", "alone": "one-at-a-time"}
"""Kinds of comparisons in a study's report -> their names today."""
TASKS = ("session.json", "study.json", "task.json")


def engineer(name: Any, api: Any, language: Any) -> Any:
    """The engineer of this name with its settings."""
    if not isinstance(name, str) or name not in BY_NAME:
        return name
    if (name == "api") != (api is not None):
        raise ValueError('"api" says where the engineer api is asked: give both or neither')
    asked = issubclass(BY_NAME[name], ModelEngineer) and isinstance(language, Mapping)
    return {"kind": name, **(api or {})} | ({new: language[old] for old, new in OF_MODEL.items() if old in language} if asked else {})


def model_alone(language: Data | None) -> Data | None:
    """Settings of a language model without those of the engineer."""
    return language and {name: value for name, value in language.items() if name not in OF_MODEL}


def spec(given: Data) -> Data:
    """A session's spec."""
    if given.get("schema_version") != 1:
        return given
    new = {name: value for name, value in given.items() if name != "api"} | {"schema_version": 2}
    if "language" in new:
        new["language"] = model_alone(new["language"])
    return new | {"engineer": engineer(given.get("engineer", "policy"), given.get("api"), given.get("language"))}


def arm(given: Data, session: Data) -> Data:
    """An arm of a study or replay whose session has this spec, which is empty for a replay."""
    new = {name: value for name, value in given.items() if name not in ("api", "language")}
    name, own, language = given.get("engineer"), session.get("language"), given.get("language")
    if language is not None:
        if model_alone(language) != model_alone(own):
            raise ValueError(f'the arm {given.get("name")} has another "language" than the session, and more than its guidance differs')
        name = name or session.get("engineer", "policy")
    api = (given.get("api") or session.get("api")) if name == "api" else None
    if name == "api" and api is None:
        return new | {"engineer": None}  # in a replay: the session's own
    return new | {"engineer": engineer(name, api, language or own)}


def study(given: Data) -> Data:
    session = given["session"]
    if session.get("schema_version") != 1:
        return given
    return given | {"session": spec(session), "arms": [arm(each, session) for each in given["arms"]]}


def replay(given: Data) -> Data:
    return given | {"arms": [arm(each, {}) if "api" in each else each for each in given["arms"]]}


def of_cell(given: Data) -> Data:
    """Something said of one cell."""
    if "size" not in given or "cell" in given:
        return given
    cell = {"cell": None if given["size"] is None else str(given["size"])}
    return dict(item for name, value in given.items() for item in (cell if name == "size" else {name: value}).items())


def context(given: Data) -> Data:
    new = given | {"sections": {name: [of_cell(line) for line in lines] for name, lines in given["sections"].items()}}
    if "sizes" not in given:
        return new
    cells = EnvironmentConfig.uniform(new.pop("sizes"), new.pop("agents")).described()
    return {"schema_version": 2, "stage": new["stage"], "cells": [cell.model_dump() for cell in cells]} | new | {"schema_version": 2}


def proposal(given: Data) -> Data:
    return given | {"claims": [*map(of_cell, given["claims"])], "preserved": [*map(str, given["preserved"])]}


def record(given: Data) -> Data:
    """What ``proposal.json`` holds."""
    guard = given["guard"] | {"repairs": [*map(of_cell, given["guard"]["repairs"])]}
    new = given | {"schema_version": 2, "guard": guard, "changes": [*map(of_cell, given["changes"])]}
    return new | {"proposal": proposal(given["proposal"])} if given["proposal"] else new


def report(given: Data) -> Data:
    """A study's report, with what earlier ones lack."""
    new = given | {"spec": study(given["spec"])}
    for measure in MEASURES:
        effects = [row | {"kind": KINDS.get(row["kind"], row["kind"])} for row in given[measure]["effects"]]
        sizes = {"sizes": [*map(of_cell, given[measure]["sizes"])]} if "sizes" in given[measure] else {}
        new[measure] = given[measure] | {"effects": effects} | sizes
    if "predictions" in given:
        new["predictions"] = [score for score in given["predictions"] if "skill" in score]
    if "changes" in given:
        new["changes"] = [*map(of_cell, given["changes"])]
    judged_before = all(
        "sentences" in new[measure] and all("p_smaller_holm" in row for row in new[measure]["effects"]) for measure in MEASURES
    )
    return new if judged_before else judged_again(new)


def judged_again(given: Data) -> Data:
    """Computes from its figures the verdicts that a report lacks."""
    old = StudyReport.model_validate(given)
    for measure in MEASURES:
        table = getattr(old, measure)
        rows = judged(table.effects, table.margin)
        said = {"effects": rows, "visible": seen_by(rows), "sentences": sentences_of(rows, old.spec, measure, table.margin)}
        given[measure] |= table.model_copy(update=said).model_dump(mode="json", include=set(said))
    return given | {"sentences": given["valid"]["sentences"]}


def migrated(name: str, given: Data) -> Data:
    """What a JSON file of this name holds, up to date; as it is if it is neither of version 1 nor has parts of it."""
    if name == "session.json":
        return spec(given)
    if name == "study.json":
        return study(given)
    if name == "task.json":
        return replay(given) if {"arms", "samples"} <= given.keys() else given
    if name == "report.json":
        return report(given) if {"spec", *MEASURES} <= given.keys() else given
    return {"context.json": context, "proposal.json": record, "given.json": proposal}[name](given)


def table_of(path: Path) -> pd.DataFrame | None:
    """A table up to date; None if it is."""
    names = pq.read_schema(path).names
    if {"board_id", "size"} <= {*names} and "config_cell" not in names:
        table = pd.read_parquet(path)
        return table.assign(config_cell=table["size"].astype(str))
    if path.name == "answers.parquet" and "record" in names:
        table = pd.read_parquet(path)
        if any(json.loads(text)["schema_version"] == 1 for text in table["record"]):
            return table.assign(record=[json.dumps(record(json.loads(text)), ensure_ascii=False) for text in table["record"]])
    return None


def migrate(path: Path) -> bool:
    """Bring a file up to date. Returns whether it changed."""
    if path.suffix == ".parquet":
        if (table := table_of(path)) is None:
            return False
        write_parquet(path, table)
        return True
    given = read_json(path)
    if (new := migrated(path.name, given)) == given:
        return False
    write_text(path, json.dumps(new, indent=indent_of(read_text(path)), ensure_ascii=False))
    return True


def indent_of(text: str) -> int | None:
    """The indent of a JSON text, kept so that only what is new differs; None if it is one line."""
    _, *lines = text.splitlines()
    return len(lines[0]) - len(lines[0].lstrip()) if lines else None


def files(folder: Path) -> list[Path]:
    """The files in it that version 1 may have written, those that describe a job last."""
    names = (*TASKS, "report.json", "context.json", "proposal.json", "given.json")
    found = [path for path in folder.rglob("*") if path.name in names or path.suffix == ".parquet"]
    return sorted((path for path in found if path.is_file() and not path.is_symlink()), key=lambda path: (path.name in TASKS, path))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m recipes.migrate", description="Bring folders of version 1 up to date, in place.")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="a sessions folder, or one session, study or replay")
    changed, failed = 0, 0
    for path in (path for folder in parser.parse_args(arguments).folders for path in files(folder)):
        try:
            changed += migrate(path)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            failed += 1
            print(f"{path} is left as it is: {one_line(error)}")
    print(f"{changed} files brought up to date" + (f", {failed} left as they are" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
