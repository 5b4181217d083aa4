"""What a session's records say in words and rows: pure functions behind Home, Train and Story."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import pandas as pd

from frozenlab.engineer.schema import Claim, EngineerName, ProposalRecord, Repair
from frozenlab.engineer.sentences import listed
from frozenlab.intervals import paired_change
from frozenlab.lake.config import KNOBS, LAYOUTS, SCATTER, EnvironmentConfig, Layout, Placement, WaitDefinition
from frozenlab.loop.ledger import Accuracy
from frozenlab.ui.board import Track
from frozenlab.ui.choices import recorded

KNOB_LABELS: dict[str, str] = {"share": "share", "hole_ratio": "hole ratio", "wait_ratio": "wait ratio"}
KNOB_HELP = {
    "share": "Part of all training boards that have this map size; the shares sum to 100 %.",
    "hole_ratio": "Part of the cells that are holes.",
    "wait_ratio": "Part of the boards that cannot be solved optimally without some agent waiting: the density of conflicts.",
}
LAYOUT_WORDS: dict[Layout, str] = {
    "scatter": "anywhere, by chance",
    "rooms": "a door between neighbours",
    "corridor": "one-wide aisles, open at the ends",
    "bottleneck": "walls across, with one gap or two",
    "maze": "winding ways with dead ends",
    "open": "around one open field",
}
MUST_WAIT_IF: dict[WaitDefinition, str] = {"makespan": "every quickest plan has a WAIT", "sum_of_costs": "every cheapest plan has a WAIT"}
WAIT_HELP = (
    "Quickest: the fewest steps until all have arrived (the makespan; the paper's). Cheapest: the least sum of costs, which counts for "
    "each agent the steps until it has arrived for good; then a WAIT counts that comes before the arrival."
)
STARTS_AND_GOALS: dict[Placement, str] = {"uniform": "anywhere", "connected": "agent by agent, within reach"}
PLACEMENT_HELP = (
    "Anywhere on the frozen cells; a board without a solution is drawn anew, holes and all (the paper's). Or each agent's start and goal "
    "within connected cells, as POGEMA does, which favours boards with isolated pockets."
)
WHO: dict[EngineerName, str] = {
    "policy": "the model itself",
    "base": "the model before any training",
    "api": "a model behind an API",
    "rules": "the rules engineer",
    "bandit": "the bandit",
    "uniform": "the uniform baseline",
    "random": "the random baseline",
    "fixed": "the fixed baseline",
    "human": "a person",
}
"""Engineers in the middle of a sentence."""
CLEAR = 0.05
"""A paired change is called clear below this p value."""


# --- results ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BoardByBoard:
    """How two validations differ on the boards that both hold."""

    n: int
    gained: int
    """Boards that fail before and hold after."""
    lost: int
    before: float
    after: float
    p: float
    """Two-sided exact McNemar test (Dwass 1957 form: gained against lost is a fair coin)."""

    @property
    def sentence(self) -> str:
        """``On the same 120 boards it gained 22 and lost 9: more than chance explains (p = 0.03).``"""
        what = "more than chance explains" if self.p < CLEAR else "chance could explain that"
        shown = "p < 0.001" if self.p < 0.001 else f"p = {self.p:.2g}"
        return f"On the same {self.n} boards it gained {self.gained} and lost {self.lost}: {what} ({shown})."


def board_by_board(before: pd.DataFrame, after: pd.DataFrame, column: str = "valid") -> BoardByBoard:
    """Compares two validations board by board; boards that only one of them holds are left out."""
    both = before[["board_id", column]].merge(after[["board_id", column]], on="board_id", suffixes=("_before", "_after"))
    old, new = both[f"{column}_before"].astype(bool), both[f"{column}_after"].astype(bool)
    gained, lost = int((~old & new).sum()), int((old & ~new).sum())
    n = len(both)
    return BoardByBoard(n, gained, lost, float(old.mean()) if n else 0.0, float(new.mean()) if n else 0.0, sign_test(gained, lost))


def sign_test(wins: int, losses: int) -> float:
    """Two-sided p value of ``wins`` against ``losses`` under a fair coin; 1 where nothing differs."""
    n = wins + losses
    tail = sum(comb(n, k) for k in range(min(wins, losses) + 1)) / 2**n
    return min(1.0, 2 * tail)


def points(change: float) -> str:
    """A change of a rate, signed, in percentage points: ``+9 points``."""
    return f"{100 * change:+.0f} points".replace("-", "\N{MINUS SIGN}")


# --- what the engineer did -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class KnobRow:
    """One knob of one map size, or the part of its boards that have a layout, before and after a proposal."""

    size: int
    knob: str
    before: float | None
    after: float | None
    repair: Repair | None

    @property
    def change(self) -> float:
        return 0.0 if self.before is None or self.after is None else self.after - self.before

    @property
    def words(self) -> str:
        """The change as a sign and a word, never a colour alone: ``+10 up``."""
        if self.before is None or self.after is None:
            return "new" if self.before is None else "gone"
        rounded = round(100 * self.change, 1)
        if rounded == 0:
            return "same"
        amount = f"{rounded:+g}".replace("-", "\N{MINUS SIGN}")
        return f"{amount} {'up' if rounded > 0 else 'down'}"


def knob_rows(record: ProposalRecord) -> list[KnobRow]:
    """Every knob of every size in both configs, and its layouts where they are not all scatter, ordered by size; the guard's last repair
    of a knob stands with it."""
    return config_rows(record.config_before, record.config_after, record.guard.repairs)


def config_rows(before: EnvironmentConfig, after: EnvironmentConfig, repairs: Sequence[Repair] = ()) -> list[KnobRow]:
    mended: dict[tuple[int, str], Repair] = {(repair.size, repair.knob): repair for repair in repairs}
    rows = []
    for size in sorted({*before.sizes, *after.sizes}):
        old, new = ({} if size not in config.sizes else config.sizes[size].settings() for config in (before, after))
        told = {layout for layout in LAYOUTS if layout in old or layout in new or (size, layout) in mended}
        layouts = [layout for layout in LAYOUTS if layout in told] if told != set(SCATTER) else []
        rows += [KnobRow(size, knob, old.get(knob), new.get(knob), mended.get((size, knob))) for knob in KNOBS]
        rows += [KnobRow(size, layout, old.get(layout, 0.0), new.get(layout, 0.0), mended.get((size, layout))) for layout in layouts]
    return rows


def what_changed(record: ProposalRecord) -> str:
    """The proposal's effect in one sentence of the app: which ratios of which sizes moved, and whether shares did."""
    if record.kept_because is not None:
        return "gave no answer that could be used, and the previous config was kept"
    rows = knob_rows(record)
    parts = []
    for knob in ("hole_ratio", "wait_ratio"):
        for word, sign in (("raised", 1), ("lowered", -1)):
            sizes = [row.size for row in rows if row.knob == knob and round(row.change * sign, 4) > 0]
            if sizes:
                parts.append(f"{word} the {KNOB_LABELS[knob]} of {_sizes(sizes)}")
    for layout in LAYOUTS:
        sizes = [row.size for row in rows if row.knob == layout and row.change > 0.005]
        if sizes:
            parts.append(f"put more boards of {_sizes(sizes)} in the layout {layout}")
    shares = sorted((row for row in rows if row.knob == "share"), key=lambda row: row.change)
    if shares and shares[-1].change > 0.005:
        parts.append(f"gave more boards to {_sizes([row.size for row in shares if row.change > 0.005])}")
    if not parts:
        return "kept the config as it was"
    return listed(parts)


