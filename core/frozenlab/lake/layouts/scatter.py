"""Scatter: holes anywhere, by chance. The paper's layout, and the default."""

from __future__ import annotations

from frozenlab.lake.layouts.layout import Recipe

SCATTER = Recipe("scatter", "anywhere, by chance", None)
