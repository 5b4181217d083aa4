"""The engineer `learnability`: boards go to the sizes whose sampled plans mix success and failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from frozenlab.engineer.ask import ask
from frozenlab.engineer.engineers import LearnabilityEngineer
from frozenlab.engineer.guard import GuardSettings
from frozenlab.engineer.schema import Context
from frozenlab.engineer.sections import behaviour
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.session.store import SessionStore
from tests.builders import short_spec
from tests.engineer.builders import context_of, one_cell
from tests.running import finish

CONFIG = EnvironmentConfig.uniform((4, 6, 8), agents=3, hole_ratio=0.2, wait_ratio=0.3)


def context(**valid: float) -> Context:
    return context_of(CONFIG, *(behaviour.cell_line(one_cell(int(size[1:])), rate, 0.0, rate / 2) for size, rate in valid.items()))


def test_shares_follow_p_times_one_minus_p_and_the_ratios_stay() -> None:
    record = ask(LearnabilityEngineer(), context(s4=0.9, s6=0.5, s8=0.1), CONFIG, GuardSettings(), seed=0)
    shares = {name: cell.share for name, cell in record.config_after.cells.items()}
    assert shares == pytest.approx({"4": 0.09 / 0.43, "6": 0.25 / 0.43, "8": 0.09 / 0.43})
    assert all((cell.hole_ratio, cell.wait_ratio) == (0.2, 0.3) for cell in record.config_after.cells.values())
    assert record.proposal is not None and "most to size 6, where 50% of sampled plans" in record.proposal.summary
    assert [claim.evidence for claim in record.proposal.claims] == [("B4",), ("B6",), ("B8",)]


def test_what_always_succeeds_keeps_the_guards_least_share_and_an_unknown_size_is_tried() -> None:
    after = ask(LearnabilityEngineer(), context(s4=1.0, s6=0.5), CONFIG, GuardSettings(min_share=0.05), seed=0).config_after
    assert after.cells["4"].share == pytest.approx(0.05) and after.cells["6"].share == after.cells["8"].share


def test_without_samples_or_without_a_mixed_size_every_size_counts_the_same() -> None:
    for seen in (context(), context(s4=1.0, s6=0.0, s8=0.0)):
        after = ask(LearnabilityEngineer(), seen, CONFIG, GuardSettings(), seed=0).config_after
        assert [cell.share for cell in after.cells.values()] == pytest.approx([1 / 3] * 3)


def test_it_engineers_a_session(tmp_path: Path) -> None:
    session = SessionStore(tmp_path).create(short_spec("learnability"), "learnability")
    assert finish(session) == 0
    record = session.proposal(0)
    assert record is not None and record.engineer == "learnability" and record.kept_because is None
