"""The spec of a headroom measurement (``task.json``): students, configs, and what is expected of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from frozenlab.base.cells import Config, evenly, with_shares
from frozenlab.base.errors import LabError
from frozenlab.base.schemas import Strict
from frozenlab.engineer.engineers import UniformEngineer
from frozenlab.experiments.headroom.alignment import LEAST_BATCHES
from frozenlab.experiments.students.menu import axes
from frozenlab.models.training.methods import TrainingSettings
from frozenlab.tasks.families import AnyConfig, AnySuite, family_of
from frozenlab.tasks.family import Family

FORK = TrainingSettings(steps=8, boards_per_step=16, learning_rate=2e-4, schedule="per-stage", temperature=0.7)
"""A stage in which configs were seen to differ (8 to 14 seconds of one core): short, with few boards, so that what they are matters."""

KEPT, EQUAL, UNIFORM = "kept", "equal", "uniform"
"""The config itself; every cell equally often at its ratios. In measurements before there was ``equal``, what others are compared with is
called ``uniform``, and may have other ratios too."""
ONLY = "only "
"""How the name of a config begins that has one part of the tasks alone."""
STEP = 0.25
"""How far a ratio is moved, as a part of its range."""
SMALLER_STEPS = (1.0, 0.6, 0.3)
"""Parts of the step that are tried for a cell, until its tasks can be drawn."""


class HeadroomError(LabError, ValueError):
    """A headroom measurement cannot be made, read or thrown away; the message says why."""


class Probes(Strict):
    """The influence matrix: whose gradients are compared, and how well they are measured."""

    configs: Annotated[dict[str, AnyConfig], Field(min_length=1)]
    """Name -> a config whose tasks are one cell of the matrix: often one cell of a config, but any config will do."""
    batches: Annotated[int, Field(ge=LEAST_BATCHES, le=16)] = LEAST_BATCHES
    """Independent batches of tasks a cell, whose products with each other are free of noise."""
    tasks: Annotated[int, Field(ge=1, le=1024)] = 32
    """Tasks in a batch."""


class Forks(Strict):
    """Short stages under each config of a menu, from the same student."""

    menu: dict[str, AnyConfig]
    """Name -> config. ``kept`` and ``equal`` (in older files ``uniform``) are among them. A file that has ``config`` in its
    place has the usual menu of that one."""
    suite: AnySuite
    """Held-out tasks. Each student and replicate has its own, by seed, the same for all configs."""
    replicates: Annotated[int, Field(ge=2, le=20)] = 2
    """How often each config is measured, each time with other training draws and other held-out tasks."""
    plans: Annotated[int, Field(ge=0, le=16)] = 0
    """Sampled answers a held-out task, besides the greedy one; they are reported beside it."""
    doses: tuple[Annotated[float, Field(ge=0, le=4)], ...] = ()
    """Multiples of the way from ``kept`` to each student's best config, measured last and with draws of their own; empty: no dose curve."""

    @model_validator(mode="before")
    @classmethod
    def _make_menu(cls, given: Any) -> Any:
        if not isinstance(given, dict) or "config" not in given:
            return given
        if "menu" in given:
            raise ValueError('give "menu", or "config" to make the usual menu from, not both')
        config = ReadConfig.model_validate({"config": given["config"]}).config
        return {name: value for name, value in given.items() if name != "config"} | {"menu": menu_of(config)}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if missing := KEPT if KEPT not in self.menu else "" if {EQUAL, UNIFORM} & {*self.menu} else EQUAL:
            raise ValueError(f"the menu lacks the config {missing!r}")
        if self.doses and len({tuple(config.cells) for config in self.menu.values()}) > 1:
            raise ValueError("a dose curve needs a menu of configs with the same cells")
        return self

    @property
    def baseline(self) -> str:
        """The name of the config that the best one is compared with."""
        return EQUAL if EQUAL in self.menu else UNIFORM

    @property
    def kept(self) -> Any:
        """The config that others are compared with; it names the cells of the held-out tasks."""
        return self.menu[KEPT]


class ReadConfig(Strict):
    """A config of any family, read from a file."""

    config: AnyConfig


