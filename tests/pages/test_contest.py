"""Beat the engineer on its page: an opponent, a config, the race, the score."""

from __future__ import annotations

from pathlib import Path

import pytest

from frozenlab.experiments.contests.store import Contest
from frozenlab.experiments.contests.task import ContestTask
from frozenlab.session.store import SessionStore
from tests.contests.builders import measured_contest, trained
from tests.pages.apptest import open_page, words
from tests.pages.conftest import note_starts

pytestmark = pytest.mark.usefixtures("sessions_folder")


@pytest.fixture
def contest(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Contest:
    """With a base that is measured and only the oracle in the queue; no worker runs."""
    monkeypatch.setattr(Contest, "wake", lambda contest: None)
    made = measured_contest(SessionStore())
    for file in sorted((made.dir / "entries").glob("*.json"))[1:]:
        file.unlink()
    return made


def test_an_opponent_is_chosen_and_its_name_tells_nothing(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[ContestTask] = note_starts(monkeypatch, Contest, Contest.create)
    app = open_page("contest")
    assert "Student A" in app.radio(key="contest-opponent").options
    assert "misled" not in " ".join(app.radio(key="contest-opponent").options).lower()
    app.button(key="contest-begin").click().run()
    assert asked[0].title == "Student A" and asked[0].session.policy.startswith("student:misled-about")
    assert app.query_params["contest"] == "started-1"
    assert "misled" not in words(app).lower()


def test_a_config_is_entered_and_the_engineers_is_hidden_before(contest: Contest) -> None:
    app = open_page("contest", contest=contest.id)
    assert "engineer chose" not in words(app) and "Scoreboard" not in words(app)
    app.slider(key=f"contest-share-{contest.id}-4").set_value(10)
    app.text_input(key="contest-name").set_value("Ada")
    app.text_input(key=f"contest-why-{contest.id}").set_value("Most fail on *4*.")
    app.button(key="contest-enter").click().run()
    entries = Contest.open(contest.id, SessionStore()).entries
    assert [entry.kind for entry in entries] == ["oracle", "person", "engineer"]
    assert entries[1].why == "Most fail on *4*."
    shares = {name: cell.share for name, cell in entries[1].config.cells.items()}  # type: ignore[union-attr]
    assert shares == pytest.approx({"3": 2 / 14, "4": 10 / 14, "5": 2 / 14})
    assert "In the queue: Ada, the engineer." in words(app)
    assert app.query_params["entry"] == "2", "the page that is opened again still shows the race"
    again = open_page("contest", contest=contest.id, entry="2")
    assert "In the queue: Ada" in words(again)
    again.session_state["contest-view"] = "Try another config"
    assert again.run().button(key="contest-enter").label == "Train this too"
    assert "In the queue" not in words(open_page("contest", contest=contest.id, entry="3")), "the engineer's entry is no reader's own"


def test_the_score_says_who_won_and_whether_chance_could_explain_it(contest: Contest) -> None:
    app = open_page("contest", contest=contest.id)
    app.text_input(key="contest-name").set_value("Ada")
    app.button(key="contest-enter").click().run()
    trained(contest, 2, solved=0.9)
    trained(contest, 3, solved=0.2)
    app.run()
    said = words(app)
    assert "Ada beat the engineer" in said and "more than chance explains" in said
    assert "the oracle, who knows the planted weakness, still trains" in said
    trained(contest, 1, solved=0.9)
    said = words(app.run())
    assert "What was possible" in said and "level with the best: chance could explain it" in said


def test_a_screen_that_only_watches_has_no_form(contest: Contest) -> None:
    app = open_page("contest", contest=contest.id, watch="1")
    assert "contest-enter" not in [button.key for button in app.button]
    assert "No entries yet." in words(app)


def test_an_unknown_contest_leads_to_a_new_one(sessions_folder: Path) -> None:
    app = open_page("contest", contest="moon")
    assert "There is no such contest" in words(app)
    assert app.button(key="contest-begin").label == "Meet it"
