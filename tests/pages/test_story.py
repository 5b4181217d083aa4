from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from frozenlab.app.story.parts import where_it_lost
from frozenlab.base.numbers import MANY, points, signed
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.session.ledger import predictions, score
from frozenlab.session.presets import preset_spec
from frozenlab.session.session import Session
from tests.builders import build_session, small_spec
from tests.pages.apptest import components, open_page, words

TINY = small_spec(stages=1, sizes=(4, 5), boards_per_size=4)
pytestmark = pytest.mark.usefixtures("sessions_folder")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("story")
    build_session(folder, session_id="whole")
    build_session(folder, session_id="broken", broken_stage=0)
    return folder


@pytest.fixture
def whole(folder: Path) -> Session:
    return Session(folder / "whole")


def story(stage: str | None = "1", part: str | None = None, session: str = "whole", **query: str) -> AppTest:
    address = {"session": session, "stage": stage, "part": part} | query
    return open_page("story", **{name: value for name, value in address.items() if value is not None})


seen = cache(story)
"""The page, opened once for all tests that only look at it."""


def answer(app: AppTest) -> str:
    found = next(text for element in app.get("html") if 'class="fl-answer"' in (text := element.proto.body))
    return found.replace("\N{NO-BREAK SPACE}", " ")


def contents(app: AppTest) -> dict[str, Any]:
    """What the bar with the parts of the page was given."""
    return components(app, "parts")[0]


def played(app: AppTest) -> list[str]:
    """The labels of the plans in the player."""
    return [track["label"] for data in components(app, "tracks") for track in data["tracks"]]


def engineers_parts(session: str, stage: str = "1") -> str:
    """What the parts about the engineer say."""
    return "".join(words(story(stage, part, session)) for part in ("read", "wrote"))


def test_a_stage_shows_its_results_the_change_and_whether_it_was_right(whole: Session) -> None:
    before, after = (100 * whole.validation(stage)["valid"].mean() for stage in (None, 0))
    assert f"Stage 1 took valid plans from {before:.0f} % to <b>{after:.0f} %</b>" in answer(seen())
    assert re.search(r"[Ii]t predicted \S+ points of valid plans; the next stage brought \S+\.", answer(seen()))
    said, proposal = words(seen(part="wrote")), whole.proposal(0).proposal
    assert proposal.summary in said and proposal.claims[0].evidence[0] in said
    assert "Layouts of its boards" not in said, "all are scattered"


def test_a_stage_that_lost_boards_says_where() -> None:
    before = pd.DataFrame({"board_id": list("abcd"), "config_cell": list("3344"), "valid": [True, True, True, False]})
    after = before.assign(valid=[False, False, False, True])
    assert where_it_lost(before, after).startswith("Most went on 3×3: 2 net of 2.")


@pytest.mark.parametrize(
    "part, charts",
    [
        ("happened", {"story-rates", "faults"}),
        ("failed", set()),
        ("read", set()),
        ("wrote", set()),
        ("right", {"changes", "ledger-changes"}),
        ("session", {"over-stages", "config-map"}),
    ],
)
def test_each_question_has_a_part_of_the_page(part: str, charts: set[str]) -> None:
    app = seen(part=part)
    assert {chart.key for chart in app.get("plotly_chart")} == charts
    assert contents(app)["open"] == part


def test_the_plan_from_before_the_stage_is_shown_on_demand() -> None:
    app = story(part="failed")
    assert played(app) == ["after stage 1", "optimal plan"]
    app.segmented_control(key="story-board-plans").set_value("also before").run()
    assert played(app) == ["before training", "after stage 1", "optimal plan"]
    app.segmented_control(key="story-board-plans").set_value("every stage").run()
    assert played(app) == ["Before training", "Stage 1", "Stage 2", "Stage 3", "optimal plan"]


