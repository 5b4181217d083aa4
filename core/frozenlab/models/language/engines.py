"""vLLM as writer: an engine in this process, or a server on GPUs of its own.

What writes is to be exactly what is trained. TRL merges adapters into the model's weights, sends those and takes the adapters out again:
in bfloat16 most of a small change is lost on the way, and the weights are not quite the same afterwards (its issue 6688). Here the model
in training is never touched: an engine in this process takes the adapters as adapters; a server, and an engine whose settings say
``merged``, get weights that were added up in float32.
"""

from __future__ import annotations

import math
import os
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count, groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, get_args

import torch
from accelerate import PartialState
from huggingface_hub import snapshot_download
from peft import PeftModel
from peft.tuners.lora import LoraLayer
from transformers import PreTrainedModel
from trl.generation.vllm_client import VLLMClient
from trl.trainer.utils import ensure_master_addr_port

from frozenlab.base import seeds
from frozenlab.models.folders import on_hub, policy_folder
from frozenlab.models.language.room import AWAKE_BESIDE_TRAINING, engine_share
from frozenlab.models.language.writers import Begun, Ids, Schema, Text, Writer
from frozenlab.models.policy import Sampling
from frozenlab.models.settings import LanguageSettings

MOST_ROWS = 256
"""Texts that are written at the same time, and between two looks at whether to stop: in smaller parts, each would wait for its longest."""
BATCHED_TOKENS = 4096
"""Of prompts that pass the network together. With vLLM's usual 32,768 its profiler takes much memory for activations (as TRL found)."""
MODEL_FILES = ["*.json", "*.safetensors", "*.txt", "*.model", "*.jinja"]
SHARED_MEMORY = Path("/dev/shm")
BY_GUIDANCE: Schema = {
    "x-guidance": {"whitespace_flexible": False},
    "$defs": {"unused": {"type": "integer", "multipleOf": 1}},
}
"""Added to a schema, makes vLLM constrain by llguidance. Its first choice, xgrammar, lets a model that is unsure write white space without
end, and steps back only from a schema with something that it does not know."""


def engine_for(model: PreTrainedModel | PeftModel, settings: LanguageSettings, folder: Path | None = None) -> Writer:
    """The writer that the settings ask for. Adapters may pass through ``folder``; None: through the system's temporary one."""
    assert settings.vllm is not None, "the settings ask for no engine"
    return Served(model, settings.vllm.url) if settings.vllm.mode == "server" else Engine(model, settings, folder)


class Weights(ABC):
    """How an engine in this process comes to the weights of the model in training."""

    settings: Mapping[str, Any] = MappingProxyType({})
    """Settings of the engine for it."""
    sleep: ClassVar[int]
    """How deep the engine sleeps: at 1 its weights wait in main memory, at 2 they are forgotten."""

    @abstractmethod
    def give(self, llm: Any) -> None:
        """Hands the weights of this moment over."""

    def request(self) -> dict[str, Any]:
        """What goes with each request."""
        return {}


class AsAdapters(Weights):
    """The engine holds the base as published and reads the adapters from a folder: in shared memory, if that has room for them twice (a
    container has 64 MB unless told otherwise), or on a disk."""

    sleep = 1

    def __init__(self, model: PeftModel, disk: Path | None) -> None:
        from vllm.config.lora import MaxLoRARanks

        rank = max(config.r for config in model.peft_config.values())
        self.settings = {"enable_lora": True, "max_loras": 1, "max_lora_rank": min(r for r in get_args(MaxLoRARanks) if r >= rank)}
        self.model, self.disk, self.number = model, disk, count(1)
        self.size = sum(weight.nbytes for name, weight in model.named_parameters() if model.prefix in name)
        self.current: Any = None

    def give(self, llm: Any) -> None:
        from vllm.lora.request import LoRARequest

        number = next(self.number)
        roomy = SHARED_MEMORY.is_dir() and shutil.disk_usage(SHARED_MEMORY).free >= 2 * self.size
        with tempfile.TemporaryDirectory(dir=SHARED_MEMORY if roomy else self.disk, prefix=".adapters-") as folder:
            self.model.save_pretrained(folder)
            self.current = LoRARequest(f"adapters-{number}", number, folder)
            llm.llm_engine.add_lora(self.current)

    def request(self) -> dict[str, Any]:
        return {"lora_request": self.current}


class AsWeights(Weights):
    """All weights are sent."""

    sleep = 2

    def __init__(self, model: PreTrainedModel) -> None:
        self.model = model

    def give(self, llm: Any) -> None:
        llm.llm_engine.model_executor.driver_worker.model_runner.model.load_weights(merged_weights(self.model))


