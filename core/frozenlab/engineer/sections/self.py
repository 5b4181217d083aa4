"""The section `self`: what the checkpoint's own sampled groups of plans say about what it can learn from.

A group is the plans sampled for one board in one step. GRPO learns from groups that mix success and failure (or whose rewards differ); a
group that is all valid or all failed says that its board was too easy or too hard (DAPO's dynamic sampling, Yu et al. 2025, drops those).
Only the groups that the session records are counted, so every line gives its n.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import TYPE_CHECKING

from frozenlab.base.cells import Cell
from frozenlab.engineer.measurements import Behind, StageMeasurements, StageTables, of_cell, thirds
from frozenlab.engineer.schema import Evidence
from frozenlab.engineer.sections.section import Section
from frozenlab.engineer.sentences import capitalised

if TYPE_CHECKING:
    import pandas as pd

GROUP = ["training_step", "board_id"]


class Self(Section):
    name = "self"
    letter = "G"
    heading = "Self: the groups of plans that were sampled in training"
    help = "how many sampled groups of each map size mix success and failure, their reward spread, and the entropy"
    usual = False

    def stage_lines(self, stage: StageMeasurements) -> Iterator[Evidence]:
        if stage.sampled is not None and len(stage.sampled):
            yield group_line(None, groups(stage.sampled), entropy_of(stage.metrics))

    def cell_lines(self, stage: StageMeasurements, cell: Cell) -> Iterator[Evidence]:
        rows = of_cell(stage.sampled, cell.name)
        if len(rows):
            yield group_line(cell, groups(rows))

    def boards(self, line: Evidence, kept: StageTables) -> Behind:
        rows = of_cell(kept.sampled, line.cell)
        if len(rows):
            rate = rows.groupby(GROUP)["valid"].transform("mean")
            rows = rows.assign(split=(rate - 0.5).abs()).sort_values(["split", *GROUP], kind="stable").drop(columns="split")
        return Behind("Recorded plans, those of the most mixed groups first", rows, "sampled in training")


def entropy_of(metrics: pd.DataFrame) -> tuple[float, float] | None:
    """The entropy of the last third of the stage and its change since the first, in nats a token; None if it was not measured."""
    if "entropy" not in metrics:
        return None
    first, last = (float(part["entropy"].mean()) for part in thirds(metrics))
    return None if isnan(first) or isnan(last) else (last, last - first)


def groups(rows: pd.DataFrame) -> pd.DataFrame:
    """One row a group: its valid rate and the standard deviation of its rewards."""
    import pandas as pd

    by_group = rows.groupby(GROUP)
    return pd.DataFrame({"valid": by_group["valid"].mean(), "spread": by_group["reward"].std(ddof=0)})


def group_line(cell: Cell | None, table: pd.DataFrame, entropy: tuple[float, float] | None = None) -> Evidence:
    """``table`` as :func:`groups` gives it, ``entropy`` as :func:`entropy_of`."""
    solved, failed = float((table["valid"] == 1).mean()), float((table["valid"] == 0).mean())
    numbers = {"n": float(len(table)), "mixed": 1 - solved - failed, "solved": solved, "failed": failed}
    numbers["spread"] = float(table["spread"].mean())
    where = "All sizes" if cell is None else capitalised(cell.words)
    text = (
        f"{where}: of {len(table)} recorded groups of plans {numbers['mixed']:.0%} mix success and failure, {solved:.0%} are all valid, "
        f"{failed:.0%} all fail; mean reward spread {numbers['spread']:.2f}"
    )
    if entropy is not None:
        text += f"; entropy {entropy[0]:.2f} nats a token ({entropy[1]:+.2f} over the stage)"
        numbers |= {"entropy": entropy[0], "entropy_delta": entropy[1]}
    name = None if cell is None else cell.name
    return Evidence(id=f"G{name or ''}", section="self", cell=name, text=f"{text}.", numbers=numbers)
