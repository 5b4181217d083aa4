"""Records what the talk shows of the ladder by GRPO: both plans of one student for a board of a cell that it had lost, and what the tutor,
which had taught its engineer, makes of the evidence.

frozenlab students make ladder-12
python -m recipes.lost_board FOLDER                                     the specs of its two sessions
frozenlab run FOLDER/equal.json --out FOLDER/equal                      and taught, a few minutes each
python -m recipes.lost_board FOLDER                                     the answers, once both are done

The sessions answer all test boards as in the study that ships, or nothing is written.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from frozenlab.app.views.lake.tracks import showcase
from frozenlab.base.files import write_text
from frozenlab.engineer.engineers import tutor
from frozenlab.experiments.students.menu import ladder
from frozenlab.experiments.studies.store import Study
from frozenlab.session.session import Session

STUDENT, ARMS = "ladder-12", ("equal", "taught")
"""The student that won most boards of one cell."""
CELL = ladder()[STUDENT].weak[0]
SHOWN = [
    "board_id",
    "config_cell",
    "board",
    "completion",
    "paths",
    "outcome",
    "valid",
    "optimal",
    "fault",
    "step",
    "fault_agents",
    "cell",
    "makespan",
    "sum_of_costs",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    [study] = [study for study in Study.shipped() if study.id == "ladder-grpo"]
    if not all((folder / arm).exists() for arm in ARMS):
        for spec in (study.spec.spec_of(arm, 1, f"student:{STUDENT}") for arm in study.spec.arms if arm.name in ARMS):
            write_text(folder / f"{spec.engineer.kind}.json", spec.model_dump_json())
        return
    answers = {arm: table for arm in ARMS if (table := Session(folder / arm).results(0)) is not None}
    recorded = pd.read_parquet(study.dir / "boards.parquet").query("student == @STUDENT").set_index(["arm", "board_id"])
    for arm, table in answers.items():
        same = recorded.loc[arm].loc[table["board_id"], "valid"].to_numpy() == table["valid"].to_numpy()
        assert same.all(), f"{arm}: {(~same).sum()} of {len(same)} boards are answered otherwise than in the study"
    lost = {arm: table[table["config_cell"] == CELL].set_index("board_id", drop=False) for arm, table in answers.items()}
    board = showcase(*(table.reset_index(drop=True) for table in lost.values()))
    shown = pd.DataFrame({arm: table.loc[board, SHOWN] for arm, table in lost.items()}).T
    write_text(study.dir / "example.json", shown.to_json(orient="index", indent=1) + "\n")
    write_text(study.dir / "lesson.json", lesson(Session(folder / "taught")).to_json(orient="index", indent=1) + "\n")
    print(f"board {board} of {CELL}")


def lesson(session: Session) -> pd.DataFrame:
    """Three cells of boards: the one that was lost, of the others the one with the lowest rate and the one with the highest. A row a cell:
    a validation board with the student's answer before training, the rate that the engineer reads, the usual one, the share that the cell
    had, the one that the tutor gives it, and the one that the engineer gave it."""
    context, record, answers = session.context(None), session.proposal(None), session.validation(None)
    assert context is not None and record is not None and answers is not None, "the engineer is asked before the stage"
    before, after = record.config_before, record.config_after.cells
    told = tutor.propose(context, before).config.cells
    rows = {}
    for cell in context.cells:
        line = context.evidence("failures", cell.name)
        assert line is not None
        of_cell = answers[answers["config_cell"] == cell.name].reset_index(drop=True)
        shares = {name: cells[cell.name].share for name, cells in (("before", before.cells), ("tutor", told), ("own", after))}
        rates = {"n": int(line.numbers["n"]), "now": line.numbers["valid"], "usual": tutor.usual_rate(cell)}
        if "size" in cell.place:
            rows[cell.name] = {name: of_cell.loc[0, name] for name in SHOWN} | rates | shares
    found = pd.DataFrame(rows).T
    others = found["now"].drop(CELL).astype(float)
    return found.loc[[CELL, others.idxmin(), others.idxmax()]]


if __name__ == "__main__":
    main()
