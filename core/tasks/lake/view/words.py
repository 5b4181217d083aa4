"""The knobs, layouts and rules of drawing boards, in words."""

from __future__ import annotations

from frozenlab.lake.config import Layout, Placement, WaitDefinition
from frozenlab.lake.layouts import LAYOUTS
from frozenlab.lake.rules import Fault

KNOB_LABELS: dict[str, str] = {"share": "share", "hole_ratio": "hole ratio", "wait_ratio": "wait ratio"}
KNOB_HELP = {
    "share": "Part of all training boards that have this map size; the shares sum to 100 %.",
    "hole_ratio": "Part of the cells that are holes.",
    "wait_ratio": "Part of the boards that cannot be solved optimally without some agent waiting: the density of conflicts.",
}
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
RULES: dict[Fault, str] = {
    "parse_error": "A plan names one path for every agent in the model's dialect; this answer does not.",
    "truncated": "The model has a limit of words for one answer; it was reached before every agent had its whole path.",
    "missing_agent": "Every agent needs a path, even one that only waits.",
    "out_of_bounds": "Agents stay on the board.",
    "hole": "Holes are the hatched cells. Whoever enters one has fallen in.",
    "illegal_jump": "In one step an agent goes to one of the four neighbouring cells, or waits.",
    "vertex_conflict": "Two agents never stand on the same cell at the same time. An agent that has arrived still blocks its cell.",
    "edge_conflict": "Two neighbouring agents cannot swap their cells in one step. Following another agent is fine.",
    "goal_not_reached": "At the end every agent stands on its own goal.",
}
"""The rule that each fault breaks."""
