"""The way of the recorded language model, in small: from random weights over worked answers and GRPO to proposals of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from frozenlab.session.session import Session
from recipes import record_language

pytestmark = pytest.mark.long


def test_it_learns_from_worked_answers_then_by_grpo_and_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("LANGUAGE", "DRAWN"):  # what has learnt next to nothing goes on until it is cut off
        monkeypatch.setattr(record_language, name, getattr(record_language, name).model_copy(update={"max_tokens": 40}))
    few = ["--boards", "48", "--proposals", "16", "--stages", "1", "--steps", "2", "--held-out", "2", "--asked", "1"]
    record_language.main([str(tmp_path), *few])
    said = capsys.readouterr().out
    assert "random weights         3x3: 0 of 2 valid (0% to 66%)" in said
    assert "warm start: 64 examples" in said and "after stage 1 of GRPO" in said and "of 1 first answers" in said
    session = Session(tmp_path / "example-language")
    assert session.state().status == "done" and session.spec.policy == "tiny-qwen3-warm", "it names no folder of this machine"
    assert [len(session.metrics(0)), len(session.results(None)), len(session.results(0))] == [2, 4, 4]
    record = session.proposal(0)
    assert record is not None and record.attempts[0].prompt_tokens and record.attempts[0].prompt_tokens > 500
