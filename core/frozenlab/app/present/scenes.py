"""The scenes of a talk, made of a session's records: what failed, what it trained on, what it read and wrote, and what happened."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import pandas as pd
from pydantic import Field, ValidationError

from frozenlab.app.play.optimum import is_quick, solution_of
from frozenlab.app.session.claims import predictions_of, was_it_right
from frozenlab.app.session.proposals import KnobRow, knob_rows
from frozenlab.app.story.moment import Moment, first_judged, moment_of
from frozenlab.app.ui.components.timeline import stage_name
from frozenlab.app.ui.figures import overall
from frozenlab.app.ui.once import once
from frozenlab.app.views.lake.player import played
from frozenlab.app.views.lake.share import decode
from frozenlab.app.views.lake.tracks import Track, followed
from frozenlab.app.views.view import Shown, View, turned_tasks
from frozenlab.app.views.views import view_of
from frozenlab.base.cells import Config, in_order, quotas
from frozenlab.base.errors import LabError
from frozenlab.base.files import read_text, regular, write_text
from frozenlab.base.numbers import Interval, board_by_board, counted, listed, number, paired_change, percent, share, signed, typeset
from frozenlab.base.places import TALKS
from frozenlab.base.schemas import Strict
from frozenlab.engineer.engineers import who_is
from frozenlab.engineer.schema import Claim, Proposal, ProposalRecord
from frozenlab.engineer.sentences import capitalised
from frozenlab.experiments.studies.design import ORACLE
from frozenlab.experiments.studies.ladder import by_grpo, lesson, won_by_grpo
from frozenlab.lake.board import BoardError
from frozenlab.models.training.methods import BY_NAME
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore
from frozenlab.tasks.families import cell_label, cells_noun, family_of
from frozenlab.tasks.lake.family import LAKE
from frozenlab.tasks.task import Judged

Scene = dict[str, Any]
"""What the deck shows on one screen: its ``kind``, ``name``, ``heading`` and ``note``, what the kind needs, and the draft of what to
``say``, a line a part; ``more``: what a talk of 4 minutes and more adds to it, and one of 8 and more; ``question``: the heading until the
whole picture is there; ``parts``: what differs from part to part of a scene that takes more than one press."""
BOARDS_SHOWN = 3
"""Boards of the scenes that show what it trains on and what failed."""
CLAIMS_SHOWN, KNOBS_SHOWN = 2, 6
"""What can be read from the last row of a room; every cell that changed has a knob, be they more."""
KNOBS_ON_STAGE = {"share": "share of boards", "hole_ratio": "cells that are holes", "wait_ratio": "boards where somebody must wait"}
"""For who does not know the knobs of the lab."""
LINE = "Line: plans sampled in training (mean of five steps)."
"""What the line of a learning curve is."""
WALL = 9
"""Boards of a stage that show its mix."""
TRIES_SHOWN, GROUPS_LOOKED_AT = 8, 40
"""Plans for one board that are shown, and the first boards among which one with good and bad plans is looked for."""
QUESTION = "Can a model design what it learns from?"
ASKED_OF_OTHERS = "Does it help to redesign what a model learns from?"
"""Where no model is its own engineer."""
KEPT = "fixed"
"""The engineer that keeps the first config."""
SHOWN, FILM, REHEARSE, LIVE = "1", "film", "rehearse", "live"
"""How a talk is shown, in the address of its page: by hand, by itself until a key takes over, with the time of each scene kept, or the
session as it trains."""
SAID_LIVE = (
    "The thin line is the share of valid plans among those that it writes while it trains, and each dot is a test on boards that "
    "it never trains on. At a dashed line the engineer chose a new mix of boards, so the thin line begins anew: easier boards lift it at "
    "once, and only the dots can be compared. While it measures nothing moves: ask the room how high the next dot will be."
)
"""The draft of what to say while a session trains."""
LONGEST_NOTE = 4000
LINK = re.compile(r"[?&]board=([\w~-]+)")
"""To a board of Play."""


class TalkError(LabError, ValueError):
    """A session has no story yet."""


class Story(NamedTuple):
    """What the scenes are made of."""

    moment: Moment
    """After the stage whose proposal is shown."""
    view: View
    turned: tuple[pd.Series, pd.Series, int] | None
    """The board that it fails on and solves in the end, see :meth:`View.turned`."""
    twin: Session | None
    """A session that kept its config."""

    @property
    def session(self) -> Session:
        return self.moment.session

    @property
    def reader(self) -> str:
        """Who reads how the stage did, and writes the change."""
        record = self.moment.record
        return who_is(self.session.spec.engineer.kind if record is None else record.engineer)

    @property
    def gain(self) -> Interval | None:
        """How much higher the valid rate is at the end than the twin's, on the same boards; None without a twin."""
        return None if self.twin is None else paired_change(ends_of(self.twin)[1], ends_of(self.session)[1])


class Part(NamedTuple):
    """A scene that a talk may have."""

    name: str
    title: str
    make: Callable[[Story], Scene | None]
    seconds: int
    """How long it is shown where the talk plays by itself."""
    usual: bool = True
    """Whether it is shown unless a speaker decides otherwise."""


def scenes_of(session: Session, stage: int | None = None, board: str = "", twin: Session | None = None) -> list[Scene]:
    """The scenes of a change that was tested, in their order.

    Args:
        stage: after which the change was proposed, 0-based; None, or one without a tested change: the first one with one.
        board: the id of the board of the first scene; empty, or one that is not solved in the end: the one that shows most.
        twin: a session that kept its config, as :func:`twin_of` finds it.

    Raises:
        TalkError: no stage has tested a proposal yet.
    """
    judged = judged_stages(session)
    moment = moment_of(session, stage if stage in judged else judged[0]) if judged else None
    if moment is None or moment.record is None or moment.before is None:
        raise TalkError(f"no stage of {session.id} has tested a change of its engineer yet, so there is no story to tell")
    view = view_of(session.spec.tasks)
    story = Story(moment, view, view.turned(session, board) or view.turned(session), twin)
    made = ((part, part.make(story)) for part in PARTS)
    return [{"name": part.name, "title": part.title, "seconds": part.seconds, **scene} for part, scene in made if scene is not None]


