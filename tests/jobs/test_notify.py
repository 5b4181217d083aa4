"""A job that ended is notified by the person's own command, and by nothing that a sessions folder says."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from frozenlab.jobs.queue import notify
from frozenlab.jobs.queue.db import EndedJob
from frozenlab.jobs.queue.notify import NotifyError, about, command, run_command, settings_file
from frozenlab.jobs.state import Alarm

TITLE = 'First; rm -rf "$HOME"'
JOB = about(Path("/somewhere/first"), "session", TITLE, "done")


def test_the_command_gets_the_job_on_its_standard_input_and_no_shell_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "message.json"
    script = f"import sys, pathlib; pathlib.Path({str(out)!r}).write_text(sys.stdin.read())"
    settings_file().parent.mkdir(parents=True, exist_ok=True)
    settings_file().write_text(json.dumps({"command": [sys.executable, "-c", script]}))
    run_command(command(), JOB)
    settings_file().unlink()
    assert json.loads(out.read_text()) == {"folder": "/somewhere/first", "id": "first", "kind": "session", "title": TITLE, "status": "done"}


def test_an_end_and_an_alarm_say_what_there_is_to_say(monkeypatch: pytest.MonkeyPatch) -> None:
    messages: list[dict] = []
    monkeypatch.setattr(notify, "notify", messages.append)
    notify.notify_end(EndedJob("/somewhere/first", "session", TITLE, "done", 12.0, 3.44))
    notify.notify_alarm(Path("/somewhere/first"), "session", TITLE, Alarm(rule="too-hard", evidence="Only 1 %."), "Smaller maps.")
    end, alarm = messages
    assert (end["status"], end["ended"], end["seconds"]) == ("done", 12.0, 3.4)
    assert (alarm["id"], alarm["status"], alarm["alarm"]) == ("first", "alarm", "too-hard")
    assert (alarm["evidence"], alarm["helps"]) == ("Only 1 %.", "Smaller maps.")


def test_what_goes_wrong_is_only_logged(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(notify.COMMAND, f"{sys.executable} -c 'raise SystemExit(3)'")
    run_command(command(), JOB)
    said = capsys.readouterr().err
    assert "notify command: status 3" in said
    monkeypatch.setattr(notify, "WITHIN", 0.2)
    monkeypatch.setenv(notify.COMMAND, f"{sys.executable} -c 'import time; time.sleep(60)'")
    run_command(command(), JOB)
    assert "timed out" in capsys.readouterr().err


@pytest.mark.parametrize("given", ['{"shell": "rm"}', '{"url": "https://example.org"}', "[1]", '{"command": "words"}'])
def test_bad_settings_are_refused_with_the_name_of_the_file(given: str) -> None:
    settings_file().parent.mkdir(parents=True, exist_ok=True)
    settings_file().write_text(given)
    with pytest.raises(NotifyError, match=r"notify\.json"):
        command()
    settings_file().unlink()
