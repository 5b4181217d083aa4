"""What a language model's session takes, computed from the model's shape before anything is loaded: memory, and time.

On a GPU or on the processor of this machine, each judged by its own memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from frozenlab.base.files import read_json
from frozenlab.base.numbers import duration
from frozenlab.base.places import sessions_folder
from frozenlab.engineer.engineers import BaseEngineer
from frozenlab.engineer.engineers.own_model import ModelEngineer
from frozenlab.jobs.machine import SPEEDS, THREADS, Gpu, Needs, core_speed, fast_bfloat16, gpus, memory
from frozenlab.jobs.queue.look import look_anew
from frozenlab.models.folders import ADAPTER_CONFIG, asked_otherwise, base_of, nowhere, policy_folder
from frozenlab.models.language.room import LIBRARIES, about_tokens, engine_share, number_format, on_processor, rows_together
from frozenlab.models.settings import LanguageSettings, Lora
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


def shape_of(policy: str, revision: str | None = None) -> Shape | None:
    """The shape of a model in a folder, of the one that adapters in a folder belong to, of a common one, or of one that this machine has
    downloaded; None if it is unknown."""
    path, adapters = policy_folder(policy) / "config.json", policy_folder(policy) / ADAPTER_CONFIG
    if not path.is_file() and adapters.is_file():
        base = base_of(policy)
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
LONGEST_ON_PROCESSOR = 7
"""Days of a session, above which a processor is no place for it, unless its ``device`` says so."""
HALF, FLOAT32 = 2, 4
"""Bytes of a number."""
LOGIT_TOKENS = 1024
"""Number of tokens with logits in memory at a time: the network's head is applied in pieces."""
TILE = (4096, 32_768)
"""The most tokens and words of such a piece on a processor (TRL's), where all tokens have logits."""
COPIES_OF_TILE, COPIES_OF_LOGITS = 8, 3
"""Numbers in memory at a time for each logit on a processor, of a piece and where only answers have logits
(:mod:`frozenlab.models.training.scoring`)."""
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
BESIDE_MODEL = 3 * GIB // 4
"""Bytes of Python and the libraries of training in a process on a processor."""
READING = 0.85
"""Part of a processor's speed in matrix products (:func:`frozenlab.jobs.machine.core_speed`) at which a model reads."""
LEARNT, TAUGHT, ROW, PASS = 3.5, 2.5, 1.4, 14.0
"""What other work costs on a processor, in tokens that are read: a token of a pass of GRPO, one of a warm start, one that is written in a
row, and one position of all rows that are written together. Measured in float32 with SmolLM2 of 134 million weights: a core that reads 300
tokens a second learns 80 in GRPO, adapters or all weights; one that was busy read 214 and wrote 14 alone, 62 in 8 rows, 118 in 32."""
IN_BFLOAT16 = 1.4
"""How much quicker all of that is in bfloat16 where the processor has instructions for it: 1.3 to 1.7 with SmolLM2, its matrix products
alone 2.3 (``python -m benchmarks.processor_speed``)."""
EFFICIENCY, BANDWIDTH_EFFICIENCY = 0.35, 0.6
"""Fractions of a chip's published compute and memory speed that training and writing reach."""


@dataclass(frozen=True)
class Footprint:
    """Bytes on each GPU, or in each process on a processor, by purpose, and the work of a step on it."""

    parts: dict[str, int]
    step_operations: float
    """Floating-point operations of learning from a step's plans, attention included."""
    weights: int
    """Bytes of the weights that the engine reads for each token that it writes."""
    resident: int
    """Bytes that stay while it writes."""
    sleeps: bool
    longest: float
    """Tokens of the longest answer that a step waits for."""
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
    prompt = prompt_tokens(spec)
    return _footprint(spec, shape, prompt, recomputes(spec, shape, prompt, gpu))


def footprint_on_processor(spec: SessionSpec, shape: Shape, examples: int | None = None) -> Footprint:
    """The footprint of a session, or of a warm start with so many examples, in each of its processes on the processor of this machine. A
    warm start keeps the forward pass."""
    prompt = prompt_tokens(spec)
    again = examples is None and recomputes(spec, shape, prompt, processor=True)
    return _footprint(spec, shape, prompt, again, processor=True, examples=examples)


