"""The measurements there are, and their reports."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from frozenlab.app.ui import sessions
from frozenlab.experiments.headroom.report import REPORT, read_report
from frozenlab.experiments.headroom.report_tables import HeadroomReport
from frozenlab.experiments.headroom.store import Headroom
from frozenlab.jobs.kept import Kept

RECORDED = "recorded-"
"""What the names of measurements begin with that came with the project."""
_read = Kept(lambda path: read_report(path.parent.parent), 20)


@dataclass(frozen=True)
class Shown:
    """A measurement of this machine, or one that came with the project, of which only the report is there."""

    name: str
    measurement: Headroom

    @property
    def recorded(self) -> bool:
        return self.name.startswith(RECORDED)

    @property
    def label(self) -> str:
        spec = self.measurement.spec
        kind = "recorded" if self.recorded else self.measurement.state().status
        return f"{spec.title} · {len(spec.students)} student{'s' if len(spec.students) > 1 else ''} · {kind}"

    def report(self) -> HeadroomReport | None:
        """None before all is measured. Raises HeadroomError if it cannot be read."""
        path: Path = self.measurement.dir / REPORT
        return _read(path) if path.exists() else None


def everything() -> dict[str, Shown]:
    """All measurements by the name in the address: one's own, newest first, then those that came with the project and were run."""
    own = [Shown(measurement.id, measurement) for measurement in Headroom.all(sessions.store())]
    ours = [Shown(f"{RECORDED}{measurement.id}", measurement) for measurement in Headroom.shipped() if (measurement.dir / REPORT).exists()]
    return {shown.name: shown for shown in [*own, *ours]}
