"""Controls: configs chosen before, doses of another engineer, and a placebo."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from frozenlab.base.cells import Config
from frozenlab.engineer.controls import (
    DoseEngineer,
    Misled,
    OnceEngineer,
    PlaceboEngineer,
    RatiosEngineer,
    ScheduleEngineer,
    exchanged,
    places_of,
)
from frozenlab.engineer.dialects.lab import LabEngineer, render_context
from frozenlab.engineer.engineers import ENGINEERS, UNATTENDED, AnyEngineer, RulesEngineer, UniformEngineer
from frozenlab.engineer.schema import Context, Evidence
from frozenlab.engineer.sections import behaviour, failures
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.tasks.countdown.drawing import CountdownConfig
from frozenlab.tasks.families import AnyConfig, family_of
from frozenlab.tasks.mixed.config import MixedConfig, MixedPart
from tests.engineer.builders import MIXED, asked, context_of, lines_of, one_cell

LAKE = EnvironmentConfig.uniform((4, 6, 8), agents=3, hole_ratio=0.2, wait_ratio=0.3)
ANY = TypeAdapter(AnyEngineer)


def seen(*rates: float) -> Context:
    """Sampled and held-out results of LAKE's cells."""
    case = failures.case_line(one_cell(6), "a", "hole", 3, "Size 6, two agents meet.", "b1")
    return context_of(LAKE, behaviour.whole_line(0.5, 0.1, 1.0, 20.0), *lines_of(LAKE, *rates), case)


BOTH = MixedConfig(parts={"lake": MixedPart(share=0.5, config=LAKE), "countdown": MixedPart(share=0.5, config=CountdownConfig())})
every_family = pytest.mark.parametrize("config", [LAKE, MIXED, CountdownConfig(), BOTH], ids=["lake", "teams", "countdown", "mixed"])


@every_family
def test_a_schedule_gives_the_config_of_each_stage_and_repeats_the_last(config: AnyConfig) -> None:
    names = list(config.cells)
    share = 1 / (len(names) - 1)
    shares = {name: 0.0 if name == names[0] else share for name in names}
    second = config.with_cells({name: own.model_copy(update={"share": shares[name]}) for name, own in config.cells.items()})
    engineer = ANY.validate_json(ScheduleEngineer(configs=(config, second)).model_dump_json())
    for stage, expected in ((None, config), (0, second), (1, second), (7, second)):
        context = Context(family=config.family, stage=stage, cells=config.described(), sections={})
        assert asked(engineer, context, config).config_after == expected


@every_family
def test_doses_work_for_every_family(config: AnyConfig) -> None:
    context = Context(family=config.family, stage=0, cells=config.described(), sections={})
    random = {dose: asked(DoseEngineer(of="random", dose=dose), context, config).config_after for dose in (0, 1, -1)}
    assert random[0] == config and random[1] == asked("random", context, config).config_after
    for name, own in config.cells.items():
        moved, opposite = (random[dose].cells[name].share - own.share for dose in (1, -1))
        assert moved * opposite <= 1e-9, "the opposite dose goes the other way, or stays"


def ratios(config: Config) -> list[list[float]]:
    family = family_of(config.family)
    return [[own.settings()[name] for name in family.ratios_of(own)] for own in config.cells.values()]


@every_family
@pytest.mark.parametrize("engineer", ["equal", "lowest", "tutor"])
def test_engineers_of_shares_keep_the_ratios_and_uniform_is_equal_shares_at_other_ratios(config: AnyConfig, engineer: str) -> None:
    context = Context(family=config.family, stage=None, cells=config.described(), sections={})
    after = asked(engineer, context, config).config_after
    assert ratios(after) == ratios(config) and max(own.share for own in after.cells.values()) == pytest.approx(1 / len(after.cells))
    harder = asked(RatiosEngineer(of=engineer, ratios={"hole_ratio": 0.3, "wait_ratio": 0.5}), context, config)
    assert ratios(harder.config_after) == ratios(asked("uniform", context, config).config_after)


def test_ratios_chosen_before_leave_shares_and_their_claims_and_an_unknown_ratio_is_refused() -> None:
    record = asked(RatiosEngineer(of="rules", ratios={"hole_ratio": 0.3}), seen(0.9, 0.5, 0.1), LAKE)
    rules = asked("rules", seen(0.9, 0.5, 0.1), LAKE).config_after
    assert [own.share for own in record.config_after.cells.values()] == [own.share for own in rules.cells.values()]
    assert {own.hole_ratio for own in record.config_after.cells.values()} == {0.3} and record.proposal is not None
    assert not [claim for claim in record.proposal.claims if claim.knob == "hole_ratio"]
    with pytest.raises(ValidationError, match="there is no ratio 'holes'; there are hole_ratio, times_ratio, wait_ratio"):
        RatiosEngineer(of="rules", ratios={"holes": 0.3})