def _sizes(sizes: Sequence[int]) -> str:
    return listed([f"{size}×{size}" for size in sizes])


@dataclass(frozen=True)
class Change:
    """How a rate moved on the same boards, with its 95 % interval."""

    value: float
    low: float
    high: float
    n: int

    @property
    def interval(self) -> str:
        return f"{signed(self.low)} to {signed(self.high)}"


@dataclass(frozen=True)
class ClaimOutcome:
    """A claim, the change that it predicts for its map size, and the change that the next stage brought there."""

    claim: Claim
    predicted: float | None
    """Expected valid rate less the present one; None if it names no number."""
    measured: Change | None = None
    """None as long as no next stage has been validated."""

    @property
    def off(self) -> float | None:
        """Predicted less measured change."""
        return None if self.predicted is None or self.measured is None else self.predicted - self.measured.value


def claim_outcomes(
    claims: Sequence[Claim], now: pd.DataFrame | None, following: pd.DataFrame | None, read: pd.DataFrame | None = None
) -> list[ClaimOutcome]:
    """Puts each claim beside the results ``now``, when it was made, and those after the next stage, each None if there are none. ``read``
    is the validation that the engineer read, from which the predicted change counts; None: it is ``now``."""
    return [_claim_outcome(claim, now, following, now if read is None else read) for claim in claims]


