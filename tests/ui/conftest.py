from __future__ import annotations

import pytest

from frozenlab.session.session import Session
from tests.builders import build_session


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A session of three stages. Tests only read it."""
    return build_session(tmp_path_factory.mktemp("built"))
