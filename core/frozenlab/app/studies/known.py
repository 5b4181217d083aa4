"""The studies there are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from frozenlab.app.experiment import RECORDED
from frozenlab.app.ui import sessions
from frozenlab.experiments.studies.report import report_of
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.store import Study, StudyError, shipped_reports
from frozenlab.experiments.studies.tables import StudyReport


@dataclass(frozen=True)
class ShownStudy:
    """A study of this machine, or one that came with the project, of which only the report is there."""

    id: str
    spec: StudySpec
    study: Study | None = None
    recorded: StudyReport | None = None

    def report(self) -> StudyReport | None:
        """None while no comparison is possible."""
        if self.study is None:
            return self.recorded
        return own_report(str(self.study.dir), sum(1 for _ in self.study.finished()), self.study.state().status)

    @property
    def label(self) -> str:
        kind = "recorded" if self.study is None else self.study.state().status
        return f"{self.spec.title} · {self.spec.size_in_words} · {kind}"


@st.cache_data(max_entries=50, show_spinner="Counting")
def own_report(folder: str, finished: int, status: str) -> StudyReport | None:
    """Counted once for each number of finished cells, and again at the end. None while nothing can be compared."""
    try:
        return report_of(Study(Path(folder)))
    except StudyError:
        return None


def everything() -> dict[str, ShownStudy]:
    """All studies, one's own first and newest first."""
    own = [ShownStudy(study.id, study.spec, study=study) for study in Study.all(sessions.store())]
    ours = []
    for folder in shipped_reports():
        report = StudyReport.model_validate_json((folder / "report.json").read_text(encoding="utf-8"))
        ours.append(ShownStudy(f"{RECORDED}{folder.name}", report.spec, recorded=report))
    return {each.id: each for each in [*own, *ours]}
