"""Colours keep the contrast that WCAG AA asks for: letters 4.5:1, what has to be seen in a figure 3:1, on light and dark pages."""

from __future__ import annotations

import re
import tomllib
from dataclasses import asdict

import pytest

from frozenlab.app.benchmark.lake.lines import OUR_COLORS, PAPER_COLOR
from frozenlab.app.ui.components import text_of
from frozenlab.app.ui.figures import AFTER_COLOR, BEFORE_COLOR, CHECK_COLOR, REWARD_COLOR
from frozenlab.app.ui.theme import DARK, LIGHT, Palette
from frozenlab.app.views.lake import player
from frozenlab.base.places import ROOT
from frozenlab.lake.picture import AGENT_COLORS, BoardColors, ink_on
from frozenlab.tasks.lake.words import OUTCOMES

THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
LETTERS, SHAPES = 4.5, 3.0
TRAIL = float(re.findall(r"const TRAIL = ([\d.]+);", text_of(player.__file__, "player.js"))[0])
"""How much of a trail's colour is seen."""
both = pytest.mark.parametrize(("mode", "colors"), [("light", LIGHT), ("dark", DARK)])


def channels(color: str) -> list[float]:
    return [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def luminance(color: str) -> float:
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in channels(color))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def tint(color: str, ground: str, part: float) -> str:
    """``part`` of ``color`` on ``ground``: Streamlit fills a chosen segment with a tenth of the primary colour."""
    mixed = (part * over + (1 - part) * under for over, under in zip(channels(color), channels(ground), strict=True))
    return "#" + "".join(f"{round(255 * value):02x}" for value in mixed)


def test_the_ratio_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@both
def test_letters_can_be_read(mode: str, colors: Palette) -> None:
    for letters in (colors.text, colors.muted, colors.accent, colors.good, colors.blue):
        for ground in (colors.ground, colors.surface):
            assert contrast(letters, ground) >= LETTERS, (letters, ground)
    assert contrast(colors.on_accent, colors.accent) >= LETTERS
    assert contrast(colors.accent, tint(colors.accent, colors.ground, 0.1)) >= LETTERS


@both
def test_streamlit_has_the_same_colours(mode: str, colors: Palette) -> None:
    theme_settings = THEME[mode]
    assert theme_settings["primaryColor"].upper() == colors.accent
    assert theme_settings["backgroundColor"].upper() == colors.ground
    assert theme_settings["secondaryBackgroundColor"].upper() == colors.surface
    assert theme_settings["textColor"].upper() == colors.text
    for name in ("linkColor", "codeTextColor"):
        assert contrast(theme_settings[name], colors.ground) >= LETTERS
    assert contrast(theme_settings["codeTextColor"], theme_settings["codeBackgroundColor"]) >= LETTERS


@both
def test_a_board_can_be_seen(mode: str, colors: Palette) -> None:
    assert contrast(colors.hole, colors.ice) >= SHAPES
    assert max(contrast(colors.ice, colors.ground), contrast(colors.edge, colors.ground)) >= SHAPES
    assert contrast(colors.outline, colors.ice) >= LETTERS  # numbers of the goals


@both
def test_marks_are_seen_on_a_weak_projector_too(mode: str, colors: Palette) -> None:
    """One that halves the contrast of the standard. An agent, a goal or a trail of whatever colour is told from the ice by its rim; a trail
    lets a little of the ice through."""
    trail = tint(colors.outline, colors.ice, TRAIL)
    for name, color in {"rim": colors.outline, "trail": trail, "hole": colors.hole}.items():
        assert contrast(color, colors.ice) / 2 >= SHAPES, name


def test_numbers_of_agents_can_be_read() -> None:
    for color in AGENT_COLORS:
        assert contrast(ink_on(color), color) >= LETTERS


def test_pictures_of_the_environments_are_those_of_the_light_page() -> None:
    assert BoardColors()._asdict().items() <= asdict(LIGHT).items()


@both
def test_bars_and_lines_can_be_seen(mode: str, colors: Palette) -> None:
    outcomes = (outcome.color for outcome in OUTCOMES.values())
    drawn = (*outcomes, *OUR_COLORS, PAPER_COLOR, BEFORE_COLOR, AFTER_COLOR, REWARD_COLOR, CHECK_COLOR)
    assert not [color for color in drawn if contrast(color, colors.ground) < SHAPES]
