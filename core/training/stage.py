"""One stage of training, by whichever method the settings name.

A stage starts from where the last one ended, weights, optimizer, scheduler and step count included, by TRL's own checkpoint; the same line
resumes a stage that was interrupted. The boards come in a fixed order, so a resumed stage takes exactly the boards that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from safetensors.torch import load_model

from core.lake.instance import Instance
from core.policy.policy import Policy
from core.training.checkpoints import drop_resume_files, keep_checkpoint, newest_checkpoint, steps_of
from core.training.expert_iteration import ExpertIterationRun
from core.training.grpo import GRPORun
from core.training.imitation import ImitationRun
from core.training.settings import Method, StageStopped, TrainingSettings
from core.training.stage_run import StageRun, StepReport

RUNS: dict[Method, type[StageRun]] = {
    "grpo": GRPORun,
    "imitation": ImitationRun,
    "expert-iteration": ExpertIterationRun,
}


def train_stage(
    policy: Policy,
    instances: Sequence[Instance],
    settings: TrainingSettings,
    *,
    stage: int,
    stages: int,
    seed: int,
    folder: Path,
    previous: Path | None,
    report: StepReport,
    stopping: Callable[[], bool],
) -> None:
    """Trains ``policy`` in place and leaves the checkpoint in ``folder/policy``.

    Args:
        instances: ``steps * boards_per_step`` solved boards, in the order in which they are trained on.
        stage: number of the stage, 0-based; the step count runs on over the stages.
        stages: of the whole session, over which the learning rate falls.
        folder: of the stage; a part-trained stage in it is taken up again.
        previous: the ``policy`` folder of the stage before, None for the first.
        stopping: asked after each step.

    Raises:
        StageStopped: ``stopping`` said so; what was done is saved in ``folder``.
    """
    first_step = stage * settings.steps
    work = folder / "trainer"
    interrupted = newest_checkpoint(work)
    done = steps_of(interrupted) - first_step if interrupted else 0
    left = instances[done * settings.boards_per_step :]
    if interrupted and not left:  # it ended between the last step and the line that keeps it
        load_model(policy.model, interrupted / "model.safetensors")
    else:
        checkpoint = interrupted or previous
        run = RUNS[settings.method](policy, left, settings, seed, first_step, report, stopping)
        trainer = run.trainer(work, session_steps=stages * settings.steps)
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        policy.model.eval()
        if trainer.state.global_step < first_step + settings.steps:
            raise StageStopped
    keep_checkpoint(work / f"checkpoint-{first_step + settings.steps}", folder / "policy")
    if previous:
        drop_resume_files(previous)
