"""Evaluations: the model behind a name, and measuring in the background, which may stop, fail or crash but leaves no torn result."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from frozenlab.experiments.benchmark.measuring import measure
from frozenlab.experiments.benchmark.results import Result, results, results_folder, save_result
from frozenlab.experiments.benchmark.task import Evaluation, EvaluationError, Task, task_for
from frozenlab.experiments.shelf.shelf import ShelfError, delete, restore
from frozenlab.jobs.launcher import LaunchError, stop, submit
from frozenlab.jobs.state import WorkerState
from frozenlab.lake.instance import write_instances
from frozenlab.lake.suites import SuiteSpec, build_suite
from frozenlab.models.lab.policy import LabPolicy, build_network, build_tokenizer
from frozenlab.session.store import SessionStore
from tests.builders import build_session
from tests.running import end_workers, wait_for


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SessionStore]:
    store = SessionStore(tmp_path / "sessions")
    yield store
    end_workers(Evaluation.all(store))


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("policies") / "tiny"
    LabPolicy(build_network(hidden=32, layers=1, intermediate=32), build_tokenizer()).save(folder)
    return str(folder)


def boards(folder: Path, n: int) -> str:
    path = folder / f"boards-{n}.jsonl"
    write_instances(path, build_suite(SuiteSpec(agents=(2,), sizes=(3, 4), boards_per_cell=n // 2, seed=7), sum_of_costs=False))
    return str(path)


def own(store: SessionStore) -> list[Result]:
    return [result for result in results(store) if not result.shipped]


# --- what is to be measured ------------------------------------------------------------------------------------------


def test_the_lab_model_by_name_and_by_folder(store: SessionStore) -> None:
    task = task_for("lab-model", "quick", store)
    assert (task.title, task.policy, task.suite, task.session, task.method) == ("lab model", "lab-model", "quick", None, None)
    assert task_for("assets/lab-model", "quick", store) == task
    assert task_for("lab-model", "quick", store, title="mine", temperature=0.5).title == "mine"
    assert "guises" not in task.model_dump_json(), "tasks of single answers are written as they always were"


def test_the_best_of_guises_says_so_in_its_name_and_is_for_boards(store: SessionStore) -> None:
    best = task_for("lab-model", "quick", store, guises=8, title="mine")
    of_8 = "best of 8 rotations and reflections, self-checked"
    assert (best.title, best.how) == (f"mine, {of_8}", f"greedily, {of_8}")
    with pytest.raises(EvaluationError, match="a task of the family countdown has no rotations and reflections; boards of the lake have 8"):
        task_for("Qwen/Qwen3-4B", "countdown", store, guises=8)
    with pytest.raises(EvaluationError, match="give samples or guises, not both"):
        task_for("lab-model", "quick", store, guises=8, samples=2, temperature=0.5)
    with pytest.raises(EvaluationError, match="guises: Input should be less than or equal to 8"):
        task_for("lab-model", "quick", store, guises=9)


def test_the_result_of_guises_keeps_which_won(policy: str, store: SessionStore, tmp_path: Path) -> None:
    suite = boards(tmp_path, 10)
    report, rows = measure(task_for(policy, suite, store, guises=3), "best")
    alone, _ = measure(task_for(policy, suite, store), "alone")
    save_result(tmp_path / "best", report, rows)
    kept = Result(tmp_path / "best").rows
    assert kept is not None and kept["guise"].between(0, 2).all() and kept["valid_guises"].between(0, 3).all()
    assert (kept["valid"] == (kept["valid_guises"] > 0)).all()
    assert report.boards_sha256 == alone.boards_sha256 and (report.guises, alone.guises) == (3, 1)


def test_the_checkpoints_of_a_session(store: SessionStore) -> None:
    session = build_session(store.root)
    weights = session.stage_dir(1) / "policy" / "model.safetensors"
    weights.parent.mkdir()
    weights.write_bytes(b"")
    base, second = task_for("built:base", "quick", store), task_for("built:2", "quick", store)
    assert (base.title, base.policy, base.session, base.stage, base.method) == (
        "Built session, base, before training", "lab-model", "built", None, None,
    )  # fmt: skip
    assert (second.title, second.policy, second.stage, second.method) == (
        "Built session, after stage 2", str(weights.parent), 1, session.spec.training.method,
    )  # fmt: skip
    with pytest.raises(EvaluationError, match="session built has no weights of '1'; it has those of base, 2"):
        task_for("built:1", "quick", store)


# --- in the background -----------------------------------------------------------------------------------------------


def test_an_evaluation_becomes_a_result(store: SessionStore, policy: str, tmp_path: Path) -> None:
    evaluation = Evaluation.start(task_for(policy, boards(tmp_path, 20), store), store)
    assert [known.id for known in Evaluation.all(store)] == [evaluation.id]
    with pytest.raises(LaunchError, match=r" is (queued|running) already"):
        submit(evaluation)
    with pytest.raises(ShelfError, match="; stop it before it is deleted"):
        delete(evaluation, store)
    assert not own(store)

    wait_for(lambda: not evaluation.state().live, "the end")
    assert (evaluation.state().status, evaluation.state().progress) == ("done", 1.0)
    assert not Evaluation.all(store)
    (result,) = own(store)
    assert (result.id, result.report.id, result.report.suite, result.report.n) == (evaluation.id, evaluation.id, "boards-20.jsonl", 20)
    assert len(result.rows) == 20 and result.rows["optimal_sum_of_costs"].notna().all()

    delete(result, store)
    assert not own(store) and not list(results_folder(store).iterdir())


@pytest.mark.slow
def test_an_evaluation_that_is_stopped_leaves_no_result(store: SessionStore, policy: str, tmp_path: Path) -> None:
    evaluation = Evaluation.start(task_for(policy, boards(tmp_path, 1200), store), store)
    stop(evaluation)
    wait_for(lambda: not evaluation.state().live, "the stop")
    assert evaluation.state().status == "stopped"
    assert not own(store) and not (evaluation.dir / "boards.parquet").exists()
    delete(evaluation, store)
    assert not Evaluation.all(store)


@pytest.mark.slow
def test_an_evaluation_that_fails_says_why(store: SessionStore, policy: str, tmp_path: Path) -> None:
    path = tmp_path / "wall.txt"
    path.write_text("S H G")
    evaluation = Evaluation.start(task_for(policy, str(path), store), store)
    wait_for(lambda: not evaluation.state().live, "the end")
    assert evaluation.state().status == "failed"
    assert evaluation.state().error == "board 'wall' has no solution, so no model can be measured on it"


def test_an_evaluation_whose_worker_is_gone_has_crashed(store: SessionStore) -> None:
    evaluation = Evaluation.create(task_for("lab-model", "quick", store), store)
    assert evaluation.state().status == "crashed", "it was never started"
    running = WorkerState(status="running", pid=2**22, create_time=1.0, heartbeat=time.time())
    (evaluation.dir / "state.json").write_text(running.model_dump_json())
    assert evaluation.state().status == "crashed"
    assert [known.id for known in Evaluation.all(store)] == [evaluation.id]


def test_only_the_users_own_results_can_be_deleted(store: SessionStore) -> None:
    shipped = results(store)[0]
    with pytest.raises(ShelfError, match="is not in results, the folder of your own, so it stays"):
        delete(shipped, store)
    assert shipped.shipped and shipped.dir.exists()
    shutil.copytree(shipped.dir, results_folder(store) / "mine")  # measured in the foreground: it has no task
    (mine,) = own(store)
    delete(mine, store)
    assert not own(store)
    assert Result(restore("mine", store, "evaluation")).report == mine.report


def test_a_part_of_the_dataset_is_online() -> None:
    assert Task(title="t", model="m", suite="hf:benchmark_wr1", policy="lab-model").online


def test_a_language_model_is_measured_as_it_is_asked_to_and_the_result_says_how(store: SessionStore) -> None:
    plain = task_for("Qwen/Qwen3-4B", "quick", store)
    assert plain.how == "greedily, not thinking, up to 1,024 tokens"
    thinking = task_for("Qwen/Qwen3-4B", "quick", store, thinking=True, max_tokens=20_000)
    assert thinking.how == "temperature 0.6, top-p 0.95, top-k 20, thinking, up to 20,000 tokens"
    assert thinking.language is not None and thinking.language.thinking
    assert thinking.language.context >= 20_000 + 2000, "the question needs room too"
    own = task_for("Qwen/Qwen3-4B", "quick", store, thinking=True, temperature=0.9, top_p=0.5, top_k=0)
    assert own.how == "temperature 0.9, top-p 0.5, thinking, up to 1,024 tokens"
    assert task_for("lab-model", "quick", store).how == "greedily"
    assert task_for("lab-model", "quick", store, samples=4, temperature=0.7).how == "temperature 0.7, 4 answers each"
    with pytest.raises(EvaluationError, match="at temperature 0 all 4 answers to a task are the same"):
        task_for("lab-model", "quick", store, samples=4)
    with pytest.raises(EvaluationError, match="lab-model is a lab model: thinking is for language models"):
        task_for("lab-model", "quick", store, thinking=True)
    with pytest.raises(EvaluationError, match="max_tokens"):
        task_for("Qwen/Qwen3-4B", "quick", store, max_tokens=1)
    with pytest.raises(EvaluationError, match="temperature: Input should be greater than or equal to 0"):
        task_for("lab-model", "quick", store, temperature=-1.0)
