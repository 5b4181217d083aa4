"""Starting and resuming studies, in a worker process."""

from __future__ import annotations

from frozenlab.base.files import write_text
from frozenlab.engineer import hosts
from frozenlab.experiments.studies.grid import StudyError
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.store import RunSettings, Study, create_study
from frozenlab.jobs.launcher import check_folder, launching, submit
from frozenlab.models.folders import policy_folder, weights_file
from frozenlab.session.store import SessionStore


def start(spec: StudySpec, store: SessionStore, run: RunSettings, study_id: str | None = None) -> Study:
    """Create a study and queue it. Raises LaunchError if the disk is full, HostError if an engineer's server is not allowed
    on this machine, StudyError if the id is invalid or taken or a student has no weights here."""
    hosts.check(spec.servers)
    check_students(spec)
    with launching(store.root):
        study = create_study(spec, store, study_id)
        submit_with(run, study)
    return study


def resume(study: Study, store: SessionStore, run: RunSettings) -> None:
    """Queue a study again: a worker then continues it. Raises what :func:`start` raises."""
    hosts.check(study.spec.servers)
    check_students(study.spec)
    with launching(store.root):
        submit_with(run, study)


def check_students(spec: StudySpec) -> None:
    """Raises StudyError if a student has no weights here; language models may come from the hub."""
    for student in spec.students:
        if spec.session.language is None and weights_file(policy_folder(student)) is None:
            raise StudyError(f"there is no student {student!r}: {policy_folder(student)} holds no weights")


def submit_with(run: RunSettings, study: Study) -> None:
    check_folder(study)
    write_text(study.dir / "run.json", run.model_dump_json(indent=1))
    submit(study)
