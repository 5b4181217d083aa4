"""``frozenlab study``: running the same session over a grid of arms and seeds."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from frozenlab.base.numbers import MANY, listed, percent, percents
from frozenlab.cli.common import InputError, add_allow_host, add_fields, given, named, read_model, refusing, show
from frozenlab.cli.experiment import about, add_id, existing, standing
from frozenlab.engineer.engineers import BY_NAME, UNATTENDED, ApiEngineer
from frozenlab.engineer.engineers.script import ScriptEngineer
from frozenlab.engineer.protocol import EngineerSpec
from frozenlab.engineer.sections import NAMES
from frozenlab.experiments.experiment import RunSettings
from frozenlab.experiments.students.menu import ladder
from frozenlab.experiments.students.store import Student, chosen
from frozenlab.experiments.studies.arms import CONTROLS, values_of
from frozenlab.experiments.studies.cluster import require_ray
from frozenlab.experiments.studies.design import confounded
from frozenlab.experiments.studies.grid import TrainingValue
from frozenlab.experiments.studies.ladder import column_of, rungs_table
from frozenlab.experiments.studies.main_table import by_arm
from frozenlab.experiments.studies.noise import detectable_effect
from frozenlab.experiments.studies.presets import (
    LADDER,
    LADDER_TRAINING,
    ON_STUDENTS,
    SEEDS,
    STUDIES,
    VARIED_SECTIONS,
    ladder_study,
    students_study,
)
from frozenlab.experiments.studies.report import report_of
from frozenlab.experiments.studies.report_page import before_results, detectable, headroom_note, main_note
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.store import Study, StudyError
from frozenlab.jobs.machine import cores
from frozenlab.models.folders import WEIGHTS, policy_folder
from frozenlab.models.training.checkpoints import checksum
from frozenlab.session.presets import PRESETS, preset_spec
from frozenlab.session.store import SessionStore

WITH_ENGINEERS, WITH_CONTROLS = ("engineers", "main", ON_STUDENTS, LADDER), ("engineers", ON_STUDENTS, LADDER)
"""The ready-made studies that take the options ``--engineers`` and ``--api``, and ``--controls``."""
WRITTEN = ("students", "prediction")
RUN = ("jobs", "cluster")


def add_study(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", help=f"{', '.join(STUDIES)}, {ON_STUDENTS}, {LADDER}, a spec (JSON), or the id of a study to resume")
    seeds = ", ".join(f"{name} {n}" for name, n in SEEDS.items())
    parser.add_argument("--seeds", type=int, help=f"number of seeds of a ready-made study (default: {seeds})")
    parser.add_argument(
        "--engineers", metavar="A,B,...",
        help=f"engineers to compare, of {', '.join(named_by_option())}; or a Python file with a function propose; the "
        f"first is the reference (studies {listed(WITH_ENGINEERS)})",
    )  # fmt: skip
    parser.add_argument(
        "--controls", metavar="A,B,...",
        help=f"controls of the first engineer, an arm each, of {', '.join(CONTROLS)} (studies {listed(WITH_CONTROLS)} only)",
    )  # fmt: skip
    parser.add_argument(
        "--sections", metavar="A,B,...", help=f"sections that are on or off, of {', '.join(NAMES)} (studies {listed(VARIED_SECTIONS)} only)"
    )
    parser.add_argument(
        "--vary", action="append", metavar="SETTING=A,B,...",
        help="values of a training setting, such as learning_rate=1e-4,2e-4; given twice, the grid of both (study sweep only)",
    )  # fmt: skip
    parser.add_argument("--method", choices=LADDER_TRAINING, help=f"how the stage trains (study {LADDER} only; default: imitation)")
    parser.add_argument("--preset", metavar="NAME", help=f"session that each cell runs: {listed(PRESETS, 'or')} (default: study)")
    parser.add_argument(
        "--api", type=Path, action="append", metavar="FILE",
        help="settings of an engineer api, JSON as in a spec's engineer; may be given for several models, an arm each",
    )  # fmt: skip
    add_fields(parser, StudySpec, *WRITTEN)
    parser.add_argument("--smallest-effect", type=float, metavar="POINTS", help="smallest effect that matters (default: 1 point)")
    add_fields(parser, RunSettings, *RUN)
    add_id(parser, Study)
    parser.add_argument("--background", action="store_true", help="return at once; the same command with the study's id shows its progress")
    add_allow_host(parser)


def run_study(options: argparse.Namespace) -> int:
    store, run = SessionStore(), RunSettings(**given(options, *RUN))
    if run.cluster:
        require_ray()
    new = ("seeds", "engineers", "controls", "sections", "vary", "method", "preset", "api", *WRITTEN, "smallest_effect", "id")
    study = existing(Study, options.what, options, *new)
    if study is None:
        spec = study_spec(options)
        if options.what == LADDER:
            make_ladder_students(store)
        Study.check(spec, store)
        if not options.json:
            print(*(detectable_effect(spec), *confounded(spec)), sep="\n", flush=True)
            if (pace := Study.pace(spec, store)) is not None:
                print(f"{spec.effort(pace, run.jobs or cores())}.", flush=True)
        study = Study.start(spec, store, options.id, run)
    elif study.state().status != "done" and not study.state().live:
        study.resume(run)
    if not options.background:
        try:
            follow(study, quiet=options.json)
        except KeyboardInterrupt:
            print(f"\n{study.id} continues in the background; frozenlab study {study.id} shows its progress")
            return 0
    print_study(study, options.json)
    return int(study.state().status not in ("done", "running", "queued"))


def follow(study: Study, quiet: bool) -> None:
    """Wait until a study ends. Unless ``quiet``, print how far it is, and at once whose answers cannot be used."""
    shown, told, here = "", set[str](), sys.stdout.isatty()
    while study.state().live:
        for arm in study.unusable():
            if not quiet and arm.arm not in told:
                print(f"\n{arm.sentence}", flush=True)
                told.add(arm.arm)
        so_far = f"{study.id}: {sessions_done(study)}, {percent(study.state().progress)}"
        if not quiet and so_far != shown:
            print(f"\r{so_far}" if here else so_far, end="" if here else "\n", flush=True)
            shown = so_far
        time.sleep(1)


def sessions_done(study: Study) -> str:
    return f"{sum(1 for _ in study.finished())} of {len(study.cells)} sessions done"


def study_spec(options: argparse.Namespace) -> StudySpec:
    """A ready-made study, or one from a file."""
    kind = options.what
    ready_made = (*STUDIES, ON_STUDENTS, LADDER)
    if kind not in ready_made and not options.what.endswith(".json"):
        raise InputError(f"there is no study {options.what!r}; new ones are {', '.join(ready_made)}, or a spec in a JSON file")
    if (options.engineers or options.api) and kind not in WITH_ENGINEERS:
        raise InputError(f"--engineers and --api are for the studies {listed(WITH_ENGINEERS)}")
    if options.controls is not None and kind not in WITH_CONTROLS:
        raise InputError(f"--controls is for the studies {listed(WITH_CONTROLS)}")
    if options.sections is not None and kind not in VARIED_SECTIONS:
        raise InputError(f"--sections is for the studies {listed(VARIED_SECTIONS)}")
    if options.vary and kind != "sweep":
        raise InputError("--vary is for the study sweep")
    if options.method is not None and kind != LADDER:
        raise InputError(f"--method is for the study {LADDER}; others train as their session says, and sweep varies it")
    if options.preset is not None and kind not in STUDIES:
        raise InputError(f"--preset is for {listed(STUDIES, 'or')}; the studies students and ladder and a spec file have their own session")
    if options.preset is not None and options.preset not in PRESETS:
        raise InputError(f"there is no preset {options.preset!r}; there are {', '.join(PRESETS)}")
    if options.seeds is not None and kind not in ready_made:
        raise InputError("--seeds is for ready-made studies; a spec file names its own")
    if options.seeds is not None and options.seeds < 1:
        raise InputError(f"--seeds is {options.seeds}; use at least 1")
    written = given(options, *WRITTEN)
    if options.smallest_effect is not None:
        written["smallest_effect"] = options.smallest_effect / 100
    if written and kind not in ready_made:
        raise InputError("--smallest-effect, --prediction and --students are for ready-made studies; a spec file has its own")
    if not 0 < written.get("smallest_effect", 0.01) <= 0.5:
        raise InputError(f"--smallest-effect is {options.smallest_effect:g}; it must be above 0 and at most 50 points")
    if kind not in ready_made:
        return read_model(StudySpec, kind)
    with refusing(kind):
        fields: dict[str, Any] = {} if options.seeds is None else {"seeds": options.seeds}
        fields |= named_engineers(options.engineers, options.api, least=1 if kind == LADDER else 2)
        fields |= {"varied": varied(options.vary)} if options.vary else {}
        fields |= {"varied": named(options.sections, NAMES, "section")} if options.sections is not None else {}
        fields |= {} if options.controls is None else {"controls": tuple(filter(None, map(str.strip, options.controls.split(","))))}
        if kind == ON_STUDENTS:
            planted = chosen(written.pop("students", ()), SessionStore())
            spec = students_study(**fields, recipes={student.name: student.recipe for student in planted})
        elif kind == LADDER:
            spec = ladder_study(**fields, **({} if options.method is None else {"method": options.method}))
        else:
            session = {} if options.preset is None else {"session": preset_spec(options.preset)}
            spec = STUDIES[kind](**fields, **session)
        return spec.changed(**written)


def make_ladder_students(store: SessionStore) -> None:
    """Has the students of the ladder made that are not yet, several at a time; waits for them.

    Raises InputError where one fails, was made from another base or is refused by its certificate: what is won on it does not compare.
    """
    recipes = ladder()
    for student_id, recipe in recipes.items():
        if not (Student.place(store.root) / student_id).is_dir():
            Student.start(recipe, store, student_id)
        elif not (student := Student.open(student_id, store)).ready and not student.state().live:
            student.resume()
    while waiting := [student for student_id in recipes if not (student := Student.open(student_id, store)).ready]:
        if lost := next((student for student in waiting if not student.state().live), None):
            raise InputError(f"the student {lost.id} could not be made: {lost.state().error or lost.state().status}")
        print(f"\r{len(recipes) - len(waiting)} of {len(recipes)} students are made", end="", file=sys.stderr, flush=True)
        time.sleep(1)
    print(f"\rAll {len(recipes)} students are made", file=sys.stderr)
    made = [Student.open(student_id, store) for student_id in recipes]
    base = checksum(policy_folder(made[0].recipe.base) / WEIGHTS)
    for why, found in {
        "were made from another lab model": [one.id for one in made if one.recipe.base_sha256 != base],
        "are not as planned, say their certificates": [one.id for one in made if not one.as_planned],
    }.items():
        if found:
            raise InputError(f"{listed(found)} {why}; move them out of {Student.place(store.root)}, and they are made anew")


def varied(options: Sequence[str]) -> dict[str, tuple[TrainingValue, ...]]:
    """The values of training settings, from ``--vary`` options. Raises InputError for a setting that is named twice, StudyError and
    ValueError as :func:`values_of`."""
    parts = [option.partition("=") for option in options]
    found = {name.strip().replace("-", "_"): values for name, _, values in parts}
    if len(found) < len(parts):
        raise InputError("--vary names each setting once, with all its values")
    return {name: values_of(name, values) for name, values in found.items()}


def named_by_option() -> list[str]:
    """Engineers that ``--engineers`` can name: those of a study that need no settings."""
    return [name for name in UNATTENDED if not BY_NAME[name].required()]


def named_engineers(names: str | None, files: Sequence[Path] | None = None, least: int = 2) -> dict[str, Any]:
    """The engineers of ``--engineers`` and those behind an API, as an argument of the ready-made study; ``least``: how many it compares."""
    if names is None and not files:
        return {}
    served: list[EngineerSpec] = [read_model(ApiEngineer, file) for file in files or ()]
    asked, offered = [name.strip() for name in (names or "policy").split(",")], named_by_option()
    served += [ScriptEngineer.of(Path(name)) for name in asked if name.endswith(".py")]
    asked = [name for name in asked if not name.endswith(".py") and not (served and name == "api")]  # the files say which
    if unknown := [name for name in asked if name not in offered]:
        if unknown[0] in UNATTENDED:
            raise InputError(f"--engineers: the engineer {unknown[0]} needs settings: write the study as a spec in a JSON file")
        raise InputError(f"--engineers: there is no engineer {unknown[0]!r} for a study; there are {', '.join(offered)}")
    if len(set(asked)) < max(least - len(served), len(asked)):
        raise InputError(f"--engineers is {names}; a study compares two or more, each named once")
    return {"engineers": (*asked, *served)}


def in_columns(table: pd.DataFrame) -> list[str]:
    """The lines of a table, its header first."""
    return ["  " + "".join(f"{cell:<22}" for cell in cells) for cells in ([*table], *table.to_numpy())]


def print_study(study: Study, as_json: bool) -> None:
    """Print the results; while it runs only how far it is: who starts or resumes it shall see no outcome before the last session."""
    state = study.state()
    record = about(study) | {"cells": len(study.cells), "done": sum(1 for _ in study.finished())}
    record |= {"error": state.error} if state.error else {}
    if state.live:
        show(as_json, record, standing(study, sessions_done(study)), "Its results come when all sessions are done.")
        return
    try:
        report = report_of(study)
    except StudyError as error:
        show(as_json, record | {"report": str(error)}, standing(study, sessions_done(study)), str(error))
        return
    record |= {"report": report.model_dump(mode="json")}
    report = report.for_people
    lines = [f"\n{study.title} ({study.id}): {state.status}, {sessions_done(study)}, in {study.dir}\n"]
    lines += [f"{state.error}\n"] if state.error else []
    lines += ["\n".join(before_results(report)), report.standing, *(f"* {row.sentence}" for row in report.confirmatory)]
    lines += [f"- {sentence}" for sentence in filter(None, (report.valid.verdict, detectable(report.valid), *report.sentences))]
    if report.main is not None:
        lines += [f"\n{main_note(report.main)}", *in_columns(by_arm(report.main))]
    if column_of(report.spec):
        lines += ["\nThe ladder, points of valid plans over equal shares:", *in_columns(rungs_table(report, "valid"))]
    for name, rates in (("valid", report.valid), ("optimal", report.optimal)):
        if rates.headroom is not None:
            lines.append(f"\n{name}: {headroom_note(rates.headroom, report.spec)}")
            for one in rates.headroom.shares:
                lines.append(f"  {one.arm:<32} {percent(one.share)} of headroom ({percents(one.low, one.high)}, n = {one.n})")
        lines.append(f"\nfinal {name} rate by {'student' if report.spec.students else 'seed'}, and mean:")
        for arm in rates.arms:
            by_unit = "  ".join(percent(rate, MANY) for rate in arm.by_unit.values())
            lines.append(f"  {arm.arm:<32} {by_unit}   {percent(arm.mean, MANY)}")
    show(as_json, record, *lines)