def _claim_outcome(claim: Claim, now: pd.DataFrame | None, following: pd.DataFrame | None, read: pd.DataFrame | None) -> ClaimOutcome:
    before, after, known = (None if table is None else table[table["size"] == claim.size] for table in (now, following, read))
    rate = claim.now if known is None or known.empty else float(known["valid"].mean())
    predicted = None if claim.expected is None or rate is None else claim.expected - rate
    if before is None or after is None or not before["board_id"].isin(after["board_id"]).any():
        return ClaimOutcome(claim, predicted)
    return ClaimOutcome(claim, predicted, Change(*paired_change(before, after)))


def predictions_of(outcomes: Sequence[ClaimOutcome]) -> list[ClaimOutcome]:
    """Those that name a number which has been tested, one a map size: where it has several claims the last counts."""
    by_size = {outcome.claim.size: outcome for outcome in outcomes if outcome.off is not None}
    return [by_size[size] for size in sorted(by_size)]


def judgement(outcomes: Sequence[ClaimOutcome]) -> Accuracy | None:
    """How a proposal's predictions fared over all map sizes that it names; None if none of them has been tested."""
    tested = predictions_of(outcomes)
    said = [outcome.predicted for outcome in tested if outcome.predicted is not None]
    came = [outcome.measured.value for outcome in tested if outcome.measured is not None]
    return Accuracy.of(said, came) if tested else None


def signed(change: float) -> str:
    """A change of a rate in points, with its sign: ``+4.5``."""
    return f"{100 * change:+.1f}".replace("-", "\N{MINUS SIGN}").replace("+0.0", "0.0").replace("\N{MINUS SIGN}0.0", "0.0")


def was_it_right(outcomes: Sequence[ClaimOutcome]) -> str:
    """What was predicted and what came: ``It predicted +4.5 points of valid plans; +1.7 came.``"""
    told = judgement(outcomes)
    if told is None:
        return "It predicted no numbers." if all(outcome.predicted is None for outcome in outcomes) else "No stage has tested that yet."
    return f"It predicted {signed(told.predicted)} points of valid plans; {signed(told.measured)} came."


# --- boards ----------------------------------------------------------------------------------------------------------


def answer_of(row: pd.Series, label: str) -> Track:
    """What the model did on the board of one row of a validation or completions table, with the verdict on record."""
    answer = recorded(row, label)
    return Track(label, answer.paths, answer.verdict)


def showcase(before: pd.DataFrame, after: pd.DataFrame) -> str | None:
    """The id of a board that shows best what training did: it failed visibly before and is solved optimally after.

    Prefers collisions and broken ice over plans that merely stop short, boards that need a wait, and boards of a size that reads well.
    """
    columns = ["board_id", "size", "agents", "needs_wait", "outcome"]
    both = before[columns].merge(after[["board_id", "outcome"]], on="board_id", suffixes=("", "_after"))
    turned = both[
        (both["outcome_after"] == "optimal") & ~both["outcome"].isin(["optimal", "suboptimal", "parse_error", "truncated", "missing_agent"])
    ]
    if turned.empty:
        return None
    visible = turned["outcome"].isin(["vertex_conflict", "edge_conflict", "hole"])
    score = 3 * visible + 2 * turned["needs_wait"].astype(bool) + turned["agents"] - (turned["size"] - 6).abs()
    return str(turned.loc[score.idxmax(), "board_id"])
