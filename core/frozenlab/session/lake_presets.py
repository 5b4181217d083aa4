"""The ready-made sessions of the lake.

Their engineer is first asked after stage 1, as in the paper: the results before that show what the initial config achieves by itself, so
the story has something to compare the engineer's configs with. Studies compare arms with each other and ask the engineer before stage 1
(see :mod:`frozenlab.experiments.studies.presets`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from frozenlab.models.training.schedule import Schedule
from frozenlab.session.preset import Boards, Preset

NOTHING: Mapping[str, Any] = {}


def drawn_as(suite: str, *, test_boards: int, config: Mapping[str, Any], validation: Mapping[str, Any] = NOTHING) -> Callable[[], Boards]:
    """What draws the boards of a preset.

    Args:
        suite: the named suite that has the cells of the validation boards and of the test boards.
        test_boards: test boards per cell.
        config: the config of the first stage, as ``EnvironmentConfig.uniform`` takes it; without ``sizes``, it has those of the suite.
        validation: fields of the suite that are others for the validation boards.
    """

    def boards() -> Boards:
        from frozenlab.lake.config import EnvironmentConfig  # these load much that a list of presets does not need
        from frozenlab.lake.suites import SEED, SUITES

        read = SUITES[suite].model_copy(update=dict(validation))
        # As the named suites are drawn: of each cell of ``session`` the next boards after those of validation, which are still boards of
        # ``paper`` and so unknown to the lab model from its warm start too.
        test = read.model_copy(update={"boards_per_cell": test_boards, "seed": SEED})
        return Boards(EnvironmentConfig.uniform(**{"sizes": read.sizes, **config}), read, test)

    return boards


def short(title: str, words: str, *, stages: int, test_boards: int, steps: Mapping[str, int], schedule: Schedule = "linear") -> Preset:
    """A session on small boards, like those of the suite ``session``.

    Args:
        steps: by training method, those of one stage.
        schedule: of the learning rate with GRPO.
    """
    grpo: dict[str, Any] = {"boards_per_step": 32} | ({} if schedule == "linear" else {"schedule": schedule})
    numbers = {"grpo": grpo, "imitation": {"completions_per_board": 2}, "expert-iteration": {}}
    return Preset(
        title=title,
        words=words,
        stages=stages,
        boards=drawn_as("session", test_boards=test_boards, config={"agents": 3, "hole_ratio": 0.2, "wait_ratio": 0.2}),
        training={method: {"steps": steps[method]} | others for method, others in numbers.items()},
    )


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
    "long": Preset(
        title="Long session",
        words="four stages on boards of all sizes with four agents, in under ninety minutes",
        stages=4,
        boards=drawn_as(
            "paper",
            test_boards=50,
            config={"sizes": (4, 5, 6, 7, 8, 9, 10), "agents": 4, "hole_ratio": 0.3, "wait_ratio": 0.2},
            validation={"boards_per_cell": 20, "seed": 1},  # other boards than those of the suite: the engineer reads what fails on these
        ),
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
        boards=drawn_as(
            "paper",
            test_boards=10,
            config={"agents": 2, "hole_ratio": 0.3, "wait_ratio": 0.25},
            validation={"boards_per_cell": 10, "seed": 1},
        ),
        training={"grpo": {"steps": 100, "boards_per_step": 32, "learning_rate": 2e-5, "schedule": "constant", "temperature": 1.0}},
        policy="Qwen/Qwen3-4B",
        language={"thinking": True, "max_tokens": 8192, "context": 16_384, "rows": 4},
    ),
    # A model that thinks, for one GPU of 24 GB. Untried too.
    "qwen3-1.7b": Preset(
        title="Qwen3-1.7B session",
        words="Qwen3-1.7B, which thinks, in three stages on small boards, on one GPU of 24 GB",
        stages=3,
        boards=drawn_as(
            "train-shape",
            test_boards=20,
            config={"sizes": (3, 4, 5, 6), "agents": 2, "hole_ratio": 0.2, "wait_ratio": 0.2},
            validation={"sizes": (3, 4, 5, 6), "boards_per_cell": 20, "seed": 1},
        ),
        training={"grpo": {"steps": 40, "boards_per_step": 16, "learning_rate": 1e-4, "schedule": "constant", "temperature": 1.0}},
        policy="Qwen/Qwen3-1.7B",
        language={"thinking": True, "max_tokens": 3072, "context": 12_288, "rows": 2},
        proposal_tokens=2048,
    ),
    "qwen3-0.6b": Preset(
        title="Qwen3-0.6B session",
        words="Qwen3-0.6B in three stages on small boards, on one small GPU",
        stages=3,
        boards=drawn_as(
            "train-shape",
            test_boards=20,
            config={"agents": 2, "hole_ratio": 0.2, "wait_ratio": 0.2},
            validation={"sizes": (3, 4, 5), "boards_per_cell": 20, "seed": 1},
        ),
        training={"grpo": {"steps": 50, "boards_per_step": 16, "learning_rate": 5e-5, "temperature": 1.0}},
        policy="Qwen/Qwen3-0.6B",
        language={"lora": {"rank": 16, "alpha": 32}, "max_tokens": 512, "context": 8192, "rows": 8},
        proposal_tokens=2048,
    ),
}
