"""Starting and resuming headroom measurements, in a worker process."""

from __future__ import annotations

from frozenlab.experiments.headroom.spec import HeadroomSpec
from frozenlab.experiments.headroom.store import Headroom, create_headroom
from frozenlab.experiments.headroom.students import check_students
from frozenlab.jobs.launcher import launching, submit
from frozenlab.session.store import SessionStore


def start(spec: HeadroomSpec, store: SessionStore) -> Headroom:
    """Create a measurement and queue it. Raises LaunchError if the disk is full, HeadroomError if a student is missing."""
    check_students(spec)
    with launching(store.root):
        measurement = create_headroom(spec, store)
        submit(measurement)
    return measurement


def resume(measurement: Headroom, store: SessionStore) -> None:
    """Queue it: a worker then measures what is missing. Raises what :func:`start` raises."""
    check_students(measurement.task)
    with launching(store.root):
        submit(measurement)
