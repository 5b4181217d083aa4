from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small language model. Tests that ask for it belong to the xdist group ``language``: it takes seconds to train."""
    from tests.tiny_models import build

    return build(tmp_path_factory.mktemp("tiny") / "qwen3")
