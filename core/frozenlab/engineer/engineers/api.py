"""The ``api``: any language model behind an OpenAI-compatible server, asked in plain language."""

from __future__ import annotations

from typing import Literal

from frozenlab.engineer.dialects.plain import LanguageEngineer
from frozenlab.engineer.hosts import Server
from frozenlab.engineer.protocol import Engineer, EngineerSpec, Models
from frozenlab.models.settings import LanguageSettings


class ApiEngineer(EngineerSpec, Server):
    kind: Literal["api"] = "api"
    guidance: bool = False
    """Whether the paper's two lessons are part of its prompt."""
    label = "any model behind an OpenAI-compatible server"
    title = who = "a model behind an API"
    help = "A vLLM server, GPT, Gemini or the like reads the evidence in plain language and writes the next config as JSON."
    needs = frozenset({"network"})
    chooses_ratios = True
    expects = "The language model names each number itself."

    @property
    def server(self) -> Server:
        return self

    def takes_guidance(self, language: LanguageSettings | None) -> bool:
        return True

    def build(self, models: Models) -> Engineer:
        from frozenlab.engineer.chat import ask_server  # imports openai, which takes a second

        return LanguageEngineer(lambda messages, schema, seed: ask_server(self, messages, schema, seed), self.kind, self.guidance)
