"""Tolerant reading: the sound files of a folder are shown, the damaged ones are listed as problems."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from frozenlab.base.errors import LabError, one_line
from frozenlab.base.files import Kept, read_lines, regular
from frozenlab.base.schemas import OLDER
from frozenlab.tasks.family import Family

if TYPE_CHECKING:
    import pandas as pd

TRAINED = {"training_step": "int64", "reward": "float64"}
"""Further columns of answers that were sampled in training."""


class TableError(LabError, ValueError):
    """A table is none of judged answers; the message says what is wrong with it."""


def columns_of(family: Family, *, trained: bool = False) -> dict[str, str]:
    """Column -> pandas type of a family's tables."""
    return {**family.columns, **(TRAINED if trained else {})}


def read_table(path: Path, family: Family, *, trained: bool = False) -> pd.DataFrame:
    """The table of a Parquet file. Raises what :func:`checked` raises, or what pyarrow raises if the file is damaged."""
    from pyarrow.parquet import ParquetFile

    with ParquetFile(regular(path)) as file:  # half the time of pandas.read_parquet, which looks for partitions
        table = file.read(use_threads=False).to_pandas(use_threads=False)
    return checked(table, family, trained=trained)


def checked(table: pd.DataFrame, family: Family, *, trained: bool = False) -> pd.DataFrame:
    """The table with the types of its columns. Raises TableError, or what pandas raises where a column cannot have its type."""
    columns = columns_of(family, trained=trained)
    if missing := [name for name in columns if name not in table]:
        raise TableError(OLDER if missing == ["config_cell"] else f"it has no column {missing[0]!r}")
    table = table.astype({name: kind for name, kind in columns.items() if table[name].dtype != kind})
    if not (table["valid"] == table["fault"].isna()).all() or not table["fault"].dropna().isin(family.faults).all():
        raise TableError("a plan is valid and has a fault, or is not and has none that there is")
    if not table["config_cell"].dropna().drop_duplicates().str.fullmatch(r"[a-z0-9@.-]{0,40}").all():
        raise TableError("the column 'config_cell' holds what it cannot hold")
    if wrong := family.unsound(table):
        raise TableError(wrong)
    if table["board_id"].isna().any():
        raise TableError("a row has no board")
    return table


Model = TypeVar("Model", bound=BaseModel)
Read = TypeVar("Read")


class Lines(NamedTuple):
    """The result of :func:`sound_lines`."""

    lines: list[dict[str, Any]]
    end: int
    """Byte to continue from."""
    problems: list[str]


def sound_lines(path: Path, kind: type[BaseModel], offset: int = 0) -> Lines:
    """The lines after byte ``offset`` that fit the model ``kind``, and the reasons why others do not."""
    lines, end = read_lines(path, offset)
    sound: list[dict[str, Any]] = []
    problems: dict[str, None] = {}
    for line in lines:
        try:
            sound.append(kind.model_validate(line).model_dump(exclude_unset=True))
        except ValidationError as error:
            problems[f"has a line that is none of its kind: {one_line(error)}"] = None
    return Lines(sound, end, list(problems))


class GrowingLines:
    """Reads a file to which lines are added, and of a file that it has read before only the lines that are new."""

    def __init__(self, kind: type[BaseModel], most: int) -> None:
        self._kind, self._most = kind, most
        self._known: OrderedDict[Path, tuple[bytes, Lines]] = OrderedDict()

    def __call__(self, path: Path) -> Lines:
        seam, known = self._known.pop(path, (b"", Lines([], 0, [])))
        if known.end and seam_at(path, known.end) != seam:  # it was written anew
            known = Lines([], 0, [])
        more = sound_lines(path, self._kind, known.end)
        whole = Lines([*known.lines, *more.lines], more.end, list(dict.fromkeys([*known.problems, *more.problems])))
        self._known[path] = seam_at(path, whole.end), whole
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return whole


SEAM = 256
"""Bytes by which the part of a file that was read before is known again."""


def seam_at(path: Path, end: int) -> bytes:
    """The last bytes before ``end``."""
    with regular(path).open("rb") as file:
        file.seek(max(0, end - SEAM))
        return file.read(min(SEAM, end))


@cache
def lines_at(kind: type[BaseModel]) -> Kept[Lines]:
    return Kept(GrowingLines(kind, 200), 200)


@cache
def model_at(kind: type[Model]) -> Kept[Model]:
    """A cached reader for JSON files that hold a model of this ``kind``."""
    return Kept(lambda path: kind.model_validate_json(regular(path).read_bytes()), 1_000)


@cache
def table_of(family: Family, trained: bool = False) -> Kept[pd.DataFrame]:
    """A reader for a family's tables of judged answers; ``trained``: of those sampled in training."""
    return Kept(lambda path: read_table(path, family, trained=trained), 100)


class FolderReader:
    """Reads the files of one folder. A file that does not exist or is damaged gives None; damage is added to ``problems``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems: list[str] = []

    def model(self, path: Path, kind: type[Model]) -> Model | None:
        return self.read(path, lambda: model_at(kind)(path))

    def table(self, path: Path, read: Kept[pd.DataFrame]) -> pd.DataFrame | None:
        table = self.read(path, lambda: read(path))
        return None if table is None else table.copy(deep=False)

    def lines(self, path: Path, kind: type[BaseModel]) -> list[dict[str, Any]]:
        """The valid lines of a file. Other lines are skipped and become a problem."""
        found = self.read(path, lambda: lines_at(kind)(path)) or Lines([], 0, [])
        for problem in found.problems:
            self.problem(path, problem)
        return list(found.lines)

    def read(self, path: Path, read: Callable[[], Read]) -> Read | None:
        """The result of ``read``; None if the file does not exist, None and a line in ``problems`` if it is damaged."""
        try:
            return read() if path.exists() else None
        except Exception as error:  # a damaged file can make its reader raise anything
            self.problem(path, f"cannot be read: {one_line(error)}")
            return None

    def problem(self, path: Path, what: str) -> None:
        problem = f"{path.relative_to(self.folder)} {what}"
        if problem not in self.problems:
            self.problems.append(problem)
