"""Effects of arms against textbook methods, hand examples and simulated studies whose truth is known."""

from __future__ import annotations

from itertools import combinations, product
from math import isnan, nan, sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from frozenlab.experiments.studies.design import Design, of_sections
from frozenlab.experiments.studies.effects import board_bootstrap, compare, contrast, sentence, smaller_than, tried, without_contrast
from frozenlab.experiments.studies.statistics import Effect, holm, over_seeds, smallest_visible


def effect_of(mean: float, low: float, high: float, p: float, n: int, p_holm: float) -> Effect:
    return Effect(mean=mean, low=low, high=high, p=p, p_holm=p_holm, n=n)


def table(**values: list[float]) -> pd.DataFrame:
    """One list an arm, its seeds in order."""
    return pd.DataFrame(
        [(arm, seed, value) for arm, of in values.items() for seed, value in enumerate(of)], columns=["arm", "seed", "value"]
    )


def known(mean: float, deviation: float, n: int) -> Effect:
    """An effect over n seeds with exactly this mean and standard deviation."""
    spread = np.linspace(-1, 1, n)
    return contrast(table(a=list(mean + deviation * spread / spread.std(ddof=1)), b=[0.0] * n), ["a"], ["b"])


# --- one contrast ----------------------------------------------------------------------------------------------------

RATES = st.integers(0, 1000).map(lambda count: count / 1000)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(RATES, RATES), min_size=2, max_size=8).filter(lambda pairs: len({round(a - b, 9) for a, b in pairs}) > 1))
def test_a_contrast_of_two_arms_is_a_paired_t_test(pairs: list[tuple[float, float]]) -> None:
    a, b = map(list, zip(*pairs, strict=True))
    effect, test = contrast(table(a=a, b=b), ["a"], ["b"]), stats.ttest_rel(a, b)
    assert (effect.low, effect.high) == pytest.approx(tuple(test.confidence_interval(0.95)), abs=1e-9)
    assert (effect.mean, effect.p, effect.n) == pytest.approx((np.mean(a) - np.mean(b), test.pvalue, len(pairs)), abs=1e-9)
    assert effect.p_holm == effect.p


def test_a_contrast_of_several_arms_compares_their_means() -> None:
    outcomes = table(a=[0.5, 0.6, 0.4], b=[0.3, 0.5, 0.5], c=[0.1, 0.2, 0.4], d=[9.0, 9.0, 9.0])
    effect, test = contrast(outcomes, {"a", "b"}, {"c"}), stats.ttest_rel([0.4, 0.55, 0.45], [0.1, 0.2, 0.4])
    assert (effect.mean, effect.p) == pytest.approx((0.7 / 3, test.pvalue))


def test_the_order_of_rows_does_not_matter_and_incomplete_seeds_are_dropped() -> None:
    whole = table(a=[0.5, 0.6, 0.4], b=[0.3, 0.5, 0.5])
    effect = contrast(whole, ["a"], ["b"])
    more = pd.DataFrame([("a", 7, 0.9), ("b", 8, 0.1), ("a", 9, 0.9), ("b", 9, nan)], columns=whole.columns)
    assert contrast(pd.concat([whole, more]).sample(frac=1, random_state=0), ["a"], ["b"]) == effect
    assert effect.n == 3


def test_one_seed_has_no_interval() -> None:
    effect = contrast(table(a=[0.5], b=[0.25]), ["a"], ["b"])
    assert (effect.mean, effect.n) == (0.25, 1)
    assert all(map(isnan, (effect.low, effect.high, effect.p, effect.p_holm)))


def test_seeds_that_agree_show_no_difference_or_no_interval() -> None:
    assert contrast(table(a=[0.1, 0.3], b=[0.1, 0.3]), ["a"], ["b"]) == effect_of(0.0, 0.0, 0.0, 1.0, 2, 1.0)
    # In floats 0.3 - 0.2 is not 0.2 - 0.1, but no board tells them apart.
    effect = contrast(table(a=[0.2, 0.3], b=[0.1, 0.2]), ["a"], ["b"])
    assert effect.mean == pytest.approx(0.1)
    assert all(map(isnan, (effect.low, effect.high, effect.p)))


