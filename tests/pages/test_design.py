"""The Design page without a browser: knobs, balance, feasibility, the sample, the shelf, and the way to Train."""

from __future__ import annotations

import json

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from frozenlab.app.design import drafts
from frozenlab.app.design.controls import slider
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import KNOBS, LAYOUTS
from frozenlab.session.store import SessionStore
from tests.pages.apptest import bare_page, button, components, shown, tables


@pytest.fixture
def went(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pages that the page leads to, which are not opened."""
    there: list[str] = []
    monkeypatch.setattr(st, "switch_page", there.append)
    return there


@pytest.fixture
def page(went: list[str]) -> AppTest:
    return bare_page("design")


def group(at: AppTest, key: str):
    return next(found for found in at.button_group if found.key == key)


def table(at: AppTest) -> pd.DataFrame:
    return tables(at)[0]


TRAIN = "Train with this config"


def sent(at: AppTest) -> EnvironmentConfig:
    """The config that goes to Train."""
    button(at, TRAIN).click().run()
    return EnvironmentConfig.from_json(at.session_state["design_config"])


def take(at: AppTest, name: str) -> AppTest:
    """Takes a saved config from the shelf, in place of another one."""
    choose(at, 5)
    return at.selectbox(key="design_saved").set_value(name).run()


def choose(at: AppTest, *sizes: int, agents: int = 2) -> None:
    """Starts over with ``sizes`` in equal shares."""
    config = EnvironmentConfig.uniform(sizes, agents)
    at.session_state["design_teams"] = [agents]
    at.session_state["design_sizes"] = list(sizes)
    at.session_state["design_exact"] = at.session_state["design_known"] = drafts.cells_of(config)
    at.session_state["design_apart"], at.session_state["design_absent"] = [], []
    for kind, settings in drafts.cells_of(config).items():
        for knob in KNOBS:
            at.session_state[slider(kind, knob)] = round(100 * settings[knob])
        at.session_state[slider(kind, "layouts")] = list(drafts.layouts_of(settings))
    at.run()


def turn(at: AppTest, cell: str, **knobs: int) -> AppTest:
    """Moves bars of a cell to these per cent."""
    for knob, value in knobs.items():
        at.session_state[f"design_{cell}_{knob}"] = value
    return at


def bars(at: AppTest, knob: str) -> list[int]:
    """What the bars of a knob say, from cell to cell, in per cent."""
    return [one["value"] for row in components(at, "knobs") for one in row["knobs"] if one["knob"] == knob]


def test_it_opens_on_the_config_of_the_quick_session_with_boards_drawn_from_it(page: AppTest) -> None:
    page.run()
    assert not page.error
    expected = drafts.offered(drafts.QUICK, ())
    assert list(table(page)["map"]) == [f"{size}×{size}" for size in expected.sizes]
    assert table(page)["boards"].sum() == 48
    (player,) = components(page, "tracks")
    assert player["tracks"][0]["outcome"] == "optimal"


def test_what_is_drawn_follows_the_knobs(page: AppTest) -> None:
    choose(page, 4, 5)
    turn(page, "2@5", wait_ratio=100)
    turn(page, "2@4", hole_ratio=0).run()
    drawn = table(page).set_index("map")
    assert drawn.loc["5×5", "wait ratio"] == "100 % → 100 %"
    assert drawn.loc["4×4", "hole ratio"] == "0 % → 0 %"


def test_shares_out_of_balance_block_and_a_button_balances_them(page: AppTest) -> None:
    choose(page, 4, 5, 6)
    assert bars(page, "share") == [33, 33, 33] and not button(page, TRAIN).disabled, "thirds stay thirds"
    turn(page, "2@6", share=100).run()
    assert button(page, TRAIN).disabled and any("sum to 166.7 %" in text.value for text in page.markdown)
    button(page, "Normalise").click().run()
    assert not button(page, TRAIN).disabled
    assert bars(page, "share") == [20, 20, 60]
    drawn = table(page).set_index("map")
    assert drawn.loc["6×6", "boards"] == round(48 * 0.6)


def test_what_cannot_be_drawn_is_refused_with_the_reason(page: AppTest) -> None:
    choose(page, 3, agents=4)
    turn(page, "4@3", hole_ratio=60).run()
    assert "8" in page.error[0].value and button(page, TRAIN).disabled
    assert not tables(page)
    page.session_state["design_sizes"] = []
    assert button(page.run(), TRAIN).disabled, "no size is no config"


@pytest.mark.parametrize("name", drafts.OFFERED)
def test_whatever_is_offered_can_be_drawn(page: AppTest, name: str) -> None:
    page.run()
    page.session_state["design_n"] = 12
    group(page, "design_preset").set_value(name).run()
    assert not page.error
    assert table(page)["boards"].sum() == 12


def test_the_config_goes_to_the_train_page(page: AppTest, went: list[str]) -> None:
    choose(page, 4, 6)
    assert sent(page) == EnvironmentConfig.uniform((4, 6)) and went == ["pages/train.py"]


def test_a_config_is_saved_and_comes_back(page: AppTest) -> None:
    choose(page, 4, 6)
    page.text_input(key="design_name").set_value("../").run()
    page.button(key="design_keep").click().run()
    assert "Not saved: write a name" in shown(page.error[0].value) and not drafts.shelf(SessionStore()) and not page.success
    page.text_input(key="design_name").set_value("../Two sizes").run()
    page.button(key="design_keep").click().run()
    assert "Saved as two" in page.success[0].value and not page.error, "success does not look like a refusal"
    page.button(key="design_keep").click().run()
    assert "in place of the one of that name" in page.success[0].value
    assert drafts.shelf(SessionStore()).keys() == {"two-sizes"}
    take(page, "two-sizes")
    assert page.session_state["design_sizes"] == [4, 6] and not page.error
    (SessionStore().root / drafts.SHELF / "broken.json").write_text('{"agents": 9, "sizes": {"4": {"share": 1}}}')
    take(page, "broken")
    assert "agents" in page.error[0].value and page.session_state["design_sizes"] == [5]


def test_a_saved_config_gets_another_name_and_is_deleted(page: AppTest) -> None:
    for name in ("first", "second"):
        drafts.save(SessionStore(), name, EnvironmentConfig.uniform((4, 6)))
    take(page.run(), "first")
    page.text_input(key="design_name_of_first").set_value("second").run().button(key="design_rename").click().run()
    assert "Not renamed: there is a config second already" in shown(page.error[0].value)
    page.text_input(key="design_name_of_first").set_value("The Third").run().button(key="design_rename").click().run()
    assert drafts.shelf(SessionStore()).keys() == {"second", "the-third"} and page.selectbox(key="design_saved").value == "the-third"
    page.button(key="design_remove").click().run()
    assert "the-third is deleted" in shown(page.success[0].value) and drafts.shelf(SessionStore()).keys() == {"second"}
    assert page.session_state["design_sizes"] == [4, 6], "the page still shows it"


def test_the_address_holds_the_config_and_a_reload_keeps_it(page: AppTest) -> None:
    page.run()
    assert "config" not in page.query_params, "the usual one needs no address"
    choose(page, 4, 6)
    turn(page, "2@4", wait_ratio=70).run()
    code = page.query_params["config"]
    again = bare_page("design")
    again.query_params["config"] = code
    again.run()
    assert again.query_params["config"] == code and bars(again, "wait_ratio")[0] == 70
    assert sent(again) == sent(page) != EnvironmentConfig.uniform((4, 6))


@pytest.mark.parametrize("code", ["nonsense", "eJw", "é", "AAAA"])
def test_an_address_without_a_config_says_so(page: AppTest, code: str) -> None:
    page.query_params["config"] = code
    page.run()
    assert "The address holds no config" in shown(page.warning[0].value) and page.session_state["design_sizes"]


def test_a_config_beyond_the_paper_is_taken_as_it_is(page: AppTest) -> None:
    sizes = '{"5": {"share": 0.125, "hole_ratio": 0.75}, "12": {"share": 0.875, "hole_ratio": 0.1}}'
    config = EnvironmentConfig.from_json(f'{{"agents": 2, "sizes": {sizes}}}')
    drafts.save(SessionStore(), "wide", config)
    take(page, "wide")
    assert page.session_state["design_sizes"] == [5, 12]
    assert drafts.config_of(page.session_state["design_exact"]) == config


def test_layouts_are_chosen_by_size_and_mixed_in_equal_parts(page: AppTest) -> None:
    choose(page, 6, 8)
    group(page, "design_2@8_layouts").set_value(["maze", "rooms"]).run()
    config = sent(page)
    assert config.cells["6"].layouts == {"scatter": 1.0} and config.cells["8"].layouts == {"rooms": 0.5, "maze": 0.5}
    group(page, "design_2@8_layouts").set_value([]).run()
    assert sent(page) == EnvironmentConfig.uniform((6, 8))


def test_one_choice_of_layouts_for_all_sizes(page: AppTest) -> None:
    page.session_state["design_layout_menu"] = True
    choose(page, 6, 8)
    galleries = (data["items"] for data in components(page, "items"))
    (pictures,) = [items for items in galleries if items[0]["caption"].startswith("scatter: ")]
    assert [item["caption"].split(":")[0] for item in pictures] == list(LAYOUTS)
    assert len({json.dumps(item["board"]) for item in pictures}) == len(LAYOUTS), "each has its picture"
    group(page, "design_all_layouts").set_value(["open"]).run()
    page.button(key="design_lay_out_all").click().run()
    assert [page.session_state[f"design_2@{size}_layouts"] for size in (6, 8)] == [["open"], ["open"]]
    assert table(page)["boards"].sum() == 48


def test_wait_definition_and_placement_go_into_the_config(page: AppTest) -> None:
    choose(page, 5)
    page.selectbox(key="design_wait").set_value("sum_of_costs")
    page.selectbox(key="design_placement").set_value("connected").run()
    assert not page.error
    config = sent(page)
    assert (config.wait_definition, config.placement) == ("sum_of_costs", "connected")


def test_uneven_parts_of_a_file_stay_until_other_layouts_are_chosen(page: AppTest) -> None:
    config = EnvironmentConfig.uniform((8,), layouts={"maze": 0.9, "open": 0.1}).model_copy(update={"wait_definition": "sum_of_costs"})
    drafts.save(SessionStore(), "uneven", config)
    take(page, "uneven")
    assert any("90 % maze, 10 % open boards" in caption.value for caption in page.caption)
    assert page.session_state["design_wait"] == "sum_of_costs"


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("c.json", b"", "not JSON: Expecting value at line 1, column 1"),
        ("c.toml", b"agents = ", "not TOML: Invalid value"),
        ("c.json", b"\xff\xff", "not a text file"),
        ("c.toml", b"[sizes.4]\nshare = 1\nlayouts = {roms = 1}", "sizes.4.layouts.roms"),
    ],
)
def test_a_bad_upload_is_refused_in_one_line(page: AppTest, name: str, data: bytes, reason: str) -> None:
    choose(page, 5)
    page.file_uploader(key="design_upload").set_value((name, data, "text/plain")).run()
    assert name in shown(page.error[0].value) and reason in shown(page.error[0].value)
    assert page.session_state["design_sizes"] == [5]


def test_a_config_comes_back_from_toml(page: AppTest) -> None:
    config = EnvironmentConfig.uniform((4, 7), agents=3, layouts={"rooms": 1.0})
    choose(page, 5)
    page.file_uploader(key="design_upload").set_value(("c.toml", config.to_toml().encode(), "text/plain")).run()
    assert not page.error
    assert drafts.config_of(page.session_state["design_exact"]) == config


def test_the_boards_have_the_layouts_that_were_chosen(page: AppTest) -> None:
    choose(page, 9)
    turn(page, "2@9", hole_ratio=40)
    group(page, "design_2@9_layouts").set_value(["corridor"]).run()
    assert not page.error
    (gallery,) = [data for data in components(page, "items") if len(data["items"]) > 6]
    boards = [item["board"]["rows"] for item in gallery["items"]]
    assert all(max("".join(line).count("H") for line in (*rows, *zip(*rows, strict=True))) >= 7 for rows in boards)
