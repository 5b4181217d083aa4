"""Ready-made sessions, by name. All the numbers of a preset stand in its entry of PRESETS.

Their engineer is first asked after stage 1, as in the paper: the results before that show what the initial config achieves by itself, so
the story has something to compare the engineer's configs with. Studies compare arms with each other and ask the engineer before stage 1
(see :mod:`frozenlab.studies.presets`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from frozenlab.errors import LabError
from frozenlab.training.methods import BY_NAME, title_of
from frozenlab.training.methods import NAMES as TRAINING_METHODS

if TYPE_CHECKING:
    from frozenlab.engineer.protocol import EngineerSpec
    from frozenlab.loop.spec import SessionSpec


@dataclass(frozen=True)
class Preset:
    """A ready-made session for any training method and any engineer."""

    words: str
    """What the preset is for, and how long it takes on two cores."""
    stages: int
    config: dict[str, Any]
    """The config of the first stage, as ``EnvironmentConfig.uniform`` takes it; without ``sizes``, it has those of the suite."""
    suite: str
    """The named suite that has the cells of the validation boards, which the engineer reads, and of the test boards."""
    test_boards: int
    """Boards per cell of the test suite."""
    training: dict[str, dict[str, Any]]
    """Training settings of a stage by method, where they differ from the defaults of TrainingSettings. All take about the same time."""
    validation: dict[str, Any] = field(default_factory=dict)
    """Fields of the suite that are others for the validation boards."""
    policy: str = "lab-model"
    language: dict[str, Any] | None = None
    """``LanguageSettings`` of a Hugging Face model; such a preset needs a GPU."""
    proposal_tokens: int | None = None
    """The longest proposal of such a model as engineer; None: the usual one."""

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that it has numbers for, of their own or of a method that they are like."""
        return tuple(name for name in TRAINING_METHODS if {name, BY_NAME[name].like} & set(self.training))

    def numbers(self, method: str) -> dict[str, Any]:
        """How one stage trains by one of its methods."""
        like = BY_NAME[method].like
        return self.training[method if method in self.training or like is None else like]


SMALL = {"agents": 3, "hole_ratio": 0.2, "wait_ratio": 0.2}
"""Initial config of the short sessions: boards like those of their suite."""
PRESETS: dict[str, Preset] = {
    "quick": Preset(
        words="three stages on small boards, in under ten minutes",
        stages=3,
        config=SMALL,
        suite="session",
        test_boards=100,
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
        suite="session",
        test_boards=100,
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
        suite="session",
        test_boards=160,
        training={
            "grpo": {"steps": 25, "boards_per_step": 32},
            "imitation": {"steps": 20, "completions_per_board": 2},
            "expert-iteration": {"steps": 16},
        },
    ),
    "long": Preset(
        words="four stages on boards of all sizes with four agents, in under ninety minutes",
        stages=4,
        config={"sizes": (4, 5, 6, 7, 8, 9, 10), "agents": 4, "hole_ratio": 0.3, "wait_ratio": 0.2},
        suite="paper",
        validation={"boards_per_cell": 20, "seed": 1},  # other boards than those of the suite: the engineer reads what fails on these
        test_boards=50,
        training={
            "grpo": {"steps": 140},
            "imitation": {"steps": 200, "completions_per_board": 2},
            "expert-iteration": {"steps": 150},
        },
    ),
    # The paper gives the model, the method, the stages and the boards; the numbers of training are ours, and untried at this scale.
    "paper": Preset(
        words="the paper's setting: Qwen3-4B in three stages, on one or more GPUs of 80 GB",
        stages=3,
        config={"agents": 2, "hole_ratio": 0.3, "wait_ratio": 0.25},
        suite="paper",
        validation={"boards_per_cell": 10, "seed": 1},
        test_boards=10,
        training={"grpo": {"steps": 100, "boards_per_step": 32, "learning_rate": 2e-5, "schedule": "constant", "temperature": 1.0}},
        policy="Qwen/Qwen3-4B",
        language={"thinking": True, "max_tokens": 8192, "context": 16_384, "rows": 4, "vllm": {"memory": 0.45}},
    ),
    "qwen3-0.6b": Preset(
        words="Qwen3-0.6B in three stages on small boards, on one small GPU",
        stages=3,
        config={"agents": 2, "hole_ratio": 0.2, "wait_ratio": 0.2},
        suite="train-shape",
        validation={"sizes": (3, 4, 5), "boards_per_cell": 20, "seed": 1},
        test_boards=20,
        training={"grpo": {"steps": 50, "boards_per_step": 16, "learning_rate": 5e-5, "temperature": 1.0}},
        policy="Qwen/Qwen3-0.6B",
        language={"lora": {"rank": 16, "alpha": 32}, "max_tokens": 512, "context": 8192, "rows": 8},
        proposal_tokens=2048,
    ),
}


NAMES = {"paper": "The paper's", "qwen3-0.6b": "Qwen3-0.6B"}
"""Title words of presets with names that cannot begin a title."""


class PresetError(LabError, ValueError):
    """A preset does not support a training method; the message lists those it supports."""


def preset_spec(name: str, *, method: str = "grpo", engineer: str | EngineerSpec = "policy", seed: int = 0) -> SessionSpec:
    """The spec of a preset.

    Args:
        engineer: its name for the usual settings, or an engineer with its settings.

    Raises:
        KeyError: a name that is not in PRESETS.
        PresetError: a method that the preset has no numbers for.
        EngineerError: there is no such engineer, or it needs settings.
    """
    from frozenlab.engineer.engineers import engineer_of  # these load much that a list of presets does not need
    from frozenlab.engineer.own_model import ModelEngineer
    from frozenlab.lake.config import EnvironmentConfig
    from frozenlab.lake.suites import SEED, SUITES
    from frozenlab.loop.spec import SessionSpec
    from frozenlab.policy.settings import LanguageSettings
    from frozenlab.training.settings import TrainingSettings

    preset = PRESETS[name]
    if method not in preset.methods:
        raise PresetError(f"the preset {name} trains by {' or '.join(title_of(offered) for offered in preset.methods)}")
    chosen = engineer_of(engineer) if isinstance(engineer, str) else engineer
    if isinstance(engineer, str) and isinstance(chosen, ModelEngineer) and preset.proposal_tokens:
        chosen = chosen.model_copy(update={"max_tokens": preset.proposal_tokens})
    suite = SUITES[preset.suite].model_copy(update=preset.validation)
    return SessionSpec(
        title=f"{NAMES.get(name, name.capitalize())} session" + (f" by {title_of(method)}" if method != "grpo" else ""),
        policy=preset.policy,
        language=LanguageSettings(**preset.language) if preset.language else None,
        engineer=chosen,
        stages=preset.stages,
        initial_config=EnvironmentConfig.uniform(**{"sizes": suite.sizes} | preset.config),
        training=TrainingSettings(method=method, **preset.numbers(method)),
        suite=suite,
        # As the named suites are drawn: of each cell of ``session`` the next boards after those of validation, which are still boards of
        # ``paper`` and so unknown to the lab model from its warm start too.
        test=suite.model_copy(update={"boards_per_cell": preset.test_boards, "seed": SEED}),
        seed=seed,
    )
