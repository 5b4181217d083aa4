"""A language model behind a server, measured on tasks: GPT, Gemini and others, with a key.

Every answer is kept at once, so what was paid for is never asked for again: not after a connection that broke, nor after a stop.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from frozenlab.base import seeds
from frozenlab.base.files import append_line, read_lines
from frozenlab.engineer.chat import ENDS, ask_for_text
from frozenlab.engineer.hosts import Server
from frozenlab.experiments.replays.cost import CHARACTERS_A_TOKEN, Estimate
from frozenlab.models.policy import GREEDY, Completion, Progress, Sampling
from frozenlab.tasks.family import Family
from frozenlab.tasks.task import Task

AT_ONCE = 8
"""Requests under way at the same time."""


class Question(NamedTuple):
    """One request for an answer."""

    key: str
    """What the answer is kept under: it is the answer to this question, by this model with these settings."""
    prompt: str
    seed: int


@dataclass(frozen=True)
class ApiModel:
    """A model that answers the tasks of a family over the network, in the family's words for language models."""

    server: Server
    family: Family
    kept: Path
    """The file of answers, a JSON object a line."""

    def read(self, task: Task, completion: Completion) -> Any:
        return self.family.plain.read(task, completion.text, completion.finished)

    def answer(self, tasks: Sequence[Task], sampling: Sampling = GREEDY, on_progress: Progress | None = None) -> list[list[Completion]]:
        """Answer each task; the temperature is the server's.

        Raises ProposalError if the server gives no answer at all. One that is cut off, filtered or declined counts as what it is.
        """
        known = dict(self.answers())
        asked = self.questions(tasks, sampling)
        lacking = [question for question in asked if question.key not in known]
        done = len(asked) - len(lacking)
        self.kept.parent.mkdir(parents=True, exist_ok=True)
        one_writes = Lock()

        def ask_and_keep(question: Question) -> Completion:
            answer = self.ask(question)
            with one_writes:  # at once: it is paid for, whatever becomes of the others
                append_line(self.kept, {"key": question.key, **vars(answer)})
            return answer

        with ThreadPoolExecutor(AT_ONCE) as requests:
            waiting = {requests.submit(ask_and_keep, question): question.key for question in lacking}
            try:
                for answer in as_completed(waiting):
                    known[waiting[answer]] = answer.result()
                    done += 1
                    if on_progress:
                        on_progress(done // sampling.completions)
            finally:
                requests.shutdown(wait=False, cancel_futures=True)
        answers = [known[question.key] for question in asked]
        return [answers[first : first + sampling.completions] for first in range(0, len(answers), sampling.completions)]

    def ask(self, question: Question) -> Completion:
        answer = ask_for_text(self.server, [{"role": "user", "content": question.prompt}], question.seed)
        if not answer.at_temperature:
            self.refusal.touch()
        text, tokens, *_ = answer.written
        counted = len(text) // CHARACTERS_A_TOKEN if tokens is None else tokens  # some servers do not count them
        return Completion(text.strip(), counted, finished=answer.ended not in ENDS)

    @property
    def refusal(self) -> Path:
        """A file that is there if the server has refused the temperature, now or when it wrote answers that are kept."""
        return self.kept.with_name(f"{self.kept.stem}-refused-temperature-{self.server.temperature:g}")

    def answers(self) -> Iterator[tuple[str, Completion]]:
        """Those that came before; a line that was not written to its end, or is of another kind, is none."""
        for found in read_lines(self.kept)[0]:
            try:
                yield found.pop("key"), Completion(**found)
            except (TypeError, KeyError):
                continue

    def questions(self, tasks: Sequence[Task], sampling: Sampling) -> list[Question]:
        """What is to be asked, task by task: the first answer to each, the second, and so on."""
        how = self.server.model_dump(exclude={"key_variable", "timeout", "input_price", "output_price"})
        asked = []
        for prompt in map(self.family.plain.prompt, tasks):
            for answer in range(sampling.completions):
                which = [sampling.seed] + [answer] * (answer > 0)
                key = hashlib.sha256(json.dumps([how, *which, prompt], sort_keys=True).encode()).hexdigest()[:24]
                asked.append(Question(key, prompt, seeds.derive(sampling.seed, "api-model/answer", *which[1:])))
        return asked

    def estimate(self, tasks: Sequence[Task], sampling: Sampling) -> Estimate | None:
        """The cost of the answers that are still missing, before anything is sent; None if there are none."""
        known = dict(self.answers())
        prompts = [question.prompt for question in self.questions(tasks, sampling) if question.key not in known]
        if not prompts:
            return None
        read, written = sum(map(len, prompts)) // CHARACTERS_A_TOKEN, len(prompts) * self.server.max_tokens
        return Estimate(len(prompts), read, written, judged=False, cost=self.server.cost(read, written))
