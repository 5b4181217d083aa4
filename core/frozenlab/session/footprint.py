"""The shape of a language model: its parameters and cache, computed before anything is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from frozenlab.base.files import read_json
from frozenlab.engineer.engineers import BaseEngineer
from frozenlab.engineer.engineers.own_model import ModelEngineer
from frozenlab.jobs.machine import SPEEDS, Gpu, gpus, memory
from frozenlab.models.folders import ADAPTER_CONFIG, asked_otherwise, nowhere, policy_folder
from frozenlab.models.language.room import LIBRARIES, TOKENS_TOGETHER, about_tokens, engine_share
from frozenlab.models.settings import Lora
from frozenlab.session.spec import SessionSpec

KEPT = {(True, False): (4, 4, 5, 1), (True, True): (9, 4, 7, 2), (False, False): (6, 4, 6, 2), (False, True): (13, 4, 7, 3)}
"""Whether LoRA and whether half precision -> numbers that a token leaves in a layer for the backward pass, in hidden sizes, intermediate
sizes, sizes of all queries and of all keys. Counted on networks in the form of Qwen3 (tests); autocast keeps copies for each linear map."""


@dataclass(frozen=True)
class Shape:
    """A decoder like Qwen3 or Llama: gated feed-forward layers, grouped queries, no biases."""

    layers: int
    hidden: int
    intermediate: int
    heads: int
    pairs: int
    """Key and value heads."""
    head: int
    """Size of one head."""
    vocabulary: int
    tied: bool
    """Whether input and output share their embedding."""

    @property
    def linears(self) -> tuple[tuple[int, int], ...]:
        """(inputs, outputs) of each linear map of a layer."""
        queries, pairs = self.heads * self.head, self.pairs * self.head
        attention = ((self.hidden, queries), (self.hidden, pairs), (self.hidden, pairs), (queries, self.hidden))
        return (*attention, (self.hidden, self.intermediate), (self.hidden, self.intermediate), (self.intermediate, self.hidden))

    @property
    def parameters(self) -> int:
        norms = 2 * self.hidden + 2 * self.head
        embeddings = self.vocabulary * self.hidden * (1 if self.tied else 2)
        return self.layers * (sum(a * b for a, b in self.linears) + norms) + self.hidden + embeddings

    def adapters(self, lora: Lora) -> int:
        """Parameters of LoRA on all linear maps of the layers."""
        return self.layers * sum(lora.rank * (a + b) for a, b in self.linears)

    def kept(self, *, lora: bool, half: bool) -> int:
        """Numbers that a token leaves in a layer for the backward pass."""
        sizes = (self.hidden, self.intermediate, self.heads * self.head, self.pairs * self.head)
        return sum(times * size for times, size in zip(KEPT[lora, half], sizes, strict=True))

    @property
    def cache(self) -> int:
        """Numbers per token in the cache of keys and values."""
        return 2 * self.layers * self.pairs * self.head


QWEN3 = {
    "Qwen/Qwen3-0.6B": Shape(28, 1024, 3072, 16, 8, 128, 151_936, True),
    "Qwen/Qwen3-1.7B": Shape(28, 2048, 6144, 16, 8, 128, 151_936, True),
    "Qwen/Qwen3-4B": Shape(36, 2560, 9728, 32, 8, 128, 151_936, True),
    "Qwen/Qwen3-8B": Shape(36, 4096, 12_288, 32, 8, 128, 151_936, False),
    "Qwen/Qwen3-14B": Shape(40, 5120, 17_408, 40, 8, 128, 151_936, False),
    "Qwen/Qwen3-32B": Shape(64, 5120, 25_600, 64, 8, 128, 151_936, False),
}
"""Shapes of common models, from their configs on the hub."""
COMMON = QWEN3 | {"smollm2": Shape(30, 576, 1536, 9, 3, 64, 49_152, True)}


def of_base(adapters: Path) -> str | None:
    """The model that adapters were trained on; None if their config does not say."""
    try:
        base = read_json(adapters)["base_model_name_or_path"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return base if isinstance(base, str) else None


def shape_of(policy: str, revision: str | None = None) -> Shape | None:
    """The shape of a model in a folder, of the one that adapters in a folder belong to, of a common one, or of one that this machine has
    downloaded; None if it is unknown."""
    path, adapters = policy_folder(policy) / "config.json", policy_folder(policy) / ADAPTER_CONFIG
    if not path.is_file() and adapters.is_file():
        base = of_base(adapters)
        return None if base is None or base == policy else shape_of(base, revision)
    if not path.is_file():
        if policy in COMMON:
            return COMMON[policy]
        from huggingface_hub import try_to_load_from_cache

        cached = try_to_load_from_cache(policy, "config.json", revision=revision) if policy.count("/") == 1 else None
        if not isinstance(cached, str):
            return None
        path = Path(cached)
    try:
        config: dict[str, Any] = read_json(path)
        heads = config["num_attention_heads"]
        return Shape(
            layers=config["num_hidden_layers"],
            hidden=config["hidden_size"],
            intermediate=config["intermediate_size"],
            heads=heads,
            pairs=config.get("num_key_value_heads") or heads,
            head=config.get("head_dim") or config["hidden_size"] // heads,
            vocabulary=config["vocab_size"],
            tied=config.get("tie_word_embeddings", True),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


GIB = 2**30
LARGEST_WITHOUT_GPU = GIB
"""Bytes of the weights, in float32, of the largest model that is reasonable to train on a processor: 0.27 billion weights."""
HALF, FLOAT32 = 2, 4
"""Bytes of a number."""
LOGIT_TOKENS = 1024
"""Number of tokens with logits in memory at a time: the network's head is applied in pieces."""
SEQUENCES = 8
"""Fewest answers of the longest length that vLLM must hold at a time to be worth its memory."""
BESIDE = 8.0
"""Seconds of a step that are neither learning nor writing: the engine wakes and gets its adapters, plans are judged, the step is saved. It
is an estimate, like the two fractions below."""
ADAPTED = 1.6
"""How much longer an engine writes with adapters as adapters: vLLM 0.19 with rank 16 on attention, 8 to 48 rows (unsloth PR 5123)."""
FLOOR = 0.01
"""Seconds of a token that many plans wait for together, however little is read."""
HELD = 1.2
"""Memory that torch holds is up to so much larger than what it was asked for: measured on an H200 without checkpointing."""
EFFICIENCY, BANDWIDTH_EFFICIENCY = 0.35, 0.6
"""Fractions of a chip's published compute and memory speed that training and writing reach."""


