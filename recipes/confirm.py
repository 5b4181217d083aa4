"""Writes the studies of docs/instrument.md: four confirmatory tests, ladder, loop, depths, doses, stages, a null study, and their students.

python -m recipes.confirm FOLDER
frozenlab students make confirm-a --recipe FOLDER/confirm-a.json        and b, c, d
frozenlab study FOLDER/confirm.json --id confirm

Those of ladder, loop, doses by: frozenlab students make ladder-1                 to ladder-15
Those of the depths by:          frozenlab students make depth-agents-4-deepest-1 --recipe FOLDER/depth-agents-4-deepest-1.json        ...
The students of the others are ready-made ones, two of them of other seeds: frozenlab students make misled-about-size-9-seed-4 --seed 4
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from frozenlab.base.cells import Config, evenly
from frozenlab.base.files import write_text
from frozenlab.experiments.students.menu import ladder as recipes_of_ladder
from frozenlab.experiments.students.menu import misled, usual_config
from frozenlab.experiments.students.recipe import Recipe
from frozenlab.experiments.studies.grid import MEASURES, Arm
from frozenlab.experiments.studies.presets import (
    LADDER_TRAINING,
    SHORT_TRAINING,
    SMALLEST_EFFECT,
    best_for,
    engineers_study,
    ladder_study,
    oracle_arm,
    short_stage,
)
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.session.presets import preset_spec
from frozenlab.session.spec import SessionSpec
from frozenlab.tasks.families import family_of

WEAK = {"a": ("2@9", "2@doors6"), "b": ("3@corridor6", "numbers2"), "c": ("4@6",), "d": ("2@doors6",)}
"""Student -> the cells that it was misled about."""
SEEDS = {"a": 3, "b": 2, "c": 3, "d": 2}
"""Those of seed 2 of a and c came out not as planned."""
AXES = {"agents-3": "3@corridor6", "agents-4": "4@6", "layout-doors": "2@doors6", "size-9": "2@9", "numbers-2": "numbers2"}
"""The axes of the ready-made students -> the cell of each."""
NEW_SEEDS = {"agents-3": (4, 6), "agents-4": (4, 5), "layout-doors": (4, 8), "size-9": (4, 5), "numbers-2": (4, 5)}
"""Axis -> seeds of its students, which no other measurement used: the first two from 4 on that came out as planned."""
NEWEST_SEEDS = {"agents-3": (10, 11), "agents-4": (10, 11), "layout-doors": (10, 11), "size-9": (10, 12), "numbers-2": (10, 11)}
"""The same for the third test: the first two from 10 on."""
DEPTHS: Mapping[str, Mapping[str, Any]] = {
    "deepest": {},
    "deep": {"presentations": 1200, "learning_rate": 2e-3},
    "half": {"presentations": 1200, "learning_rate": 1e-3},
    "shallow": {"presentations": 800, "learning_rate": 1e-3},
}
"""How much a student of the depths was misled -> what differs in its recipe from other misled students."""
READING_SEEDS = (1, 2, 3)
DEPTH_AXES, DEPTH_SEEDS = ("agents-3", "agents-4", "layout-doors"), (1, 2)
BY_METHOD: Mapping[str, Mapping[str, Any]] = {
    "imitation": {},
    "grpo": {"method": "grpo", "completions_per_board": 8},
    "shown-grpo": {"method": "shown-grpo", "completions_per_board": 8},
}
"""Method -> the training settings of its arms that are others than those of a short stage."""
PREDICTED_DEPTHS = (
    "Valid, lost - equal, by what is left of the lost cell (deepest, deep, half, shallow; about 3, 15, 30 and 50 %): imitation +4, +4, +3, "
    "+2 points; GRPO 0, +2, +4, +2; GRPO with demonstrations +2, +3, +4, +2. Interaction: GRPO less imitation rises by 5 (2 to 8) from "
    "deepest to half."
)
DOSES = {"02": 0.02, "07": 0.07, "12": 0.12}
"""Arms of the study of the doses, without their method -> the share of each cell that a student did not lose; equal shares are a sixth."""
DOSED = ("imitation", "grpo")
PREDICTED_DOSES = (
    "By imitation, .12 - .02: optimal +1.5 points (+0.5 to +2.5) over all cells, +4 (+2 to +6) over the four that were not lost; valid "
    "-0.5 (-2 to +1). By GRPO: optimal -0.3 (-1.3 to +0.7) and 0 (-1.5 to +1.5); valid -1 (-2.5 to +0.5). At .02 the four cells lose, "
    "before to after, 5 points (3 to 7) of optimal plans by imitation and 0 (-1.5 to +1.5) by GRPO. Equal shares - .12 by imitation: "
    "optimal 0 (-1 to +1)."
)
PREDICTED_STAGES = (
    "Valid on the sealed boards, less fixed: taught 0 points (-1.5 to +1.5), rules 0 (-1.5 to +1.5), uniform +0.5 (-1 to +2), random -0.5 "
    "(-2 to +1), again 0 (-1.5 to +1.5). Every arm gains 7 (5.5 to 8.5) over the base, half of it in the first stage."
)
TAUGHT, UNIFORM = {"name": "taught", "engineer": "policy"}, {"name": "uniform", "engineer": "uniform"}
HARDER = {"hole_ratio": 0.3, "wait_ratio": 0.5}
"""The ratios that the engineer ``uniform`` writes; the sessions begin with .2 and .2."""
PREDICTED_WITH = (
    "Valid, 8 cells, n = 15 students: taught - equal +3.5 points (+2 to +5), taught - lowest +4.5 (+2.5 to +6.5), so lowest - equal -1 "
    "(-3 to +0.5); taught - taught-blind +3.5 (+2 to +5); tutor - taught 0 (-1 to +1); rules - equal -2 (-4 to +1); oracle - taught +0.5 "
    "(-1 to +2); again - equal 0 (-1.5 to +1.5)."
)
PREDICTED_WITHOUT = (
    "Valid, 6 cells, n = 15 students: lowest - equal +2.5 points (+0.5 to +4.5), taught - equal +4.5 (+3 to +6), tutor - taught 0 "
    "(-1 to +1), oracle - taught +0.5 (-1 to +2). Lowest - equal falls by 3.5 (1.5 to 5.5) from here to the config with decoys."
)
PREDICTED_AGAIN = (
    "Valid, 8 cells, n = 15 students of part 10: taught - equal +2 points (+0.5 to +3.5); taught - lowest +10 (+7.5 to +12.5); lowest - "
    "equal -8 (-10 to -6); taught - taught-blind +2.5 (+0.5 to +4.5); tutor - taught +0.5 (-0.5 to +1.5); rules - equal -2 (-3.5 to "
    "-0.5); oracle - taught +0.7 (-0.5 to +2); again - equal 0 (-1.5 to +1.5). Without decoys: taught - equal +2.5 (+1 to +4); lowest - "
    "equal +0.3 (-1 to +1.5)."
)
PREDICTED_BY_GRPO = (
    "Valid, 8 cells, n = 15 students of part 10: taught - equal +2.5 points (+1 to +4), taught - lowest +6 (+4 to +8), lowest - equal -3.5 "
    "(-5.5 to -1.5), oracle - equal +4 (+2.5 to +5.5). Optimal: taught - equal 0 (-1.5 to +1.5)."
)
PREDICTED_LOOP = (
    "Valid, 8 cells, n = 15 students of part 10, after three stages: taught - once +1 point (-0.5 to +2.5), taught - equal +4 (+2 to +6), "
    "once - equal +3 (+1.5 to +5). After stage 1, taught - equal +3 (+1 to +5): the ladder by GRPO again, on new boards. Optimal after "
    "three stages: taught - equal +2 (+0.5 to +3.5)."
)
BLIND = {"name": "taught-blind", "engineer": "policy", "sections": ["statistics"]}


def first_test(config: Config) -> StudySpec:
    """Four students, some of them misled about two cells; every engineer."""
    return study(
        config,
        title="Is the taught engineer better?",
        arms=[
            *(TAUGHT, BLIND, {"name": "rules", "engineer": "rules"}, {"name": "learnability", "engineer": "learnability"}),
            *(UNIFORM, {"name": "again", "engineer": "uniform", "draws": 1}),
        ],
        weak={f"student:confirm-{name}": weak for name, weak in WEAK.items()},
        hypothesis="The lab model's engineer, taught by usual rates, puts the boards on what a student that it never met has lost, "
        "and so wins back more in one short stage than rules, uniform and itself without failures.",
        prediction="Taught - rules +5 points, taught - uniform (the best constant config) +3, taught - taught-blind +3; "
        "60 per cent of headroom; A/A below 1 over students.",
        stopping_rule="All 168 sessions, once. A session that fails is resumed once and then counts as missing.",
        primary=[{"arm": "taught", "than": than} for than in ("rules", "uniform", "taught-blind")],
    )


def second_test(config: Config) -> StudySpec:
    """Ten students, each misled about one cell, as those of the gate; the two comparisons that the first test left open."""
    return study(
        config,
        title="Is the taught engineer better than uniform? Ten students",
        arms=[TAUGHT, BLIND, UNIFORM],
        weak=misled_about(NEW_SEEDS),
        hypothesis="For students that lack one thing the taught engineer wins back more in one short stage than uniform, the best constant "
        "config, and than itself without failures.",
        prediction="Taught - uniform +3 points (+1 to +5), taught - taught-blind +4 (+1 to +7), oracle - uniform +3.5, oracle - taught "
        "+0.5; 60 per cent of headroom.",
        stopping_rule="All 240 sessions, once. A session that fails is resumed once and then counts as missing. A student whose "
        "certificate refuses its weakness is replaced by that of the next seed, before any session.",
        primary=[{"arm": "taught", "than": than} for than in ("uniform", "taught-blind")],
    )


def third_test(config: Config) -> StudySpec:
    """Ten more students like those of the second test, for the one comparison that is still open."""
    return study(
        config,
        title="Is the taught engineer better than uniform? Ten more students",
        arms=[TAUGHT, UNIFORM],
        weak=misled_about(NEWEST_SEEDS),
        seeds=[1, 2, 3, 4, 5],
        oracle=False,
        hypothesis="The taught engineer wins back a little more than uniform, the best constant config: about a point.",
        prediction="Taught - uniform +1.0 points (-0.3 to +2.3) for these ten; +1.0 (+0.3 to +1.7) over all 24 of the three tests.",
        stopping_rule="Sessions run seed by seed until all 100 are done or the machine's time is over; the seeds that are complete count. "
        "The first two tests were known when this was written.",
        primary=[{"arm": "taught", "than": "uniform"}],
    )


def fourth_test(config: Config) -> StudySpec:
    """Shares and ratios apart: the students of the second test, other draws and boards, equal and taught shares at both ratios."""
    engineers = {"taught": "policy", "equal": "equal", "lowest": "lowest", "tutor": "tutor"}
    at_own = [{"name": f"{name}-2-2", "engineer": engineers[name]} for name in ("taught", "equal")]
    at_harder = [{"name": f"{name}-3-5", "engineer": {"kind": "ratios", "of": of, "ratios": HARDER}} for name, of in engineers.items()]
    weak = misled_about(NEW_SEEDS)
    oracle = oracle_arm(family_of(config.family).even(config), weak).model_copy(update={"name": "oracle-3-5"})
    return study(
        config,
        title="Shares and ratios apart: what does each of them win?",
        arms=[*at_own, *at_harder, oracle.model_dump()],
        weak=weak,
        seeds=[7, 8, 9],
        oracle=False,
        smallest_effect=0.015,
        hypothesis="The tests before compared taught shares at hole ratio .2 and wait ratio .2 with equal shares at .3 and .5. Here shares "
        "(equal, taught) and ratios (.2/.2, .3/.5) are crossed. Taught shares win at both ratios, less at the harder ones.",
        prediction="Valid, taught - equal: at .2/.2 +4.0 points (+2.5 to +5.5), at .3/.5 +2 (0 to +4), so an interaction of -2. At .3/.5, "
        "lowest - taught 0 (-1 to +1). Optimal, taught - equal: -0.5. If the upper bound of taught - equal at .3/.5 is below 1.5 "
        "points, equal shares at .3/.5 stay hard to beat, because harder boards of everything teach the rest.",
        stopping_rule="All 210 sessions, once. A session that fails is resumed once and then counts as missing. No outcome is looked at "
        "before the last session is done.",
        primary=[
            {"arm": f"taught-{ratios}", "than": f"equal-{ratios}", "outcome": outcome} for outcome in MEASURES for ratios in ("2-2", "3-5")
        ],
    )


def ladder(decoys: bool) -> StudySpec:
    """The ladder of engineers, with or without decoys."""
    engineers = {"taught": "policy", "equal": "equal", "lowest": "lowest", "tutor": "tutor"} | ({"rules": "rules"} if decoys else {})
    usual = ladder_study(engineers=tuple(engineers.values()), decoys=decoys)
    names = {engineer: name for name, engineer in engineers.items()}
    arms = [arm.model_copy(update={"name": names.get(arm.name, arm.name)}) for arm in usual.arms]
    extra = [BLIND, {"name": "again", "engineer": "equal", "draws": 1}] if decoys else []
    primary = [("taught", "equal"), ("taught", "lowest")] if decoys else [("lowest", "equal"), ("taught", "equal")]
    return usual.changed(
        arms=[*arms, *map(Arm.model_validate, extra)],
        primary=[{"arm": arm, "than": than} for arm, than in primary],
        hypothesis="An engineer that knows how often each kind of cell is usually solved tells what was lost from what is hard by "
        'nature; the rule "all boards to the lowest rate" cannot. So decoys turn the order of the two around.',
        prediction=PREDICTED_WITH if decoys else PREDICTED_WITHOUT,
        stopping_rule="All sessions, once, with decoys first. A session that fails is resumed once and then counts as missing. No "
        "outcome is looked at before the last session is done. If the oracle gains less than 2 points over equal shares with decoys, the "
        "ladder has no rungs.",
    )


def ladder_again(decoys: bool) -> StudySpec:
    """The same on the students of part 10 of the lab model; those of the ladder were of part 7."""
    first = ladder(decoys)
    return first.changed(title=f"{first.title}, part 10", prediction=PREDICTED_AGAIN)


def ladder_by_grpo() -> StudySpec:
    """The ladder with decoys, by reinforcement learning: as many steps as in the doses."""
    imitated = ladder(decoys=True)
    return imitated.changed(
        title="The ladder of engineers, by GRPO",
        session=imitated.session.changed(training=LADDER_TRAINING["grpo"]),
        arms=[arm for arm in imitated.arms if arm.name in ("taught", "equal", "lowest", "oracle")],
        hypothesis="By reinforcement learning, too, an engineer that reads evidence wins boards for what was lost, and the rule of the "
        "lowest rate spends them on what is hard by nature.",
        prediction=PREDICTED_BY_GRPO,
        stopping_rule="All 60 sessions, once. A session that fails is resumed once and then counts as missing. No outcome is looked at "
        "before the last session is done. If the oracle gains less than 2 points over equal shares, there is too little to win here.",
    )


def loop() -> StudySpec:
    """The ladder by GRPO over three stages and on new boards: an engineer that is asked before each, or before the first alone."""
    once = ladder_by_grpo()
    engineers = {"taught": "policy", "once": {"kind": "once", "of": "policy"}, "equal": "equal"}
    return once.changed(
        title="Is asking again worth anything? Three stages by GRPO",
        session=once.session.changed(stages=3),
        arms=[{"name": name, "engineer": engineer} for name, engineer in engineers.items()],
        seeds=[2],
        primary=[{"arm": "taught", "than": "once"}, {"arm": "taught", "than": "equal"}],
        hypothesis="An engineer that reads what came of its first config moves boards to what is still lost, which a config that stays "
        "does not.",
        prediction=PREDICTED_LOOP,
        stopping_rule="All 45 sessions, once. A session that fails is resumed once and then counts as missing. No outcome is looked at "
        "before the last session is done.",
    )


def depth_students(config: Config) -> dict[str, Recipe]:
    """The students of the depths by id: three axes, four depths, two seeds."""
    return {
        f"depth-{axis}-{depth}-{seed}": misled(config, (f"{axis}, {depth}", (AXES[axis],)), seed, **changes)
        for seed in DEPTH_SEEDS
        for axis in DEPTH_AXES
        for depth, changes in DEPTHS.items()
    }


def depths(config: Config) -> StudySpec:
    """All boards to the lost cell against equal shares, by how much is left of it and by how the stage trains."""
    weak = {f"student:{student}": recipe.weak for student, recipe in depth_students(config).items()}
    arms = []
    for method, training in BY_METHOD.items():
        changes = {"training": training} if training else {}
        arms += [oracle_arm(config, weak).model_copy(update={"name": f"lost-{method}"} | changes)]
        arms += [Arm.model_validate({"name": f"equal-{method}", "engineer": "equal"} | changes)]
    return study(
        config,
        title="When is giving boards to failure right? Depth of the loss and method",
        arms=[arm.model_dump() for arm in arms],
        weak=weak,
        seeds=[1],
        oracle=False,
        hypothesis="By reinforcement learning a cell that is never solved teaches nothing, so boards of it are lost; by imitation they are "
        "not. So the gain of giving all boards to the failure depends on what is left of it, by GRPO and not by imitation.",
        prediction=PREDICTED_DEPTHS,
        stopping_rule="All 144 sessions, once; students of seed 1 first. A session that fails is resumed once and then counts as missing. "
        "No outcome is looked at before the last session is done. A student is taken as it comes out, whatever its certificate says of "
        "how deep it is; what is left of its cell is measured on the sealed tasks before the stage.",
        primary=[{"arm": f"lost-{method}", "than": f"equal-{method}"} for method in BY_METHOD],
    )


def doses() -> StudySpec:
    """What cells that were not lost need, so that nothing of them is: the shares of them, by imitation and by GRPO."""
    plain = ladder(decoys=False)
    students, config = recipes_of_ladder(), plain.session.initial_config
    arms = []
    for method in DOSED:
        changes = {"training": {**BY_METHOD[method], "steps": 36}}
        for dose, share in DOSES.items():
            configs = {f"student:{student}": best_for(config, recipe.weak, share) for student, recipe in students.items()}
            arms.append(Arm.model_validate({"name": f"{method}-{dose}", "configs": configs} | changes))
        arms.append(Arm.model_validate({"name": f"{method}-equal", "engineer": "equal"} | changes))
    return plain.changed(
        title="What does preserving preserve? Shares of the cells that were not lost, by method",
        arms=arms,
        hypothesis="Imitation wears away optimal plans in cells that get few boards, GRPO does not; so a share that preserves is worth "
        "something by imitation and nothing by GRPO.",
        prediction=PREDICTED_DOSES,
        stopping_rule="All 120 sessions, once. A session that fails is resumed once and then counts as missing. No outcome is looked at "
        "before the last session is done. If .12 - .02 by imitation is below +0.5 points of optimal plans, preserving cannot matter here.",
        primary=[{"arm": f"{method}-12", "than": f"{method}-02", "outcome": "optimal"} for method in DOSED],
    )


def stages() -> StudySpec:
    """The paper's own setting: four stages of GRPO from the shipped base, asked before each, who designs them."""
    session = preset_spec("study")
    short = session.changed(title="Four short stages", stages=4, training=session.training.model_copy(update={"steps": 12}), ask_first=True)
    engineers = {"taught": "policy", "fixed": "fixed", "uniform": "uniform", "rules": "rules", "random": "random"}
    arms = [{"name": name, "engineer": engineer} for name, engineer in engineers.items()]
    return engineers_study(8, short).changed(
        title="Who is a good engineer over four stages of GRPO?",
        arms=[*arms, {"name": "again", "engineer": "fixed", "draws": 1}],
        suite_by_seed=True,
        smallest_effect=0.02,
        hypothesis="From a base without a planted loss all map sizes improve together, so no engineer wins much over equal shares, which "
        "the arm fixed keeps.",
        prediction=PREDICTED_STAGES,
        stopping_rule="All 48 sessions, once. A session that fails is resumed once and then counts as missing. No outcome is looked at "
        "before the last session is done.",
        primary=[{"arm": "taught", "than": "fixed"}, {"arm": "rules", "than": "fixed"}],
    )


