"""A config that passes the check can be drawn, whatever its placement, layouts and definition of a wait."""

from itertools import product

import pytest

from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import Layout
from frozenlab.lake.draw.feasible import undrawable
from frozenlab.lake.draw.generator import generate
from tests.lake.boards import parts


def config_of(size: int, agents: int, holes: float, wait: float, layout: Layout, **others: str) -> EnvironmentConfig:
    cell = {"share": 1, "hole_ratio": holes, "wait_ratio": wait, "layouts": {layout: 1}}
    return EnvironmentConfig.model_validate({"agents": agents, "placement": "connected", "sizes": {size: cell}} | others)


@pytest.mark.parametrize("kind", [(4, 2, 0.6, 0.5, "rooms"), (3, 3, 0.2, 0.5, "corridor"), (3, 2, 0.4, 1.0, "rooms")], ids=str)
def test_known_configs_that_cannot_be_drawn_are_refused(kind: tuple[int, int, float, float, Layout]) -> None:
    config = config_of(*kind)
    assert f"size {kind[0]}" in (undrawable(config, str(kind[0])) or "")


GRID = [*product((3, 4, 6), (2, 3), (0.0, 0.3, 0.5), (0.0, 0.5), ("rooms", "corridor", "maze"))]


@pytest.mark.parametrize("place", parts(6, slow=3))
def test_what_passes_the_check_is_drawn(place: int) -> None:
    drawn = 0
    for kind in GRID[place::6]:
        for others in ({}, {"wait_definition": "sum_of_costs"}):
            config = config_of(*kind, **others)
            if undrawable(config, str(kind[0])) is None:
                drawn += len(generate(config, 24, seed=1)) == 24
            else:
                drawn += 1
    assert drawn == 2 * len(GRID[place::6])
