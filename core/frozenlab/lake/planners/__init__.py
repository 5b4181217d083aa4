"""Planners for boards of any number of agents, behind one protocol (planner.py), each with what it promises."""

from frozenlab.lake.planners.ecbs import ECBS, Exact
from frozenlab.lake.planners.lacam import LaCAM, LaCAMStar
from frozenlab.lake.planners.neighbourhoods import LNS
from frozenlab.lake.planners.pibt import PIBT
from frozenlab.lake.planners.planner import Found, Planner
from frozenlab.lake.planners.prioritized import Prioritized

PLANNERS: dict[str, Planner] = {planner.name: planner for planner in (PIBT(), Prioritized(), LaCAM(), LaCAMStar(), LNS(), ECBS(), Exact())}
"""By name, in the order of lists."""

__all__ = ["PLANNERS", "Found", "Planner"]
