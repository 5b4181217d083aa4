"""The memory estimate agrees with real networks, built on the meta device, and with known limits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import Qwen3Config, Qwen3ForCausalLM

from benchmarks import gpu_stage
from frozenlab.experiments.benchmark.task import Evaluation, EvaluationError, task_for
from frozenlab.experiments.experiment import RunSettings
from frozenlab.experiments.studies.grid import StudyError
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.store import Study
from frozenlab.jobs.launcher import LaunchError
from frozenlab.jobs.machine import Gpu, Memory, fast_bfloat16, gpus
from frozenlab.jobs.queue.db import QueueDB, QueuedJob
from frozenlab.jobs.state import created, store_state
from frozenlab.models.language import room
from frozenlab.models.settings import LanguageSettings, Lora, Vllm
from frozenlab.session import footprint as module
from frozenlab.session import launch
from frozenlab.session.footprint import (
    COMMON,
    GIB,
    QWEN3,
    Shape,
    checkpoints,
    footprint,
    footprint_on_processor,
    needs,
    processor_seconds,
    shape_of,
    shortfalls,
)
from frozenlab.session.launch import resume
from frozenlab.session.presets import preset_spec
from frozenlab.session.spec import SessionSpec
from frozenlab.session.state import State
from frozenlab.session.store import SessionStore
from tests.cli.calls import reason

ROOT = Path(__file__).parents[2]
LORA = Lora(rank=8)
SMALL = Shape(2, 128, 384, 8, 4, 32, 500, True)
H200 = Gpu("NVIDIA H200", 141 * GIB)


def network(shape: Shape, device: str = "meta") -> Qwen3ForCausalLM:
    """Its architecture as transformers builds it; on ``meta`` there is no memory behind the weights."""
    config = Qwen3Config(
        num_hidden_layers=shape.layers, hidden_size=shape.hidden, intermediate_size=shape.intermediate, num_attention_heads=shape.heads,
        num_key_value_heads=shape.pairs, head_dim=shape.head, vocab_size=shape.vocabulary, tie_word_embeddings=shape.tied,
    )  # fmt: skip
    with torch.device(device):
        return Qwen3ForCausalLM(config)


def with_language(**fields: object) -> SessionSpec:
    spec = preset_spec("paper")
    return spec.model_copy(update={"language": LanguageSettings.model_validate(spec.language.model_dump() | fields)})


@pytest.mark.parametrize("name", QWEN3)
def test_parameters_are_counted_as_the_network_has_them(name: str) -> None:
    model = network(QWEN3[name])
    assert sum(weight.numel() for weight in model.parameters()) == QWEN3[name].parameters
    adapted = get_peft_model(model, LoraConfig(r=LORA.rank, target_modules="all-linear", task_type="CAUSAL_LM"))
    assert sum(weight.numel() for weight in adapted.parameters() if weight.requires_grad) == QWEN3[name].adapters(LORA)


def test_the_shape_of_a_model_is_read_from_its_folder(tmp_path: Path) -> None:
    shape = QWEN3["Qwen/Qwen3-0.6B"]
    network(shape).config.save_pretrained(tmp_path)
    assert shape_of(str(tmp_path)) == shape
    (tmp_path / "config.json").write_text("{")
    assert shape_of(str(tmp_path)) is None
    assert shape_of("nobody/has-this-model") is shape_of("nonsense") is None


def test_adapters_have_the_shape_of_their_base(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text('{"base_model_name_or_path": "Qwen/Qwen3-1.7B"}')
    assert shape_of(str(tmp_path)) == QWEN3["Qwen/Qwen3-1.7B"]
    (tmp_path / "adapter_config.json").write_text("{}")
    assert shape_of(str(tmp_path)) is None


def test_the_papers_model_fits_where_it_is_known_to_fit() -> None:
    shape = QWEN3["Qwen/Qwen3-4B"]
    assert footprint(with_language(), shape).total < 40 * GIB, "LoRA on one GPU of 40 GB"
    assert 16 * shape.parameters < footprint(with_language(lora=None), shape).total, "Adam alone takes 16 bytes a weight"


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ({}, {"lora": None}),
        ({"lora": {"rank": 8}}, {"lora": {"rank": 64}}),
        ({"gradient_checkpointing": True}, {"gradient_checkpointing": False}),
        ({"rows": 1}, {"rows": 8}),
        ({"max_tokens": 1024}, {"max_tokens": 8192}),
        ({"dtype": "bfloat16"}, {"dtype": "float32"}),
        ({"vllm": Vllm(sleep=True).model_dump()}, {"vllm": Vllm(sleep=False).model_dump()}),
        ({"vllm": Vllm(mode="server").model_dump()}, {"vllm": Vllm().model_dump()}),
        ({"vllm": Vllm(cache="fp8", sleep=False).model_dump()}, {"vllm": Vllm(sleep=False).model_dump()}),
        ({}, {"vllm": None}),
    ],
)
def test_what_costs_memory(less: dict[str, object], more: dict[str, object]) -> None:
    shape = QWEN3["Qwen/Qwen3-4B"]
    assert footprint(with_language(**less), shape).total < footprint(with_language(**more), shape).total


def test_more_gpus_share_the_steps_and_faster_ones_take_less_time() -> None:
    shape = QWEN3["Qwen/Qwen3-4B"]
    one, two = (footprint(with_language(launcher={"processes": n}), shape) for n in (1, 2))
    slow, fast = (Gpu(f"NVIDIA {name} SXM", 80 * GIB) for name in ("A100", "H100"))
    assert (one.step_seconds(fast) or 0) < (one.step_seconds(slow) or 0)
    assert (two.step_seconds(fast) or 0) < (one.step_seconds(fast) or 0)
    assert one.step_seconds(Gpu("Voodoo 2", GIB)) is None


def test_a_step_takes_what_the_papers_session_can_be_expected_to_take() -> None:
    """LLM_NOTES.md, section 2: 2.5 to 5 minutes on an H200 with a lean trainer, bound by writing; adapters make that longer."""
    seconds = footprint(with_language(), QWEN3["Qwen/Qwen3-4B"], H200).step_seconds(H200)
    assert seconds is not None and 100 < seconds < 500


@pytest.mark.parametrize(("gpu", "seconds"), [(H200, 428), (Gpu("NVIDIA H100 80GB HBM3", 80 * GIB), 632)], ids=["H200", "H100"])
def test_the_seconds_of_a_step_are_the_sum_of_their_parts(gpu: Gpu, seconds: float) -> None:
    """On an H200: 8 beside, 103 of learning, and 1.6 for adapters times 30 to read weights and 168 to read keys and values of answers whose
    lengths are spread evenly (L\u00b2/6 + PL/2 for each)."""
    spec, shape = with_language(), QWEN3["Qwen/Qwen3-4B"]
    taken = footprint(spec, shape, gpu)
    assert taken.read == pytest.approx(256 * 8192 * (8192 / 6 + 350 / 2) * shape.cache * 2, rel=0.05)
    assert taken.step_seconds(gpu) == pytest.approx(seconds, rel=0.03)
    for merged in (Vllm(mode="server"), Vllm(merged=True)):
        assert taken.writing == 1.6 and footprint(with_language(vllm=merged.model_dump()), shape, H200).writing == 1.0
    assert footprint(with_language(vllm=Vllm(cache="fp8").model_dump()), shape, H200).read == taken.read / 2
    some, half = (footprint(with_language(vllm=Vllm(done=done).model_dump()), shape, H200) for done in (0.8, 0.5))
    assert (some.longest, half.longest) == (pytest.approx(8192 * 0.75 ** (1 / 8)), 4096), "three quarters of a step's boards come in one go"


def test_a_token_that_is_waited_for_takes_time_however_small_the_model() -> None:
    taken = footprint(with_language(max_tokens=4096, thinking=False), Shape(2, 64, 128, 2, 1, 32, 1000, True), H200)
    assert (taken.step_seconds(H200) or 0) >= 4096 * module.FLOOR


def saved_numbers(layers: int, lora: bool, dtype: str) -> float:
    """What a token leaves for the backward pass in a small network, in numbers of its format; weights and their copies left out."""
    tokens, saved = 256, dict[int, int]()
    model: Any = network(replace(SMALL, layers=layers), "cpu").to(torch.bfloat16 if lora and dtype == "bfloat16" else torch.float32)
    if lora:
        model = get_peft_model(model, LoraConfig(r=1, target_modules="all-linear", task_type="CAUSAL_LM")).base_model.model
    weights = {weight.untyped_storage().data_ptr() for weight in model.parameters()}
    kept = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            saved[storage.data_ptr()] = storage.nbytes()
        kept.append(tensor)
        return tensor

    mask = torch.ones(4, tokens // 4, dtype=torch.long).index_put((torch.tensor(0), torch.tensor(0)), torch.tensor(0))
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor), torch.autocast("cpu", enabled=dtype == "bfloat16"):
        model.model(input_ids=torch.zeros(4, tokens // 4, dtype=torch.long), attention_mask=mask)
    copies = sum(a * b for a, b in SMALL.linears) * layers if dtype == "bfloat16" and not lora else 0
    return sum(saved.values()) / tokens / (2 if dtype == "bfloat16" else 4) - copies / tokens


@pytest.mark.parametrize(("lora", "dtype"), [(True, "float32"), (True, "bfloat16"), (False, "float32"), (False, "bfloat16")])
def test_what_a_layer_keeps_of_a_token_is_what_torch_saves(lora: bool, dtype: str) -> None:
    layer = (saved_numbers(4, lora, dtype) - saved_numbers(2, lora, dtype)) / 2
    assert SMALL.kept(lora=lora, half=dtype == "bfloat16") == pytest.approx(layer, rel=0.05)


MEASURE = """
import json, os, sys
from benchmarks import gpu_stage

