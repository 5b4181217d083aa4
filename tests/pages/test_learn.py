"""The course without a browser: the address, marks, and what a class hands in."""

from __future__ import annotations

import csv
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Sequence
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from frozenlab.app.learn import boards, classroom, records
from frozenlab.app.learn.address import Lesson
from frozenlab.app.learn.chapters import CHAPTERS
from frozenlab.app.ui import nav
from frozenlab.app.views.lake.share import encode
from frozenlab.lake.solvers.solver import solve
from frozenlab.session.store import SessionStore
from tests.pages.apptest import components, open_page, shown, source, words

WRONG = ("DLLU", "LLL")
"""Both take their only shortest path."""


def steered(app: AppTest, plan: Sequence[str] | None = None) -> AppTest:
    """A plan for the board of the chapter *meeting*, by default the best, as the browser sends it, and the button that checks it."""
    moves = plan or solve(boards.SAME_CELL).plan or ()
    app.session_state["learn-meeting-board"] = {"plan": {"base": f"{encode(boards.SAME_CELL)}:", "plan": list(moves)}}
    return app.button(key="learn-meeting-check").click().run()


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.name)
def test_every_chapter_opens_by_its_address(chapter: object) -> None:
    app = open_page("learn", chapter=chapter.name)  # type: ignore[attr-defined]
    assert chapter.idea[-20:] in unescape(words(app))  # type: ignore[attr-defined]


def test_a_wrong_plan_is_told_why_and_a_right_one_counts_in_the_address() -> None:
    app = steered(open_page("learn", chapter="meeting", done="one"), WRONG)
    assert "Step 1: agents 0 and 1 are both on (3, 2). The rule:" in shown(app.error[0].value)
    assert app.query_params["done"] == "one"
    steered(app)
    assert "after 4 steps; the exact solver proves that nothing less is possible" in shown(app.success[0].value)
    assert app.query_params["done"] == "one.meeting"


def test_a_phone_folds_every_idea_after_whole_sentences() -> None:
    for chapter in CHAPTERS:
        first, *rest = chapter.idea.split("\n\n")
        assert first.endswith(".") and rest, chapter.name


def test_a_check_without_a_move_is_no_try() -> None:
    app = steered(open_page("learn", chapter="meeting", **{"class": "mapf"}), ("", ""))
    assert "does not count as a try" in app.info[0].value and not app.error and not app.warning, "nothing is handed in"
    assert not [one for one in app.button if one.key == "learn-hints-meeting-next"]


def test_the_picture_opens_after_the_first_try_or_when_it_is_asked_for() -> None:
    app = open_page("learn", chapter="meeting")
    assert len(components(app, "tracks")) == 0
    assert components(steered(app, WRONG), "tracks")
    other = open_page("learn", chapter="swapping")
    assert components(other.button(key="learn-look-swapping").click().run(), "tracks")
    assert components(open_page("learn", chapter="meeting", done="meeting"), "tracks")


def test_what_the_answer_of_the_model_did_is_shown_after_the_first_try() -> None:
    app = open_page("learn", chapter="model")
    assert not [one for one in app.toggle if one.key == "learn-model-shown"]
    app.radio(key="learn-model-choice").set_value(0).run()
    app.button(key="learn-model-check").click().run()
    assert app.toggle(key="learn-model-shown")


def test_a_wrong_answer_does_not_show_the_path_that_is_asked_for() -> None:
    app = open_page("learn", chapter="spacetime")
    for choice, absent in ((2, [0]), (1, [])):
        app.radio(key="learn-spacetime-choice").set_value(choice).run()
        app.button(key="learn-spacetime-check").click().run()
        assert components(app, "tracks")[0]["tracks"][0]["absent"] == absent


