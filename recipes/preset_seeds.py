"""The gain of a preset session over seeds: one session per seed, measured on its test boards before training and after each stage.

    python -m recipes.preset_seeds SESSIONS [--preset quick] [--method grpo] [--engineer policy] [--first 0] [--seeds 10]
    python -m recipes.preset_seeds --readme
    python -m recipes.preset_seeds --twins

The first line runs the sessions in the folder SESSIONS and keeps a small table of each in ``assets/preset_seeds/PRESET-METHOD`` (with
another engineer than `policy` its name is added): ``SEED.parquet``, one row per board and moment. A seed with a table is not run again,
and a stopped session resumes, so several processes may share the seeds (``--seeds 5`` here, ``--first 5 --seeds 5`` there). At the end it
prints what the predictions of the engineer in these sessions were worth, and what its tutor's would have been on the same evidence. The
second writes README's table from the kept ones; a test compares the two. The third compares them with their twins, which kept their config.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from frozenlab.base.numbers import MANY, interval, points, signed

os.environ.setdefault("OMP_NUM_THREADS", "1")

import pandas as pd

from frozenlab.base import places
from frozenlab.base.files import write_parquet, write_text
from frozenlab.engineer.engineers import tutor
from frozenlab.experiments.studies.statistics import over_seeds
from frozenlab.session.ledger import predictions, scores, scores_table
from frozenlab.session.presets import PRESETS
from frozenlab.session.session import Session
from frozenlab.tasks.vocabulary import percent_value, percent_word

KEPT = places.ROOT / "assets" / "preset_seeds"
README = places.ROOT / "README.md"
BEGIN, END = "<!-- preset seeds: written by python -m recipes.preset_seeds --readme -->", "<!-- preset seeds: end -->"
COLUMNS = ["trained", "board_id", "agents", "size", "valid", "optimal"]
METRICS = ("valid", "optimal")


def run(folder: Path, preset: str, method: str, engineer: str, seed: int) -> Session:
    """The finished session of a seed, in ``folder``."""
    if not folder.exists():
        command = ["run", "--preset", preset, "--method", method, "--engineer", engineer, "--seed", str(seed), "--out", str(folder)]
    else:
        command = ["resume", str(folder)]
    if not folder.exists() or Session(folder).state().status != "done":
        subprocess.run([sys.executable, "-m", "frozenlab.cli", *command], check=True, stdout=subprocess.DEVNULL)
    return Session(folder)


def answers(session: Session) -> pd.DataFrame:
    """The session's results, one row per board and moment, with the COLUMNS; ``trained`` counts the stages before the moment. Raises
    ValueError if a moment has not been measured."""
    tables = []
    for trained in range(session.spec.stages + 1):
        rows = session.results(trained - 1 if trained else None)
        if rows is None:
            raise ValueError(f"{session.id} has no results after {trained} stages")
        tables.append(rows.assign(trained=trained)[COLUMNS])
    return pd.concat(tables, ignore_index=True).astype({"trained": "int8", "agents": "int8", "size": "int8"})


def foretold(session: Session) -> pd.DataFrame:
    """The predictions of the session's engineer, and for a lab model those of its tutor: as it makes them, and in the lab model's words for
    rates, which are 2.5 points apart."""
    made = predictions(session)
    if session.spec.engineer.kind != "policy":
        return made
    tutors = made.copy()
    for stage in made["stage"].unique():
        moment = int(stage) if stage >= 0 else None  # before the first
        context, given = session.context(moment), session.environment(moment)
        assert context is not None and given is not None
        said = {claim.cell: claim.expected for claim in tutor.propose(context, given.config).claims}
        of_stage = tutors["stage"] == stage
        tutors.loc[of_stage, "predicted"] += tutors.loc[of_stage, "cell"].map(said) - tutors.loc[of_stage, "expected"]
        tutors.loc[of_stage, "expected"] = tutors.loc[of_stage, "cell"].map(said)
    in_words = tutors["expected"].map(lambda rate: percent_value(percent_word(rate)))
    rounded = tutors.assign(predicted=tutors["predicted"] + in_words - tutors["expected"], expected=in_words)
    return pd.concat([made, tutors.assign(engineer="its tutor"), rounded.assign(engineer="its tutor, in its words")])


def place(preset: str, method: str, engineer: str) -> Path:
    """The folder of the recorded tables."""
    return KEPT / "-".join([preset, method, *([] if engineer == "policy" else [engineer])])


def kept(preset: str = "quick", method: str = "grpo", engineer: str = "policy") -> dict[int, pd.DataFrame]:
    """The recorded tables by seed."""
    return {int(path.stem): pd.read_parquet(path) for path in sorted(place(preset, method, engineer).glob("*.parquet"))}


def against_twins(metric: str) -> str:
    """What the redesigns brought at the end: the rate with them less that of the twin without, over seeds."""
    ends = [rates(kept(engineer=engineer), metric).iloc[:, -1] for engineer in ("policy", "fixed")]
    change = (ends[0] - ends[1]).dropna()
    low, high = over_seeds(change.tolist())
    spread = f"from {signed(change.min(), MANY)} to {signed(change.max(), MANY)}"
    return f"{metric}: {points(change.mean(), MANY)} ({interval(low, high, MANY)}), {spread}, {len(change)} seeds"


def rates(tables: dict[int, pd.DataFrame], metric: str) -> pd.DataFrame:
    """Share of boards: one row per seed, one column per moment (stages trained before it)."""
    return pd.DataFrame({seed: table.groupby("trained")[metric].mean() for seed, table in tables.items()}).T


def summary(tables: dict[int, pd.DataFrame], stages: int) -> str:
    """The README's table, for two seeds or more; changes are in points."""
    first = next(iter(tables.values()))
    boards = int((first["trained"] == 0).sum())
    team, sizes = "/".join(map(str, sorted(set(first["agents"])))), sorted(set(first["size"]))
    lines = [
        f"| {boards} test boards, {team} agents, {sizes[0]}x{sizes[0]} to {sizes[-1]}x{sizes[-1]} | before | after {stages} stages "
        "| change, 95% over seeds | lowest and highest seed |",
        "|---|---|---|---|---|",
    ]
    for metric in METRICS:
        seen = rates(tables, metric)
        change = seen[stages] - seen[0]
        low, high = over_seeds(change.tolist())
        lines.append(
            f"| {metric} plans, mean of {len(seen)} seeds | {seen[0].mean():.1%} | {seen[stages].mean():.1%} "
            f"| {points(change.mean(), MANY)} ({interval(low, high, MANY)}) "
            f"| {signed(change.min(), MANY)} and {signed(change.max(), MANY)} |"
        )
    return "\n".join(lines).replace("%", " %")