def null_study(config: Config) -> StudySpec:
    """Six arms that differ in nothing but the draws of training: what is clear here is chance."""
    return study(
        config,
        title="A null study: six arms that differ in nothing but the draws",
        arms=[{"name": f"same-{draws}", "engineer": "fixed", "draws": draws} for draws in range(6)],
        weak={f"student:misled-about-{axis}": (AXES[axis],) for axis in ("agents-4", "size-9", "layout-doors", "agents-3")},
        seeds=[1, 2, 3],
        steps=12,
        oracle=False,
        hypothesis="Comparisons of arms that are the same are clear of zero no more often than 1 in 20.",
        prediction="0 to 2 of the 15 comparisons of valid rates are clear of zero before correction; none after it.",
        stopping_rule="All 72 sessions, once.",
        primary=[],
    )


def reading_session(seed: int) -> SessionSpec:
    """150 steps of GRPO on plans alone, in six stages whose weights are kept: nobody proposes anything (:mod:`benchmarks.reading`)."""
    quick = preset_spec("quick")
    training = quick.training.model_copy(update={"steps": 25})
    return quick.changed(title=f"Plans alone, seed {seed}", stages=6, engineer="fixed", training=training, seed=seed)


def misled_about(seeds: Mapping[str, Sequence[int]]) -> dict[str, tuple[str, ...]]:
    """Axis -> seeds of its ready-made students, as student -> the cells that it was misled about."""
    return {f"student:misled-about-{axis}-seed-{seed}": (AXES[axis],) for axis, of_axis in seeds.items() for seed in of_axis}