def test_hints_come_one_by_one_after_a_wrong_answer_and_the_best_plan_after_a_right_one() -> None:
    app = open_page("learn", chapter="meeting")
    assert not [one for one in app.button if one.key == "learn-hints-meeting-next"]
    steered(app, WRONG)
    for number in (1, 2, 3):
        app.button(key="learn-hints-meeting-next").click().run()
        assert len(app.info) == number
    assert "agent 1 waits" in app.info[2].value
    steered(app)
    labels = [track["label"] for data in components(app, "tracks") for track in data["tracks"]]
    assert app.button(key="learn-next").label == f"{CHAPTERS[2].title} →"
    assert {"your plan", "the exact solver"} <= set(labels) and "To remember" in words(app) and app.button(key="learn-meeting-play")


def test_one_agent_that_has_arrived_sees_the_flood_under_its_trail_and_no_other_plan() -> None:
    def checked(letters: str) -> dict[str, Any]:
        app.session_state["learn-one-board"] = {"plan": {"base": f"{encode(boards.LONG_WAY)}:", "plan": [letters]}}
        app.button(key="learn-one-check").click().run()
        assert not components(app, "tracks")
        [board] = components(app, "numbers")
        return board

    app, [best] = open_page("learn", chapter="one"), solve(boards.LONG_WAY).plan or ("",)
    assert checked(best[:3])["numbers"] is None, "or the task would be solved for who has not found the way"
    assert checked(f"W{best}")["numbers"][1][5] == len(best) == 14
    assert "15 steps; the exact solver proves that 14 is possible" in shown(app.error[0].value)
    assert "step 1 stayed on 14" in shown(app.error[0].value) and components(app, "numbers")[0]["step"] == 1
    assert checked(best)["numbers"][0][2] == 0 and "every step went one number down, from 14 to 0" in shown(app.success[0].value)


def test_nothing_is_seen_of_a_w_before_it_is_guessed_and_checked() -> None:
    def seen() -> list[str]:
        table = next(one for one in re.findall(r"<table.*?</table>", source(app), re.DOTALL) if "What the search found" in one)
        return re.findall(r'<th scope="row">([^<]+)</th>', table)

    app = open_page("learn", chapter="bounds")
    app.segmented_control(key="learn-bounds-w").set_value(1.1).run()
    assert app.button(key="learn-bounds-check").disabled, "a guess comes first"
    app.select_slider(key="learn-bounds-guess-1.1").set_value(100).run()
    assert seen() == ["1", "2"] and not [one for data in components(app, "tracks") for one in data["tracks"] if one["label"]]
    app.button(key="learn-bounds-check").click().run()
    assert seen() == ["1", "1.1", "2"] and "38 nodes" in shown(app.success[0].value)
    assert "w = 1.1" in [one["label"] for data in components(app, "tracks") for one in data["tracks"]]
    app.segmented_control(key="learn-bounds-w").set_value(1.2).run()
    assert app.select_slider(key="learn-bounds-guess-1.2").value == 0, "each w is guessed anew"
    assert app.button(key="learn-bounds-check").disabled and seen() == ["1", "1.1", "2"]


@pytest.mark.parametrize("name", ["pibt", "lacam", "neighbourhoods"])
def test_planners_plan_when_they_are_asked(name: str) -> None:
    app = open_page("learn", chapter=name, done=name)
    key = {"neighbourhoods": "lns"}.get(name, name)
    app.button(key=f"learn-plan-{key}").click().run()
    assert "What they found" in words(app)


def test_no_path_is_seen_before_the_order_is_checked() -> None:
    def without_path() -> list[int]:
        return components(app, "tracks")[0]["tracks"][0]["absent"]

    app = open_page("learn", chapter="priorities")
    app.pills(key="learn-priorities-order").set_value([1, 2, 0]).run()
    assert without_path() == [0, 1, 2]
    app.button(key="learn-priorities-check").click().run()
    assert without_path() == [] and app.success
    app.pills(key="learn-priorities-order").set_value([1, 2]).run()
    assert without_path() == [0, 1, 2]


