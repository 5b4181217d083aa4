from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from frozenlab.app.replays.figures import panels_of, proposals_figure, traces
from frozenlab.app.ui.figures import AFTER_COLOR, BEFORE_COLOR, REWARD_COLOR
from frozenlab.engineer import hosts
from frozenlab.engineer.engineers import UNATTENDED, name_of
from frozenlab.engineer.sections import USUAL
from frozenlab.experiments.replays.report import compared, proposals, sentences
from frozenlab.experiments.replays.store import Replay
from frozenlab.experiments.replays.task import ReplayTask
from tests.builders import build_session, small_spec
from tests.kinds import asked
from tests.pages.apptest import open_page, tables, words
from tests.pages.conftest import note_starts


@pytest.fixture
def alone(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty sessions folder, and no recorded replays beside it."""
    monkeypatch.setattr("frozenlab.experiments.replays.store.Replay.shipped", list)
    return sessions_folder


@pytest.fixture
def started(alone: Path, monkeypatch: pytest.MonkeyPatch) -> list[ReplayTask]:
    """The tasks of the replays that a page started; no worker runs."""
    return note_starts(monkeypatch, Replay, Replay.create)


@pytest.mark.parametrize("replay", Replay.shipped(), ids=lambda replay: replay.id)
def test_a_recorded_replay_opens_by_its_address(replay: Replay) -> None:
    app = open_page("replay", replay=f"recorded-{replay.id}")
    assert not app.warning
    lines = sentences(compared(proposals(replay.answers()), replay.spec.reference), replay.spec)
    assert lines[1][:60] in words(app)
    assert len(app.get("plotly_chart")) == 1
    [table] = tables(app)
    assert table["arm"].tolist() == [name_of(arm.name) for arm in replay.spec.arms] and (table["answers"] == replay.spec.samples).all()
    assert app.query_params["arm"] == replay.spec.reference and app.query_params["answer"] == "1"
    assert {button.proto.label for button in app.get("download_button")} == {"CSV", "JSON"}


def test_without_an_address_there_is_something_to_see_and_the_address_names_it() -> None:
    app = open_page("replay")
    assert str(app.query_params["replay"]).startswith("recorded-") and len(app.get("plotly_chart")) == 1
    assert "no such replay" in open_page("replay", replay="<script>").warning[0].value


def test_one_answer_is_shown_as_the_address_says_and_another_can_be_chosen(alone: Path) -> None:
    replay = asked(alone)
    app = open_page("replay", replay="mine", arm="rules", answer="3")
    record = next(answer.record for answer in replay.answers() if (answer.arm, answer.sample) == ("rules", 2))
    assert record.proposal is not None and record.proposal.summary in words(app)
    app.selectbox(key="replay-arm").select("fixed").run()
    assert (app.query_params["arm"], app.query_params["answer"]) == ("fixed", "3")
    assert "kept the config as it was" in words(app)
    app.selectbox(key="replay-answer").select(4).run()
    assert app.query_params["answer"] == "4"
    for number in ("99", "²", "٣", "9" * 5000):
        fallen_back = open_page("replay", replay="mine", arm="nobody", answer=number)
        assert (fallen_back.query_params["arm"], fallen_back.query_params["answer"]) == ("rules", "1")


def test_a_replay_outlives_its_session(alone: Path) -> None:
    asked(alone)
    shutil.rmtree(alone / "built")
    app = open_page("replay", replay="mine")
    assert "built, which is not here any more" in words(app)
    assert len(app.get("plotly_chart")) == 1


def test_the_form_is_filled_for_the_stage_of_the_address(started: list[ReplayTask], alone: Path) -> None:
    build_session(alone)
    app = open_page("replay", session="built", stage="2")
    assert "The engineer policy needs the weights of stage 2" in words(app)
    assert app.selectbox(key="replay-who-built-1").value == "base"
    assert "128 answers" in words(app)
    app.selectbox(key="replay-kind").select("leave-one-out").run()
    app.selectbox(key="replay-who-built-1").select("rules").run()
    app.number_input(key="replay-samples").set_value(5).run()
    app.button(key="replay-start").click().run()
    [task] = started
    assert (task.session, task.stage, task.samples) == ("built", 1, 5)
    assert [arm.name for arm in task.arms] == ["all", *(f"no-{section}" for section in USUAL)]
    assert {arm.engineer.kind for arm in task.arms} == {"rules"}
    assert app.query_params["replay"] == "started-1" and "session" not in app.query_params
    app.button(key="replay-new").click().run()
    assert (app.query_params["session"], app.query_params["stage"]) == ("built", "2") and "replay" not in app.query_params


def test_engineers_are_asked_side_by_side_and_one_behind_an_api_is_estimated(
    started: list[ReplayTask], alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(hosts.VARIABLE, "127.0.0.1:9")
    build_session(alone, small_spec(engineer="rules"))
    app = open_page("replay", session="built", stage="1")
    app.selectbox(key="replay-kind").select("engineers").run()
    chosen = app.multiselect(key="replay-engineers-built-0")
    assert chosen.value == [name for name in UNATTENDED if name not in ("policy", "api")]
    chosen.set_value(["fixed", "rules", "api"]).run()
    assert "name the model behind the API" in app.warning[0].value
    app.text_input(key="replay-api_model").set_value("told").run()
    assert "16 requests, about" in words(app) and "at prices that are not known" in words(app)
    app.number_input(key="replay-api_input_price").set_value(2.0).run()
    app.number_input(key="replay-api_output_price").set_value(8.0).run()
    assert "which cost at most" in words(app)
    app.text_input(key="replay-api_base_url").set_value("nowhere").run()
    assert "This cannot be asked: base\\_url" in app.warning[0].value
    app.text_input(key="replay-api_base_url").set_value("http://127.0.0.1:9/v1").run()
    app.button(key="replay-start").click().run()
    [task] = started
    assert [arm.name for arm in task.arms] == ["rules", "api", "fixed"]
    assert task.arms[1].engineer.input_price == 2.0


def test_before_training_there_is_nothing_to_ask_about(alone: Path) -> None:
    build_session(alone)
    app = open_page("replay", session="built", stage="0")
    assert "Nothing has been validated here" in app.info[0].value and not app.get("button_group")


def test_the_empty_page_offers_the_newest_stage_that_can_be_asked_about(started: list[ReplayTask], alone: Path) -> None:
    app = open_page("replay")
    assert "No finished stage" in app.info[0].value
    build_session(alone, small_spec(engineer="rules"))
    app = open_page("replay")
    assert "There is no replay yet" in app.info[0].value
    app.button(key="replay-first").click().run()
    [task] = started
    assert (task.session, task.stage, len(task.arms)) == ("built", 2, 8)


def test_the_figure_shows_agreement_and_the_direction_of_each_arm(alone: Path) -> None:
    replay = asked(alone)
    answers, arms = replay.answers(), [arm.name for arm in replay.spec.arms]
    before, table = answers[0].record.config_before, proposals(answers)
    panel = panels_of(table, before, "hole_ratio")["6"]
    counts = panel.groups.groupby("arm")["answers"].sum()
    assert counts.to_dict() == {"rules": 4, "random": 4, "fixed": 4}
    fixed = panel.groups[panel.groups["arm"] == "fixed"].iloc[0]
    assert (fixed["answers"], fixed["of"], fixed["value"]) == (4, 4, panel.before)
    *_, means = traces(panel, arms)
    signs = [float(panel.means[arm]) - panel.before for arm in arms]
    expected = [BEFORE_COLOR if abs(change) <= 0.005 else REWARD_COLOR if change > 0 else AFTER_COLOR for change in signs]
    assert list(means["marker"]["color"]) == expected and expected[arms.index("fixed")] == BEFORE_COLOR
    chart = proposals_figure(table, before, arms)
    assert all(f"{arm}: 3×3 share" in chart.alt for arm in arms)
    constant = proposals_figure(table.assign(wait_ratio=0.2), before, arms)
    names = [note.text for note in constant.figure.layout.annotations]
    assert "<b>hole ratio</b>" in names and "<b>wait ratio</b>" not in names, "what no answer turns is not drawn"
