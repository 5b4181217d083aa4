"""What an engine is given: the weights that the model computes with, the model itself left alone. vLLM itself: tests/with_vllm."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import pytest
import torch

from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.models.folders import ADAPTER
from frozenlab.models.language import engines
from frozenlab.models.language.engines import MOST_ROWS, AsAdapters, Engine, merged_weights, published
from frozenlab.models.language.writers import Begun
from frozenlab.models.policy import Sampling
from frozenlab.models.settings import Vllm
from tests.language_sessions import adapted, tiny_policy


def test_300_synchronisations_leave_a_bfloat16_model_as_it_was(tiny_model: Path) -> None:
    model = adapted(tiny_model, 0.02, to_train=True, dtype="bfloat16").model
    before = {name: weight.clone() for name, weight in model.named_parameters()}
    for _ in range(300):
        for _, weight in merged_weights(model):
            assert weight.dtype in (torch.bfloat16, torch.float32)
    assert all(torch.equal(weight, before[name]) for name, weight in model.named_parameters())


def test_what_is_sent_is_base_and_change_to_half_a_step(tiny_model: Path) -> None:
    model = adapted(tiny_model, 0.05, to_train=True, dtype="bfloat16").model
    sent = dict(merged_weights(model))
    changed = 0
    for name, layer in model.named_modules():
        if not hasattr(layer, "base_layer"):
            continue
        base, delta = layer.base_layer.weight.float(), layer.get_delta_weight("default").float()
        given = sent[f"{name.removeprefix('base_model.model.')}.weight"].float()
        step = torch.finfo(torch.bfloat16).eps * 2 ** torch.floor(torch.log2((base + delta).abs().clamp(min=1e-30)))
        assert ((given - (base + delta)).abs() <= step / 2 * 1.0001).all()
        changed += int((given != base).sum())
    assert changed > 1000
    assert "model.embed_tokens.weight" in sent and not any("lora" in name or "base_layer" in name for name in sent)


def test_a_revision_is_given_to_the_engine_as_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """vLLM would load the main branch's config, tokenizer and weights."""
    asked = []
    monkeypatch.setattr("frozenlab.models.language.engines.snapshot_download", lambda name, **how: asked.append((name, how)) or "folder")
    assert published("Qwen/Qwen3-4B", "abc") == "folder"
    assert asked[0][0] == "Qwen/Qwen3-4B" and asked[0][1]["revision"] == "abc"
    assert published("Qwen/Qwen3-4B", None) == "Qwen/Qwen3-4B" and published(str(tmp_path), "abc") == str(tmp_path)
    assert len(asked) == 1


class Written:
    """vLLM, as far as the engine asks it: it keeps its settings and requests, and writes an end token."""

    def __init__(self, **settings: Any) -> None:
        self.settings, self.calls, self.given = settings, [], 0
        runner = SimpleNamespace(model=SimpleNamespace(load_weights=self.load))
        self.llm_engine = SimpleNamespace(model_executor=SimpleNamespace(driver_worker=SimpleNamespace(model_runner=runner)))

    def load(self, weights: Any) -> None:
        self.given += len(list(weights)) > 0

    def reset_prefix_cache(self) -> None:
        pass

    def generate(self, prompts: list[Any], asked: Any, **_: Any) -> list[Any]:
        self.calls.append((len(prompts), asked))
        return [SimpleNamespace(outputs=[SimpleNamespace(token_ids=[2], logprobs=[{2: SimpleNamespace(logprob=-1.0)}])]) for _ in prompts]


