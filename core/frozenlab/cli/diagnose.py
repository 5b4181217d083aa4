"""``frozenlab diagnose``: do engineers put boards on the planted weakness of students?"""

from __future__ import annotations

import argparse
from pathlib import Path

from frozenlab.base.numbers import listed
from frozenlab.cli.common import InputError, add_allow_host, add_fields, given, named, read_model, show
from frozenlab.cli.experiment import about, add_id, run_experiment, standing
from frozenlab.engineer.engineers import UNATTENDED, ApiEngineer, engineer_of
from frozenlab.engineer.protocol import EngineerSpec
from frozenlab.engineer.sections import NAMES
from frozenlab.experiments.diagnosis.report import lines, report_of, write_report
from frozenlab.experiments.diagnosis.store import Diagnosis
from frozenlab.experiments.diagnosis.task import USUAL_ENGINEERS, VARIED, DiagnosisTask, task_for
from frozenlab.experiments.students.store import Student, candidates
from frozenlab.session.store import SessionStore

FIELDS = ("samples", "boards_per_cell", "sampled_boards", "seed")


def add_diagnose(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what", nargs="*", metavar="STUDENT|ID", help="students, or a diagnosis to resume (default: every student that came out as planned)"
    )
    parser.add_argument(
        "--engineers", metavar="A,B,...",
        help=f"engineers to ask, of {listed(UNATTENDED, 'or')} (default: those of {', '.join(USUAL_ENGINEERS)} that can be asked)",
    )  # fmt: skip
    parser.add_argument("--api", type=Path, help="settings of the engineer api, JSON as in a spec's engineer")
    parser.add_argument(
        "--sections", metavar="A,B,...",
        help=f"sections to show and withhold in all combinations, of {', '.join(NAMES)} (default: {','.join(VARIED)})",
    )  # fmt: skip
    add_fields(parser, DiagnosisTask, *FIELDS)
    add_id(parser, Diagnosis)
    add_allow_host(parser)


def run_diagnose(options: argparse.Namespace) -> int:
    options.students, options.what = options.what, options.what[0] if len(options.what) == 1 else None
    return run_experiment(Diagnosis, options, ("engineers", "api", "sections"), print_diagnosis, diagnosis_task)


def print_diagnosis(diagnosis: Diagnosis, options: argparse.Namespace) -> None:
    """Print the report, or raise InputError with the reason why it failed."""
    if error := diagnosis.state().error:
        raise InputError(error)
    report = report_of(diagnosis)
    write_report(report, diagnosis.dir)
    record = report.model_dump(mode="json") | {name: value for name, value in about(diagnosis).items() if name != "id"}
    show(options.json, record, *lines(report), standing(diagnosis))


def diagnosis_task(options: argparse.Namespace) -> DiagnosisTask:
    store = SessionStore()
    chosen = [Student.open(name, store) for name in options.students] or candidates(store)
    varied = named(options.sections, NAMES, "section") or VARIED
    return task_for(chosen, engineers_of(options), varied, **given(options, *FIELDS))


def engineers_of(options: argparse.Namespace) -> list[EngineerSpec] | None:
    """The engineers to ask; None for the usual ones."""
    names = named(options.engineers, UNATTENDED, "engineer")
    if options.api is None:
        return None if names is None else [engineer_of(name) for name in names]
    own = read_model(ApiEngineer, options.api)
    return [own if name == "api" else engineer_of(name) for name in names or ("api",)]
