"""The schedules of the learning rate. Light: a help text lists them."""

from __future__ import annotations

from typing import Annotated, Literal, Self, get_args

from pydantic import Field

from frozenlab.base.schemas import Strict

Schedule = Literal["linear", "per-stage", "constant"]
"""How the learning rate goes: it falls to zero over the whole session, it rises and falls in every stage, or it stays constant."""
SCHEDULES: tuple[Schedule, ...] = get_args(Schedule)
WARMUP_STEPS: dict[Schedule, int] = {"linear": 5, "per-stage": 2, "constant": 5}
"""What the learning rate rises over unless the settings say otherwise."""


class StageSettings(Strict):
    """One training stage. The defaults are the ones measured to work for the lab model on two cores."""

    method: str
    """How the policy is trained."""
    steps: Annotated[int, Field(ge=1, le=5000)] = 30
    """Optimizer steps in one stage."""
    boards_per_step: Annotated[int, Field(ge=1, le=1024)] = 64
    """Different boards in one step."""
    completions_per_board: Annotated[int, Field(ge=2, le=64, title="Plans per board")] = 8
    """Plans sampled for each board: the group that GRPO compares, of which expert iteration keeps the best, and which the solver corrects
    for imitation."""
    learning_rate: Annotated[float, Field(gt=0, le=1e-2)]
    """The learning rate at its highest. With GRPO, 3e-4 and few boards per step destroyed the policy in our trials."""
    schedule: Schedule = "linear"
    """How the learning rate changes. With ``linear`` a late stage learns less than an early one; with ``per-stage`` all learn as much, by
    the same mean rate."""
    warmup_steps: Annotated[int, Field(ge=0, le=1000)] = Field(default_factory=lambda given: WARMUP_STEPS[given["schedule"]])
    """Steps over which the learning rate rises: at the start of every stage where the schedule is ``per-stage``, else of the session."""
    temperature: Annotated[float, Field(gt=0, le=2)] = 0.5
    """Temperature of the sampled plans to learn from; a lab model is validated greedily. At 1.0 its sampled plans got better, greedy ones
    much less."""
    optimality: Annotated[float, Field(ge=0, le=0.8)] = 0.7
    """The part of a valid plan's reward that depends on its makespan; any valid plan still earns more than one that is not. At 0.3 the lab
    model's plans grew longer from stage to stage, until some never ended."""
    loss_type: Literal["dapo", "grpo", "dr_grpo"] = "dapo"
    """GRPO: whether each token of a step counts the same (dapo), each completion (grpo), or each token over the longest length that a
    completion may have (dr_grpo)."""
    scale_rewards: Literal["group", "batch", "none"] = "group"
    """GRPO: by the spread of which rewards the advantages of a group are divided."""
    overlong: Annotated[Literal["counted", "masked", "penalised"], Field(exclude_if=lambda way: way == "counted")] = "counted"
    """GRPO of a language model: an answer that is cut off earns nothing, and each of its tokens teaches, so it weighs most (counted); it
    teaches nothing (masked, DAPO's overlong filtering); or answers lose up to 1 over the last fifth of the longest (penalised)."""
    credit: Annotated[Literal["legal", "nearer"], Field(exclude_if=lambda credit: credit == "legal")] = "legal"
    """What an invalid answer earns up to 0.1 for: time without a fault, waiting too (legal), or only as far as its agents came nearer to
    their goals meanwhile (nearer), so that standing still earns nothing."""
    self_assessment: Annotated[float, Field(ge=0, le=10, exclude_if=lambda weight: weight == 0)] = 0.0
    """GRPO of a lab model: weight of a second lesson, how often its own plans for each board of a step are valid. 0: it is not taught."""

    @property
    def plans_per_step(self) -> int:
        return self.boards_per_step * self.completions_per_board

    @property
    def plans_per_stage(self) -> int:
        return self.steps * self.plans_per_step

    def scheduled(self, schedule: Schedule) -> Self:
        """The same with another schedule, and its usual warm-up unless these settings name one."""
        return self.model_validate(self.model_dump(exclude_unset=True) | {"schedule": schedule})


def share_of_rate(step: int, settings: StageSettings, stages: int = 1) -> float:
    """The part of the learning rate at a step of the session (0-based): it rises over the warm-up, no step learns nothing, and, unless it
    is ``constant``, it falls to zero with the end of the stage (``per-stage``) or of the session. The mean over a fall is about a half."""
    whole = settings.steps * (1 if settings.schedule == "per-stage" else stages)
    done, rising = step % whole, min(settings.warmup_steps, whole // 2)
    if done < rising:
        return (done + 1) / (rising + 1)
    return 1.0 if settings.schedule == "constant" else (whole - done) / (whole - rising)