def judged_stages(session: Session) -> list[int]:
    """The stages (0-based) after which the engineer changed the config and the next stage tested that, in their order."""
    if (first := first_judged(session, session.state())) is None:
        return []
    later = range(first + 1, session.spec.stages - 1)
    tested = [stage for stage in later if session.results(stage + 1) is not None and (record := session.proposal(stage)) and record.changes]
    return [first, *tested]


def opening(story: Story) -> Scene:
    """The question, and a board that the model fails on."""
    session = story.session
    engineer, was = who_is(session.spec.engineer.kind), overall(ends_of(session)[0])
    scene = {
        "heading": question_of(session),
        "note": story.view.idea,
        "say": "Watch the agents: the model has written the whole plan at once, and nothing checks it while it writes. Here it fails. It "
        f"trains in {counted(session.spec.stages, 'stage')}, and between two of them {engineer} chooses what it trains on next.",
        "more": [
            f"Before this training it solves {was.percent} of {was.n} {session.results_from}. What should it practise: more of what it "
            "fails on, or more of what it nearly solves? Somebody has to choose.",
            "Ask the room: which of the two would you choose? Hands up for each. Keep your answer in mind, as we shall see what was "
            "chosen, and whether it helped.",
        ],
    }
    failed = failing(story)
    return scene | ({"kind": "numbers"} if failed is None else {"kind": "boards", "boards": [story.view.plain([failed])]})


def question_of(session: Session) -> str:
    """What a talk about the session asks."""
    return QUESTION if session.spec.engineer.kind == "policy" else ASKED_OF_OTHERS


def failing(story: Story) -> Shown | None:
    """The model's answer before training to a board that the last checkpoint solves, or else to any that it fails on."""
    return first_fault(story.session, story.view) if story.turned is None else Shown(story.turned[0], "before training")


def first_fault(session: Session, view: View) -> Shown | None:
    """The model's answer before training to the first board that it fails on."""
    base = session.results(None)
    wrong = base[~base["valid"]] if base is not None else pd.DataFrame()
    return None if wrong.empty else Shown(view.in_order(wrong).iloc[0], "before training")


def tries(story: Story) -> Scene | None:
    """What learning from rewards is: several plans for one board, of which some are valid."""
    session = story.session
    method = BY_NAME[session.spec.training.method]
    sampled = session.completions(0)
    if not method.rewards or sampled is None:
        return None
    groups = [group for _, group in sampled.groupby(["training_step", "board_id"]) if 0 < group["valid"].sum() < len(group)]
    if not groups:
        return None
    place = in_order(sampled["config_cell"].unique())  # of two that are as mixed, the board of a later cell has more to see
    mixed = [rows for rows in groups[:GROUPS_LOOKED_AT] if abs(rows["valid"].mean() - 0.5) <= 0.25] or groups
    group = max(mixed, key=lambda rows: place.index(rows["config_cell"].iloc[0]))
    pays = parts_of(group[group["valid"]].iloc[0], session)  # of a group of more than are shown none of these need be valid
    average, group = float(group["reward"].mean()), group.head(TRIES_SHOWN)
    good = [bool(valid) for valid in group["valid"]]
    n = len(good)
    return {
        "kind": "tries",
        "heading": "It tries, and what works becomes likelier",
        "boards": [story.view.plain([Shown(row, "")]) for _, row in group.iterrows()],
        "good": good,
        "scores": [
            {"label": number(row["reward"]), "part": row["reward"], "likelier": row["reward"] > average}
            | {"why": speed_of(row) if row["valid"] else ""}
            for _, row in group.iterrows()
        ],
        "average": average,
        "note": f"{pays} The best scores 1, one with a fault near 0. Training "
        f"({method.title}) makes those above the average of {number(average)} (mark) likelier.",
        "say": f"It writes {n} plans for the same board. The ones that light up are valid. Nobody shows it a solution now: it only becomes "
        "likelier to write plans like these.",
        "more": [
            f"{sum(good)} of these {n} hold. Point at one that fades: the words say which rule it broke first. A plan that fails scores "
            f"almost nothing, the fastest one most. Above the average of these {n} it becomes likelier, below it less likely.",
            f"Ask: what would it learn if all {n} had the same score? Nothing, as none would be above the average. So it matters which "
            "boards it gets: those that it sometimes solves.",
        ],
    }


def speed_of(row: pd.Series) -> str:
    """How near a valid answer is to the best: ``10 steps, 6 would do``."""
    if "makespan" not in row:
        return "no answer is better" if row["optimal"] else "a better one exists"
    return "no plan is faster" if row["optimal"] else f"{row['makespan']} steps, {row['optimal_makespan']} would do"


def parts_of(row: pd.Series, session: Session) -> str:
    """What the score of a valid answer is made of: ``0.51 = 0.30 for being valid + 0.21 for speed (10 steps, 6 would do).``"""
    valid = Judged("", valid=True).reward(session.spec.training.optimality)
    merit = "speed" if "makespan" in row else "how good it is"
    return f"{number(row['reward'])} = {number(valid)} for being valid + {number(row['reward'] - valid)} for {merit} ({speed_of(row)})."


def first_stage(story: Story) -> Scene:
    """The learning curve up to the stage after which the engineer writes."""
    moment = story.moment
    assert moment.stage is not None
    config = moment.record.config_before if moment.record is not None else moment.session.spec.initial_config
    shares = {cell.share for cell in config.cells.values()}
    end = (moment.stage + 1) * moment.session.spec.training.steps
    curve, n = learning(moment.session, end), overall(ends_of(moment.session)[0]).n
    first, last = (curve["checks"][place]["label"] for place in (0, -1))
    return {
        **curve,
        "kind": "curve",
        "ahead": "still to come",
        "heading": f"It learns on {'equal shares of every kind' if len(shares) == 1 else 'boards that were chosen for it'}",
        "note": f"{config_in_words(config)} {LINE} Points: {moment.session.results_from}, with 95 % intervals.",
        "say": f"This is the share of boards that it solves, {moment.label}. What should it train on next?",
        "more": [
            f"Point at the dots: {first} before training, {last} {moment.label}. Each is measured on the same {n} boards, and the bar "
            "through it is its 95 % interval. The line counts the plans that it writes while it trains, so it jumps about more.",
            f"Point at the empty part: {curve['total'] - end} of the {curve['total']} training steps are still to come. Ask the room "
            "where the curve will end, and let somebody write the guess down.",
        ],
    }


