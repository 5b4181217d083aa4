"""Beat the engineer on its page: an opponent, a config, the race, the score."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from frozenlab.app.contests.page import recipes_by_id
from frozenlab.base.files import write_text
from frozenlab.base.numbers import percent
from frozenlab.experiments.contests.scores import by_cell
from frozenlab.experiments.contests.store import Contest
from frozenlab.experiments.contests.task import ContestTask, Entry, opponents
from frozenlab.experiments.students.menu import usual_config
from frozenlab.session.store import SessionStore
from tests.contests.builders import CONFIG, measured_contest, trained
from tests.pages.apptest import open_page, words
from tests.pages.conftest import note_starts
from tests.planted import planted

pytestmark = pytest.mark.usefixtures("sessions_folder")


@pytest.fixture
def contest(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Contest:
    """With a base that is measured and only the oracle in the queue; no worker runs."""
    monkeypatch.setattr(Contest, "wake", lambda contest: None)
    made = measured_contest(SessionStore())
    for file in sorted((made.dir / "entries").glob("*.json"))[1:]:
        file.unlink()
    return made


def read(app: AppTest) -> str:
    """What the page says, without its HTML."""
    return unescape(re.sub("<[^>]+>", "", words(app)))


def test_an_opponent_is_chosen_and_its_name_tells_nothing(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[ContestTask] = note_starts(monkeypatch, Contest, Contest.create)
    app = open_page("contest")
    assert app.radio(key="contest-opponent").options == [f"Student {letter}" for letter in "ABCDE"]
    app.button(key="contest-begin").click().run()
    assert asked[0].title == "Student A" and asked[0].session.policy.startswith("student:misled-about")
    assert app.query_params["contest"] == "started-1"
    assert "misled" not in words(app).lower()


def test_a_student_of_ones_own_is_offered_only_if_a_choice_can_help_it(sessions_folder: Path) -> None:
    store = SessionStore()
    for name, misled in (("mine", True), ("never-practised", False)):
        student = planted(store, name, ("4@6",), config=usual_config(), misled=misled)
        assert student.as_planned
    assert [*recipes_by_id()][len(opponents()) :] == ["mine"]


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
    assert "Side by side" not in words(open_page("contest", contest=contest.id, entry="3")), "the engineer's entry is no reader's own"


def test_the_score_says_who_won_and_whether_chance_could_explain_it(contest: Contest) -> None:
    app = open_page("contest", contest=contest.id)
    app.text_input(key="contest-name").set_value("Ada")
    app.button(key="contest-enter").click().run()
    trained(contest, 2, solved=0.9)
    trained(contest, 3, solved=0.2)
    said = read(app.run())
    rates = {number: by_cell(contest, number)["4"] for number in (None, 2, 3)}
    gained = f"4×4: {percent(rates[None])} → {percent(rates[2])} after Ada's choice"
    assert gained in said and f"After the engineer's choice: {percent(rates[3])}." in said
    assert "Ada beat the engineer" in said and "more than chance explains" in said
    assert said.index(gained) < said.index("Ada beat the engineer"), "what was learnt comes before the duel"
    assert "the oracle, who knows the planted weakness, still trains" in said
    trained(contest, 1, solved=0.9)
    said = words(app.run())
    assert "What was possible" in said and "level with the best: chance could explain it" in said


def test_a_screen_that_only_watches_has_no_form(contest: Contest) -> None:
    app = open_page("contest", contest=contest.id, watch="1")
    assert "contest-enter" not in [button.key for button in app.button]
    assert "No entries yet." in words(app)


def test_a_screen_that_only_watches_headlines_the_class(contest: Contest) -> None:
    for name in ("Ada", "Bo", "Cem", "Di"):
        contest.enter(Entry(name=name, config=CONFIG))
    for number, solved in ((2, 0.9), (3, 0.5), (4, 0.2)):
        trained(contest, number, solved)
    first, last = (by_cell(contest, number)["4"] for number in (2, 4))
    said = read(open_page("contest", contest=contest.id, watch="1"))
    assert f"→ {percent((first + last) / 2)} on average after 2 choices" in said
    assert f"Most after Ada's: {percent(first)}. n = 20 tasks each." in said and "beat the engineer by" not in said
    done = Contest.open(contest.id, SessionStore())
    for number, took in ((2, 60.0), (3, 60.0), (4, 200.0)):
        side = done.side(number)
        assert side is not None
        write_text(side.dir / "state.json", side.state().model_copy(update={"started": 1.0, "finished": 1.0 + took}).model_dump_json())
    assert "In the queue: Cem, Di. The last begins in about 1 min." in words(open_page("contest", contest=contest.id, watch="1"))


def test_an_entry_in_training_is_seen_by_others_who_have_entered_nothing(contest: Contest, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("Ada", "Bo"):
        contest.enter(Entry(name=name, config=CONFIG))
    monkeypatch.setattr(Contest, "standing", lambda contest, number: "trains" if number == 2 else "waits")
    said = words(open_page("contest", contest=contest.id))
    assert "In training: Ada." in said and "In the queue: the engineer, Bo." in said and "Scoreboard" not in said


def test_an_unknown_contest_leads_to_a_new_one(sessions_folder: Path) -> None:
    app = open_page("contest", contest="moon")
    assert "There is no such contest" in words(app)
    assert app.button(key="contest-begin").label == "Meet it"
