"""A small real language model as policy: how it is asked, constrained, saved and refused."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import torch
from accelerate import PartialState
from transformers import AutoModelForCausalLM, AutoTokenizer

from frozenlab.engineer.dialects.plain import answer_of, answer_schema, conversation, parse_answer, render_request
from frozenlab.engineer.engineers import BaseEngineer, PolicyEngineer
from frozenlab.engineer.protocol import Models
from frozenlab.engineer.sections import failures
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.instance import Instance
from frozenlab.models.language import writers
from frozenlab.models.language.policy import HFPolicy, adapters_in, attention, user
from frozenlab.models.language.writers import Text
from frozenlab.models.loading import load_policy
from frozenlab.models.policy import GREEDY, PolicyError, Sampling
from frozenlab.models.settings import LanguageSettings, Lora
from frozenlab.tasks.lake.family import LAKE
from tests.engineer.builders import context_of, of_sizes
from tests.language_sessions import LORA, adapted, tiny_policy, tiny_settings
from tests.tiny_models import boards, build

CONFIG = EnvironmentConfig.uniform((3, 4), agents=2)
TASKS = [Instance.unsolved(board) for board in boards()[:6]]


@pytest.fixture(scope="module")
def policy(tiny_model: Path) -> HFPolicy:
    return tiny_policy(tiny_model)


def greedy(policy: HFPolicy) -> list[str]:
    return [completion.text for [completion] in policy.answer(TASKS)]


def test_it_answers_in_the_form_it_is_asked_for(policy: HFPolicy) -> None:
    for task, completions in zip(TASKS, policy.answer(TASKS, Sampling(0.5, completions=3)), strict=True):
        assert len(completions) == 3
        for completion in completions:
            assert completion.text.startswith("Agent 0:")
            answer = policy.read(task, completion)
            assert (answer.paths is None) == (answer.fault is not None)


def test_draws_hang_on_the_seed_and_leave_the_global_generator_alone(policy: HFPolicy) -> None:
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    first = policy.answer(TASKS, Sampling(1.0, completions=2, seed=1))
    assert torch.equal(torch.rand(1), expected)
    assert first == policy.answer(TASKS, Sampling(1.0, completions=2, seed=1)) != policy.answer(TASKS, Sampling(1.0, completions=2, seed=2))
    assert any(one != two for one, two in first)


def test_greedy_plans_do_not_depend_on_the_batch(policy: HFPolicy) -> None:
    done: list[int] = []
    assert policy.answer(TASKS, Sampling(batch_size=2), done.append) == policy.answer(TASKS)
    assert done == [2, 4, 6]


def test_texts_that_share_prompts_and_leave_when_they_end_are_those_of_the_transformers_library(
    policy: HFPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [policy.prompt(TASKS[0]), "Which way?", "Agent 0:", "S . H", "Why? " * 20, "WAIT WAIT WAIT"]
    prompts = [policy.prompt_ids([user(text)]) for text in asked for _ in range(3)]

    def written(shares: bool, stretch: int = writers.STRETCH, room: bool = True) -> list[list[int]]:
        monkeypatch.setattr(writers, "shares_prompts", lambda model: shares)
        monkeypatch.setattr(writers, "takes_room", lambda model: room)
        monkeypatch.setattr(writers, "STRETCH", stretch)
        return [text.ids for text in policy.writer.write(prompts, limit=40, sampling=Sampling())]

    theirs = written(shares=False, room=False)
    assert len({len(ids) for ids in theirs}) > 1
    assert written(shares=True) == written(shares=True, stretch=3) == written(shares=True, room=False) == written(shares=False) == theirs


def test_what_does_not_end_is_truncated(tiny_model: Path) -> None:
    short = tiny_policy(tiny_model, max_tokens=8)
    cut = [completion for [completion] in short.answer(TASKS, Sampling(temperature=2.0)) if not completion.finished]
    assert cut and all(completion.tokens == 8 for completion in cut)
    assert short.read(TASKS[0], cut[0]).fault == "truncated"


def test_prompts_that_are_read_once_take_no_copy_of_the_heads_weights(tiny_model: Path) -> None:
    """As each row did before: 3.4 GiB for 64 prompts of SmolLM2."""
    model, given = tiny_policy(tiny_model).model, []
    model.get_output_embeddings().register_forward_hook(lambda _, hidden, logits: given.append(hidden[0]))
    cache = writers.read_once(model, torch.tensor([[5, 6, 7], [5, 6, 8], [5, 6, 7]]), torch.ones(3, 3, dtype=torch.long))
    assert cache.layers[0].keys.shape[0] == 3
    [hidden] = given
    assert hidden.shape[:2] == (1, 1) and hidden.is_contiguous()


def test_special_tokens_that_mark_thoughts_stay_in_the_text(tiny_model: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    policy = HFPolicy(None, tokenizer, LanguageSettings(), [tokenizer.eos_token_id], None)  # type: ignore[arg-type]
    plain, marked = "Agent 0: UP", "[THINK]Agent 0: UP[/THINK]Agent 0: DOWN"
    assert policy.completion([*policy.tokens(plain), tokenizer.eos_token_id]).text == plain
    tokenizer.add_special_tokens({"additional_special_tokens": ["[THINK]", "[/THINK]"]})
    policy = replace(policy)
    assert policy.completion([*policy.tokens(marked), tokenizer.eos_token_id]).text == marked


@pytest.mark.parametrize("thinking", [True, False])
def test_the_chat_template_is_told_whether_to_think(tiny_model: Path, thinking: bool) -> None:
    policy = tiny_policy(tiny_model, thinking=thinking)
    text = policy.tokenizer.decode(policy.prompt_ids([user("Which way?")]))
    assert text.startswith("<|im_start|>user\nWhich way?<|im_end|>") and ("</think>" in text) != thinking


def test_a_model_without_chat_template_reads_bare_text(tiny_model: Path) -> None:
    policy = tiny_policy(tiny_model)
    policy.tokenizer.chat_template = None
    assert policy.tokenizer.decode(policy.prompt_ids([user("Which way?")])) == "Which way?\n\n"


@pytest.mark.slow
def test_under_a_schema_even_noise_is_a_proposal(policy: HFPolicy) -> None:
    for seed in range(8):
        context, config = of_sizes(seed)
        asked = conversation(render_request(context)), answer_schema(context)
        text, tokens, prompt_tokens = policy.reply(*asked, limit=3000, thoughts=0, sampling=Sampling(0.7, seed=seed))
        assert tokens < 3000 and prompt_tokens > 500
        answer_of(LAKE).model_validate_json(text)
        assert list(json.loads(text)) == ["rationale", "claims", "preserved", "cells"], "the rationale comes first"
        try:
            parse_answer(context, config, text)
        except ValueError as error:
            assert "all shares are 0" in str(error)


def test_a_prompt_that_leaves_no_room_is_refused(tiny_model: Path) -> None:
    narrow = tiny_policy(tiny_model, context=1100)
    with pytest.raises(ValueError, match=r"tokens: of a context of 1100 that leaves too few"):
        narrow.reply([user("why? " * 200)], {"type": "object"}, limit=1000, thoughts=0, sampling=Sampling(0.7))


def test_an_engineer_is_shown_fewer_cases_where_its_context_has_no_room_for_all(tiny_model: Path) -> None:
    case = failures.case_line(CONFIG.described()[0], "a", "hole", 2, "A case.", "b", "  S . H .\n" * 100)
    context = context_of(CONFIG, case)
    needed = len(tiny_policy(tiny_model).prompt_ids(conversation(render_request(context)))) + 1000
    for room, shown in ((needed, True), (needed - 1, False)):
        policy = tiny_policy(tiny_model, context=room)
        engineer = PolicyEngineer(max_tokens=1000).build(Models(str(tiny_model), policy.settings, policy))
        assert engineer.prompt(context) == render_request(context, most_shown=4000 * shown)
        assert '"cells"' in engineer.answer(context, 1, None).text, "it answers"


def test_an_engineer_may_think_first_and_still_ends_in_json(tiny_model: Path) -> None:
    policy = tiny_policy(tiny_model, thinking=True)
    schema = {"type": "object", "properties": {"size": {"enum": [3, 4]}}, "required": ["size"], "additionalProperties": False}
    asked = [user("Which size?")], schema
    sampling = Sampling(0.7, seed=1)
    text, tokens, _ = policy.reply(*asked, limit=100, thoughts=30, sampling=sampling)
    thought, answer = text.split("</think>")
    assert thought.startswith("<think>\n") and len(policy.tokens(thought)) > 4
    assert json.loads(answer) in ({"size": 3}, {"size": 4})
    assert tokens > len(policy.tokens(answer)) + 4, "thoughts are counted"
    assert "think" not in policy.reply(*asked, limit=100, thoughts=0, sampling=sampling)[0]
    with pytest.raises(PolicyError, match="leaves too few"):
        policy.reply(*asked, limit=100, thoughts=7990, sampling=sampling)


class Script:
    """A writer of given texts, one call after the other."""

    def __init__(self, *calls: list[list[int]]) -> None:
        self.calls = list(calls)
        self.asked: list[tuple[list[list[int]], int]] = []

    def write(self, prompts: list[list[int]], *, limit: int, sampling: Sampling) -> list[Text]:
        self.asked.append((prompts, limit))
        texts = self.calls.pop(0)
        assert len(texts) == len(prompts)
        return [Text(ids, [-1.0] * len(ids)) for ids in texts]


def test_thoughts_that_take_too_long_are_ended_and_the_plan_is_asked_for(tiny_model: Path) -> None:
    policy = tiny_policy(tiny_model, thinking=True, thoughts=16, max_tokens=60)
    [opens], [closes], end = policy.tokens("<think>"), policy.tokens("</think>"), policy.ends[0]
    word, plan = policy.tokens("UP")[0], [*policy.tokens("Agent 0: UP"), end]
    lost, thought, direct, done = [opens, *[word] * 15], [opens, word, closes, *[word] * 13], [word] * 16, [opens, closes, *plan]
    close = policy.tokens("\n</think>\n\n")
    policy.writer = script = Script([lost, thought, direct, done], [plan] * 3)  # type: ignore[assignment]
    texts = policy.write([[1], [2], [3], [4]], limit=60, sampling=GREEDY)
    assert [text.ids for text in texts] == [[*lost, *close, *plan], [*thought, *plan], [*direct, *plan], done]
    assert script.asked == [([[1], [2], [3], [4]], 16), ([[1, *lost, *close], [2, *thought], [3, *direct]], 60 - 16 - len(close))]
    assert texts[0].own == [1] * 16 + [0] * len(close) + [1] * len(plan) and texts[3].own is None, "it did not write the mark"
    assert texts[0].logprobs == [-1.0] * 16 + [None] * len(close) + [-1.0] * len(plan)
    with pytest.raises(ValueError, match="none is left for the plan"):
        LanguageSettings(thinking=True, thoughts=60, max_tokens=60)


def test_where_it_is_measured_it_draws_as_its_card_asks(tiny_model: Path, policy: HFPolicy) -> None:
    assert policy.sampling(5) == Sampling(0.0, seed=5), "greedy, where it does not think"
    thinking = tiny_policy(tiny_model, thinking=True)
    assert thinking.sampling(5) == Sampling(0.6, seed=5, top_p=0.95, top_k=20)
    named = tiny_policy(tiny_model, thinking=True, decoding={"temperature": 0.7, "top_k": 3})
    assert named.sampling(5) == Sampling(0.7, seed=5, top_k=3)
    likeliest = policy.answer(TASKS, Sampling(1.5, seed=1, top_k=1))
    assert likeliest == policy.answer(TASKS) != policy.answer(TASKS, Sampling(1.5, seed=1))
    assert policy.answer(TASKS, Sampling(1.5, seed=1, top_p=1e-6)) == likeliest


def test_the_model_before_training_is_still_there_under_its_adapters(tiny_model: Path, policy: HFPolicy) -> None:
    trained = adapted(tiny_model)
    assert greedy(trained) != greedy(policy)
    with trained.before_training(None) as base:
        assert greedy(base) == greedy(policy)


@pytest.mark.slow
def test_the_base_of_a_session_that_goes_on_from_adapters_has_those_adapters(tiny_model: Path, policy: HFPolicy, tmp_path: Path) -> None:
    how = tiny_settings(lora=LORA["lora"])
    adapted(tiny_model).save(tmp_path)
    tokens = torch.tensor([policy.prompt_ids([user("Which way?")])])

    def logits(of: HFPolicy) -> torch.Tensor:
        with torch.no_grad():
            return of.model(input_ids=tokens).logits

    def learn(of: HFPolicy, optimizer: torch.optim.Optimizer) -> None:
        of.model(input_ids=tokens, labels=tokens).loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    start = logits(HFPolicy.load(str(tmp_path), how))
    asked, alone = (HFPolicy.load(str(tmp_path), how, to_train=True) for _ in range(2))
    optimizers = [torch.optim.AdamW(one.model.parameters(), 1e-2) for one in (asked, alone)]
    engineer = BaseEngineer(max_tokens=3000).build(Models(str(tmp_path), how, asked))
    context, _ = of_sizes(4)
    first = engineer.answer(context, 1, None)
    assert first == PolicyEngineer(max_tokens=3000).build(Models(str(tmp_path), how, alone)).answer(context, 1, None)
    assert not torch.equal(start, logits(policy)), "the model on the hub is another one"
    for step in range(2):
        with asked.before_training(adapters_in(str(tmp_path))) as base:
            assert torch.equal(logits(base), start), f"after {step} steps"
        for one, optimizer in zip((asked, alone), optimizers, strict=True):
            learn(one, optimizer)
        assert torch.equal(logits(asked), logits(alone)) and not torch.equal(logits(asked), start), "training knows nothing of it"
    assert engineer.answer(context, 1, None) == first


def test_only_what_is_trained_takes_float32(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = False
    monkeypatch.setattr("frozenlab.models.language.policy.fast_bfloat16", lambda: fast)

    def dtype(to_train: bool, **fields: object) -> torch.dtype:
        return next(tiny_policy(tiny_model, to_train=to_train, dtype="bfloat16", **fields).model.parameters()).dtype

    assert dtype(to_train=True) == torch.float32, "all its weights are trained"
    assert dtype(to_train=False) == torch.bfloat16, "half of the memory for a measurement"
    fast = True
    assert dtype(to_train=True) == torch.bfloat16, "the optimizer has them in float32"
    assert dtype(to_train=True, lora=Lora(rank=4)) == torch.bfloat16, "the base of adapters is not trained"


def test_processes_wait_for_each_other_as_long_as_answers_take(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict] = []
    state = PartialState

    def begun(**how: object) -> PartialState:
        asked.append(how)
        return state(**how)

    monkeypatch.setattr("frozenlab.models.language.policy.PartialState", begun)
    tiny_policy(tiny_model, to_train=True)
    assert asked[0]["timeout"] >= timedelta(hours=2)


def test_a_model_without_anything_to_train_is_refused(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frozenlab.models.language.policy.get_peft_model", lambda model, config: model.requires_grad_(requires_grad=False))
    with pytest.raises(PolicyError, match="no weights that training could change"):
        tiny_policy(tiny_model, to_train=True, lora=Lora(rank=4))


def test_fresh_adapters_change_nothing_and_hang_on_the_seed(tiny_model: Path, policy: HFPolicy) -> None:
    def drawn(seed: int) -> dict[str, torch.Tensor]:
        fresh = HFPolicy.load(str(tiny_model), tiny_settings(lora=Lora(rank=4)), seed)
        assert greedy(fresh) == greedy(policy)
        return {name: weight for name, weight in fresh.model.named_parameters() if "lora_A" in name}

    same, again, other = drawn(1), drawn(1), drawn(2)
    assert all(torch.equal(same[name], again[name]) for name in same)
    assert not any(torch.equal(same[name], other[name]) for name in same)


def test_adapters_are_read_back_alone_and_merged_as_one_model(tiny_model: Path, tmp_path: Path) -> None:
    trained = adapted(tiny_model)
    plans = greedy(trained)
    trained.save(tmp_path / "adapters")
    assert not (tmp_path / "adapters" / "model.safetensors").exists()
    assert greedy(HFPolicy.load(str(tmp_path / "adapters"), tiny_settings(lora=Lora(rank=4)))) == plans
    fresh = HFPolicy.load(str(tiny_model), tiny_settings(lora=LORA["lora"]), seed=9)
    fresh.take_weights(tmp_path / "adapters")
    assert greedy(fresh) == plans
    trained.export(tmp_path / "merged")
    model, tokenizer = (kind.from_pretrained(tmp_path / "merged") for kind in (AutoModelForCausalLM, AutoTokenizer))
    assert not any("lora" in name for name, _ in model.named_parameters())
    prompt = torch.tensor([trained.prompt_ids([user(trained.prompt(TASKS[0]))])])
    written = model.generate(prompt, max_new_tokens=40, do_sample=False)[0, prompt.shape[1] :]
    assert tokenizer.decode(written, skip_special_tokens=True).strip() == plans[0]
    for file, said in (("adapter_model.safetensors", "the adapters in .* cannot be read"), ("adapter_config.json", "does not say which")):
        (tmp_path / "adapters" / file).write_text("{")
        with pytest.raises(PolicyError, match=said):
            HFPolicy.load(str(tmp_path / "adapters"), tiny_settings(lora=Lora(rank=4)))


@pytest.mark.parametrize("shard", ["10GB", "100KB"])
def test_all_weights_are_saved_and_taken_back_in_one_file_or_many(tiny_model: Path, policy: HFPolicy, tmp_path: Path, shard: str) -> None:
    other = HFPolicy.load(str(build(tmp_path / "other", steps=2, seed=4)), tiny_settings())
    assert greedy(other) != greedy(policy)
    policy.model.save_pretrained(tmp_path / "saved", max_shard_size=shard)
    assert (tmp_path / "saved" / "model.safetensors").exists() == (shard == "10GB")
    other.take_weights(tmp_path / "saved")
    weights = dict(policy.model.named_parameters())
    assert all(torch.equal(weight, weights[name]) for name, weight in other.model.named_parameters())


def test_what_cannot_be_loaded_is_refused_in_one_line(tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    for name in ("nobody/has-this-model", str(tmp_path / "nowhere")):
        with pytest.raises(PolicyError, match="cannot be loaded") as refused:
            load_policy(name, tiny_settings())
        assert "\n" not in str(refused.value)
    pickled = tmp_path / "pickled"
    shutil.copytree(tiny_model, pickled)
    (pickled / "model.safetensors").unlink()
    torch.save({}, pickled / "pytorch_model.bin")
    with pytest.raises(PolicyError, match="cannot be loaded"):
        load_policy(str(pickled), tiny_settings())
    with pytest.raises(PolicyError, match="holds no weights of this model"):
        tiny_policy(tiny_model).take_weights(tmp_path)


def test_code_that_comes_with_a_model_is_never_run(tiny_model: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    shutil.copytree(tiny_model, trap)
    config = json.loads((trap / "config.json").read_text())
    config |= {"model_type": "sprung", "auto_map": {"AutoConfig": "trap.Config", "AutoModelForCausalLM": "trap.Model"}}
    (trap / "config.json").write_text(json.dumps(config))
    (trap / "trap.py").write_text(
        "from pathlib import Path\nPath(__file__).with_name('sprung').touch()\nclass Config: ...\nclass Model: ...\n"
    )
    with pytest.raises(PolicyError):
        load_policy(str(trap), tiny_settings())
    assert not list(trap.rglob("sprung"))


@pytest.mark.parametrize(
    ("capability", "fields", "used"),
    [
        ((9, 0), {}, "flash_attention_2"), ((8, 0), {}, "flash_attention_2"), ((7, 5), {}, "sdpa"), ((9, 0), {"attention": "sdpa"}, "sdpa"),
        ((9, 0), {"dtype": "float32"}, "sdpa"), ((9, 0), {"device": "cpu"}, "sdpa_by_groups"),
    ],
)  # fmt: skip
def test_attention_follows_from_the_card(
    capability: tuple[int, int], fields: dict[str, str], used: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("frozenlab.models.language.policy.is_flash_attn_2_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: capability)
    assert attention(tiny_settings(**({"dtype": "float16", "device": "auto"} | fields))) == used


def test_a_context_is_no_longer_than_the_model_knows_positions(tiny_model: Path, tmp_path: Path) -> None:
    small = shutil.copytree(tiny_model, tmp_path / "small")
    config = json.loads((small / "config.json").read_text())
    for change, known in (({"max_position_embeddings": 512}, 512), ({"max_position_embeddings": 256}, 256)):
        (small / "config.json").write_text(json.dumps(config | change))
        assert tiny_policy(small).settings.context == known
    with pytest.raises(PolicyError, match="knows 256 positions, and an answer may take 300 tokens: lower max_tokens"):
        tiny_policy(small, max_tokens=300)
    stretched = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 256, "rope_theta": 1e6}
    (small / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 256, "rope_parameters": stretched}))
    assert tiny_policy(small, context=900).settings.context == 900


def test_probabilities_that_are_not_finite_are_said(tiny_model: Path) -> None:
    policy = tiny_policy(tiny_model)
    policy.model.model.norm.weight.data[:] = float("inf")  # as where a format overflows
    with pytest.raises(PolicyError, match="probabilities are not finite"):
        policy.answer(TASKS[:1], Sampling(1.0))