def learning(session: Session, end: int | None = None) -> dict[str, Any]:
    """Valid plans over the training steps up to ``end``, and the results before and after each stage; None: all that there is."""
    steps: list[list[float]] = []
    checks: list[dict[str, Any]] = []
    offset = 0
    for stage in (None, *range(session.spec.stages)):
        if stage is not None:
            measured = session.metrics(stage).reindex(columns=["step", "valid"]).dropna()
            smooth = measured["valid"].rolling(5, min_periods=1).mean()
            steps += [[offset + float(step), float(value)] for step, value in zip(measured["step"], smooth, strict=True)]
            offset += session.spec.training.steps
        results = session.results(stage)
        if results is not None and (end is None or offset <= end):
            rate = overall(results)
            name = "before" if stage is None else stage_name(stage).lower()
            checks.append({"at": offset, "name": name, "rate": rate.value, "low": rate.low, "high": rate.high, "label": rate.percent})
    return {"steps": [step for step in steps if end is None or step[0] <= end], "checks": checks, "total": offset}


def trained_on(story: Story) -> Scene:
    """The config of the stage, and boards that it trained on."""
    moment, view = story.moment, story.view
    drawn = moment.session.environment(moment.stage)
    config = moment.record.config_before if drawn is None else drawn.config  # type: ignore[union-attr]
    return {
        "kind": "boards",
        "heading": "It trains on boards like these",
        "boards": [view.plain([Shown(row, cell_label(str(row["config_cell"])))]) for row in drawn_in(moment.session, moment.stage)],
        "small": True,
        "note": f"{config_in_words(config)} The plans are the model's own.",
        "say": f"These are boards of stage {(moment.stage or 0) + 1}.",
        "more": [
            "Above each stands its kind. The plans are what the model itself wrote while it trained, and the ones that fail stop where "
            "they break the first rule. Let them run once before you go on.",
            "Ask who sees first which agent has to wait, and which plan will not work out. That is all that the model has to find, and it "
            "finds it in words.",
        ],
    }


def drawn_in(session: Session, stage: int | None) -> list[pd.Series]:
    """A few boards that a stage trained on, of different cells; none where they were not recorded."""
    sampled = session.completions(stage) if stage is not None else None
    if sampled is None:
        return []
    boards = sampled.drop_duplicates("board_id")
    first = ~boards.duplicated("config_cell")
    return [row for _, row in pd.concat([boards[first], boards[~first]]).head(BOARDS_SHOWN).iterrows()]


def what_failed(story: Story) -> Scene | None:
    """How many boards of each cell it still fails on after the stage."""
    moment = story.moment
    rows, n, total = moment.validation, int((~moment.validation["valid"]).sum()), len(moment.validation)
    if not n:
        return None
    failed = failures_of(moment)
    rates = {cell: wrong / boards for cell, (wrong, boards) in failed.items()}
    worst = [cell for cell, rate in rates.items() if rate == max(rates.values())]
    kind, outcomes = cell_label(worst[-1]), story.view.family.outcomes
    of_kind = rows[rows["config_cell"] == worst[-1]]
    wrong = of_kind[~of_kind["valid"]]
    usual = str(wrong["outcome"].mode()[0])  # what the engineer reads first
    shown = [[Shown(row, f"one of them, {kind}")] for _, row in wrong[wrong["outcome"] == usual].iterrows()]
    boards = map(story.view.plain, shown)
    seen = next((board for board in boards if any(track["fault"] for track in board.get("tracks", []))), None)
    return {
        "kind": "bars",
        "heading": f"{n} of {total} boards still fail",
        "boards": [seen or story.view.plain(shown[0])],
        "rows": [
            {
                "name": cell_label(cell),
                "part": rates[cell],
                "label": f"{wrong} of {boards}",
                "marked": cell in worst,
            }
            for cell, (wrong, boards) in failed.items()
        ],
        "note": f"Plans that fail on validation boards {moment.label}, by {cells_noun(failed)}. "
        f"{capitalised(story.reader)} reads them next.",
        "say": f"It fails most often on {listed(map(cell_label, worst))}. Is that where it should practise?",
        "more": [
            f"Beside the bars is one of them, {kind}: {outcomes[usual].label}. A plan fails with its first fault, however good "
            f"the rest is. So the other {total - n} hold from the first step to the last.",
            f"Careful: of {kind} we have {len(of_kind)} boards, and the 95 % interval of what it solves there is "
            f"{overall(of_kind).percents}. The engineer has to decide on such numbers. Ask: would you?",
        ],
    }


def failures_of(moment: Moment) -> dict[str, tuple[int, int]]:
    """How many validation boards of each cell it fails on after the stage, and how many there are."""
    by_cell = {str(cell): valid for cell, valid in moment.validation.groupby("config_cell")["valid"]}
    return {cell: (int((~by_cell[cell]).sum()), len(by_cell[cell])) for cell in in_order(by_cell)}


