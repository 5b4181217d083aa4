"""The lab model: a small Qwen3 network that reads and writes the lab dialect, one word a token."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_model
from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM, logging

from frozenlab import seeds
from frozenlab.lake.board import Board
from frozenlab.policy.answer import Answer
from frozenlab.policy.folders import WEIGHTS
from frozenlab.policy.lab.generation import Grammar, sample, write_under_grammar
from frozenlab.policy.lab.plan_dialect import max_plan_words, parse_plan, render_board
from frozenlab.policy.lab.vocabulary import WORDS
from frozenlab.policy.policy import Completion, PolicyError

BATCH = 256
"""Default number of completions that run at once."""
logging.disable_progress_bar()  # the lab model loads in an instant; a bar for it only litters logs


@dataclass(frozen=True)
class LabPolicy:
    """A lab model (Qwen3 architecture) with its tokenizer."""

    model: Qwen3ForCausalLM
    tokenizer: PreTrainedTokenizerFast

    @classmethod
    def load(cls, path: Path) -> LabPolicy:
        """Reads a checkpoint folder (safetensors only). Raises PolicyError if it is not one, or was made for another vocabulary."""
        for name in ("config.json", WEIGHTS, "tokenizer.json"):
            if not (path / name).is_file():
                raise PolicyError(f"{path} is no lab model checkpoint: it has no {name}")
        try:
            architecture = json.loads((path / "config.json").read_text(encoding="utf-8"))["model_type"]
            if architecture != "qwen3":
                raise PolicyError(f"{path} holds a {architecture!r} model; the lab reads 'qwen3'")
            tokenizer = PreTrainedTokenizerFast.from_pretrained(path, local_files_only=True)
            model = Qwen3ForCausalLM.from_pretrained(path, local_files_only=True, use_safetensors=True, attn_implementation="sdpa")
        except (OSError, KeyError, ValueError, RuntimeError, SafetensorError) as error:
            raise error if isinstance(error, PolicyError) else PolicyError(f"{path} cannot be read: {error}") from None
        if tokenizer.convert_ids_to_tokens(list(range(len(tokenizer)))) != list(WORDS) or model.config.vocab_size != len(WORDS):
            raise PolicyError(f"{path} was made for another vocabulary ({model.config.vocab_size} words, the lab dialect has {len(WORDS)})")
        return cls(model.eval(), tokenizer)

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

    def prompt(self, board: Board) -> str:
        return render_board(board)

    def limit(self, board: Board) -> int:
        return max_plan_words(board)

    def completion(self, ids: Sequence[int]) -> Completion:
        """Its text is words separated by spaces."""
        finished = ids[-1] == self.tokenizer.eos_token_id
        return Completion(" ".join(WORDS[i] for i in (ids[:-1] if finished else ids)), len(ids), finished)

    def read(self, board: Board, completion: Completion) -> Answer:
        return parse_plan(board, completion.text, completion.finished)

    def plan(
        self,
        boards: Sequence[Board],
        *,
        temperature: float = 0.0,
        completions: int = 1,
        seed: int = 0,
        batch_size: int | None = None,
        on_progress: Callable[[int], None] | None = None,
    ) -> list[list[Completion]]:
        """Plans each board ``completions`` times (temperature 0: greedily, all the same).

        The draws depend on ``seed``, the place of the board in the list and the number of the completion alone, not on ``batch_size``, the
        number of completions running at once. ``on_progress`` is called with the number of boards done.

        Raises:
            DialectError: the lab dialect has no words for a board.
        """
        prompts = [self.tokenizer(self.prompt(board))["input_ids"] for board in boards]
        limits = [self.limit(board) for board in boards]
        # Boards that take about as long run together: first by the length of the answer, then of the prompt.
        order = sorted(range(len(boards)), key=lambda i: (limits[i], len(prompts[i])))
        planned: list[list[Completion]] = [[] for _ in boards]
        stride = max(1, (batch_size or BATCH) // completions)
        for first in range(0, len(order), stride):
            batch = order[first : first + stride]
            texts = sample(
                self.model,
                [prompts[i] for i in batch],
                [limits[i] for i in batch],
                [seeds.rng(seed, "policy/plans", i, n) for i in batch for n in range(completions)],
                temperature=temperature,
                completions=completions,
                pad=self.tokenizer.pad_token_id,
                end=self.tokenizer.eos_token_id,
            )
            for place, i in enumerate(batch):
                planned[i] = [self.completion(ids) for ids in texts[place * completions : (place + 1) * completions]]
            if on_progress:
                on_progress(first + len(batch))
        return planned

    def complete_constrained(self, prompt: str, grammar: Grammar, temperature: float = 0.0, seed: int = 0) -> str:
        """Writes after ``prompt`` only what ``grammar`` allows. Raises ValueError if that does not end within the model's positions."""
        ids = self.tokenizer(prompt)["input_ids"]
        room = self.model.config.max_position_embeddings
        return " ".join(write_under_grammar(self.model, ids, grammar, WORDS, temperature=temperature, seed=seed, room=room))

    def take_weights(self, folder: Path) -> None:
        load_model(self.model, folder / WEIGHTS)
