"""Measuring proposals: the second stage of an evidence is trained with each of them, in a fork."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd

from frozenlab import seeds
from frozenlab.engineer.dialects.lab import parse_proposal, render_context
from frozenlab.files import write_parquet, write_text
from frozenlab.jobs.worker import run_job
from frozenlab.loop.forks import fork
from frozenlab.loop.recorder import Recorder
from frozenlab.loop.session import Session, SessionError
from frozenlab.loop.store import SessionStore
from frozenlab.loop.worker import work
from frozenlab.tasks.lake.lab_model.evidences import Written, config_words, seen
from frozenlab.tasks.lake.lab_model.gains import KEY


def measure(parent: Session, completion: str, store: SessionStore, name: str, replicate: int = 0) -> dict[str, Any]:
    """Train the second stage of an evidence with a proposal, in a fork that is deleted afterwards.

    Args:
        replicate: 0 for the seed of the evidence; otherwise another seed: other boards from the same config, and other plans.

    Returns:
        The proposal's part of a row of the table of :func:`collect`.

    Raises:
        SessionError: the fork fails.
        ProposalError: the completion is not a proposal.
    """
    context, config = seen(parent)
    folder = store.root / name
    given = parse_proposal(context, config, completion)
    forked = Session(folder) if folder.is_dir() else fork(parent, 0, store, name, given=given)
    if replicate and forked.spec.seed == parent.spec.seed:
        other = seeds.derive(parent.spec.seed, "evidence/replicate", replicate)
        spec = forked.spec.changed(seed=other)  # a fork in the app may not do that: its first stage had another seed
        write_text(folder / "session.json", spec.model_dump_json(indent=2))
        forked = Session(folder)
    if run_job(Recorder(forked), work):
        raise SessionError(f"{name} did not end: {forked.state().error}")
    drawn, before, after = forked.environment(1), parent.validation(0), forked.validation(1)
    assert drawn is not None and before is not None and after is not None
    shutil.rmtree(folder)
    return {
        "prompt": render_context(context),
        "completion": completion,
        "before": config.model_dump_json(),
        "after": drawn.config.model_dump_json(),
        "sizes": json.dumps(after["size"].tolist()),
        "answers_before": "".join("01"[valid] for valid in before["valid"]),
        "answers": "".join("01"[valid] for valid in after["valid"]),
        "gain": cell_mean(after) - cell_mean(before),
    }


def cell_mean(validation: pd.DataFrame) -> float:
    """The mean over map sizes of the valid rate, 0..1."""
    return float(validation.groupby("size")["valid"].mean().mean())


class Table:
    """A table of outcomes that is written to disk after every row: one row per measured proposal, with the columns of KEY and of
    :func:`measure`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[dict[str, Any]] = pd.read_parquet(path).to_dict("records") if path.exists() else []

    def has(self, **key: Any) -> bool:
        return any(all(row[name] == value for name, value in key.items()) for row in self.rows)

    def same(self, evidence: int, replicate: int, completion: str) -> dict[str, Any] | None:
        """The row of the same config by another author, which need not be measured again."""
        for row in self.rows:
            if (row["evidence"], row["replicate"]) == (evidence, replicate) and config_words(row["completion"]) == config_words(completion):
                return row | {"completion": completion}
        return None

    def add(self, row: dict[str, Any]) -> None:
        self.rows.append(row)
        write_parquet(self.path, self.frame())
        print(*(row[name] for name in KEY), f"{100 * row['gain']:+.2f} points", flush=True)

    def frame(self) -> pd.DataFrame:
        return pd.DataFrame(self.rows)


def add_outcomes(table: Table, parent: Session, written: Sequence[Written], store: SessionStore, replicates: int) -> None:
    """Measure the proposals of an evidence that the table lacks, each ``replicates`` times."""
    for replicate in range(replicates):
        numbers: dict[str, Iterator[int]] = defaultdict(count)
        for author, completion in written:
            number = next(numbers[author])
            key = {"evidence": parent.spec.seed, "author": author, "number": number, "replicate": replicate}
            if table.has(**key):
                continue
            measured = table.same(parent.spec.seed, replicate, completion) or measure(
                parent, completion, store, f"fork-{parent.spec.seed}-{author}-{number}-{replicate}", replicate
            )
            table.add(measured | key)
