"""A page does not load a language model onto a GPU on which one is trained."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from frozenlab.jobs.gpus import Gpu
from frozenlab.session import planner


@pytest.mark.parametrize(("gpus", "language", "refused"), [(1, True, True), (0, True, False), (1, False, False), (1, None, False)])
def test_it_is_refused_only_there(monkeypatch: pytest.MonkeyPatch, gpus: int, language: bool | None, refused: bool) -> None:
    running = None if language is None else SimpleNamespace(title="Mine", spec=SimpleNamespace(language=object() if language else None))
    store: Any = SimpleNamespace(running=lambda: running)
    monkeypatch.setattr(planner, "gpus", lambda: (Gpu("NVIDIA H200", 1),) * gpus)
    if refused:
        with pytest.raises(planner.PlannerError, match="Mine trains a language model on this machine's GPU"):
            planner.refuse_beside_training(store)
    else:
        planner.refuse_beside_training(store)