def write_readme() -> None:
    """Write the table between its two marks. Raises SystemExit if fewer than two seeds are recorded."""
    tables = kept()
    if len(tables) < 2:
        raise SystemExit(f"{KEPT} holds {len(tables)} seeds; a table takes two")
    before, rest = README.read_text(encoding="utf-8").split(BEGIN)
    write_text(README, before + f"{BEGIN}\n{summary(tables, PRESETS['quick'].stages)}\n{END}" + rest.split(END)[1])


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line; see ``--help``."""
    parser = argparse.ArgumentParser(description="Run a preset session with several seeds, and keep the results.")
    parser.add_argument("sessions", type=Path, nargs="?", help="folder of the sessions")
    parser.add_argument("--preset", default="quick", choices=[name for name, preset in PRESETS.items() if preset.language is None])
    parser.add_argument("--method", default="grpo")
    parser.add_argument("--engineer", default="policy")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--seeds", type=int, default=10, help="number of seeds")
    parser.add_argument("--readme", action="store_true", help="write the README's table from the recorded tables, and run nothing")
    parser.add_argument("--twins", action="store_true", help="compare the recorded tables with those of engineer fixed, and run nothing")
    options = parser.parse_args(arguments)
    if options.twins:
        print(*map(against_twins, METRICS), sep="\n")
        return
    if options.readme:
        write_readme()
        return
    if options.sessions is None:
        parser.error("name the folder of the sessions")
    options.sessions.mkdir(parents=True, exist_ok=True)
    tables = list[pd.DataFrame]()
    for seed in range(options.first, options.first + options.seeds):
        path = place(options.preset, options.method, options.engineer) / f"{seed}.parquet"
        folder = options.sessions / f"{path.parent.name}-{seed}"
        if not path.exists():
            session = run(folder, options.preset, options.method, options.engineer, seed)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_parquet(path, answers(session))
        table = pd.read_parquet(path).groupby("trained")[list(METRICS)].mean()
        summaries = (f"{metric} {' '.join(f'{rate:.1%}' for rate in table[metric])}" for metric in METRICS)
        print(f"seed {seed}: {', '.join(summaries)}", flush=True)
        if folder.exists() and len(made := foretold(Session(folder))):
            tables.append(made)
    if tables:
        print(scores_table(scores(pd.concat(tables)), "engineer", "sessions").to_string(index=False))


if __name__ == "__main__":
    main()
