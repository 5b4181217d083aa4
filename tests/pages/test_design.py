"""The Design page without a browser: knobs, balance, feasibility, the sample, the shelf, and the way to Train."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.lake.config import EnvironmentConfig
from core.sessions.store import SessionStore
from core.ui import drafts

PAGE = str(Path(__file__).parents[2] / "pages" / "design.py")


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path))
    at = AppTest.from_file(PAGE, default_timeout=120)
    at.session_state["_nav"] = True
    return at


def button(at: AppTest, label: str):
    return next(found for found in at.button if found.label == label)


def table(at: AppTest) -> pd.DataFrame:
    return at.dataframe[0].value


def choose(at: AppTest, *sizes: int, agents: int = 2) -> None:
    """Starts over with ``sizes`` in equal shares."""
    config = EnvironmentConfig.uniform(sizes, agents)
    at.session_state["design_agents"] = agents
    at.session_state["design_sizes"] = list(sizes)
    at.session_state["design_exact"] = drafts.cells_of(config)
    for size, knobs in drafts.cells_of(config).items():
        for knob, value in knobs.items():
            at.session_state[f"design_{size}_{knob}"] = round(100 * value)
    at.run()


def test_it_opens_on_the_config_of_the_quick_session_with_boards_drawn_from_it(page: AppTest) -> None:
    page.run()
    assert not page.exception and not page.error
    expected = drafts.PRESETS["Quick session"][0]
    assert list(table(page)["map"]) == [f"{size}×{size}" for size in expected.sizes]
    assert table(page)["boards"].sum() == 48
    (player,) = [data for data in map(json.loads, (e.proto.json for e in page.get("bidi_component"))) if "tracks" in data]
    assert player["tracks"][0]["outcome"] == "optimal"


def test_what_is_drawn_follows_the_knobs(page: AppTest) -> None:
    choose(page, 4, 5)
    page.slider(key="design_5_wait_ratio").set_value(100)
    page.slider(key="design_4_hole_ratio").set_value(0).run()
    drawn = table(page).set_index("map")
    assert drawn.loc["5×5", "must wait, asked → drawn"] == "100% → 100%"
    assert drawn.loc["4×4", "holes, asked → drawn"] == "0% → 0%"


def test_shares_out_of_balance_block_and_a_button_balances_them(page: AppTest) -> None:
    choose(page, 4, 5, 6)
    page.slider(key="design_6_share").set_value(100).run()
    assert button(page, "Train with this config").disabled and any("sum to 167%" in text.value for text in page.markdown)
    button(page, "Normalise").click().run()
    assert not button(page, "Train with this config").disabled
    assert [page.slider(key=f"design_{size}_share").value for size in (4, 5, 6)] == [20, 20, 60]
    drawn = table(page).set_index("map")
    assert drawn.loc["6×6", "boards"] == round(48 * 0.6)


def test_thirds_stay_thirds(page: AppTest) -> None:
    choose(page, 4, 5, 6)
    assert page.slider(key="design_4_share").value == 33 and not button(page, "Train with this config").disabled


def test_what_cannot_be_drawn_is_refused_with_the_reason(page: AppTest) -> None:
    choose(page, 3, agents=4)
    page.slider(key="design_3_hole_ratio").set_value(60).run()
    assert "8" in page.error[0].value and button(page, "Train with this config").disabled
    assert not page.dataframe


def test_no_size_is_no_config(page: AppTest) -> None:
    choose(page, 4)
    page.session_state["design_sizes"] = []
    page.run()
    assert not page.exception and button(page, "Train with this config").disabled


@pytest.mark.parametrize("name", drafts.PRESETS)
def test_every_preset_can_be_drawn(page: AppTest, name: str) -> None:
    page.run()
    page.session_state["design_n"] = 12
    pills = next(pills for pills in page.button_group if pills.key == "design_preset")
    pills.set_value([name]).run()
    assert not page.exception and not page.error
    assert table(page)["boards"].sum() == 12


def test_the_config_goes_to_the_train_page(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    went: list[str] = []
    monkeypatch.setattr(st, "switch_page", went.append)
    choose(page, 4, 6)
    button(page, "Train with this config").click().run()
    assert went == ["pages/train.py"]
    assert EnvironmentConfig.from_json(page.session_state["design_config"]) == EnvironmentConfig.uniform((4, 6))


def test_a_config_is_saved_and_comes_back(page: AppTest, tmp_path: Path) -> None:
    choose(page, 4, 6)
    page.text_input(key="design_name").set_value("../evil").run()
    page.button(key="design_keep").click().run()
    assert any("no name" in caption.value for caption in page.caption) and not drafts.shelf(SessionStore(tmp_path))
    page.text_input(key="design_name").set_value("two-sizes").run()
    page.button(key="design_keep").click().run()
    assert drafts.shelf(SessionStore(tmp_path)).keys() == {"two-sizes"}
    choose(page, 5)
    page.selectbox(key="design_saved").set_value("two-sizes").run()
    assert page.session_state["design_sizes"] == [4, 6]


def test_a_bad_file_is_refused_in_one_line(page: AppTest, tmp_path: Path) -> None:
    (tmp_path / drafts.SHELF).mkdir()
    (tmp_path / drafts.SHELF / "broken.json").write_text('{"agents": 9, "sizes": {}}')
    choose(page, 5)
    page.selectbox(key="design_saved").set_value("broken").run()
    assert not page.exception and "agents" in page.error[0].value and page.session_state["design_sizes"] == [5]


def test_a_config_beyond_the_paper_is_taken_as_it_is(page: AppTest, tmp_path: Path) -> None:
    config = EnvironmentConfig.from_json(
        '{"agents": 2, "sizes": {"5": {"share": 0.125, "hole_ratio": 0.75}, "12": {"share": 0.875, "hole_ratio": 0.1}}}'
    )
    drafts.save(SessionStore(tmp_path), "wide", config)
    choose(page, 5)
    page.selectbox(key="design_saved").set_value("wide").run()
    assert not page.exception and page.session_state["design_sizes"] == [5, 12]
    assert drafts.config_of(2, page.session_state["design_exact"]) == config