def recomputes(spec: SessionSpec, shape: Shape, prompt: int, gpu: Gpu | None = None, *, processor: bool = False) -> bool:
    """Whether a session keeps less of the forward pass and computes it again: as its spec says, else where all of it would not fit on
    ``gpu``, or on the ``processor`` of this machine; on an unknown GPU it does.

    A processor is judged by its whole memory, not only by what is free now: the two ways round differently, and a session that is resumed
    goes on in the same way.
    """
    language = spec.language
    assert language is not None, "a lab model runs on any machine"
    if language.gradient_checkpointing is not None:
        return language.gradient_checkpointing
    whole, less = (_footprint(spec, shape, prompt, again, processor=processor).total for again in (False, True))
    if processor:
        return less < whole and HELD * whole * spec.processes > memory().total
    return gpu is None or HELD * whole + LIBRARIES >= gpu.memory


def footprint_here(spec: SessionSpec, shape: Shape) -> Footprint:
    """The footprint on this machine: on its smallest GPU, or on its processor."""
    assert spec.language is not None, "a lab model runs on any machine"
    if on_processor(spec.language):
        return footprint_on_processor(spec, shape)
    return footprint(spec, shape, min(gpus(), key=lambda gpu: gpu.memory))


def _held_on_processor(spec: SessionSpec, shape: Shape, prompt: int, again: bool, taught: bool) -> int:
    """Bytes at the beginning of a backward pass on a processor, ``again`` with gradient checkpointing. The answers of a pass share their
    prompt, unless they are ``taught`` in a warm start."""
    language = spec.language
    assert language is not None
    half = number_format(language) != "float32"
    rows, computed = language.rows, HALF if half else FLOAT32
    within = shape.kept(lora=language.lora is not None, half=half)
    if again:
        tokens = rows * (prompt + language.max_tokens)
        logits = min(TILE[0], tokens) * min(TILE[1], shape.vocabulary)
        return tokens * (shape.layers * shape.hidden + 2 * within) * computed + COPIES_OF_TILE * logits * FLOAT32
    prompts = rows if taught else math.ceil(rows / spec.training.completions_per_board)
    tokens = prompts * prompt + rows * language.max_tokens
    copied = 0 if taught else rows * prompt * shape.layers * 2 * (shape.heads + 2 * shape.pairs) * shape.head  # keys and values of prompts
    logits = rows * language.max_tokens * shape.vocabulary
    return (tokens * (shape.layers + 1) * within + copied) * computed + COPIES_OF_LOGITS * logits * FLOAT32


def _footprint(
    spec: SessionSpec, shape: Shape, prompt: int, again: bool, *, processor: bool = False, examples: int | None = None
) -> Footprint:
    """``prompt``: tokens of the longest; ``again``: with gradient checkpointing; ``examples``: of a warm start."""
    language, training = spec.language, spec.training
    assert language is not None
    plans = training.plans_per_step // language.launcher.processes
    longest = prompt + language.max_tokens
    computed = FLOAT32 if (number_format(language) if processor else language.dtype) == "float32" else HALF
    n = shape.parameters
    vllm = language.vllm
    cache = shape.cache * (1 if vllm is not None and vllm.cache == "fp8" else computed)
    if language.lora is not None:
        trained = shape.adapters(language.lora)
        parts = {"weights": n * computed, "adapters and their optimizer": trained * 4 * FLOAT32}
    else:
        trained = n
        copies = n * HALF if computed == HALF and not processor else 0  # autocast keeps them through a pass
        parts = {"weights": n * FLOAT32 + copies, "gradients and optimizer": n * 3 * FLOAT32}
        if isinstance(spec.engineer, BaseEngineer):
            parts["the model before training, as engineer"] = n * FLOAT32
    resident = sum(parts.values())
    # What a token leaves in a layer: its input alone with checkpointing, else all that the backward pass needs.
    within = shape.kept(lora=language.lora is not None, half=computed == HALF)
    kept = shape.layers * shape.hidden + within if again else shape.layers * within
    logits = min(LOGIT_TOKENS, language.rows * language.max_tokens) * shape.vocabulary * 2 * FLOAT32
    parts["activations"] = language.rows * longest * kept * computed + logits
    if processor:
        held = _held_on_processor(spec, shape, prompt, again, examples is not None)
        stepped = 2 * n * HALF if trained == n and computed == HALF else 0  # gradients in float32, for the step alone
        parts["activations"] = max(held, stepped)
    proposal = spec.engineer.max_tokens if isinstance(spec.engineer, ModelEngineer) else 0
    engine = n * computed + SEQUENCES * max(longest, proposal * 2) * cache
    if vllm is None:
        rows = min(max(plans, *spec.held_out), rows_together(language.max_tokens, cache, processor=processor))
        kept_to_write = rows * longest * cache
        # A processor gets back the room of the activations.
        parts["keys and values while it writes"] = max(0, kept_to_write - parts["activations"]) if processor else kept_to_write
    elif vllm.mode == "colocate":
        # Asleep, it shares the room of the activations: the two are never wanted at once.
        parts["vLLM engine"] = max(0, engine - parts["activations"]) if vllm.sleep else engine
    if processor:
        parts["libraries"] = BESIDE_MODEL
    passes = (3 if trained == n else 2) + again  # with frozen weights, no gradients of theirs
    mean = prompt + language.max_tokens / 2  # answers of all lengths, each cut to about its own (LeanGRPOTrainer)
    squares = prompt**2 + prompt * language.max_tokens + language.max_tokens**2 / 3
    attention = 2 * shape.layers * shape.heads * shape.head * squares * (3 + again)  # half of the square: a token sees those before it
    done = vllm.done if vllm is not None else 1.0
    waited = max(done, (2 - 1 / done) ** (1 / training.completions_per_board))  # 1/done - 1 of the boards are late, or all take many steps
    return Footprint(
        parts,
        step_operations=plans * (2 * n * mean * passes + attention),
        weights=n * computed,
        resident=resident,
        sleeps=vllm is not None and vllm.sleep,
        longest=language.max_tokens * waited,
        cached=plans * mean * cache / done,
        read=plans * (language.max_tokens**2 / 6 + prompt * language.max_tokens / 2) * cache,  # the mean over lengths spread evenly
        writing=ADAPTED if language.lora is not None and vllm is not None and vllm.mode == "colocate" and not vllm.merged else 1.0,
    )


