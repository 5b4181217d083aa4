"""README's findings: every figure, computed from the tables that ship in assets/.

    python -m recipes.findings            print every figure and where it comes from
    python -m recipes.findings --readme   write README's table, assets/findings.md for the Studies page, and docs/instrument.md's pictures

A test compares README with what this computes.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from frozenlab.base import places
from frozenlab.base.files import read_text, write_text
from frozenlab.base.numbers import MANY, interval, number, percent, percents, signed
from frozenlab.experiments.diagnosis.report import RECORDED, DiagnosisReport
from frozenlab.experiments.headroom.gains import clustered, information_value
from frozenlab.experiments.headroom.plan import cell_gains, cells_of, menu_names
from frozenlab.experiments.headroom.report import report_of
from frozenlab.experiments.headroom.store import Headroom
from frozenlab.experiments.students.menu import DECOYS
from frozenlab.experiments.students.menu import ladder as recipes_of_ladder
from frozenlab.experiments.studies.depths import depths_picture
from frozenlab.experiments.studies.effects import contrast
from frozenlab.experiments.studies.grid import MEASURES
from frozenlab.experiments.studies.ladder import ladder_pictures
from frozenlab.experiments.studies.pictures import lines_picture, standalone
from frozenlab.experiments.studies.statistics import Effect, mean_of
from frozenlab.experiments.studies.store import Study, outcomes
from frozenlab.experiments.studies.tables import StudyReport, recorded_report
from recipes import preset_seeds
from recipes.confirm import AXES, BY_METHOD, DEPTHS, DOSED, DOSES

README = places.ROOT / "README.md"
FINDINGS = places.ASSETS / "findings.md"
BEGIN, END = "<!-- findings: written by python -m recipes.findings --readme -->\n", "<!-- findings: end -->"
EQUAL = {"confirm": "learnability", "confirm-again": "taught-blind"}
"""The arm of each test that can be taken for equal shares at the session's ratios: without ``behaviour`` learnability shares equally, and
so does the taught engineer in most of its answers without evidence."""
CROSSED = "shares-and-ratios"
CROSSED_ARMS = (
    ("taught-2-2", "equal-2-2"), ("taught-3-5", "equal-3-5"), ("equal-3-5", "equal-2-2"), ("taught-3-5", "taught-2-2"),
    ("taught-3-5", "equal-2-2"), ("taught-2-2", "equal-3-5"), ("taught-3-5", "lowest-3-5"), ("tutor-3-5", "taught-3-5"),
    ("oracle-3-5", "taught-3-5"), ("oracle-3-5", "equal-3-5"),
)  # fmt: skip
"""The fourth test, and the arms of it that are compared."""
LADDER_ARMS = (
    ("taught", "equal"), ("taught", "lowest"), ("lowest", "equal"), ("taught", "taught-blind"), ("tutor", "taught"), ("rules", "equal"),
    ("oracle", "taught"), ("oracle", "equal"), ("again", "equal"),
)  # fmt: skip
"""The arms of the ladder that are compared; the studies without decoys and by GRPO have not all of them."""
UNLOST = {"2@9": 0.938, "2@doors6": 0.938, "3@corridor6": 0.771, "4@6": 0.896, "numbers2": 1.0}
"""What the lab model of that day solved of the cells of the gate's students, at the same hole ratio: 48 tasks each."""
TURNED = ("deepest", "half")
"""The depths between which GRPO's gain over imitation's is compared."""
DOSES_BOARDS, DOSES_BEFORE = (f"assets/studies/doses/{name}.parquet" for name in ("boards", "before"))
LOOP_STAGES, LOOP_SHARES = (f"assets/studies/loop/{name}.parquet" for name in ("stages", "shares"))
LOOP_ARMS = (("taught", "once"), ("taught", "equal"), ("once", "equal"))
STAGES_ARMS = ("taught", "rules", "uniform", "random", "again")
READING = "assets/reading.csv"
Figures = dict[str, tuple[str, str]]
"""Name -> the figure as README writes it, and the table that it comes from."""
TABLE = """\
| | claim | effect | 95 % interval | n | what it means |
|---|---|---|---|---|---|
| 1 | [On plain boards all skills are one](docs/instrument.md#what-was-wrong-before), and no config beat another; [mechanics and Countdown add skills](docs/instrument.md#what-came) | effective rank {plain rank}; {rank} | {plain rank interval}; {rank interval} | 9 of 15 cells; 8 of 9; one model | The first studies could not have found anything. What teaches what to this model says nothing about what a student has lost. |
| 2 | [One short stage tells configs apart](docs/instrument.md#what-came): a student's best config beats its worst; beats equal shares; all boards to what was lost beat all boards to another cell | {best - worst} points; {headroom}; {matched} | {best - worst interval}; {headroom interval}; {matched interval} | 10 students, noise {noise} points | Here the config matters. The best config for all is equal shares, so the second figure is also what knowing the student is worth. A fifth of the boards wins back {won back} of what was lost, half of what all of them win back. |
| 3 | [Shown the failures, the lab model's engineer finds what was lost](docs/instrument.md#diagnosis-who-finds-the-missing-skill), as it was taught to; without evidence it guesses (chance 20 %); [change after 150 steps of GRPO on plans](docs/instrument.md#what-came-of-the-reading) | {diagnosed} of answers; {guessed}; {reading, 150 steps} points | {diagnosed interval}; {guessed interval}; {reading, 150 steps interval} | 10 students, 40 answers; 3 sessions, 200 pieces of evidence | It reads its evidence. So does one line of code: the lowest rate is what was lost in {lowest}. `rules` and `learnability` ({rules} to {learnability}) shun what looks hopeless; `learnability` cannot read failures. |
| 4 | [Its shares beat equal shares](docs/instrument.md#what-came-of-the-fourth) at the same ratios, valid plans, as registered: at hole and wait ratio .2/.2; at .3/.5 | {taught-2-2 - equal-2-2} points; {taught-3-5 - equal-3-5} | {taught-2-2 - equal-2-2 interval}; {taught-3-5 - equal-3-5 interval} | 10 students, 210 sessions | Predicted +4 and +2. Two tests before, in which this was not planned, have {shares} ({shares interval}; 14 students). So this is what failures are worth to it, too: without them it mostly shares equally. |
| 5 | [Harder boards alone](docs/instrument.md#what-came-of-the-fourth) beat equal shares, too: .3/.5 less .2/.2; under taught shares | {equal-3-5 - equal-2-2} points; {taught-3-5 - taught-2-2} | {equal-3-5 - equal-2-2 interval}; {taught-3-5 - taught-2-2 interval} | the same | The two do not add up (interaction {interaction}, {interaction interval}); both together win {taught-3-5 - equal-2-2} ({taught-3-5 - equal-2-2 interval}). The second test compared taught shares at .2/.2 with `uniform`, equal ones at .3/.5: {taught - uniform} ({taught - uniform interval}); here {taught-2-2 - equal-3-5} ({taught-2-2 - equal-3-5 interval}). |
| 6 | [Preserving is worth optimal plans by imitation, and costs valid ones by GRPO](docs/instrument.md#what-came-of-the-doses): each cell that was not lost gets .12 of the boards instead of .02; optimal plans by imitation; by GRPO; valid plans by GRPO | {doses imitation 12 - 02, optimal} points; {doses grpo 12 - 02, optimal}; {doses grpo 12 - 02} | {doses imitation 12 - 02, optimal interval}; {doses grpo 12 - 02, optimal interval}; {doses grpo 12 - 02 interval} | 15 students, 120 sessions | Predicted +1.5, −0.3 and −1. At .02 the optimal plans of cells that were not lost change by {doses imitation 02, before to after, optimal} points by imitation and {doses grpo 02, before to after, optimal} by GRPO. The taught engineer gives them .06; its optimal plans less equal shares' are undecided (row 4's sessions: {taught-2-2 - equal-2-2, optimal}, {taught-2-2 - equal-2-2, optimal interval}). |
| 7 | One line of code, *all boards to the lowest rate*, [is hard to beat](docs/instrument.md#what-came-of-the-fourth) where that is what was lost, and [does harm where some cells are low by nature](docs/instrument.md#what-came-by-imitation): taught shares less the rule, valid plans, at .3/.5; with two such decoys in the config; without these | {taught-3-5 - lowest-3-5} points; {ladder taught - lowest}; {ladder taught - lowest, plain} | {taught-3-5 - lowest-3-5 interval}; {ladder taught - lowest interval}; {ladder taught - lowest, plain interval} | as in row 4; 15 students, 195 sessions | It is diagnosis, not hardness. Less equal shares, the rule has {ladder lowest - equal} with decoys ({ladder lowest - equal interval}), taught shares {ladder taught - equal} ({ladder taught - equal interval}) and without {ladder taught - equal, plain} ({ladder taught - equal, plain interval}), an oracle {ladder oracle - equal} and {ladder oracle - equal, plain}. The tutor's rule less taught shares at .3/.5: {tutor-3-5 - taught-3-5} ({tutor-3-5 - taught-3-5 interval}), shown to be smaller than 1.5. |
| 8 | [By reinforcement learning reading wins, too](docs/instrument.md#what-came-by-grpo): taught shares less equal shares, by GRPO, with the decoys; less all boards to the lowest rate. [Asking again takes half of it back](docs/instrument.md#what-came-of-the-loop), three stages on new boards: asked once less equal shares; asked before each stage less asked once | {ladder taught - equal, grpo} points; {ladder taught - lowest, grpo}; {loop once - equal, stage 3}; {loop taught - once, stage 3} | {ladder taught - equal, grpo interval}; {ladder taught - lowest, grpo interval}; {loop once - equal, stage 3 interval}; {loop taught - once, stage 3 interval} | 15 students, 60 and 45 sessions | Predicted +2.5, +6, +3 and +1. An oracle has {ladder oracle - equal, grpo} ({ladder oracle - equal, grpo interval}). No price in optimal plans ({ladder taught - equal, grpo, optimal}, {ladder taught - equal, grpo, optimal interval}). As what was lost comes back, the engineer turns to the decoys, which GRPO cannot lift: a decoy gets {loop decoy, stage 1}, {loop decoy, stage 2}, then {loop decoy, stage 3} of the boards. |
| 9 | [Boards belong to the failure by reinforcement learning, too](docs/instrument.md#what-came-of-the-depths): all boards to a lost cell less equal shares, valid plans, by GRPO; by GRPO with demonstrations; by imitation | {depths grpo} points; {depths shown-grpo}; {depths imitation} | {depths grpo interval}; {depths shown-grpo interval}; {depths imitation interval} | 24 students, 144 sessions | With demonstrations a deep loss gains most ({depths shown-grpo deepest}, {depths shown-grpo deepest interval}), a shallow one nothing ({depths shown-grpo shallow}, {depths shown-grpo shallow interval}). That GRPO alone gains less where little is left is undecided (interaction {depths interaction}, {depths interaction interval}; predicted +5). Imitation pays in optimal plans ({depths imitation, optimal}, {depths imitation, optimal interval}), GRPO does not ({depths grpo, optimal}, {depths grpo, optimal interval}). |
| 10 | [From a base that has lost nothing no engineer wins](docs/instrument.md#what-came-of-the-four-stages): four stages of GRPO from the lab model (part 7), valid plans less those under equal shares that stay: taught; `rules`; the same again with other draws | {stages taught - fixed} points; {stages rules - fixed}; {stages again - fixed} | {stages taught - fixed interval}; {stages rules - fixed interval}; {stages again - fixed interval} | 8 seeds, 48 sessions | Predicted 0. Taught is shown to be smaller than 2 points. All arms gain {stages rules, four stages} to {stages fixed, four stages} points over the base, most of it in the first stage. So far an engineer is worth something only where its student has lost something. |

Rows 2 to 7 but 6 are one short stage of *imitation* of solver corrections, not reinforcement learning, on students that lost one thing, or two in rows 6 to 8 (the ladder).
**Not answered:** whether an engineer that knows what cannot be lifted gains by being asked again; whether a checkpoint is a better engineer than its base (undecided: with failures shown both are perfect, without them both guess), or a larger model than either.
"""  # noqa: E501


