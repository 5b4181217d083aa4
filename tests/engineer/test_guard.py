"""Every proposed config ends up drawable, close to the last one, and each repair is reported."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.engineer.guard import GuardSettings, guard
from frozenlab.engineer.schema import GuardReport
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import LAYOUTS, SCATTER, CellConfig, Layout
from frozenlab.lake.draw.feasible import infeasible
from tests.engineer.builders import MIXED, OPEN

PREVIOUS = EnvironmentConfig.uniform((3, 5, 8), agents=3, hole_ratio=0.2, wait_ratio=0.2)


def config(**cells: tuple[float, float, float]) -> EnvironmentConfig:
    return EnvironmentConfig.of(
        CellConfig(agents=3, size=int(name[1:]), share=s, hole_ratio=h, wait_ratio=w) for name, (s, h, w) in cells.items()
    )


@st.composite
def proposals(draw: st.DrawFn) -> EnvironmentConfig:
    agents, sizes = draw(st.integers(2, 5)), draw(st.lists(st.integers(3, 10), min_size=1, max_size=6, unique=True))
    weights = [draw(st.integers(1, 100)) for _ in sizes]
    ratios = st.floats(0, 1)
    return EnvironmentConfig.of(
        CellConfig(agents=agents, size=size, share=weight / sum(weights), hole_ratio=draw(ratios), wait_ratio=draw(ratios))
        for size, weight in zip(sizes, weights, strict=True)
    )


@given(proposals())
def test_the_result_is_drawable_close_and_complete(proposed: EnvironmentConfig) -> None:
    used, _ = guard(proposed, PREVIOUS)
    assert tuple(used.cells) == ("3", "5", "8")
    assert used.teams == (3,)
    for name, cell in used.cells.items():
        assert infeasible(used, name) is None
        assert abs(cell.hole_ratio - 0.2) <= 0.2 + 1e-9
        assert abs(cell.wait_ratio - 0.2) <= 0.2 + 1e-9
        assert cell.share >= 0.02 - 1e-9


def test_shares_that_leave_nothing_to_divide_become_equal() -> None:
    used, _ = guard(config(n9=(1.0, 0.2, 0.2), n3=(0.0, 0.2, 0.2), n5=(0.0, 0.2, 0.2), n8=(0.0, 0.2, 0.2)), PREVIOUS)
    assert {name: cell.share for name, cell in used.cells.items()} == pytest.approx({"3": 1 / 3, "5": 1 / 3, "8": 1 / 3})


def test_a_sound_proposal_passes_untouched() -> None:
    proposed = config(n3=(0.25, 0.2, 0.3), n5=(0.25, 0.3, 0.2), n8=(0.5, 0.1, 0.1))
    assert guard(proposed, PREVIOUS) == (proposed, guard(proposed, PREVIOUS)[1])
    assert guard(proposed, PREVIOUS)[1].repairs == ()


def test_what_cannot_be_drawn_keeps_the_old_ratios_and_says_why() -> None:
    proposed = config(n3=(0.3, 0.4, 0.2), n5=(0.3, 0.2, 0.2), n8=(0.4, 0.2, 0.2))  # 3x3 with 3 agents has no room at 40 % holes
    used, report = guard(proposed, PREVIOUS, GuardSettings(max_step=0.5, min_share=0.02))
    assert used.cells["3"].hole_ratio == 0.2
    assert [(repair.cell, repair.knob, repair.proposed, repair.used) for repair in report.repairs] == [("3", "hole_ratio", 0.4, 0.2)]
    assert report.repairs[0].reason


def test_leaps_are_shortened() -> None:
    proposed = config(n3=(0.3, 0.2, 0.2), n5=(0.3, 0.2, 0.9), n8=(0.4, 0.2, 0.2))
    used, report = guard(proposed, PREVIOUS)
    assert used.cells["5"].wait_ratio == pytest.approx(0.4)
    assert report.repairs[0].reason == "a ratio moves at most 0.2 a stage"


def test_no_size_is_forgotten() -> None:
    used, report = guard(config(n3=(0.995, 0.2, 0.2), n5=(0.005, 0.2, 0.2)), PREVIOUS)
    assert used.cells["8"].share > 0.15
    assert used.cells["5"].share == pytest.approx(0.02)
    assert {repair.cell for repair in report.repairs} == {"5", "8"}


def laid_out(layouts: dict[Layout, float], **fields: object) -> EnvironmentConfig:
    return EnvironmentConfig.of([CellConfig(agents=3, size=6, share=1, layouts=layouts)], **fields)


def guarded(
    proposed: dict[Layout, float], previous: dict[Layout, float], allowed: tuple[Layout, ...], max_step: float = 1.0
) -> tuple[dict[Layout, float], list[tuple[str, float, float]]]:
    """The layouts that come out of the guard, and its repairs as (layout, proposed, used)."""
    after, report = guard(laid_out(proposed), laid_out(previous), GuardSettings(max_step=max_step, min_share=0), layouts=allowed)
    return after.cells["6"].layouts, [(repair.knob, repair.proposed, round(repair.used, 6)) for repair in report.repairs]


def test_layouts_stay_where_the_spec_allows_none() -> None:
    assert guarded({"maze": 1.0}, SCATTER, ()) == (SCATTER, [("scatter", 0.0, 1.0), ("maze", 1.0, 0.0)])
    assert guarded({"maze": 1.0}, {"maze": 1.0}, ()) == ({"maze": 1.0}, [])


def test_allowed_layouts_pass_and_others_fall_to_the_rest() -> None:
    assert guarded({"maze": 0.5, "open": 0.5}, SCATTER, ("maze", "open")) == ({"maze": 0.5, "open": 0.5}, [])
    after, repairs = guarded({"maze": 0.25, "rooms": 0.5, "scatter": 0.25}, SCATTER, ("maze",))
    assert after == {"scatter": 0.5, "maze": 0.5}  # a size keeps a layout that it has
    assert repairs == [("scatter", 0.25, 0.5), ("rooms", 0.5, 0.0), ("maze", 0.25, 0.5)]
    assert guarded({"rooms": 1.0}, {"open": 1.0}, ("maze",))[0] == {"open": 1.0}


def test_layouts_move_a_step_a_stage() -> None:
    after, repairs = guarded({"maze": 1.0}, SCATTER, ("maze",), max_step=0.25)
    assert after == {"scatter": 0.75, "maze": 0.25}
    assert repairs == [("scatter", 0.0, 0.75), ("maze", 1.0, 0.25)]


parts = st.dictionaries(st.sampled_from(LAYOUTS), st.floats(0.01, 1), min_size=1).map(
    lambda weights: {layout: weight / sum(weights.values()) for layout, weight in weights.items()}
)


@given(parts, parts, st.lists(st.sampled_from(LAYOUTS), unique=True).map(tuple), st.floats(0.05, 1))
def test_guarded_layouts_are_allowed_near_and_whole(
    proposed: dict[Layout, float], previous: dict[Layout, float], allowed: tuple[Layout, ...], max_step: float
) -> None:
    after, repairs = guarded(proposed, previous, allowed, max_step)
    assert CellConfig(size=6, share=1, layouts=after).layouts == after
    assert set(after) <= {*allowed, *previous}
    assert all(abs(after.get(layout, 0) - previous.get(layout, 0)) <= max_step + 1e-9 for layout in LAYOUTS)
    repaired = {layout for layout, _, _ in repairs}
    assert all(abs(after.get(layout, 0) - proposed.get(layout, 0)) < 1e-6 for layout in LAYOUTS if layout not in repaired)


def test_the_wait_definition_is_the_sessions() -> None:
    after, _ = guard(laid_out(SCATTER), laid_out(SCATTER, wait_definition="sum_of_costs"), OPEN)
    assert after.wait_definition == "sum_of_costs"


def test_a_size_that_cannot_be_drawn_keeps_its_layouts_with_its_ratios() -> None:
    proposed = EnvironmentConfig.of([CellConfig(agents=3, size=6, share=1, hole_ratio=1.0, layouts={"maze": 1.0})])
    after, report = guard(proposed, laid_out(SCATTER), OPEN, layouts=("maze",))
    assert after == laid_out(SCATTER)
    assert [repair.knob for repair in report.repairs] == ["hole_ratio", "scatter", "maze"]
    assert all("leaves 0 free cells" in repair.reason for repair in report.repairs)


def test_a_sound_proposal_for_several_teams_passes_untouched() -> None:
    proposed = MIXED.with_cells({name: cell.model_copy(update={"hole_ratio": 0.25}) for name, cell in MIXED.cells.items()})
    assert guard(proposed, MIXED) == (proposed, GuardReport())


def test_a_proposal_for_another_team_keeps_the_cells_of_the_session() -> None:
    two, three = (EnvironmentConfig.uniform((4, 6), agents, hole_ratio=0.3) for agents in (2, 3))
    assert guard(three, two, OPEN)[0] == two, "of the same sizes: its settings count, for the session's team"
    used, report = guard(three, MIXED, OPEN)
    assert used == MIXED
    assert [(repair.cell, repair.knob, repair.reason) for repair in report.repairs] == [
        (name, "share", f"the proposal leaves {words} out; it is kept")
        for name, words in (("2@4", "size 4 with 2 agents"), ("3@4", "size 4 with 3 agents"), ("3@6", "size 6 with 3 agents"))
    ]
    assert guard(MIXED, two, OPEN)[0] == two


def test_a_cell_that_is_left_out_is_kept_beside_the_others() -> None:
    without = {name: cell for name, cell in MIXED.cells.items() if name != "3@4"}
    used, report = guard(MIXED.with_cells(without), MIXED, OPEN)
    assert used == MIXED and [repair.cell for repair in report.repairs] == ["3@4"]


@pytest.mark.parametrize("allowed", [(), ("rooms",)])
def test_a_cell_of_one_layout_keeps_it(allowed: tuple[Layout, ...]) -> None:
    previous = EnvironmentConfig.of(CellConfig(size=6, layout=layout, share=0.5) for layout in ("scatter", "maze"))
    proposed = previous.with_cells({name: cell.model_copy(update={"layouts": {"rooms": 1.0}}) for name, cell in previous.cells.items()})
    used, _ = guard(proposed, previous, OPEN, allowed)
    assert used == previous
    moved = previous.with_cells({name: cell.model_copy(update={"hole_ratio": 0.3}) for name, cell in previous.cells.items()})
    assert guard(moved, previous, OPEN, allowed) == (moved, GuardReport())
