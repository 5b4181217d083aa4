"""The forks that a measurement needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Self

from frozenlab.base.cells import Config
from frozenlab.experiments.headroom.menu import KEPT
from frozenlab.experiments.headroom.spec import HeadroomSpec
from frozenlab.experiments.headroom.tables import gains_of, menu_names
from frozenlab.tasks.families import between

Part = Literal["before", "menu", "dose"]
PARTS: tuple[Part, ...] = ("before", "menu", "dose")


class Fork(NamedTuple):
    """One fork, named by the key columns of ``outcomes.parquet``."""

    student: int
    part: Part
    config: str
    """Its name in the menu; empty for the student before any fork, whose held-out answers are measured as they are."""
    dose: float
    replicate: int

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        return cls(int(row["student"]), row["part"], row["config"], float(row["dose"]), int(row["replicate"]))

    def config_in(self, spec: HeadroomSpec) -> Config:
        """The config that it trains on."""
        assert spec.forks is not None
        menu = spec.forks.menu
        return menu[self.config] if self.part == "menu" else between(menu[KEPT], menu[self.config], self.dose)

    def place_in(self, spec: HeadroomSpec) -> tuple[int, int, int, int]:
        """Numbers that its random draws are derived from. Students and configs that are added at the end leave those of others as they
        are."""
        assert spec.forks is not None
        number = (
            {"before": 0, "menu": menu_names(spec).index(self.config), "dose": round(1000 * self.dose)}[self.part] if self.config else 0
        )
        return self.student, PARTS.index(self.part), number, self.replicate


def menu_forks(spec: HeadroomSpec) -> Iterator[Fork]:
    """Every config for every student, replicate by replicate, so that an unfinished measurement is one of fewer replicates."""
    if spec.forks is None:
        return
    for replicate in range(spec.forks.replicates):
        for student in range(len(spec.students)):
            yield Fork(student, "before", "", 1.0, replicate)
            for name in menu_names(spec):
                yield Fork(student, "menu", name, 1.0, replicate)


def dose_forks(spec: HeadroomSpec, rows: Sequence[Mapping[str, Any]]) -> Iterator[Fork]:
    """The doses of each student's best config of the menu. Their draws are others than those that chose it, so that it has no advantage by
    luck."""
    assert spec.forks is not None
    gains = gains_of(spec, rows)
    for student in range(len(spec.students)):
        best = menu_names(spec)[int(gains[student].mean(axis=1).argmax())]
        for replicate in range(spec.forks.replicates):
            for dose in spec.forks.doses:
                yield Fork(student, "dose", best, dose, replicate)
