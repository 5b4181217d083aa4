"""The lab model: a small Qwen3 network that reads and writes the lab dialect, one word a token."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_model
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM, logging

from frozenlab.base import seeds
from frozenlab.base.files import read_json
from frozenlab.models.folders import WEIGHTS, in_lab_words
from frozenlab.models.lab.generation import Grammar, sample, write_under_grammar
from frozenlab.models.policy import GREEDY, Completion, Policy, PolicyError, Progress, Sampling, check_finite
from frozenlab.tasks.families import DEFAULT
from frozenlab.tasks.family import Family
from frozenlab.tasks.task import LabDialect, Task
from frozenlab.tasks.vocabulary import END, ID_OF, PAD, WORDS

BATCH = 256
"""Default number of completions that run at once."""
MAX_POSITIONS = 1024
"""Longest prompt and completion together, in tokens."""
logging.disable_progress_bar()  # the lab model loads in an instant; a bar for it only litters logs


def build_tokenizer() -> PreTrainedTokenizerFast:
    """One token a word of the vocabulary, in its order; text is split at white space. A word outside it raises on encoding."""
    tokenizer = Tokenizer(WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token=None))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=PAD, eos_token=END, padding_side="left", model_max_length=MAX_POSITIONS
    )


def build_network(seed: int = 0, *, hidden: int = 128, layers: int = 6, intermediate: int = 384) -> Qwen3ForCausalLM:
    """An untrained network (1.3 million parameters by default: attention heads of size 32, tied embeddings)."""
    config = Qwen3Config(
        vocab_size=len(WORDS),
        hidden_size=hidden,
        intermediate_size=intermediate,
        num_hidden_layers=layers,
        num_attention_heads=hidden // 32,
        num_key_value_heads=hidden // 32,
        head_dim=32,
        max_position_embeddings=MAX_POSITIONS,
        tie_word_embeddings=True,
        pad_token_id=WORDS.index(PAD),
        eos_token_id=WORDS.index(END),
        bos_token_id=None,
        attn_implementation="sdpa",
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seeds.derive(seed, "lab-model/weights"))
        return Qwen3ForCausalLM(config)


@dataclass(frozen=True)
class LabPolicy(Policy):
    """A lab model (Qwen3 architecture) with its tokenizer."""

    model: Qwen3ForCausalLM
    tokenizer: PreTrainedTokenizerFast
    family: Family = DEFAULT

    @classmethod
    def load(cls, path: Path, family: Family = DEFAULT) -> LabPolicy:
        """Reads a checkpoint folder (safetensors only). Raises PolicyError if it is not one, was made for another vocabulary, or has no
        words for the family."""
        if family.lab is None:
            raise PolicyError(f"the lab model has no words for the tasks of {family.name}; name a language model")
        for name in ("config.json", WEIGHTS, "tokenizer.json"):
            if not (path / name).is_file():
                raise PolicyError(f"{path} is no lab model checkpoint: it has no {name}")
        try:
            architecture = read_json(path / "config.json")["model_type"]
            if architecture != "qwen3":
                raise PolicyError(f"{path} holds a {architecture!r} model; the lab reads 'qwen3'")
            tokenizer = PreTrainedTokenizerFast.from_pretrained(path, local_files_only=True)
            model = Qwen3ForCausalLM.from_pretrained(path, local_files_only=True, use_safetensors=True, attn_implementation="sdpa")
        except (OSError, KeyError, ValueError, RuntimeError, SafetensorError) as error:
            raise error if isinstance(error, PolicyError) else PolicyError(f"{path} cannot be read: {error}") from None
        words = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
        if not in_lab_words(words) or model.config.vocab_size != len(words):
            raise PolicyError(f"{path} was made for another vocabulary ({model.config.vocab_size} words, the lab dialect has {len(WORDS)})")
        check_finite(model, path)
        return cls(model.eval(), tokenizer, family)

    def save(self, path: Path) -> None:
        """Write a checkpoint folder. It is written elsewhere first, so ``path`` never holds half a checkpoint. Existing files are
        replaced."""
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as scratch:
            self.model.save_pretrained(scratch)
            self.tokenizer.save_pretrained(scratch)
            # The weights last: a reader that sees new weights sees the config and tokenizer that belong to them.
            for file in sorted(Path(scratch).iterdir(), key=lambda file: file.name == WEIGHTS):
                os.replace(file, path / file.name)

    @property
    def dialect(self) -> LabDialect[Any, Any]:
        assert self.family.lab is not None, "checked when it is loaded"
        return self.family.lab

    def prompt(self, task: Task) -> str:
        """Raises PolicyError for a task with words that the lab dialect did not have yet when the model was made."""
        return self.known(self.dialect.prompt(task))

    def known(self, prompt: str) -> str:
        """The prompt, if the model knows all of its words; else a PolicyError."""
        for word in prompt.split():
            if ID_OF.get(word, 0) >= self.model.config.vocab_size:
                raise PolicyError(f"the model does not know the word {word!r}: it was made before the lab dialect had it")
        return prompt

    def limit(self, task: Task) -> int:
        return self.dialect.limit(task)

    def sampling(self, seed: int) -> Sampling:
        return GREEDY

    def completion(self, ids: Sequence[int]) -> Completion:
        """Its text is words separated by spaces."""
        finished = ids[-1] == self.tokenizer.eos_token_id
        return Completion(" ".join(WORDS[i] for i in (ids[:-1] if finished else ids)), len(ids), finished)

    def complete(
        self, prompts: Sequence[str], limits: Sequence[int], sampling: Sampling = GREEDY, on_progress: Progress | None = None
    ) -> list[list[Completion]]:
        """Answers each prompt ``sampling.completions`` times.

        The draws depend on the seed, the place of the prompt in the list and the number of the completion alone, not on the batch size.
        Raises PolicyError for a prompt with words that the model does not know.
        """
        asked = [self.tokenizer(self.known(prompt))["input_ids"] for prompt in prompts]
        completions = sampling.completions
        # Prompts that take about as long run together: first by the length of the answer, then of the prompt.
        order = sorted(range(len(asked)), key=lambda i: (limits[i], len(asked[i])))
        answers: list[list[Completion]] = [[] for _ in asked]
        stride = max(1, (sampling.batch_size or BATCH) // completions)
        for first in range(0, len(order), stride):
            batch = order[first : first + stride]
            texts = sample(
                self.model,
                [asked[i] for i in batch],
                [limits[i] for i in batch],
                [seeds.rng(sampling.seed, "policy/plans", i, n) for i in batch for n in range(completions)],
                temperature=sampling.temperature,
                completions=completions,
                pad=self.tokenizer.pad_token_id,
                end=self.tokenizer.eos_token_id,
            )
            for place, i in enumerate(batch):
                answers[i] = [self.completion(ids) for ids in texts[place * completions : (place + 1) * completions]]
            if on_progress:
                on_progress(first + len(batch))
        return answers

    def complete_constrained(self, prompt: str, grammar: Grammar, temperature: float = 0.0, seed: int = 0) -> str:
        """Writes after ``prompt`` only what ``grammar`` allows. Raises ValueError if that does not end within the model's positions."""
        ids = self.tokenizer(self.known(prompt))["input_ids"]
        words, room = WORDS[: self.model.config.vocab_size], self.model.config.max_position_embeddings
        return " ".join(write_under_grammar(self.model, ids, grammar, words, temperature=temperature, seed=seed, room=room))

    def take_weights(self, folder: Path) -> None:
        load_model(self.model, folder / WEIGHTS)
