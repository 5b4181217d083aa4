"""Self-assessment: the lab model says how likely it is to solve a task, before it tries.

<self> <plan> h6 w6 k2 holes ... moves
62.5%
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy
from transformers import Qwen3ForCausalLM

from frozenlab.models.lab.policy import LabPolicy
from frozenlab.tasks.task import Task
from frozenlab.tasks.vocabulary import ID_OF, PERCENTS, SELF, percent_value, percent_word

BATCH = 128
"""Questions that are answered at once."""
PERCENT_IDS = [ID_OF[word] for word in PERCENTS]
VALUES = np.array([percent_value(word) for word in PERCENTS])


def question(prompt: str) -> str:
    """What the model is asked about the task of a prompt."""
    return f"{SELF} {prompt}"


def answers(model: Qwen3ForCausalLM, questions: Sequence[Sequence[int]]) -> torch.Tensor:
    """The logits (questions, words) of the word that follows each question. Padding is on the right, where causal attention skips it."""
    ends = torch.tensor([len(ids) - 1 for ids in questions], device=model.device)
    ids = torch.zeros(len(questions), int(ends.max()) + 1, dtype=torch.long, device=model.device)
    for row, own in enumerate(questions):
        ids[row, : len(own)] = torch.tensor(own)
    hidden = model.model(input_ids=ids, use_cache=False).last_hidden_state
    logits: torch.Tensor = model.lm_head(hidden[torch.arange(len(questions), device=model.device), ends])
    return logits


@torch.inference_mode()
def assess(policy: LabPolicy, tasks: Sequence[Task]) -> NDArray[np.float64]:
    """(tasks,): the probability of solving each task, as the mean over the percent words. Raises PolicyError for a model that does not
    know the question."""
    questions = [policy.tokenizer(policy.known(question(policy.prompt(task))))["input_ids"] for task in tasks]
    means = np.empty(len(tasks))
    order = sorted(range(len(tasks)), key=lambda i: len(questions[i]))
    for first in range(0, len(order), BATCH):
        batch = order[first : first + BATCH]
        chances = answers(policy.model, [questions[i] for i in batch])[:, PERCENT_IDS].double().softmax(1)
        means[batch] = chances.cpu().numpy() @ VALUES
    return means


def loss(model: Qwen3ForCausalLM, questions: Sequence[Sequence[int]], rates: Sequence[float]) -> torch.Tensor:
    """The mean cross-entropy of the percent words nearest to the ``rates`` that were measured."""
    wanted = torch.tensor([ID_OF[percent_word(rate)] for rate in rates], device=model.device)
    return cross_entropy(answers(model, questions).float(), wanted)
