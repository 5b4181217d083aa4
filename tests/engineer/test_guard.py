"""Every proposed config ends up drawable, close to the last one, and each repair is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.engineer.guard import guard
from core.lake.config import EnvironmentConfig, SizeConfig
from core.lake.generator import infeasible

PREVIOUS = EnvironmentConfig.uniform((3, 5, 8), agents=3, hole_ratio=0.2, wait_ratio=0.2)


def config(**cells: tuple[float, float, float]) -> EnvironmentConfig:
    sizes = {int(name[1:]): SizeConfig(share=s, hole_ratio=h, wait_ratio=w) for name, (s, h, w) in cells.items()}
    return EnvironmentConfig(agents=3, sizes=sizes)


@st.composite
def proposals(draw: st.DrawFn) -> EnvironmentConfig:
    sizes = draw(st.lists(st.integers(3, 10), min_size=1, max_size=6, unique=True))
    weights = [draw(st.integers(1, 100)) for _ in sizes]
    ratios = st.floats(0, 1)
    cells = {
        size: SizeConfig(share=weight / sum(weights), hole_ratio=draw(ratios), wait_ratio=draw(ratios))
        for size, weight in zip(sizes, weights, strict=True)
    }
    return EnvironmentConfig(agents=draw(st.integers(2, 5)), sizes=cells)


@given(proposals())
def test_the_result_is_drawable_close_and_complete(proposed: EnvironmentConfig) -> None:
    used, _ = guard(proposed, PREVIOUS, max_step=0.2, min_share=0.02)
    assert tuple(used.sizes) == (3, 5, 8)
    assert used.agents == 3
    for size, cell in used.sizes.items():
        assert infeasible(size, 3, cell.hole_ratio, cell.wait_ratio) is None
        assert abs(cell.hole_ratio - 0.2) <= 0.2 + 1e-9
        assert abs(cell.wait_ratio - 0.2) <= 0.2 + 1e-9
        assert cell.share >= 0.015


def test_a_sound_proposal_passes_untouched() -> None:
    proposed = config(n3=(0.25, 0.2, 0.3), n5=(0.25, 0.3, 0.2), n8=(0.5, 0.1, 0.1))
    assert guard(proposed, PREVIOUS, max_step=0.2, min_share=0.02) == (proposed, guard(proposed, PREVIOUS, max_step=0.2, min_share=0.02)[1])
    assert guard(proposed, PREVIOUS, max_step=0.2, min_share=0.02)[1].repairs == ()


def test_what_cannot_be_drawn_keeps_the_old_ratios_and_says_why() -> None:
    proposed = config(n3=(0.3, 0.4, 0.2), n5=(0.3, 0.2, 0.2), n8=(0.4, 0.2, 0.2))  # 3x3 with 3 agents has no room at 40 % holes
    used, report = guard(proposed, PREVIOUS, max_step=0.5, min_share=0.02)
    assert used.sizes[3].hole_ratio == 0.2
    assert [(repair.size, repair.knob, repair.proposed, repair.used) for repair in report.repairs] == [(3, "hole_ratio", 0.4, 0.2)]
    assert report.repairs[0].reason


def test_leaps_are_shortened() -> None:
    proposed = config(n3=(0.3, 0.2, 0.2), n5=(0.3, 0.2, 0.9), n8=(0.4, 0.2, 0.2))
    used, report = guard(proposed, PREVIOUS, max_step=0.2, min_share=0.02)
    assert used.sizes[5].wait_ratio == pytest.approx(0.4)
    assert report.repairs[0].reason == "a ratio moves at most 0.2 a stage"


def test_no_size_is_forgotten() -> None:
    used, report = guard(config(n3=(0.995, 0.2, 0.2), n5=(0.005, 0.2, 0.2)), PREVIOUS, max_step=0.2, min_share=0.02)
    assert used.sizes[8].share > 0.15
    assert used.sizes[5].share == pytest.approx(0.02, abs=0.006)
    assert {repair.size for repair in report.repairs} == {5, 8}