@pytest.mark.parametrize(
    ("plus", "minus", "message"),
    [
        ([], ["b"], "a contrast needs an arm on either side"),
        (["a"], [], "a contrast needs an arm on either side"),
        (["a", "y"], ["x"], "no session of the arm x, y"),
        (["a"], ["late"], "no seed has all the arms a, late"),
        (["a"], ["twice"], "duplicate"),
    ],
)
def test_contrasts_that_cannot_be_drawn_are_refused(plus: list[str], minus: list[str], message: str) -> None:
    outcomes = table(a=[0.5], b=[0.25])
    others = pd.DataFrame([("late", 5, 0.5), ("twice", 0, 0.5), ("twice", 0, 0.6)], columns=outcomes.columns)
    with pytest.raises(ValueError, match=message):
        contrast(pd.concat([outcomes, others]), plus, minus)


# --- a whole study ---------------------------------------------------------------------------------------------------

FACTORS = ("failures", "preserved", "statistics")
CUBE = {"-".join(shown) or "none": frozenset({"history", *shown}) for k in range(len(FACTORS) + 1) for shown in combinations(FACTORS, k)}
"""A full factorial of three sections, with a fourth that is always on."""


def drawn(arms: list[str], seeds: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return table(**{arm: list(rng.random(seeds)) for arm in arms})


def test_main_effects_and_interactions_are_twice_the_coefficients_of_least_squares() -> None:
    outcomes = drawn(list(CUBE), seeds=3)
    signs = {section: np.array([1.0 if section in CUBE[arm] else -1.0 for arm in outcomes["arm"]]) for section in FACTORS}
    pairs = list(combinations(FACTORS, 2))
    columns = [np.ones(len(outcomes)), *signs.values(), *(signs[a] * signs[b] for a, b in pairs), np.prod(list(signs.values()), axis=0)]
    fit = np.linalg.lstsq(np.column_stack(columns), outcomes["value"].to_numpy())[0]

    design = of_sections(CUBE)
    main, both = design.effects(outcomes), compare(outcomes, design.interactions)
    assert {section: effect.mean for section, effect in main.items()} == pytest.approx(dict(zip(FACTORS, 2 * fit[1:4], strict=True)))
    named = [f"{a} and {b}" for a, b in pairs]
    assert {pair: effect.mean for pair, effect in both.items()} == pytest.approx(dict(zip(named, 2 * fit[4:7], strict=True)))
    for effects in (main, both):
        assert [effect.p_holm for effect in effects.values()] == holm([effect.p for effect in effects.values()])
        assert {effect.n for effect in effects.values()} == {3}
    with pytest.raises(ValueError, match="no session of the arm preserved"):
        design.effects(outcomes[outcomes["arm"] != "preserved"])


def test_an_interaction_is_half_the_change_of_an_effect() -> None:
    """A adds 0.1 when B is off and 0.3 when it is on."""
    outcomes = table(none=[0.2, 0.3], a=[0.3, 0.4], b=[0.2, 0.3], both=[0.5, 0.6])
    design = of_sections({"none": frozenset[str](), "a": frozenset("A"), "b": frozenset("B"), "both": frozenset("AB")})
    assert compare(outcomes, design.interactions)["A and B"].mean == pytest.approx((0.3 - 0.1) / 2)
    assert design.effects(outcomes)["A"].mean == pytest.approx((0.3 + 0.1) / 2)


def test_a_factorial_with_gaps_or_doubles_is_none() -> None:
    assert of_sections({arm: shown for arm, shown in CUBE.items() if arm != "failures-statistics"}) is None
    assert of_sections(CUBE | {"again": CUBE["failures"]}) is None
    assert of_sections({"one": CUBE["failures"], "same": CUBE["failures"]}) is None


def test_leaving_one_out_compares_with_the_full_set() -> None:
    arms = {"no-a": frozenset("BC"), "all": frozenset("ABC"), "no-c": frozenset("AB")}
    outcomes, design = drawn(list(arms), seeds=4), of_sections(arms)
    effects = design.effects(outcomes)
    assert list(effects) == ["A", "C"]
    assert (effects["A"].mean, effects["A"].p) == (contrast(outcomes, ["all"], ["no-a"]).mean, contrast(outcomes, ["all"], ["no-a"]).p)
    assert [effect.p_holm for effect in effects.values()] == holm([effect.p for effect in effects.values()])
    assert of_sections({arm: shown for arm, shown in arms.items() if arm != "all"} | {"only-b": frozenset("B")}) is None


def against(outcomes: pd.DataFrame, reference: str) -> dict[str, Effect]:
    """Every other arm of the table minus the reference."""
    return Design("arm", {arm: [(arm, reference)] for arm in outcomes["arm"].unique() if arm != reference}, reference).effects(outcomes)


def test_every_other_arm_is_compared_with_the_reference() -> None:
    outcomes = drawn(["policy", "rules", "fixed"], seeds=5)
    effects = against(outcomes, "rules")
    assert list(effects) == ["policy", "fixed"]
    assert effects["fixed"].mean == contrast(outcomes, ["fixed"], ["rules"]).mean
    assert [effect.p_holm for effect in effects.values()] == holm([effect.p for effect in effects.values()])
    with pytest.raises(ValueError, match="no session of the arm nobody"):
        against(outcomes, "nobody")
    begun = Design("arm", {arm: [(arm, "rules")] for arm in ("policy", "late")}, "rules").effects(outcomes)
    assert list(begun) == ["policy"] and begun["policy"].p_holm == begun["policy"].p, "what has not begun does not count"


# --- several comparisons ---------------------------------------------------------------------------------------------


def test_holm_by_hand() -> None:
    # 4 * 0.005, 3 * 0.01, 2 * 0.03, and 1 * 0.04, which may not be below the one before
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


def test_comparisons_without_a_p_value_do_not_count() -> None:
    corrected = holm([nan, 0.02, nan, 0.5])
    assert isnan(corrected[0]) and isnan(corrected[2])
    assert corrected[1::2] == pytest.approx([0.04, 0.5])


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_lies_between_p_and_bonferroni_and_keeps_the_order(ps: list[float]) -> None:
    corrected = holm(ps)
    assert all(p <= q <= min(1, len(ps) * p) + 1e-12 for p, q in zip(ps, corrected, strict=True))
    assert [corrected[i] for i in np.argsort(ps)] == sorted(corrected)


# --- what can be seen, and what is shown to be small ------------------------------------------------------------------


# As in every table of power, such as that of G*Power 3.1 (t tests, matched pairs, two-sided): pairs at 5 % for a power of 0.8.
@pytest.mark.parametrize(("size", "pairs"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_the_smallest_visible_effect_as_published(size: float, pairs: int) -> None:
    assert smallest_visible(1.0, pairs) <= size < smallest_visible(1.0, pairs - 1)
    assert smallest_visible(0.03, pairs) == pytest.approx(0.03 * smallest_visible(1.0, pairs))


@pytest.mark.parametrize("seeds", [2, 3, 5, 20])
def test_the_smallest_visible_effect_is_seen_four_times_in_five(seeds: int) -> None:
    studies = np.random.default_rng(seeds).normal(smallest_visible(0.01, seeds), 0.01, (20_000, seeds))
    assert (stats.ttest_1samp(studies, 0.0, axis=1).pvalue < 0.05).mean() == pytest.approx(0.8, abs=0.012)


def test_one_seed_sees_nothing() -> None:
    with pytest.raises(ValueError, match="one seed shows no spread"):
        smallest_visible(0.01, 1)


@pytest.mark.parametrize(("mean", "deviation", "n"), [(0.001, 0.004, 5), (-0.006, 0.003, 8), (0.02, 0.01, 4)])
def test_an_effect_is_smaller_if_both_one_sided_t_tests_say_so(mean: float, deviation: float, n: int) -> None:
    effect = known(mean, deviation, n)
    error = deviation / np.sqrt(n)
    above, below = stats.t.sf((mean + 0.01) / error, n - 1), stats.t.cdf((mean - 0.01) / error, n - 1)
    assert smaller_than(effect, 0.01) == pytest.approx(max(above, below))
    narrow = stats.t.interval(0.9, n - 1, mean, error)
    assert (smaller_than(effect, 0.01) < 0.05) == (narrow[0] > -0.01 and narrow[1] < 0.01), "as the 90 % interval lies within"


def test_an_effect_as_large_as_the_margin_is_called_smaller_one_time_in_twenty_at_most() -> None:
    rng = np.random.default_rng(1)
    effects = [contrast(table(a=list(rng.normal(0.01, 0.002, 5)), b=[0.0] * 5), ["a"], ["b"]) for _ in range(600)]
    assert np.mean([smaller_than(effect, 0.01) < 0.05 for effect in effects]) < 0.08


def test_without_spread_nothing_is_shown_to_be_small() -> None:
    assert isnan(smaller_than(contrast(table(a=[0.5], b=[0.5]), ["a"], ["b"]), 0.01))
    assert isnan(smaller_than(contrast(table(a=[0.5, 0.6], b=[0.5, 0.6]), ["a"], ["b"]), 0.01))


def test_arms_that_trained_alike_are_no_comparison_and_leave_the_family() -> None:
    outcomes = table(a=[0.5, 0.6, 0.7], b=[0.5, 0.6, 0.7], c=[0.52, 0.65, 0.71], d=[0.6, 0.69, 0.85])
    found = against(outcomes, "a")
    kept = without_contrast(found, {"b"})
    assert isnan(kept["b"].p) and isnan(kept["b"].low) and isnan(kept["b"].p_holm)
    assert [kept[key].p_holm for key in "cd"] == holm([found[key].p for key in "cd"])
    assert kept["d"].p_holm == 2 * kept["d"].p < found["d"].p_holm, "three would have cost more"


# --- other boards ----------------------------------------------------------------------------------------------------


def judged(valid: dict[tuple[str, int], NDArray[np.bool_]], cells: list[str]) -> pd.DataFrame:
    """The boards of sessions; ``cells`` has the cell of each board."""
    names = [f"b{i}" for i in range(len(cells))]
    sessions = (
        pd.DataFrame({"arm": arm, "seed": seed, "board_id": names, "cell": cells, "valid": of}) for (arm, seed), of in valid.items()
    )
    return pd.concat(sessions, ignore_index=True)


def simulated(cells: list[str], seeds: int = 2) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return judged({(arm, seed): rng.random(len(cells)) < 0.5 for arm, seed in product("abc", range(seeds))}, cells)


def test_the_bootstrap_has_the_spread_of_the_boards() -> None:
    """Of one cell: mean ± 1.96 standard errors of the boards' shares in the contrast, within the noise of its draws."""
    boards = simulated(["4"] * 400)
    shares = boards.assign(share=boards["valid"] * boards["arm"].map({"a": 0.25, "b": 0.25, "c": -0.5})).groupby("board_id")["share"].sum()
    error = shares.std(ddof=0) / sqrt(400)
    low, high = board_bootstrap(boards, ["a", "b"], ["c"], draws=20_000)
    assert (low, high) == pytest.approx((shares.mean() - 1.96 * error, shares.mean() + 1.96 * error), abs=0.1 * error)


def test_the_bootstrap_draws_within_cells_as_scipy_does() -> None:
    boards = simulated(["4"] * 30 + ["5"] * 90, seeds=1)
    a, c = (boards[boards["arm"] == arm]["valid"].to_numpy().astype(float) for arm in "ac")
    result = stats.bootstrap(
        ((a - c)[:30], (a - c)[30:]),
        lambda small, large, axis: (small.mean(axis=axis) + large.mean(axis=axis)) / 2,
        n_resamples=20_000,
        method="percentile",
        rng=np.random.default_rng(1),
    )
    expected = result.confidence_interval
    assert board_bootstrap(boards, "a", "c", draws=20_000) == pytest.approx((expected.low, expected.high), abs=0.01)


def test_the_bootstrap_is_the_same_each_time_and_pairs_the_boards() -> None:
    boards = simulated(["4"] * 20 + ["5"] * 30)
    assert board_bootstrap(boards, ["a"], ["c"]) == board_bootstrap(boards.sample(frac=1, random_state=0), ["a"], ["c"])
    assert board_bootstrap(boards, ["a"], ["c"]) != board_bootstrap(boards, ["a"], ["c"], seed=1)
    twin = boards[boards["arm"] == "a"].assign(arm="twin")
    assert board_bootstrap(pd.concat([boards, twin]), ["a"], ["twin"]) == (0.0, 0.0)


def test_the_bootstrap_leaves_out_seeds_without_all_arms_and_takes_cells_of_one_board() -> None:
    boards = simulated(["4"] * 20 + ["5"])
    extra = boards[(boards["arm"] == "a") & (boards["seed"] == 0)].assign(seed=7, board_id="elsewhere-" + boards["board_id"])
    assert board_bootstrap(pd.concat([boards, extra]), ["a"], ["c"]) == board_bootstrap(boards, ["a"], ["c"])


def test_the_bootstrap_refuses_sessions_with_different_boards() -> None:
    boards = simulated(["4"] * 10)
    with pytest.raises(ValueError, match="not every session has the board b0"):
        board_bootstrap(boards.iloc[1:], ["a"], ["c"])
    with pytest.raises(ValueError, match="no session of the arm x"):
        board_bootstrap(boards, ["a"], ["x"])


# --- studies in which nothing makes a difference ---------------------------------------------------------------------


def null_study(rng: np.random.Generator, arms: int, seeds: int) -> pd.DataFrame:
    """All arms alike: six cells of 40 boards. Seeds differ much from each other, sessions of a seed a little."""
    of_seed, of_session = rng.normal(0.6, 0.08, (seeds, 1, 1)), rng.normal(0.0, 0.02, (seeds, arms, 1))
    rate = np.clip(of_seed + of_session + np.linspace(0.2, -0.2, 6), 0.02, 0.98)
    values = rng.binomial(40, rate).mean(axis=2) / 40
    return pd.DataFrame([(f"a{j}", i, values[i, j]) for i, j in product(range(seeds), range(arms))], columns=["arm", "seed", "value"])


@pytest.mark.parametrize("seeds", [3, 5])
def test_arms_that_are_alike_are_called_apart_in_one_study_of_twenty(seeds: int) -> None:
    rng = np.random.default_rng(seeds)
    effects = [contrast(null_study(rng, 2, seeds), ["a0"], ["a1"]) for _ in range(600)]
    # Four standard errors of a share of 5 % of 600 would be 1.4 to 8.6 %.
    assert 0.025 < np.mean([effect.p < 0.05 for effect in effects]) < 0.08
    assert 0.92 < np.mean([effect.low <= 0 <= effect.high for effect in effects]) < 0.975


def test_after_holm_any_false_alarm_of_a_study_is_that_rare() -> None:
    rng = np.random.default_rng(0)
    studies = [against(null_study(rng, 4, 4), "a0").values() for _ in range(150)]
    raw, corrected = (np.mean([min(getattr(effect, p) for effect in study) < 0.05 for study in studies]) for p in ("p", "p_holm"))
    assert corrected < 0.075 < raw


# --- in words --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        (
            (0.018, -0.004, 0.04, 0.08, 3, 0.08),
            "+1.8 points (−0.4 to +4.0, n = 3 seeds): undecided, neither clear of chance nor shown to be smaller than 1 point.",
        ),
        ((-0.03, -0.04, -0.02, 0.0001, 5, 0.0001), "−3.0 points (−4.0 to −2.0, n = 5 seeds): more than chance explains (p < 0.001)."),
        (
            (0.03, 0.02, 0.04, 0.004, 5, 0.012),
            "+3.0 points (+2.0 to +4.0, n = 5 seeds): more than chance explains (p = 0.004, p = 0.012 after Holm).",
        ),
        (
            (0.03, 0.001, 0.06, 0.041, 5, 0.12),
            "+3.0 points (+0.1 to +6.0, n = 5 seeds): undecided, neither clear of chance as one of several comparisons (p = 0.041, "
            "p = 0.12 after Holm) nor shown to be smaller than 1 point.",
        ),
        ((0.018, nan, nan, nan, 1, nan), "+1.8 points (n = 1 seed): one seed cannot show whether it helps."),
        ((0.0, 0.0, 0.0, 1.0, 3, 1.0), "0.0 points in each of 3 seeds: without any spread between them, chance cannot be estimated."),
        ((0.018, nan, nan, nan, 2, nan), "+1.8 points in each of 2 seeds: without any spread between them, chance cannot be estimated."),
    ],
)
def test_a_sentence_carries_its_numbers_and_claims_no_more(numbers: tuple[float, float, float, float, int, float], words: str) -> None:
    assert sentence("Showing failures", effect_of(*numbers)) == f"Showing failures changed the final valid rate by {words}"


