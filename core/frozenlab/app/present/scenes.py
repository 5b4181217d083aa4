"""The scenes of a talk, made of a session's records: what failed, what it trained on, what it read and wrote, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pandas as pd
from pydantic import Field, ValidationError

from frozenlab.app.session.claims import predictions_of, was_it_right
from frozenlab.app.session.curves import board_by_board
from frozenlab.app.session.proposals import knob_rows, what_changed
from frozenlab.app.story.moment import Moment, first_judged, moment_of
from frozenlab.app.ui.figures import overall
from frozenlab.app.ui.once import once
from frozenlab.app.views.view import Shown, View
from frozenlab.app.views.views import view_of
from frozenlab.base.cells import Config, in_order
from frozenlab.base.errors import LabError
from frozenlab.base.files import read_text, regular, write_text
from frozenlab.base.numbers import share, typeset
from frozenlab.base.places import TALKS
from frozenlab.base.schemas import Strict
from frozenlab.engineer.engineers import who_is
from frozenlab.engineer.schema import ProposalRecord
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore
from frozenlab.tasks.families import cell_label, family_of

Scene = dict[str, Any]
"""What the deck shows on one screen: its ``kind``, ``name``, ``heading`` and ``note``, and what the kind needs."""
BOARDS_SHOWN = 3
"""Boards of the scenes that show what it trains on and what failed."""
EVIDENCE_SHOWN, CLAIMS_SHOWN, KNOBS_SHOWN = 5, 3, 9
"""What can be read from the last row of a room."""
SHOWN_WORDS = {1: "This is one of them.", 2: "These are two of them, of two kinds.", 3: "These are three of them, of three kinds."}
"""How many boards a scene shows of those that failed."""
LONGEST_NOTE = 4000


class TalkError(LabError, ValueError):
    """A session has no story yet."""


class Part(NamedTuple):
    """A scene that a talk may have."""

    name: str
    title: str
    make: Callable[[Moment, View], Scene | None]


def scenes_of(session: Session) -> list[Scene]:
    """The scenes of the session's first change that was tested, in their order.

    Raises:
        TalkError: no stage has tested a proposal yet.
    """
    stage = first_judged(session, session.state())
    moment = None if stage is None else moment_of(session, stage)
    if moment is None or moment.record is None or moment.before is None:
        raise TalkError(f"no stage of {session.id} has tested a change of its engineer yet, so there is no story to tell")
    view = view_of(session.spec.tasks)
    made = ((part, part.make(moment, view)) for part in PARTS)
    return [{"name": part.name, **scene} for part, scene in made if scene is not None]


def opening(moment: Moment, view: View) -> Scene:
    """The result of the whole session as two numbers."""
    session = moment.session
    first, last = ends_of(session)
    was, now, change = overall(first), overall(last), board_by_board(first, last)
    return {
        "kind": "numbers",
        "heading": "Can a model design what it learns from?",
        "lead": f"{view.idea} After each stage of training, {who_is(session.spec.engineer.kind)} chooses what it trains on next.",
        "before": was.percent,
        "after": now.percent,
        "what": f"of the boards are solved before, and after {session.spec.stages} stages of training",
        "note": f"95 % intervals {was.percents} and {now.percents}, n = {now.n} {session.results_from}. {change.sentence}",
    }


def first_failure(moment: Moment, view: View) -> Scene | None:
    """A board that the base fails on and the last checkpoint solves."""
    turned = view.turned(moment.session)
    if turned is None:
        return None
    return {
        "kind": "boards",
        "heading": "It fails here",
        "boards": [view.plain([Shown(turned[0], "before training")])],
        "note": "The model writes the whole plan at once, word by word. Nothing checks it while it writes.",
    }


def trained_on(moment: Moment, view: View) -> Scene:
    """The config of the stage, and boards that it trained on."""
    drawn = moment.session.environment(moment.stage)
    config = moment.record.config_before if drawn is None else drawn.config  # type: ignore[union-attr]
    sampled = moment.session.completions(moment.stage) if moment.stage is not None else None
    rows = [] if sampled is None else [row for _, row in several_kinds(sampled.drop_duplicates("board_id")).iterrows()]
    return {
        "kind": "boards",
        "heading": "It trains on boards like these",
        "boards": [view.plain([Shown(row, cell_label(str(row["config_cell"])))]) for row in rows],
        "small": True,
        "note": f"{config_in_words(config)} Several plans are sampled for each board, and the better ones become likelier.",
    }


def several_kinds(sampled: pd.DataFrame) -> pd.DataFrame:
    """A few of these rows, of different cells where there are some."""
    first = ~sampled.duplicated("config_cell")
    return pd.concat([sampled[first], sampled[~first]]).head(BOARDS_SHOWN)


def curve(moment: Moment, view: View) -> Scene:
    """Valid plans over the steps of all stages, and the validations between them."""
    session = moment.session
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
        if results is not None:
            rate = overall(results)
            checks.append({"at": offset, "rate": rate.value, "low": rate.low, "high": rate.high, "label": rate.percent})
    return {
        "kind": "curve",
        "heading": "It learns",
        "steps": steps,
        "checks": checks,
        "total": offset,
        "note": "The line: valid plans while it trains, a running mean over five steps. "
        f"The points: {session.results_from}, with 95 % intervals.",
    }


def what_failed(moment: Moment, view: View) -> Scene | None:
    """Boards that it still fails on after the stage, of different kinds of faults."""
    failed = moment.validation[~moment.validation["valid"]]
    rows = view.in_order(failed).drop_duplicates("outcome").head(BOARDS_SHOWN)
    if rows.empty:
        return None
    n, total = len(failed), len(moment.validation)
    return {
        "kind": "boards",
        "heading": "What still goes wrong",
        "boards": [view.plain([Shown(row, cell_label(str(row["config_cell"])))]) for _, row in rows.iterrows()],
        "small": True,
        "note": f"{n} of {total} plans on held-out boards fail {moment.label}. {SHOWN_WORDS[len(rows)]}",
    }


def what_it_read(moment: Moment, view: View) -> Scene | None:
    """The lines of evidence, those that the proposal cites lit up."""
    if moment.context is None:
        return None
    cited = {name for claim in claims_of(moment.record) for name in claim.evidence}
    every = list(moment.context.lines)
    known = [line for line in every if line.id in cited] or every
    moved = moves(moment.record)
    ranked = sorted(known, key=lambda line: (line.section != "failures", -moved.get(line.cell or "", 0.0)))  # what failed says most
    first = ranked[:EVIDENCE_SHOWN]
    shown = [line for line in every if line in first]
    return {
        "kind": "evidence",
        "heading": "What it reads",
        "lines": [{"id": line.id, "text": typeset(line.text), "cited": line.id in cited} for line in shown],
        "note": f"{len(shown)} of the {len(every)} lines; lit are those that its answer cites. It reads nothing else.",
    }


def what_it_wrote(moment: Moment, view: View) -> Scene:
    """The summary and the claims, beside the knobs that move."""
    record = moment.record
    assert record is not None
    knobs = family_of(record.config_after.family).knobs
    rows = [row for row in knob_rows(record) if row.before is not None and row.after is not None and round(row.change, 3)]
    moved = moves(record)
    return {
        "kind": "writing",
        "heading": "What it writes",
        "summary": "" if record.proposal is None else record.proposal.summary,
        "claims": [
            typeset(claim.text)
            for claim in sorted(claims_of(record), key=lambda claim: -moved.get(claim.cell, 0.0))[:CLAIMS_SHOWN]
        ],
        "knobs": [
            {
                "cell": cell_label(row.cell), "knob": knobs[row.knob].label if row.knob in knobs else row.knob,
                "before": row.before, "after": row.after,
            }
            for row in rows
        ][:KNOBS_SHOWN],
        "note": f"The engineer's own words, the lines that it cites in brackets; {who_is(record.engineer)} {what_changed(record)}.",
    }  # fmt: skip


def solved(moment: Moment, view: View) -> Scene | None:
    """The board of the first scene, before and after."""
    turned = view.turned(moment.session)
    if turned is None:
        return None
    before, after, _ = turned
    stages = moment.session.spec.stages
    return {
        "kind": "boards",
        "heading": "The same board, after training",
        "boards": [view.plain([Shown(before, "before training"), Shown(after, f"after {stages} stages")])],
        "note": "Both plans are as they were recorded; the exact solver says what is optimal.",
    }


def what_came(moment: Moment, view: View) -> Scene:
    """Each prediction and what the next stage brought."""
    outcomes = predictions_of(moment.outcomes)
    return {
        "kind": "outcomes",
        "heading": "Was it right?",
        "rows": [
            {
                "cell": cell_label(outcome.claim.cell),
                "predicted": outcome.said,
                "came": "–" if outcome.measured is None else outcome.measured.signed,
                "interval": "" if outcome.measured is None else outcome.measured.bounds,
                "n": 0 if outcome.measured is None else outcome.measured.n,
            }
            for outcome in outcomes
        ],
        "answer": was_it_right(moment.outcomes, moment.record.config_before.cells if moment.record else ()),
        "note": "Change of the valid rate in points on the same boards, with 95 % intervals, after one more stage.",
    }


PARTS = (
    Part("opening", "The question, and the result", opening),
    Part("failure", "A board that it fails on", first_failure),
    Part("boards", "What it trains on", trained_on),
    Part("curve", "The learning curve", curve),
    Part("failed", "What still fails", what_failed),
    Part("read", "What the engineer reads", what_it_read),
    Part("wrote", "What it writes", what_it_wrote),
    Part("solved", "The same board, solved", solved),
    Part("came", "What it expected, and what came", what_came),
)
"""All scenes, in the order of the story."""


def ends_of(session: Session) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The results before training and after the last measured stage."""
    first, *rest = [table for stage in (None, *range(session.spec.stages)) if (table := session.results(stage)) is not None]
    return first, rest[-1] if rest else first


