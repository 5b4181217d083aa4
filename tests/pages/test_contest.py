"""Beat the engineer on its page: a student, a guess, a config, the race, the score."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from frozenlab.app.contests.kinds import guess_key, tokens_key, weakness
from frozenlab.app.contests.page import recipes_by_id
from frozenlab.app.ui.figures import overall_by_cell
from frozenlab.base.files import write_text
from frozenlab.base.numbers import percent
from frozenlab.experiments.contests.scores import by_cell
from frozenlab.experiments.contests.store import Contest
from frozenlab.experiments.contests.task import ContestTask, Entry, teachable
from frozenlab.experiments.students.menu import usual_config
from frozenlab.session.store import SessionStore
from frozenlab.tasks.lake.family import LAKE
from tests.contests.builders import CONFIG, measured_contest, trained
from tests.pages.apptest import components, open_page, words
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


def test_a_student_is_chosen_and_its_name_tells_nothing(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[ContestTask] = note_starts(monkeypatch, Contest, Contest.create)
    app = open_page("contest")
    [cards] = components(app, "kinds")
    assert [card["title"] for card in cards["kinds"]] == [f"Student {letter}" for letter in "ABCDE"]
    assert len({card["svg"] for card in cards["kinds"]}) == len({card["fault"] for card in cards["kinds"]}) == 5, "no two look alike"
    app.button(key="contest-begin").click().run()
    assert asked[0].title == "Student A" and asked[0].session.policy.startswith("student:misled-about")
    assert app.query_params["contest"] == "started-1"
    assert "misled" not in words(app).lower()


def test_a_card_shows_the_weakness_of_its_student_to_a_reader_who_has_a_score(contest: Contest, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = contest.student.recipe  # type: ignore[union-attr]
    monkeypatch.setattr("frozenlab.app.contests.page.recipes_by_id", lambda: {"never-saw-4": recipe})
    [[before]] = [cards["kinds"] for cards in components(open_page("contest"), "kinds")]
    trained(contest, contest.enter(Entry(name="Ada", config=CONFIG)), solved=0.9)
    [[after]] = [cards["kinds"] for cards in components(open_page("contest", entry="2"), "kinds")]
    table = contest.base.validation(None)  # type: ignore[union-attr]
    assert before["svg"] != after["svg"] == weakness(contest)["svg"]
    assert after["fault"] in {LAKE.outcomes[name].label for name in table[table["config_cell"] == "4"]["outcome"]}


def test_a_student_of_ones_own_is_offered_only_if_a_choice_can_help_it(sessions_folder: Path) -> None:
    store = SessionStore()
    for name, misled in (("mine", True), ("never-practised", False)):
        student = planted(store, name, ("4@6",), config=usual_config(), misled=misled)
        assert student.as_planned
    assert [*recipes_by_id()][len(teachable()) :] == ["mine"]


def with_tokens(contest: Contest, guess: str = "4", **tokens: int) -> AppTest:
    """The page after a guess, with these tokens on the kinds of task."""
    app = open_page("contest", contest=contest.id)
    app.session_state[guess_key(contest)] = guess
    app.session_state[tokens_key(contest)] = {name.removeprefix("on_"): n for name, n in tokens.items()}
    return app.run()


def enter(app: AppTest, name: str = "Ada") -> AppTest:
    app.text_input(key="contest-name").set_value(name)
    return app.button(key="contest-enter").click().run()


def test_a_guess_comes_before_the_rates(contest: Contest) -> None:
    app = open_page("contest", contest=contest.id)
    assert "Which kind of task was it taught wrong?" in words(app) and "Your name" not in [field.label for field in app.text_input]
    [asked] = components(app, "kinds")
    assert asked["asks"] and [kind["title"] for kind in asked["kinds"]] == ["3×3", "4×4", "5×5"]
    assert all(kind["svg"].startswith("<svg") and kind["fault"] for kind in asked["kinds"])
    [laying] = components(with_tokens(contest, guess="5"), "kinds")
    assert not laying["asks"] and laying["guess"] == "5" and laying["tokens"] == 10
    table = contest.base.validation(None)  # type: ignore[union-attr]
    rates = {cell: rate.percent for cell, rate in overall_by_cell(table).items()}
    assert {kind["cell"]: kind["percent"] for kind in laying["kinds"]} == rates


def test_all_tokens_are_laid_before_a_config_is_entered(contest: Contest) -> None:
    app = with_tokens(contest, on_4=6, on_5=3)
    assert app.button(key="contest-enter").disabled
    assert len(contest.entries) == 1


def test_a_config_is_entered_and_the_engineers_is_hidden_before(contest: Contest) -> None:
    app = with_tokens(contest, guess="5", on_3=1, on_4=8, on_5=1)
    assert "engineer chose" not in words(app) and "Scoreboard" not in words(app)
    assert "No round has been trained on this machine yet" in words(app)
    app.text_input(key=f"contest-why-{contest.id}").set_value("Most fail on *4*.")
    enter(app)
    entries = Contest.open(contest.id, SessionStore()).entries
    assert [entry.kind for entry in entries] == ["oracle", "person", "engineer"]
    assert entries[1].why == "Most fail on *4*." and entries[1].guess == "5"
    shares = {name: cell.share for name, cell in entries[1].config.cells.items()}  # type: ignore[union-attr]
    assert shares == pytest.approx({"3": 0.1, "4": 0.8, "5": 0.1})
    assert "In the queue: Ada, the engineer." in words(app)
    assert app.query_params["entry"] == "2", "the page that is opened again still shows the race"
    again = open_page("contest", contest=contest.id, entry="2")
    assert "In the queue: Ada" in words(again)
    again.session_state["contest-view"] = "Try another config"
    assert again.run().button(key="contest-enter").label == "Train this too"
    assert "Side by side" not in words(open_page("contest", contest=contest.id, entry="3")), "the engineer's entry is no reader's own"


def test_the_score_says_who_won_and_whether_chance_could_explain_it(contest: Contest) -> None:
    app = enter(with_tokens(contest, guess="5", on_4=10))
    trained(contest, 2, solved=0.9)
    said = read(app.run())
    rates = {number: by_cell(contest, number)["4"] for number in (None, 2)}
    gained = f"4×4: {percent(rates[None])}→{percent(rates[2])}"
    assert gained in said and "training on Ada's choice" in said and "the engineer won" not in said.lower()
    assert "You guessed 5×5, but it was 4×4." in said
    trained(contest, 3, solved=0.2)
    said = read(app.run())
    assert f"4×4 after the engineer's choice: {percent(by_cell(contest, 3)['4'])}." in said
    assert "Ada beat the engineer" in said and "more than chance explains" in said
    assert said.index(gained) < said.index("Ada beat the engineer"), "what was learnt comes before the duel"
    assert "the oracle, who knows the planted weakness, still trains" in said
    trained(contest, 1, solved=0.9)
    said = read(app.run())
    assert "level with the best: chance could explain it" in said
    assert said.index("Ada beat the engineer") < said.index("the oracle knew the planted weakness") < said.index("level with the best")


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
    app = open_page("contest", contest=contest.id, watch="1")
    said = read(app)
    assert f"→{percent((first + last) / 2)}" in said and "on average after 2 choices" in said
    assert f"Most after Ada's: {percent(first)}. n = 20 tasks each" in said and "beat the engineer by" not in said
    assert "4×4" not in said, "others still guess"
    [race] = components(app, "rows")
    assert [(row["name"], row["value"]) for row in race["rows"]] == [
        ("Ada", percent(first)), ("Bo", percent(last)), ("Cem", ""), ("Di", ""), ("the engineer", "?"),
    ]  # fmt: skip
    assert race["rows"][-1]["at"] is None, "what the engineer gained is told at the end"
    done = Contest.open(contest.id, SessionStore())
    for number, took in ((2, 60.0), (3, 60.0), (4, 200.0)):
        side = done.side(number)
        write_text(side.dir / "state.json", side.state().model_copy(update={"started": 1.0, "finished": 1.0 + took}).model_dump_json())
    contest.enter(Entry(name="Eva", config=CONFIG))
    assert "In the queue: Cem, Di, Eva. The last begins in about 1 min." in words(open_page("contest", contest=contest.id, watch="1"))
    assert contest.begins(contest.rounds) == {5: 0.0, 6: 0.0, 7: 60.0, 0: 60.0}
    waits = words(with_tokens(contest, on_4=10))
    assert "take about 1 min here, judging by 3 rounds. 3 wait before you: yours begins in about 1 min." in waits


def test_the_engineer_is_shown_to_the_class_once_all_others_have_their_scores(contest: Contest) -> None:
    contest.enter(Entry(name="Ada", config=CONFIG))
    for number, solved in ((2, 0.5), (3, 0.9)):
        trained(contest, number, solved)
    app = open_page("contest", contest=contest.id, watch="1")
    [race] = components(app, "rows")
    assert [row["name"] for row in race["rows"]] == ["the engineer", "Ada"] and race["rows"][0]["value"] == percent(
        by_cell(contest, 3)["4"]
    )
    assert "4×4: " in read(app) and "Scoreboard" in words(app)


def test_an_entry_in_training_is_seen_by_others_who_have_entered_nothing(contest: Contest, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("Ada", "Bo"):
        contest.enter(Entry(name=name, config=CONFIG))
    monkeypatch.setattr(Contest, "standing", lambda contest, number: "trains" if number == 2 else "waits")
    said = words(open_page("contest", contest=contest.id))
    assert "In training: Ada." in said and "In the queue: the engineer, Bo." in said and "Scoreboard" not in said


def test_an_unknown_contest_leads_to_a_new_one(sessions_folder: Path) -> None:
    app = open_page("contest", contest="moon")
    assert "There is no such contest" in words(app)
    assert app.button(key="contest-begin").label == "Meet Student A"
