"""The lake in `verifiers`: these tests run where that package is installed; whole rollouts where `uv` is, which starts its chats."""

import asyncio
import json
import shutil
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from frozenlab.base.errors import MissingExtra
from frozenlab.base.places import ROOT
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.words.answers import prompt, write_answer

vf = pytest.importorskip("verifiers.v1")
from frozenlab.lake.envs import verifiers_env  # noqa: E402
from frozenlab.lake.envs.verifiers_env import TASKSET_ID, LakeTask, LakeTaskset, LakeTasksetConfig, load_environment  # noqa: E402

CONFIG = EnvironmentConfig.uniform((3, 4), agents=2)


PLACE = ROOT / "environments" / "mapf_frozenlake"


@pytest.fixture(autouse=True)
def package(monkeypatch: pytest.MonkeyPatch) -> None:
    """By which verifiers finds the taskset, whether it is installed or not."""
    monkeypatch.syspath_prepend(PLACE)


def tasks(n: int = 4) -> list[LakeTask]:
    return list(LakeTaskset(LakeTasksetConfig(environment=CONFIG, boards=n, seed=3)))


def scored(task: LakeTask, reply: str) -> tuple[dict[str, float], dict[str, float]]:
    """(rewards, metrics) of a reply, by verifiers' own scoring."""
    traced = vf.TraceTask(type="LakeTask", data=task.data, key=task.key, hash=task.hash)
    trace = vf.Trace(task=traced, agent=vf.AgentInfo(config=vf.AgentConfig()), state=vf.State(), root_reply=reply)
    asyncio.run(task.score(trace))
    return {name: found.value for name, found in trace.rewards.items()}, dict(trace.metrics)


def test_the_tasks_are_drawn_by_the_generator() -> None:
    instances = generate(CONFIG, 4, seed=3)
    assert [task.data.id for task in tasks()] == [instance.id for instance in instances]
    assert [task.data.prompt for task in tasks()] == [prompt(instance.board) for instance in instances]
    assert [task.data.idx for task in tasks()] == [0, 1, 2, 3]
    assert asyncio.run(tasks()[0].validate(None)) is True


def test_verifiers_finds_the_taskset_by_its_name_and_reads_its_config_from_a_file() -> None:
    data = {"taskset": {"id": TASKSET_ID, "boards": 3, "seed": 3, "environment": json.loads(CONFIG.to_json())}}
    config = vf.resolve_env_config(data)
    assert [task.data.id for task in vf.load_environment(config).taskset] == [task.data.id for task in tasks(3)]


def test_without_its_package_the_reason_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifiers_env, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="verifiers knows no mapf-frozenlake: pip install -e environments/mapf_frozenlake"):
        load_environment(CONFIG, boards=1, seed=0)


def test_the_config_for_prime_rl_names_the_taskset() -> None:
    [source] = tomllib.loads((PLACE / "rl.toml").read_text(encoding="utf-8"))["orchestrator"]["train"]["source"]
    taskset = vf.load_environment(vf.resolve_env_config(source["env"])).taskset
    assert isinstance(taskset, LakeTaskset) and (taskset.config.boards, taskset.config.environment.teams) == (4000, (2,))


def test_a_reply_is_scored_as_the_lake_scores_it() -> None:
    task = tasks(1)[0]
    plan = generate(CONFIG, 1, seed=3)[0].solution.plan or ()
    later = tuple("W" + motions for motions in plan)
    steps = task.data.optimal_makespan
    assert scored(task, f"Thinking ...\n{write_answer(plan)}") == ({"plan": 1.0}, {"valid": 1.0, "optimal": 1.0})
    assert scored(task, write_answer(later)) == ({"plan": pytest.approx(0.7 + 0.3 * steps / (steps + 1))}, {"valid": 1.0, "optimal": 0.0})
    assert scored(task, "I give up.") == ({"plan": 0.0}, {"valid": 0.0, "optimal": 0.0})


class Parrot(BaseHTTPRequestHandler):
    """An OpenAI-compatible, streaming chat endpoint that gives the answer that it has for a question."""

    answers: dict[str, str]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = body["messages"][-1]["content"]
        text = asked if isinstance(asked, str) else "".join(part["text"] for part in asked)
        delta = {"role": "assistant", "content": self.answers[text]}
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": body["model"]}
        choices = [{"index": 0, "delta": delta, "finish_reason": None}], [{"index": 0, "delta": {}, "finish_reason": "stop"}]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for data in (*(json.dumps(chunk | {"choices": choice}) for choice in choices), "[DONE]"):
            self.wfile.write(f"data: {data}\n\n".encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[str]:
    """The address of a Parrot that knows the second and third task of :func:`tasks`, and gives the third a slow plan."""
    first, second, third = tasks(3)
    slow = write_answer(tuple("W" + motions for motions in generate(CONFIG, 3, seed=3)[2].solution.plan or ()))
    Parrot.answers = {
        first.data.prompt: "Agent 0: somewhere",
        second.data.prompt: f"So:\n{second.data.optimal_answer}",
        third.data.prompt: slow,
    }
    server = ThreadingHTTPServer(("127.0.0.1", 0), Parrot)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("uv") is None, reason="verifiers starts its chat program with uv")
def test_whole_rollouts_against_an_openai_endpoint(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARROT_KEY", "none")
    env = load_environment(CONFIG, boards=3, seed=3)
    context = vf.ModelContext("parrot", vf.EvalClientConfig(base_url=endpoint, api_key_var="PARROT_KEY"))

    async def roll_out() -> list[vf.Episode]:
        async with env.serving():
            return [await env.run_slot(slot, context) for task in env.taskset for slot in env.slots(task)]

    episodes = asyncio.run(roll_out())
    assert all(episode.ok for episode in episodes), [episode.traces[0].errors for episode in episodes]
    traces = [episode.traces[0] for episode in episodes]
    steps = tasks(3)[2].data.optimal_makespan
    assert [trace.rewards["plan"].value for trace in traces] == pytest.approx([0.0, 1.0, 0.7 + 0.3 * steps / (steps + 1)])
    assert [trace.metrics["valid"] for trace in traces] == [0.0, 1.0, 1.0]
    assert [trace.metrics["optimal"] for trace in traces] == [0.0, 1.0, 0.0]
