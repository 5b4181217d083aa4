"""Where `verifiers` finds the lake: it imports a taskset by its top-level module name. See core/lake/verifiers_env.py."""

from core.lake.verifiers_env import LakeTaskset

__all__ = ["LakeTaskset"]