def checkpoints(spec: SessionSpec) -> bool:
    """Whether a language model's session on this machine keeps less of the forward pass and computes it again."""
    language = spec.language
    assert language is not None, "a lab model runs on any machine"
    shape = shape_of(spec.policy, language.revision)
    if shape is None:
        return language.gradient_checkpointing is not False
    processor = on_processor(language)
    card = None if processor else min(gpus(), key=lambda gpu: gpu.memory)
    return recomputes(spec, shape, prompt_tokens(spec), card, processor=processor)


def prompt_tokens(spec: SessionSpec) -> int:
    """About how many tokens the session's longest prompt about a task has."""
    return about_tokens(spec.tasks.longest_prompt(spec.initial_config, spec.language.question if spec.language else "full"))


def shape_on_processor(spec: SessionSpec) -> Shape | None:
    """The shape of a language model that runs on the processor of this machine; None for others, and where it is not known yet."""
    language = spec.language
    return shape_of(spec.policy, language.revision) if language and on_processor(language) else None


def needs(spec: SessionSpec, examples: int | None = None) -> Needs:
    """What the worker of a session, or of a warm start with so many examples, takes of this machine: with a language model on a processor
    its memory too, as far as the model is known."""
    shape = shape_on_processor(spec)
    if shape is None:
        return spec.needs
    return spec.needs._replace(memory=math.ceil(footprint_on_processor(spec, shape, examples).total * spec.processes / GIB))


def processor_seconds(spec: SessionSpec, shape: Shape, examples: int | None = None) -> float:
    """CPU seconds of a session on the processor of this machine, measuring before and after each stage included, or of a warm start with so
    many examples: right to a factor of two or three. Answers are taken to have half of the longest length, and of those that are written
    together one all of it."""
    language, training = spec.language, spec.training
    assert language is not None, "a lab model runs on any machine"
    prompt, longest = prompt_tokens(spec), language.max_tokens
    rows = rows_together(longest, shape.cache * FLOAT32, processor=True)
    if examples is not None:
        return TAUGHT * examples * (prompt + longest / 2) * seconds_to_read(shape, number_format(language))

    def written(questions: int, each: int = 1) -> float:
        answers = questions * each
        return questions * prompt + longest * (PASS * math.ceil(answers / rows) + ROW * answers / 2)

    questions = math.ceil(language.rows / training.completions_per_board)  # of a pass, which each is read once
    passes = training.plans_per_step / language.rows
    learnt = LEARNT * passes * (questions * prompt + language.rows * longest / 2)
    step = written(training.boards_per_step, training.completions_per_board) + learnt
    tokens = spec.stages * training.steps * step + (spec.stages + 1) * sum(map(written, spec.held_out))
    return tokens * seconds_to_read(shape, number_format(language))


def seconds_to_read(shape: Shape, dtype: str) -> float:
    """CPU seconds of a token that the model reads on the processor of this machine, in this number format."""
    return 2 * shape.parameters / (READING * core_speed()) / (IN_BFLOAT16 if dtype == "bfloat16" and fast_bfloat16() else 1)


