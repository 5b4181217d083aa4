"""Where `verifiers` finds the lake: it imports a taskset by its top-level module name. See core/lake/envs/verifiers_env.py."""

from frozenlab.lake.envs.verifiers_env import LakeTaskset

__all__ = ["LakeTaskset"]
