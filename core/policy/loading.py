"""Loading a policy by name."""

from __future__ import annotations

from core.policy.folders import policy_folder
from core.policy.lab_policy import LabPolicy
from core.policy.policy import Policy
from core.policy.settings import LanguageSettings


def load_policy(name: str, language: LanguageSettings | None = None, seed: int = 0) -> Policy:
    """A lab model (``lab-model`` is the shipped one, else a checkpoint folder); with ``language``, a Hugging Face model.

    ``seed`` is that of fresh adapters. Raises PolicyError.
    """
    if language is None:
        return LabPolicy.load(policy_folder(name))
    from core.policy.hf_policy import HFPolicy  # with it come PEFT and accelerate, which the lab model has no use for

    return HFPolicy.load(name, language, seed)
