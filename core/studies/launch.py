"""Starting and resuming studies, in a worker process."""

from __future__ import annotations

from subprocess import Popen

from frozenlab.engineer import hosts
from frozenlab.files import write_text
from frozenlab.jobs.launcher import check_folder, launching, spawn
from frozenlab.loop.store import SessionStore
from frozenlab.policy.folders import policy_folder, weights_file
from frozenlab.studies.grid import StudyError
from frozenlab.studies.spec import StudySpec
from frozenlab.studies.store import RunSettings, Study, create_study


def start(spec: StudySpec, store: SessionStore, run: RunSettings, study_id: str | None = None) -> Study:
    """Create a study and start its worker. Raises LaunchError while another job runs, HostError if an engineer's server is not allowed
    on this machine, StudyError if the id is invalid or taken or a student has no weights here."""
    hosts.check(spec.servers)
    check_students(spec)
    with launching(store.root):
        study = create_study(spec, store, study_id)
        spawn_with(run, study)
    return study


def resume(study: Study, store: SessionStore, run: RunSettings) -> None:
    """Start a study's worker again, which continues the study. Raises what :func:`start` raises."""
    hosts.check(study.spec.servers)
    check_students(study.spec)
    with launching(store.root):
        spawn_with(run, study)


def check_students(spec: StudySpec) -> None:
    """Raises StudyError if a student has no weights here; language models may come from the hub."""
    for student in spec.students:
        if spec.session.language is None and weights_file(policy_folder(student)) is None:
            raise StudyError(f"there is no student {student!r}: {policy_folder(student)} holds no weights")


def spawn_with(run: RunSettings, study: Study) -> Popen[bytes]:
    check_folder(study)
    write_text(study.dir / "run.json", run.model_dump_json(indent=1))
    return spawn(study)
