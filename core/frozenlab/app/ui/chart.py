"""A figure and its text alternative."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import plotly.graph_objects as go


@dataclass(frozen=True)
class Chart:
    """A figure with the text alternative for readers who cannot see it."""

    figure: go.Figure
    alt: str

    @cached_property
    def settled(self) -> go.Figure:
        """The figure, to be shown and not to be changed any more. Streamlit asks it for its data at every run of every viewer; it has them
        ready."""
        data = self.figure.to_dict()
        self.figure.to_dict = lambda: data
        return self.figure
