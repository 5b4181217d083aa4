"""Any Hugging Face causal language model as policy: asked in plain language, through its chat template if it has one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import torch
from accelerate import PartialState
from peft import LoraConfig, PeftModel, get_peft_model, get_peft_model_state_dict, load_peft_weights, set_peft_model_state_dict
from safetensors import SafetensorError
from safetensors.torch import load_model
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase, set_seed
from transformers.trainer_utils import load_sharded_checkpoint
from transformers.utils import is_flash_attn_2_available

from frozenlab.base import seeds
from frozenlab.base.spoken import MARK
from frozenlab.jobs.machine import fast_bfloat16, spare_memory
from frozenlab.models.folders import (
    ADAPTER,
    ADAPTER_CONFIG,
    FETCHED,
    WEIGHTS,
    asked_otherwise,
    base_of,
    note_question,
    nowhere,
    policy_folder,
)
from frozenlab.models.language.room import number_format, on_processor
from frozenlab.models.language.writers import BY_GROUPS, Ids, Schema, Text, TransformersWriter, Writer, end_tokens
from frozenlab.models.policy import GREEDY, Completion, Policy, PolicyError, Progress, Sampling, check_finite
from frozenlab.models.settings import LanguageSettings
from frozenlab.tasks.families import DEFAULT
from frozenlab.tasks.family import Family
from frozenlab.tasks.task import Dialect, Task

Message = dict[str, str]
Adapters = dict[str, torch.Tensor]
"""Their weights by name, as PEFT writes them to a file."""
THINK, THOUGHT = "<think>", "</think>"
"""What Qwen3 and its like write before and after their thoughts."""
CLOSE = f"\n{THOUGHT}\n\n"
AMPERE = (8, 0)
"""The compute capability of the oldest GPUs that Flash Attention 2 knows."""
LONGEST_WAIT = timedelta(hours=2)
"""For which processes that train together wait for each other: while one writes long answers, the others wait in a collective call."""


@dataclass
class HFPolicy(Policy):
    """A language model and its text generator; with LoRA, ``model`` is a PeftModel."""

    model: PreTrainedModel | PeftModel
    tokenizer: PreTrainedTokenizerBase
    settings: LanguageSettings
    ends: list[int]
    """The tokens that end an answer. Asked for once: a trainer changes what the model declares."""
    writer: Writer
    family: Family = DEFAULT

    @classmethod
    def load(cls, name: str, settings: LanguageSettings, seed: int = 0, family: Family = DEFAULT, *, to_train: bool = False) -> HFPolicy:
        """The model before any training: with fresh adapters, drawn by ``seed``, where the settings ask for LoRA.

        Args:
            name: of a model on the hub, or a folder: of a model or of the adapters that a stage left, which are then trained on.
            to_train: whether training follows. A model that is only asked takes half of the memory where all its weights could be trained.

        Raises:
            PolicyError: it cannot be loaded, its weights are no safetensors, or it was taught another question.
            NoQuestionError: the family has no such question.
        """
        family.asked(settings.question)
        if otherwise := asked_otherwise(name, settings.question):
            raise PolicyError(otherwise)
        settings, folder = settings.model_copy(update={"dtype": number_format(settings)}), policy_folder(name)
        if (folder / ADAPTER_CONFIG).is_file():
            if (published := base_of(name)) is None:
                raise PolicyError(f"{folder / ADAPTER_CONFIG} does not say which model its adapters belong to")
            base, tokenizer = read_model(published, settings, to_train)
            try:
                model = PeftModel.from_pretrained(base, str(folder), is_trainable=to_train)
            except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
                raise PolicyError(f"the adapters in {name} cannot be read: {error}") from None
        else:
            model, tokenizer = read_model(name, settings, to_train)
            if settings.lora is not None:
                set_seed(seeds.derive(seed, "policy/adapters"))
                model = get_peft_model(model, lora_config(settings))
        if isinstance(model, PeftModel):  # else it asks the hub each time that it or a trainer is saved
            model.save_pretrained = partial(model.save_pretrained, save_embedding_layers=False)  # type: ignore[method-assign]
        check_finite(model, name)
        settings = within_positions(model, name, settings)
        if not to_train:
            model.requires_grad_(False)  # so that the engine keeps no room for gradients and optimizer
        elif not any(weight.requires_grad for weight in model.parameters()):
            raise PolicyError(f"{name} has no weights that training could change")
        ends = end_tokens(model, tokenizer)
        return cls(model, tokenizer, settings, ends, TransformersWriter(model, tokenizer, ends), family)

    # --- tasks ---------------------------------------------------------------------------------------------------

    @property
    def dialect(self) -> Dialect[Any, Any]:
        return self.family.asked(self.settings.question)

    def asked_ids(self, prompt: str) -> list[int]:
        """The tokens of a prompt about a task, up to where the answer begins."""
        system = self.dialect.system
        return self.prompt_ids([*([{"role": "system", "content": system}] if system else []), user(prompt)])

    def limit(self, task: Task) -> int:
        return self.settings.max_tokens

    def sampling(self, seed: int) -> Sampling:
        how = self.settings.measured
        return Sampling(how.temperature, seed=seed, top_p=how.top_p, top_k=how.top_k)

    def completion(self, ids: Sequence[int]) -> Completion:
        finished = ids[-1] in self.ends
        text = self.tokenizer.decode(ids[: len(ids) - finished], skip_special_tokens=not self.marks_thoughts)
        return Completion(text.strip(), len(ids), finished)

    def complete(
        self, prompts: Sequence[str], limits: Sequence[int], sampling: Sampling = GREEDY, on_progress: Progress | None = None
    ) -> list[list[Completion]]:
        """Answers each prompt ``sampling.completions`` times. The draws depend on the seed, on the prompts and on the batch size."""
        asked = list(map(self.asked_ids, prompts))
        order = sorted(range(len(asked)), key=lambda i: len(asked[i]))  # so that little of a batch is padding
        answers: list[list[Completion]] = [[] for _ in asked]
        stride = max(1, (sampling.batch_size or self.writer.together(self.settings.max_tokens)) // sampling.completions)
        self.writer.refresh()
        for first in range(0, len(order), stride):
            batch = order[first : first + stride]
            repeated = [i for i in batch for _ in range(sampling.completions)]
            draw = replace(sampling, seed=seeds.derive(sampling.seed, "policy/texts", first))
            texts = self.write([asked[i] for i in repeated], limit=max(limits[i] for i in batch), sampling=draw)
            for i, text in zip(repeated, texts, strict=True):
                answers[i].append(self.completion(text.ids))
            if on_progress:
                on_progress(first + len(batch))
        return answers

    def write(self, asked: Sequence[Ids], *, limit: int, sampling: Sampling) -> list[Text]:
        """Answers of up to ``limit`` tokens, with thoughts of as many tokens as the settings allow."""
        texts = self.writer.write(asked, limit=self.before_the_close(limit), sampling=sampling)
        return self.with_close(asked, texts, limit=limit, sampling=sampling)

    def before_the_close(self, limit: int) -> int:
        """How many tokens of an answer of up to ``limit`` are written before its thoughts may be ended for it; ``limit``: all."""
        most = self.settings.thoughts
        return limit if most is None or not (self.settings.thinking and self.thinks) else min(most, limit)

    def with_close(self, asked: Sequence[Ids], texts: list[Text], *, limit: int, sampling: Sampling) -> list[Text]:
        """Answers that were written up to :meth:`before_the_close`, to their end."""
        most = self.before_the_close(limit)
        if most == limit:
            return texts
        unfinished = [i for i, text in enumerate(texts) if text.ids[-1] not in self.ends]
        for i in unfinished:
            if close := self.close(asked[i], texts[i].ids):
                texts[i] = joined(texts[i], Text(close, [None] * len(close), [0] * len(close)))
        draw = replace(sampling, seed=seeds.derive(sampling.seed, "policy/after-thoughts"))
        begun = [[*asked[i], *texts[i].ids] for i in unfinished]
        room = max(1, limit - most - len(self.tokens(CLOSE)))
        rest = self.writer.write(begun, limit=room, sampling=draw) if begun else []
        for i, text in zip(unfinished, rest, strict=True):
            texts[i] = joined(texts[i], text)
        return texts

    # --- words ---------------------------------------------------------------------------------------------------

    def prompt_ids(self, messages: Sequence[Message], thinking: bool | None = None) -> list[int]:
        """The tokens of a conversation up to where the model is to go on. A model without a chat template reads the bare texts."""
        if self.tokenizer.chat_template is None:
            return self.tokenizer("\n\n".join(message["content"] for message in messages) + "\n\n")["input_ids"]
        thinks = self.settings.thinking if thinking is None else thinking
        return self.tokenizer.apply_chat_template(
            list(messages), add_generation_prompt=True, tokenize=True, return_dict=True, enable_thinking=thinks
        )["input_ids"]

    def reply(self, messages: Sequence[Message], schema: Schema, *, limit: int, thoughts: int, sampling: Sampling) -> tuple[str, int, int]:
        """Answers a conversation under a JSON schema, after thinking aloud for up to ``thoughts`` tokens.

        Returns:
            The thoughts and the answer as one text, its tokens, and those of the prompt.

        Raises:
            PolicyError: the conversation leaves no room for thoughts and an answer of ``limit`` tokens.
        """
        thoughts = thoughts if self.thinks else 0
        asked = self.prompt_ids(messages, thinking=thoughts > 0)
        context = self.settings.context
        if len(asked) + thoughts + limit > context:
            raise PolicyError(f"the prompt has {len(asked)} tokens: of a context of {context} that leaves too few for an answer")
        self.writer.refresh(alone=True)  # the first process is the engineer
        thought = self.think(asked, thoughts, sampling) if thoughts else []
        [written] = self.writer.write([asked + thought], limit=limit, sampling=sampling, schema=schema)
        return self.completion([*thought, *written.ids]).text, len(thought) + len(written.ids), len(asked)

    def has_room(self, messages: Sequence[Message], *, limit: int, thoughts: int) -> bool:
        """Whether a conversation leaves room for thoughts and an answer of ``limit`` tokens."""
        thoughts = thoughts if self.thinks else 0
        return len(self.prompt_ids(messages, thinking=thoughts > 0)) + thoughts + limit <= self.settings.context

    @cached_property
    def marks_thoughts(self) -> bool:
        """Whether special tokens mark its thoughts, as with gpt-oss and Magistral; left out, its thoughts would be read as its answer."""
        return any(MARK.search(token) for token in self.tokenizer.all_special_tokens)

    @property
    def thinks(self) -> bool:
        """Whether the model knows thoughts: words between two marks of its own."""
        return all(len(self.tokens(mark)) == 1 for mark in (THINK, THOUGHT))

    def think(self, asked: list[int], most: int, sampling: Sampling) -> list[int]:
        """Thoughts about a conversation, up to the mark that ends them; where the model does not end them, they are cut off there."""
        opening = [] if self.tokens(THINK)[0] in asked[-2:] else self.tokens(f"{THINK}\n")
        draw = replace(sampling, seed=seeds.derive(sampling.seed, "policy/thoughts"))
        [written] = self.writer.write([asked + opening], limit=most, sampling=draw, until=self.tokens(THOUGHT))
        ids = [token for token in written.ids if token not in self.ends]
        return [*opening, *ids, *(self.close([*asked, *opening], ids) or self.tokens("\n\n"))]

    def close(self, asked: Ids, written: Ids) -> list[int]:
        """What is written for a model that still thinks, so that it answers; nothing for one that has ended its thoughts, or had none."""
        [opens], [closes] = self.tokens(THINK), self.tokens(THOUGHT)
        return self.tokens(CLOSE) if opens in [*asked[-2:], *written] and closes not in written else []

    def tokens(self, text: str) -> list[int]:
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]

    @contextmanager
    def before_training(self, start: Adapters | None) -> Iterator[HFPolicy]:
        """The model as it was before training, written for by the transformers library. Only with LoRA does a trained model still hold it.

        Args:
            start: the adapters that training went on from, which take the place of the trained ones for so long; None: there were none.
        """
        assert isinstance(self.model, PeftModel)
        before = replace(self, writer=TransformersWriter(self.model, self.tokenizer, self.ends))
        if start is None:
            with self.model.disable_adapter():
                yield before
            return
        trained = get_peft_model_state_dict(self.model, save_embedding_layers=False)
        trained = {name: weight.to("cpu", copy=True) for name, weight in trained.items()}
        try:
            set_peft_model_state_dict(self.model, start)
            yield before
        finally:
            set_peft_model_state_dict(self.model, trained)

    @property
    def autocast(self) -> dict[str, bool]:
        """TRL's arguments for the number format of the computation, where the trained weights have another."""
        half = self.settings.dtype == "bfloat16" and not learns_in_bfloat16(self.settings, self.model.device)
        return {"bf16": half, "fp16": self.settings.dtype == "float16"}

    # --- weights -------------------------------------------------------------------------------------------------

    def take_weights(self, folder: Path) -> None:
        """Raises PolicyError if the folder's weights are not of this model."""
        try:
            if (folder / ADAPTER).is_file():
                set_peft_model_state_dict(self.model, load_peft_weights(str(folder), device=str(self.model.device)))
            elif (folder / WEIGHTS).is_file():
                load_model(self.model, folder / WEIGHTS)
            else:
                load_sharded_checkpoint(self.model, str(folder), strict=False)
        except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
            raise PolicyError(f"{folder} holds no weights of this model: {error}") from None

    def save(self, folder: Path) -> None:
        """Save the whole model, or with LoRA only the adapters, and how it is asked."""
        self.model.save_pretrained(str(folder))
        note_question(folder, self.settings.question)
        self.tokenizer.save_pretrained(folder)

    def export(self, folder: Path) -> None:
        """Export one model with the adapters merged into it, for use elsewhere. This policy cannot be used afterwards."""
        model = self.model.merge_and_unload() if isinstance(self.model, PeftModel) else self.model
        model.to(getattr(torch, self.settings.dtype)).save_pretrained(str(folder))
        note_question(folder, self.settings.question)
        self.tokenizer.save_pretrained(folder)


