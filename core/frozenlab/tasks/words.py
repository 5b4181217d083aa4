"""What a task family says about its configs, suites and tasks, to engineers and on pages: knobs and outcomes as data, and sentences.

Guard, forms, dialects, charts and tables read them. A family replaces what it can say better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

from frozenlab.base.cells import Cell


class Knob(NamedTuple):
    """A number of a config that an engineer may turn, for each of the config's cells."""

    name: str
    label: str
    """As people read it."""
    help: str
    low: float
    high: float
    grain: float
    """The smallest change that forms offer and dialects write."""
    harder: Literal[1, -1, 0]
    """Which way makes tasks harder; 0: neither."""


SHARE = Knob("share", "share", "the part of the tasks that are of this cell", 0, 1, 0.01, 0)
"""The knob that every family has."""


class Outcome(NamedTuple):
    """What can become of an answer, by the judge's name for it."""

    name: str
    label: str
    """As charts and lists say it."""
    sentence: str
    """As a sentence about one answer says it; ``{agents}`` stands for those at fault."""
    rule: str
    """The rule that a fault breaks; empty where none is broken."""
    color: str
    """A middle tone that keeps a contrast of 3:1 to the page, light and dark."""
    valid: bool = False


OPTIMAL = Outcome("optimal", "optimal", "it is optimal", "", "#00855F", True)
SUBOPTIMAL = Outcome("suboptimal", "valid, not optimal", "it is valid, and not optimal", "", "#4E9E3A", True)

Named = TypeVar("Named", Knob, Outcome)


def by_name(*things: Named) -> dict[str, Named]:
    """Name -> thing, in this order."""
    return {thing.name: thing for thing in things}


class FamilyWords:
    """The words of a family, made from the names and labels of its knobs and outcomes."""

    knobs: ClassVar[Mapping[str, Knob]]
    outcomes: ClassVar[Mapping[str, Outcome]]
    aim: ClassVar[str] = ""
    """What the policy learns, in a sentence or two, for a language model as engineer."""

    # --- for engineers ----------------------------------------------------------------------------------------------------

    def brief(self, cells: Sequence[Cell], parts: Sequence[str] = ()) -> str:
        """The task of a language model as engineer: what the policy learns, which cells the config has, and what the knobs do."""
        knobs = "\n".join(f"- {name.removesuffix('_ratio')}_percent: {knob.help}" for name, knob in self.knobs.items())
        return (
            f"You design the environment in which a policy (a language model) learns by reinforcement learning. {self.aim} Training goes "
            "in stages. After each stage you read what happened and write the environment config of the next one.\n\n"
            f"The config has the cells {', '.join(cell.name for cell in cells)}. For each cell you set, in whole per cent:\n{knobs}"
        )

    def statistics(self, cell: Cell, own: Any, drawn: Any) -> tuple[str, dict[str, float]]:
        """The line of evidence about what a cell of the config asks for and what was drawn from it: a sentence, and its figures."""
        settings = ", ".join(f"{self.knobs[name].label} {value:.2f}" for name, value in own.settings().items() if name in self.knobs)
        return f"{cell.words}: config {settings}; drawn {drawn.boards} tasks.", {**own.settings(), "drawn_boards": drawn.boards}

    def case(self, row: Any) -> tuple[str, int]:
        """A failed answer as a worked case: what went wrong, as a phrase that ends a sentence, and at which step of the answer."""
        return f"task {row['board_id']}: {self.outcomes[row['outcome']].label}", 0

    def shown(self, row: Any) -> str:
        """The task of a failed answer and the answer, as a language model reads them below :meth:`case`; empty: the case says all."""
        return ""

    # --- for pages and forecasts ------------------------------------------------------------------------------------------

    def scope(self, config: Any) -> str:
        """How much a config covers, in a few words."""
        return f"{len(config.cells)} cells"

    def title(self, config: Any) -> str:
        """What heads the list of a config's cells."""
        return "cell"

    def notes(self, config: Any) -> list[str]:
        """What else a config says that is not usual, a sentence each."""
        return []

    def part_help(self, part: str) -> str:
        return part

    def cell_label(self, name: str) -> str | None:
        """A cell in charts and tables, by its name alone; None: the name says it best, or is not that of a cell of this family."""
        return None

    def cells_noun(self, names: Sequence[str]) -> str | None:
        """What cells with these names are, in a word; None: cells."""
        return None

    def setting_label(self, name: str) -> str:
        """What charts and tables call a knob, or a part of a cell."""
        return self.knobs[name].label if name in self.knobs else name

    def suite_size(self, suite: Any, config: Any) -> int:
        """Number of a suite's tasks, or about."""
        return suite.boards_per_cell * len(config.cells)

    def suite_scope(self, suite: Any) -> str:
        """How much a suite covers, in a few words."""
        return "every cell"
