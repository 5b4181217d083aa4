"""One stage of training, by whichever method the settings name.

A stage starts from where the last one ended, weights, optimizer, scheduler and step count included, by TRL's own checkpoint; the same line
resumes a stage that was interrupted. The boards come in a fixed order, so a resumed stage takes exactly the boards that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from accelerate import PartialState

from frozenlab.base.errors import Stopped
from frozenlab.models.policy import Policy
from frozenlab.models.training.checkpoints import keep_checkpoint, newest_checkpoint, steps_of
from frozenlab.models.training.methods import BY_NAME
from frozenlab.models.training.stage_run import Stage, StageRun, StepReport
from frozenlab.models.training.stage_settings import StageSettings
from frozenlab.tasks.task import Task


def make_run(policy: Policy, settings: StageSettings, *, stages: int, seed: int) -> StageRun:
    """What trains ``policy`` in place, stage by stage, over the whole session."""
    return BY_NAME[settings.method].run(policy, settings, stages=stages, seed=seed)


def train_stage(
    run: StageRun,
    tasks: Sequence[Task],
    *,
    stage: int,
    folder: Path,
    previous: Path | None,
    recorded: int,
    report: StepReport,
    stopping: Callable[[], bool],
) -> None:
    """Trains the policy of ``run`` and leaves the checkpoint in ``folder/policy``.

    Args:
        tasks: ``steps * boards_per_step`` of them, in the order in which they are trained on.
        stage: number of the stage, 0-based; the step count runs on over the stages.
        folder: of the stage; a part-trained stage in it is taken up again.
        previous: the ``policy`` folder of the stage before, None for the first.
        recorded: steps of the stage that have been reported and are known still; it goes on from no checkpoint past them.
        stopping: asked after each step.

    Raises:
        Stopped: ``stopping`` said so; what was done is saved in ``folder``.
    """
    settings = run.settings
    first_step = stage * settings.steps
    work = folder / "trainer"
    interrupted = newest_checkpoint(work, first_step + recorded)
    done = steps_of(interrupted) - first_step if interrupted else 0
    left = tasks[done * settings.boards_per_step :]
    if interrupted and not left:  # it ended between the last step and the line that keeps it
        run.policy.take_weights(interrupted)
    else:
        checkpoint = interrupted or previous
        run.begin(Stage(left, first_step, report, stopping))
        trainer = run.trainer(work)
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        run.policy.model.eval()
        if trainer.state.global_step < first_step + settings.steps:
            raise Stopped
    processes = PartialState()
    processes.wait_for_everyone()  # a process that is still in its trainer's last lines reads the folder that goes now
    if processes.is_main_process:
        keep_checkpoint(work / f"checkpoint-{first_step + settings.steps}", folder / "policy")
    processes.wait_for_everyone()
