"""Loading, saving and generating with the lab model's network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from frozenlab.lake.board import Board
from frozenlab.lake.instance import Instance
from frozenlab.lake.words.reading import judge_answer
from frozenlab.models.folders import LAB_MODEL, is_lab_model
from frozenlab.models.lab.policy import LabPolicy, build_network, build_tokenizer
from frozenlab.models.loading import load_policy
from frozenlab.models.policy import PolicyError, Sampling
from frozenlab.tasks.lake.dialects import max_plan_words, parse_plan, render_board
from frozenlab.tasks.vocabulary import CELLS, END, WORDS
from recipes.lab_model.warm_start import grown

BOARDS = [
    Board.from_text("S F G\ns F g"),
    Board.from_text("S F F F\nF H F G\ns F F g\nF F F F"),
    Board.from_text("S G H\nF F F\ns g F"),
    Board.from_text("S F F F F F F G"),
    Board.from_text("S s A\nG g a\nF F F"),
]
TASKS = [Instance.unsolved(board) for board in BOARDS]


def tiny_policy(seed: int = 0) -> LabPolicy:
    return LabPolicy(build_network(seed, hidden=32, layers=2, intermediate=64).eval(), build_tokenizer())


def test_the_tokenizer_has_one_token_a_word_in_the_vocabularys_order() -> None:
    tokenizer = build_tokenizer()
    assert tokenizer(" ".join(WORDS))["input_ids"] == list(range(len(WORDS)))
    assert tokenizer.decode(range(5, len(WORDS))) == " ".join(WORDS[5:])
    assert (tokenizer.pad_token_id, tokenizer.eos_token_id) == (WORDS.index("<pad>"), WORDS.index("<end>"))
    assert tokenizer.padding_side == "left"


def test_the_default_network_is_small() -> None:
    assert 1.0e6 < build_network().num_parameters() < 1.5e6


def test_the_same_seed_builds_the_same_network_and_leaves_the_global_stream_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    weights = [build_network(3, hidden=32, layers=1, intermediate=32).model.embed_tokens.weight for _ in range(2)]
    assert torch.equal(*weights)
    assert torch.equal(torch.rand(1), expected)


def test_a_saved_policy_loads_with_equal_weights_and_answers(tmp_path: Path) -> None:
    policy = tiny_policy()
    policy.save(tmp_path / "checkpoint")
    loaded = load_policy(str(tmp_path / "checkpoint"))
    for (name, left), (_, right) in zip(policy.model.state_dict().items(), loaded.model.state_dict().items(), strict=True):
        assert torch.equal(left, right), name
    assert loaded.answer(TASKS) == policy.answer(TASKS)
    assert {file.name for file in tmp_path.iterdir()} == {"checkpoint"}


def test_saving_over_a_checkpoint_replaces_it_and_keeps_other_files(tmp_path: Path) -> None:
    tiny_policy(0).save(tmp_path)
    (tmp_path / "README.md").write_text("card")
    tiny_policy(1).save(tmp_path)
    assert LabPolicy.load(tmp_path).answer(TASKS) == tiny_policy(1).answer(TASKS)
    assert (tmp_path / "README.md").read_text() == "card"


@pytest.mark.parametrize(
    ("name", "old", "new", "reason"),
    [
        ("config.json", b"", None, "it has no config.json"),
        ("model.safetensors", b"", None, "it has no model.safetensors"),
        ("tokenizer.json", b"", None, "it has no tokenizer.json"),
        ("config.json", b'"model_type": "qwen3"', b'"model_type": "llama"', "llama"),
        ("model.safetensors", b"", bytes(64), "cannot be read"),
        ("tokenizer.json", b'"r0c0"', b'"cell0"', "another vocabulary"),
    ],
)
def test_a_foreign_or_damaged_checkpoint_is_refused(tmp_path: Path, name: str, old: bytes, new: bytes | None, reason: str) -> None:
    """The file is removed, has a part replaced, or is replaced as a whole."""
    tiny_policy().save(tmp_path)
    file = tmp_path / name
    if new is None:
        file.unlink()
    else:
        assert old in file.read_bytes()
        file.write_bytes(file.read_bytes().replace(old, new) if old else new)
    with pytest.raises(PolicyError, match=reason):
        LabPolicy.load(tmp_path)


def older_policy(folder: Path, words: int = 342) -> LabPolicy:
    """A model that was made when the vocabulary was shorter."""
    network = build_network(3, hidden=32, layers=1, intermediate=64)
    network.resize_token_embeddings(words)
    network.save_pretrained(folder)
    build_tokenizer().save_pretrained(folder)
    whole = json.loads((folder / "tokenizer.json").read_text())
    whole["model"]["vocab"] = {word: number for number, word in enumerate(WORDS[:words])}
    (folder / "tokenizer.json").write_text(json.dumps(whole))
    return LabPolicy.load(folder)


def test_a_model_with_the_first_words_of_the_vocabulary_plans_and_says_which_word_it_lacks(tmp_path: Path) -> None:
    policy = older_policy(tmp_path)
    assert is_lab_model(tmp_path) and all(policy.answer(TASKS))
    locked = Instance.unsolved(Board.from_text("S 0 G"))
    with pytest.raises(PolicyError, match="does not know the word 'door0'"):
        policy.prompt(locked)
    with pytest.raises(PolicyError, match="does not know the word 'door0'"):
        policy.complete([render_board(locked.board)], [4])


def test_a_grown_network_says_what_the_smaller_one_said(tmp_path: Path) -> None:
    small = older_policy(tmp_path).model
    ids = torch.tensor([[2, 40, 50, 60]])
    with torch.no_grad():
        assert torch.equal(grown(small)(ids).logits[..., :342], small(ids).logits)


def test_greedy_plans_agree_with_the_plain_forward_pass() -> None:
    policy = tiny_policy()
    planned = policy.answer(TASKS)
    for board, (completion,) in zip(BOARDS, planned, strict=True):
        ids = policy.tokenizer(render_board(board))["input_ids"]
        words: list[str] = []
        while len(words) < max_plan_words(board) and END not in words:
            with torch.inference_mode():
                logits = policy.model(input_ids=torch.tensor([ids])).logits[0, -1]
            ids = [*ids, int(logits.argmax())]
            words.append(WORDS[ids[-1]])
        assert completion.tokens == len(words)
        assert completion.finished == (words[-1] == END)
        assert completion.text.split() == [word for word in words if word != END]


def test_plans_do_not_depend_on_the_batch() -> None:
    policy = tiny_policy()
    for temperature in (0.0, 1.0):
        together = policy.answer(TASKS, Sampling(temperature, completions=3, seed=1, batch_size=64))
        alone = policy.answer(TASKS, Sampling(temperature, completions=3, seed=1, batch_size=1))
        assert together == alone


def test_the_seed_decides_the_draws() -> None:
    policy = tiny_policy()
    first, again, other = (policy.answer(TASKS, Sampling(temperature=1, completions=2, seed=seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert any(left != right for left, right in first)


def test_drawn_words_follow_the_models_distribution() -> None:
    policy = tiny_policy()
    board = BOARDS[0]
    with torch.inference_mode():
        logits = policy.model(input_ids=torch.tensor([policy.tokenizer(render_board(board))["input_ids"]])).logits[0, -1]
    # At this temperature the likeliest first word has about an even chance.
    temperature = float((logits.max() - logits.topk(2).values[1]).clamp(min=1e-3))
    expected = float((logits / temperature).softmax(0).max())
    drawn = policy.answer(TASKS[:1], Sampling(temperature, completions=2000, batch_size=2000))[0]
    likeliest = WORDS[int(logits.argmax())]
    share = sum(completion.text.split()[:1] == [likeliest] for completion in drawn) / len(drawn)
    assert share == pytest.approx(expected, abs=0.05)


def test_progress_counts_boards() -> None:
    done: list[int] = []
    tiny_policy().answer(TASKS, Sampling(batch_size=2), done.append)
    assert done == [2, 4, 5]


class Words:
    """A grammar that allows the next of these lists of words, and the last one for ever."""

    def __init__(self, *lists: Sequence[str]) -> None:
        self.lists = lists

    def allowed(self, words: Sequence[str]) -> Sequence[str]:
        return self.lists[min(len(words), len(self.lists) - 1)]


CELLS_THEN_END = Words(CELLS[:5], CELLS[:5], ["r0c9"], [])
"""Three cells of row 0, the last of which must be r0c9."""


def test_constrained_text_obeys_its_grammar_and_seed() -> None:
    policy, prompt = tiny_policy(), render_board(BOARDS[0])
    texts = [policy.complete_constrained(prompt, CELLS_THEN_END, temperature=2.0, seed=seed) for seed in range(20)]
    for text in texts:
        words = text.split()
        assert set(words[:2]) <= set(CELLS[:5]) and words[2:] == ["r0c9"]
    assert len(set(texts)) > 1
    assert texts[7] == policy.complete_constrained(prompt, CELLS_THEN_END, temperature=2.0, seed=7)


def test_constrained_greedy_text_takes_the_likeliest_allowed_word() -> None:
    policy, prompt = tiny_policy(), render_board(BOARDS[1])
    text = policy.complete_constrained(prompt, CELLS_THEN_END)
    ids = policy.tokenizer(prompt)["input_ids"]
    assert len(text.split()) == 3
    for word in text.split()[:2]:
        with torch.inference_mode():
            logits = policy.model(input_ids=torch.tensor([ids])).logits[0, -1]
        among = [WORDS.index(cell) for cell in CELLS[:5]]
        assert word == WORDS[max(among, key=lambda i: float(logits[i]))]
        ids = [*ids, WORDS.index(word)]


def test_a_grammar_without_end_or_with_foreign_words_is_an_error() -> None:
    policy, prompt = tiny_policy(), render_board(BOARDS[0])
    policy.model.config.max_position_embeddings = 40
    with pytest.raises(ValueError, match="did not end"):
        policy.complete_constrained(prompt, Words(["r0c0", "r0c1"]))
    with pytest.raises(ValueError, match="tree"):
        policy.complete_constrained(prompt, Words(["tree", "r0c0"]))


def test_the_shipped_model_solves_most_easy_boards_and_is_small() -> None:
    policy = load_policy("lab-model")
    easy = [
        Board.from_text(text)
        for text in (
            "S F G\nF F F\ns F g",
            "S F F\nF F F\nG s g",
            "S G F F\nF F F F\nF F F F\nF F s g",
            "S F F F\nF F F G\ns F F F\nF F g F",
            "S F F s\nF H H F\nF H H F\nG F F g",
        )
    ]
    solved = 0
    for board, (completion,) in zip(easy, policy.answer([Instance.unsolved(board) for board in easy]), strict=True):
        solved += judge_answer(board, parse_plan(board, completion.text, completion.finished)).valid
    assert solved >= 3
    assert (LAB_MODEL / "model.safetensors").stat().st_size < 10_000_000
