"""The queue on pages: a section of Runs that steers it, a line on Home, and the turn of a session on Train."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from frozenlab.experiments.headroom.store import Headroom
from frozenlab.experiments.studies.presets import engineers_study
from frozenlab.experiments.studies.store import Study
from frozenlab.jobs import launcher
from frozenlab.jobs.queue import look
from frozenlab.jobs.queue.db import PAUSED, QueueDB
from frozenlab.jobs.state import Alarm, own_process, store_state
from frozenlab.session.store import SessionStore
from tests.builders import small_spec
from tests.headroom.builders import tiny_spec
from tests.pages.apptest import open_page, words


@pytest.fixture
def queued(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> SessionStore:
    """Two sessions that wait; no dispatcher starts them."""
    monkeypatch.setattr(launcher, "wake", lambda root: None)
    monkeypatch.setattr(look, "wake_if_needed", lambda root: None)
    store = SessionStore(sessions_folder)
    for name in ("first", "second"):
        launcher.submit(store.create(small_spec().changed(title=f"The {name}"), name))
    return store


def press(app, action: str, folder: Path) -> None:
    app.button(key=f"q-{action}-{abs(hash(str(folder)))}").click().run()


def order(store: SessionStore) -> list[str]:
    return [job.id for job in look.look(store.root).jobs]


def test_runs_shows_the_queue_and_steers_it(queued: SessionStore) -> None:
    app = open_page("runs")
    assert "2 queued" in words(app)
    second = queued.root / "second"
    assert order(queued) == ["first", "second"] and "session · waits · second in line" in words(app)
    press(app, "pause", second)
    assert "paused" in words(app)
    press(app, "go", second)
    press(app, "now", second)
    assert order(queued) == ["second", "first"] and "urgent" in words(app)
    press(app, "cancel", second)
    assert order(queued) == ["first"] and queued.open("second").state().status == "stopped"
    app.button(key="q-queue-pause").click().run()
    assert QueueDB(queued.root).fact(PAUSED) and "the queue is paused" in words(app)
    app.button(key="q-queue-go").click().run()
    assert not QueueDB(queued.root).fact(PAUSED)


def test_a_job_leads_to_its_page(queued: SessionStore) -> None:
    launcher.submit(Headroom.create(tiny_spec(), queued, "wins"))
    assert {"session=first", "headroom=wins"} <= {link.proto.query_string for link in open_page("runs").get("page_link")}


def test_a_study_stands_for_its_cells_until_all_jobs_are_asked_for(queued: SessionStore) -> None:
    study = Study.create(engineers_study(2, small_spec()), queued, "mine")
    launcher.submit(study)
    launcher.submit(SessionStore(study.dir / "cells").create(small_spec(), "policy-s0"), parent=study)
    app = open_page("runs")
    assert "session=mine%2Fpolicy-s0" not in {link.proto.query_string for link in app.get("page_link")}
    app.session_state["queue_all"] = True  # what the button sets, before it draws its fragment again
    app.run()
    assert {"study=mine", "session=mine%2Fpolicy-s0"} <= {link.proto.query_string for link in app.get("page_link")}


def test_home_and_train_say_that_jobs_wait(queued: SessionStore) -> None:
    assert "The queue of this machine: **2 queued**" in words(open_page("home"))
    app = open_page("train", session="second")
    assert "**Queued**, second in line" in words(app)
    app.button(key="q-turn-now-second").click().run()
    assert order(queued) == ["second", "first"]


def test_lists_mark_a_session_that_runs_with_an_alarm(queued: SessionStore) -> None:
    """The badge of the queue's section stands beside the way to Train; the words of an alarm are text, whatever a folder says."""
    first, alarm = queued.open("first"), Alarm(rule="reward-collapse", evidence="It fell from *0.5* to 0.1.")
    running = first.state().model_copy(update={"status": "running", "heartbeat": time.time(), "alarms": [alarm], **own_process()})
    store_state(first.dir, running)
    QueueDB(queued.root).change(str(first.dir), running=True, **{key: own_process()[key] for key in ("pid", "create_time")})
    for page in ("home", "runs"):
        app = open_page(page)
        badges = [element.value for element in app.markdown if "reward collapse" in element.value]
        assert len(badges) == {"home": 2, "runs": 1}[page]
    assert "⚠ reward collapse" in list(app.dataframe[0].value["status"])
    store_state(first.dir, running.model_copy(update={"status": "done", "finished": time.time()}))
    assert "reward collapse" not in words(open_page("home"))