def test_it_says_how_the_session_was_trained(elsewhere: Path) -> None:
    imitation = TINY.training.model_copy(update={"method": "imitation"})
    theirs = {"policy": "Qwen/Qwen3-0.6B", "language": preset_spec("qwen3-0.6b").language}
    for name, changed in {"whole": {}, "shown": {"training": imitation}, "language": theirs}.items():
        build_session(elsewhere, TINY.model_copy(update=changed), name)
    assert "GRPO · engineer: the model itself · 1 stage" in words(story(session="whole"))
    assert "imitation · engineer: the model itself · 1 stage" in words(story(session="shown"))
    said = words(story(part="read", session="shown"))
    assert "Training by imitation: sampled plans score" in said
    assert "mean reward" not in said
    assert "Qwen3-0.6B · GRPO · engineer: the model itself · 1 stage" in words(story(session="language"))


def test_the_section_that_was_off_is_shown_off() -> None:
    app = seen(part="read")
    assert "history · off" in [tab.label for tab in app.tabs]
    assert any("switched off" in info.value for info in app.info)


def test_prompt_and_raw_answer_stand_to_the_letter(whole: Session) -> None:
    assert whole.context(1).prompt in [code.value for code in seen("2", "read").code]
    assert whole.proposal(1).attempts[0].raw in [code.value for code in seen("2", "wrote").code]


def test_what_is_proposed_after_the_last_stage_is_no_change() -> None:
    said, app = answer(seen("3")), seen("3", "wrote")
    assert "was never trained on" in said and "It predicted" not in said and "Then the model itself" not in said
    heads = [head.value for head in app.header]
    assert "What it would train on next; nobody did" in heads and "What changed in the config" not in heads
    labels = [expander.label for expander in app.expander]
    assert not any(label.startswith("What if?") for label in labels)
    assert "guard: asked for" in words(app) and any("The guard repaired" in label for label in labels)


def test_before_training_there_is_only_the_base(whole: Session) -> None:
    rate = 100 * whole.validation(None)["valid"].mean()
    assert f"Before training, <b>{rate:.0f} %</b> of its plans are valid." in answer(seen("0"))
    parts = {part["id"] for part in contents(seen("0"))["parts"]}
    assert {"read", "wrote", "right"} & parts == {"right"}, "the ledger is that of the session"


def test_an_unusable_answer_is_named_and_shown_as_text() -> None:
    app = story(part="wrote", session="broken")
    assert any("The previous config was kept." in warning.value for warning in app.warning)
    assert "answers used" not in words(seen()) and "2 of 3 answers used" in words(whole := story(session="broken"))
    assert "gave no answer that could be used" in answer(whole)
    assert "size3 size3 ![x](http://example.com/x)" in [code.value for code in app.code]
    assert not any("![x](" in element.value for element in [*app.markdown, *app.warning, *app.caption])


def test_it_opens_at_the_first_stage_that_changed_something_and_was_tested(whole: Session) -> None:
    assert whole.proposal(0).changes
    app = story(stage=None)
    assert "Stage 1 took" in answer(app) and "It predicted" in answer(app)
    assert app.query_params["session"] == "whole"
    assert "Stage 2 took" in answer(story(None, session="broken")), "after its stage 1 the config was kept"


def test_every_part_is_in_the_contents_with_the_stages_around() -> None:
    given = contents(seen("2"))
    assert [part["title"] for part in given["parts"]] == [
        "What happened", "What failed", "What it read", "What it wrote", "Was it right?", "The whole session",
    ]  # fmt: skip
    assert given["open"] == "happened" and [mark["id"] for mark in given["stages"]] == [1, 2, 3]
    assert contents(seen("0"))["stages"][0] is None and contents(seen("3", "wrote"))["stages"][2] is None


def test_a_part_that_a_stage_does_not_have_gives_way_to_the_first() -> None:
    assert contents(story("0", "wrote"))["open"] == "happened"
    assert contents(story("1", "<b>"))["open"] == "happened"