def figures() -> Figures:
    """Every figure of README's findings, and those in the sentences below."""
    return {
        **of_gate(),
        **of_diagnosis(),
        **of_tests(),
        **of_crossed_test(),
        **of_ladder(),
        **of_loop(),
        **of_depths(),
        **of_doses(),
        **of_stages(),
        **of_reading(),
        **of_sessions(),
    }


def of_gate() -> Figures:
    """The figures of the headroom measurements."""
    found: Figures = {}
    measured = {measurement.id: measurement for measurement in Headroom.shipped()}
    reports = {name: report_of(measurement) for name, measurement in measured.items()}
    for name, measurement in (("plain rank", "lake-axes"), ("rank", "axes")):
        rank = reports[measurement].matrices[0].participation
        assert rank is not None
        found |= named(name, number(rank.value, 1), f"{rank.low:.1f} to {rank.high:.1f}", f"assets/headroom/{measurement}/influence-0.npz")
    forks, table = reports["instrument"].forks, "assets/headroom/instrument/outcomes.parquet"
    assert forks is not None and forks.information is not None
    for name, one in (("best - worst", forks.best_less_worst), ("headroom", forks.headroom), ("information", forks.information)):
        found |= named(name, one.signed, one.bounds, table)
    found["noise"] = number(100 * forks.noise, 1), table
    found |= by_student(measured["instrument"], table)
    plain, where = reports["study"].forks, "assets/headroom/study/outcomes.parquet"
    assert plain is not None
    return found | named("plain headroom", plain.headroom.signed, plain.headroom.bounds, where)


