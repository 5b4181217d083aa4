"""Several teams on the pages: chosen on Design, sent to Train, shown on the Story, decided on cell by cell."""

from __future__ import annotations

from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from frozenlab.app.design import drafts
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import BoardKind, CellConfig
from frozenlab.lake.suites import SuiteSpec
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore
from tests.builders import build_session, small_spec
from tests.pages.apptest import bare_page, button, open_page, words
from tests.pages.test_design import bars, choose, group, sent, table, turn

pytestmark = pytest.mark.usefixtures("sessions_folder")

MIXED = EnvironmentConfig.uniform((4, 5), agents=(2, 3, 4), hole_ratio=0.2, wait_ratio=0.2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mixed")
    suite = SuiteSpec(agents=(2, 3, 4), sizes=(4, 5), boards_per_cell=24, seed=7)
    build_session(folder, small_spec(stages=2).changed(initial_config=MIXED.model_dump(), suite=suite.model_dump()), "mixed")
    return folder


@pytest.fixture
def design(monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setattr(st, "switch_page", lambda page: None)
    page = bare_page("design")
    choose(page, 4, 5)
    return page


def test_design_gives_each_team_a_row_for_every_size(design: AppTest) -> None:
    turn(design, "2@5", wait_ratio=40).run()
    group(design, "design_teams").set_value([2, 3, 4]).run()
    assert not design.error, "the shares are scaled to 100 %"
    assert list(table(design)["map"]) == ["2 on 4×4", "2 on 5×5", "3 on 4×4", "3 on 5×5", "4 on 4×4", "4 on 5×5"]
    assert bars(design, "wait_ratio")[-1] == 40, "a new team begins like the one that was there"
    config = sent(design)
    assert config.teams == (2, 3, 4) and {round(cell.share, 3) for cell in config.cells.values()} == {0.167}
    turn(design, "3@4", share=50).run()
    button(design, "Normalise").click().run()
    assert sent(design).cells["3@4"].share == max(cell.share for cell in sent(design).cells.values())
    group(design, "design_teams").set_value([3]).run()
    assert sent(design).teams == (3,)
    group(design, "design_teams").set_value([]).run()
    assert "number of agents" in design.info[0].value


def test_design_keeps_layouts_apart_and_takes_any_config_of_cells(design: AppTest, folder: Path) -> None:
    design.session_state["design_layout_menu"] = True
    design.run()
    group(design, "design_apart").set_value(["scatter", "maze"]).run()
    assert list(sent(design).cells) == ["scatter4", "maze4", "scatter5", "maze5"]
    uneven = EnvironmentConfig.of([CellConfig(agents=2, size=6, share=0.25), CellConfig(agents=4, size=5, share=0.75)])
    drafts.save(SessionStore(folder), "uneven", uneven)
    design.run()
    design.selectbox(key="design_saved").set_value("uneven").run()
    assert sent(design) == uneven
    assert design.session_state["design_absent"] == [BoardKind(2, 5), BoardKind(4, 6)]


def test_train_validates_on_the_teams_of_the_config() -> None:
    app = open_page("train")
    app.session_state["design_config"] = MIXED.to_json()
    app.run()
    assert "2, 3 and 4 agents" in words(app)
    assert "2 map sizes with 2, 3 and 4 agents" in " ".join(text.value for text in app.markdown)


def test_the_story_shows_every_cell(folder: Path) -> None:
    app = open_page("story", session="mixed", stage="1")
    assert "Results by team and map size" in [heading.value for heading in app.header]
    said = "".join(words(open_page("story", session="mixed", stage="1", part=part)) for part in ("read", "wrote"))
    assert "3 on 5×5" in said and "Size 5 with 3 agents" in said
    app = open_page("story", session="mixed", stage="1", part="failed")
    assert app.selectbox(key="board_cell").label == "Team and map size"
    app.selectbox(key="board_cell").set_value("4@5").run()
    record = Session(folder / "mixed").proposal(0)
    assert record is not None and all(f'<th scope="row">{n} on {m}×{m}</th>' in said for n in (2, 3, 4) for m in (4, 5))


def test_a_line_of_a_cell_leads_to_its_boards(folder: Path) -> None:
    assert "Size 5 with 3 agents" in words(open_page("story", session="mixed", stage="1", evidence="F3@5"))
