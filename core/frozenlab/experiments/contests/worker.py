"""The worker of a contest: makes the student if it is not there, measures it, and trains one side after the other.

All it knows lies in the folder. Asked to stop, it lets the sides stop at their next step; started again, it goes on with them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress

from frozenlab.base.errors import Stopped
from frozenlab.base.files import write_text
from frozenlab.engineer.engineers.human import proposal_of
from frozenlab.engineer.sections import describe
from frozenlab.experiments.contests.store import BASE, TRAINED_AT_ONCE, Contest, side_id
from frozenlab.experiments.contests.task import ContestError, Entry
from frozenlab.experiments.students.store import Student
from frozenlab.jobs.job import Job
from frozenlab.jobs.launcher import LaunchError, held, stop, submit
from frozenlab.jobs.machine import THREADS
from frozenlab.jobs.recorder import JobRecorder
from frozenlab.jobs.state import store_state
from frozenlab.models.folders import STUDENT
from frozenlab.session.forks import sibling
from frozenlab.session.recorder import Recorder
from frozenlab.session.session import GIVEN_FILE, Session

TRIES = 2
"""Starts of a side by one worker, before it counts as failed."""
POLL = 0.3


def work(recorder: JobRecorder[Contest]) -> None:
    """Work until no entry waits. Raises Stopped, and ContestError if the student cannot be made."""
    contest = recorder.job
    make_student(contest, recorder)
    if not contest.is_open:
        measure_base(contest, recorder)
    starts: dict[int, int] = {}
    while True:
        live = [side for entry in contest.entries if (side := contest.side(entry.number)) and held(side)]
        turn = [entry for entry in contest.waiting() if side_id(entry.number) not in {side.id for side in live}]
        if not live and not turn:
            return
        tell(recorder, contest, live)
        for entry in turn[: max(0, TRAINED_AT_ONCE - len(live))]:
            starts[entry.number] = starts.get(entry.number, 0) + 1
            side = contest.side(entry.number) or create_side(contest, entry)
            if starts[entry.number] > TRIES:
                store_state(side.dir, side.state().model_copy(update={"status": "failed", "error": "its worker died twice"}))
            else:
                submit(side, parent=contest)
        time.sleep(POLL)


def make_student(contest: Contest, recorder: JobRecorder[Contest]) -> None:
    """In a process of its own, if the contest is about a student that is not made yet. Raises Stopped and ContestError."""
    name, recipe, student = contest.spec.session.policy, contest.spec.recipe, contest.student
    if not name.startswith(STUDENT) or (student is not None and student.ready):
        return
    if student is None and recipe is None:
        raise ContestError(f"there is no student {name.removeprefix(STUDENT)} on this machine, and no recipe to make it by")
    if student is None and recipe is not None:
        student = Student.create(recipe, contest.store, name.removeprefix(STUDENT))
    assert student is not None
    if not held(student):
        submit(student, parent=contest)
    while held(student):
        tell(recorder, contest, [student])
        time.sleep(POLL)
    if not student.ready:
        raise ContestError(f"the student could not be made: {student.state().error or student.state().status}")


def measure_base(contest: Contest, worker: JobRecorder[Contest]) -> None:
    """Write ``sides/base``, once for all sides: greedy answers to all boards, and the evidence as its engineer would read it. Raises
    Stopped and LabError."""
    import torch  # which takes seconds: the contest is seen running before

    from frozenlab.models.loading import load_policy
    from frozenlab.session.loop import draw_boards, measure, suites_of

    torch.set_num_threads(THREADS)
    spec = contest.spec.session
    base = contest.base or contest.sides.create(spec, BASE)
    recorder = Recorder(base)
    recorder.begin()
    policy = load_policy(spec.policy, spec.language, spec.seed, spec.tasks)
    worker.stop_if_asked()
    suite, test = suites_of(spec)
    measure(policy, "validation", suite, None, recorder)
    worker.stop_if_asked()
    measure(policy, "test", test, None, recorder)
    worker.stop_if_asked()
    draw_boards(spec.initial_config, suite + test, None, recorder)
    recorder.write_model(None, "context.json", describe(base.measurements(None), spec.sections, spec.layouts))
    recorder.end("stopped")


def create_side(contest: Contest, entry: Entry) -> Session:
    """The session of an entry, which shares every measurement of the base and draws by the same seed."""
    base = contest.base
    assert base is not None, "a queue begins when the base is measured"
    side = sibling(base, contest.sides, side_id(entry.number), contest.spec.session.changed(title=entry.name))
    if entry.config is not None:
        given = proposal_of(contest.spec.session.initial_config, entry.config, why=entry.why)
        write_text(side.stage_dir(None) / GIVEN_FILE, given.model_dump_json(indent=2))
    return side


def tell(recorder: JobRecorder[Contest], contest: Contest, at_work: Sequence[Job]) -> None:
    """Record how far the queue is. Raises Stopped, after those at work have been asked to stop and have stopped."""
    done = contest.finished + sum(job.state().progress for job in at_work)
    try:
        recorder.tell(min(1.0, done / max(1, len(contest.entries))))
    except Stopped:
        stop_all(at_work)
        raise


def stop_all(at_work: Sequence[Job]) -> None:
    for job in at_work:
        with suppress(LaunchError):  # it has just ended
            stop(job)
    while any(held(job) for job in at_work):
        time.sleep(POLL)