def by_student(measurement: Headroom, source: str) -> Figures:
    """What each student of the gate wins by boards of the cell that it lost, by those of another cell alone, and by equal shares."""
    spec, rows = measurement.spec, measurement.outcomes()
    assert rows is not None and spec.forks is not None
    gains, names, cells = cell_gains(spec, rows).mean(axis=2), menu_names(spec), cells_of(rows)
    before = rows[rows["part"] == "before"]
    rates = (before["valid"] / before["n"]).groupby([before["student"], before["cell"]]).mean().unstack()
    information = clustered(information_value(cell_gains(spec, rows).mean(axis=3)[:, [name != "kept" for name in names]]))
    kinds = {cell.name: cell for cell in spec.forks.kept.described()}
    matched, over_equal, won, most = [], [], [], []
    for student, name in enumerate(spec.students):
        weak = lost_by(name)
        own = gains[student, names.index(f"only {kinds[weak].words}")]
        equal, others = gains[student, names.index("uniform")], [gains[student, at] for at, one in enumerate(names) if "only" in one]
        rest = (sum(others) - own) / (len(others) - 1)
        matched.append(float((own - rest).mean()))
        over_equal.append(float((own - equal).mean()))
        lost = UNLOST[weak] - float(rates.loc[student, weak])
        won.append(float(equal[cells.index(weak)]) / lost)
        most.append(float(own[cells.index(weak)]) / lost)
    hits = sum(lost_by(name) == lowest for name, lowest in zip(spec.students, rates.idxmin(axis=1), strict=True))
    return {
        **effect(mean_of(matched), "matched", source),
        **effect(mean_of(over_equal), "matched - equal", source),
        **named("information without the twin", information.signed, information.bounds, source),
        "won back": (percent(float(np.mean(won))), source),
        "won back by its own boards": (percent(float(np.mean(most))), source),
        "lowest": (f"{hits} of {len(spec.students)} students", source),
    }


