"""What all training methods share: a stage, sampling and judging plans, reporting each step, stopping on request.

A stage starts from where the last one ended, weights, optimizer, scheduler and step count included, by TRL's own checkpoint; the same line
resumes a stage that was interrupted. The boards come in a fixed order, so a resumed stage takes exactly the boards that are left.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
from accelerate import PartialState
from torch.optim.lr_scheduler import LambdaLR
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainerControl, TrainerState, TrainingArguments, set_seed

from frozenlab.base import seeds
from frozenlab.base.cells import in_order
from frozenlab.base.errors import LabError, Stopped
from frozenlab.models.evaluation import answer_row
from frozenlab.models.lab.generation import sample
from frozenlab.models.policy import Policy, not_finite
from frozenlab.models.training.checkpoints import keep_checkpoint, newest_checkpoint, room, seal, steps_of
from frozenlab.models.training.stage_settings import Schedule, StageSettings, share_of_rate
from frozenlab.tasks.task import Task

RECORDED_BOARDS = 4
"""Boards a step whose completions are kept for people to look at."""
CHECKPOINT_EVERY = 10
RECORDS = 16 * 2**20
"""Bytes that are enough for the tables and logs of a stage."""
TRAINERS_SCHEDULES: dict[Schedule, str] = {"linear": "linear", "constant": "constant_with_warmup", "per-stage": "constant"}
"""What the transformers library calls them; of a rate that falls per stage it knows nothing, see :meth:`StageRun.attach`."""

StepReport = Callable[[dict[str, float], list[dict[str, Any]], bool], None]
"""Called after each step with its figures, the rows of its recorded completions, and whether a checkpoint follows. An interrupted stage
resumes from that checkpoint, so everything reported before it has to be kept."""


class NotFiniteError(LabError, ArithmeticError):
    """Training came to numbers that are not finite, of which nothing can be learnt any more; the message says where."""


@dataclass(frozen=True)
class Stage:
    """A stage, or what is left of one."""

    tasks: Sequence[Task] = ()
    """In the order in which they are trained on."""
    first_step: int = 0
    """The session's step count before the stage."""
    report: StepReport = lambda *_: None
    stopping: Callable[[], bool] = lambda: False
    """Asked after each step."""
    earlier: Sequence[Task] = ()
    """The tasks of the stage before those that are left."""


