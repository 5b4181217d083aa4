"""The suites of the lake: what they hold, in words and numbers, and where their boards come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from frozenlab.base.numbers import counted
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.instance import Instance
from frozenlab.lake.suite_sources import PREFIX, check_suite, open_suite
from frozenlab.lake.suites import SUITES, SuiteSpec
from frozenlab.tasks.family import Suite
from frozenlab.tasks.lake import words

LABELS = {"quick": "10 boards a cell", "session": "3 agents, to 8×8", "train-shape": "2 agents", "paper": "3, 4 and 5 agents"}


class LakeSuites:
    """What the family of the lake says about suites."""

    def suite_cells(self, config: EnvironmentConfig) -> dict[str, Any]:
        return {"agents": config.teams, "sizes": config.sizes, "layouts": config.kept_layouts}

    def suite_size(self, suite: SuiteSpec, config: EnvironmentConfig) -> int:
        return len(suite.agents) * len(suite.sizes) * len(suite.layouts) * suite.boards_per_cell

    def suite_scope(self, suite: SuiteSpec) -> str:
        return f"{counted(len(suite.sizes), 'map size')} with {words.teams_title(suite.agents)}"

    def named_suites(self) -> Mapping[str, SuiteSpec]:
        return SUITES

    def suite_label(self, name: str) -> str:
        if name.startswith("paper-wr"):
            return f"{name} · {100 * float(name.removeprefix('paper-wr')):.0f} % must wait"
        return f"{name} · {LABELS[name]}" if name in LABELS else name

    def suite_total(self, suite: SuiteSpec) -> int:
        return len(suite.cells) * suite.boards_per_cell

    def suite_source(self, name: str) -> str:
        """Of a file, its absolute path."""
        check_suite(name)
        return name if name in SUITES or name.startswith(PREFIX) else str(Path(name).resolve())

    def suite_online(self, name: str) -> bool:
        return name.startswith(PREFIX)

    def open_suite(self, name: str, on_progress: Callable[[int, int], None]) -> Suite[Instance]:
        opened = open_suite(name, on_progress)
        return Suite(opened.name, opened.spec, opened.boards)