for asked, dtype in json.loads(sys.argv[2]):
    if child := os.fork():
        assert os.waitpid(child, 0)[1] == 0
        continue
    spec = gpu_stage.spec_of(options := gpu_stage.options_of(asked), sys.argv[1], "transformers")
    gpu_stage.run_stage(spec.changed(language=spec.language.model_dump() | {"dtype": dtype}), options)
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    most, of_files = (int(status[name].split()[0]) for name in ("VmHWM", "RssFile"))
    print(1024 * (most - of_files), flush=True)
    os._exit(0)
"""
"""Each stage in a process of its own, with no memory that another left in pieces, from one whose libraries are loaded once. Pages of files
do not count: the system says how many of them lie in memory (here 145 to 190 MB), and takes them back where it is short."""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not say what a process takes")
def test_a_step_takes_the_memory_that_was_told_before(tmp_path: Path) -> None:
    """The most that a process ever had is at most what was told and at least half of it: LoRA and all weights, in both number formats, and
    with gradient checkpointing."""
    few = ["--shape", "small", "--boards", "2", "--plans", "4", "--rows", "8", "--max-tokens", "64"]
    once, twice = ["--steps", "1"], ["--steps", "2"]  # an optimizer has its memory from the second step on
    asked = [
        ([*few, *once, "--checkpointing", "off"], "float32"),
        ([*few, *twice, "--checkpointing", "off", "--full"], "float32"),
        ([*few, *once, "--checkpointing", "on"], "float32"),
    ]
    if fast_bfloat16():  # where it is slow, nobody takes it
        asked += [([*few, *once, "--checkpointing", "off"], "bfloat16"), ([*few, *twice, "--checkpointing", "off", "--full"], "bfloat16")]
    shape = gpu_stage.SHAPES["small"]
    gpu_stage.build_model(shape, tmp_path, "float32")
    command = [sys.executable, "-c", MEASURE, str(tmp_path), json.dumps(asked)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
    told = []
    for options, dtype in asked:
        spec = gpu_stage.spec_of(gpu_stage.options_of(options), str(tmp_path), "transformers")
        told.append(footprint_on_processor(spec.changed(language=spec.language.model_dump() | {"dtype": dtype}), shape).total)
    measured = [int(line) for line in done.stdout.splitlines() if line.isdigit()]
    assert [most / 2 < one <= most for one, most in zip(measured, told, strict=True)] == [True] * len(asked), (measured, told)


def test_attention_costs_more_than_in_proportion_to_the_length() -> None:
    shape = QWEN3["Qwen/Qwen3-4B"]
    short, long = (footprint(with_language(max_tokens=n, context=40_000), shape).step_operations for n in (4096, 16_384))
    assert 4.5 < long / short < 12


def test_an_engine_with_less_room_takes_longer() -> None:
    taken = footprint(with_language(), QWEN3["Qwen/Qwen3-4B"], H200)
    small, large = (taken.step_seconds(Gpu("NVIDIA H200", room * GIB)) or 0 for room in (24, 141))
    assert small > 1.1 * large


@pytest.mark.parametrize(("gib", "again"), [(24, True), (141, False)])
def test_the_forward_pass_is_kept_where_it_fits(machine: Path, gib: int, again: bool) -> None:
    put(machine, f"NVIDIA H200, {gib * 1024}")
    spec = with_language(rows=1)
    assert checkpoints(spec) == again
    assert checkpoints(with_language(gradient_checkpointing=not again)) == (not again), "unless the spec says so"
    shape = QWEN3["Qwen/Qwen3-4B"]
    on_it, least = (footprint(spec, shape, gpu).parts["activations"] for gpu in (gpus()[0], None))
    assert (on_it == least) == again


@pytest.mark.parametrize(("preset", "gib"), [("paper", 80), ("qwen3-1.7b", 24), ("qwen3-0.6b", 12)], ids=lambda value: str(value))
def test_a_preset_fits_the_card_that_it_names(preset: str, gib: int) -> None:
    spec = preset_spec(preset)
    shape = shape_of(spec.policy)
    assert shape is not None and footprint(spec, shape).total < 0.85 * gib * GIB


def test_float16_takes_as_much_as_bfloat16() -> None:
    shape = QWEN3["Qwen/Qwen3-4B"]
    assert footprint(with_language(dtype="float16"), shape).parts == footprint(with_language(dtype="bfloat16"), shape).parts


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs, where a test can put an nvidia-smi."""
    monkeypatch.setenv("PATH", str(tmp_path))
    gpus.cache_clear()
    monkeypatch.setattr(module, "find_spec", lambda name: object())
    return tmp_path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A folder with the config of a model of SmolLM2's shape."""
    network(COMMON["smollm2"]).config.save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def published(policy: Path | str = "smollm2") -> SessionSpec:
    """The preset of SmolLM2 without its adapters, asked as all models are."""
    plain = preset_spec("smollm2")
    return plain.changed(policy=str(policy), language=plain.language.model_dump() | {"question": "full"})  # type: ignore[union-attr]


