"""The lake in the browser: its rules, Conflict-Based Search and prioritized planning, for what must answer at once.

The same functions as in :mod:`frozenlab.lake`, held against them by ``tests/browser/test_engine.py``. What counts, a verdict in a table or
an optimum, comes from Python.
"""

from __future__ import annotations

from frozenlab.app.ui.components import text_of

CODE = text_of(__file__, "rules.js", "cbs.js")
"""JavaScript; :data:`frozenlab.app.views.lake.drawing.CODE` has to stand before it."""