def claims_of(record: ProposalRecord | None) -> list[Any]:
    return [] if record is None else list(record.claims)


def moves(record: ProposalRecord | None) -> dict[str, float]:
    """Cell -> how far the proposal moved its knobs, added up."""
    moved: dict[str, float] = {}
    for row in [] if record is None else knob_rows(record):
        moved[row.cell] = moved.get(row.cell, 0.0) + abs(row.change)
    return moved


def config_in_words(config: Config) -> str:
    """The shares of the cells: ``4×4: 30 %, 6×6: 70 % of the boards.``"""
    shares = {cell_label(name): share(config.cells[name].share) for name in in_order(config.cells)}
    if len(shares) > 1 and len(set(shares.values())) == 1:
        first, *_, last = shares
        return f"{first[0].upper()}{first[1:]} to {last}, equally often."
    words = ", ".join(f"{name}: {share}" for name, share in shares.items())
    return f"{words[0].upper()}{words[1:]} of the boards."


def chosen(scenes: list[Scene], names: list[str]) -> Iterator[Scene]:
    """The scenes of these names, in this order; all of them for no names."""
    by_name = {scene["name"]: scene for scene in scenes}
    unknown = [name for name in names if name not in {part.name for part in PARTS}]
    if unknown:
        raise TalkError(f"there is no scene {', '.join(unknown)}; choose from {', '.join(part.name for part in PARTS)}")
    yield from scenes if not names else (by_name[name] for name in names if name in by_name)


