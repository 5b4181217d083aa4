"""The boards of the course. What a chapter claims of its board is proven in ``tests/tasks/lake/test_course.py``."""

from __future__ import annotations

from frozenlab.app.views.lake import desk, view
from frozenlab.app.views.lake.share import decode
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
LONG_WAY = read_board("""
F F G H F H
F H H F F S
F F H H H F
F F H H F F
H F F F F F
""")
"""The goal is 4 cells away, and the way there takes 14 steps."""
CROSSING = view.CROSSING
"""Both want the cell in the middle at the same time."""
SAME_CELL = read_board("""
H F F F
F F H F
G H S F
g F F s
""")
"""Each has one shortest path, and they meet on a cell."""
FACE_TO_FACE = desk.TEMPLATES["swap"]
"""Two neighbours who want to go past each other."""
NARROW = read_board("""
F H F F F
F H F H S
s F F F g
F G H H H
""")
"""Their only shortest paths meet head-on; there is room to give way."""
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
OTHER_AIMS = read_board("""
F H a H F
F F b F H
G g s B S
H F F A H
""")
"""The same for four agents."""
RESERVED = read_board("""
F F s F
F S F G
F F g F
""")
"""Agent 1 goes straight down across the way of agent 0, who would be there at the same step."""
SOME_ORDERS = read_board("""
F g H s
F F F G
S a H A
F F F H
""")
"""The two orders in which agent 0 plans last work, the other four do not, whichever shortest paths the agents take: its goal is on the only
way of both others."""
NO_ORDER = read_board("""
H H F H H
g S F s G
""")
"""It has a plan, but prioritized planning finds none in any order."""
BLOCKED = read_board("""
a H s H
S F A G
H H H g
""")
"""PIBT finds no plan, prioritized planning none in any order; LaCAM does."""
SWINGING = read_board("""
a S A g G
H H s H H
""")
"""PIBT pushes agents 0 and 2 to and fro. One step of the team leads out: agent 1 leaves the cell in which others could pass."""
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
PUSHED = read_board("""
b F a H G
F S H F F
s F H g F
B A F F H
""")
"""PIBT's first step is the same however ties are broken: agent 1 finds its nearest cell taken and pushes agent 3, which pushes agent 2 away
from its goal, although agent 2 is more urgent than agent 3."""
TWO_ANEW = read_board("""
F F c H F
F H A G B
g H F F F
C s S F a
b H H F H
""")
"""Of PIBT's plan agents 1 and 4 can save more than any other two."""
TEAM_OF_24 = decode("CtYXRBBAQgAgEIACKAYALEAIGggQHIOyMDQDyCGsSBQB8KBLD0MBOBYDBjEkYBeFwHRwGEbxYCMAB5IAJBfAoLw-GobgTHECRnAYGwQCYjhR")
"""12×12: Conflict-Based Search proves its optimum within a second, and every planner of the course has a plan at once."""
TEAM_OF_40 = decode(
    "C94n0ERIEEkEAASSGAqAIWIoBAAABEwAUACBEQKEEAgCCyIfB5AQ2BtLUrjBCU2h-P85g5DENAVDoMx3KgQRsPUkQ-OMjgGB0MjsI03AOEknwpBAqg4LoCCQJIiyXIM0hrAUoTIB4kw"
    "fBgKwLLkljhMI6SbIo4CaAwPy8LMtAuIYczGLESBj"
)
"""16×16: no optimum in seconds."""
WAREHOUSE = (
    "FFFFFFFFFFFFFFFF",
    "FHHHHFHHHHFHHHHF",
    "FFFFFFFFFFFFFFFF",
    "FHHHHFHHHHFHHHHF",
    "FFFFFFFFFFFFFFFF",
    "FHHHHFHHHHFHHHHF",
    "FFFFFFFFFFFFFFFF",
    "FHHHHFHHHHFHHHHF",
    "FFFFFFFFFFFFFFFF",
)
"""Aisles between shelves, one robot wide."""
DELAYED = read_board("""
C F F H c
H A S F F
H F s a B
b G F H F
g F H F F
""")
"""Where agent 3 starts late and all keep the order of the cheapest plan, agent 0 waits for it, and agent 4 for agent 0; agent 2 crosses its
way and is on time."""
