"""``frozenlab run`` and ``status``."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from frozenlab.cli.main import main
from frozenlab.jobs.machine import gpus
from frozenlab.session.presets import preset_spec
from frozenlab.session.state import event_words
from frozenlab.session.store import SessionStore
from tests.cli.calls import reason


def test_rates_have_their_interval_and_n(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "example-quick"]) == 0
    rates = [line for line in capsys.readouterr().out.splitlines() if "valid" in line]
    assert rates and all(
        re.search(r"\d % valid \(\d+\.\d to \d+\.\d %\), .* % optimal \(.*\), n = \d+ test boards$", line) for line in rates
    )


@pytest.mark.parametrize("name", ["example-quick", "example-long"])
def test_every_event_is_a_sentence(name: str) -> None:
    events = SessionStore().open(name).events()
    said = [event_words(event) for event in events]
    assert len(said) > 40 and not [line for line in said if set("{}[]=") & set(line.replace("n = ", "")) or "None" in line]


def test_a_bad_spec_names_the_key(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    spec = tmp_path / "spec.json"
    spec.write_text('{"stages": 0}')
    assert reason(capsys, "run", str(spec)).startswith(f"{spec}: stages: Input should be greater than or equal to 1 (given: 0)")


@pytest.mark.skipif(bool(gpus()), reason="there is a GPU")
def test_a_session_that_cannot_run_here_is_refused_before_it_is_made(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["run", "--preset", "paper", "--out", str(tmp_path / "made")]) == 2
    assert "this session cannot run here" in (said := capsys.readouterr().err) and "it needs a GPU" in said
    assert not (tmp_path / "made").exists()


def test_a_preset_can_have_another_schedule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr("frozenlab.cli.session.run_in_foreground", lambda session, as_json, track: made.append(session.spec.training))
    main(["run", "--preset", "demo", "--schedule", "per-stage", "--out", str(tmp_path / "made")])
    plain = preset_spec("demo").training
    assert made == [plain.model_copy(update={"schedule": "per-stage", "warmup_steps": 2})]


def test_what_depends_on_the_machine_can_be_given_for_a_language_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = []
    monkeypatch.setattr("frozenlab.session.launch.shortfalls", lambda spec, waits: [])
    monkeypatch.setattr("frozenlab.cli.session.run_in_foreground", lambda session, as_json, track: made.append(session.spec.language))
    options = ["--question", "full", "--device", "cpu", "--dtype", "float32", "--rows", "2", "--out", str(tmp_path / "made")]
    asked = {"question": "full", "device": "cpu", "dtype": "float32", "rows": 2}
    main(["run", "--preset", "smollm2", *options])
    assert made == [preset_spec("smollm2").language.model_copy(update=asked)]  # type: ignore[union-attr]
    assert "--device is about language models" in reason(capsys, "run", "--preset", "quick", "--device", "cpu")
    assert '"rows" has to divide 64' in reason(capsys, "run", "--preset", "smollm2", "--rows", "5")
    assert "'auto', 'bfloat16', 'float16' or 'float32'" in reason(capsys, "run", "--preset", "smollm2", "--dtype", "int8")


@pytest.mark.parametrize(
    "event",
    [
        {"kind": "stage", "stage": 0, "boards": "many"},
        {"kind": "validated", "stage": 1, "n": 8, "valid": "x", "optimal": 0.5},
        {"kind": "step", "stage": 0},
        {"kind": "new", "stage": 2, "why": "not known"},
    ],
)
def test_an_event_whose_figures_are_none_is_shown_as_it_is(event: dict[str, object]) -> None:
    said = {key: value for key, value in event.items() if key != "kind"}
    assert event_words(event) == f"{event['kind']} {json.dumps(said)}"


def test_sessions_are_compared_as_on_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "example-quick", "example-quick-kept", "example-long"]) == 0
    first, *_, pair = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"Quick session, after stage 3: .+ % valid \(95 %: .+ %\), .+ % optimal \(.+\); n = 600 test boards", first)
    assert "On the same 600 boards it gained" in pair, "the long session has other boards"
    assert main(["compare", "example-quick", "example-quick-kept", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    [(gained, lost)] = [(one["gained"], one["lost"]) for one in said["pairs"]]
    values = [round(600 * run["valid"]["value"]) for run in said["runs"]]
    assert gained - lost == values[1] - values[0]
    assert reason(capsys, "compare", "example-quick") == "two sessions with results are needed"