def what_it_read(story: Story) -> Scene | None:
    """The line of evidence that says most, what became of the boards that it speaks of, as bars, and the claim that rests on it."""
    moment = story.moment
    if moment.context is None or not moment.context.lines:
        return None
    cited = {name for claim in claims_of(moment.record) for name in claim.evidence}
    every = list(moment.context.lines)
    known = [line for line in every if line.id in cited] or every
    rank = {claim.cell: place for place, claim in enumerate(foremost(moment))}
    line = min(known, key=lambda line: (line.section != "failures", rank.get(line.cell or "", len(rank))))  # what failed says most
    resting = [claim for claim in claims_of(moment.record) if line.id in claim.evidence and claim.cell == line.cell]
    lit = f"; its claim about {cell_label(line.cell or '')} cites it" if resting else ""
    family = family_of(moment.session.spec.initial_config.family)
    faults = [fault for fault in line.numbers if fault in family.faults]
    n = line.numbers.get("n", 0.0)  # a worked case has none
    named = {"valid": f"{cell_label(line.cell) if line.cell else 'boards'} that still fail"}
    named |= {fault: family.outcomes[fault].label for fault in faults}
    parts = {name: line.numbers[name] for name in named if name in line.numbers}
    if "valid" in parts:
        parts["valid"] = 1 - parts["valid"]  # the stage shows what fails, as the bars of the scene before
    names = "|".join(fault.replace("_", " ") for fault in faults) or "$^"
    text = re.sub(rf"\b({names})(?= \d)", lambda fault: named[fault[0].replace(" ", "_")], line.text)
    text = typeset(text.replace("held-out", "validation"))
    first_fault = re.search(rf"{re.escape(named[faults[0]])} \d+ %", text) if faults else None
    if first_fault is not None and first_fault.end() < len(text):
        text = f"{text[: first_fault.end()]} …"  # the bars say the rest
    said_by = {"valid": r"\d+ %[^,;]* valid"} | {fault: rf"{re.escape(named[fault])} \d+ %" for fault in faults}
    return {
        "kind": "quote",
        "heading": f"{capitalised(story.reader)} reads how it did",
        "text": text,
        "rows": [
            {"name": named[name], "part": part, "label": f"{n * part:.0f} of {n:.0f}", "marked": name == "valid"}
            | {"phrase": phrase[0] if (phrase := re.search(said_by[name], text)) else ""}
            for name, part in parts.items()
            if n
        ],
        "id": line.id,
        "claim": what_followed(resting[0], moment) if resting else "",
        "note": f"{line.id} is one of the {len(every)} lines that it reads, in plain words{lit}.",
        "say": f"It does not see the boards. It reads {len(every)} such lines: what failed, what it was trained on, what it did before.",
        "more": [
            f"Read the line aloud: such words and figures are what it knows of {cell_label(line.cell) if line.cell else 'its training'}. "
            f"Its answer cites {counted(len(cited), 'line')} of the {len(every)}, so that we can look up what a claim rests on.",
            "Ask the room: which figure here would you act on? A fault that is rare may need no practice, and one that is frequent may "
            "be too hard to learn yet. The line does not say which.",
        ],
    }


def what_it_wrote(story: Story) -> Scene:
    """The summary, the claims that are in words of its own, the knobs that move, and boards that the new config draws."""
    moment, view = story.moment, story.view
    record = moment.record
    assert record is not None and moment.stage is not None
    rows = moved_knobs(record)
    configs = (record.config_before, record.config_after)
    was, now = (wall_of(moment.session, stage, config, view) for stage, config in enumerate(configs, moment.stage))
    spoken = is_spoken(moment)
    claims = foremost(moment)[:CLAIMS_SHOWN] if spoken else []
    spoken_of = [None, *(claim.cell for claim in claims)]
    furthest = {row.cell: row for row in reversed(rows)}
    knobs = sorted(rows, key=lambda row: (row.cell not in spoken_of, row is not furthest[row.cell]))  # a claim has its knob beside it
    knobs = knobs[: max(KNOBS_SHOWN, len(furthest))]
    failed = {cell: f"{wrong} of {boards}" for cell, (wrong, boards) in failures_of(moment).items()}
    predicts = sum(claim.expected is not None for claim in claims_of(record))
    return {
        "kind": "writing",
        "heading": "It writes what comes next",
        "summary": "" if record.proposal is None else record.proposal.summary if spoken else summary_of(record.proposal, furthest),
        "claims": [own_words(claim) for claim in claims],
        "knobs": on_stage(knobs, record, failed, spoken_of),
        "was": was,
        "boards": now,
        "mixes": [f"Boards of stage {moment.stage + number}" for number in (1, 2)],
        "note": f"The answer of {story.reader}, {'word for word' if spoken else 'in plain words'}.",
        "say": "A knob moves when its sentence ends, and new boards fall out of them: this is what it trains on now.",
        "more": [
            *(
                f"Point at the knob that moves furthest: {cell_label(row.cell)}, {knob_label(row.knob, record)}, from "
                f"{share(row.before or 0)} to {share(row.after or 0)}. The mark in each bar says where it stood. The boards that fall are "
                "real ones, as many of each kind as the new mix asks for."
                for row in rows[:1]
            ),
            f"Ask who would have turned the knobs like this. {predicts} of its {counted(len(claims_of(record)), 'claim')} "
            f"{'names' if predicts == 1 else 'name'} a figure that it expects, so the next stage can prove it wrong.",
        ],
    }  # fmt: skip


def wall_of(session: Session, stage: int, config: Config, view: View) -> list[dict[str, Any]]:
    """Boards that a stage trained on, as many of each cell as its config mixes, as far as it drew so many; none without a record."""
    sampled = session.completions(stage)
    if sampled is None:
        return []
    total, boards = WALL if view.player.code else BOARDS_SHOWN, sampled.drop_duplicates("board_id")
    counts = dict(zip(config.cells, quotas(total, [cell.share for cell in config.cells.values()]), strict=True))
    mixed = boards.groupby("config_cell").cumcount() < boards["config_cell"].map(counts)
    shown = pd.concat([boards[mixed], boards[~mixed]]).head(total)
    return [view.plain([Shown(row, "")]) for _, row in view.in_order(shown).iterrows()]


def is_spoken(moment: Moment) -> bool:
    """Whether the proposal has words of its engineer's own."""
    record = moment.record
    if record is None or record.engineer in ("human", "api"):
        return record is not None
    return moment.session.spec.language is not None and any(attempt.raw for attempt in record.attempts)


def own_words(claim: Claim) -> str:
    """A claim without the lines that it cites."""
    return typeset(claim.text.replace(f" [{' '.join(claim.evidence)}]", ""))


def summary_of(proposal: Proposal, moved: Iterable[str]) -> str:
    """A summary of ours, its sizes as all scenes call them: ``More often: 3×3, 7×7.`` It calls a cell preserved whose ratios stay, which
    is no news of one that ``moved``."""
    changes, _, _ = proposal.summary.partition(" Preserved on purpose: ")
    kept = ", ".join(cell_label(cell) for cell in proposal.preserved if cell not in set(moved))
    changes = re.sub(r"\bsize ([\d, ]*\d)", lambda sizes: ", ".join(map(cell_label, sizes[1].split(", "))), changes)
    return f"{changes} Preserved on purpose: {kept}." if kept else changes


def moved_knobs(record: ProposalRecord) -> list[KnobRow]:
    """The knobs of the proposal, the one that moves furthest first."""
    moved = [row for row in knob_rows(record) if row.before is not None and row.after is not None and round(row.change, 3)]
    return sorted(moved, key=lambda row: -abs(row.change))


