"""The section `behaviour`: the training log, whole and by cell."""

from __future__ import annotations

from collections.abc import Iterator

from frozenlab.base.cells import Cell
from frozenlab.engineer.measurements import Behind, StageMeasurements, StageTables, last_samples, sampled_valid, thirds
from frozenlab.engineer.schema import Evidence
from frozenlab.engineer.sections.section import Section
from frozenlab.engineer.sentences import capitalised
from frozenlab.models.training.methods import BY_NAME
from frozenlab.tasks import vocabulary as v
from frozenlab.tasks.vocabulary import change_words


class Behaviour(Section):
    name = "behaviour"
    heading = "Behaviour: the training log"
    help = "how training went: reward or score, length, entropy, and the sampled plans of each map size"

    def stage_lines(self, stage: StageMeasurements) -> Iterator[Evidence]:
        first, last = thirds(stage.metrics)
        mean = last.mean(numeric_only=True)
        if {"reward", "entropy"} <= set(mean.dropna().index):  # else nothing was sampled, or no sampled plan was good enough to learn from
            reward = mean["reward"], mean["reward"] - first["reward"].mean()
            yield whole_line(*reward, mean["entropy"], mean["length"], None if BY_NAME[stage.method].rewards else stage.method)

    def cell_lines(self, stage: StageMeasurements, cell: Cell) -> Iterator[Evidence]:
        sampled = sampled_valid(stage.metrics, cell.name)
        if sampled is not None:
            _, last = thirds(stage.metrics)
            yield cell_line(cell, sampled[0], sampled[1], float(last[f"optimal_{cell.name}"].mean()))

    def words(self, line: Evidence, place: str) -> list[str]:
        n = line.numbers
        if line.cell is None:
            return ["reward", v.percent_word(n["reward"]), "entropy", v.percent_word(n["entropy"]), "length", v.time_word(n["length"])]
        return [f"sampled{place}", v.percent_word(n["valid"]), "delta", *change_words(n["delta"]), "optimal", v.percent_word(n["optimal"])]

    def boards(self, line: Evidence, kept: StageTables) -> Behind:
        return last_samples(kept, line.cell)


def whole_line(reward: float, reward_delta: float, entropy: float, length: float, method: str | None = None) -> Evidence:
    """``method`` is one that does not learn from rewards: then the same measure of its sampled plans is called their score."""
    led = "Training: mean reward" if method is None else f"Training by {method.replace('-', ' ')}: sampled plans score"
    text = f"{led} {reward:.2f} ({reward_delta:+.2f} over the stage), entropy {entropy:.2f} nats a token, {length:.0f} tokens a plan."
    numbers = {"reward": reward, "reward_delta": reward_delta, "entropy": entropy, "length": length}
    return Evidence(id="B", section="behaviour", cell=None, text=text, numbers=numbers)


def cell_line(cell: Cell, valid: float, delta: float, optimal: float) -> Evidence:
    """``valid`` and ``optimal`` over the last third of the stage's samples, ``delta`` against the first third."""
    text = (
        f"{capitalised(cell.words)}: {valid:.0%} of sampled plans valid ({100 * delta:+.0f} points over the stage), {optimal:.0%} optimal."
    )
    numbers = {"valid": valid, "delta": delta, "optimal": optimal}
    return Evidence(id=f"B{cell.name}", section="behaviour", cell=cell.name, text=text, numbers=numbers)
