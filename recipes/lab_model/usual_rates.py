"""How well the lab model usually does: its greedy valid rate on every kind of cell that its engineer can name, on boards as a session
validates on: of all hole ratios, and with as many necessary waits as come by themselves.

    python -m recipes.lab_model.usual_rates CHECKPOINT

writes the table that the engineer ``tutor`` reads, and is run again with new weights before their engineer is taught.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence

from frozenlab.engineer.engineers.tutor import TABLE
from frozenlab.lake.config import PAPER_SIZES, EnvironmentConfig
from frozenlab.lake.config_cell import LAYOUTS, CellConfig
from frozenlab.lake.draw.feasible import undrawable
from frozenlab.tasks.countdown.drawing import COUNTS, CountdownCell, CountdownConfig, name_of
from frozenlab.tasks.families import family_of
from frozenlab.tasks.vocabulary import kind_words

TEAMS = (2, 3, 4, 5)
TASKS = 200
"""Of each kind."""
SEED = 20_261_123
SLOW = ("k5 size9 corridor", "k5 size9 maze", "k5 size10 corridor", "k5 size10 maze")
"""Kinds that are left out: it takes many minutes to draw and solve their boards."""

OneCell = EnvironmentConfig | CountdownConfig


def kinds() -> Iterator[OneCell]:
    """A config of one cell for each kind: the teams that the lab model reads, all sizes and layouts, and counts of numbers.

    Scatter boards are what a cell without a layout of its own draws. A kind that cannot be drawn at the usual ratios is left out.
    """
    for team in TEAMS:
        for size in PAPER_SIZES:
            for layout in (None, *(layout for layout in LAYOUTS if layout != "scatter")):
                config = EnvironmentConfig.of([CellConfig(agents=team, size=size, layout=layout, share=1)])
                if undrawable(config, *config.cells) is None:
                    yield config
    for count in COUNTS:
        yield CountdownConfig(cells={name_of(count): CountdownCell(share=1)})


def main(arguments: Sequence[str] | None = None) -> None:
    from frozenlab.models.evaluation import evaluate
    from frozenlab.models.folders import policy_folder
    from frozenlab.models.lab.policy import LabPolicy

    parser = argparse.ArgumentParser(description="Measure the lab model's usual valid rates.")
    parser.add_argument("checkpoint")
    folder = policy_folder(parser.parse_args(arguments).checkpoint)
    rates = {}
    for config in kinds():
        family, words = family_of(config.family), " ".join(kind_words(config.described()[0]))
        suite = family.suite_type.model_validate({**family.suite_cells(config), "boards_per_cell": TASKS, "seed": SEED})
        if words not in SLOW and (tasks := family.suite(suite, config)):  # a suite has no boards with fewer rows than agents
            answers = evaluate(LabPolicy.load(folder, family), tasks)
            rates[words] = round(float(answers["valid"].mean()), 3)
            print(words, rates[words], flush=True)
    TABLE.write_text(json.dumps(rates, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
