"""The engineer behind an API, asked at a real server: vLLM's own, on the CPU."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from core.engineer.schema import ApiSettings
from core.sessions.store import SessionStore
from tests.language_sessions import finish, tiny_spec

SERVER = """
import runpy, sys
import vllm._custom_ops as ops
ops._supports_onednn = False
runpy.run_module("vllm.entrypoints.openai.api_server", run_name="__main__")
"""


@pytest.fixture(scope="module")
def url(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A vLLM server that constrains by llguidance."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    by_guidance = '{"backend": "guidance", "disable_any_whitespace": true}'
    command = [sys.executable, "-c", SERVER, "--model", str(tiny_model), "--served-model-name", "tiny", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--enforce-eager", "--max-model-len", "8000", "--structured-outputs-config", by_guidance]
    log = tmp_path_factory.mktemp("server") / "log"
    with log.open("w") as out, subprocess.Popen(command, stdout=out, stderr=out, env=dict(os.environ)) as server:
        deadline = time.monotonic() + 180
        while True:
            assert server.poll() is None and time.monotonic() < deadline, log.read_text()[-4000:]
            try:
                urlopen(f"http://127.0.0.1:{port}/health", timeout=2)
                break
            except (URLError, OSError):
                time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/v1"
        server.terminate()


def test_a_session_is_engineered_by_a_real_server(url: str, tiny_model: Path, tmp_path: Path) -> None:
    api = ApiSettings(base_url=url, model="tiny", max_tokens=2000, temperature=1.0)
    spec = tiny_spec(tiny_model, "full").model_copy(update={"engineer": "api", "api": api})
    session = SessionStore(tmp_path).create(spec, "served")
    assert finish(session) == 0, session.state().error
    for stage in range(2):
        record = session.proposal(stage)
        assert record is not None and record.kept_because is None, record
        assert (record.attempts[0].prompt_tokens or 0) > 500 and (record.attempts[0].tokens or 0) > 20
    assert session.environment(1).config != session.environment(0).config  # type: ignore[union-attr]
