"""What the settings of a language model ask of TRL's trainer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from frozenlab.base.errors import Stopped
from frozenlab.base.files import read_json
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.models.folders import noted_question
from frozenlab.models.language.policy import HFPolicy
from frozenlab.models.language.writers import Begun, Text, Writer
from frozenlab.models.policy import Sampling
from frozenlab.models.settings import LanguageSettings, Launcher, Vllm
from frozenlab.models.training.checkpoints import SEAL, sealed_sums
from frozenlab.models.training.runs.language_grpo import BEGUN, LanguageGRPORun
from frozenlab.models.training.runs.lean_grpo import agreement
from frozenlab.models.training.stage_run import Stage, train_stage
from frozenlab.session.health.rules import BOUNDS
from tests.language_sessions import tiny_spec


def run_of(tiny_model: Path, kind: str = "lora", **language: Any) -> LanguageGRPORun:
    spec = tiny_spec(tiny_model, kind, **language)
    return LanguageGRPORun(HFPolicy.load(str(tiny_model), spec.language, to_train=True), spec.training, stages=1, seed=0)


def test_what_was_written_for_it_is_not_learnt(tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(tiny_model)
    written = [Text([5, 6, 7], None, [1, 0, 1]), Text([5], None)]
    monkeypatch.setattr(HFPolicy, "write", lambda *_, **__: written)
    trainer: Any = SimpleNamespace(state=SimpleNamespace(global_step=0))
    assert run.rollout(["a", "b"], trainer)["env_mask"] == [[1, 0, 1], [1]], "TRL's name for it"
    written[0] = Text([5, 6, 7], None)
    assert "env_mask" not in run.rollout(["a", "b"], trainer)


@pytest.mark.parametrize(("dtype", "asked"), [("bfloat16", (True, False)), ("float16", (False, True)), ("float32", (False, False))])
def test_the_number_format_reaches_the_trainer(
    tiny_model: Path, tmp_path: Path, dtype: str, asked: tuple[bool, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("frozenlab.models.language.policy.fast_bfloat16", lambda: False)
    run = run_of(tiny_model, dtype=dtype)
    arguments = run.arguments(tmp_path)
    assert (arguments["bf16"], arguments["fp16"]) == asked
    trained = {weight.dtype for weight in run.policy.model.parameters() if weight.requires_grad}
    assert [str(kind) for kind in trained] == ["torch.float32"], "adapters are float32 in every format"


@pytest.mark.parametrize(("noise", "kl", "cut"), [(0.1, 0.003, 0.001), (0.6, 0.15, 0.065), (1.0, 0.45, 0.1)])
def test_an_engine_of_other_weights_shows_in_divergence_and_cut_tokens_and_hardly_in_the_mean_ratio(
    noise: float, kl: float, cut: float
) -> None:
    draws = torch.Generator().manual_seed(0)
    trainer = torch.randn(4000, 500, generator=draws)
    engine = (trainer + noise * torch.randn(4000, 500, generator=draws)).log_softmax(1)
    drawn = torch.multinomial(engine.exp(), 1, generator=draws)
    figures = agreement((trainer.log_softmax(1).gather(1, drawn) - engine.gather(1, drawn)).flatten(), 2.0)
    assert figures["importance_sampling_ratio/mean"] == pytest.approx(1, abs=0.05)
    assert (figures["kl"], figures["cut"]) == (pytest.approx(kl, rel=0.25, abs=0.005), pytest.approx(cut, rel=0.3, abs=0.002))
    by_rule = {rule.figure: rule.most for rule in BOUNDS}
    assert (figures["kl"] > by_rule["sampling_kl"]) == (figures["cut"] > by_rule["sampling_cut"]) == (noise > 0.3)


@pytest.mark.parametrize(
    ("overlong", "masks", "lost"),
    [("counted", False, [0, 0, 0, 0, 0]), ("masked", True, [0, 0, 0, 0, 0]), ("penalised", False, [0, 0, 0.25, 0.5, 1])],
)
def test_answers_that_are_too_long_are_counted_masked_or_penalised(
    tiny_model: Path, tmp_path: Path, overlong: Any, masks: bool, lost: list[float]
) -> None:
    run = run_of(tiny_model)  # answers of at most 40 tokens
    run.settings = run.settings.model_copy(update={"overlong": overlong})
    assert run.arguments(tmp_path)["mask_truncated_completions"] == masks
    assert [run.penalty(tokens) for tokens in (1, 32, 34, 36, 40)] == lost


def test_adapters_of_a_fetched_model_are_saved_without_asking_the_hub(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model: Any = run_of(tiny_model).policy.model
    model.peft_config["default"].base_model_name_or_path = "smollm2"
    monkeypatch.setattr("peft.utils.save_and_load.check_file_exists_on_hf_hub", lambda *_, **__: pytest.fail("the hub was asked"))
    model.save_pretrained(str(tmp_path))  # as a trainer does


def test_a_checkpoint_says_which_question_it_was_taught(tiny_model: Path, tmp_path: Path) -> None:
    (checkpoint := tmp_path / "checkpoint-3").mkdir()
    (checkpoint / "model.safetensors").touch()
    run: Any = run_of(tiny_model, question="compact")
    run.on_save(SimpleNamespace(output_dir=tmp_path), SimpleNamespace(global_step=3), None)
    assert noted_question(str(checkpoint)) == "compact" and "question.json" in sealed_sums(checkpoint / SEAL)


@pytest.mark.parametrize(
    ("vllm", "weight"), [(Vllm(), 2.0), (Vllm(largest_weight=None), None), (Vllm(largest_weight=3), 3.0), (None, None)]
)
def test_the_largest_weight_of_a_token_reaches_the_trainer(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vllm: Vllm | None, weight: float | None
) -> None:
    run = run_of(tiny_model, vllm=vllm)
    made = SimpleNamespace(param_groups=[])
    trainer = SimpleNamespace(args=SimpleNamespace(device=torch.device("cpu")), create_optimizer=lambda: made)
    monkeypatch.setattr(run, "TRAINER", lambda **_: trainer)
    for name, stand_in in (("task", lambda folder: {}), ("attach", lambda made: made), ("dataset", list)):
        monkeypatch.setattr(run, name, stand_in)
    assert run.trainer(tmp_path).largest_weight == weight


@dataclass
class InParts:
    """An engine that goes on with texts, by the transformers library; it stops as vLLM would, after so many tokens of each."""

    policy: HFPolicy
    writer: Writer
    waited: list[int] = field(default_factory=list)

    def refresh(self, *, alone: bool = False) -> None:
        self.writer.refresh(alone=alone)

    def go_on(
        self, prompts: Sequence[list[int]], begun: Sequence[Begun], *, group: int, enough: int, limit: int, sampling: Sampling
    ) -> list[Begun]:
        open_rows = [row for row, text in enumerate(begun) if not text.over]
        asked = [[*prompts[row], *begun[row].ids] for row in open_rows]
        more = dict(zip(open_rows, self.writer.write(asked, limit=limit, sampling=sampling), strict=True))
        left = [limit - len(text.ids) for text in begun]
        lengths = [min(len(more[row].ids), left[row]) if row in more else 0 for row in range(len(begun))]
        wait = sorted(max(lengths[place : place + group]) for place in range(0, len(begun), group))[enough - 1]
        self.waited.append(wait)
        texts = list(begun)
        for row, prompt in zip(open_rows, asked, strict=True):
            ids = more[row].ids[: min(wait, lengths[row])]
            with torch.no_grad():
                logits = self.policy.model(input_ids=torch.tensor([[*prompt, *ids]])).logits[0, len(prompt) - 1 : -1].float()
            logprobs = logits.log_softmax(-1)[torch.arange(len(ids)), torch.tensor(ids, dtype=torch.long)].tolist()
            texts[row] = Begun([*begun[row].ids, *ids], [*begun[row].logprobs, *logprobs], lengths[row] <= wait)
        return texts


class Noted(LanguageGRPORun):
    """A stage that notes the boards of each step."""

    noted: list[list[int]]

    def reward_func(self, prompts: Any, completions: Any, completion_ids: Any, index: list[int], **more: Any) -> list[float]:
        self.noted.append(index[:: self.settings.completions_per_board])
        return super().reward_func(prompts, completions, completion_ids, index, **more)


def test_a_step_learns_from_the_boards_that_are_done_first_and_resumes_with_the_others(tiny_model: Path, tmp_path: Path) -> None:
    """Stopped after its second step with plans under way, a stage ends with the weights of one that was not."""
    spec = tiny_spec(tiny_model, "lora", vllm=Vllm(done=0.8))
    steps, boards = 4, generate(EnvironmentConfig.uniform((3, 4), agents=2), 4 * 4, seed=1)

    def stage(folder: Path, stop_after: int | None = None) -> tuple[Noted, list[dict[str, float]]]:
        policy = HFPolicy.load(str(tiny_model), spec.language, to_train=True)  # type: ignore[arg-type]
        run = Noted(policy, spec.training.model_copy(update={"steps": steps}), stages=1, seed=0)
        run.noted, policy.writer, figures = [], InParts(policy, policy.writer), []  # type: ignore[assignment]
        train_stage(
            run, boards, stage=0, folder=folder, previous=None, recorded=stop_after or 2, report=lambda *step: figures.append(step[0]),
            stopping=lambda: len(run.noted) == stop_after,
        )  # fmt: skip
        return run, figures

    whole, figures = stage(tmp_path / "whole")
    assert [len(step) for step in whole.noted] == [4] * steps
    learnt = [board for step in whole.noted for board in step]
    assert sorted(learnt) == list(range(16)), "each board once"
    assert not whole.begun
    late = [sum(board <= 4 * step for board in boards) / 4 if step else 0 for step, boards in enumerate(whole.noted)]
    assert [step["late"] for step in figures] == late and max(late) > 0
    first, *later = (abs(step["sampling_kl"]) for step in figures)
    assert first < 1e-5 < max(later), "old tokens keep the probability of then; which plans are late depends on the processor's rounding"
    assert figures[-1]["grad_norm"] > 0

    with pytest.raises(Stopped):
        stage(tmp_path / "halted", stop_after=2)
    kept = read_json(tmp_path / "halted/trainer/checkpoint-2" / BEGUN)
    assert list(kept) == [str(board) for board in range(9) if board not in learnt[:8]]
    assert BEGUN in sealed_sums(tmp_path / "halted/trainer/checkpoint-2" / SEAL)
    resumed, after = stage(tmp_path / "halted")
    assert resumed.noted == whole.noted[2:]
    assert [step["sampling_kl"] for step in after] == [step["sampling_kl"] for step in figures[2:]]
    trained = dict(resumed.policy.model.named_parameters())
    assert all(torch.equal(trained[name], weight) for name, weight in whole.policy.model.named_parameters())
    assert not list((tmp_path / "halted").rglob(BEGUN)), "none is left when a stage is over"


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"vllm": {"done": 0.8, "mode": "server"}}, '"done" below 1 needs "mode" colocate'),
        ({"vllm": {"done": 0.8, "largest_weight": None}}, '"largest_weight" for tokens by an older policy'),
        ({"vllm": {"done": 0.8}, "launcher": Launcher(processes=2)}, "one process"),
        ({"vllm": {"done": 0.4}}, "greater than or equal to 0.5"),
    ],
)
def test_what_cannot_learn_before_all_are_done_is_refused(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        LanguageSettings(**fields)


def test_of_boards_that_are_done_thoughts_that_take_too_long_are_ended(tiny_model: Path) -> None:
    run = run_of(tiny_model, thinking=True, thoughts=16, vllm=Vllm(done=0.8))
    run.begin(Stage(generate(EnvironmentConfig.uniform((3,), agents=2), 8, seed=1)))
    thought = [run.policy.tokens("<think>")[0], *run.policy.tokens("UP")[:1] * 15]
    asked: list[Any] = []

    def go_on(prompts: Any, begun: list[Begun], *, limit: int, **_: Any) -> list[Begun]:
        asked.append((len(begun), limit))
        return [Begun(thought, [-1.0] * 16, over=place != 0) for place in range(len(begun))]

    def write(prompts: Any, *, limit: int, **_: Any) -> list[Text]:
        asked.append((len(prompts), limit))
        return [Text(run.policy.ends[:1], [-2.0])] * len(prompts)

    run.policy.writer = SimpleNamespace(go_on=go_on, write=write)  # type: ignore[assignment]
    numbers, _, texts = run.first_over(0, Sampling(1.0))
    close = run.policy.tokens("\n</think>\n\n")
    assert asked == [(20, 16), (16, 40 - 16 - len(close))], "only those that the step learns from are written to their end"
    assert numbers == [board for board in (1, 2, 3, 4) for _ in range(4)] and list(run.begun) == [0]
    assert texts[0].ids == [*thought, *close, run.policy.ends[0]] and texts[0].logprobs == [-1.0] * 16 + [None] * len(close) + [-2.0]
    assert run.begun[0][0] == Begun(thought, [-1.0] * 16, over=False), "what goes on has no mark yet"
