"""A second task family of a few lines is drawn, asked, judged, rewarded and trained like the lake."""

from pathlib import Path

import pytest
import torch

from frozenlab.models.evaluation import evaluate
from frozenlab.models.loading import load_policy
from frozenlab.models.policy import PolicyError
from frozenlab.models.settings import LanguageSettings, Lora
from frozenlab.models.training.methods import BY_NAME, TrainingSettings
from frozenlab.models.training.stage_run import train_stage
from frozenlab.tasks import families
from frozenlab.tasks.families import cell_label, cells_noun
from frozenlab.tasks.lake.family import LAKE
from frozenlab.tasks.task import ROW_COLUMNS
from tests.tasks.toy import SUMS, Sum, SumConfig, Sums, SumSuite

TINY = LanguageSettings(dtype="float32", device="cpu", lora=Lora(rank=4, alpha=8), rows=8, max_tokens=8, context=512, vllm=None)


def test_it_has_at_most_eighty_lines() -> None:
    assert len((Path(__file__).parent / "toy.py").read_text().splitlines()) <= 80


def test_an_answer_is_read_judged_and_paid() -> None:
    task = Sum("one", "easy", 2, 3)
    outcomes = {text: SUMS.judge(task, SUMS.plain.read(task, text, finished=True)) for text in ("5", " 6 ", "9", "five")}
    assert [judged.outcome for judged in outcomes.values()] == ["optimal", "close", "wrong", "unreadable"]
    assert [round(judged.reward(0.7), 3) for judged in outcomes.values()] == [1.0, 0.475, 0.025, 0.0]
    assert SUMS.judge(task, SUMS.plain.read(task, "5", finished=False)).fault == "unreadable"


def test_a_family_names_its_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    class Named(Sums):
        def cell_label(self, name: str) -> str | None:
            return {"easy": "one digit", "hard": "two digits"}.get(name)

    assert [cell_label(name) for name in ("easy", "6")] == ["easy", "6×6"] and cells_noun(["easy"]) == "cell"
    monkeypatch.setattr(families, "FAMILIES", (LAKE, Named()))
    assert [cell_label(name) for name in ("easy", "6")] == ["one digit", "6×6"]


def test_a_language_model_is_measured_on_it(tiny_adder: Path) -> None:
    policy = load_policy(str(tiny_adder), TINY, family=SUMS)
    table = evaluate(policy, SUMS.suite(SumSuite(), SumConfig()))
    assert list(table.columns) == list(SUMS.columns) and set(ROW_COLUMNS) <= set(table.columns)
    assert len(table) == 16 and set(table["outcome"]) <= set(SUMS.outcomes)
    assert (table["fault"].isna() == table["valid"]).all() and table["valid"].any()


def test_the_lab_model_has_no_words_for_it() -> None:
    with pytest.raises(PolicyError, match="no words for the tasks of sums"):
        load_policy("lab-model", family=SUMS)


def test_a_stage_trains_on_it(tiny_adder: Path, tmp_path: Path) -> None:
    settings = TrainingSettings(steps=2, boards_per_step=4, completions_per_board=4, learning_rate=1e-3, temperature=1.0)
    run = BY_NAME["grpo"].run(load_policy(str(tiny_adder), TINY, family=SUMS, to_train=True), settings, stages=1, seed=0)
    tasks = SUMS.draw(SumConfig(), 8, seed=0)
    seen: list[tuple[dict, list[dict]]] = []

    def report(figures: dict, rows: list[dict], saving: bool) -> None:
        seen.append((figures, rows))

    train_stage(run, tasks, stage=0, folder=tmp_path, previous=None, recorded=2, report=report, stopping=lambda: False)
    assert [figures["step"] for figures, _ in seen] == [1, 2]
    assert {"reward", "valid", "optimal", "length"} <= set(seen[0][0])
    assert {name for figures, _ in seen for name in figures if name.startswith("valid_")} == {"valid_easy", "valid_hard"}
    assert all(set(row) == {*SUMS.columns, "reward", "training_step"} for _, rows in seen for row in rows) and len(seen[0][1]) == 16
    assert (tmp_path / "policy" / "adapter_model.safetensors").exists()

    # A session may begin with these adapters: they are what it trains.
    left = str(tmp_path / "policy")
    policy = load_policy(left, TINY, family=SUMS, to_train=True)
    before = {name: weight.detach().clone() for name, weight in policy.model.named_parameters() if weight.requires_grad}
    assert before and all("lora" in name for name in before)
    train_stage(
        BY_NAME["grpo"].run(policy, settings, stages=1, seed=1), tasks, stage=0, folder=tmp_path / "on", previous=None, recorded=2,
        report=report, stopping=lambda: False,
    )  # fmt: skip
    after = dict(policy.model.named_parameters())
    assert any(not torch.equal(weight, after[name]) for name, weight in before.items())
    assert not any(weight.requires_grad for weight in load_policy(left, TINY, family=SUMS).model.parameters()), "who only asks"
