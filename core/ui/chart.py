"""A figure and its words."""

from __future__ import annotations

from dataclasses import dataclass

import plotly.graph_objects as go


@dataclass(frozen=True)
class Chart:
    """A figure with the text that stands for it where it cannot be seen."""

    figure: go.Figure
    alt: str
