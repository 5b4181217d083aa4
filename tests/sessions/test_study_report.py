"""The report of a study: its figures can be counted again from its boards, and its page needs nothing else."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.sessions.store import SessionStore
from core.sessions.studies.effects import contrast
from core.sessions.studies.report import StudyReport, is_factorial, is_leave_one_out, measured, report_of, save_report
from core.sessions.studies.spec import StudySpec, engineers_study, only_one, sections_study, without_one
from core.sessions.studies.store import StudyError, create, outcomes


def imagined(spec: StudySpec, gain: float = 0.0, seed: int = 0) -> pd.DataFrame:
    """Boards of a study in which showing failures adds ``gain`` to the chance of a valid plan."""
    rng = np.random.default_rng(seed)
    shown = spec.sections_of()
    hardness = rng.random(60) * 0.8
    rows = []
    for arm in spec.arms:
        for number in spec.seeds:
            chance = hardness + gain * ("failures" in shown[arm.name]) + rng.normal(0, 0.01)
            valid = rng.random(60) < chance
            rows += [
                {"arm": arm.name, "seed": number, "board_id": f"b{i}", "cell": f"2x{3 + i % 3}", "size": 3 + i % 3, "agents": 2,
                 "valid": bool(ok), "optimal": bool(ok and i % 2)}
                for i, ok in enumerate(valid)
            ]  # fmt: skip
    return pd.DataFrame(rows)


def test_a_factorial_study_tells_main_effects_and_interactions() -> None:
    spec = sections_study(4)
    boards = imagined(spec, gain=0.3)
    report, sentences = measured(boards, "valid", spec)
    assert [(row.kind, row.name) for row in report.effects] == [
        ("main effect", "failures"), ("main effect", "preserved"), ("main effect", "statistics"),
        ("interaction", "failures and preserved"), ("interaction", "failures and statistics"), ("interaction", "preserved and statistics"),
    ]  # fmt: skip
    shown = {name: "failures" in sections for name, sections in spec.sections_of().items()}
    expected = contrast(outcomes(boards), [name for name in shown if shown[name]], [name for name in shown if not shown[name]])
    failures = report.effects[0]
    assert (failures.mean, failures.low, failures.p, failures.n) == (expected.mean, expected.low, expected.p, 4)
    assert failures.mean == pytest.approx(0.25, abs=0.1) and failures.board_low > 0 and failures.more_seeds == 0
    assert len(sentences) == 3 and all(re.search(r"[0-9]", sentence) for sentence in sentences)
    assert {arm.arm: arm.mean for arm in report.arms} == pytest.approx(outcomes(boards).groupby("arm")["value"].mean().to_dict())


def test_other_studies_are_told_by_what_they_are() -> None:
    base = sections_study(3)
    for arms, kind, n in ((without_one(), "left out", 5), (engineers_study().arms, "arm", 4), (only_one(), "arm", 5)):
        spec = base.model_copy(update={"arms": arms})
        report, sentences = measured(imagined(spec), "optimal", spec)
        assert {row.kind for row in report.effects} == {kind} and len(report.effects) == len(sentences) == n


def test_designs_are_known_by_their_sections() -> None:
    def sections(spec: StudySpec) -> dict[str, frozenset[str]]:
        return {arm: frozenset(shown) for arm, shown in spec.sections_of().items()}

    factorial, engineers = sections(sections_study()), sections(engineers_study())
    left_out = sections(sections_study().model_copy(update={"arms": without_one()}))
    assert [is_factorial(design) for design in (factorial, engineers, left_out)] == [True, False, False]
    assert [is_leave_one_out(design) for design in (factorial, engineers, left_out)] == [False, False, True]


def test_the_report_of_a_study_without_finished_cells_says_so(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="no cell is finished"):
        report_of(create(sections_study(), SessionStore(tmp_path), "empty"))


class Tags(HTMLParser):
    """Which tags are open at the end, and what the page asks others for."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.asked: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "html"):
            self.open.append(tag)
        self.asked += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_what_is_saved_is_whole_and_the_page_needs_nothing_else(tmp_path: Path) -> None:
    spec = sections_study(3).model_copy(update={"title": "<script>alert(1)</script>"})
    boards = imagined(spec, gain=0.1)
    valid, sentences = measured(boards, "valid", spec)
    optimal, _ = measured(boards, "optimal", spec)
    told = StudyReport(
        id="x", spec=spec, finished=24, cells=24, seconds=60.0, created=0.0, valid=valid, optimal=optimal, sentences=tuple(sentences)
    )
    save_report(tmp_path, told, boards)
    assert StudyReport.model_validate_json((tmp_path / "report.json").read_text()) == told
    again, _ = measured(pd.read_parquet(tmp_path / "boards.parquet"), "valid", spec)
    assert again == valid
    assert len(pd.read_csv(tmp_path / "arms.csv")) == 2 * 24 and len(pd.read_csv(tmp_path / "effects.csv")) == 12
    page = (tmp_path / "report.html").read_text()
    tags = Tags()
    tags.feed(page)
    assert not tags.open and not tags.asked and "<script>" not in page
    assert all(sentence.split(":")[0] in page for sentence in sentences)
