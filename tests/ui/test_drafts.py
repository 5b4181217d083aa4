"""Configs being edited on the Design page, and saved ones."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.app.design import drafts
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import BoardKind
from frozenlab.lake.config_file import ConfigError
from frozenlab.lake.draw.feasible import infeasible
from frozenlab.session.store import SessionStore

CONFIG = EnvironmentConfig.uniform((4, 6, 9), agents=3)


def test_a_config_survives_the_desk() -> None:
    assert drafts.config_of(drafts.cells_of(CONFIG)) == CONFIG


@given(st.dictionaries(st.builds(BoardKind, st.integers(1, 5), st.integers(3, 10)), st.floats(0, 1), min_size=1))
def test_normalised_shares_make_a_config(shares: dict[BoardKind, float]) -> None:
    cells = {kind: {"share": share, "hole_ratio": 0.2, "wait_ratio": 0.2, "scatter": 1.0} for kind, share in shares.items()}
    drafts.config_of(drafts.normalised(cells))


@given(st.floats(0, 1), st.integers(0, 100))
def test_a_slider_keeps_the_exact_value_until_it_is_moved(exact: float, percent: int) -> None:
    assert drafts.turned(exact, round(100 * exact)) == exact
    assert abs(drafts.turned(exact, percent) - percent / 100) <= 0.005 + 1e-12


def test_layouts_survive_the_desk_with_their_exact_parts() -> None:
    changes = {"wait_definition": "sum_of_costs", "placement": "connected"}
    config = EnvironmentConfig.uniform((5,), layouts={"rooms": 0.7, "maze": 0.3}).model_copy(update=changes)
    cells = drafts.cells_of(config)
    assert drafts.layouts_of(cells[BoardKind(2, 5)]) == {"rooms": 0.7, "maze": 0.3}
    assert drafts.config_of(cells, "sum_of_costs", "connected") == config
    assert drafts.mixed({"rooms": 0.7, "maze": 0.3}, ["maze", "rooms"]) == {"rooms": 0.7, "maze": 0.3}
    assert drafts.mixed({"rooms": 0.7, "maze": 0.3}, ["maze", "open"]) == {"maze": 0.5, "open": 0.5}


@pytest.mark.parametrize("name", drafts.OFFERED)
def test_what_is_offered_can_be_drawn(name: str) -> None:
    config = drafts.offered(name, (2, 3))
    for cell in config.cells:
        assert infeasible(config, cell) is None


@pytest.mark.parametrize("name", ["", "../up", "A", "a/b", "-a", "x" * 64])
def test_a_bad_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="no name"):
        drafts.save(SessionStore(tmp_path), name, CONFIG)
