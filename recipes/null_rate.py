"""How often a study calls a difference clear where there is none: all pairs of arms of a null study (docs/instrument.md).

python -m recipes.null_rate assets/null/boards.parquet          the table of boards of a study whose arms differ in nothing but draws
"""

from __future__ import annotations

import argparse
from itertools import combinations
from pathlib import Path

import pandas as pd

from frozenlab.experiments.studies.effects import contrast
from frozenlab.experiments.studies.statistics import CLEAR, holm
from frozenlab.experiments.studies.store import outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("boards", type=Path)
    boards = pd.read_parquet(parser.parse_args().boards)
    arms = list(dict.fromkeys(boards["arm"]))
    for measure in ("valid", "optimal"):
        table = outcomes(boards, measure)
        found = {pair: contrast(table, [pair[0]], [pair[1]]) for pair in combinations(arms, 2)}
        held = dict(zip(found, holm([effect.p for effect in found.values()]), strict=True))
        for (one, other), effect in found.items():
            interval = f"{100 * effect.low:+.1f} to {100 * effect.high:+.1f}"
            print(
                f"{measure:8} {one} - {other}: {100 * effect.mean:+.1f} points ({interval}), p {effect.p:.3f}, Holm {held[one, other]:.3f}"
            )
        clear = sum(effect.p < CLEAR for effect in found.values())
        print(f"{measure}: {clear} of {len(found)} clear before correction, {sum(p < CLEAR for p in held.values())} after it\n")


if __name__ == "__main__":
    main()
