"""A task of one of several families, and the dialects and teachers of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from frozenlab.tasks.lake.dialects.lab import too_many_cells
from frozenlab.tasks.mixed.config import MixedConfig
from frozenlab.tasks.mixed.members import MEMBERS, member
from frozenlab.tasks.task import Dialect, LabDialect, Task
from frozenlab.tasks.teacher import Attempt, Mended, Teacher


class MixedTask(NamedTuple):
    family: str
    task: Task

    @property
    def id(self) -> str:
        return self.task.id

    @property
    def cell(self) -> str:
        return self.task.cell


def of_family(tasks: Sequence[MixedTask], family: str) -> list[Task]:
    """The family's own tasks among these."""
    return [mixed.task for mixed in tasks if mixed.family == family]


class MixedPlain(Dialect[MixedTask, Any]):
    """Each task in the dialect of its family."""

    def prompt(self, task: MixedTask) -> str:
        return member(task.family).plain.prompt(task.task)

    def read(self, task: MixedTask, text: str, finished: bool) -> Any:
        return member(task.family).plain.read(task.task, text, finished)


def lab_of(family: str) -> LabDialect[Any, Any]:
    """Every family that can be mixed has one."""
    lab = member(family).lab
    assert lab is not None
    return lab


class MixedLab(LabDialect[MixedTask, Any]):
    """Each task in the lab dialect of its family."""

    def prompt(self, task: MixedTask) -> str:
        return lab_of(task.family).prompt(task.task)

    def read(self, task: MixedTask, text: str, finished: bool) -> Any:
        return lab_of(task.family).read(task.task, text, finished)

    def limit(self, task: MixedTask) -> int:
        return lab_of(task.family).limit(task.task)

    def obstacles(self, config: MixedConfig, engineer: bool) -> list[str]:
        found = [obstacle for family, part in config.parts.items() for obstacle in lab_of(family).obstacles(part.config, engineer=False)]
        return found + (too_many_cells(config) if engineer else [])


class MixedTeacher(Teacher[MixedTask]):
    """Each attempt is mended, or answered, by the teacher of its family."""

    def mend(self, attempts: Sequence[Attempt[MixedTask]]) -> list[Mended | None]:
        return by_family(attempts, lambda teacher, own: teacher.mend(own))

    def answers(self, attempts: Sequence[Attempt[MixedTask]]) -> list[Mended | None]:
        return by_family(attempts, lambda teacher, own: teacher.answers(own))

    def wrong_answers(self, attempts: Sequence[Attempt[MixedTask]]) -> list[Mended | None]:
        """None for each task whose family's teacher knows no wrong answers."""
        return by_family(attempts, lambda teacher, own: teacher.wrong_answers(own) or [None] * len(own))


Teaching = Callable[[Teacher[Any], Sequence[Attempt[Any]]], list[Mended | None]]


def by_family(attempts: Sequence[Attempt[MixedTask]], teach: Teaching) -> list[Mended | None]:
    """What the teacher of each family makes of its own attempts, in the order of all of them."""
    made: dict[int, Mended | None] = {}
    for family in MEMBERS:
        own = {i: attempt for i, attempt in enumerate(attempts) if attempt.task.family == family.name}
        assert family.teacher is not None, "every family that can be mixed has one"
        made |= zip(own, teach(family.teacher, [Attempt(a.task.task, a.text, a.rng) for a in own.values()]), strict=True)
    return [made[i] for i in range(len(attempts))]
