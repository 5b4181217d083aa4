"""Tables of judged answers as they are read back: with their types, or refused with what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from frozenlab.base.errors import LabError
from frozenlab.base.files import regular
from frozenlab.base.versions import OLDER
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
