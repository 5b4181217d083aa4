"""Which jobs begin when: as a function of plain data, and over whole histories of a queue."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from frozenlab.jobs.needs import Level, Needs
from frozenlab.jobs.queue.schedule import DAY, Turn, decide, in_order

MACHINE = Needs(cores=2, gpus=1, memory=8)
ONE = Needs(cores=1, memory=1)


def waits(name: str, level: Level = Level.NORMAL, needs: Needs = ONE, **values) -> Turn:
    return Turn(name, needs, level, place=float(ord(name)), **values)


def runs(name: str, level: Level = Level.NORMAL, needs: Needs = ONE, began: float = 1.0, **values) -> Turn:
    return Turn(name, needs, level, began=began, **values)


def test_as_many_begin_as_there_are_cores_for_by_level_then_place() -> None:
    turns = [waits("c"), waits("a", Level.LOW), waits("b"), waits("d", Level.HIGH)]
    assert decide(turns, MACHINE).begin == ("d", "b")


def test_what_takes_no_cores_does_not_wait_for_them() -> None:
    study = waits("s", needs=Needs(memory=1))
    assert decide([runs("a"), runs("b"), waits("c"), study], MACHINE).begin == ("s",)


def test_an_urgent_job_over_the_cores_keeps_nobody_waiting_who_takes_none() -> None:
    study = waits("s", needs=Needs(memory=1))
    assert decide([runs("a"), runs("b", stopping=True), runs("u", Level.URGENT), study], MACHINE).begin == ("s",)


def test_the_first_that_computes_passes_one_that_waits_for_memory_alone() -> None:
    studies = [runs("r", needs=Needs(memory=8)), waits("s", needs=Needs(memory=1))]
    assert decide([*studies, waits("a"), waits("b")], MACHINE).begin == ("a",)


def test_nobody_overtakes_a_job_that_waits_for_the_same_thing() -> None:
    whole = waits("a", needs=Needs(cores=2, memory=1))
    assert decide([runs("x"), whole, waits("b")], MACHINE).begin == ()
    for_gpu = waits("a", needs=Needs(cores=1, gpus=1, memory=1))
    assert decide([runs("x", needs=Needs(1, 1, 1)), for_gpu, waits("b")], MACHINE).begin == ("b",)


def test_a_job_that_needs_more_than_the_machine_has_gets_all_of_it() -> None:
    assert decide([waits("a", needs=Needs(cores=64, gpus=8, memory=1000))], MACHINE).begin == ("a",)


def test_memory_never_keeps_a_machine_idle() -> None:
    some = Needs(cores=2, gpus=1, memory=1)
    assert decide([waits("a", needs=Needs(1, 0, 1)), waits("b", needs=Needs(1, 0, 1))], some).begin == ("a",)


def test_an_urgent_job_begins_at_once_and_the_least_important_makes_room() -> None:
    running = [runs("a", began=1.0), runs("b", Level.LOW, began=2.0)]
    decided = decide([*running, waits("u", Level.URGENT)], MACHINE)
    assert decided.begin == ("u",)
    assert decided.make_room == (("b", "u"),)
    newest = decide([runs("a", began=1.0), runs("b", began=2.0), waits("u", Level.URGENT)], MACHINE)
    assert newest.make_room == (("b", "u"),)


def test_nobody_is_moved_twice_nor_more_than_needed() -> None:
    turns = [runs("a"), runs("b", stopping=True), runs("u", Level.URGENT), waits("v", Level.URGENT)]
    assert decide(turns, MACHINE).make_room == (("a", "v"),)
    assert decide([runs("a"), waits("u", Level.URGENT)], MACHINE).make_room == ()
    urgent = decide([runs("a", stopping=True), runs("b", stopping=True), waits("u", Level.URGENT)], MACHINE)
    assert (urgent.begin, urgent.make_room) == (("u",), ())


def test_urgent_jobs_wait_for_urgent_ones_and_terminals_are_left_alone() -> None:
    assert decide([runs("u", Level.URGENT), runs("v", Level.URGENT), waits("w", Level.URGENT)], MACHINE).begin == ()
    decided = decide([runs("t", movable=False), runs("x", movable=False), waits("u", Level.URGENT)], MACHINE)
    assert (decided.begin, decided.make_room) == (("u",), ())


def test_an_urgent_job_waits_until_its_gpu_is_free() -> None:
    gpu = Needs(cores=1, gpus=1, memory=1)
    decided = decide([runs("a", needs=gpu), waits("u", Level.URGENT, gpu)], MACHINE)
    assert (decided.begin, decided.make_room) == ((), (("a", "u"),))


def test_paused_jobs_and_a_paused_queue_begin_nothing_but_what_is_urgent() -> None:
    assert decide([waits("a", ready=False), waits("b")], MACHINE).begin == ("b",)
    assert decide([waits("a"), waits("u", Level.URGENT)], MACHINE, paused=True).begin == ("u",)


def test_who_has_waited_for_a_day_moves_up_a_level() -> None:
    old, new = waits("z", Level.LOW, queued=0.0), waits("a", queued=DAY)
    assert [turn.name for turn in in_order([old, new], now=DAY + 1)] == ["a", "z"]
    assert [turn.name for turn in in_order([replace(old, place=1.0), new], now=DAY + 1)] == ["z", "a"]
    assert [turn.name for turn in in_order([waits("h", Level.HIGH), waits("u", Level.URGENT, queued=DAY)], now=DAY + 1)] == ["u", "h"]


needs = st.builds(Needs, cores=st.integers(0, 3), gpus=st.integers(0, 1), memory=st.integers(0, 4))
jobs = st.lists(
    st.tuples(needs, st.sampled_from(Level), st.integers(0, 5), st.integers(1, 4)).map(lambda job: (*job,)), min_size=1, max_size=12
)


@given(jobs)
def test_over_a_whole_history_every_job_ends_once_and_only_urgent_ones_go_over_the_cores(history) -> None:
    """Jobs are submitted at ticks and run for ticks; one asked to make room stops at the next tick and waits again."""
    todo = {f"{n:02d}": job for n, job in enumerate(history)}
    turns: dict[str, Turn] = {}
    left = {name: ticks for name, (*_, ticks) in todo.items()}
    ended: list[str] = []
    for now in range(400):
        for name, (need, level, at, _) in todo.items():
            if at == now:
                turns[name] = Turn(name, need, level, place=float(now) + int(name) / 100, queued=float(now))
        for name, turn in list(turns.items()):
            if turn.began is None:
                continue
            left[name] -= 1
            if left[name] <= 0:
                del turns[name]
                ended.append(name)
            elif turn.stopping:
                turns[name] = replace(turn, began=None, stopping=False)
        decided = decide(list(turns.values()), MACHINE, float(now))
        for name, _ in decided.make_room:
            assert turns[name].began is not None and not turns[name].stopping and turns[name].level < Level.URGENT
            turns[name] = replace(turns[name], stopping=True)
        for name in decided.begin:
            assert turns[name].began is None
            turns[name] = replace(turns[name], began=float(now))
        running = [turn for turn in turns.values() if turn.began is not None]
        for limit, have in zip(("cores", "gpus", "memory"), MACHINE, strict=True):
            taken = [min(getattr(turn.needs, limit), have) for turn in running if not (limit == "cores" and turn.level == Level.URGENT)]
            spared = max(taken, default=0) if limit == "memory" else 0  # the one that begins on an idle machine
            assert sum(taken) - spared <= have
            if limit == "cores":
                assert sum(min(turn.needs.cores, have) for turn in running if turn.level == Level.URGENT) <= have
        if len(ended) == len(todo) and not turns:
            break
    assert sorted(ended) == sorted(todo)


@given(jobs)
def test_within_a_level_nobody_begins_before_one_ahead_that_needs_no_more(history) -> None:
    """Rule 4 is the exception: while only memory is short, the first that takes cores or GPUs passes those that take neither."""
    turns = [Turn(f"{n:02d}", need, level, place=float(n)) for n, (need, level, *_) in enumerate(history)]
    begun = decide(turns, MACHINE).begin
    computing = {turn.name for turn in turns if turn.needs.cores or turn.needs.gpus}
    first = next((name for name in begun if name in computing), None)
    for ahead in turns:
        for behind in turns:
            no_more = all(mine <= theirs for mine, theirs in zip(ahead.needs, behind.needs, strict=True))
            if ahead.level == behind.level and ahead.place < behind.place and no_more and behind.name in begun:
                assert ahead.name in begun or (behind.name == first and ahead.name not in computing)
