"""A process that plans boards on request, so that the app's server never imports torch.

Reads one JSON request a line on stdin, writes one JSON reply a line on stdout, and ends when stdin does. A request is
``{"checkpoint": folder, "board": {...}, "temperature": t, "completions": n, "seed": s}``; the reply is
``{"completions": [{"text", "tokens", "finished"}, ...]}`` or ``{"error": reason}``.
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

from core.lake.board import Board
from core.policy.policy import Policy

KEPT_POLICIES = 4


@lru_cache(maxsize=KEPT_POLICIES)
def loaded(folder: str, _modified: float) -> Policy:
    """The policy in ``folder``, kept in memory until its weights change on disk."""
    return Policy.load(Path(folder))


def reply(request: dict[str, Any]) -> dict[str, Any]:
    """Plans the board of one request; whatever is wrong with it comes back as ``error``."""
    try:
        folder = request["checkpoint"]
        policy = loaded(folder, (Path(folder) / "model.safetensors").stat().st_mtime)
        board = Board.from_dict(request["board"])
        planned = policy.plan([board], temperature=request["temperature"], completions=request["completions"], seed=request["seed"])
        return {"completions": [asdict(completion) for completion in planned[0]]}
    except (ValueError, OSError) as error:
        return {"error": str(error)}


def main() -> None:
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    sys.stdout = sys.stderr  # nothing that a library prints may get between the replies
    torch.set_num_threads(1)
    for line in sys.stdin:
        answers.write(json.dumps(reply(json.loads(line))) + "\n")


if __name__ == "__main__":
    main()
