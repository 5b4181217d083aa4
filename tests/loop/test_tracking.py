"""Trackers are a person's choice, hear everything, and never end a session. The fakes have the signatures of the real clients."""

from __future__ import annotations

import sys
from threading import Event
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from frozenlab.jobs import environment
from frozenlab.session import tracking
from frozenlab.session.recorder import Recorder
from frozenlab.session.session import Session
from frozenlab.session.spec import SessionSpec
from frozenlab.session.state import event_words
from frozenlab.session.store import SessionStore
from tests.builders import build_session, small_spec


@pytest.fixture
def session(store: SessionStore) -> Session:
    return build_session(store.root, small_spec(stages=2, sizes=(3, 4), boards_per_size=5), "built")


Heard = list[tuple[Any, ...]]
OWN_OPTIONS = {"trackio": {"embed", "space_id"}, "wandb": {"id", "dir", "mode"}}
"""Options of ``init`` that only one of the clients has."""


def fake(monkeypatch: pytest.MonkeyPatch, name: str) -> Heard:
    """A client in the place of Trackio or W&B, chosen by the environment; returns what it is called with."""
    heard: Heard = []
    options = OWN_OPTIONS[name]

    def log(data: dict[str, Any], step: int | None = None) -> None:
        heard.append(("log", data, step))

    def init(project: str, name: str, config: dict[str, Any], resume: str, **own: Any) -> SimpleNamespace:
        assert own.keys() == options
        heard.append(("init", project, name, config["stages"], resume, own.get("space_id", own.get("mode"))))
        return SimpleNamespace(log=log, finish=lambda exit_code=0: heard.append(("finish", exit_code)))

    client = ModuleType(name)
    vars(client).update(init=init, Table=lambda dataframe: ("table", dataframe))
    monkeypatch.setitem(sys.modules, name, client)
    monkeypatch.setenv(environment.TRACK, name)
    monkeypatch.delenv("WANDB_MODE", raising=False)
    return heard


@pytest.fixture
def trackio(monkeypatch: pytest.MonkeyPatch) -> Heard:
    return fake(monkeypatch, "trackio")


def run_again(session: Session, status: str = "done") -> list[str]:
    """Records what is in the folder once more, as a worker would; returns what people read of it."""
    said: list[str] = []
    recorder = Recorder(session)
    recorder.on_event = lambda event: said.append(event_words(event))
    recorder.begin()
    for stage in range(session.spec.stages):
        recorder.phase("training", stage)
        for figures in session.figures(stage):
            recorder.step(stage, figures, [], saving=False)
        table, record = session.validation(stage), session.proposal(stage)
        recorder.measured("validation", stage, table)
        recorder.proposed(record)
    recorder.end(status)  # type: ignore[arg-type]
    return said


@pytest.mark.parametrize("name", ["trackio", "wandb"])
def test_a_tracker_hears_config_steps_rates_and_proposals(session: Session, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    heard = fake(monkeypatch, name)
    assert not [line for line in run_again(session) if "Not tracked" in line]
    begun = next(one for one in heard if one[0] == "init")
    assert begun[1:5] == ("frozenlab", "built", 2, "allow")
    assert begun[5] == {"trackio": None, "wandb": "offline"}[name], "nothing goes out unasked"
    logged = [one for one in heard if one[0] == "log"]
    steps = [step for _, data, step in logged if "train/reward" in data]
    assert steps == list(range(1, 17))
    tables = {key: value[1] for _, data, _ in logged for key, value in data.items() if isinstance(value, tuple)}
    assert list(tables["validation_by_cell"]["n"]) == [5, 5]
    assert {"knob", "before", "after", "engineer"} <= set(tables["proposals"].columns)
    assert heard[-1] == ("finish", 0)


def test_without_a_choice_nothing_is_tracked(session: Session, trackio: Heard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(environment.TRACK)
    run_again(session)
    assert not trackio


@pytest.mark.parametrize("how", ["at once", "in the middle", "by leaving", "not installed", "unknown"])
def test_a_tracker_that_fails_is_named_once_and_the_session_goes_on(
    session: Session, trackio: Heard, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: object, **named: object) -> None:
        raise SystemExit(3) if how == "by leaving" else OSError("no route to host")

    fake = sys.modules["trackio"]
    match how:
        case "at once" | "by leaving":
            monkeypatch.setattr(fake, "init", fail)
        case "in the middle":
            monkeypatch.setattr(fake, "Table", fail)
        case "not installed":
            monkeypatch.setitem(sys.modules, "trackio", None)
        case "unknown":
            monkeypatch.setenv(environment.TRACK, "neptune")
    said = run_again(session)
    assert len([line for line in said if line.startswith("Not tracked: ")]) == 1
    assert session.state().status == "done"


def test_a_tracker_that_hangs_is_left_behind(session: Session, trackio: Heard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracking, "PATIENCE", 0.1)
    never = Event()
    monkeypatch.setattr(sys.modules["trackio"], "init", lambda **named: never.wait(20))
    run_again(session)
    never.set()
    assert session.state().status == "done"


def test_a_spec_cannot_ask_for_tracking() -> None:
    assert not [name for name in SessionSpec.model_fields if "track" in name]


def test_a_worker_asks_no_hub_unless_trackio_reports_there_and_tells_no_maker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv(environment.SPACE, "me/mine")
    assert environment.worker_environment()["HF_HUB_OFFLINE"] == "1"
    monkeypatch.setenv(environment.TRACK, "wandb")
    found = environment.worker_environment()
    assert (found["HF_HUB_OFFLINE"], found["WANDB_ERROR_REPORTING"]) == ("1", "false")
    monkeypatch.setenv(environment.TRACK, "trackio")
    assert "HF_HUB_OFFLINE" not in environment.worker_environment()