def takes_of_processor(spec: SessionSpec, examples: int | None = None) -> str:
    """What a session, or a warm start with so many examples, takes of the processor, in words; empty for others, and where its model is not
    known yet."""
    shape = shape_on_processor(spec)
    if shape is None:
        return ""
    taken, seconds = footprint_on_processor(spec, shape, examples).total * spec.processes, processor_seconds(spec, shape, examples)
    return f"About {gib(taken)} of memory and {duration(seconds)} of CPU time on this processor"


def shortfalls(spec: SessionSpec, examples: int | None = None, *, waits: bool = False) -> list[str]:
    """What this machine lacks for a language model's session, or for its warm start with so many examples, as far as is known before the
    start; empty if nothing. ``waits``: it begins when the queue has room for it, so what running jobs have counts as free."""
    language = spec.language
    assert language is not None, "a lab model runs on any machine"
    lacking = list(filter(None, [asked_otherwise(spec.policy, language.question)]))
    if language.vllm is not None and find_spec("vllm") is None:
        lacking.append('it lacks vLLM: pip install -e ".[gpu]" on a GPU machine, or let the transformers library write')
    if lost := nowhere(spec.policy):
        lacking.append(lost)
    shape = shape_of(spec.policy, language.revision)
    if shape is None:
        return lacking
    processes, here = spec.processes, gpus()
    if on_processor(language):
        taken = footprint_on_processor(spec, shape, examples).total * processes
        short = short_of_memory(language, taken, footprint(spec, shape).total, waits=waits)
        if short and language.rows > 1:
            short = f"{short}; with fewer rows it needs less"
        return [*lacking, *filter(None, [short or too_slow(spec, shape, examples)])]
    if len(here) < processes:
        return [*lacking, f"its {processes} processes need a GPU each, and there {'is one' if len(here) == 1 else f'are {len(here)}'}"]
    return [*lacking, *filter(None, [short_of_memory(language, 0, footprint(spec, shape).total)])]


def short_of_memory(language: LanguageSettings, needed: int, on_card: int, *, waits: bool = False) -> str | None:
    """Why a language model has too little memory here, which takes ``needed`` bytes of a processor's or ``on_card`` of each GPU's; None if
    it has enough. ``waits`` as for :func:`shortfalls`."""
    card = f"it needs a GPU with at least {max(1, on_card / GIB):.0f} GiB of memory"
    if not on_processor(language):
        least = min(gpus(), key=lambda gpu: gpu.memory)
        return f"{card}; {least.name} has {least.memory / GIB:.0f}" if on_card > least.memory else None
    total, free = memory()
    if waits:
        free = min(total, free + GIB * sum(job.memory for job in look_anew(sessions_folder()).running))
    if needed > total and language.device != "cpu":
        return f"{card}, or {gib(needed)} of main memory; this machine has {gib(total)}"
    return f"it needs {gib(needed)} of memory, and of this machine's {gib(total)} only {gib(free)} are free" if needed > free else None


def too_slow(spec: SessionSpec, shape: Shape, examples: int | None) -> str | None:
    """Why the processor of this machine is no place for it; None if it is, or if its spec says that it may take its time."""
    days = processor_seconds(spec, shape, examples) / THREADS / 86_400
    if days <= LONGEST_ON_PROCESSOR or (spec.language is not None and spec.language.device == "cpu"):
        return None
    anyway = '"device": "cpu" in its "language" lets it run all the same'
    return f"it needs a GPU: on this processor it would take about {days:.0f} days; {anyway}"


def to_answer(policy: str, language: LanguageSettings, prompt: int) -> int:
    """Bytes that a language model takes where it only answers questions of up to so many tokens; 0 where its shape is not known."""
    shape, processor = shape_of(policy, language.revision), on_processor(language)
    if shape is None:
        return 0
    computed = FLOAT32 if number_format(language) == "float32" else HALF
    cache, longest = shape.cache * computed, prompt + language.max_tokens
    weights = shape.parameters * computed + (shape.adapters(language.lora) * FLOAT32 if language.lora else 0)
    if language.vllm is not None and not processor and find_spec("vllm") is not None:
        return weights + shape.parameters * computed + SEQUENCES * longest * cache
    rows = rows_together(language.max_tokens, cache, processor=processor)
    written = rows * (longest * cache + COPIES_OF_LOGITS * shape.vocabulary * FLOAT32)
    return weights + written + (BESIDE_MODEL if processor else 0)


def gib(size: float) -> str:
    return f"{size / GIB:.1f} GiB"
