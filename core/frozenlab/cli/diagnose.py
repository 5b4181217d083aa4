"""``frozenlab diagnose``: do engineers put boards on the planted weakness of students?"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from frozenlab.base.numbers import listed
from frozenlab.cli.common import Command, InputError, add_allow_host, named, print_json, read_text, refuse_unknown, work_here

if TYPE_CHECKING:
    from frozenlab.engineer.protocol import EngineerSpec
    from frozenlab.experiments.diagnosis.store import Diagnosis
    from frozenlab.experiments.diagnosis.task import DiagnosisTask
    from frozenlab.session.store import SessionStore


def add_diagnose(parser: argparse.ArgumentParser) -> None:
    from frozenlab.engineer.engineers import UNATTENDED
    from frozenlab.engineer.sections import NAMES
    from frozenlab.experiments.diagnosis.task import USUAL_ENGINEERS, VARIED

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
    parser.add_argument("--samples", type=int, default=8, help="answers for each student, engineer and choice of sections (default: 8)")
    parser.add_argument("--boards-per-cell", type=int, default=40, help="validation boards of each cell (default: %(default)s)")
    parser.add_argument(
        "--sampled-boards", type=int, default=16,
        help="boards of each cell that plans are sampled on for the section behaviour, 0 for none (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="seed of boards and answers (default: %(default)s)")
    parser.add_argument("--id", help="id of the diagnosis (default: date and title)")
    add_allow_host(parser)


def run_diagnose(options: argparse.Namespace) -> int:
    from frozenlab.experiments.diagnosis.report import lines, report_of, write_report
    from frozenlab.experiments.diagnosis.store import Diagnosis
    from frozenlab.session.store import SessionStore

    store = SessionStore()
    existing: Diagnosis | None = None
    if len(options.what) == 1 and (Diagnosis.place(store.root) / options.what[0]).is_dir():
        existing = Diagnosis.open(options.what[0], store)
        if existing.state().live:
            raise InputError(f"{existing.id} is running; the Studies page shows its progress")
    task = existing.spec if existing else diagnosis_task(options, store)
    refuse_unknown([engineer.server for engineer in task.engineers])
    diagnosis = existing or Diagnosis.create(task, store, options.id)
    status = work_here(diagnosis, "asking", task.total, "answers")
    state = diagnosis.state()
    if state.error:
        raise InputError(state.error)
    report = report_of(diagnosis)
    write_report(report, diagnosis.dir)
    if options.json:
        print_json(report.model_dump(mode="json") | {"folder": str(diagnosis.dir), "status": state.status})
    else:
        print("\n".join([*lines(report), f"{diagnosis.id}: {state.status}, in {diagnosis.dir}"]))
    return status


def diagnosis_task(options: argparse.Namespace, store: SessionStore) -> DiagnosisTask:
    from frozenlab.engineer.sections import NAMES
    from frozenlab.experiments.diagnosis.task import VARIED, task_for
    from frozenlab.experiments.students.secret import candidates
    from frozenlab.experiments.students.store import Student

    chosen = [Student.open(name, store) for name in options.what] or candidates(store)
    return task_for(
        chosen,
        engineers_of(options),
        named(options.sections, NAMES, "section") or VARIED,
        samples=options.samples,
        boards_per_cell=options.boards_per_cell,
        sampled_boards=options.sampled_boards,
        seed=options.seed,
    )


def engineers_of(options: argparse.Namespace) -> list[EngineerSpec] | None:
    """The engineers to ask; None for the usual ones."""
    from pydantic import ValidationError

    from frozenlab.base.errors import one_line
    from frozenlab.engineer.engineers import UNATTENDED, engineer_of
    from frozenlab.engineer.engineers.api import ApiEngineer

    names = named(options.engineers, UNATTENDED, "engineer")
    if options.api is None:
        return None if names is None else [engineer_of(name) for name in names]
    try:
        own = ApiEngineer.model_validate_json(read_text(options.api))
    except ValidationError as error:
        raise InputError(f"{options.api}: {one_line(error)}") from None
    return [own if name == "api" else engineer_of(name) for name in names or ("api",)]


COMMANDS = (Command("diagnose", "ask engineers about students: do they find the planted weakness?", add_diagnose, run_diagnose),)