def test_almost_identical_configs_are_no_test_of_what_differs() -> None:
    assert tried(0.001) == " Almost nothing was tried: the configs of the two sides lie 0.1 points a knob apart."
    assert tried(1e-9) == tried(0.001) and tried(0.005) == tried(0.0) == tried(None) == ""


def test_a_small_effect_is_a_finding_and_identical_configs_are_none() -> None:
    small = effect_of(0.001, -0.003, 0.005, 0.6, 8, 0.6)
    assert sentence("It", small, smaller=0.004).endswith("(−0.3 to +0.5, n = 8 seeds): smaller than 1 point (p = 0.004).")
    assert "smaller than 2.5 points" in sentence("It", small, margin=0.025, smaller=0.004)
    both = sentence("It", effect_of(0.004, 0.002, 0.006, 0.001, 8, 0.001), smaller=0.01)
    assert both.endswith("more than chance explains (p = 0.001), yet smaller than 1 point (p = 0.01).")
    words = sentence("It", effect_of(0.0, nan, nan, nan, 5, nan), alike=True)
    assert words == "It: no contrast, the two sides trained on identical configs in all 5 seeds."


def test_the_rate_is_named() -> None:
    effect = effect_of(0.0, 0.0, 0.0, 1.0, 3, 1.0)
    assert sentence("It", effect, "optimal") == sentence("It", effect).replace("valid", "optimal") != sentence("It", effect)


def test_the_interval_of_a_mean_is_that_of_a_table_of_t() -> None:
    low, high = over_seeds([0.5, 0.6, 0.7])
    half = 4.302653 * 0.1 / 3**0.5  # two-sided 95 % point of t with 2 degrees of freedom
    assert (low, high) == pytest.approx((0.6 - half, 0.6 + half), abs=1e-6)
    assert all(np.isnan(bound) for values in ([0.5], [0.5, 0.5, 0.5]) for bound in over_seeds(values))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(RATES, RATES), min_size=1, max_size=4))
def test_whatever_the_outcomes_there_is_a_sentence_without_nan(pairs: list[tuple[float, float]]) -> None:
    a, b = map(list, zip(*pairs, strict=True))
    words = sentence("It", contrast(table(a=a, b=b), ["a"], ["b"]))
    assert "nan" not in words and f"{len(pairs)} seed" in words
