"""Starting and resuming diagnoses, in a worker process."""

from __future__ import annotations

from frozenlab.engineer import hosts
from frozenlab.experiments.diagnosis.store import Diagnosis, create_diagnosis
from frozenlab.experiments.diagnosis.task import DiagnosisTask
from frozenlab.jobs.launcher import launching, submit
from frozenlab.session.store import SessionStore


def start(task: DiagnosisTask, store: SessionStore) -> Diagnosis:
    """Create a diagnosis and queue it. Raises LaunchError if the disk is full, HostError if an engineer's server is not
    allowed on this machine."""
    hosts.check([engineer.server for engineer in task.engineers])
    with launching(store.root):
        diagnosis = create_diagnosis(task, store)
        submit(diagnosis)
    return diagnosis


def resume(diagnosis: Diagnosis, store: SessionStore) -> None:
    """Queue it: a worker then asks for the missing answers. Raises what :func:`start` raises."""
    hosts.check([engineer.server for engineer in diagnosis.task.engineers])
    with launching(store.root):
        submit(diagnosis)
