"""Measuring one checkpoint on one suite. Importing this module imports torch: only the evaluation worker and the command line do."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pandas as pd
import torch
from huggingface_hub import snapshot_download
from trl.import_utils import is_vllm_available

from frozenlab.base.places import ANSWERS, API_ANSWERS, sessions_folder
from frozenlab.engineer.hosts import host_of
from frozenlab.experiments.benchmark.api_model import ApiModel
from frozenlab.experiments.benchmark.report import Measured, Report
from frozenlab.experiments.benchmark.results import report_type, save_result
from frozenlab.experiments.benchmark.task import Evaluation, Task
from frozenlab.experiments.replays.cost import Estimate
from frozenlab.experiments.shelf.housekeeping import DAY
from frozenlab.jobs.machine import THREADS
from frozenlab.jobs.recorder import JobRecorder
from frozenlab.models.evaluation import best_of_guises, evaluate, in_guises
from frozenlab.models.folders import on_hub, policy_folder, weights_file
from frozenlab.models.language.policy import HFPolicy
from frozenlab.models.language.writers import KeepingWriter, Writer
from frozenlab.models.loading import load_policy
from frozenlab.models.policy import Policy, Sampling

Part = Literal["drawing and solving", "planning"]
DRAWING_SHARE = 0.1
"""Part of the work that drawing and solving the boards is: rough, for the progress bar."""
FORGOTTEN_AFTER = 30 * DAY
"""Seconds."""


def answering(task: Task) -> Policy | ApiModel:
    """What is measured, ready to answer."""
    if task.server is not None:
        address = hashlib.sha256(f"{task.server.base_url} {task.server.model}".encode()).hexdigest()[:12]
        return ApiModel(task.server, task.family, sessions_folder() / API_ANSWERS / f"{address}.jsonl")
    policy = load_policy(task.policy, task.language, family=task.family)
    if isinstance(policy, HFPolicy) and policy.settings.vllm and torch.cuda.is_available() and is_vllm_available():
        from frozenlab.models.language.engines import engine_for  # with it comes vLLM

        here = policy.settings.vllm.model_copy(update={"mode": "colocate"})  # a server of its training holds other weights by now
        policy.writer = engine_for(policy.model, policy.settings.model_copy(update={"vllm": here}))
    return policy


def remembering(writer: Writer, task: Task, checkpoint: str) -> KeepingWriter:
    """A writer that continues an earlier, stopped attempt at the same measurement. Partial answers expire after a month."""
    folder = sessions_folder() / ANSWERS
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.glob("*.jsonl"):
        if time.time() - file.stat().st_mtime > FORGOTTEN_AFTER:
            file.unlink(missing_ok=True)
    same = hashlib.sha256(f"{checkpoint} {task.model_dump_json(exclude={'title'})}".encode()).hexdigest()[:24]
    return KeepingWriter(writer, folder / f"{same}.jsonl")


def checkpoint_hash(task: Task) -> str:
    """SHA-256 of the measured weights; of a model that is elsewhere, of its name and its server's."""
    if task.server is not None:
        return hashlib.sha256(f"{host_of(task.server)} {task.server.model}".encode()).hexdigest()
    folder = policy_folder(task.policy)
    if task.language is not None and on_hub(task.policy):  # the hub's cache gives its path
        folder = Path(snapshot_download(task.policy, revision=task.language.revision, local_files_only=True))
    weights = weights_file(folder)
    assert weights is not None, "it was loaded"
    with weights.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def work(recorder: JobRecorder[Evaluation]) -> None:
    """Measure the checkpoint and keep the result. Raises Stopped after the present batch of boards."""

    def note(part: str, done: int, of: int) -> None:
        recorder.tell(DRAWING_SHARE * done / of if part != "planning" else DRAWING_SHARE + (1 - DRAWING_SHARE) * done / of)

    evaluation = recorder.job
    report, rows = measure(evaluation.spec, evaluation.id, note)
    recorder.tell(1.0)  # the last chance to stop
    save_result(evaluation.dir, report, rows)


def measure(
    task: Task,
    result_id: str,
    note: Callable[[Part, int, int], None] = lambda part, done, of: None,
    before_paying: Callable[[Estimate], None] = lambda cost: None,
) -> tuple[Report, pd.DataFrame]:
    """Answer every task of the suite with the checkpoint, and judge the answers.

    The same task on the same machine gives the same rows and the same report, except for ``created`` and ``seconds``: the tasks, their
    batches and the number of threads are the same. In other batches or on another processor, an answer can occasionally differ: sums
    of floating-point numbers differ in the last bits, which decides between two words of almost equal probability. A language model that
    was stopped goes on with the batch that it was stopped in.

    Args:
        note: called with (part of the work, boards done, total).
        before_paying: called with what a model behind a server would cost, before it is asked; stops the work by raising a LabError.

    Raises:
        LabError: the suite cannot be loaded, the checkpoint cannot be read, or has no words for a task.
    """
    torch.set_num_threads(THREADS)
    family = task.family
    policy, writer = answering(task), None
    checkpoint = checkpoint_hash(task)
    if isinstance(policy, HFPolicy):
        writer = policy.writer = remembering(policy.writer, task, checkpoint)
    suite = family.open_suite(task.suite, lambda done, of: note("drawing and solving", done, of))
    how = Sampling(task.temperature, completions=task.samples, seed=task.seed, top_p=task.top_p, top_k=task.top_k)
    if isinstance(policy, ApiModel):
        asked = suite.tasks
        if task.guises > 1:
            asked = [one.task for one in in_guises(family, suite.tasks, task.guises, task.seed)]
        if cost := policy.estimate(asked, how):
            before_paying(cost)

    def planned(done: int) -> None:
        note("planning", done, len(suite.tasks))

    planned(0)
    began = time.time()
    if task.guises == 1:
        rows = evaluate(policy, suite.tasks, how, planned)
    else:
        rows = best_of_guises(policy, suite.tasks, task.guises, how, planned)
    seconds = time.time() - began + (writer.spared if writer else 0.0)
    own_way = {"temperature": None} if isinstance(policy, ApiModel) and policy.refusal.exists() else {}
    measured = Measured(**task.model_dump(include=set(Measured.model_fields)) | {"suite": suite.name} | own_way)
    report = report_type(family).of(
        rows, measured, id=result_id, checkpoint_sha256=checkpoint, suite_spec=suite.spec, created=time.time(), seconds=seconds
    )
    if writer:
        writer.file.unlink(missing_ok=True)
    return report, rows