def recorded(found: Iterable[Session]) -> Session | None:
    """The first of the sessions that has a story, recorded ones before all others."""
    for session in sorted(found, key=lambda one: not one.read_only):
        try:
            kept_scenes(session)
        except TalkError:
            continue
        return session
    return None


def kept_scenes(session: Session) -> list[Scene]:
    """Made once as long as the session's files stay as they are. Raises TalkError as :func:`scenes_of` does."""
    return once(lambda: scenes_of(session), "talk scenes", session.revision(), session.state().status)


NAMES = tuple(part.name for part in PARTS)


class Preparation(Strict):
    """``talks/<session>.json``."""

    schema_version: Literal[1] = 1
    scenes: tuple[str, ...] = NAMES
    """Names of the scenes, in their order."""
    notes: dict[str, str] = Field(default_factory=dict)
    """Scene name -> what the speaker wants to say."""


def file_of(session: Session, store: SessionStore) -> Path:
    """Recorded sessions cannot be changed, so it is not in the session's folder."""
    return store.root / TALKS / f"{session.address.replace('/', '.')}.json"


def prepared(session: Session, store: SessionStore) -> Preparation:
    """What was prepared for the session; the whole story without notes if that is nothing, or cannot be read."""
    path = file_of(session, store)
    try:
        return Preparation.model_validate_json(read_text(regular(path))) if path.exists() else Preparation()
    except (ValidationError, OSError, ValueError):
        return Preparation()


def prepare(session: Session, store: SessionStore, preparation: Preparation) -> None:
    path = file_of(session, store)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, preparation.model_dump_json(indent=1))