def of_diagnosis() -> Figures:
    """The figures of the diagnosis. Its single answers were not kept."""
    report, source = DiagnosisReport.model_validate_json(read_text(RECORDED)), "assets/diagnosis/report.json"
    rates = {(found.engineer, found.shown): found.rate.interval for found in report.found}
    found: Figures = {}
    for name, key in (("diagnosed", ("policy", "failures")), ("guessed", ("policy", "none")),
                      ("rules", ("rules", "failures")), ("learnability", ("learnability", "failures"))):  # fmt: skip
        found |= named(name, rates[key].percent, percents(rates[key].low, rates[key].high), source)
    return found


def of_tests() -> Figures:
    """The figures of the confirmatory tests."""
    boards = {test: pd.read_parquet(places.ASSETS / "studies" / test / "boards.parquet") for test in EQUAL}
    first, second = "assets/studies/confirm/boards.parquet", "assets/studies/confirm-again/boards.parquet"
    found: Figures = {}
    for measure in MEASURES:
        mark = "" if measure == "valid" else ", optimal"
        of_arm = {}
        for name, arm in (("shares", "taught"), ("oracle", "oracle"), ("ratios", "uniform")):
            each = [contrast(outcomes(table, measure), [arm], [EQUAL[test]]) for test, table in boards.items()]
            of_arm[name] = mean_of([student.mean for one in each for student in one.students])
            found |= effect(of_arm[name], f"{name}{mark}", f"{first} and {second}")
            for test, one in zip(boards, each, strict=True):
                found |= effect(one, f"{name}{mark}, {test}", f"assets/studies/{test}/boards.parquet")
        if measure == "valid":
            found["part of headroom"] = percent(of_arm["shares"].mean / of_arm["oracle"].mean), f"{first} and {second}"
        table = outcomes(boards["confirm-again"], measure)
        for arm, than in (("taught", "uniform"), ("oracle", "uniform"), ("oracle", "taught"), ("taught", "taught-blind")):
            found |= effect(contrast(table, [arm], [than]), f"{arm} - {than}{mark}", second)
        lost = boards["confirm-again"]["student"].map(lost_by)
        for name, here in (("lost", True), ("elsewhere", False)):
            rows = boards["confirm-again"][(boards["confirm-again"]["config_cell"] == lost) == here]
            found |= effect(contrast(outcomes(rows, measure), ["taught"], ["taught-blind"]), f"{name}{mark}", second)
        table = outcomes(boards["confirm"], measure)
        for arm, than in (("rules", "uniform"), ("taught", "rules"), ("taught", "learnability"), ("rules", "learnability")):
            found |= effect(contrast(table, [arm], [than]), f"{arm} - {than}{mark}", first)
    return found