@dataclass(frozen=True)
class Footprint:
    """Bytes on each GPU, by purpose, and the work of a step on it."""

    parts: dict[str, int]
    step_operations: float
    """Floating-point operations of learning from a step's plans, attention included."""
    weights: int
    """Bytes of the weights that the engine reads for each token that it writes."""
    resident: int
    """Bytes that stay while it writes."""
    sleeps: bool
    longest: int
    """Tokens of the longest answer."""
    cached: float
    """Bytes of the keys and values of a step's plans when all are half written."""
    read: float
    """Bytes of keys and values that are read to write a step's plans."""
    writing: float
    """How much longer writing takes than reading does."""

    @property
    def total(self) -> int:
        return sum(self.parts.values())

    def step_seconds(self, gpu: Gpu) -> float | None:
        """Rough seconds per step on this GPU; None if SPEEDS does not list it.

        Its engine writes as many plans at a time as it has room for; each token reads the weights and all keys and values so far.
        """
        speed = next((published for word, published in SPEEDS.items() if word in gpu.name), None)
        if speed is None:
            return None
        room = max(1.0, engine_share(gpu.memory, self.resident, sleeps=self.sleeps) * gpu.memory - self.weights)
        waves = max(1.0, self.cached / room)
        reads = self.longest * waves * self.weights + self.read
        written = max(self.longest * waves * FLOOR, self.writing * reads / (BANDWIDTH_EFFICIENCY * speed[1]))
        return BESIDE + self.step_operations / (EFFICIENCY * speed[0]) + written


def footprint(spec: SessionSpec, shape: Shape, gpu: Gpu | None = None) -> Footprint:
    """The footprint of the spec's session on each of its GPUs; on ``gpu``, where that is known, with the faster way that fits there."""
    language = spec.language
    assert language is not None, "a lab model runs on any machine"
    if language.gradient_checkpointing is not None:
        return _footprint(spec, shape, language.gradient_checkpointing)
    whole = _footprint(spec, shape, again=False)
    return whole if gpu is not None and HELD * whole.total + LIBRARIES < gpu.memory else _footprint(spec, shape, again=True)