def on_stage(
    knobs: Iterable[KnobRow], record: ProposalRecord, failed: Mapping[str, str], spoken_of: Sequence[str | None]
) -> list[dict[str, Any]]:
    """Knobs as the deck moves them, in the order of the config; ``failed``: what stands beside the share of a cell; ``spoken_of``: the cell
    of each line of the answer, with which its knobs move, those of others with the first."""
    place = in_order(record.config_after.cells)
    return [
        {
            "cell": cell_label(row.cell), "knob": knob_label(row.knob, record),
            "failed": failed.get(row.cell, "") if row.knob == "share" else "",
            "before": row.before, "after": row.after, "line": spoken_of.index(row.cell) if row.cell in spoken_of else 0,
        }
        for row in sorted(knobs, key=lambda row: (row.knob, place.index(row.cell)))
    ]  # fmt: skip


def knob_label(name: str, record: ProposalRecord) -> str:
    knobs = family_of(record.config_after.family).knobs
    return KNOBS_ON_STAGE.get(name) or (knobs[name].label if name in knobs else name)


def what_followed(claim: Claim, moment: Moment) -> str:
    """What rests on the lines that a claim cites: its own words, or the knob of its cell that moved furthest, if one did."""
    assert moment.record is not None
    if is_spoken(moment):
        return own_words(claim)
    for row in moved_knobs(moment.record):
        if row.cell == claim.cell:
            often = "more often" if row.change > 0 else "less often"
            what = often if row.knob == "share" else knob_label(row.knob, moment.record)
            return typeset(f"{cell_label(row.cell)} {what}: {row.before:.0%} → {row.after:.0%}")
    return ""


def solved(story: Story) -> Scene | None:
    """The board of the first scene, before and after."""
    if story.turned is None:
        return None
    before, after, _ = story.turned
    first, last = ends_of(story.session)
    outcomes = story.view.family.outcomes
    return {
        "kind": "boards",
        "heading": "The same board, after training",
        "boards": [story.view.plain([Shown(before, "before training"), Shown(after, after_stages(story))])],
        "note": "Both plans as recorded. An exact solver says what is optimal.",
        "say": "The board of the beginning. Left before training, right after it.",
        "more": [
            f"Then: {outcomes[before['outcome']].label}. Now: {outcomes[after['outcome']].label}. One board proves nothing, and this one "
            "is here because it shows the change well. What the training did to all of them is in the curve.",
            f"And the others? Of {len(first)} boards {len(turned_tasks(first, last))} failed before and are solved in the end; "
            f"{len(turned_tasks(last, first))} went the other way.",
        ],
    }


def after_stages(story: Story) -> str:
    """When the board of the first scene is solved."""
    return f"after {counted(story.session.spec.stages, 'stage')}"


def whole_curve(story: Story) -> Scene:
    """The learning curve of the session, a mark where the config changed, beside the twin that kept its config if there is one."""
    session, twin, gain = story.session, story.twin, story.gain
    was, now = map(overall, ends_of(session))
    scene = learning(session) | {"kind": "curve", "marks": changes_of(session)}
    points = f"{LINE} Points: {session.results_from}, with 95 % intervals."
    if twin is None or gain is None:
        return scene | {
            "heading": "It goes on, with a new mix after each stage",
            "answer": f"{was.percent} of the boards before, {now.percent} after {counted(session.spec.stages, 'stage')}.",
            "note": f"Dashed: the engineer changed the mix. {points}",
            "say": "Each dashed line is a change of what it trains on. Would it have got as far without? This session alone cannot say.",
            "more": [
                f"Point at both ends: {was.percent} and {now.percent}, on the same {now.n} boards. Between them lie the training and every "
                "change of the mix, and the curve shows only what both did together.",
                "Ask how one could tell them apart. A twin with the same seed and as many steps, which keeps its first mix, would: "
                "then the distance of the two curves is what the changes brought.",
            ],
        }
    other = learning(twin)["checks"]
    behind = [own["name"] for own, kept in zip(scene["checks"], other, strict=True) if kept["rate"] > own["rate"]]
    return scene | {
        "kind": "twins",
        "heading": "Was it the redesign?",
        "twin": twin.id,
        "other": {"checks": other},
        "names": ["redesigned", "mix kept"],
        "gain": {"value": gain.value, "low": gain.low, "high": gain.high, "label": gain.signed, "clear": gain.clear}
        | {"ends": [signed(bound, gain.answers) for bound in (gain.low, gain.high)]},
        "answer": f"{gain.points}. {verdict(gain)}",
        "note": f"Dots: {session.results_from}. Bar: 95 % interval over these {gain.n} boards.",
        "say": "Grey is the twin: the same model, seed and steps, and nobody redesigned its boards. "
        f"{f'After {listed(behind)} the twin was ahead. ' if behind else ''}Look at the bar at the right: does it reach the line of no "
        f"difference? {verdict(gain)}",
        "more": [
            f"{now.percent} with it, {overall(ends_of(twin)[1]).percent} without: the difference is {gain.points} on the same {gain.n} "
            "boards. The dashed lines are where the mix changed: only from the first of them on can the two differ by it.",
            "Ask what would make this more certain. More pairs with other seeds: the interval says how far chance goes on these boards, "
            "and nothing of how another training run would end.",
        ],
    }


