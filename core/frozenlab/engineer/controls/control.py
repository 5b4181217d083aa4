"""What the controls that change another engineer share."""

from __future__ import annotations

from abc import ABC
from typing import TYPE_CHECKING

from pydantic import field_validator

from frozenlab.engineer.protocol import EngineerSpec
from frozenlab.engineer.server import Server

if TYPE_CHECKING:
    from frozenlab.engineer.protocol import EngineerSpec as PlainEngineer


class Control(EngineerSpec, ABC):
    """An engineer made of another one. ``frozenlab.engineer.engineers`` says which others there are (``PlainEngineer``)."""

    of: PlainEngineer
    """The other engineer; its name alone stands for its usual settings."""

    @field_validator("of")
    @classmethod
    def _answers_by_itself(cls, of: EngineerSpec) -> EngineerSpec:
        if "person" in of.needs:
            raise ValueError("a control needs an engineer that answers by itself, so it cannot be human")
        return of

    @property
    def author(self) -> EngineerSpec:
        return self.of

    @property
    def server(self) -> Server | None:
        return self.of.server
