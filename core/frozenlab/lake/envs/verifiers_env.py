"""The lake as a taskset of Prime Intellect's `verifiers` (0.4; ``pip install "frozenlab[verifiers]"``), and for prime-rl.

    from frozenlab.lake.envs.verifiers_env import load_environment

    env = load_environment(EnvironmentConfig.uniform(), boards=100, seed=0)

On the command line and in prime-rl its name is ``mapf-frozenlake``, the package in ``environments/``:

    vf-eval mapf-frozenlake --env.agent.harness.id null --env.agent.runtime.type subprocess

One task is one board, asked in words (answers.py) and answered in one reply. Its reward ``plan`` is that of reward.py; the metrics
``valid`` and ``optimal`` are 0 or 1. (Before 0.4 such a thing was a ``SingleTurnEnv`` with a ``Rubric``; verifiers has taken those out.)
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.util import find_spec

from frozenlab.base.errors import MissingExtra
from frozenlab.lake.board import read_board
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.envs.rl import Score, score
from frozenlab.lake.words.answers import prompt, write_answer

try:
    import verifiers.v1 as vf
    from verifiers.v1.harnesses.null import NullHarnessConfig
except ImportError as error:
    raise MissingExtra(f'the taskset needs verifiers ({error}): pip install "frozenlab[verifiers]"') from None

TASKSET_ID = "mapf-frozenlake"


class LakeData(vf.TaskData):
    """A board and its optimum; ``prompt`` and ``id`` are verifiers' own."""

    board: str
    """One JSON line."""
    optimal_makespan: int
    optimal_answer: str
    """An answer that earns everything."""


class LakeTask(vf.Task[LakeData]):
    """Solve one board."""

    @vf.reward
    async def plan(self, trace: vf.Trace) -> float:
        return self._score(trace.last_reply).reward

    @vf.metric
    async def valid(self, trace: vf.Trace) -> float:
        return float(self._score(trace.last_reply).valid)

    @vf.metric
    async def optimal(self, trace: vf.Trace) -> float:
        return float(self._score(trace.last_reply).optimal)

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Whether the stored answer earns everything."""
        return self._score(self.data.optimal_answer).reward == 1.0

    def _score(self, text: str) -> Score:
        return score(read_board(self.data.board), text, self.data.optimal_makespan)


class LakeTasksetConfig(vf.TasksetConfig):
    """What boards are drawn from."""

    id: vf.ID = TASKSET_ID
    environment: EnvironmentConfig = EnvironmentConfig.uniform()
    boards: int = 100
    seed: int = 0


class LakeTaskset(vf.Taskset[LakeTask, LakeTasksetConfig]):
    """Solved boards drawn by the generator; the same for the same config, everywhere."""

    def load(self) -> Iterable[LakeTask]:
        config = self.config
        for instance in generate(config.environment, config.boards, config.seed):
            solution = instance.solution
            assert solution.makespan is not None and solution.plan is not None
            data = LakeData(
                id=instance.id,
                prompt=prompt(instance.board),
                board=json.dumps(instance.board.to_dict()),
                optimal_makespan=solution.makespan,
                optimal_answer=write_answer(solution.plan),
            )
            yield LakeTask(data, config.task)


def load_environment(environment: EnvironmentConfig, boards: int, seed: int) -> vf.Env:
    """The environment of verifiers for ``boards`` boards, with a plain chat as its one agent, run by a local process.

    Raises:
        MissingExtra: the package by which verifiers finds the taskset is not installed.
        GenerationError: when its tasks are first read, if the config cannot be filled.
    """
    if find_spec(TASKSET_ID.replace("-", "_")) is None:
        raise MissingExtra(f"verifiers knows no {TASKSET_ID}: pip install -e environments/mapf_frozenlake, in a checkout of FrozenLab")
    taskset = LakeTasksetConfig(environment=environment, boards=boards, seed=seed)
    agent = vf.AgentConfig(harness=NullHarnessConfig(id="null"), runtime=vf.SubprocessConfig())
    return vf.load_environment(vf.SingleAgentEnvConfig(taskset=taskset, agent=agent))
