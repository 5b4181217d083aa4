"""The tutor: boards go to what has fallen below its usual rate, and the claims say so."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.base.cells import evenly
from frozenlab.engineer.engineers.tutor import GAINS, REACH, TutorEngineer, fall, filled, propose, usual_rate
from frozenlab.engineer.schema import Context, Evidence
from frozenlab.engineer.sections import behaviour, failures, history
from frozenlab.experiments.students.menu import usual_config
from recipes.lab_model.proposals import draw_context
from recipes.lab_model.usual_rates import kinds

CONFIG = evenly(usual_config())
USUAL = {cell.name: usual_rate(cell) or 0.0 for cell in CONFIG.described()}


def shown(rates: dict[str, float], section: str = "failures") -> Context:
    """What the tutor sees of a model with these valid rates."""
    lines: list[Evidence] = []
    for cell in CONFIG.described():
        rate = rates[cell.name]
        line = failures.cell_line(cell, 40, rate, rate, {"truncated": 1 - rate}) if section == "failures" else None
        lines.append(line or behaviour.cell_line(cell, rate, 0.0, rate))
    return Context(family=CONFIG.family, stage=None, cells=CONFIG.described(), sections={section: tuple(lines)})


@pytest.mark.parametrize("weak", CONFIG.cells)
@pytest.mark.parametrize("section", ["failures", "behaviour"])
def test_what_has_fallen_gets_the_boards(weak: str, section: str) -> None:
    proposal = TutorEngineer().propose(shown(USUAL | {weak: USUAL[weak] / 4}, section), CONFIG, 0)
    shares = {name: own.share for name, own in proposal.config.cells.items()}
    assert max(shares, key=shares.__getitem__) == weak and shares[weak] > 0.6 and sum(shares.values()) == pytest.approx(1)
    claim = next(claim for claim in proposal.claims if claim.cell == weak)
    assert (claim.now, claim.usual) == (pytest.approx(USUAL[weak] / 4), USUAL[weak])
    assert claim.cause == ("truncated" if section == "failures" else None)
    assert claim.expected is not None and claim.now is not None and claim.now < claim.expected < 1


@pytest.mark.parametrize("far", [0, 1, 2])
def test_what_was_never_learnt_is_won_in_part_and_later_less(far: int) -> None:
    cells = CONFIG.described()
    lines: dict[str, list[Evidence]] = {
        "behaviour": [behaviour.cell_line(cell, USUAL[cell.name], 0.0, 0.0) for cell in cells] if far else [],
        "failures": [*shown(USUAL).sections["failures"]],
        "history": [history.cell_line(cell, 0, {}, 0.5, 0.5, None) for cell in cells] if far > 1 else [],
    }
    context = Context(family=CONFIG.family, stage=None, cells=cells, sections={name: tuple(of) for name, of in lines.items()})
    for claim in propose(context, CONFIG).claims:
        now = USUAL[claim.cell]
        assert claim.expected == pytest.approx(now + GAINS[far] * (1 - now), abs=0.001)


def test_where_nothing_is_shown_every_cell_gets_as_much() -> None:
    context = Context(family=CONFIG.family, stage=None, cells=CONFIG.described(), sections={})
    shares = [own.share for own in propose(context, CONFIG).config.cells.values()]
    assert shares == pytest.approx([1 / len(CONFIG.cells)] * len(shares))


def test_a_rate_a_little_below_the_usual_one_may_be_chance() -> None:
    assert fall(0.75, 0.8) == 0 and fall(0.9, 0.8) == 0 and fall(None, 0.8) == 0 and fall(0.3, None) == 0
    assert fall(0.5, 0.8) == pytest.approx(0.3)


@given(st.lists(st.floats(0.001, 1), min_size=2, max_size=3))
def test_no_other_shares_win_more(rooms: list[float]) -> None:
    def won(shares: tuple[float, ...]) -> float:
        return sum(room * (1 - np.exp(-share / REACH)) for room, share in zip(rooms, shares, strict=True))

    best = filled(rooms)
    assert sum(best) == pytest.approx(1) and min(best) >= 0
    grid = np.linspace(0, 1, 21)
    others = [(*first, 1 - sum(first)) for first in product(grid, repeat=len(rooms) - 1) if sum(first) <= 1]
    assert won(tuple(best)) >= max(map(won, others)) - 1e-9


def test_most_kinds_that_the_engineer_can_name_have_a_usual_rate() -> None:
    found = [usual_rate(config.described()[0]) for config in kinds()]
    known = [rate for rate in found if rate is not None]
    assert len(found) - len(known) < 20 and all(0 <= rate <= 1 for rate in known)


def test_contexts_hold_what_sessions_show() -> None:
    rng = np.random.default_rng(0)
    contexts = [draw_context(rng)[0] for _ in range(300)]
    assert {context.family for context in contexts} == {"lake", "mixed"}
    assert {frozenset(context.sections) for context in contexts} >= {frozenset(), frozenset({"statistics", "failures"})}
    assert any(context.stage is None and context.sections.get("behaviour") == () for context in contexts), "of a model before training"
    for context in contexts:
        own = {*context.tasks.faults, "valid", "optimal", "n", "step"}
        for line in context.sections.get("failures", ()):
            assert set(line.numbers) <= own
