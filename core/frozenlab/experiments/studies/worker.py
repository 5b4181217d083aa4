"""The worker of a study: a runner that has its cells run here, or on a Ray cluster."""

from __future__ import annotations

from pathlib import Path

from frozenlab.experiments.studies.cluster import RayWorkers
from frozenlab.experiments.studies.runner import LocalWorkers, Runner
from frozenlab.experiments.studies.store import Study
from frozenlab.jobs.recorder import JobRecorder
from frozenlab.jobs.worker import LOCK_FILE, work_alone


def main(folder: Path) -> int:
    """Has all cells of the study in ``folder`` run to their end; returns the exit status."""
    return work_alone(Study(folder), work, JobRecorder, wait=0.0)


def work(recorder: JobRecorder[Study]) -> None:
    """Raises CellsError, ClusterError and Stopped."""
    study, run = recorder.job, recorder.job.run
    workers = RayWorkers(study, run.cluster, study.dir / LOCK_FILE) if run.cluster else LocalWorkers(study)
    Runner(recorder, run.jobs, workers).run()
