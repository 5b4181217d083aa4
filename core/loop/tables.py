"""Tables of judged answers as they are read back: with their types, or refused with what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from frozenlab.errors import LabError
from frozenlab.lake.rules import FAULTS

if TYPE_CHECKING:
    import pandas as pd

PATTERNS = {
    "config_cell": r"[a-z0-9@.-]{0,40}",
    "board": r'\{"map": \[".*"\], "agents": \[\{.*\}\]\}',
    "paths": r"\[.*\]",
    "fault_agents": r"\[[\d, ]*\]",
    "cell": r"\[-?\d+, -?\d+\]",
}
"""What the columns that hold JSON look like, where they hold anything. A path may lead off the board, or be none."""


class TableError(LabError, ValueError):
    """A table is none of judged answers; the message says what is wrong with it."""


def read_table(path: Path, columns: Mapping[str, str]) -> pd.DataFrame:
    """The table of a Parquet file. Raises what :func:`checked` raises, or what pandas raises if the file is damaged."""
    import pandas as pd

    return checked(pd.read_parquet(path), columns)


def checked(table: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    """The table with the types of ``columns``. Raises TableError, or what pandas raises where a column cannot have its type."""
    if "config_cell" not in table and "size" in table:  # of a version whose sessions had one team
        table = table.assign(config_cell=table["size"].astype(str))
    if missing := [name for name in columns if name not in table]:
        raise TableError(f"it has no column {missing[0]!r}")
    table = table.astype(columns)
    if not (table["valid"] == table["fault"].isna()).all() or not table["fault"].dropna().isin(FAULTS).all():
        raise TableError("a plan is valid and has a fault, or is not and has none that there is")
    for name, pattern in PATTERNS.items():
        if not table[name].dropna().drop_duplicates().str.fullmatch(pattern).all():
            raise TableError(f"the column {name!r} holds what it cannot hold")
    always = table[["board_id", "board", "fault_agents"]]
    if always.isna().any(axis=None) or not table["size"].between(1, 99).all():
        raise TableError("a row has no board")
    return table
