"""Frozen-evidence replay: what engineers answer to one and the same stage, asked again and again, with these sections or those, without any
training. Importing this module imports torch: only worker processes and the command line do."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from core.engineer.engineers import ask
from core.engineer.evidence import describe
from core.lake.config import KNOBS
from core.policy.loading import load_policy
from core.sessions.loop import make_engineer
from core.sessions.store import Session, SessionError
from core.sessions.studies.spec import Arm


def replay(
    session: Session,
    stage: int,
    arms: Sequence[Arm],
    samples: int,
    *,
    seed: int = 0,
    on_progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Asks each arm's engineer ``samples`` times for the config after ``stage`` (0-based), with the same draws for every arm.

    The engineer ``policy`` is the checkpoint of that stage. ``on_progress`` is told the answers there are, and of how many.

    Returns:
        One row an answer and map size: ``arm, sample, size``, the KNOBS as the next stage would have had them, ``usable`` (whether an
        answer could be read at all; else the config is kept), ``attempts``, ``tokens`` and ``changes``.

    Raises:
        SessionError: the stage has not been validated, or its weights are needed and not here.
        PolicyError: they cannot be read.
    """
    measured = session.measurements(stage)
    policy = None
    rows = []
    for place, arm in enumerate(arms):
        spec = session.spec.changed(**arm.changes)
        if spec.engineer == "human":
            raise SessionError(f"the arm {arm.name} has a person as engineer, who cannot be asked {samples} times over")
        if policy is None and spec.engineer in ("policy", "base"):
            folder = session.stage_dir(stage) / "policy"
            if not folder.is_dir():
                raise SessionError(f"{session.id} has no weights of its stage {stage + 1}, so the engineer {spec.engineer} cannot be asked")
            policy = load_policy(str(folder), spec.language)
        engineer = make_engineer(spec, policy)
        context = describe(measured, spec.sections, spec.layouts)
        for sample in range(samples):
            draw = seed * 1_000_003 + 10 * sample  # an answer that cannot be used is asked for again with the next number
            guard = spec.guard
            record = ask(engineer, context, measured.config, max_step=guard.max_step, min_share=guard.min_share, seed=draw)
            told = {
                "arm": arm.name,
                "sample": sample,
                "usable": record.proposal is not None,
                "attempts": len(record.attempts),
                "tokens": sum(attempt.tokens or 0 for attempt in record.attempts),
                "changes": len(record.changes),
            }
            for size, cell in record.config_after.sizes.items():
                rows.append(told | {"size": size} | {knob: getattr(cell, knob) for knob in KNOBS})
            if on_progress:
                on_progress(place * samples + sample + 1, len(arms) * samples)
    return pd.DataFrame(rows)


def compared(answers: pd.DataFrame, reference: str) -> pd.DataFrame:
    """One row an arm: how its answers differ among themselves and from those of the arm ``reference``.

    Returns:
        Index ``arm``; ``n`` answers, ``unusable`` of them, ``changes`` a proposal (mean), ``tokens`` (mean), ``spread`` (the mean distance
        of an answer from the arm's mean config) and ``distance`` (of the arm's mean config from the reference's). A distance of two configs
        is the mean over map sizes and knobs of the absolute difference, in points (per cent).
    """
    knobs = list(KNOBS)
    means = answers.groupby(["arm", "size"], sort=False)[knobs].mean()
    own = answers.set_index(["arm", "size"])[knobs]
    of_reference = means.loc[reference].reindex(means.index, level="size")
    spread, distance = (
        (ours - theirs.to_numpy()).abs().mean(axis=1).groupby("arm", sort=False).mean()
        for ours, theirs in ((own, means.loc[own.index]), (means, of_reference))
    )
    each = answers.drop_duplicates(["arm", "sample"]).groupby("arm", sort=False)
    counted = each.agg(n=("usable", "size"), unusable=("usable", lambda usable: int((~usable).sum())))
    return counted.join(each[["changes", "tokens"]].mean()).assign(spread=100 * spread, distance=100 * distance)
