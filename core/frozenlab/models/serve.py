"""A process that answers prompts on request, so that the app's server never imports torch.

Reads one JSON request a line on stdin, writes one JSON reply a line on stdout, and ends when stdin does. A request is
``{"checkpoint": folder, "language": settings or null, "prompt": text, "limit": tokens, "sampling": {...}}``; the reply is
``{"completions": [{"text", "tokens", "finished"}, ...]}`` or ``{"error": reason}``.

The folder of a lab model as argument is loaded before the first request comes.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from frozenlab.models.folders import weights_file
from frozenlab.models.loading import load_policy
from frozenlab.models.policy import Policy, Sampling
from frozenlab.models.settings import LanguageSettings
from frozenlab.tasks.vocabulary import PLAN

KEPT_LAB_MODELS, KEPT_LANGUAGE_MODELS = 4, 1


@lru_cache(maxsize=KEPT_LAB_MODELS)
def lab_model(folder: str, _modified: float) -> Policy:
    """The lab model in ``folder``, kept in memory until its weights change on disk."""
    return load_policy(folder)


@lru_cache(maxsize=KEPT_LANGUAGE_MODELS)
def language_model(folder: str, language: LanguageSettings, _modified: float) -> Policy:
    """The same for a language model: one takes gigabytes."""
    return load_policy(folder, language)


def warm_up(folder: str) -> None:
    """Loads a lab model and has it write once, which loads what it needs for that. Errors are reported at the first request."""
    reply({"checkpoint": folder, "language": None, "prompt": PLAN, "limit": 8, "sampling": {}})


def reply(request: dict[str, Any]) -> dict[str, Any]:
    """Answer the prompt of one request. Any problem is returned as ``error``."""
    try:
        folder = request["checkpoint"]
        language = LanguageSettings.model_validate(request["language"]) if request["language"] else None
        weights = weights_file(Path(folder))
        modified = weights.stat().st_mtime if weights else 0.0
        policy = language_model(folder, language, modified) if language else lab_model(folder, modified)
        [written] = policy.complete([request["prompt"]], [request["limit"]], Sampling(**request["sampling"]))
        return {"completions": [asdict(completion) for completion in written]}
    except (ValueError, OSError) as error:
        return {"error": str(error)}


def main() -> None:
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    sys.stdout = sys.stderr  # nothing that a library prints may get between the replies
    torch.set_num_threads(1)
    for folder in sys.argv[1:]:
        warm_up(folder)
    for line in sys.stdin:
        answers.write(json.dumps(reply(json.loads(line))) + "\n")


if __name__ == "__main__":
    main()
