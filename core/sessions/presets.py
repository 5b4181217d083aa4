"""Session specs that are ready to run."""

from __future__ import annotations

from core.lake.config import EnvironmentConfig
from core.lake.suites import SUITES
from core.sessions.spec import SessionSpec
from core.training.settings import TrainingSettings


def quick_spec(seed: int = 0) -> SessionSpec:
    """Three stages with the lab model as policy and engineer, in under ten minutes on two cores."""
    return SessionSpec(
        title="Quick session",
        initial_config=EnvironmentConfig.uniform(SUITES["session"].sizes, agents=2, hole_ratio=0.2, wait_ratio=0.2),
        training=TrainingSettings(steps=40),
        suite=SUITES["session"],
        seed=seed,
    )
