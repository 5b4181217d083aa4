"""``frozenlab headroom``: measuring what an engineer could win, before an engineer is asked."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from frozenlab.base.numbers import percent
from frozenlab.cli.common import Command, InputError, print_json, read_text, work_here

if TYPE_CHECKING:
    from frozenlab.experiments.headroom.spec import HeadroomSpec
    from frozenlab.experiments.headroom.store import Headroom


def add_headroom(parser: argparse.ArgumentParser) -> None:
    from frozenlab.experiments.headroom.store import Headroom

    named = ", ".join(measurement.id for measurement in Headroom.shipped())
    parser.add_argument("what", nargs="?", metavar="SPEC|ID", help="a spec (JSON), or the id of a measurement to resume")
    parser.add_argument("--preset", metavar="NAME", help=f"a ready-made measurement: {named}")
    parser.add_argument("--students", metavar="A,B,...", help="measure these students: lab-model, checkpoint folders or student:ID")
    parser.add_argument("--id", help="id of the measurement (default: date and title)")
    parser.add_argument("--jobs", type=int, help="parts to measure at a time (default: one per processor core)")
    parser.add_argument("--out", type=Path, help="write the gain of every fork to this CSV file")


def run_headroom(options: argparse.Namespace) -> int:
    from frozenlab.experiments.headroom.store import Headroom
    from frozenlab.session.store import SessionStore

    if options.jobs is not None and options.jobs < 1:
        raise InputError(f"--jobs is {options.jobs}; use at least 1")
    store = SessionStore()
    if options.what and (Headroom.place(store.root) / options.what).is_dir():
        if options.preset or options.students or options.id:
            raise InputError(f"{options.what} exists already: --preset, --students and --id are for a new measurement")
        measurement = Headroom.open(options.what, store)
    else:
        measurement = Headroom.create(headroom_spec(options), store, options.id)
    status = 0 if measurement.state().status == "done" else finish(measurement, options)
    print_headroom(measurement, options)
    return status


def finish(measurement: Headroom, options: argparse.Namespace) -> int:
    """Measure what is missing, here; Ctrl+C stops it and keeps what is measured."""
    from frozenlab.experiments.experiment import RunSettings

    if measurement.state().pid is not None and measurement.state().live:
        raise InputError(f"{measurement.id} is running; the Studies page shows its progress")
    measurement.check(measurement.spec, measurement.store)
    measurement.keep_run(RunSettings(jobs=options.jobs))
    return work_here(measurement, "measuring", measurement.spec.units, "parts")


def headroom_spec(options: argparse.Namespace) -> HeadroomSpec:
    """The spec that the options name."""
    from pydantic import ValidationError

    from frozenlab.base.errors import one_line
    from frozenlab.experiments.headroom.spec import HeadroomSpec
    from frozenlab.experiments.headroom.store import Headroom
    from frozenlab.session.store import SessionStore

    if bool(options.what) == bool(options.preset):
        raise InputError("name a spec (JSON), the id of a measurement, or a --preset")
    presets = {measurement.id: measurement.spec for measurement in Headroom.shipped()}
    if options.preset and options.preset not in presets:
        raise InputError(f"there is no headroom preset {options.preset!r}; there are {', '.join(presets)}")
    try:
        spec = presets[options.preset] if options.preset else HeadroomSpec.model_validate_json(read_text(options.what))
        if options.students:
            students = tuple(name.strip() for name in options.students.split(","))
            spec = HeadroomSpec.model_validate(spec.model_dump() | {"students": students})
    except ValidationError as error:
        raise InputError(f"{options.preset or options.what}: {one_line(error)}") from None
    Headroom.check(spec, SessionStore())
    return spec


def print_headroom(measurement: Headroom, options: argparse.Namespace) -> None:
    """Print the report, or how far the measurement is."""
    from frozenlab.experiments.headroom.report import gain_table, read_report

    state, report = measurement.state(), read_report(measurement.dir)
    about = {"id": measurement.id, "folder": str(measurement.dir), "status": state.status}
    if report is None:
        words = f"{measurement.id}: {state.status}, {percent(state.progress)} measured, in {measurement.dir}"
        if options.json:
            print_json(about | {"progress": state.progress, "error": state.error})
        else:
            print(f"{words}\n{state.error}" if state.error else words)
        return
    if options.out:
        gain_table(report).to_csv(options.out, index=False)
    if options.json:
        print_json(about | {"report": report.model_dump(mode="json")})
        return
    print(f"{report.spec.title}\n\n{report.verdict}\n")
    for check in report.checks:
        print(f"{check.passed:>12}  {check.name}: {check.found} (target: {check.target})")
    print()
    for sentence in report.sentences:
        print(f"- {sentence}")
    print(f"\n{measurement.id}: {state.status}, in {measurement.dir}")


COMMANDS = (Command("headroom", "measure what an engineer could win: noise, headroom, influence", add_headroom, run_headroom),)