class Engine:
    """A vLLM engine in this process, on this process's GPU."""

    def __init__(self, model: PreTrainedModel | PeftModel, settings: LanguageSettings, folder: Path | None = None) -> None:
        from vllm import LLM

        assert settings.vllm is not None
        beside = isinstance(model, PeftModel) and not settings.vllm.merged
        self.weights: Weights = AsAdapters(model, folder) if beside else AsWeights(model)
        self.sleeps = settings.vllm.sleep and torch.cuda.is_available()
        name_this_process()
        rows = math.ceil(MOST_ROWS / settings.vllm.done)
        self.llm = LLM(
            model=published(model.name_or_path, settings.revision),
            dtype=settings.dtype,
            kv_cache_dtype=settings.vllm.cache,
            gpu_memory_utilization=settings.vllm.memory or share_here(model, sleeps=self.sleeps),
            max_model_len=settings.context,
            max_num_seqs=rows,
            max_num_batched_tokens=BATCHED_TOKENS,
            compilation_config={"cudagraph_capture_sizes": graph_sizes(rows)},
            enable_sleep_mode=self.sleeps,
            distributed_executor_backend="external_launcher",  # in this process, also where torchrun started several
            logprobs_mode="processed_logprobs",  # of the distribution that a token was drawn from, temperature included
            seed=PartialState().process_index,
            trust_remote_code=False,
            **self.weights.settings,
        )
        self.stale = True
        if self.sleeps:
            self.llm.sleep(level=self.weights.sleep)

    def refresh(self, *, alone: bool = False) -> None:
        self.stale = True

    def together(self, limit: int) -> int:
        return MOST_ROWS

    def write(self, prompts: Sequence[Ids], *, limit: int, sampling: Sampling, schema: Schema | None = None, until: Ids = ()) -> list[Text]:
        from vllm.sampling_params import StructuredOutputsParams

        constraint = StructuredOutputsParams(json=schema | BY_GUIDANCE) if schema else None
        asked = asked_for(sampling, limit, stop_token_ids=list(until), structured_outputs=constraint)
        with self.awake(), drawing_by(sampling.seed):
            tokens: list[Any] = [{"prompt_token_ids": list(prompt)} for prompt in prompts]
            written = self.llm.generate(tokens, asked, use_tqdm=False, **self.weights.request())
        return [as_text(answer.outputs[0]) for answer in written]

    def go_on(
        self, prompts: Sequence[Ids], begun: Sequence[Begun], *, group: int, enough: int, limit: int, sampling: Sampling
    ) -> list[Begun]:
        """Continues texts to at most ``limit`` tokens each until ``enough`` groups, each of ``group`` texts in a row, are over. The others
        are as far as they have come: partial rollouts, as in Kimi k1.5 (Kimi Team 2025) and APRIL (Zhou et al. 2025)."""
        from vllm.sampling_params import RequestOutputKind

        engine = self.llm.llm_engine
        texts = [Begun([*text.ids], [*text.logprobs]) for text in begun]
        left = {row for row, text in enumerate(begun) if not text.over}
        with self.awake(), drawing_by(sampling.seed):
            for row in sorted(left):
                ids = [*prompts[row], *texts[row].ids]
                most = limit - len(texts[row].ids)
                asked = asked_for(sampling, most, detokenize=False, output_kind=RequestOutputKind.DELTA)
                engine.add_request(str(row), {"type": "token", "prompt_token_ids": ids}, asked, **self.weights.request())
            while len({row // group for row in left}) > len(texts) // group - enough:
                for part in engine.step():
                    row, more = int(part.request_id), as_text(part.outputs[0])
                    texts[row].ids.extend(more.ids)
                    texts[row].logprobs.extend(more.logprobs or [])
                    if part.finished:
                        left.remove(row)
            engine.abort_request(list(map(str, left)))
        return [text._replace(over=row not in left) for row, text in enumerate(texts)]

    @contextmanager
    def awake(self) -> Iterator[None]:
        """The engine with the weights of the last :meth:`refresh`; afterwards the GPU's memory is the trainer's again."""
        try:
            if self.sleeps:
                torch.cuda.empty_cache()
                self.llm.wake_up(tags=["weights"])
            if self.stale or (self.sleeps and self.weights.sleep == 2):
                self.weights.give(self.llm)
                self.llm.reset_prefix_cache()
                self.stale = False
            if self.sleeps:
                self.llm.wake_up(tags=["kv_cache"])
            yield
        finally:
            if self.sleeps:
                self.llm.sleep(level=self.weights.sleep)


class Served:
    """A vLLM server, started by hand (docs/language-models.md); each process asks it for its own texts."""

    def __init__(self, model: PreTrainedModel | PeftModel, url: str) -> None:
        self.model, self.client = model, VLLMClient(base_url=url)
        self.sends = PartialState().is_main_process
        if self.sends:
            self.client.init_communicator(device=model.device)

    def refresh(self, *, alone: bool = False) -> None:
        if self.sends:
            shapes = [(name, str(weight.dtype).removeprefix("torch."), list(weight.shape)) for name, weight in merged_weights(self.model)]
            self.client.update_named_params(shapes, merged_weights(self.model))
            self.client.reset_prefix_cache()
        if not alone:
            PartialState().wait_for_everyone()

    def together(self, limit: int) -> int:
        return MOST_ROWS

    def write(self, prompts: Sequence[Ids], *, limit: int, sampling: Sampling, schema: Schema | None = None, until: Ids = ()) -> list[Text]:
        more: dict[str, Any] = {"seed": seeds.derive(sampling.seed, "policy/served"), "stop_token_ids": list(until)}
        if schema:
            more["structured_outputs"] = {"json": schema | BY_GUIDANCE}
        how = {"temperature": sampling.temperature, "top_p": sampling.top_p, "top_k": sampling.top_k, "max_tokens": limit}
        texts: list[Text] = []
        # A seed is that of a prompt's first text, the next ones differ from it: the same prompt asked for twice would be answered alike.
        groups = [(list(prompt), len(list(same))) for prompt, same in groupby(prompts, list)]
        for n, alike in groupby(groups, lambda group: group[1]):
            given = self.client.generate(prompts=[prompt for prompt, _ in alike], n=n, generation_kwargs=more, **how)
            logprobs = given["logprobs"] or [None] * len(given["completion_ids"])
            texts += [
                Text(list(ids), None if row is None else [token[0] for token in row])
                for ids, row in zip(given["completion_ids"], logprobs, strict=True)
            ]
        return texts


def merged_weights(model: PreTrainedModel | PeftModel) -> Iterator[tuple[str, torch.Tensor]]:
    """The weights that the model computes with, under the names of the published model.

    Adapters are added in float32 and the sum is rounded once. The model's own weights are only read.
    """
    if not isinstance(model, PeftModel):
        yield from ((name, weight.data) for name, weight in model.named_parameters())
        return
    adapted: dict[str, Any] = {f"{name}.base_layer.weight": layer for name, layer in model.named_modules() if isinstance(layer, LoraLayer)}
    for name, weight in model.named_parameters():
        if model.prefix in name:
            continue
        published_name = name.removeprefix("base_model.model.").replace(".base_layer", "")
        if name in adapted:
            layer = adapted[name]
            change = sum(layer.get_delta_weight(adapter).float() for adapter in layer.active_adapters)
            yield published_name, (weight.data.float() + change).to(weight.dtype)
        else:
            yield published_name, weight.data


def asked_for(sampling: Sampling, limit: int, **more: Any) -> Any:
    """How vLLM is asked for a text."""
    from vllm import SamplingParams

    return SamplingParams(
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        top_k=sampling.top_k,
        max_tokens=limit,
        logprobs=0,  # of the token that was drawn, and no others
        **more,
    )


def as_text(written: Any) -> Text:
    """What vLLM wrote; its number for a token may be missing."""
    logprobs = [token_logprobs[token].logprob for token, token_logprobs in zip(written.token_ids, written.logprobs, strict=True)]
    return Text(list(written.token_ids), logprobs)


@contextmanager
def drawing_by(seed: int) -> Iterator[None]:
    """torch's generators, from which an engine in this process draws, at a seed; then they go on as if nothing had been drawn."""
    with torch.random.fork_rng():
        torch.manual_seed(seeds.derive(seed, "policy/engine"))
        yield


def published(name: str, revision: str | None) -> str:
    """Where the engine finds the model's config, tokenizer and weights; it knows no revisions by itself."""
    return snapshot_download(name, revision=revision, allow_patterns=MODEL_FILES) if revision and on_hub(name) else str(policy_folder(name))


def graph_sizes(rows: int) -> list[int]:
    """For how many texts, up to ``rows``, vLLM records CUDA graphs. It does so in each stage, and would for 51 numbers of them."""
    return sorted({1, 2, 4, 8, 16, *range(32, rows, 32), rows})


def share_here(model: PreTrainedModel | PeftModel, *, sleeps: bool) -> float:
    """The part of this process's GPU that the engine may take."""
    if not torch.cuda.is_available():
        return AWAKE_BESIDE_TRAINING
    learnt = sum(weight.nbytes for weight in model.parameters() if weight.requires_grad)
    resident = sum(weight.nbytes for weight in model.parameters()) + 3 * learnt  # gradients, and two numbers of the optimizer
    return engine_share(torch.cuda.mem_get_info()[1], resident, sleeps=sleeps)


def name_this_process() -> None:
    """Says in the environment which of the session's processes this is, as vLLM wants to know it."""
    processes = PartialState()
    os.environ |= {"RANK": str(processes.process_index), "LOCAL_RANK": str(processes.local_process_index)}
    os.environ["WORLD_SIZE"] = str(processes.num_processes)
    ensure_master_addr_port()