class HeadroomSpec(Strict):
    """What is measured, of whom, and what was expected before."""

    schema_version: Literal[1] = 1
    title: Annotated[str, Field(min_length=1, max_length=120)]
    students: Annotated[tuple[str, ...], Field(min_length=1)] = ("lab-model",)
    """Whose training is tried: ``lab-model``, checkpoint folders or ``student:ID``."""
    probes: Probes | None = None
    """None: no influence matrix."""
    forks: Forks | None = None
    """None: no forks, so nothing but the influence matrix."""
    training: TrainingSettings = FORK
    """The stage of a fork. Gradients use its reward, temperature, plans a task and loss."""
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    hypothesis: Annotated[str, Field(max_length=4000)] = ""
    prediction: Annotated[str, Field(max_length=4000)] = ""
    """The expected result, written before anything ran."""
    smallest_effect: Annotated[float, Field(gt=0, le=0.5)] = 0.01
    """Smallest headroom or value of information that would matter, as a difference of rates."""
    stopping_rule: Annotated[str, Field(max_length=4000)] = ""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.probes is None and self.forks is None:
            raise ValueError('nothing would be measured: give "probes", "forks" or both')
        families = {config.family for config in self.configs}
        if self.forks is not None:
            families.add(self.forks.suite.family)
        if len(families) > 1:
            raise ValueError(f"the configs are of several families: {', '.join(sorted(families))}")
        if len(set(self.students)) < len(self.students):
            raise ValueError("two students are the same")
        return self

    @property
    def configs(self) -> list[Any]:
        return [*(self.probes.configs.values() if self.probes else ()), *(self.forks.menu.values() if self.forks else ())]

    @property
    def tasks(self) -> Family:
        """The task family."""
        return family_of(self.configs[0].family)

    @property
    def total(self) -> int:
        """Parts of the work: an influence matrix a student, forks, and the measurement of each student before its forks."""
        forks = self.forks
        each = forks.replicates * (1 + len(forks.menu) + len(forks.doses)) if forks else 0
        return len(self.students) * (each + (self.probes is not None))


def menu_of(config: Config) -> dict[str, Config]:
    """Name -> config: the config itself, equal shares, uniform with its own ratios, everything easier and harder, each ratio lower and
    higher, and each axis alone.

    Headroom is counted from equal shares at the config's ratios, so that shares and ratios are not mixed. An axis is
    what some cells have in common, such as a team; where cells have nothing in common, each is an axis of its own.

    Configs that equal an earlier one are left out.
    """
    family = family_of(config.family)
    knobs = [family.knobs[name] for name in family.ratios]
    made = {KEPT: config, EQUAL: evenly(config), UniformEngineer.title: family.even(config)}
    if any(knob.harder for knob in knobs):
        made["easy"] = moved(config, {knob.name: -knob.harder for knob in knobs}, family)
        made["hard"] = moved(config, {knob.name: knob.harder for knob in knobs}, family)
    for knob in knobs:
        made[f"{knob.label} lower"] = moved(config, {knob.name: -1}, family)
        made[f"{knob.label} higher"] = moved(config, {knob.name: 1}, family)
    for axis, cells in axes(config):
        made[f"{ONLY}{axis if len(cells) > 1 else cells[0]}"] = alone(config, cells)
    menu: dict[str, Config] = {}
    for name, tried in made.items():
        if name in (KEPT, EQUAL) or tried not in menu.values():
            menu[name] = tried
    return menu


def alone(config: Config, cells: Sequence[str]) -> Config:
    """The config with all tasks in some of its cells, in equal parts; the others stay in it with a share of 0."""
    return with_shares(config, {name: (name in cells) / len(cells) for name in config.cells})


def moved(config: Config, directions: Mapping[str, int], family: Family) -> Config:
    """The config with ratios moved a step up (1) or down (-1) in every cell, or a smaller one where the tasks could not be drawn."""
    current = config
    for cell in config.cells:
        for part in SMALLER_STEPS:
            tried = current.with_cells({**current.cells, cell: _moved_cell(config.cells[cell], directions, part * STEP, family)})
            if family.undrawable(tried, cell) is None:
                current = tried
                break
    return current


def _moved_cell(own: Any, directions: Mapping[str, int], step: float, family: Family) -> Any:
    changes = {}
    for name in family.ratios_of(own):
        knob = family.knobs[name]
        value = own.settings()[name] + directions.get(name, 0) * step * (knob.high - knob.low)
        changes[name] = round(min(max(value, knob.low), knob.high), 6)
    return own.model_copy(update=changes)
