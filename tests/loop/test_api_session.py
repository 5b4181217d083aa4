"""A background session with an engineer behind an API: it continues whatever the server does, and never writes the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from frozenlab.engineer.engineers import ApiEngineer
from frozenlab.session import launch
from frozenlab.session.store import SessionStore
from tests.api_server import fails, fills_in_the_schema, serving
from tests.builders import short_spec
from tests.running import wait_for

pytestmark = pytest.mark.slow

KEY = "sk-not-to-be-written-anywhere"


def test_a_session_continues_after_a_refusal_and_never_writes_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_TEST_API_KEY", KEY)
    refusal = fails(401, f"Incorrect API key provided: {KEY}")
    with serving(refusal, refusal, fills_in_the_schema) as server:
        monkeypatch.setenv("FROZENLAB_API_HOSTS", server.url.split("/")[2])
        engineer = ApiEngineer(base_url=server.url, model="m", key_variable="LAB_TEST_API_KEY")
        session = launch.start(short_spec(engineer, steps=1), SessionStore(tmp_path))
        wait_for(lambda: not session.state().live, "the end")
    assert session.state().status == "done", (session.dir / "worker.log").read_text()
    assert set(server.keys) == {f"Bearer {KEY}"}
    refused, answered = session.proposal(0), session.proposal(1)
    assert refused is not None and "the server answered 401" in (refused.kept_because or "")
    assert refused.config_after == refused.config_before
    assert answered is not None and answered.kept_because is None
    assert answered.config_after != answered.config_before
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 15
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