def study(
    config: Config,
    *,
    arms: Sequence[Mapping[str, Any]],
    weak: Mapping[str, Sequence[str]],
    seeds: Sequence[int] = (1, 2, 3, 4, 5, 6),
    steps: int = SHORT_TRAINING.steps,
    oracle: bool = True,
    **fields: Any,
) -> StudySpec:
    """One short stage of each student under each arm: engineers asked first, guard open, suite by seed, sealed test.

    Args:
        weak: student -> the cells that it was misled about.
        oracle: add the arm that knows these cells.
    """
    session = short_stage(config)
    found = [Arm.model_validate(arm) for arm in arms]
    return StudySpec.model_validate(
        {
            "session": session.changed(training=session.training.model_copy(update={"steps": steps})),
            "arms": [*found, oracle_arm(config, weak)] if oracle else found,
            "students": list(weak),
            "seeds": seeds,
            "suite_by_seed": True,
            **{"smallest_effect": SMALLEST_EFFECT, **fields},
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    config = evenly(usual_config())
    for name, weak in WEAK.items():
        recipe = Recipe.model_validate(misled(config, (name, weak), SEEDS[name]).model_dump() | {"title": f"Confirm {name}"})
        write_text(folder / f"confirm-{name}.json", recipe.model_dump_json(indent=1))
    for name, recipe in depth_students(config).items():
        write_text(folder / f"{name}.json", recipe.model_dump_json(indent=1))
    for seed in READING_SEEDS:
        write_text(folder / f"reading-{seed}.json", reading_session(seed).model_dump_json(indent=1))
    for name, spec in {
        "confirm": first_test(config),
        "confirm-again": second_test(config),
        "third": third_test(config),
        "shares-and-ratios": fourth_test(config),
        "null": null_study(config),
        "ladder": ladder(decoys=True),
        "ladder-plain": ladder(decoys=False),
        "ladder-grpo": ladder_by_grpo(),
        "ladder-10": ladder_again(decoys=True),
        "ladder-10-plain": ladder_again(decoys=False),
        "loop": loop(),
        "depths": depths(config),
        "doses": doses(),
        "stages": stages(),
    }.items():
        write_text(folder / f"{name}.json", spec.model_dump_json(indent=1))


if __name__ == "__main__":
    main()
