"""Inputs drawn from models take their ranges, defaults and help from the fields."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import BaseModel, Field
from streamlit.testing.v1 import AppTest

from frozenlab.app.ui.form import parts_of


class Settings(BaseModel):
    steps: Annotated[int, Field(ge=1, lt=100)] = 30
    """Optimizer steps."""
    rate: Annotated[float, Field(gt=0, le=1e-2, title="Learning rate")] = 2e-4
    name: Annotated[str, Field(max_length=9)]
    thinking: bool = True
    price: Annotated[float, Field(ge=0)] | None = None


def form() -> None:
    import streamlit as st

    from frozenlab.app.ui.form import fields
    from tests.ui.test_form import Settings

    st.session_state["values"] = fields(Settings, Settings.model_fields, key="f", steps={"rate": 1e-5})


@pytest.fixture
def app() -> AppTest:
    return AppTest.from_function(form).run()


def test_a_number_has_the_range_the_default_and_the_help_of_its_field(app: AppTest) -> None:
    steps, rate, price = app.number_input
    assert (steps.label, steps.value, steps.min, steps.max, steps.help) == ("Steps", 30, 1, 99, "Optimizer steps.")
    assert (rate.label, rate.value, rate.min, rate.max, rate.step) == ("Learning rate", 2e-4, 1e-6, 1e-2, 1e-5)
    assert (price.value, price.min) == (None, 0.0), "a number that may be left out is empty at first"


def test_every_kind_of_field_gives_a_value(app: AppTest) -> None:
    assert app.session_state["values"] == {"steps": 30, "rate": 2e-4, "name": "", "thinking": True, "price": None}
    assert app.text_input[0].proto.max_chars == 9


def test_a_page_can_fill_the_form(app: AppTest) -> None:
    app.session_state["f_steps"] = 7
    assert app.run().session_state["values"]["steps"] == 7


def test_a_field_without_an_input_is_an_error() -> None:
    from frozenlab.app.ui.form import field
    from frozenlab.session.spec import SessionSpec

    assert parts_of(SessionSpec.model_fields["stages"])[0] is int
    with pytest.raises(TypeError, match=r"no input for SessionSpec\.sections"):
        field(SessionSpec, "sections", key="f")
