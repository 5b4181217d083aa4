"""A figure and its text alternative."""

from __future__ import annotations

from dataclasses import dataclass

import plotly.graph_objects as go


@dataclass(frozen=True)
class Chart:
    """A figure with the text alternative for readers who cannot see it."""

    figure: go.Figure
    alt: str
