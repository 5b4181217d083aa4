"""The engineer behind an API, asked at a real server: vLLM's own, on the CPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from trl.generation.vllm_client import VLLMClient

from frozenlab.engineer import hosts
from frozenlab.engineer.engineers import ApiEngineer
from frozenlab.lake.instance import Instance
from frozenlab.models.language.engines import Served
from frozenlab.models.policy import Sampling
from frozenlab.session.store import SessionStore
from tests.language_sessions import tiny_policy, tiny_spec
from tests.running import finish
from tests.serving import free_port
from tests.tiny_models import boards

SERVER = """
import runpy, sys
import vllm._custom_ops as ops
ops._supports_onednn = False
runpy.run_module("vllm.entrypoints.openai.api_server", run_name="__main__")
"""


@pytest.fixture(scope="module")
def url(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A vLLM server that constrains by llguidance."""
    port = free_port()
    by_guidance = '{"backend": "guidance", "disable_any_whitespace": true}'
    command = [sys.executable, "-c", SERVER, "--model", str(tiny_model), "--served-model-name", "tiny", "--host", "127.0.0.1"]
    # A longer prompt would be read in parts, which vLLM cannot do on a processor for a request with a seed.
    command += f"--port {port} --enforce-eager --max-model-len 8000 --max-num-batched-tokens 8000".split()
    command += ["--structured-outputs-config", by_guidance]
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


def test_trls_client_writes_under_a_schema(url: str, tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the policy's engine is a server; its weights are not exchanged here, for which NCCL and a GPU are needed."""
    monkeypatch.setattr(VLLMClient, "init_communicator", lambda *_, **__: None)
    policy = tiny_policy(tiny_model)
    policy.writer = Served(policy.model, url.removesuffix("/v1"))
    monkeypatch.setattr(policy.writer, "refresh", lambda **_: None)
    assert all(completion.text.startswith("Agent 0:") for [completion] in policy.answer(list(map(Instance.unsolved, boards()[:3]))))
    schema = {"type": "object", "properties": {"size": {"enum": [3, 4]}}, "required": ["size"], "additionalProperties": False}
    text, *_ = policy.reply([{"role": "user", "content": "Which size?"}], schema, limit=100, thoughts=0, sampling=Sampling(0.7))
    assert json.loads(text) in ({"size": 3}, {"size": 4})
    drawn = policy.answer(list(map(Instance.unsolved, boards()[:3])), Sampling(1.0, completions=4, seed=2))
    assert all(len({completion.text for completion in group}) > 1 for group in drawn), "one seed, and yet different answers"
    assert drawn == policy.answer(list(map(Instance.unsolved, boards()[:3])), Sampling(1.0, completions=4, seed=2))


def test_a_session_is_engineered_by_a_real_server(url: str, tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(hosts.VARIABLE, url.split("/")[2])
    api = ApiEngineer(base_url=url, model="tiny", max_tokens=2000, temperature=1.0)
    spec = tiny_spec(tiny_model, "full").changed(engineer=api)
    session = SessionStore(tmp_path).create(spec, "served")
    assert finish(session) == 0, session.state().error
    for stage in range(2):
        record = session.proposal(stage)
        assert record is not None and record.kept_because is None, record
        assert (record.attempts[0].prompt_tokens or 0) > 500 and (record.attempts[0].tokens or 0) > 20
    assert session.environment(1).config != session.environment(0).config  # type: ignore[union-attr]
