"""Builds small measurements: a spec that runs in seconds, and folders with made-up outcomes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from frozenlab.experiments.headroom.plan import menu_forks, menu_names
from frozenlab.experiments.headroom.spec import Forks, HeadroomSpec, Probes, alone, menu_of
from frozenlab.experiments.headroom.store import FIGURES, Headroom, Influence, write_influence, write_outcomes
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.suites import SuiteSpec
from frozenlab.models.training.methods import TrainingSettings
from frozenlab.session.store import SessionStore

CONFIG = EnvironmentConfig.uniform((3, 4), agents=2)
PROBES = {cell: alone(CONFIG, [cell]) for cell in CONFIG.cells}
SUITE = SuiteSpec(agents=(2,), sizes=(3, 4), boards_per_cell=4)


def tiny_spec(**fields: Any) -> HeadroomSpec:
    """Four configs, two replicates and two doses of the lab model, one step of two boards each."""
    menu = {name: config for name, config in menu_of(CONFIG).items() if name in ("kept", "equal", "only 3", "only 4")}
    usual = {
        "title": "Tiny",
        "probes": Probes(configs=PROBES, tasks=1),
        "forks": Forks(menu=menu, suite=SUITE, doses=(0.5,), plans=1),
        "training": TrainingSettings(steps=1, boards_per_step=2, completions_per_board=2, schedule="per-stage", temperature=1.0),
        "prediction": "Nothing is clear of chance.",
    }
    return HeadroomSpec(**(usual | fields))


def built(root: Path, gains: np.ndarray, spec: HeadroomSpec | None = None) -> Headroom:
    """A measurement whose forks change the valid rate of all cells by ``gains``, (students, configs, replicates), from 0.4."""
    students, configs, replicates = gains.shape
    names = ["kept", "equal", *map("config {}".format, range(configs))][:configs]
    spec = spec or HeadroomSpec(
        title="Built",
        students=tuple(map("student-{}".format, range(students))),
        probes=Probes(configs=PROBES),
        forks=Forks(menu=dict.fromkeys(names, CONFIG), suite=SUITE, replicates=replicates),
        prediction="Made up.",
    )
    measurement = Headroom.create(spec, SessionStore(root), "built")
    rows = []
    for fork in menu_forks(spec):
        gain = gains[fork.student, menu_names(spec).index(fork.config), fork.replicate] if fork.config else 0
        counts = {"n": 1000, "optimal": 0, "plans": 1000} | dict.fromkeys(("valid", "plans_valid"), round(1000 * (0.4 + gain)))
        rows += [fork._asdict() | {"cell": cell} | counts for cell in CONFIG.cells]
    write_outcomes(measurement.dir, rows)
    for student in range(students):
        slopes = np.eye(2, 50).repeat(8, axis=0) + np.random.default_rng(student).normal(0, 0.1, (16, 50))
        products = (slopes @ slopes.T).reshape(2, 8, 2, 8)
        write_influence(measurement, student, Influence(products, {name: np.full((2, 8), 0.5) for name in FIGURES}))
    return measurement