def of_machine(monkeypatch: pytest.MonkeyPatch, total: float, free: float) -> None:
    """A machine with so many GiB, whose processor has no instructions for bfloat16."""
    found = Memory(int(total * GIB), int(free * GIB))
    for where in (module, room):
        monkeypatch.setattr(where, "memory", lambda: found)
    monkeypatch.setattr(room, "fast_bfloat16", lambda: False)


def put(machine: Path, *lines: str) -> None:
    (machine / "nvidia-smi").write_text("#!/bin/sh\n" + "".join(f"echo '{line}'\n" for line in lines))
    (machine / "nvidia-smi").chmod(0o755)


def test_gpus_are_those_that_the_driver_lists(machine: Path) -> None:
    put(machine, "NVIDIA H200, 143771", "NVIDIA GeForce RTX 3090, 24576")
    assert gpus() == (Gpu("NVIDIA H200", 143771 * 2**20), Gpu("NVIDIA GeForce RTX 3090", 24 * GIB))


def test_without_a_driver_there_are_no_gpus(machine: Path) -> None:
    assert gpus() == ()


@pytest.mark.parametrize(
    ("preset", "total", "free", "reason"),
    [
        ("smollm2", 16, 12, None),
        ("smollm2", 8, 4, None),
        ("smollm2", 16, 1, "it needs 3.8 GiB of memory, and of this machine's 16.0 GiB only 1.0 GiB are free; with fewer rows"),
        ("smollm2", 3, 3, "it needs a GPU with at least 2 GiB of memory, or 3.8 GiB of main memory; this machine has 3.0 GiB; with"),
        ("paper", 16, 16, "it needs a GPU with at least 25 GiB of memory, or 50.6 GiB of main memory; this machine has 16.0 GiB"),
        ("paper", 64, 64, "it needs a GPU: on this processor it would take about"),
    ],
)  # fmt: skip
def test_a_processor_is_judged_by_its_memory_and_by_days(
    machine: Path, model: Path, monkeypatch: pytest.MonkeyPatch, preset: str, total: int, free: int, reason: str | None
) -> None:
    of_machine(monkeypatch, total, free)
    spec = published(model) if preset == "smollm2" else preset_spec(preset)
    found = shortfalls(spec)
    assert found == [] if reason is None else found[0].startswith(reason)
    assert needs(spec).memory >= 2 and needs(preset_spec("quick")).memory == 0
    on_it = spec.changed(language=spec.language.model_dump() | {"device": "cpu"})  # type: ignore[union-attr]
    if reason is None or "processor" in reason:
        assert shortfalls(on_it) == [], "its device says that it may take its time"
    else:
        assert shortfalls(on_it)[0].startswith("it needs ") and "GPU" not in shortfalls(on_it)[0]


