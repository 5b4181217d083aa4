"""Where the holes of a board go, and what else lies on its ice: recipes, and the list of them. Light: no numba here.

To add a layout, write its ``Recipe`` (layout.py) beside the others and add it at the end of the list: mixes of layouts are shared out in
this order.
"""

from frozenlab.lake.layouts.layout import Recipe
from frozenlab.lake.layouts.mechanics import LOCKED_DOORS, ONE_WAY_ICE
from frozenlab.lake.layouts.structures import BOTTLENECK, CORRIDOR, MAZE, OPEN, ROOMS, WAREHOUSE

SCATTER = Recipe("scatter", "anywhere, by chance", None)
"""The paper's layout, and the default."""
LAYOUTS = (SCATTER, ROOMS, CORRIDOR, BOTTLENECK, MAZE, OPEN, WAREHOUSE, ONE_WAY_ICE, LOCKED_DOORS)