def _footprint(spec: SessionSpec, shape: Shape, again: bool) -> Footprint:
    """``again``: with gradient checkpointing."""
    language, training = spec.language, spec.training
    assert language is not None
    plans = training.plans_per_step // language.launcher.processes
    prompt = prompt_tokens(spec)
    longest = prompt + language.max_tokens
    computed = FLOAT32 if language.dtype == "float32" else HALF
    n = shape.parameters
    vllm = language.vllm
    cache = shape.cache * (1 if vllm is not None and vllm.cache == "fp8" else computed)
    if language.lora is not None:
        trained = shape.adapters(language.lora)
        parts = {"weights": n * computed, "adapters and their optimizer": trained * 4 * FLOAT32}
    else:
        trained = n
        copies = n * HALF if computed == HALF else 0  # autocast keeps them through a pass
        parts = {"weights": n * FLOAT32 + copies, "gradients and optimizer": n * 3 * FLOAT32}
        if isinstance(spec.engineer, BaseEngineer):
            parts["the model before training, as engineer"] = n * FLOAT32
    resident = sum(parts.values())
    # What a token leaves in a layer: its input alone with checkpointing, else all that the backward pass needs.
    within = shape.kept(lora=language.lora is not None, half=computed == HALF)
    kept = shape.layers * shape.hidden + within if again else shape.layers * within
    logits = min(LOGIT_TOKENS, language.rows * language.max_tokens) * shape.vocabulary * 2 * FLOAT32
    parts["activations"] = language.rows * longest * kept * computed + logits
    proposal = spec.engineer.max_tokens if isinstance(spec.engineer, ModelEngineer) else 0
    engine = n * computed + SEQUENCES * max(longest, proposal * 2) * cache
    if vllm is None:
        parts["keys and values while it writes"] = min(plans * longest, TOKENS_TOGETHER) * cache
    elif vllm.mode == "colocate":
        # Asleep, it shares the room of the activations: the two are never wanted at once.
        parts["vLLM engine"] = max(0, engine - parts["activations"]) if vllm.sleep else engine
    passes = (3 if trained == n else 2) + again  # with frozen weights, no gradients of theirs
    mean = prompt + language.max_tokens / 2  # answers of all lengths, each cut to about its own (LeanGRPOTrainer)
    squares = prompt**2 + prompt * language.max_tokens + language.max_tokens**2 / 3
    attention = 2 * shape.layers * shape.heads * shape.head * squares * (3 + again)  # half of the square: a token sees those before it
    return Footprint(
        parts,
        step_operations=plans * (2 * n * mean * passes + attention),
        weights=n * computed,
        resident=resident,
        sleeps=vllm is not None and vllm.sleep,
        longest=language.max_tokens,
        cached=plans * mean * cache,
        read=plans * (language.max_tokens**2 / 6 + prompt * language.max_tokens / 2) * cache,  # the mean over lengths spread evenly
        writing=ADAPTED if language.lora is not None and vllm is not None and vllm.mode == "colocate" and not vllm.merged else 1.0,
    )


def checkpoints(spec: SessionSpec) -> bool:
    """Whether a language model's session on this machine keeps less of the forward pass and computes it again."""
    language = spec.language
    assert language is not None, "a lab model runs on any machine"
    if language.gradient_checkpointing is not None:
        return language.gradient_checkpointing
    shape, here = shape_of(spec.policy, language.revision), gpus()
    if shape is None or not here or language.device == "cpu":
        return shape is None or shape.parameters * FLOAT32 > LARGEST_WITHOUT_GPU
    return HELD * _footprint(spec, shape, again=False).total + LIBRARIES >= min(gpu.memory for gpu in here)


def prompt_tokens(spec: SessionSpec) -> int:
    """About how many tokens the session's longest prompt about a task has."""
    return about_tokens(spec.tasks.longest_prompt(spec.initial_config, spec.language.question if spec.language else "full"))


def shortfalls(spec: SessionSpec) -> list[str]:
    """What this machine lacks for a language model's session, as far as is known before the start; empty if nothing."""
    language = spec.language
    assert language is not None, "a lab model runs on any machine"
    lacking = list(filter(None, [asked_otherwise(spec.policy, language.question)]))
    if language.vllm is not None and find_spec("vllm") is None:
        lacking.append('it lacks vLLM: pip install -e ".[gpu]" on a GPU machine, or let the transformers library write')
    if lost := nowhere(spec.policy):
        lacking.append(lost)
    if language.device == "cpu":
        return lacking
    shape = shape_of(spec.policy, language.revision)
    needed = footprint(spec, shape).total if shape else 0
    processes, here = language.launcher.processes, gpus()
    if not here and shape and shape.parameters * FLOAT32 > LARGEST_WITHOUT_GPU:
        anyway = '; "device": "cpu" in its "language" lets it run on the processor, for a very long time'
        lacking.append(f"it needs a GPU with at least {needed / GIB:.0f} GiB of memory, and there is none{anyway}")
    elif not here and needed > (room := memory().total):
        lacking.append(f"it needs {needed / GIB:.0f} GiB of memory, and this machine has {room / GIB:.0f}")
    elif here and len(here) < processes:
        lacking.append(f"its {processes} processes need a GPU each, and there {'is one' if len(here) == 1 else f'are {len(here)}'}")
    elif here and needed > min(gpu.memory for gpu in here):
        lacking.append(f"it needs a GPU with at least {needed / GIB:.0f} GiB of memory; {here[0].name} has {here[0].memory / GIB:.0f}")
    return lacking