def other_models(story: Story) -> Scene | None:
    """The question, put to many models: each beside itself with equal shares, and both on a board of what it was taught wrong."""
    won = where_it_can(story.session)
    if won is None:
        return None
    (valid, plans, prediction), taught = by_grpo(), lesson()
    predicted = re.search(r"taught - equal (\S+) points (\(.*?\))", prediction)
    assert predicted, "it was written down before the study ran"
    arms = {"equal": "equal shares", "taught": "its own choice"}
    changes = (valid["taught"] - valid["equal"]).sort_values()
    better = int((changes > 0).sum())
    rest = f"The rest, {percent(1 - taught['tutor'].sum())} of the boards, goes to the other kinds."
    parts = [{"shows": "lesson", "seconds": 7, "note": rest}, {"shows": "duo", "seconds": 5, "note": ""}] if story.view.player.code else []
    return {
        "kind": "pairs",
        "parts": [*parts, {"shows": "models", "seconds": 12}],
        "question": "And with many models?",
        "heading": f"Its own choice wins{'' if 2 * better > won.n else ' only'}: {better} of {won.n} models",
        "lead": "Each was taught something wrong on purpose, and a tutor had taught it to choose.",
        "boards": [view_of(LAKE).plain([Shown(plans.loc[arm], words) for arm, words in arms.items()])] if parts else [],
        "about": f"One of them, where it was taught wrong: {kind_in_words(plans['config_cell'].iloc[0])}",
        "lesson": {
            "about": "The tutor's rule: boards go to what has fallen far below its usual rate, not to all that is low.",
            "kinds": [
                {"name": kind_in_words(cell), "board": view_of(LAKE).plain([Shown(row, "")]), "now": row["now"]}
                | {"usual": row["usual"], "before": row["before"], "after": row["tutor"]}
                for cell, row in taught.iterrows()
            ],
        } if parts else None,
        "rows": changes.tolist(),
        "mean": figure_of(won, "mean"),
        "axis": f"points more than with {arms['equal']}",
        "note": "Each row: a model. Points: of its tasks solved, after one stage each way. Bar: the mean's 95 % interval.",
        "say": "Each of these models was taught something wrong about two kinds of tasks. First its tutor's rule: boards go to what has "
        "fallen, not to what was always low.\nNow you see one model twice, on the same task.\nNow a row is a model: right of zero, its own "
        "choice won.",
        "more": [
            f"The mean is {won.points}; {' '.join(predicted.groups())} was predicted before the study ran. An oracle, which knows what is "
            f"wrong and trains on little else, wins {won_by(ORACLE).points}.",
            f"On the evidence of the first picture the model itself gave the fallen kind {share(taught['own'].iloc[0])} of the boards, the "
            f"rule gives {share(taught['tutor'].iloc[0])}. Ask the room what else they want to see before they believe it: these are small "
            "models, and of larger ones it says nothing.",
        ],
    }  # fmt: skip


def kind_in_words(cell: str) -> str:
    """The boards of a cell that names its team: ``6×6 corridor, 3 agents``."""
    team, _, kind = cell_label(cell).replace("oneway", "one-way").partition(" on ")
    return f"{kind}, {team} agents"


def changes_of(session: Session) -> list[int]:
    """The training steps after which the next stage had another config."""
    steps = session.spec.training.steps
    proposals = ((stage, session.proposal(stage)) for stage in range(session.spec.stages - 1))
    return [(stage + 1) * steps for stage, record in proposals if record is not None and record.changes]


def twin_of(session: Session) -> Session | None:
    """A session that has ended, as this one has, and differs from it in nothing but that its config was kept; None if there is none."""
    if session.spec.engineer.kind == KEPT or session.results(session.spec.stages - 1) is None:
        return None
    own = session.spec.but("title", "engineer")
    for row in SessionStore().listed():
        about = row.glance.about
        if about is None or (about.engineer, about.seed, about.stages) != (KEPT, session.spec.seed, session.spec.stages):
            continue
        with suppress(LabError):
            other = SessionStore().open(row.folder.name)
            if other.spec.but("title", "engineer") == own and other.results(session.spec.stages - 1) is not None:
                return other
    return None


def verdict(gain: Interval) -> str:
    """What the difference between a session and its twin says, in a sentence."""
    if not gain.clear:
        return "One pair of sessions cannot tell that from chance."
    return (
        f"In this pair the redesign {'helped' if gain.value > 0 else 'did harm'}, clear of chance on these boards; another seed may differ."
    )


def closing(story: Story) -> Scene:
    """The answer to the question of the first scene, what was won over not designing, first where that is certain, and a board to play."""
    session, answer = story.session, answer_of(story)
    view, last, about = last_board(story)
    numbers, ends = two_numbers(session), ends_of(session)
    won = {} if (study := where_it_can(session)) is None else {f"{study.n} models that were taught something wrong": study}
    here = {} if story.gain is None else {"here, in one pair of sessions": story.gain}
    compared = dict(sorted((won | here).items(), key=lambda one: not one[1].clear))
    return numbers | {
        "asks": question_of(session),
        "heading": answer,
        "figures": [figure_of(change, what, what_it_did(change)) for what, change in compared.items()],
        "axis": ["worse", "0", "better"],
        "boards": [view.plain([last])] if last is not None and last.row["valid"] and story.view.player.code else [],
        "about": about,
        "plays": {} if last is None else view.address_of(last.row),
        "note": "How many points more it solves with the redesign than without, with 95 % intervals. "
        f"Here: {len(ends[1])} {session.results_from}."
        if compared
        else f"{numbers['note']} {board_by_board(*ends).sentence}",
        "say": " ".join([f"{answer}.", *(capitalised(f"{what}: {what_it_did(change)}.") for what, change in compared.items())]),
        "more": [
            "Point at the line of zero. An interval that keeps clear of it says more than chance does; one that reaches across says that "
            "we do not know. That is why we look at many boards, and at more models than one."
            if compared
            else f"{numbers['before']} before and {numbers['after']} after training: that is what both did together, the training and the "
            "redesign, and nobody can say from it which of them did how much.",
            f"{numbers['before']} → {numbers['after']}: {numbers['note']} What this does not say: whether a larger model would do so, or "
            "one with other tasks. All is on record, board by board, and can be opened in the lab. What would you try next?",
        ],
    }


def last_board(story: Story) -> tuple[View, Shown | None, str]:
    """What the last scene shows and offers to play, and what to call it: the solved board of :func:`other_models`, which was just seen, or
    else that of the first scene."""
    won = where_it_can(story.session)
    if won is not None and story.view.player.code:
        shown = by_grpo()[1].loc["taught"]
        return view_of(LAKE), Shown(shown, ""), f"{kind_in_words(shown['config_cell'])}: one of the {won.n} models, after its own choice"
    if story.turned is not None:
        return story.view, Shown(story.turned[1], ""), f"The first board, {after_stages(story)}"
    return story.view, failing(story), ""


def figure_of(change: Interval, what: str, says: str = "") -> dict[str, Any]:
    """What was won in a comparison, as a row of its figures with an interval."""
    ends = {"came": change.value, "low": change.low, "high": change.high}
    return {"value": change.signed, "bounds": change.bounds, "clear": change.clear, "what": what, "says": says} | ends