class StageRun(TrainerCallback, ABC):
    """One stage as TRL calls it back. A method says in :meth:`trainer` what a step learns from."""

    FIGURES: ClassVar[dict[str, str]] = {"entropy": "entropy", "learning_rate": "learning_rate", "grad_norm": "grad_norm"}
    """What of the trainer's own log belongs to the figures of a step: name -> what the trainer calls it."""
    learns_at_once = False
    """Whether the first step learns with every schedule. In sessions of version 2 the warm-up of two schedules begins at a rate of 0."""

    def __init__(self, policy: Policy, settings: StageSettings, *, stages: int, seed: int) -> None:
        """``stages`` is their number in the whole session, over which the learning rate may fall."""
        self.policy, self.settings, self.stages, self.seed = policy, settings, stages, seed
        self.begin(Stage())

    def begin(self, stage: Stage) -> None:
        """Makes the run ready to train a stage."""
        self.stage = stage
        self.prompts = [self.policy.prompt(task) for task in stage.tasks]
        self.limits = {prompt: self.policy.limit(task) for prompt, task in zip(self.prompts, stage.tasks, strict=True)}
        self.rows: list[dict[str, Any]] = []
        self.figures: dict[str, float] = {}
        self.step_began = 0.0

    def room(self) -> int:
        """Bytes of disk that a stage takes: its checkpoints, and what is recorded."""
        return room(self.policy.model) + RECORDS

    @abstractmethod
    def trainer(self, folder: Path) -> Trainer:
        """The TRL trainer of this stage, working in ``folder``."""

    def arguments(self, folder: Path) -> dict[str, Any]:
        """The trainer's arguments that are the same for every method."""
        settings = self.settings
        return {
            "output_dir": str(folder),
            "max_steps": self.stages * settings.steps,  # what the schedule counts by; on_step_end ends the stage
            "learning_rate": settings.learning_rate,
            "lr_scheduler_type": TRAINERS_SCHEDULES[settings.schedule],
            "warmup_steps": settings.warmup_steps,
            "shuffle_dataset": False,
            "ignore_data_skip": True,  # the dataset already begins with the first board that is left
            "save_strategy": "steps",
            "save_steps": CHECKPOINT_EVERY,
            "logging_steps": 1,
            "logging_nan_inf_filter": False,  # a loss that is NaN is to be seen
            "disable_tqdm": True,
            "report_to": "none",
            "seed": seeds.derive(self.seed, "training/trainer"),
            "bf16": False,
            "use_cpu": self.policy.model.device.type == "cpu",
            "gradient_checkpointing": False,
        }

    def attach(self, trainer: Trainer) -> Trainer:
        """Register this run as a callback and silence the trainer's own printing; the session log records every step."""
        trainer.remove_callback(PrinterCallback)
        trainer.add_callback(self)
        if self.settings.schedule == "per-stage" or self.learns_at_once:
            trainer.create_optimizer()
            share = partial(share_of_rate, settings=self.settings, stages=self.stages)
            trainer.lr_scheduler = LambdaLR(trainer.optimizer, share)
        return trainer

    # --- plans ---------------------------------------------------------------------------------------------------

    def write_plans(self, model: Any, prompts: Sequence[str], completions: int, step: int) -> list[list[int]]:
        """``completions`` plans for each prompt at the training temperature, as token ids, grouped by prompt.

        ``step`` is the session's step count: with the seed it decides every draw.
        """
        was_training = model.training
        model.eval()
        written = sample(
            model,
            [self.policy.tokenizer(prompt)["input_ids"] for prompt in prompts],
            [self.limits[prompt] for prompt in prompts],
            [seeds.rng(self.seed, "training/plans", step, row) for row in range(len(prompts) * completions)],
            temperature=self.settings.temperature,
            completions=completions,
            pad=self.policy.tokenizer.pad_token_id,
            end=self.policy.tokenizer.eos_token_id,
        )
        model.train(was_training)
        return written

    def judge(self, tasks: Sequence[Task], written: Sequence[Sequence[int]], group: int) -> pd.DataFrame:
        """Judges a step's answers, ``group`` for each task in turn; keeps their figures and the rows of the first tasks on the way.

        Returns:
            One row per answer: ``cell``, ``reward``, ``valid``, ``optimal``, ``cost`` (a tuple, empty where not valid) and ``tokens``.
        """
        family, table = self.policy.family, []
        self.rows = []
        for place, ids in enumerate(written):
            task = tasks[place // group]
            completion = self.policy.completion(ids)
            answer = self.policy.read(task, completion)
            judged = family.judge(task, answer)
            nearer = not judged.valid and self.settings.credit == "nearer"
            paid = family.credit(task, answer, judged) if nearer else judged.reward(self.settings.optimality)
            paid -= self.penalty(len(ids))
            table.append(
                {"cell": task.cell, "reward": paid, "valid": judged.valid, "optimal": judged.optimal}
                | {"cost": judged.cost, "tokens": len(ids)}
            )
            if place < RECORDED_BOARDS * group:
                self.rows.append(answer_row(family, task, completion, answer) | {"reward": paid})
        frame = pd.DataFrame(table)
        self.figures = step_figures(self.everywhere(frame))
        return frame

    def penalty(self, tokens: int) -> float:
        """What an answer of so many tokens loses of its reward."""
        return 0.0

    def everywhere(self, judged: pd.DataFrame) -> pd.DataFrame:
        """The plans that all processes of the session judged in this step."""
        return judged

    # --- what the trainer calls back -----------------------------------------------------------------------------

    def on_step_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """Seed the generators that the whole process shares, from the step only, so that a resumed stage continues bit for bit: TRL
        shuffles its samples with them, and a language model, or a vLLM engine in this process, samples with them."""
        set_seed(seeds.derive(self.seed, "training/step", state.global_step, PartialState().process_index))
        self.step_began = time.monotonic()
        self.rows, self.figures = [], {}

    def on_log(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, logs: dict[str, float] | None = None, **_: Any
    ) -> None:
        if not logs or "loss" not in logs:  # the summary at the end of a stage
            return
        step = state.global_step - self.stage.first_step
        trained = {
            name: math.nan if logs[theirs] is None else float(logs[theirs]) for name, theirs in self.FIGURES.items() if theirs in logs
        }
        if args.fp16 and not math.isfinite(trained.get("grad_norm", 0.0)):
            trained["grad_norm"] = 0.0  # the scaler of float16 skips such a step and scales down
        figures = {"step": step} | self.figures | trained | {"seconds": time.monotonic() - self.step_began}
        lost = [name for name in ("loss", "entropy", "grad_norm") if not math.isfinite((logs | trained).get(name, 0.0))]
        if weight := not_finite(self.policy.model, learnt=True):
            lost.append(f"the weight {weight}")
        self.stage.report(figures, [row | {"training_step": step} for row in self.rows], control.should_save and not lost)
        if lost:
            raise NotFiniteError(
                f"after step {step} of the stage {', '.join(lost)} came out not finite (NaN or infinite), so it can learn nothing more; "
                "begin again, or fork before this stage, with a third of the learning rate"
            )

    def on_save(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        processes = PartialState()
        processes.wait_for_everyone()  # each adds its own random numbers to the checkpoint
        if processes.is_main_process:
            seal(Path(str(args.output_dir)) / f"checkpoint-{state.global_step}")

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if state.global_step == self.stage.first_step + self.settings.steps or self.stage.stopping():
            control.should_save = control.should_training_stop = True


def step_figures(judged: pd.DataFrame) -> dict[str, float]:
    """Means over a step's answers, whole and by cell."""
    figures = {name: float(judged[name].mean()) for name in ("reward", "valid", "optimal")} | {"length": float(judged["tokens"].mean())}
    cells = dict(list(judged.groupby("cell")))
    for cell in in_order(cells):
        figures[f"valid_{cell}"] = float(cells[cell]["valid"].mean())
        figures[f"optimal_{cell}"] = float(cells[cell]["optimal"].mean())
    return figures


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
        run.begin(Stage(left, first_step, report, stopping, tasks[: len(tasks) - len(left)]))
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
