"""Ready-made sessions, by name.

Their engineer is first asked after stage 1, as in the paper: the results before that show what the initial config achieves by itself, so
the story has something to compare the engineer's configs with. Studies compare arms with each other and ask the engineer before stage 1
(see :mod:`frozenlab.experiments.studies.presets`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from frozenlab.base.errors import LabError
from frozenlab.models.folders import PLANNER
from frozenlab.models.training.methods import BY_NAME, NAMES, title_of
from frozenlab.models.training.stage_settings import Schedule

if TYPE_CHECKING:
    from frozenlab.engineer.protocol import EngineerSpec
    from frozenlab.session.spec import SessionSpec


class PresetError(LabError, ValueError):
    """A preset does not support a training method; the message lists those it supports."""


@dataclass(frozen=True)
class Preset:
    """A ready-made session for any training method and any engineer."""

    title: str
    words: str
    """What the preset is for, and how long it takes on two cores."""
    stages: int
    suite: str
    """The named suite that has the cells of the validation boards and of the test boards."""
    test_boards: int
    """Test boards per cell."""
    config: dict[str, Any]
    """The config of the first stage, as ``EnvironmentConfig.uniform`` takes it; without ``sizes``, it has those of the suite."""
    training: dict[str, dict[str, Any]]
    """Training settings of a stage by method, where they differ from the defaults of TrainingSettings. All take about the same time."""
    validation: dict[str, Any] = field(default_factory=dict)
    """Fields of the suite that are others for the validation boards."""
    policy: str = "lab-model"
    language: dict[str, Any] | None = None
    """``LanguageSettings`` of a Hugging Face model; most such presets need a GPU."""
    proposal_tokens: int | None = None
    """The longest proposal of such a model as engineer; None: the usual one."""
    engineer: str = "policy"

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that it has numbers for, of their own or of a method that they are like."""
        return tuple(name for name in NAMES if {name, BY_NAME[name].like} & set(self.training))

    def numbers(self, method: str) -> dict[str, Any]:
        """How one stage trains by one of its methods."""
        like = BY_NAME[method].like
        return self.training[method if method in self.training or like is None else like]


def short(
    title: str, words: str, *, stages: int, test_boards: int, steps: Mapping[str, int], schedule: Schedule = "linear", **others: Any
) -> Preset:
    """A session on small boards, like those of the suite ``session``.

    Args:
        steps: by training method, those of one stage.
        schedule: of the learning rate with GRPO.
        others: other fields of the preset.
    """
    grpo: dict[str, Any] = {"boards_per_step": 32} | ({} if schedule == "linear" else {"schedule": schedule})
    numbers = {"grpo": grpo, "imitation": {"completions_per_board": 2}, "expert-iteration": {}}
    return Preset(
        title=title,
        words=words,
        stages=stages,
        suite="session",
        test_boards=test_boards,
        config={"agents": 3, "hole_ratio": 0.2, "wait_ratio": 0.2},
        training={method: {"steps": steps[method]} | own for method, own in numbers.items()},
        **others,
    )


