"""Settings to load, prompt and train a language model. Light, so that specs and pages can use them."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from frozenlab.base.schemas import Strict


class Lora(Strict):
    """Low-rank adapters (Hu et al. 2021) on every linear layer but the head: the only part that is trained and saved."""

    rank: Annotated[int, Field(ge=1, le=512, title="LoRA rank")] = 32
    """Size of the adapters."""
    alpha: Annotated[int, Field(ge=1, le=2048)] = 64
    """The adapters' output is scaled by ``alpha / rank``."""
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0


class Vllm(Strict):
    """Plans and proposals are written by vLLM."""

    mode: Literal["colocate", "server"] = "colocate"
    """In the training process itself, one engine a GPU; or by a server on GPUs of its own."""
    url: Annotated[str, Field(pattern=r"^https?://[^\s@]+$")] = "http://127.0.0.1:8000"
    """Address of the server."""
    memory: Annotated[float, Field(gt=0, lt=1)] | None = None
    """colocate: the part of the GPU's memory that the engine takes; None: what the model in training leaves it."""
    sleep: bool = True
    """colocate: the engine gives its memory back while the policy learns. Only GPUs can."""
    merged: bool = False
    """colocate: the engine gets base plus adapters, added in float32 and rounded once, in place of adapters beside the base. It writes
    faster, and rounds small changes of the weights away. Without adapters it always gets all weights."""
    cache: Literal["auto", "fp8"] = "auto"
    """colocate: number format of the engine's keys and values. fp8 takes half of the memory and of the time to read them, and its
    probabilities are further from the trainer's."""
    done: Annotated[float, Field(ge=0.5, le=1)] = 1.0
    """colocate: a step learns when this part of the boards whose plans are being written has all of them; the others go on in the next
    step, by the policy of then. 1: when all have."""
    largest_weight: Annotated[float, Field(ge=1, le=100)] | None = 2.0
    """Engine and trainer round differently, so they give a token slightly different probabilities. In training each token counts by their
    ratio (importance sampling), cut off here; None: each counts once."""


class Decoding(Strict):
    """How a token is chosen where a model is measured."""

    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    """0 takes the likeliest token."""
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Drawn from the likeliest tokens whose probabilities together reach this."""
    top_k: Annotated[int, Field(ge=0, le=10_000)] = 0
    """Drawn from this many of the likeliest tokens; 0: from all."""


THOUGHTFUL = Decoding(temperature=0.6, top_p=0.95, top_k=20)
"""What Qwen3's card asks for while it thinks: greedy thoughts run in circles until they are cut off."""


class Launcher(Strict):
    """How the processes of a session start if there are several."""

    program: Literal["torchrun", "accelerate"] = "torchrun"
    processes: Annotated[int, Field(ge=1, le=64, title="GPUs")] = 1
    """Processes that train together, one for each GPU; they share each step's boards."""


class LanguageSettings(Strict):
    """A Hugging Face language model as policy. The defaults are those of the paper's model, Qwen3-4B, on one GPU."""

    revision: Annotated[str, Field(max_length=100)] | None = None
    """Branch, tag or commit of the model on its hub."""
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "auto"
    """Number format of the computation; auto: bfloat16 on GPUs and on processors with instructions for it, float16 on GPUs before Ampere
    (T4, V100, RTX 20), else float32. Trained weights are always float32."""
    device: Literal["auto", "cpu"] = "auto"
    """Where it runs; auto: on the GPU if there is one, else on the processor."""
    lora: Lora | None = Lora()
    """None trains every weight."""
    attention: Literal["auto", "sdpa", "flash_attention_2"] = "auto"
    """How the transformers library computes attention; auto: flash attention where it is installed and the GPU can, else sdpa."""
    gradient_checkpointing: bool | None = None
    """Gradient checkpointing: keep less of the forward pass in memory and compute it again, a third more work; None: where it would not fit
    otherwise."""
    rows: Annotated[int, Field(ge=1, le=1024, title="Rows")] = 8
    """Completions that pass through the network together in training, in each process."""
    question: Literal["full", "compact"] = "full"
    """How it is asked about a task. compact: without the rules, in a quarter of the tokens, for a model that a warm start has taught it;
    the answer has a form of its own too."""
    thinking: bool = False
    """Whether the chat template lets the model think before it answers."""
    max_tokens: Annotated[int, Field(ge=8, le=65_536, title="Longest answer")] = 1024
    """The longest answer to a board, in tokens, thoughts included. A longer one is cut off and counts as truncated."""
    thoughts: Annotated[int, Field(ge=16, le=65_536)] | None = None
    """Most tokens of its thoughts about a board: then the mark that ends them is written for it, and it answers. None: no such bound."""
    decoding: Decoding | None = None
    """How it answers where it is measured (validation, test, benchmark); None: greedily, or while it thinks as Qwen3's card asks."""
    context: Annotated[int, Field(ge=256, le=262_144)] = 16_384
    """Tokens that prompt and answer may have together."""
    vllm: Vllm | None = Vllm()
    """None: the transformers library writes, much slower, with nothing else to install."""
    launcher: Launcher = Launcher()

    @property
    def measured(self) -> Decoding:
        """How it answers where it is measured."""
        return self.decoding or (THOUGHTFUL if self.thinking else Decoding())

    @model_validator(mode="after")
    def _check_room(self) -> Self:
        if self.thinking and self.question == "compact":
            raise ValueError("a model that is asked the compact question answers in a form without thoughts: leave thinking off")
        vllm = self.vllm
        if vllm and vllm.done < 1 and (vllm.mode == "server" or vllm.largest_weight is None or self.launcher.processes > 1):
            raise ValueError('"done" below 1 needs "mode" colocate, one process, and "largest_weight" for tokens by an older policy')
        if self.max_tokens >= self.context:
            raise ValueError(f"an answer may take {self.max_tokens} tokens, but prompt and answer together only {self.context}")
        if self.thoughts is not None and self.thoughts >= self.max_tokens:
            raise ValueError(f"thoughts may take {self.thoughts} tokens, and the whole answer {self.max_tokens}: none is left for the plan")
        return self


class WarmStart(Strict):
    """How a language model learns worked answers before a session."""

    examples: Annotated[int, Field(ge=1, le=1_000_000)] = 8000
    """Solved tasks to learn from, each seen once. 8,000 take 20 to 30 minutes for Qwen3-1.7B on one card of 24 GB, by estimate."""
    batch: Annotated[int, Field(ge=1, le=1024)] = 32
    """Examples of one optimizer step. Few for a small model on a processor: there the number of steps is what is missing."""
    learning_rate: Annotated[float, Field(gt=0, le=1e-1)] = 2e-4
    """The learning rate at its highest. It rises over the first twentieth and falls along a cosine."""
