"""The ``base``: the model before any training, as engineer for the policy that is trained."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Literal

from frozenlab.engineer.own_model import ModelEngineer
from frozenlab.engineer.protocol import Engineer, Models
from frozenlab.models.folders import policy_folder
from frozenlab.models.settings import LanguageSettings
from frozenlab.tasks.families import family_of


class BaseEngineer(ModelEngineer):
    kind: Literal["base"] = "base"
    label = "the model before any training"
    who = "the model before any training"
    help = "A second copy of the model, which no training touches, reads the evidence and writes the next config."
    needs = frozenset({"model"})

    @classmethod
    def needs_weights(cls, language: LanguageSettings | None) -> bool:
        """A language model with LoRA holds its base: without the adapters, or with those that it started from."""
        return language is not None

    def build(self, models: Models) -> Engineer:
        if models.language is None:
            from frozenlab.models.lab.policy import LabPolicy  # imports torch

            family = {} if models.config is None else {"family": family_of(models.config.family)}
            return self.in_lab_dialect(LabPolicy.load(policy_folder(models.name), **family), models.config)
        from frozenlab.models.language.policy import HFPolicy, adapters_in  # imports torch and PEFT

        if models.language.lora:
            current: Any = models.current
            start = adapters_in(models.name)
            return self.in_plain_language(current, lambda: current.before_training(start))
        base = HFPolicy.load(models.name, models.language)
        return self.in_plain_language(base, lambda: nullcontext(base))