def joined(text: Text, more: Text) -> Text:
    """A text that goes on."""
    own = [*(text.own or [1] * len(text.ids)), *(more.own or [1] * len(more.ids))]
    logprobs = None if text.logprobs is None or more.logprobs is None else [*text.logprobs, *more.logprobs]
    return Text([*text.ids, *more.ids], logprobs, own)


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def read_model(name: str, settings: LanguageSettings, to_train: bool) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A model as it is published, with its tokenizer. Code that comes with it is never run. Raises PolicyError."""
    if on_processor(settings):
        spare_memory()
    known = {"revision": settings.revision, "trust_remote_code": False}
    if name in FETCHED and (missing := nowhere(name)):
        raise PolicyError(missing)
    place = str(policy_folder(name))
    processes = PartialState(cpu=settings.device == "cpu", timeout=LONGEST_WAIT)  # the first one settles it, also for trainers
    in_float32 = to_train and settings.lora is None and not learns_in_bfloat16(settings, processes.device)
    try:
        tokenizer = AutoTokenizer.from_pretrained(place, **known)
        model = AutoModelForCausalLM.from_pretrained(
            place,
            **known,
            dtype=torch.float32 if in_float32 else getattr(torch, settings.dtype),
            use_safetensors=True,
            attn_implementation=attention(settings),
        )
    except (OSError, KeyError, ValueError, RuntimeError, SafetensorError) as error:
        reason = str(error).strip().splitlines()
        raise PolicyError(f"{name} cannot be loaded: {reason[0] if reason else type(error).__name__}") from None
    if tokenizer.eos_token_id is None:
        raise PolicyError(f"{name} has a tokenizer without an end token, so it could not end an answer")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    model.name_or_path = name  # adapters keep it as that of their base, on whatever machine they are read
    return model.to(processes.device).eval(), tokenizer


def learns_in_bfloat16(settings: LanguageSettings, device: torch.device) -> bool:
    """Whether all weights are held in bfloat16 while they are trained: on processors with instructions for it, where autocast loses by
    conversions what it wins in products. Steps are made in float32 (:func:`~frozenlab.models.training.optimizers.step_in_float32`)."""
    return settings.dtype == "bfloat16" and device.type == "cpu" and fast_bfloat16()


def positions(config: Any) -> int | None:
    """The most positions that a model is made for; None if its config does not say."""
    text = config.get_text_config()
    most, scaling = getattr(text, "max_position_embeddings", None), getattr(text, "rope_scaling", None) or {}
    original = scaling.get("original_max_position_embeddings")
    return max(most, int(original * scaling.get("factor", 1))) if most and original else most


def within_positions(model: PreTrainedModel | PeftModel, name: str, settings: LanguageSettings) -> LanguageSettings:
    """The settings with a context of no more positions than the model knows. Raises PolicyError if the longest answer takes them all."""
    most = positions(model.config)
    if most is None or settings.context <= most:
        return settings
    if settings.max_tokens >= most:
        raise PolicyError(f"{name} knows {most} positions, and an answer may take {settings.max_tokens} tokens: lower max_tokens")
    return settings.model_copy(update={"context": most})


def attention(settings: LanguageSettings) -> str:
    """The transformers library's name for how attention is computed here."""
    if settings.attention != "auto":
        return settings.attention
    if settings.device == "cpu" or not torch.cuda.is_available():
        return BY_GROUPS
    if settings.dtype == "float32" or not is_flash_attn_2_available():
        return "sdpa"
    return "flash_attention_2" if torch.cuda.get_device_capability() >= AMPERE else "sdpa"


def lora_config(settings: LanguageSettings) -> LoraConfig:
    lora = settings.lora
    assert lora is not None
    return LoraConfig(r=lora.rank, lora_alpha=lora.alpha, lora_dropout=lora.dropout, target_modules="all-linear", task_type="CAUSAL_LM")


def adapters_in(name: str) -> Adapters | None:
    """The adapters of a folder of adapters, in main memory; None if ``name`` is that of a model. Raises PolicyError."""
    folder = policy_folder(name)
    if not (folder / ADAPTER_CONFIG).is_file():
        return None
    try:
        return load_peft_weights(str(folder), device="cpu")
    except (OSError, ValueError, SafetensorError) as error:
        raise PolicyError(f"the adapters in {name} cannot be read: {error}") from None
