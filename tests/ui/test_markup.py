from __future__ import annotations

import json
import re

import pytest
from streamlit.testing.v1 import AppTest

from frozenlab.app.session.claims import ClaimOutcome, claims_table
from frozenlab.app.session.proposals import KnobRow, config_list, config_rows, config_table, layouts_table, repairs_table
from frozenlab.app.ui import markup
from frozenlab.base.numbers import Interval, unbroken
from frozenlab.engineer.schema import Claim, Context, Evidence, Proposal, Repair
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import CellConfig
from frozenlab.tasks.lake.family import LAKE
from tests.engineer.builders import record_of
from tests.pages.apptest import tables

EVIL = "<img src=http://example.com/x onerror=alert(1)> ![x](http://example.com/y)"


RECORD = record_of(EnvironmentConfig.uniform((4,)))


def context_of(sizes: tuple[int, ...], *lines: Evidence) -> Context:
    return Context(stage=0, cells=EnvironmentConfig.uniform(sizes).described(), sections={"failures": lines})


def test_no_text_becomes_markup() -> None:
    context = context_of((4,), Evidence(id="F4", section="failures", cell="4", text=EVIL))
    repair = Repair(cell="4", knob="share", proposed=0.1, used=0.2, reason=EVIL + '"')
    pieces = [
        markup.quote(EVIL, EVIL),
        markup.evidence_sections(context, {"F4"})["failures"],
        claims_table([ClaimOutcome(Claim(cell="4", knob=None, before=None, after=None, evidence=(EVIL,), text=EVIL), None)], RECORD),
        config_table([KnobRow("4", knob, 0.1, 0.2, repair) for knob in ("share", "hole_ratio", "wait_ratio")], {}, LAKE),
        repairs_table([repair], LAKE),
        markup.log([(0.0, EVIL)]),
    ]
    for piece in pieces:
        assert "<img" not in piece
        assert "&lt;img" in piece


def test_plain_text_keeps_its_letters_and_loses_its_markdown() -> None:
    assert markup.plain("size3 [x](y)") == r"size3 \[x\]\(y\)"


def test_cited_lines_are_marked_in_words() -> None:
    context = context_of((4, 5), *(Evidence(id=f"F{size}", section="failures", cell=str(size), text="told") for size in (4, 5)))
    html = markup.evidence_sections(context, {"F5"})
    assert html["failures"].count(">cited<") == 1
    assert "history" not in html, "it was off"


def test_layouts_and_wait_definition_are_shown_where_they_are_not_the_papers() -> None:
    plain = EnvironmentConfig.uniform((4, 6))
    assert "layouts" not in config_list(plain) and "WAIT" not in config_list(plain)
    mixed = plain.model_copy(
        update={
            "wait_definition": "sum_of_costs",
            "cells": plain.cells | {"6": CellConfig(size=6, share=0.5, layouts={"maze": 0.25, "open": 0.75})},
        }
    )
    html = config_list(mixed)
    assert ">scatter</td>" in html and unbroken(">25 % maze, 75 % open</td>") in html and "every cheapest plan has a WAIT" in html
    assert layouts_table(config_rows(plain, plain), LAKE) == ""
    table = layouts_table(config_rows(plain, mixed), LAKE)
    assert "6×6" in table and "4×4" not in table and ">maze</th>" in table and "+25 up" in table


def test_claims_show_measured_next_to_predicted_changes_and_no_tick() -> None:
    claim = Claim(cell="4", knob=None, before=None, after=None, expected=0.9)
    untested, tested = (claims_table([ClaimOutcome(claim, 0.05, came)], RECORD) for came in (None, Interval(0.025, -0.06, 0.11, 40)))
    assert "<b>+5</b>" in untested and "measured" not in untested
    assert "<b>+3</b> <small>\N{MINUS SIGN}6 to +11, n = 40</small>" in tested
    assert "<b>3</b> <small>no change: 3</small>" in tested and "✓" not in tested


def test_a_claim_whose_setting_the_guard_changed_says_what_is_used() -> None:
    asked, used = (EnvironmentConfig.uniform((4,), hole_ratio=ratio) for ratio in (0.75, 0.4))
    record = record_of(asked, proposal=Proposal(summary="", config=asked)).model_copy(update={"config_after": used})
    claims = [ClaimOutcome(Claim(cell="4", knob=knob, before=0.2, after=0.75), None) for knob in ("hole_ratio", "wait_ratio")]
    assert [text.count(">used: 0.40<") for text in (claims_table(claims, record), claims_table(claims[1:], record))] == [1, 0]


def test_a_claim_that_rests_on_nothing_and_one_on_what_nobody_saw_are_marked() -> None:
    claims = [Claim(cell="4", knob=None, before=None, after=None, evidence=cited) for cited in ((), ("F4", "F9"))]
    nothing, invented = (claims_table([ClaimOutcome(claim, None)], RECORD, {"F4"}) for claim in claims)
    assert "cites nothing" in nothing and "not seen" not in nothing
    assert '<code class="fl-chip">F4</code>' in invented and "F9: not seen" in invented
    assert "not seen" not in claims_table([ClaimOutcome(claims[1], None)], RECORD), "what it saw is not known here"


@pytest.mark.parametrize("text", [":material_home:", ":material/home:", ":streamlit:", ":smile:", ":+1:"])
def test_a_name_of_an_icon_in_plain_text_is_no_icon(text: str) -> None:
    plain = markup.plain(f"size {text}").replace("\\", "")
    assert text not in plain and plain.replace("\u2060", "") == f"size {text}"


def test_an_address_in_plain_text_is_no_link() -> None:
    for address in ("http://a.example/x", "HTTPS://a.example", "www.a.example", "me@a.example"):
        assert address not in markup.plain(address).replace("\\", "")
        assert markup.plain(address).replace("\\", "").replace("\u2060", "") == address


def test_the_head_of_a_column_of_numbers_stands_at_the_right_as_they_do() -> None:
    def page() -> None:
        import pandas as pd
        import streamlit as st

        from frozenlab.app.ui import markup

        markup.grid(
            pd.DataFrame({"arm": ["rules"], "n": [40], "valid": [0.9]}),
            column_config={"valid": st.column_config.NumberColumn(format="%.1f")},
        )

    (table,) = AppTest.from_function(page).run().dataframe
    config = json.loads(table.proto.columns)
    assert {name: config[name]["label"] for name in ("n", "valid")} == {name: markup.AT_RIGHT.format(name) for name in ("n", "valid")}
    assert "arm" not in config and config["valid"]["type_config"]["format"] == "%.1f"


def test_a_table_of_data_has_its_numbers_at_the_right_to_the_same_decimals() -> None:
    def page() -> None:
        import pandas as pd

        from frozenlab.app.ui import markup

        frame = pd.DataFrame({"arm": ["<b>", None], "n": [1400, 40], "valid": [-0.25, 0.5], "far": [12.34, 6.17]})
        markup.data_table("Arms", frame, hints={"valid": "of all"}, decimals={"far": 1}, bars=["far"])

    app = AppTest.from_function(page).run()
    (table,) = tables(app)
    assert table.to_dict("list") == {"arm": ["<b>", "–"], "n": [1400, 40], "valid": [-0.25, 0.5], "far": [12.34, 6.17]}
    html = app.get("html")[0].proto.body
    assert re.findall(r"<data[^>]*>([^<]*)", html) == ["1,400", "−0.25", "12.3", "40", "0.50", "6.2"]
    assert re.findall(r"width:(\d+)%", html) == ["100", "50"] and 'title="of all">valid' in html