@pytest.mark.parametrize("stage", ["9", "-1", "x"])
def test_a_stage_that_does_not_exist_falls_back_to_where_the_page_opens(stage: str) -> None:
    assert "Stage 1 took" in answer(story(stage))


def test_a_missing_session_is_reported() -> None:
    app = open_page("story", session="../../etc")
    assert any("There is no session of that name here" in warning.value for warning in app.warning)


def test_boards_can_be_chosen_by_size_and_outcome(whole: Session) -> None:
    app = story(part="failed")
    assert app.selectbox(key="board_outcome").value == "failed"
    app.selectbox(key="board_cell").set_value("6").run()
    app.selectbox(key="board_outcome").set_value("failed").run()
    after = whole.validation(0)
    wanted = after[(after["size"] == 6) & ~after["valid"]]
    assert f"{len(wanted)} of 48 boards" in words(app)
    assert any(f"**{board_id}**" in words(app) for board_id in wanted["board_id"])
    assert app.query_params["cell"] == "6" and "outcome" not in app.query_params, "the usual one"


def test_an_address_opens_a_board_of_a_size_and_an_outcome(whole: Session) -> None:
    after = whole.validation(0)
    board_id = after[(after["size"] == 6) & after["valid"]]["board_id"].iloc[-1]
    app = story(part="failed", cell="6", outcome="all boards", board=board_id)
    assert (app.selectbox(key="board_cell").value, app.selectbox(key="board_outcome").value) == ("6", "all boards")
    assert f"**{board_id}**" in words(app)
    assert app.query_params["board"] == board_id
    app.selectbox(key="board_cell").set_value(None).run()
    assert "cell" not in app.query_params


def test_a_click_on_a_bar_leads_to_its_boards() -> None:
    app = story(part="failed")
    assert app.selectbox(key="board_cell").value is None
    assert not app.selectbox(key="board_cell").proto.set_value, "the box would say Choose an option, and not all"
    app.session_state["board_cell"] = "5"
    app.session_state["board_outcome"] = "hole"
    app.run()
    assert app.selectbox(key="board_cell").value == "5"


def test_an_empty_lab_offers_the_quick_session(elsewhere: Path) -> None:
    assert [button.key for button in open_page("story").button] == ["start-quick"]


def test_layouts_are_shown_where_boards_are_not_all_scattered(elsewhere: Path) -> None:
    config = EnvironmentConfig.uniform((4, 5), layouts={"rooms": 0.5, "open": 0.5})
    build_session(elsewhere, TINY.model_copy(update={"initial_config": config}), "laid-out")
    said = engineers_parts("laid-out")
    assert "Layouts of its boards" in said and ">rooms</th>" in said and "50 % rooms, 50 % open boards" in said


def test_a_line_of_evidence_is_followed_by_its_link_to_its_boards(whole: Session) -> None:
    line = next(line for line in whole.context(0).sections["failures"] if line.boards)
    said = words(story(evidence=line.id))
    assert f"Validation boards on which it failed: {len(line.boards)}." in said and f"**{line.boards[0]}**" in said


def test_a_missing_line_of_evidence_is_reported_and_dropped_from_the_address() -> None:
    app = story(evidence="F99")
    assert any("saw no line F99" in toast.value for toast in app.toast)
    assert "evidence" not in app.query_params


def test_the_ledger_compares_predicted_with_measured_changes_and_names_their_source(whole: Session) -> None:
    scored, said = score("policy", predictions(whole)), words(seen(part="right"))
    assert f"It predicted {points(scored.predicted, MANY)} on average; the next stages brought {signed(scored.measured, MANY)}**" in said
    assert f"** (n = {scored.n} predictions)" in said
    assert "win back of a fall below the usual rate" in said and "Measured on validation boards, which the engineer saw too" in said


