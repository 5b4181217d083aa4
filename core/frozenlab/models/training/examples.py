"""Prompts with the completions to be learned, as token ids of the lab model."""

from __future__ import annotations

from dataclasses import dataclass

from frozenlab.tasks.vocabulary import END, ID_OF


@dataclass(frozen=True)
class Example:
    """One prompt with the completion to be learnt, as token ids."""

    prompt: tuple[int, ...]
    completion: tuple[int, ...]
    """Ends with the end token."""

    @property
    def length(self) -> int:
        return len(self.prompt) + len(self.completion)


def to_example(prompt: str, completion: str) -> Example:
    """Prompt and completion (without its end token) as token ids. Raises KeyError for a word outside the vocabulary."""
    return Example(tuple(ID_OF[word] for word in prompt.split()), tuple(ID_OF[word] for word in [*completion.split(), END]))
