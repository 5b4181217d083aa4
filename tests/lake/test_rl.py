"""The dataset and the reward as TRL uses them."""

from pathlib import Path
from typing import Any

import pytest

from frozenlab.lake.board import read_board
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.envs.rl import answer_text, boards_dataset, reward
from frozenlab.lake.words.answers import prompt, write_answer

CONFIG = EnvironmentConfig.uniform((3, 4), agents=2)


def test_the_dataset_is_drawn_by_the_generator() -> None:
    instances = generate(CONFIG, 6, seed=4)
    rows = list(boards_dataset(CONFIG, 6, seed=4))
    assert [row["id"] for row in rows] == [instance.id for instance in instances]
    assert [read_board(row["board"]) for row in rows] == [instance.board for instance in instances]
    assert [row["optimal_makespan"] for row in rows] == [instance.solution.makespan for instance in instances]
    assert rows[0]["prompt"] == [{"role": "user", "content": prompt(instances[0].board)}]
    assert boards_dataset(CONFIG, 6, seed=4, chat=False)["prompt"][0] == prompt(instances[0].board)


def test_the_reward_pays_for_plans_in_texts_and_in_chats() -> None:
    instances = generate(CONFIG, 4, seed=1)
    columns: dict[str, Any] = boards_dataset(CONFIG, 4, seed=1).to_dict()
    plans = [instance.solution.plan or () for instance in instances]
    slow = [tuple("W" + motions for motions in plan) for plan in plans]
    assert reward([write_answer(plan) for plan in plans], **columns) == [1.0] * 4
    chats = [[{"role": "assistant", "content": "hm"}, {"role": "assistant", "content": write_answer(plan)}] for plan in slow]
    assert reward(chats, **columns) == pytest.approx([0.7 + 0.3 * m / (m + 1) for m in columns["optimal_makespan"]])
    assert reward(["I don't know"] * 4, **columns) == [0.0] * 4
    part_way = reward([write_answer(tuple(m[:-1] + "WW" for m in plan)) for plan in plans], **columns)
    assert all(0 <= earned <= 0.1 for earned in part_way) and max(part_way) > 0.02
    assert reward([write_answer(("WWWWWW",) * 2)] * 4, **columns) == [0.0] * 4, "standing still"


def test_the_reward_logs_rates() -> None:
    columns: dict[str, Any] = boards_dataset(CONFIG, 2, seed=1).to_dict()
    plan = generate(CONFIG, 2, seed=1)[0].solution.plan or ()
    logged: dict[str, float] = {}
    reward([write_answer(plan), ""], log_metric=logged.__setitem__, **columns)
    assert logged == {"valid_rate": 0.5, "optimal_rate": 0.5}


def test_a_reward_needs_an_optimum() -> None:
    columns: dict[str, Any] = boards_dataset(CONFIG, 2, seed=1).to_dict()
    with pytest.raises(ValueError, match="completion 1: its board has no optimal makespan"):
        reward(["", ""], **columns | {"optimal_makespan": [2, None]})
    with pytest.raises(ValueError, match="2 boards for 1 completions"):
        reward([""], **columns)


@pytest.mark.parametrize(
    ("completion", "text"),
    [("a", "a"), ([], ""), ([{"role": "assistant", "content": None}], ""), ([{"content": "a"}, {"content": "b"}], "b")],
)
def test_the_answer_is_the_text_or_the_last_message(completion: Any, text: str) -> None:
    assert answer_text(completion) == text


@pytest.mark.slow
@pytest.mark.parametrize("chat", [True, False])
def test_trl_trains_a_step_on_it(tmp_path: Path, chat: bool) -> None:
    """A tiny network over bytes; it knows nothing, but TRL hands over the columns, and each reward is the one of its text and board."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
    from trl import GRPOConfig, GRPOTrainer

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: i for i, letter in enumerate([*letters, "<end>"])}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>", pad_token="<end>")
    fast.chat_template = "{% for message in messages %}{{ message.content }}\n{% endfor %}"
    model = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=257, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=1, num_key_value_heads=1,
            head_dim=16, eos_token_id=256, pad_token_id=256,
        )
    )  # fmt: skip
    seen: list[dict[str, Any]] = []

    def watched(**columns: Any) -> list[float]:
        seen.append(columns | {"earned": reward(**columns)})
        return seen[-1]["earned"]

    arguments = GRPOConfig(
        output_dir=str(tmp_path), max_steps=1, per_device_train_batch_size=4, num_generations=2, max_completion_length=6,
        use_cpu=True, report_to=[], save_strategy="no", logging_steps=1, disable_tqdm=True,
    )  # fmt: skip
    dataset = boards_dataset(CONFIG, 4, seed=1, chat=chat)
    trainer = GRPOTrainer(model, reward_funcs=watched, args=arguments, train_dataset=dataset, processing_class=fast)
    trainer.train()
    [call] = seen
    rows = {row["board"]: row for row in dataset}
    assert len(call["earned"]) == 4 == len(call["completions"]) and len(set(call["board"])) == 2
    for shown, board, optimum in zip(call["prompts"], call["board"], call["optimal_makespan"], strict=True):
        assert shown == rows[board]["prompt"] and optimum == rows[board]["optimal_makespan"]
    logged = {name for entry in trainer.state.log_history for name in entry}
    assert {"rewards/watched/mean", "valid_rate", "optimal_rate"} <= logged