def test_results_are_those_of_the_test_boards_and_what_was_proposed_first_is_shown(elsewhere: Path) -> None:
    spec = small_spec(stages=2, sizes=(3, 4), boards_per_size=6, ask_first=True)
    session = build_session(elsewhere, spec.changed(test=spec.suite.model_copy(update={"boards_per_cell": 9, "seed": 8})), "sealed")
    for stage in ("0", "1"):
        app, said = story(stage, session="sealed"), engineers_parts("sealed", stage)
        assert "results on test boards, which no engineer saw" in words(app)
        assert ("It was on, and had nothing to say before training." in said) == (stage == "0")
        assert session.proposal(None if stage == "0" else 0).proposal.summary in said
        assert re.search(r"[Ii]t predicted \S+ points of valid plans; the next stage brought \S+\.", answer(app))
        before = 100 * session.test(None)["valid"].mean()
        assert stage == "1" or f"Before training, <b>{before:.0f} %</b> of its plans are valid." in answer(app)


def test_the_map_is_coloured_by_what_the_link_says() -> None:
    app = story(part="session", shade="learnability")
    chart = next(json.loads(element.proto.spec) for element in app.get("plotly_chart") if element.key == "config-map")
    assert chart["layout"]["coloraxis"]["colorbar"]["title"]["text"] == "mix of outcomes<br>in training"


@pytest.fixture
def submitted(monkeypatch: pytest.MonkeyPatch) -> list[Session]:
    """The sessions that a page put into the queue; no worker runs."""
    found: list[Session] = []
    monkeypatch.setattr("frozenlab.session.launch.submit", lambda session, *_: found.append(session))
    return found


def test_rejecting_a_size_forks_the_session_and_trains_on_what_it_was(whole: Session, submitted: list[Session]) -> None:
    record = whole.proposal(0)
    cell = next(change.cell for change in record.changes if change.knob == "hole_ratio")
    app = story(part="wrote")
    app.segmented_control(key=f"fork-whole-0-{cell}-verdict").set_value("reject").run()
    assert app.number_input(key=f"fork-whole-0-{cell}-hole_ratio").value == 100 * record.config_before.cells[cell].hole_ratio
    app.text_input(key="fork-whole-0-why").set_value("Leave it.").run()
    app.button(key="fork-go").click().run()
    (forked,) = submitted
    given = forked.given(0)
    assert given.summary == "Leave it." and forked.spec.parent.session == "whole"
    assert given.config.cells[cell].hole_ratio == record.config_before.cells[cell].hole_ratio
    others = [other for other in record.config_after.cells if other != cell]
    assert all(given.config.cells[other].hole_ratio == record.config_after.cells[other].hole_ratio for other in others)
    assert app.query_params["session"] == forked.id
    labels = [link.proto.label for link in story(None, "session").get("page_link")]
    assert any(label.endswith("the first session · shown here") for label in labels)
    assert any(label.endswith("parts after stage 1") for label in labels)


@pytest.fixture
def asked(elsewhere: Path) -> Session:
    """A session that waits for a person."""
    session = build_session(elsewhere, TINY.changed(stages=2, engineer="human"), "asked", finished_stages=1)
    (session.stage_dir(0) / "proposal.json").unlink()
    state = session.state().model_copy(update={"status": "waiting", "stage": 0, "phase": "proposing"})
    (session.dir / "state.json").write_text(state.model_dump_json())
    return session


def test_a_session_that_waits_is_answered_on_its_story(asked: Session, submitted: list[Session]) -> None:
    session = asked
    app = story(session="asked")
    assert "What should it train on next?" in [head.value for head in app.header]
    app.number_input(key="turn-asked-0-4-hole_ratio").set_value(95.0).run()
    assert any("The guard will repair" in warning.value for warning in app.warning)
    app.number_input(key="turn-asked-0-4-expected").set_value(40.0).run()
    app.button(key="turn-go").click().run()
    assert [job.id for job in submitted] == ["asked"]
    given = session.given(0)
    assert given.config.cells["4"].hole_ratio == 0.95 and {claim.expected for claim in given.claims if claim.cell == "4"} == {0.4}


