"""What the last two chapters show: answers, evidence and proposals of the sessions that ship with the project."""

from __future__ import annotations

from dataclasses import dataclass

from frozenlab.app.views.lake.recorded import Recorded, recorded, showcase
from frozenlab.engineer.schema import Context, Evidence, ProposalRecord
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore

SESSION = "example-quick"


def session() -> Session:
    """Raises SessionError if it is not there."""
    return SessionStore().open(SESSION)


def before_and_after() -> tuple[Recorded, Recorded]:
    """Two answers to one board: the model's before training, which collides, and its answer after the last stage, which is optimal."""
    own = session()
    before, after = own.results(None), own.results(own.spec.stages - 1)
    assert before is not None and after is not None
    board_id = showcase(before, after)
    first, last = (
        recorded(table[table["board_id"] == board_id].iloc[0], label)
        for table, label in ((before, "before training"), (after, f"after {own.spec.stages} stages"))
    )
    return first, last


@dataclass(frozen=True)
class Decision:
    """What an engineer read after a stage, and what it wrote."""

    stage: int
    context: Context
    record: ProposalRecord

    @property
    def failures(self) -> list[Evidence]:
        """The line of the failures section about each cell."""
        return [line for line in self.context.sections["failures"] if line.cell and line.id == f"F{line.cell}"]

    @property
    def rates(self) -> dict[str, float]:
        """Valid rate on each cell, as the failures section gives it."""
        lines = {cell.name: self.context.evidence("failures", cell.name) for cell in self.context.cells}
        return {name: line.numbers["valid"] for name, line in lines.items() if line is not None}


def decision() -> Decision:
    """The one after the first stage."""
    own = session()
    context, record = own.context(0), own.proposal(0)
    assert context is not None and record is not None
    return Decision(0, context, record)
