"""The module that `verifiers` imports by name. The taskset is in frozenlab.lake.envs.verifiers_env."""

from frozenlab.lake.envs.verifiers_env import LakeTaskset

__all__ = ["LakeTaskset"]
