"""Which jobs begin when: as a function of plain data, and over whole histories of a queue."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from frozenlab.jobs.machine import Needs
from frozenlab.jobs.queue.db import QueuedJob
from frozenlab.jobs.queue.schedule import decide

MACHINE = Needs(cores=2, gpus=1, memory=16)
ONE, GPU = Needs(cores=1), Needs(cores=1, gpus=1)


def waits(name: str, needs: Needs = ONE, **values) -> QueuedJob:
    return QueuedJob(name, "session", name, queued=float(ord(name)), **needs._asdict(), **values)


def runs(name: str, needs: Needs = ONE, began: float = 1.0, **values) -> QueuedJob:
    return replace(waits(name, needs, **values), running=True, began=began)


def begun(*jobs: QueuedJob, **values) -> str:
    return "".join(job.id for job in decide(jobs, MACHINE, **values).begin)


def moved(*jobs: QueuedJob) -> list[str]:
    return [moved.id + by.id for moved, by in decide(jobs, MACHINE).make_room]


def test_as_many_begin_as_there_are_cores_for_urgent_ones_first() -> None:
    assert begun(waits("c"), waits("a"), waits("b")) == "ab"
    assert begun(waits("c"), waits("a"), waits("u", urgent=True)) == "ua"


def test_a_job_that_takes_no_cores_does_not_wait_for_them() -> None:
    study = waits("s", Needs())
    assert begun(runs("a"), runs("b"), waits("c"), study) == "s"
    assert begun(runs("a"), runs("b", wish="stop"), runs("u", urgent=True), study) == "s"


def test_no_job_overtakes_one_that_waits_for_the_same_thing() -> None:
    assert begun(runs("x"), waits("a", Needs(cores=2)), waits("b")) == ""
    assert begun(runs("x", GPU), waits("a", GPU), waits("b")) == "b"


def test_a_job_that_needs_more_than_the_machine_has_gets_all_of_it() -> None:
    assert begun(waits("a", Needs(cores=64, gpus=8)), waits("b")) == "a"


def test_two_models_that_do_not_fit_into_the_memory_together_run_one_after_the_other() -> None:
    large, small = Needs(cores=1, memory=9), Needs(cores=1, memory=7)
    assert begun(runs("x", large), waits("a", large), waits("b")) == "b", "a lab model needs little"
    assert begun(runs("x", large), waits("a", small)) == "a"
    assert (begun(runs("x", large), waits("u", large, urgent=True)), moved(runs("x", large), waits("u", large, urgent=True))) == (
        "",
        ["xu"],
    )


def test_an_urgent_job_begins_at_once_and_the_newest_makes_room() -> None:
    jobs = runs("a", began=1.0), runs("b", began=2.0), waits("u", urgent=True)
    assert (begun(*jobs), moved(*jobs)) == ("u", ["bu"])


def test_no_job_is_moved_twice_nor_more_than_needed() -> None:
    assert moved(runs("a"), runs("b", wish="aside"), runs("u", urgent=True), waits("v", urgent=True)) == ["av"]
    assert moved(runs("a"), waits("u", urgent=True)) == []
    jobs = runs("a", wish="aside"), runs("b", wish="aside"), waits("u", urgent=True)
    assert (begun(*jobs), moved(*jobs)) == ("u", [])


def test_urgent_jobs_wait_for_urgent_ones_and_terminals_are_left_alone() -> None:
    assert begun(runs("u", urgent=True), runs("v", urgent=True), waits("w", urgent=True)) == ""
    jobs = runs("t", in_terminal=True), runs("x", in_terminal=True), waits("u", urgent=True)
    assert (begun(*jobs), moved(*jobs)) == ("u", [])


def test_an_urgent_job_waits_until_its_gpu_is_free() -> None:
    jobs = runs("a", GPU), waits("u", GPU, urgent=True)
    assert (begun(*jobs), moved(*jobs)) == ("", ["au"])


def test_paused_jobs_do_not_begin_and_a_paused_queue_begins_only_urgent_ones() -> None:
    assert begun(waits("a", paused=True), waits("b", not_before=5.0), waits("c"), now=4.0) == "c"
    assert begun(waits("a"), waits("u", urgent=True), paused=True) == "u"


needs = st.builds(Needs, cores=st.integers(0, 3), gpus=st.integers(0, 1), memory=st.integers(0, 20))
jobs = st.lists(st.tuples(needs, st.booleans(), st.integers(0, 5), st.integers(1, 4)), min_size=1, max_size=12)


@given(jobs)
def test_over_a_whole_history_every_job_ends_once_and_only_urgent_ones_go_over_the_cores(history) -> None:
    """Jobs are submitted at ticks and run for ticks; one asked to make room stops at the next tick and waits again."""
    todo = {f"{n:02d}": job for n, job in enumerate(history)}
    queue: dict[str, QueuedJob] = {}
    left = {name: ticks for name, (*_, ticks) in todo.items()}
    ended: list[str] = []
    for now in range(400):
        for name, (need, urgent, at, _) in todo.items():
            if at == now:
                queue[name] = QueuedJob(name, "session", name, urgent, now + int(name) / 100, **need._asdict())
        for name, job in list(queue.items()):
            if not job.running:
                continue
            left[name] -= 1
            if left[name] <= 0:
                del queue[name]
                ended.append(name)
            elif job.wish:
                queue[name] = replace(job, running=False, wish="")
        decided = decide(list(queue.values()), MACHINE)
        for job, _ in decided.make_room:
            assert job.running and not job.wish and not job.urgent
            queue[job.id] = replace(job, wish="aside")
        for job in decided.begin:
            assert not job.running
            queue[job.id] = replace(job, running=True, began=float(now))
        running = [job for job in queue.values() if job.running]
        assert sum(min(job.gpus, MACHINE.gpus) for job in running) <= MACHINE.gpus
        assert sum(min(job.memory, MACHINE.memory) for job in running) <= MACHINE.memory
        for urgent in (True, False):
            assert sum(min(job.cores, MACHINE.cores) for job in running if job.urgent == urgent) <= MACHINE.cores
        if len(ended) == len(todo) and not queue:
            break
    assert sorted(ended) == sorted(todo)


@given(jobs)
def test_no_job_begins_before_one_of_its_priority_ahead_of_it_that_needs_no_more(history) -> None:
    waiting = [QueuedJob(f"{n:02d}", "", "", urgent, float(n), **need._asdict()) for n, (need, urgent, *_) in enumerate(history)]
    begin = decide(waiting, MACHINE).begin
    for n, ahead in enumerate(waiting):
        for behind in waiting[n + 1 :]:
            no_more = all(getattr(ahead, name) <= getattr(behind, name) for name in Needs._fields)
            if ahead.urgent == behind.urgent and no_more and behind in begin:
                assert ahead in begin