def of_crossed_test() -> Figures:
    """The figures of the fourth test, which crosses shares and ratios."""
    source = f"assets/studies/{CROSSED}/boards.parquet"
    boards = pd.read_parquet(places.ROOT / source)
    found: Figures = {}
    for measure in MEASURES:
        table, mark = outcomes(boards, measure), "" if measure == "valid" else f", {measure}"
        for arm, than in CROSSED_ARMS:
            found |= effect(contrast(table, [arm], [than]), f"{arm} - {than}{mark}", source)
        at_own, at_harder = (contrast(table, [f"taught-{at}"], [f"equal-{at}"]).students for at in ("2-2", "3-5"))
        more = [harder.mean - own.mean for own, harder in zip(at_own, at_harder, strict=True)]
        found |= effect(mean_of(more), f"interaction{mark}", source)
    return found


def of_ladder() -> Figures:
    """The figures of the ladder, with decoys and without, and by GRPO."""
    found: Figures = {}
    for study, mark in (("ladder-10", ""), ("ladder-10-plain", ", plain"), ("ladder-grpo", ", grpo")):
        source = f"assets/studies/{study}/boards.parquet"
        boards = pd.read_parquet(places.ROOT / source)
        arms = set(boards["arm"])
        for measure in MEASURES:
            table, of = outcomes(boards, measure), mark if measure == "valid" else f"{mark}, {measure}"
            for arm, than in LADDER_ARMS:
                if {arm, than} <= arms:
                    found |= effect(contrast(table, [arm], [than]), f"ladder {arm} - {than}{of}", source)
    return found


def of_loop() -> Figures:
    """What an engineer that is asked before each stage of GRPO wins over being asked once, and both over equal shares, after each stage."""
    found: Figures = {}
    for measure, of in (("valid", ""), ("optimal", ", optimal")):
        for (arm, than), won in by_stage(measure).items():
            for stage, one in enumerate(won, start=1):
                found |= effect(one, f"loop {arm} - {than}, stage {stage}{of}", LOOP_STAGES)
    shares = pd.read_parquet(places.ROOT / LOOP_SHARES)
    shares = shares[shares["arm"] == "taught"]
    lost, decoy = were_lost(shares), shares["config_cell"].isin(DECOYS)
    for kind, rows in (("lost", shares[lost]), ("decoy", shares[decoy]), ("other", shares[~lost & ~decoy])):
        for stage, share in rows.groupby("stage")["share"].mean().items():
            found[f"loop {kind}, stage {stage}"] = f"{share:.2f}".lstrip("0"), LOOP_SHARES
    return found


def by_stage(measure: str) -> dict[tuple[str, str], list[Effect]]:
    """The effects after each stage of the loop, of each pair of arms."""
    rows = pd.read_parquet(places.ROOT / LOOP_STAGES)
    tables = [outcomes(of_stage, measure) for _, of_stage in rows.groupby("trained")]
    return {(arm, than): [contrast(table, [arm], [than]) for table in tables] for arm, than in LOOP_ARMS}