WEAK = {"scale_rewards": "none", "credit": "nearer"}
"""Training settings for a model that solves little at first. Divided by its own spread, a group without a valid plan would weigh as much by
its small credits as one of 0 and 1; with the other credit a plan that only waits would be the best of such a group."""
PRESETS: dict[str, Preset] = {
    "quick": short(
        "Quick session",
        "three short stages on small boards, in under three minutes",
        stages=3,
        test_boards=100,
        # Short stages that all learn at the same rate: with 50 steps and a rate that falls over the session, the first stage brought all.
        steps={"grpo": 9, "imitation": 50, "expert-iteration": 40},
        schedule="per-stage",
    ),
    "demo": short(
        "Demo session",
        "one stage for a talk, in under two minutes",
        stages=1,
        test_boards=100,
        steps={"grpo": 40, "imitation": 40, "expert-iteration": 20},
    ),
    "study": short(
        "Study session",
        "two short stages, the unit of ablations, in under three minutes",
        stages=2,
        test_boards=160,
        steps={"grpo": 25, "imitation": 20, "expert-iteration": 16},
    ),
    "smoke": short(
        "Smoke session",
        "one stage of one step, to try a study out: it shows that it runs, not what it finds",
        stages=1,
        test_boards=17,
        steps={"grpo": 1, "imitation": 1, "expert-iteration": 1},
        validation={"boards_per_cell": 10},
    ),
    "long": Preset(
        title="Long session",
        words="four stages on boards of all sizes with four agents, in under ninety minutes",
        stages=4,
        suite="paper",
        test_boards=50,
        config={"sizes": (4, 5, 6, 7, 8, 9, 10), "agents": 4, "hole_ratio": 0.3, "wait_ratio": 0.2},
        validation={"boards_per_cell": 20, "seed": 1},  # other boards than those of the suite: the engineer reads what fails on these
        training={
            "grpo": {"steps": 140},
            "imitation": {"steps": 200, "completions_per_board": 2},
            "expert-iteration": {"steps": 150},
        },
    ),
    # The paper gives the model, the method, the stages and the boards; the numbers of training are ours, and untried at this scale.
    "paper": Preset(
        title="The paper's session",
        words="the paper's setting: Qwen3-4B in four stages, three of them engineered, on one or more GPUs of 80 GB",
        stages=4,
        suite="paper",
        test_boards=10,
        config={"agents": 2, "hole_ratio": 0.3, "wait_ratio": 0.25},
        validation={"boards_per_cell": 10, "seed": 1},
        training={"grpo": {"steps": 100, "boards_per_step": 32, "learning_rate": 2e-5, "schedule": "constant", "temperature": 1.0} | WEAK},
        policy="Qwen/Qwen3-4B",
        language={"thinking": True, "max_tokens": 8192, "context": 16_384, "rows": 4},
    ),
    # A model that thinks, for one GPU of 24 GB. Untried too.
    "qwen3-1.7b": Preset(
        title="Qwen3-1.7B session",
        words="Qwen3-1.7B, which thinks, in three stages on small boards, on one GPU of 24 GB",
        stages=3,
        suite="train-shape",
        test_boards=20,
        config={"sizes": (3, 4, 5, 6), "agents": 2, "hole_ratio": 0.2, "wait_ratio": 0.2},
        validation={"sizes": (3, 4, 5, 6), "boards_per_cell": 20, "seed": 1},
        training={"grpo": {"steps": 40, "boards_per_step": 16, "learning_rate": 1e-4, "schedule": "constant", "temperature": 1.0} | WEAK},
        policy="Qwen/Qwen3-1.7B",
        language={"thinking": True, "max_tokens": 3072, "context": 12_288, "rows": 2},
        proposal_tokens=2048,
    ),
    "qwen3-0.6b": Preset(
        title="Qwen3-0.6B session",
        words="Qwen3-0.6B in three stages on small boards, on one small GPU",
        stages=3,
        suite="train-shape",
        test_boards=20,
        config={"agents": 2, "hole_ratio": 0.2, "wait_ratio": 0.2},
        validation={"sizes": (3, 4, 5), "boards_per_cell": 20, "seed": 1},
        training={"grpo": {"steps": 50, "boards_per_step": 16, "learning_rate": 5e-5, "temperature": 1.0} | WEAK},
        policy="Qwen/Qwen3-0.6B",
        language={"lora": {"rank": 16, "alpha": 32}, "max_tokens": 512, "context": 8192, "rows": 8},
        proposal_tokens=2048,
    ),
    # A pretrained model that is small enough for a processor, taught to plan (docs/smollm2.md). As its own engineer it is noise, so rules
    # write its configs.
    "smollm2": Preset(
        title="SmolLM2 session",
        words="a real pretrained language model on a processor, in an hour or two",
        stages=3,
        suite="train-shape",
        test_boards=50,
        config={"agents": 2, "hole_ratio": 0.2, "wait_ratio": 0.2},
        validation={"sizes": (3, 4), "boards_per_cell": 20, "seed": 1},
        training={"grpo": {"steps": 20, "boards_per_step": 8, "learning_rate": 3e-5, "temperature": 1.0, "optimality": 0.3} | WEAK},
        policy=PLANNER,
        language={"lora": {"rank": 16, "alpha": 32}, "question": "compact", "max_tokens": 240, "context": 8192, "rows": 4, "vllm": None},
        engineer="rules",
    ),
}


def preset_spec(name: str, *, method: str = "grpo", engineer: str | EngineerSpec | None = None, seed: int = 0) -> SessionSpec:
    """The spec of a preset.

    Args:
        engineer: its name for the usual settings, or an engineer with its settings; None: that of the preset.

    Raises:
        KeyError: a name that is not in PRESETS.
        PresetError: a method that the preset has no numbers for.
        EngineerError: there is no such engineer, or it needs settings.
    """
    from frozenlab.engineer.engineers import engineer_of  # these load much that a list of presets does not need
    from frozenlab.engineer.engineers.own_model import ModelEngineer
    from frozenlab.lake.config import EnvironmentConfig
    from frozenlab.lake.suites import SEED, SUITES
    from frozenlab.models.settings import LanguageSettings
    from frozenlab.models.training.methods import TrainingSettings
    from frozenlab.session.spec import SessionSpec

    preset = PRESETS[name]
    if method not in preset.methods:
        raise PresetError(f"the preset {name} trains by {' or '.join(title_of(offered) for offered in preset.methods)}")
    engineer = preset.engineer if engineer is None else engineer
    chosen = engineer_of(engineer) if isinstance(engineer, str) else engineer
    if isinstance(engineer, str) and isinstance(chosen, ModelEngineer) and preset.proposal_tokens:
        chosen = chosen.model_copy(update={"max_tokens": preset.proposal_tokens})
    suite = SUITES[preset.suite].model_copy(update=preset.validation)
    return SessionSpec(
        title=preset.title + (f" by {title_of(method)}" if method != "grpo" else ""),
        policy=preset.policy,
        language=LanguageSettings(**preset.language) if preset.language else None,
        engineer=chosen,
        stages=preset.stages,
        initial_config=EnvironmentConfig.uniform(**{"sizes": suite.sizes, **preset.config}),
        training=TrainingSettings(method=method, **preset.numbers(method)),
        suite=suite,
        # As the named suites are drawn: of each cell of ``session`` the next boards after those of validation, which are still boards of
        # ``paper`` and so unknown to the lab model from its warm start too.
        test=suite.model_copy(update={"boards_per_cell": preset.test_boards, "seed": SEED}),
        seed=seed,
    )