def entries(app: AppTest, form: str) -> dict[str, Any]:
    """What the inputs of a form hold, by their keys."""
    drawn = [*app.number_input, *app.text_input, *app.multiselect, *app.selectbox]
    return {one.key: one.value for one in drawn if one.key.startswith(form)}


@pytest.mark.parametrize("form, session", [("turn-asked-0-", "asked"), ("fork-whole-0-", "whole")])
def test_what_was_entered_outlives_every_other_part_of_the_page(asked: Session, elsewhere: Path, form: str, session: str) -> None:
    build_session(elsewhere, session_id="whole")
    app = story(part="wrote", session=session)
    for one in (one for one in [*app.number_input, *app.text_input, *app.multiselect, *app.selectbox] if one.key.startswith(form)):
        one.set_value({"number_input": 37.5, "text_input": "mine", "selectbox": "rules"}.get(one.type) or one.options[:1])
    app.run()
    entered = entries(app, form)
    assert set(map(str, entered.values())) >= {"37.5", "mine"}
    (kept,) = (data for data in components(app, "fresh"))
    assert kept["values"] | entered == kept["values"] and not kept["fresh"], "the browser keeps it too"
    for part in ("happened", "failed", "read", "right", "session", "wrote"):
        app.query_params["part"] = part
        app.run()
    assert entries(app, form) == entered


def test_who_changed_nothing_is_asked_before_it_trains(asked: Session, submitted: list[Session]) -> None:
    app = story(session="asked")
    app.button(key="turn-go").click().run()
    assert not submitted and asked.given(0) is None
    app.button(key="turn-go").click()  # else the run would not draw the dialog
    app.button(key="turn-yes").click().run()
    assert [job.id for job in submitted] == ["asked"] and asked.given(0).config == asked.environment(0).config


def test_a_number_is_kept_if_the_browser_still_says_accept_with_the_next(whole: Session) -> None:
    app, cell = story(part="wrote"), next(iter(whole.proposal(0).config_after.cells))
    app.number_input(key=f"fork-whole-0-{cell}-share").set_value(31.0).run()
    assert app.segmented_control(key=f"fork-whole-0-{cell}-verdict").value == "edit"
    app.number_input(key=f"fork-whole-0-{cell}-hole_ratio").set_value(32.0)
    app.segmented_control(key=f"fork-whole-0-{cell}-verdict").set_value("accept").run()
    numbers = [app.number_input(key=f"fork-whole-0-{cell}-{knob}").value for knob in ("share", "hole_ratio")]
    assert numbers == [31.0, 32.0] and app.segmented_control(key=f"fork-whole-0-{cell}-verdict").value == "edit"


@pytest.mark.parametrize(("verdict", "kept"), [("reject", False), ("edit", True)])
def test_proposed_layouts_can_be_rejected_and_outlast_an_edit(elsewhere: Path, submitted: list[Session], verdict: str, kept: bool) -> None:
    session = build_session(elsewhere, session_id="whole")
    record = session.proposal(0)
    cell, after = next(iter(record.config_after.cells)), record.config_before.cells
    rooms = record.config_before.with_cells(after | {"5": after["5"].model_copy(update={"layouts": {"rooms": 1.0}})})
    proposal = session.stage_dir(0) / "proposal.json"
    proposal.write_text(record.model_copy(update={"config_after": rooms, "changes": ()}).model_dump_json())
    app = story(part="wrote")
    assert app.segmented_control(key="fork-whole-0-5-verdict").value == "accept" and cell != "5"
    app.segmented_control(key="fork-whole-0-5-verdict").set_value(verdict).run()
    app.number_input(key=f"fork-whole-0-{'5' if kept else cell}-hole_ratio").set_value(27.5).run()
    app.button(key="fork-go").click().run()
    assert submitted[0].given(0).config.cells["5"].layouts == (rooms if kept else record.config_before).cells["5"].layouts
