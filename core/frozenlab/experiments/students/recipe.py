"""The recipe of a student: what it practises, and at which cells it should stay weak."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator

from frozenlab.base.cells import CellName
from frozenlab.base.errors import LabError, one_line
from frozenlab.base.schemas import Strict
from frozenlab.tasks.families import AnyConfig, family_of
from frozenlab.tasks.family import Family

UNTRAINED = "untrained"
"""The base of an apprentice: the lab model's network before its warm start."""


class StudentError(LabError, ValueError):
    """A student cannot be made, read or thrown away; the message says why."""


class Recipe(Strict):
    """``recipe.json``: everything that decides a student.

    The same recipe with the same base gives the same bits on the same kind of processor.

    Example:
        >>> from frozenlab.lake.config import EnvironmentConfig
        >>> config = EnvironmentConfig.uniform((5, 6), agents=(2, 3))
        >>> shares = {"2@5": 0.5, "2@6": 0.5, "3@5": 0.0, "3@6": 0.0}
        >>> cells = {name: cell.model_copy(update={"share": shares[name]}) for name, cell in config.cells.items()}
        >>> Recipe(title="Never saw three agents", config=config.with_cells(cells), weak=("3@5", "3@6")).practised
        ('2@5', '2@6')
    """

    schema_version: Literal[1] = 1
    title: Annotated[str, Field(min_length=1, max_length=120)]
    """What people call the student."""
    config: AnyConfig
    """What is practised: the shares of the cells. A cell with share 0 is never practised. All cells are certified."""
    weak: tuple[CellName, ...]
    """The cells that should stay weak."""
    misled: tuple[CellName, ...] = ()
    """The weak cells that are practised with wrong answers; these overlook what is special about the cell, such as its doors."""
    test_config: AnyConfig | None = None
    """Another config of the same family whose cells are certified too, such as other map sizes."""
    base: str = "lab-model"
    """The model before practice: ``lab-model``, ``student:ID``, the path of a checkpoint folder, or ``untrained``."""
    base_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    """Checksum of the weights of the base. It is filled in when the student is made; another base is then refused."""
    boards: Annotated[int, Field(ge=1, le=200_000)] = 8000
    """Different tasks to practise."""
    presentations: Annotated[int, Field(ge=1, le=2_000_000)] = 8000
    """Tasks shown in all. If there are more than ``boards``, tasks are shown again, each time with another solution if there is one."""
    boards_per_step: Annotated[int, Field(ge=1, le=1024)] = 32
    """Tasks in one optimizer step."""
    learning_rate: Annotated[float, Field(gt=0, le=1e-2)] = 3e-3
    """The learning rate at its highest. It falls to zero with the end of the practice. On teams and layouts of the lake, 3e-3 made the lab
    model forget a team that it did not practise; 1e-3 hardly did."""
    boards_per_cell: Annotated[int, Field(ge=8, le=10_000)] = 60
    """Held-out tasks of each cell for the certificate. No task of them is practised."""
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0

    @property
    def family(self) -> Family:
        return family_of(self.config.family)

    @property
    def steps(self) -> int:
        """Optimizer steps; the last one is full, too."""
        return -(-self.presentations // self.boards_per_step)

    @property
    def practised(self) -> tuple[str, ...]:
        """The cells that are not meant to stay weak."""
        return tuple(name for name in self.config.cells if name not in self.weak)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Reads a recipe. Raises StudentError in one line."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            raise StudentError(one_line(error)) from None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if unknown := [name for name in self.weak if name not in self.config.cells]:
            raise ValueError(f"there is no cell {unknown[0]!r} to stay weak; the cells are {', '.join(self.config.cells)}")
        if not self.weak or len(set(self.weak)) == len(self.config.cells):
            raise ValueError("some cells have to stay weak, and some have to be practised")
        if strange := [name for name in self.misled if name not in self.weak]:
            raise ValueError(f"the cell {strange[0]!r} has wrong answers but is not among the weak ones")
        if self.misled and (self.family.teacher is None or self.family.teacher.wrong_answers([]) is None):
            raise ValueError(f"the family {self.family.name} has no teacher who knows wrong answers")
        if self.test_config is not None and self.test_config.family != self.config.family:
            raise ValueError(f"the config is of the family {self.config.family}, the test config of {self.test_config.family}")
        if self.family.teacher is None:
            raise ValueError(f"practice needs a teacher, which the family {self.family.name} does not have")
        if self.family.lab is None and self.base in ("lab-model", UNTRAINED):
            raise ValueError(f"the lab model has no words for the tasks of {self.family.name}")
        return self