@pytest.mark.parametrize("rows", [4, 32])
@pytest.mark.parametrize("total", [2, 3, 4, 6, 8, 12, 16, 32])
def test_what_fits_is_started_in_the_faster_way_that_fits(
    machine: Path, model: Path, monkeypatch: pytest.MonkeyPatch, total: float, rows: int
) -> None:
    free = 0.8 * total
    of_machine(monkeypatch, total, free)
    plain = preset_spec("smollm2")
    spec = plain.changed(policy=str(model), language=plain.language.model_dump() | {"rows": rows})
    shape = shape_of(spec.policy)
    assert shape is not None and shape.parameters == pytest.approx(COMMON["smollm2"].parameters, rel=1e-3)
    taken = footprint_on_processor(spec, shape).total
    assert (shortfalls(spec) == []) == (taken <= free * GIB)
    whole, less = (module._footprint(spec, shape, module.prompt_tokens(spec), again, processor=True).total for again in (False, True))
    assert taken == (less if checkpoints(spec) else whole)
    chosen = checkpoints(spec)
    assert chosen == (1.2 * whole > total * GIB and less < whole)
    of_machine(monkeypatch, total, free / 4)
    assert checkpoints(spec) == chosen, "a session that is resumed goes on in the same way"


def test_what_is_resumed_measured_or_a_cell_of_a_study_asks_for_memory_too(
    machine: Path, model: Path, store: SessionStore, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (model / "model.safetensors").touch()
    entered: list[str] = []
    monkeypatch.setattr("frozenlab.session.launch.submit", lambda session, urgent: entered.append(session.id))
    spec = published(model)
    session = store.create(spec, "mine")
    store_state(session.dir, State(status="stopped"))
    study = StudySpec(title="Two", session=spec, arms=({"name": "a"}, {"name": "b", "engineer": "fixed"}), seeds=(1,))
    suite = ("--suite", "quick")

    of_machine(monkeypatch, 16, 0.5)
    assert "this session cannot run here: it needs 3.8 GiB of memory, and of this" in reason(capsys, "resume", "mine")
    assert "model cannot be measured here: it needs 4.2 GiB" in reason(capsys, "evaluate", str(model), *suite)
    with pytest.raises(LaunchError, match="cannot run here: it needs"):
        resume(session, store)
    with pytest.raises(StudyError, match="the sessions of a cannot run here: it needs"):
        Study.start(study, store)
    with pytest.raises(EvaluationError, match="model cannot be measured here"):
        Evaluation.start(task_for(str(model), "quick", store), store)
    assert not entered and not Study.all(store) and not Evaluation.all(store) and session.state().status == "stopped"
    Study.check_machine(study, RunSettings(cluster="auto"))

    other = QueuedJob("elsewhere", "session", "other", memory=8, running=True, pid=os.getpid(), create_time=created(os.getpid()))
    QueueDB(store.root).add(other)
    resume(session, store)
    assert entered == ["mine"], "it waits in the queue until the other has ended"
    Study.check_machine(study, RunSettings())
    assert task_for(str(model), "quick", store).needs.memory == 5
    with pytest.raises(LaunchError, match="cannot run here: it needs"):
        resume(session, store, here=True)

    of_machine(monkeypatch, 64, 64)
    long = preset_spec("paper").changed(policy=str(model))
    assert "would take about" in shortfalls(long)[0]
    launch.check(long, here=True, begun=True)


def test_fewer_rows_are_written_together_where_memory_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = COMMON["smollm2"].cache * 4
    rows = []
    for total in (1, 4, 16, 256):
        monkeypatch.setattr(room, "memory", lambda total=total: SimpleNamespace(total=total * GIB, available=0))
        rows.append(room.rows_together(240, cache, processor=True))
        assert rows[-1] == 1 or rows[-1] * (240 + 1024) * cache <= total * GIB / 4
    assert rows == [4, 18, 64, 64] and room.rows_together(4096, cache, processor=False) == 16


def test_the_time_on_a_processor_is_that_of_the_yardstick(monkeypatch: pytest.MonkeyPatch) -> None:
    """SmolLM2 on one core that reads 300 tokens a second: 6.5 CPU s a worked answer of 494 tokens, 1.4 times less with logits of learnt
    tokens only; 20 (reckoned) a step of 8 answers to a board, each of 100 tokens: here they are of all lengths up to that."""
    monkeypatch.setattr(module, "core_speed", lambda: 300 * 2 * 134.5e6 / module.READING)
    for where in (module, room):
        monkeypatch.setattr(where, "fast_bfloat16", lambda: False)
    shape, spec = COMMON["smollm2"], published()
    tokens = module.prompt_tokens(spec) + 120
    assert processor_seconds(spec, shape, 100) * 494 / tokens / 100 == pytest.approx(6.5 / 1.4, rel=0.2)
    short = spec.changed(language=spec.language.model_dump() | {"max_tokens": 100})
    one, two = (
        processor_seconds(short.changed(training=spec.training.model_dump() | {"steps": steps, "boards_per_step": 1}), shape)
        for steps in (1, 2)
    )
    assert 0.5 < (two - one) / 3 / 20 < 1
    large = processor_seconds(spec, QWEN3["Qwen/Qwen3-0.6B"]) / processor_seconds(spec, shape)
    assert large == pytest.approx(QWEN3["Qwen/Qwen3-0.6B"].parameters / shape.parameters, rel=0.3), "it writes fewer rows together"
    in_float32 = processor_seconds(spec, shape)
    for where in (module, room):
        monkeypatch.setattr(where, "fast_bfloat16", lambda: True)
    assert in_float32 / processor_seconds(spec, shape) == pytest.approx(module.IN_BFLOAT16)


@pytest.mark.parametrize(
    ("card", "fast", "device", "found"),
    [
        ("NVIDIA H200", True, "auto", "bfloat16"),
        ("Tesla T4", True, "auto", "float16"),
        ("NVIDIA GeForce RTX 2080 Ti", True, "auto", "float16"),
        ("NVIDIA RTX A6000", True, "auto", "bfloat16"),
        (None, True, "auto", "bfloat16"),
        (None, False, "auto", "float32"),
        ("NVIDIA H200", False, "cpu", "float32"),
    ],
)
def test_the_number_format_is_what_the_machine_computes_in(
    monkeypatch: pytest.MonkeyPatch, card: str | None, fast: bool, device: str, found: str
) -> None:
    monkeypatch.setattr(room, "gpus", lambda: (Gpu(card, 16 * GIB),) if card else ())
    monkeypatch.setattr(room, "fast_bfloat16", lambda: fast)
    settings = LanguageSettings.model_validate({"device": device})
    assert room.number_format(settings) == found
    assert room.number_format(settings.model_copy(update={"dtype": "float16"})) == "float16", "what a spec says is done"


@pytest.mark.parametrize(
    ("lines", "fields", "reason"),
    [
        (["NVIDIA H200, 143771"], {}, None),
        (["NVIDIA T4, 15360"], {}, "NVIDIA T4 has 15"),
        (["NVIDIA H200, 143771"], {"launcher": {"processes": 2}}, "its 2 processes need a GPU each, and there is one"),
        (["NVIDIA H200, 143771"] * 2, {"launcher": {"processes": 2}}, None),
    ],
)
def test_shortfalls_of_the_gpus_are_named(machine: Path, lines: list[str], fields: dict[str, object], reason: str | None) -> None:
    put(machine, *lines)
    found = shortfalls(with_language(**fields))
    assert found == [] if reason is None else reason in found[0]


def test_a_missing_model_and_a_missing_vllm_are_shortfalls(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    reasons = shortfalls(with_language(device="cpu").model_copy(update={"policy": "/no/such/folder"}))
    assert ["it lacks vLLM" in reasons[0], "there is no folder /no/such/folder" in reasons[1]] == [True, True]
