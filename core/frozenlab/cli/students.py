"""Students whose weakness is known because it was planted (``students``), and what is measured on students: what an engineer could win
(``headroom``), and whether engineers put boards on the weakness (``diagnose``).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from frozenlab.base.files import as_csv
from frozenlab.base.numbers import listed
from frozenlab.cli.common import InputError, add_allow_host, add_fields, given, named, read_model, read_text, refusing, show
from frozenlab.cli.experiment import about, add_experiment, add_id, run_experiment, standing, tell_standing, work_here
from frozenlab.engineer.engineers import UNATTENDED, ApiEngineer, engineer_of
from frozenlab.engineer.protocol import EngineerSpec
from frozenlab.engineer.sections import NAMES
from frozenlab.experiments.diagnosis.report import lines, report_of, write_report
from frozenlab.experiments.diagnosis.store import Diagnosis
from frozenlab.experiments.diagnosis.task import USUAL_ENGINEERS, VARIED, DiagnosisTask, task_for
from frozenlab.experiments.experiment import RunSettings
from frozenlab.experiments.headroom.report import gain_table
from frozenlab.experiments.headroom.store import Headroom
from frozenlab.experiments.students.menu import ladder, read_config, recipes, usual_config
from frozenlab.experiments.students.recipe import Recipe
from frozenlab.experiments.students.store import Student, candidates, id_of, is_secret
from frozenlab.session.store import SessionStore

ACTIONS = ("list", "make", "show")
OF_RECIPE = ("base", "presentations", "boards_per_cell")


def add_students(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=ACTIONS, help="list all recipes and students, make students, or show one")
    parser.add_argument("ids", nargs="*", metavar="ID", help="students to make (default: all that are listed) or to show")
    parser.add_argument("--config", type=Path, help="config whose axes become students, a file (default: teams and layouts of the lake)")
    parser.add_argument("--test-config", type=Path, help="config whose cells are certified too, a file")
    parser.add_argument("--recipe", type=Path, help="recipe of your own, a JSON file; ID names the student")
    parser.add_argument("--seed", type=int, default=0, help="seed of the ready-made students (default: %(default)s)")
    instead = parser.add_argument_group("in place of what the recipe says")
    add_fields(instead, Recipe, *OF_RECIPE, defaults=False)


def run_students(options: argparse.Namespace) -> int | None:
    return {"list": list_students, "make": make_students, "show": show_students}[options.action](options, SessionStore())


def list_students(options: argparse.Namespace, store: SessionStore) -> None:
    """Print every ready-made recipe and every student, with what became of it."""
    made = {student.id: student for student in Student.all(store)}
    records = [record_of(made.get(student_id), student_id, recipe) for student_id, recipe in offered(options).items()]
    ready = {record["id"] for record in records}
    records += [record_of(student, student.id, student.recipe) for student in made.values() if student.id not in ready]
    weak = ["secret" if is_secret(record["id"]) else ", ".join(record["weak"]) for record in records]
    lines = (f"{record['id']:<40} {record['status']:<16} weak: {cells}" for record, cells in zip(records, weak, strict=True))
    show(options.json, {"students": records}, *lines)


def make_students(options: argparse.Namespace, store: SessionStore) -> int:
    """Make one student after the other in this process. Ctrl+C stops after the current step; the same command goes on."""
    menu, status = offered(options), 0
    known = ladder() | menu
    for student_id in options.ids or menu:
        if (Student.place(store.root) / student_id).is_dir():
            student = Student.open(student_id, store)
        elif student_id in known:
            student = Student.create(known[student_id], store, student_id)
        else:
            raise InputError(f"there is no recipe {student_id!r}; frozenlab students list shows all, --recipe takes one of your own")
        status = work_here(student)
        print_student(Student.open(student_id, store), options.json)
        if status:
            break
    return status


def show_students(options: argparse.Namespace, store: SessionStore) -> None:
    if not options.ids:
        raise InputError("name a student to show; frozenlab students list shows all")
    for student_id in options.ids:
        print_student(Student.open(student_id, store), options.json)


def offered(options: argparse.Namespace) -> dict[str, Recipe]:
    """The recipes that can be made: id -> recipe."""
    fields = given(options, *OF_RECIPE)
    if options.test_config:
        fields["test_config"] = read_config(options.test_config)
    with refusing():
        if options.recipe:
            own = Recipe.from_json(read_text(options.recipe))
            changed = Recipe.model_validate(own.model_dump() | fields)
            return {(options.ids or [id_of(own.title)])[0]: changed}
        config = read_config(options.config) if options.config else usual_config()
        return {id_of(recipe.title): recipe for recipe in recipes(config, options.seed, **fields)}


def record_of(student: Student | None, student_id: str, recipe: Recipe) -> dict[str, Any]:
    """A student, or a recipe that was not made yet, in a few fields."""
    certificate = student.certificate if student else None
    status: str = "not made" if student is None else student.state().status
    if certificate:
        status = "as planned" if certificate.as_planned else "not as planned"
    return {"id": student_id, "title": recipe.title, "status": status, "weak": list(recipe.weak)}


def print_student(student: Student, as_json: bool) -> None:
    """Print the certificate, or how far the student is."""
    certificate, state = student.certificate, student.state()
    record = record_of(student, student.id, student.recipe) | {"folder": str(student.dir), "policy": student.name}
    lines = [f"{student.title} ({student.name}): {state.status}, in {student.dir}"]
    lines += [f"  {state.error}"] if state.error else []
    if certificate is not None:
        lines += [f"  {sentence}" for sentence in certificate.sentences]
        lines.append(f"  {'cell':<40} {'before practice':<30} {'after':<30}")
        for cell in (*certificate.cells, *certificate.elsewhere):
            mark = "weak " if cell.cell in certificate.weak and cell in certificate.cells else ""
            lines.append(f"  {mark + cell.words:<40} {cell.before.in_full:<30} {cell.after.in_full:<30}")
    show(as_json, record | {"certificate": certificate.model_dump(mode="json") if certificate else None}, *lines)


OF_HEADROOM = ("students", "prediction")


def add_headroom(parser: argparse.ArgumentParser) -> None:
    add_experiment(parser, Headroom, OF_HEADROOM)
    add_fields(parser, RunSettings, "jobs")
    parser.add_argument("--out", type=Path, help="write the gain of every fork to this CSV file")


def run_headroom(options: argparse.Namespace) -> int:
    return run_experiment(Headroom, options, OF_HEADROOM, tell=print_headroom)


def print_headroom(measurement: Headroom, options: argparse.Namespace) -> None:
    """Print the report, or how far the measurement is."""
    report = measurement.report
    if report is None:
        tell_standing(measurement, options)
        return
    if options.out:
        options.out.write_text(as_csv(gain_table(report)), encoding="utf-8")
    written, report = report.model_dump(mode="json"), report.for_people
    lines = [f"{report.spec.title}\n\n{report.verdict}\n"]
    lines += [f"{check.passed:>12}  {check.name}: {check.found} (target: {check.target})" for check in report.checks]
    lines += ["", *(f"- {sentence}" for sentence in report.sentences), "", standing(measurement)]
    show(options.json, about(measurement) | {"report": written}, *lines)


OF_DIAGNOSIS = ("samples", "boards_per_cell", "sampled_boards", "seed")


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
    add_fields(parser, DiagnosisTask, *OF_DIAGNOSIS)
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
    return task_for(chosen, engineers_of(options), varied, **given(options, *OF_DIAGNOSIS))


def engineers_of(options: argparse.Namespace) -> list[EngineerSpec] | None:
    """The engineers to ask; None for the usual ones."""
    names = named(options.engineers, UNATTENDED, "engineer")
    if options.api is None:
        return None if names is None else [engineer_of(name) for name in names]
    own = read_model(ApiEngineer, options.api)
    return [own if name == "api" else engineer_of(name) for name in names or ("api",)]
