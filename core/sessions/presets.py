"""Sessions that are ready to run, by name. All the numbers of a preset stand in its entry of PRESETS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.engineer.schema import EngineerName
from core.lake.config import PAPER_SIZES, EnvironmentConfig
from core.lake.suites import SUITES, SuiteSpec
from core.sessions.spec import SessionSpec
from core.training.settings import METHOD_NAMES, Method, TrainingSettings


@dataclass(frozen=True)
class Preset:
    """A session that is ready to run by any method and with any engineer."""

    words: str
    """What it is for, and how long it takes on two cores."""
    stages: int
    config: EnvironmentConfig
    """Of the first stage."""
    suite: SuiteSpec
    training: dict[Method, dict[str, Any]]
    """How one stage trains by each method, where that differs from the defaults of TrainingSettings; all take about the same time."""


SMALL = EnvironmentConfig.uniform(SUITES["session"].sizes, agents=3, hole_ratio=0.2, wait_ratio=0.2)
"""What the short sessions begin with: the boards of their suite."""
PRESETS: dict[str, Preset] = {
    "quick": Preset(
        words="three stages on small boards, in under ten minutes",
        stages=3,
        config=SMALL,
        suite=SUITES["session"],
        training={
            "grpo": {"steps": 50, "boards_per_step": 32},
            "imitation": {"steps": 50, "completions_per_board": 2},
            "expert-iteration": {"steps": 40},
        },
    ),
    "demo": Preset(
        words="one stage for a talk, in under two minutes",
        stages=1,
        config=SMALL,
        suite=SUITES["session"],
        training={
            "grpo": {"steps": 40, "boards_per_step": 32},
            "imitation": {"steps": 40, "completions_per_board": 2},
            "expert-iteration": {"steps": 20},
        },
    ),
    "study": Preset(
        words="two short stages, the unit of ablations, in under three minutes",
        stages=2,
        config=SMALL,
        suite=SUITES["session"],
        training={
            "grpo": {"steps": 25, "boards_per_step": 32},
            "imitation": {"steps": 20, "completions_per_board": 2},
            "expert-iteration": {"steps": 16},
        },
    ),
    "long": Preset(
        words="four stages on boards of all sizes with four agents, in under ninety minutes",
        stages=4,
        config=EnvironmentConfig.uniform(tuple(size for size in PAPER_SIZES if size >= 4), agents=4, hole_ratio=0.3, wait_ratio=0.2),
        # Of the cells of the suite `paper`, but other boards: the engineer reads what fails on these.
        suite=SuiteSpec(agents=(3, 4, 5), sizes=PAPER_SIZES, boards_per_cell=20, seed=1),
        training={
            "grpo": {"steps": 140},
            "imitation": {"steps": 200, "completions_per_board": 2},
            "expert-iteration": {"steps": 150},
        },
    ),
}


def preset_spec(name: str, *, method: Method = "grpo", engineer: EngineerName = "policy", seed: int = 0) -> SessionSpec:
    """The spec of a preset. Raises KeyError for a name that is not in PRESETS."""
    preset = PRESETS[name]
    return SessionSpec(
        title=f"{name.capitalize()} session" + (f" by {METHOD_NAMES[method]}" if method != "grpo" else ""),
        engineer=engineer,
        stages=preset.stages,
        initial_config=preset.config,
        training=TrainingSettings(method=method, **preset.training[method]),
        suite=preset.suite,
        seed=seed,
    )
