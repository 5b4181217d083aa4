"""Loading a policy by name."""

from __future__ import annotations

from frozenlab.models.folders import policy_folder
from frozenlab.models.lab.policy import LabPolicy
from frozenlab.models.policy import Policy
from frozenlab.models.settings import LanguageSettings
from frozenlab.tasks.families import DEFAULT
from frozenlab.tasks.family import Family


def load_policy(
    name: str, language: LanguageSettings | None = None, seed: int = 0, family: Family = DEFAULT, *, to_train: bool = False
) -> Policy:
    """A model that answers the tasks of ``family``: a lab model (named as :func:`frozenlab.models.folders.policy_folder` reads it); with
    ``language``, a Hugging Face model.

    ``seed`` is that of fresh adapters; ``to_train``: whether training follows, as for
    :meth:`frozenlab.models.language.policy.HFPolicy.load`. Raises PolicyError.
    """
    if language is None:
        return LabPolicy.load(policy_folder(name), family)
    from frozenlab.models.language.policy import HFPolicy  # with it come PEFT and accelerate, which the lab model has no use for

    return HFPolicy.load(name, language, seed, family, to_train=to_train)
