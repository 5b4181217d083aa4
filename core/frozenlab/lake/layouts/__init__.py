"""Where the holes of a board go, and what else lies on its ice: one file for each layout, and the list of them. Light: no numba here.

To add a layout, write a file with its ``Recipe`` (layout.py) and add it to the two lines below, at the end: mixes of layouts are shared out
in this order.
"""

from frozenlab.lake.layouts import bottleneck, corridor, doors, maze, oneway, open, rooms, scatter, warehouse

LAYOUTS = (
    scatter.SCATTER,
    rooms.ROOMS,
    corridor.CORRIDOR,
    bottleneck.BOTTLENECK,
    maze.MAZE,
    open.OPEN,
    warehouse.WAREHOUSE,
    oneway.ONEWAY,
    doors.DOORS,
)