def what_it_did(change: Interval) -> str:
    """The verdict on a comparison, in two or three words."""
    return ("it helped" if change.value > 0 else "it did harm") if change.clear else "cannot tell"


def two_numbers(session: Session) -> Scene:
    """The valid rate before training and at the end."""
    was, now = map(overall, ends_of(session))
    return {
        "kind": "numbers",
        "before": was.percent,
        "after": now.percent,
        "what": f"of the boards solved, before and after {counted(session.spec.stages, 'stage')} of training",
        "note": f"95 % intervals {was.percents} and {now.percents}, n = {now.n} {session.results_from}.",
    }


def answer_of(story: Story) -> str:
    """The answer to the question, as far as the study gives one, or else this session and its twin."""
    won, gain = where_it_can(story.session), story.gain
    if won is not None and won.clear:
        return "Yes, once a tutor has taught it to choose" if won.value > 0 else "No, what it chose did harm"
    if gain is not None:
        return f"{capitalised(what_it_did(gain))} in this pair of sessions" if gain.clear else "One pair of sessions cannot tell"
    was, now = map(overall, ends_of(story.session))
    return "It solves no more than before" if now.value <= was.value else "It learned, but one session cannot say why"


def where_it_can(session: Session) -> Interval | None:
    """What the lab model's engineer won by GRPO on models that were taught something wrong, in the study that ships; None for others."""
    if session.spec.language is not None or session.spec.engineer.kind != "policy":
        return None
    return won_by("taught")


def won_by(arm: str) -> Interval:
    """What an arm of that study won over equal shares."""
    won = won_by_grpo()[arm]
    return Interval(won.mean, won.low, won.high, won.n, "student")


def live_scene(session: Session) -> Scene:
    """A session that trains, on one screen: its newest plan, before there is one a fault of the untrained model, and its curve; at the end
    its two numbers too."""
    state, view = session.state(), view_of(session.spec.tasks)
    scene: Scene = {"name": "live", "seconds": 0, "heading": "Can it learn while we watch?", "say": SAID_LIVE}
    scene |= learning(session) | {"marks": changes_of(session)}
    if state.status == "done":
        numbers = two_numbers(session)
        return scene | numbers | {"note": f"{numbers['note']} {LINE}"}
    sampled = (session.completions(stage) for stage in range(state.stage, -1, -1))
    newest = next((table.iloc[-1] for table in sampled if table is not None and len(table)), None)
    shown = first_fault(session, view) if newest is None else Shown(newest, f"from training step {int(newest['training_step'])}")
    note = f"{LINE} Points: {session.suite} boards, 95 % intervals."
    ahead = "" if not state.live else "still to come" if scene["checks"] else "first it is measured untrained"
    return (
        scene
        | {"kind": "live", "boards": [] if shown is None else [view.plain([shown])], "ahead": ahead, "note": note}
        | {"wrote": newest_redesign(session)}
    )


def newest_redesign(session: Session) -> dict[str, Any] | None:
    """What the engineer changed last, as the deck writes it; None before it has changed anything."""
    for stage in range(session.spec.stages - 2, -1, -1):
        record = session.proposal(stage)
        if record is not None and (rows := moved_knobs(record)[:KNOBS_SHOWN]):
            return {
                "summary": f"After {stage_name(stage).lower()} the engineer wrote a new mix",
                "knobs": on_stage(rows, record, failed={}, spoken_of=[]),
            }
    return None


def what_came(story: Story) -> Scene | None:
    """Each prediction and what the next stage brought, on one axis."""
    moment = story.moment
    outcomes = predictions_of(moment.outcomes)
    if not outcomes:
        return None
    said = was_it_right(moment.outcomes, moment.record.config_before.cells if moment.record else ())
    rows = [foretold(cell_label(one.claim.cell), one.predicted, one.measured) for one in outcomes]
    within = sum(row["low"] <= row["predicted"] <= row["high"] for row in rows)
    return {
        "kind": "outcomes",
        "heading": "It said what to expect. What came?",
        "rows": rows,
        "answer": said,
        "note": "Change of the valid rate in points on the same boards after one more stage, with 95 % intervals. Hollow: its prediction.",
        "say": said,
        "more": [
            "The hollow circle is what it said, the dot is what came, and the bar is the 95 % interval of that. Only where the bar keeps "
            "clear of zero do we know that anything changed at all.",
            f"{within} of {counted(len(outcomes), 'prediction')} {'lies' if within == 1 else 'lie'} within the interval of what came. "
            "That is less than being right: a wide interval is easy to hit. Ask how one could test it harder.",
        ],
    }


def foretold(name: str, predicted: float | None, came: Interval | None) -> dict[str, Any]:
    """A prediction and what came, as a row."""
    assert predicted is not None and came is not None, "it has been tested"
    return {"name": name, "predicted": predicted, "came": came.value, "low": came.low, "high": came.high, "label": came.signed}


PARTS = (
    Part("opening", "The question, and a failed board", opening, 13),
    Part("tries", "It tries one board many times", tries, 13),
    Part("curve", "The curve of the first stage", first_stage, 9),
    Part("boards", "What it trains on", trained_on, 10, usual=False),
    Part("failed", "What still fails", what_failed, 14),
    Part("read", "What the engineer reads", what_it_read, 11),
    Part("wrote", "What it writes, and new boards", what_it_wrote, 16),
    Part("came", "What it expected, and what came", what_came, 12, usual=False),
    Part("solved", "The same board, solved", solved, 11),
    Part("whole", "The whole curve, beside a twin", whole_curve, 13),
    Part("models", "Many models, taught wrong first", other_models, 24),
    Part("closing", "The answer", closing, 12),
)
"""All scenes, in the order of the story."""


