"""What one viewer may have the server compute on the pages of the lake."""

from __future__ import annotations

from frozenlab.base.limits import Allowance

PLANS = Allowance("plans", 120, 60)
"""Answers of models."""
DRAWN = Allowance("drawn boards", 1200, 480)
"""Boards drawn from a config; a sample of Design has 48 at first."""
ONE_BY_ONE = 12
"""Boards of a sample that one board drawn at random counts as: it has to be exactly as asked for."""
SOLVED = Allowance("solutions of large boards", 6, 3)
BROUGHT = Allowance("boards of your own", 30, 20)
"""Texts and files that are read."""
HANDED_IN = Allowance("answers handed in", 60, 60)
