"""The paper's figures (``assets/paper_results.json``), for comparison with results.

They were measured on other boards: the paper's files, whereas ours are generated in the same shape. And they are of general language
models that read text, whereas the lab model was trained on solver plans.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated

from pydantic import AfterValidator, Field

from frozenlab.base import places
from frozenlab.base.numbers import wilson
from frozenlab.base.schemas import Strict

FILE = places.ASSETS / "paper_results.json"
Percent = Annotated[float, Field(ge=0, le=100), AfterValidator(lambda percent: percent / 100)]
"""A rate: percent in the file, a fraction of 1 after reading."""


class PaperRates(Strict):
    """Rates as fractions of 1."""

    valid: Percent
    optimal: Percent


class PaperRow(Strict):
    """One model with one number of agents."""

    by_size: dict[int, PaperRates]
    """Map size -> rates."""
    overall: PaperRates
    """The paper's "Sum" as printed. In two rows it is not the mean of the printed cells; see :meth:`mean`."""

    def mean(self, metric: str) -> float:
        """The mean of ``valid`` or ``optimal`` over the printed cells, comparable with ``TeamResult.mean_valid``."""
        return sum(getattr(rates, metric) for rates in self.by_size.values()) / len(self.by_size)


class PaperTeam(Strict):
    """All models with one number of agents."""

    sizes: tuple[int, ...]
    boards_per_size: int
    models: dict[str, PaperRow]
    """Name -> figures, in the paper's order."""

    def bounds(self, rate: float) -> tuple[float, float]:
        """95 % Wilson interval of one cell's rate."""
        return wilson(round(rate * self.boards_per_size), self.boards_per_size)


class PaperResults(Strict):
    """The results tables of the paper."""

    source: str
    note: str
    agents: dict[int, PaperTeam]
    """Number of agents -> table."""


@cache
def paper_results() -> PaperResults:
    return PaperResults.model_validate_json(FILE.read_text(encoding="utf-8"))