def of_depths() -> Figures:
    """What all boards to the lost cell win over equal shares, by method and by how much of the cell was left."""
    found: Figures = {}
    source = "assets/studies/depths/boards.parquet"
    boards = pd.read_parquet(places.ROOT / source)
    for measure in MEASURES:
        gains: dict[str, dict[str, float]] = {}
        table, of = outcomes(boards, measure), "" if measure == "valid" else f", {measure}"
        for method in BY_METHOD:
            won = contrast(table, [f"lost-{method}"], [f"equal-{method}"])
            gains[method] = {own.student: own.mean for own in won.students}
            found |= effect(won, f"depths {method}{of}", source)
            for depth in DEPTHS:
                own = [gain for student, gain in gains[method].items() if f"-{depth}-" in student]
                found |= effect(mean_of(own), f"depths {method} {depth}{of}", source)
        turned = {student: gains["grpo"][student] - gain for student, gain in gains["imitation"].items()}
        deep, shallow = ([gain for student, gain in turned.items() if f"-{depth}-" in student] for depth in TURNED)
        found |= effect(mean_of(np.subtract(shallow, deep).tolist()), f"depths interaction{of}", source)
    return found


def of_doses() -> Figures:
    """What each share of the cells that were not lost wins: over all cells, over those that were lost, and over the others."""
    found: Figures = {}
    boards, before = (pd.read_parquet(places.ROOT / name) for name in (DOSES_BOARDS, DOSES_BEFORE))
    lost, kept = were_lost(boards), before[~were_lost(before)]
    for measure in MEASURES:
        of = "" if measure == "valid" else f", {measure}"
        for words, rows in (("", boards), (", lost", boards[lost]), (", kept", boards[~lost])):
            table = outcomes(rows, measure)
            for method in DOSED:
                for arm, than in (("12", "02"), *((dose, "equal") for dose in DOSES)):
                    won = contrast(table, [f"{method}-{arm}"], [f"{method}-{than}"])
                    found |= effect(won, f"doses {method} {arm} - {than}{words}{of}", DOSES_BOARDS)
        for method in DOSED:
            table = outcomes(pd.concat([kept.assign(arm="before"), boards[~lost & (boards["arm"] == f"{method}-02")]]), measure)
            won = contrast(table, [f"{method}-02"], ["before"])
            found |= effect(won, f"doses {method} 02, before to after{of}", DOSES_BEFORE)
    return found


def of_stages() -> Figures:
    """What each engineer wins over equal shares in four stages of GRPO, and what each arm gains over the base, in all and at first."""
    found: Figures = {}
    source = "assets/studies/stages/boards.parquet"
    boards = pd.read_parquet(places.ROOT / source)
    report = shipped_report("stages")
    for measure in MEASURES:
        table, of = outcomes(boards, measure), "" if measure == "valid" else f", {measure}"
        for arm in STAGES_ARMS:
            found |= effect(contrast(table, [arm], ["fixed"]), f"stages {arm} - fixed{of}", source)
        for curve in report.of(measure).curves:
            before, first, *_, last = ([point.by_seed[seed] for seed in sorted(point.by_seed)] for point in curve.points)
            for name, after in (("first stage", first), ("four stages", last)):
                found |= effect(
                    mean_of(np.subtract(after, before).tolist()), f"stages {curve.arm}, {name}{of}", "assets/studies/stages/report.json"
                )
    return found


def of_reading() -> Figures:
    """How many pieces of evidence a checkpoint reads rightly, and how many more than the base it came from, by steps of GRPO."""
    found: Figures = {}
    hits = hits_by_steps()
    for steps, of_session in hits.iterrows():
        found |= effect(mean_of((of_session - hits.loc[0]).tolist()), f"reading, {steps} steps", READING)
    return found | {"reading, base": (percent(float(hits.loc[0].mean()), MANY), READING)}


def shipped_report(name: str) -> StudyReport:
    """The report of a study that ships."""
    return recorded_report(next(study for study in Study.shipped() if study.id == name))


def were_lost(boards: pd.DataFrame) -> NDArray[np.bool_]:
    """Whether each board is of a cell that its student, one of the ladder's, had lost."""
    weak = {student: recipe.weak for student, recipe in recipes_of_ladder().items()}
    return np.array([cell in weak[student] for student, cell in zip(boards["student"], boards["config_cell"], strict=True)])


def doses_picture() -> str:
    """Points over equal shares by the share of each cell that was not lost: valid and optimal plans, by each method."""
    boards, lines = pd.read_parquet(places.ROOT / DOSES_BOARDS), dict[str, list[Effect | None]]()
    for method, word in zip(DOSED, ("imitation", "GRPO"), strict=True):
        for measure in MEASURES:
            table = outcomes(boards, measure)
            lines[f"{word}, {measure}"] = [contrast(table, [f"{method}-{dose}"], [f"{method}-equal"]) for dose in DOSES]
    return lines_picture([f"share .{dose}" for dose in DOSES], lines)