def test_a_measurement_asks_the_engine_in_a_few_calls_as_the_models_card_says(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", SimpleNamespace(LLM=Written, SamplingParams=SimpleNamespace))
    monkeypatch.setitem(sys.modules, "vllm.sampling_params", SimpleNamespace(StructuredOutputsParams=SimpleNamespace))
    monkeypatch.setattr(engines, "published", lambda name, revision: f"{Path(name).name}@{revision}")
    monkeypatch.setattr(engines, "name_this_process", lambda: None)
    policy = tiny_policy(tiny_model, thinking=True, vllm=Vllm(memory=0.7))
    policy.writer = Engine(policy.model, policy.settings.model_copy(update={"revision": "abc"}))
    llm: Any = policy.writer.llm
    assert llm.settings["model"] == f"{tiny_model.name}@abc" and llm.settings["gpu_memory_utilization"] == 0.7
    tasks, done = generate(EnvironmentConfig.uniform((3,), agents=2), MOST_ROWS // 2 + 10, seed=1), []
    answers = policy.answer(tasks, Sampling(0.6, completions=2, seed=3, top_p=0.95, top_k=20), done.append)
    assert [len(own) for own in answers] == [2] * len(tasks)
    assert [rows for rows, _ in llm.calls] == [MOST_ROWS, 20] and done == [MOST_ROWS // 2, len(tasks)], "chunks, between which it can stop"
    assert llm.given == 1, "the weights are sent once"
    for _, asked in llm.calls:
        assert (asked.temperature, asked.top_p, asked.top_k, asked.max_tokens) == (0.6, 0.95, 20, 40)
        assert not hasattr(asked, "seed"), "a seed for each request would make a generator for each row"


class WrittenByStep(Written):
    """vLLM one token at a time: request n is over after its own number of tokens, which are the numbers of its requests so far."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.asked: list[tuple[int, list[int], Any]] = []
        self.running: dict[str, int] = {}
        self.llm_engine.add_request, self.llm_engine.step, self.llm_engine.abort_request = self.add, self.step, self.abort

    def add(self, number: str, prompt: Any, asked: Any) -> None:
        self.asked.append((int(number), prompt["prompt_token_ids"], asked))
        self.running[number] = min(int(number) + 1, asked.max_tokens)

    def step(self) -> list[Any]:
        parts = []
        for number in list(self.running):
            self.running[number] -= 1
            output = SimpleNamespace(token_ids=[int(number)], logprobs=[{int(number): SimpleNamespace(logprob=-0.5)}])
            parts.append(SimpleNamespace(request_id=number, outputs=[output], finished=self.running[number] == 0))
            if parts[-1].finished:
                del self.running[number]
        return parts

    def abort(self, numbers: list[str]) -> None:
        for number in numbers:
            del self.running[number]


def test_an_engine_stops_when_enough_groups_are_over_and_goes_on_with_the_others(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", SimpleNamespace(LLM=WrittenByStep, SamplingParams=SimpleNamespace))
    monkeypatch.setitem(sys.modules, "vllm.sampling_params", SimpleNamespace(RequestOutputKind=SimpleNamespace(DELTA="delta")))
    monkeypatch.setattr(engines, "name_this_process", lambda: None)
    policy = tiny_policy(tiny_model, vllm=Vllm(memory=0.7, done=0.8))
    engine = Engine(policy.model, policy.settings)
    llm: Any = engine.llm
    assert llm.settings["max_num_seqs"] == MOST_ROWS / 0.8
    prompts, how = [[7, 8, row] for row in range(6)], {"group": 2, "limit": 6, "sampling": Sampling(1.0, seed=1)}
    first = engine.go_on(prompts, [Begun([], [])] * 6, enough=2, **how)
    assert [len(text.ids) for text in first] == [1, 2, 3, 4, 4, 4] and [text.over for text in first] == [True] * 4 + [False] * 2
    assert not llm.running, "those that are not over are called back"
    llm.asked.clear()
    second = engine.go_on(prompts[4:], first[4:], enough=1, **how)
    assert [(row, ids, asked.max_tokens) for row, ids, asked in llm.asked] == [(0, [7, 8, 4, 4, 4, 4, 4], 2), (1, [7, 8, 5, 5, 5, 5, 5], 2)]
    assert second == [Begun([4, 4, 4, 4, 0], [-0.5] * 5, True), Begun([5, 5, 5, 5, 1, 1], [-0.5] * 6, True)]
    assert [len(text.ids) for text in first] == [1, 2, 3, 4, 4, 4], "what was handed over stays as it is"
    llm.asked.clear()
    assert engine.go_on(prompts[4:], second, enough=1, **how) == second and not llm.asked


def test_a_whole_model_is_sent_as_it_is(tiny_model: Path) -> None:
    model = tiny_policy(tiny_model, to_train=True).model
    assert all(torch.equal(sent, weight) for (_, sent), weight in zip(merged_weights(model), model.parameters(), strict=True))


def test_a_model_that_is_only_measured_leaves_the_engine_the_room_for_its_training(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = [tiny_policy(tiny_model, to_train=to_train).model for to_train in (True, False)]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (0, 0))
    monkeypatch.setattr(engines, "engine_share", lambda card, resident, sleeps: resident)
    sizes = [engines.share_here(model, sleeps=True) / sum(weight.nbytes for weight in model.parameters()) for model in models]
    assert sizes == [4.0, 1.0], "gradients and the optimizer take three times the weights"


@pytest.mark.parametrize("room", [0.5, 1.9, 2.1])
def test_adapters_go_through_shared_memory_only_if_they_have_room_there_twice(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: float
) -> None:
    monkeypatch.setitem(sys.modules, "vllm.config.lora", SimpleNamespace(MaxLoRARanks=Literal[8, 64]))
    monkeypatch.setitem(sys.modules, "vllm.lora.request", SimpleNamespace(LoRARequest=lambda name, number, folder: folder))
    shared, disk, read = tmp_path / "shm", tmp_path / "session", []
    shared.mkdir(), disk.mkdir()
    model = adapted(tiny_model).model
    weights = AsAdapters(model, disk)
    monkeypatch.setattr(engines, "SHARED_MEMORY", shared)
    monkeypatch.setattr(engines.shutil, "disk_usage", lambda folder: SimpleNamespace(free=room * weights.size))
    llm = SimpleNamespace(
        llm_engine=SimpleNamespace(add_lora=lambda folder: read.append((folder, (Path(folder) / ADAPTER).stat().st_size)))
    )
    weights.give(llm)
    [(folder, size)] = read
    assert Path(folder).parent == (shared if room >= 2 else disk)
    assert weights.size <= size < 1.2 * weights.size, "what is measured is what is written"
    assert not list(shared.iterdir()) and not list(disk.iterdir())


def test_an_engine_sleeps_again_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    engine = Engine.__new__(Engine)
    engine.sleeps, engine.stale, engine.weights = True, False, SimpleNamespace(sleep=1)  # type: ignore[assignment]
    engine.llm = SimpleNamespace(wake_up=lambda tags: calls.append(tags[0]), sleep=lambda level: calls.append("asleep"))
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    with pytest.raises(KeyError), engine.awake():
        raise KeyError
    assert calls == ["weights", "kv_cache", "asleep"]
