"""Evidence lines: figures in, a citable sentence out. Everything an engineer can be told is worded here."""

from __future__ import annotations

from collections.abc import Mapping

from frozenlab.engineer.schema import Evidence
from frozenlab.engineer.sentences import SETTING_NAMES
from frozenlab.lake.config import SCATTER, Layout
from frozenlab.lake.rules import FAULTS

FAULT_NAMES: dict[str, str] = {fault: fault.replace("_", " ") for fault in FAULTS}


def points(change: float) -> str:
    """A change of a rate in percentage points, signed: ``+5 points``."""
    return f"{100 * change:+.0f} points"


def behaviour_whole(reward: float, reward_delta: float, entropy: float, length: float, method: str = "grpo") -> Evidence:
    """``reward`` is what GRPO pays; a method that pays nothing has the same measure of its sampled plans, which is called their score."""
    led = "Training: mean reward" if method == "grpo" else f"Training by {method.replace('-', ' ')}: sampled plans score"
    text = f"{led} {reward:.2f} ({reward_delta:+.2f} over the stage), entropy {entropy:.2f} nats a token, {length:.0f} tokens a plan."
    return Evidence(
        id="B",
        section="behaviour",
        size=None,
        text=text,
        numbers={"reward": reward, "reward_delta": reward_delta, "entropy": entropy, "length": length},
    )


def behaviour(size: int, valid: float, delta: float, optimal: float) -> Evidence:
    """``valid`` and ``optimal`` over the last third of the stage's samples, ``delta`` against the first third."""
    text = f"Size {size}: {valid:.0%} of sampled plans valid ({points(delta)} over the stage), {optimal:.0%} optimal."
    return Evidence(id=f"B{size}", section="behaviour", size=size, text=text, numbers={"valid": valid, "delta": delta, "optimal": optimal})


def failures(size: int, n: int, valid: float, optimal: float, faults: Mapping[str, float], boards: tuple[str, ...] = ()) -> Evidence:
    """Held-out results of one size; ``faults`` are shares of all ``n`` boards."""
    seen = sorted((fault for fault in faults if faults[fault] > 0), key=lambda fault: -faults[fault])
    told = ", ".join(f"{FAULT_NAMES[fault]} {faults[fault]:.0%}" for fault in seen) or "none"
    text = f"Size {size}: {valid:.0%} of {n} held-out boards valid, {optimal:.0%} optimal; first faults: {told}."
    numbers = {"valid": valid, "optimal": optimal, "n": float(n)} | {fault: faults[fault] for fault in seen}
    return Evidence(id=f"F{size}", section="failures", size=size, text=text, numbers=numbers, boards=boards)


def failure_case(size: int, letter: str, fault: str, step: int, sentence: str, board_id: str) -> Evidence:
    """One worked failure: what went wrong at which step on one board."""
    return Evidence(
        id=f"F{size}{letter}", section="failures", size=size, text=sentence, numbers={fault: 1.0, "step": float(step)}, boards=(board_id,)
    )


def statistics(
    size: int, share: float, hole_ratio: float, wait_ratio: float, drawn: Mapping[str, float], layouts: Mapping[Layout, float] = SCATTER
) -> Evidence:
    """The config of one size, and what was drawn from it: ``boards``, ``hole_ratio``, ``wait_ratio``, ``makespan`` (mean steps).

    Layouts are named where not all boards are scattered.
    """
    mixed = "" if layouts == SCATTER else f", {', '.join(f'{part:.0%} {layout}' for layout, part in layouts.items())} boards"
    text = (
        f"Size {size}: config share {share:.2f}, hole ratio {hole_ratio:.2f}, wait ratio {wait_ratio:.2f}{mixed}; "
        f"drawn {drawn['boards']:.0f} boards, holes {drawn['hole_ratio']:.2f}, wait {drawn['wait_ratio']:.2f}, "
        f"mean optimal makespan {drawn['makespan']:.1f}."
    )
    numbers = {"share": share, "hole_ratio": hole_ratio, "wait_ratio": wait_ratio, "makespan": drawn["makespan"]}
    numbers |= {f"drawn_{name}": drawn[name] for name in ("boards", "hole_ratio", "wait_ratio")}
    return Evidence(id=f"S{size}", section="statistics", size=size, text=text, numbers=numbers)


def preserved(size: int, valid: float, gain: float) -> Evidence:
    text = f"Size {size} already works and still teaches: {valid:.0%} valid, {points(gain)} over the stage. Keep its ratios."
    return Evidence(id=f"P{size}", section="preserved", size=size, text=text, numbers={"valid": valid, "gain": gain})


def history(size: int, stage: int | None, changes: Mapping[str, float], before: float, after: float, expected: float | None) -> Evidence:
    """What the proposal after ``stage`` (0-based; people count from 1; None: before the first) did to one size and what became of it.

    ``before`` and ``after`` are held-out valid rates.
    """
    moved = {knob: change for knob, change in changes.items() if abs(change) > 1e-9 and knob != "share"}
    did = " and ".join(f"{SETTING_NAMES[knob]} {change:+.2f}" for knob, change in moved.items()) or "ratios kept"
    hope = "" if expected is None else f", expected {expected:.0%}"
    when = "before stage 1" if stage is None else f"after stage {stage + 1}"
    text = f"Size {size}: {when}, {did}; valid then went {before:.0%} to {after:.0%}{hope}."
    numbers = {"gain": after - before, "before": before, "after": after} | {f"{knob}_change": change for knob, change in moved.items()}
    if expected is not None:
        numbers["expected"] = expected
    return Evidence(id=f"H{size}", section="history", size=size, text=text, numbers=numbers)