def test_trails_of_many_robots_are_short() -> None:
    def tails(**query: str) -> list[int | None]:
        return [data["tail"] for data in components(open_page("learn", **query), "tracks")]

    assert tails(chapter="warehouse") == [2] and tails(chapter="delays") == [None]


def visited(app: AppTest, page: str, **query: str) -> AppTest:
    """The same reader on another page, which the menu leads to without an address, or a link with one."""
    app.switch_page(nav.path(page))
    app.session_state["_nav"] = False  # as in a browser, where every run goes through the entry point
    app.query_params.clear()
    app.query_params.update(query)
    return app.run()


def test_the_menu_leads_back_to_the_same_class_chapter_and_progress(sessions_folder: Path) -> None:
    code = encode(boards.CROSSING)
    app = open_page("learn", chapter="meeting", done="one", boards=code, **{"class": "mapf"})
    steered(app)
    visited(visited(app, "help"), "learn")
    assert app.query_params == {"chapter": "meeting", "done": "one.meeting", "class": "mapf", "boards": code}
    assert app.text_input(key="learn-name") and "1. One agent ✓" in app.pills(key="learn-chapters").options


def test_back_leads_to_the_first_chapter_as_to_any_other() -> None:
    app = open_page("learn", done="one", **{"class": "mapf"})
    for number in (1, 2):
        app.button(key=f"learn-to-{number}").click().run()
    assert CHAPTERS[2].idea[:20] in words(app) and app.query_params["chapter"] == CHAPTERS[2].name
    for query, number in (({"chapter": "meeting"}, 1), ({}, 0)):  # two times Back, to addresses as they were
        app.query_params.clear()
        app.query_params.update({"done": "one", "class": "mapf", **query})
        assert CHAPTERS[number].idea[:20] in words(app.run()), number
    assert app.query_params == {"done": "one", "class": "mapf"}


def test_a_link_with_another_class_takes_the_place_of_the_class_and_its_boards(sessions_folder: Path) -> None:
    app = open_page("learn", done="one", boards=encode(boards.CROSSING), **{"class": "mapf"})
    visited(visited(app, "help"), "learn", done="aims", **{"class": "other"})
    assert app.query_params == {"done": "one.aims", "class": "other"}


def test_a_class_needs_names_and_its_answers_are_kept(sessions_folder: Path) -> None:
    app = steered(open_page("learn", chapter="meeting", **{"class": "mapf"}), WRONG)
    assert "Write your name at the top" in app.warning[0].value
    app.text_input(key="learn-name").set_value("Ada").run()
    steered(app)
    assert str(records.standings("mapf", SessionStore())["Ada"]["meeting"]) == "✓ 1 try"


def test_the_teacher_plans_a_lesson_and_sees_who_has_solved_what_and_what_went_wrong(sessions_folder: Path) -> None:
    for learner, plan in (("Ada", None), ("Bo", WRONG)):
        app = open_page("learn", chapter="meeting", **{"class": "mapf"})
        app.text_input(key="learn-name").set_value(learner).run()
        steered(app, plan)
    app = open_page("classroom", lesson="mapf")
    said = words(app)
    assert "2. Two on one cell" in said and "✓ 1" in said and "1<i> · two agents on one cell" in said
    assert "Does the team take longer" in said and "1 exercise solved" in said
    app.toggle(key="class-nameless").set_value(True).run()
    said = words(app)
    assert "<b>1</b> of 2" in said and "1 × two agents on one cell" in said and "Ada" not in said
    app.toggle(key="class-nameless").set_value(False).run()
    app.session_state["presenter"] = True
    assert "Ada" in words(app) and "Ada" not in words(app.run()), "a projector shows no names unless asked"
    app.session_state["presenter"] = False
    app.run()
    app.multiselect(key="class-chapters").set_value(["pibt", "one"]).run()
    link = app.code[0].value
    assert "class=mapf" in link and "chapters=pibt.one" in link
    assert open_page("learn", chapters="pibt.one", **{"class": "mapf"}).pills(key="learn-chapters").options == [
        "1. Fast but not optimal", "2. One agent",
    ]  # fmt: skip