def test_a_dose_moves_a_multiple_and_drops_the_claims() -> None:
    context = seen(0.9, 0.5, 0.1)
    whole, half, double, anti = (asked(DoseEngineer(of="learnability", dose=dose), context, LAKE) for dose in (1, 0.5, 2, -1))
    assert whole.config_after == asked("learnability", context, LAKE).config_after and whole.proposal and whole.proposal.claims
    step = whole.config_after.cells["6"].share - 1 / 3
    assert half.config_after.cells["6"].share == pytest.approx(1 / 3 + step / 2)
    assert double.config_after.cells["6"].share == pytest.approx(1 / 3 + 2 * step)
    assert anti.config_after.cells["6"].share == pytest.approx(1 / 3 - step)
    assert anti.engineer == "dose" and anti.proposal is not None and not anti.proposal.claims
    assert anti.proposal.summary.startswith("-1 times what learnability proposes")


@pytest.mark.parametrize("after", [None, 0])
def test_an_engineer_that_is_asked_once_keeps_its_config(after: int | None) -> None:
    engineer, first = OnceEngineer(of="learnability", after=after), seen(0.9, 0.5, 0.1).model_copy(update={"stage": after})
    record = asked(engineer, first, LAKE)
    assert record.config_after == asked("learnability", first, LAKE).config_after != LAKE
    for stage in (1, 2):
        later = asked(engineer, seen(0.1, 0.5, 0.9).model_copy(update={"stage": stage}), record.config_after)
        assert later.config_after == record.config_after and not later.changes


@given(st.lists(st.sampled_from([3, 4, 5, 6, 7, 8]), min_size=1, max_size=6, unique=True), st.integers(0, 2**31 - 1))
def test_cells_change_places_and_never_all_stay(sizes: list[int], seed: int) -> None:
    context = Context(stage=0, cells=tuple(one_cell(size) for size in sorted(sizes)), sections={})
    places = places_of(context, seed)
    assert sorted(places) == sorted(places.values()) == sorted(context.names)
    assert (len(sizes) == 1) == all(true == shown for true, shown in places.items())
    assert places == places_of(context, seed)


def test_a_placebo_shows_true_figures_for_wrong_cells() -> None:
    context = seen(0.9, 0.5, 0.1)
    shown, places = exchanged(context, 3), places_of(context, 3)
    for name, cell in context.words.items():
        true = context.evidence("failures", name)
        moved = shown.evidence("failures", places[name])
        assert true is not None and moved is not None and moved.numbers == true.numbers and moved.cell == places[name]
        assert moved.text.startswith(shown.words[places[name]].capitalize()) and moved.text.split(":")[1] == true.text.split(":")[1], cell
    assert shown.evidence("behaviour") == context.evidence("behaviour"), "the line on the whole stage stays"
    assert [line.cell for line in shown.sections["behaviour"]] == [None, "4", "6", "8"], "the order of lines says nothing"
    case = next(line for line in shown.sections["failures"] if line.id.endswith("a"))
    assert (case.id, case.cell) == (f"F{places['6']}a", places["6"]) and case.text.endswith("two agents meet.")
    assert render_context(shown) != render_context(context)


def test_a_placebo_leaves_other_sections_as_they_are() -> None:
    line = Evidence(id="S4", section="statistics", cell="4", text="Size 4: share 0.33.", numbers={"share": 0.33})
    context = context_of(LAKE, line)
    assert exchanged(context, 0) == context


def test_a_misled_engineer_acts_on_the_wrong_cells_and_says_so() -> None:
    context, control = seen(0.9, 0.5, 0.1), PlaceboEngineer(of="learnability", seed=3)
    record = asked(control, context, LAKE)
    places = places_of(context, 3)
    assert max(record.config_after.cells, key=lambda name: record.config_after.cells[name].share) == places["6"]
    assert record.proposal is not None and record.proposal.summary.startswith("(Failures and behaviour shown in wrong places: ")
    assert control.seeded(9) == PlaceboEngineer(of="learnability", seed=9) and RulesEngineer().seeded(9) == RulesEngineer()


def test_a_control_needs_an_engineer_that_answers_by_itself_and_stands_in_no_list() -> None:
    with pytest.raises(ValidationError, match="cannot be human"):
        DoseEngineer(of="human", dose=1)
    with pytest.raises(ValidationError):
        ANY.validate_python({"kind": "dose", "of": {"kind": "dose", "of": "rules", "dose": 1}, "dose": 1})
    assert not {"dose", "placebo", "schedule"} & {*UNATTENDED, *(engineer.name() for engineer in ENGINEERS)}
    dose = ANY.validate_python({"kind": "dose", "of": "policy", "dose": -1})
    assert "model" in dose.author.needs and UniformEngineer().author == UniformEngineer()
    assert ANY.validate_json(dose.model_dump_json()) == dose


def test_a_model_is_shown_the_placebo_and_its_answer_is_read_by_it() -> None:
    context, prompts = seen(0.9, 0.5, 0.1), list[str]()

    def write(prompt: str, grammar: object, seed: int) -> str:
        prompts.append(prompt)
        return ""

    misled = Misled(LabEngineer(write), 3)
    misled.answer(context, 0)
    assert prompts == [misled.prompt(context)] == [render_context(exchanged(context, 3))]