def loop_picture() -> str:
    """Points of valid plans over equal shares, by stage: an engineer asked before each, and one asked once."""
    lines = {arm: [*won] for (arm, than), won in by_stage("valid").items() if than == "equal"}
    return lines_picture(["stage 1", "stage 2", "stage 3"], lines, ("taught",))


def stages_picture() -> str:
    """Points of valid plans over equal shares that stay, by stage, of each other arm."""
    report = shipped_report("stages")
    points = {curve.arm: curve.points[1:] for curve in report.of("valid").curves}
    lines: dict[str, list[Effect | None]] = {
        arm: [
            mean_of([own.by_seed[seed] - stays.by_seed[seed] for seed in own.by_seed])
            for own, stays in zip(points[arm], points["fixed"], strict=True)
        ]
        for arm in STAGES_ARMS
    }
    return lines_picture([f"stage {number}" for number in range(1, len(points["fixed"]) + 1)], lines, ("taught",))


def reading_picture() -> str:
    """How many more pieces of evidence than the base a checkpoint reads rightly, in points, by steps of GRPO."""
    hits = hits_by_steps()
    lines: dict[str, list[Effect | None]] = {
        "less the base": [mean_of((hits.loc[steps] - hits.loc[0]).tolist()) for steps in hits.index[1:]]
    }
    return lines_picture([f"{steps} steps" for steps in hits.index[1:]], lines)


def hits_by_steps() -> pd.DataFrame:
    """The part of the pieces of evidence that was read rightly: a row per number of steps, a column per session."""
    return pd.read_csv(places.ROOT / READING).groupby(["steps", "session"])["hit"].mean().unstack("session")


def of_sessions() -> Figures:
    """The figures of the quick sessions and of the long one."""
    rates = preset_seeds.rates(preset_seeds.kept(), "valid")
    first, *_, last = rates
    found = {"quick": (number(100 * float((rates[last] - rates[first]).mean()), 0), "assets/preset_seeds")}
    late = mean_of((rates[last] - rates[1]).tolist())
    found |= effect(late, "quick, stages 2 and 3", "assets/preset_seeds")
    source = "assets/results/lab-model and example-long-4"
    base, long = (
        pd.read_parquet(places.ASSETS / "results" / name / "boards.parquet").groupby("agents")["valid"].mean()
        for name in ("lab-model", "example-long-4")
    )
    return found | {f"long, {team} agents": (number(100 * gain, 0), source) for team, gain in (long - base).items()}


def lost_by(student: str) -> str:
    """The cell that a ready-made student was misled about."""
    return next(cell for axis, cell in AXES.items() if f"misled-about-{axis}" in student)


def effect(one: Effect, name: str, source: str) -> Figures:
    return named(name, signed(one.mean, MANY), interval(one.low, one.high, MANY), source)


def named(name: str, value: str, bounds: str, source: str) -> Figures:
    return {name: (value, source), f"{name} interval": (bounds, source)}


def table(found: Figures) -> str:
    """README's table, and the note below it."""
    return TABLE.format_map({name: value for name, (value, _) in found.items()})


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Compute every figure of README's findings from the shipped tables.")
    parser.add_argument(
        "--readme", action="store_true", help="write README's table, assets/findings.md and the pictures of docs/instrument.md"
    )
    found = figures()
    if parser.parse_args(arguments).readme:
        before, rest = README.read_text(encoding="utf-8").split(BEGIN)
        write_text(README, before + BEGIN + table(found) + END + rest.split(END)[1])
        write_text(FINDINGS, table(found))
        drawn = {
            "studies/ladder-10/ladder": ladder_pictures(shipped_report("ladder-10"), "valid")[0],
            "studies/loop/loop": loop_picture(),
            "studies/depths/depths": depths_picture(shipped_report("depths"), "valid"),
            "studies/doses/doses": doses_picture(),
            "studies/stages/stages": stages_picture(),
            "reading": reading_picture(),
        }
        for place, picture in drawn.items():
            write_text(places.ASSETS / f"{place}.svg", standalone(picture, "#0b1f33", "#fcfdff"))
        preset_seeds.write_readme()
        return
    for name, (value, source) in found.items():
        print(f"{name:<44} {value:<20} {source}")


if __name__ == "__main__":
    main()
