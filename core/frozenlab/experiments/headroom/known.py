"""What was measured before about a session's config and policy."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from frozenlab.base.numbers import Interval
from frozenlab.experiments.headroom.report import read_report
from frozenlab.experiments.headroom.spec import HeadroomError
from frozenlab.experiments.headroom.store import Headroom
from frozenlab.session.spec import SessionSpec
from frozenlab.session.store import SessionStore


class Finding(NamedTuple):
    """The verdict of a measurement."""

    title: str
    verdict: str
    something: bool
    """Whether headroom or value of information was found, with an interval above zero."""
    headroom: Interval


def measured_before(session: SessionSpec, store: SessionStore, students: Collection[str] = ()) -> Finding | None:
    """The newest measurement of forks that began with the session's config and its policy (or all of ``students``), one's own before
    shipped ones; None if there is none."""
    policies = {*students} or {session.policy}
    for measurement in [*Headroom.all(store), *Headroom.shipped()]:
        spec = measurement.spec
        if spec.forks is None or not policies <= {*spec.students} or spec.forks.kept != session.initial_config:
            continue
        try:
            report = read_report(measurement.dir)
        except HeadroomError:
            continue
        if report is not None and report.forks is not None:
            found = (report.forks.headroom, report.forks.information)
            clear = any(one is not None and one.low > 0 for one in found)
            return Finding(report.spec.title, report.verdict, clear, report.forks.headroom)
    return None
