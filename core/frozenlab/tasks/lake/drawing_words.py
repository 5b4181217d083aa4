"""The knobs, layouts and rules of drawing boards, in words."""

from __future__ import annotations

from frozenlab.lake.config import EnvironmentConfig, Placement, WaitDefinition
from frozenlab.lake.config_cell import Layout
from frozenlab.lake.layouts import LAYOUTS

LAYOUT_WORDS: dict[Layout, str] = {recipe.name: recipe.words for recipe in LAYOUTS}
MUST_WAIT_IF: dict[WaitDefinition, str] = {"makespan": "every quickest plan has a WAIT", "sum_of_costs": "every cheapest plan has a WAIT"}
WAIT_HELP = (
    "Quickest: the fewest steps until all have arrived (the makespan; the paper's). Cheapest: the least sum of costs, which counts for "
    "each agent the steps until it has arrived for good; then a WAIT counts that comes before the arrival."
)
STARTS_AND_GOALS: dict[Placement, str] = {"uniform": "anywhere", "connected": "agent by agent, within reach"}
PLACEMENT_HELP = (
    "Anywhere on the frozen cells; a board without a solution is replaced by another (the paper's). Or each agent's start and goal "
    "within connected cells, as POGEMA does, which favours boards with isolated pockets."
)


def notes(config: EnvironmentConfig) -> list[str]:
    """What a config says besides its cells, where that is not the paper's."""
    found = []
    if config.wait_definition != "makespan":
        found.append(f"A board must wait if {MUST_WAIT_IF[config.wait_definition]}.")
    if config.placement != "uniform":
        found.append(f"Starts and goals: {STARTS_AND_GOALS[config.placement]}.")
    return found
