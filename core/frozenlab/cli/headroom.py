"""``frozenlab headroom``: measuring what an engineer could win, before an engineer is asked."""

from __future__ import annotations

import argparse
from pathlib import Path

from frozenlab.base.files import as_csv
from frozenlab.cli.common import add_fields, show
from frozenlab.cli.experiment import about, add_experiment, run_experiment, standing, tell_standing
from frozenlab.experiments.experiment import RunSettings
from frozenlab.experiments.headroom.report import gain_table
from frozenlab.experiments.headroom.store import Headroom

FIELDS = ("students", "prediction")


def add_headroom(parser: argparse.ArgumentParser) -> None:
    add_experiment(parser, Headroom, FIELDS)
    add_fields(parser, RunSettings, "jobs")
    parser.add_argument("--out", type=Path, help="write the gain of every fork to this CSV file")


def run_headroom(options: argparse.Namespace) -> int:
    return run_experiment(Headroom, options, FIELDS, tell=print_headroom)


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
