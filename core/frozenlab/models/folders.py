"""Locations and kinds of a policy's weights."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from frozenlab.base.files import read_json, write_text
from frozenlab.base.places import ASSETS, MODELS, sessions_folder
from frozenlab.tasks.vocabulary import WORDS

LAB_MODEL = ASSETS / "lab-model"
PLANNER, PLANNER_TITLE = "smollm2-planner", "SmolLM2, taught to plan"
"""The shipped adapters with which ``smollm2`` plans, and what people call them."""
STUDENT = "student:"
"""A name that begins so is that of a planted student, by its id."""
FETCHED = ("smollm2",)
"""Names of models that ``frozenlab fetch-model`` brings, into ``models`` among the sessions."""
WEIGHTS = "model.safetensors"
ADAPTER, ADAPTER_CONFIG = "adapter_model.safetensors", "adapter_config.json"
SHARDS = "model.safetensors.index.json"
QUESTION = "question.json"
"""Beside the weights of a language model that was taught the compact question."""
OLDEST_WORDS = 342
"""Words of the first lab models."""


def policy_folder(name: str) -> Path:
    """``lab-model`` and ``smollm2-planner`` ship, ``student:ID`` is a planted student next to the sessions, ``smollm2`` a model that was
    fetched; anything else is the path of a checkpoint folder."""
    if name.startswith(STUDENT):
        return sessions_folder() / "students" / name.removeprefix(STUDENT) / "policy"
    if name in FETCHED:
        return sessions_folder() / MODELS / name
    return ASSETS / name if name in (LAB_MODEL.name, PLANNER) else Path(name)


def student_label(name: str) -> str:
    """What to call a policy in figures and tables: a student by its id, a checkpoint by the name of its folder.

    >>> student_label("student:weak-at-agents-5"), student_label("/checkpoints/mine/")
    ('weak-at-agents-5', 'mine')
    """
    return name.removeprefix(STUDENT).rstrip("/").rpartition("/")[2] or name


def on_hub(name: str) -> bool:
    """Whether a model comes from the hub: there is no folder of this name, and it is no student and not fetched
    by a command."""
    return not name.startswith(STUDENT) and name not in FETCHED and not policy_folder(name).exists()


def nowhere(name: str) -> str | None:
    """Why a model cannot be found: it, or the one that adapters belong to, was not fetched, or it is neither in a folder of this name nor
    named as models on the hub are. None if it may be there."""
    name = base if (base := base_of(name)) in FETCHED else name
    if name in FETCHED:
        return None if weights_file(policy_folder(name)) else f"the model {name} is not on this machine yet: frozenlab fetch-model {name}"
    lost = on_hub(name) and name.count("/") != 1
    return f"there is no folder {name}, and models on the hub are named like Qwen/Qwen3-4B" if lost else None


def base_of(name: str) -> str | None:
    """The model that the adapters in a folder were trained on; None if it holds none, or they do not say."""
    try:
        base = read_json(policy_folder(name) / ADAPTER_CONFIG)["base_model_name_or_path"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return base if isinstance(base, str) else None


def is_lab_model(folder: Path) -> bool:
    """Whether a checkpoint folder holds a lab model, which has the words of the lab dialect, or those of when it was made."""
    try:
        words = list(read_json(folder / "tokenizer.json")["model"]["vocab"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return in_lab_words(words)


def in_lab_words(words: Sequence[str]) -> bool:
    """Whether a vocabulary is that of the lab dialect, of today or of some time before: the dialect's new words come after its old ones."""
    return len(words) >= OLDEST_WORDS and list(words) == list(WORDS[: len(words)])


def weights_file(folder: Path) -> Path | None:
    """The file that makes a folder a checkpoint: its weights, their index where there are many, or those of its adapters."""
    return next((folder / name for name in (WEIGHTS, ADAPTER, SHARDS) if (folder / name).is_file()), None)


def note_question(folder: Path, question: str) -> None:
    """Notes beside a language model's weights how it was taught to be asked, unless it is asked as all are."""
    if question != "full":
        write_text(folder / QUESTION, json.dumps({"question": question}))


def noted_question(name: str) -> str | None:
    """How the language model in the folder ``name`` was taught to be asked; None where nothing is noted: as it is published, it can be
    asked in any way."""
    try:
        return str(read_json(policy_folder(name) / QUESTION)["question"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def asked_otherwise(name: str, question: str) -> str | None:
    """Why a language model must not be asked a question, in a sentence: it was taught another."""
    taught = noted_question(name)
    if taught in (None, question):
        return None
    how = f'was taught the question "{taught}", and the settings ask it the question "{question}"'
    return f'the model {name} {how}: set "question" to "{taught}"'