def test_the_teacher_reads_what_several_pupils_are_stuck_at_and_what_is_no_part_of_the_lesson(sessions_folder: Path) -> None:
    for learner, chapter, fault in (("Ada", "waiting", "late"), ("Bo", "meeting", "two on one cell"), ("Bo", "lacam", "no plan")):
        records.hand_in("mapf", learner, chapter, False, SessionStore(), fault)
    assert "stuck" not in words(open_page("classroom", lesson="mapf")), "each has a trouble of its own"
    records.hand_in("mapf", "Ada", "meeting", False, SessionStore(), "two on one cell")
    said = words(open_page("classroom", lesson="mapf"))
    assert "2 pupils are stuck at **2. Two on one cell**: two on one cell." in said and "Extra: LaCAM: complete and fast" in said
    records.hand_in("mapf", "Ada", "meeting", True, SessionStore())
    assert "stuck" not in words(open_page("classroom", lesson="mapf"))


def test_the_lesson_begins_with_joining_and_its_minutes_add_up(sessions_folder: Path) -> None:
    found = re.findall(r'<th scope="row">([^<]+)</th><td[^>]*>(\d+) to (\d+)</td>', source(open_page("classroom")))
    rows = [(name, int(begin), int(end) - int(begin)) for name, begin, end in found]
    assert (rows[0], rows[-1]) == (("Join", 0, 3), ("Recap", 41, 4))
    assert sum(minutes for *_, minutes in rows) == 45


def test_a_class_sees_the_pages_of_pupils_only(sessions_folder: Path) -> None:
    def to_teachers(**query: str) -> bool:
        return any("For teachers" in link.proto.label for link in open_page("learn", **query).get("page_link"))

    assert to_teachers() and not to_teachers(**{"class": "mapf"})


def test_a_link_with_broken_boards_opens_the_course_and_says_so() -> None:
    app = open_page("learn", boards="nonsense!")
    assert "cannot be read" in app.warning[0].value


def test_a_class_with_a_name_that_cannot_be_used_is_refused(sessions_folder: Path) -> None:
    app = steered(open_page("learn", chapter="meeting", **{"class": "../up"}), WRONG)
    app.text_input(key="learn-name").set_value("Ada").run()
    steered(app, WRONG)
    assert "is no name of a class" in shown(app.warning[0].value)
    assert not list(sessions_folder.rglob("*.jsonl"))


def test_capitals_and_spaces_in_the_name_of_a_class_are_made_small_letters_and_hyphens(sessions_folder: Path) -> None:
    app = open_page("classroom")
    app.text_input(key="class-name").set_value(" 7B maths").run()
    assert not app.error and app.code[0].value.endswith("class=7b-maths&chapters=one.meeting.swapping.waiting.spacetime.pibt")
    assert "Class **7b-maths**" in words(open_page("learn", **{"class": "7B maths"})), "also for who types the address"
    assert "is no name of a class" in shown(open_page("classroom", lesson="7b/maths").error[0].value)


def test_a_learners_name_runs_nothing_in_the_teachers_spreadsheet(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved: list[Callable[[], bytes]] = []
    for name in ('=HYPERLINK("http://x.example","me")', "+1+1", "-2+3", "@SUM(A1)", "＝1+1", "Zoë"):
        records.hand_in("mapf", name, "swapping", True, SessionStore())
    monkeypatch.setattr("streamlit.download_button", lambda label, data, *_, **__: saved.append(data))
    classroom.results(Lesson("mapf"))
    (head, *rows) = csv.reader(saved[0]().decode("utf-8-sig").splitlines())
    assert head[0] == "pupil" and "Zoë" in [row[0] for row in rows]
    assert [row[0][0] for row in rows] == ["'", "'", "'", "'", "'", "Z"] and {row[3] for row in rows} == {"✓ 1 try"}
    assert saved[0]().startswith(BOM_UTF8), "or Excel shows other letters"
