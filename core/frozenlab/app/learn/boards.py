"""The boards of the course. What a chapter claims of its board is proven in ``tests/tasks/lake/test_course.py``."""

from __future__ import annotations

from frozenlab.app.views.lake import desk, view
from frozenlab.lake.board import read_board

AROUND_HOLES = read_board("""
H F S F F F
H F H F F H
H F H H F H
H F F F H G
H F H F H F
H F F F F F
""")
"""One agent; the way to its goal is more than twice as long as it looks."""
CROSSING = view.CROSSING
"""Both want the cell in the middle at the same time."""
FACE_TO_FACE = desk.TEMPLATES["swap"]
"""Two neighbours who want to go past each other."""
CROWD = read_board("""
a F F A F
S F F H s
G F F F F
g H H F F
F H H F F
""")
"""No plan of the fewest steps does without a wait."""
TWO_AIMS = read_board("""
F H s F F
H F F H F
F F G F S
F H H F A
a F F g F
""")
"""The fewest steps and the smallest sum of costs need different plans."""
SOME_ORDERS = read_board("""
F g H s
F F F a
A G H S
F F F H
""")
"""The two orders in which agent 2 plans last work, the other four do not, whichever shortest paths the agents take: its goal is on the only
way of both others."""
NO_ORDER = read_board("""
H H F H H
g S F s G
""")
"""It has a plan, but prioritized planning finds none in any order."""
MEETINGS = read_board("""
F H H H F
H F F H F
H H g s S
F G F H F
F F F F F
""")
"""The tree of Conflict-Based Search has 7 nodes, as this lab breaks ties; so for the two below."""
MORE_MEETINGS = read_board("""
F F F a
G F A F
s H F F
S F g H
""")
"""The tree has 11 nodes."""
MANY_MEETINGS = read_board("""
H H F F
g F a A
H H S G
H F F s
""")
"""The tree has 17 nodes."""