def ends_of(session: Session) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The results before training and after the last measured stage. There is one at least."""
    first, *rest = [table for stage in (None, *range(session.spec.stages)) if (table := session.results(stage)) is not None]
    return first, rest[-1] if rest else first


def claims_of(record: ProposalRecord | None) -> list[Any]:
    return [] if record is None else list(record.claims)


def foremost(moment: Moment) -> list[Claim]:
    """The claims, those that predict most first; of two that predict as much, that of the cell whose knobs move further."""
    moved: dict[str, float] = {}
    for row in [] if moment.record is None else knob_rows(moment.record):
        moved[row.cell] = moved.get(row.cell, 0.0) + abs(row.change)
    tellings = sorted(moment.outcomes, key=lambda one: (-round(abs(one.predicted or 0.0), 3), -moved.get(one.claim.cell, 0.0)))
    return [outcome.claim for outcome in tellings]


def config_in_words(config: Config) -> str:
    """The shares of the cells: ``4×4: 30 %, 6×6: 70 % of the boards.``"""
    shares = {cell_label(name): share(config.cells[name].share) for name in in_order(config.cells)}
    if len(shares) > 1 and len(set(shares.values())) == 1:
        first, *_, last = shares
        return f"All {cells_noun(config.cells)}s from {first} to {last}, equally often."
    words = ", ".join(f"{name}: {share}" for name, share in shares.items())
    return f"{capitalised(words)} of the boards."


def chosen(scenes: Iterable[Scene], names: Sequence[str]) -> list[Scene]:
    """The scenes of these names that there are, in this order, but a speaker's own without words; the usual ones where none is left. Raises
    TalkError for a name that is none."""
    by_name = {scene["name"]: scene for scene in scenes}
    if unknown := [name for name in names if name not in NAMES and name not in by_name]:
        raise TalkError(f"there is no scene {', '.join(unknown)}; choose from {', '.join(NAMES)}")
    told = [name for name in names if name not in by_name or not is_empty(by_name[name])]
    return [by_name[name] for name in told or USUAL if name in by_name]


def is_empty(scene: Scene) -> bool:
    """Whether it is a speaker's own scene that has no words yet."""
    return scene["kind"] == "words" and not f"{scene['heading']}{scene['text']}".strip()


def scenes_for(session: Session, preparation: Preparation) -> list[Scene]:
    """Every scene that a speaker can show: those of the session and the speaker's own. The speaker's title is the question: the first scene
    asks it, and the last one repeats it. Raises TalkError as :func:`scenes_of` does."""
    made = kept_scenes(session, preparation.stage, preparation.board)
    place = {"opening": "heading", "closing": "asks"} if preparation.title else {}
    titled = [scene | {place[scene["name"]]: preparation.title} if scene["name"] in place else scene for scene in made]
    draws = bool(view_of(session.spec.tasks).player.code)
    return titled + [own_scene(name, words, draws) for name, words in preparation.own.items()]


def own_scene(name: str, words: Words, draws: bool = True) -> Scene:
    """A scene of a speaker's own; where the deck ``draws`` boards, a line with a link to a board of Play is that board."""
    about = {"name": name, "kind": "words", "title": "Your own scene", "seconds": 12, "say": "", "note": ""}
    boards = linked_boards(words.text) if draws else []
    return about | {"heading": words.heading.replace("**", ""), "text": words.text, "boards": boards}


def linked_boards(text: str) -> list[dict[str, Any]]:
    """The board of the first link to one, with the exact solver's plan if it finds one at once; none without such a link."""
    linked = LINK.search(text)
    if linked is None:
        return []
    with suppress(BoardError):  # the words stay words
        board = decode(linked[1])
        plan = solution_of(linked[1], False).plan if is_quick(board) else None
        return [played(board, [] if plan is None else [Track("", *followed(board, plan, None))])]
    return []


def recorded(found: Iterable[Session]) -> Session | None:
    """The first of the sessions that has a story, recorded ones before all others."""
    for session in sorted(found, key=lambda one: not one.read_only):
        try:
            kept_scenes(session)
        except TalkError:
            continue
        return session
    return None


def kept_scenes(session: Session, stage: int | None = None, board: str = "") -> list[Scene]:
    """Made once as long as the session's files stay as they are. Raises TalkError as :func:`scenes_of` does."""
    twin = twin_of(session)
    of = (session.revision(), session.state().status, stage, board, None if twin is None else twin.address)
    return once(lambda: scenes_of(session, stage, board, twin), "talk scenes", *of)


MOST_OWN = 9
OwnName = Annotated[str, Field(pattern=r"^own-[1-9]$")]
NAMES = tuple(part.name for part in PARTS)
USUAL = tuple(part.name for part in PARTS if part.usual)


class Words(Strict):
    """A scene of a speaker's own: words only."""

    heading: Annotated[str, Field(max_length=200)] = ""
    text: Annotated[str, Field(max_length=600)] = ""


class Preparation(Strict):
    """``talks/<session>.json``."""

    schema_version: Literal[1] = 1
    scenes: tuple[str, ...] = USUAL
    """Names of the scenes, in their order."""
    notes: dict[str, Annotated[str, Field(max_length=LONGEST_NOTE)]] = Field(default_factory=dict)
    """Scene name -> what the speaker wants to say, where that is not what the lab suggests."""
    minutes: Annotated[int, Field(ge=1, le=120)] = 5
    """How long the talk is."""
    title: Annotated[str, Field(max_length=200)] = ""
    """In place of the question of the first scene."""
    stage: int | None = None
    """The stage (0-based) after which the change was proposed; None: the first."""
    board: Annotated[str, Field(max_length=200)] = ""
    """The id of the board of the first scene; empty: the one that shows most."""
    own: dict[OwnName, Words] = Field(default_factory=dict, max_length=MOST_OWN)
    """The speaker's own scenes by name."""


def file_of(session: Session, store: SessionStore) -> Path:
    """Recorded sessions cannot be changed, so it is not in the session's folder."""
    return store.root / TALKS / f"{session.address.replace('/', '.')}.json"


def prepared(session: Session, store: SessionStore) -> Preparation:
    """What was prepared for the session; the whole story without notes if that is nothing, or cannot be read."""
    path = file_of(session, store)
    try:
        found = Preparation.model_validate_json(read_text(regular(path))) if path.exists() else Preparation()
    except (ValidationError, OSError, ValueError):
        return Preparation()
    known = tuple(name for name in found.scenes if name in NAMES or name in found.own)  # an older version had others
    return found.model_copy(update={"scenes": known}) if known else Preparation(notes=found.notes)


def prepare(session: Session, store: SessionStore, preparation: Preparation) -> None:
    path = file_of(session, store)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, preparation.model_dump_json(indent=1))
