from __future__ import annotations

import json

import pytest

from frozenlab.base.cells import evenly, with_shares
from frozenlab.experiments.headroom.spec import Forks, HeadroomSpec, alone, menu_of
from frozenlab.experiments.headroom.store import Headroom
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.tasks.families import between
from frozenlab.tasks.lake.family import LAKE
from tests.headroom.builders import CONFIG, PROBES, SUITE, tiny_spec

TEAMS = EnvironmentConfig.uniform((4, 6), agents=(2, 3))


def test_the_menu_of_the_lake() -> None:
    menu = menu_of(TEAMS)
    assert list(menu) == [
        *("kept", "equal", "equal shares, 30 % holes", "easy", "hard", "hole ratio lower", "hole ratio higher", "wait ratio lower"),
        "wait ratio higher",
        *("only agents 2", "only agents 3", "only size 4", "only size 6"),
    ]  # fmt: skip
    easy, hard = menu["easy"].cells["3@6"], menu["hard"].cells["3@6"]
    assert (easy.hole_ratio, easy.wait_ratio, hard.hole_ratio, hard.wait_ratio) == (0.0, 0.0, 0.45, 0.45)
    assert [cell.share for cell in menu["only agents 3"].cells.values()] == [0, 0, 0.5, 0.5]
    assert [LAKE.undrawable(config, cell) for config in menu.values() for cell in config.cells] == [None] * 52


def test_headroom_is_counted_from_equal_shares_at_the_ratios_of_the_config() -> None:
    crowded = with_shares(TEAMS, dict(zip(TEAMS.cells, (0.7, 0.1, 0.1, 0.1), strict=True)))
    menu = menu_of(crowded)
    assert menu["equal"] == evenly(crowded) and menu["kept"] == crowded
    assert Forks(menu=menu, suite=SUITE).baseline == "equal"
    assert Forks(menu={"kept": CONFIG, "uniform": CONFIG}, suite=SUITE).baseline == "uniform", "as in measurements before"


def test_people_read_the_ratios_of_a_config_uniform_that_changes_them() -> None:
    shipped = {one.id: one.report for one in Headroom.shipped()}
    mixed, same = shipped["study"], shipped["instrument"]
    assert mixed is not None and mixed.forks is not None and "beat uniform:" in mixed.verdict and same is not None
    shown = mixed.for_people
    assert (
        "beat equal shares, 30 % holes:" in shown.verdict and shown.forks is not None and "equal shares, 30 % holes" in shown.forks.configs
    )
    assert "headroom (oracle − equal shares, 30 % holes)" in [check.name for check in shown.checks]
    names = [check.name for check in same.for_people.checks]
    assert "headroom (oracle − equal shares)" in names, "in the gate it has the ratios of the others"


def test_a_ratio_that_cannot_be_drawn_is_moved_less() -> None:
    crowded = EnvironmentConfig.uniform((3,), agents=3, hole_ratio=0.2)
    assert 0.2 < menu_of(crowded)["hole ratio higher"].cells["3"].hole_ratio < 0.4
    assert "only 3" not in menu_of(crowded), "it is the config itself"


def test_the_menu_of_any_family(monkeypatch: pytest.MonkeyPatch) -> None:
    from frozenlab.tasks import families
    from tests.tasks.toy import SUMS, SumConfig

    monkeypatch.setattr(families, "FAMILIES", (*families.FAMILIES, SUMS))
    menu = menu_of(SumConfig())
    assert list(menu) == ["kept", "equal", "easy", "hard", "only easy", "only hard"]
    assert menu["easy"].cells["hard"].twins == pytest.approx(0.35) and menu["hard"].cells["hard"].twins == 0.0


def test_doses_lead_from_the_kept_config_to_the_best_and_beyond() -> None:
    best = alone(TEAMS, ["3@6"])
    assert between(TEAMS, best, 0).cells == TEAMS.cells and between(TEAMS, best, 1).cells == best.cells
    half, double = between(TEAMS, best, 0.5).cells, between(TEAMS, best, 2).cells
    assert half["3@6"].share == pytest.approx(0.625) and half["2@4"].share == pytest.approx(0.125)
    assert double["3@6"].share == 1 and double["2@4"].share == 0, "shares stay within their bounds"
    assert between(TEAMS, menu_of(TEAMS)["hard"], 4).cells["3@6"].hole_ratio == 1.0


def test_a_file_may_name_a_config_instead_of_a_menu() -> None:
    spec = tiny_spec()
    written = json.loads(spec.model_dump_json())
    assert HeadroomSpec.model_validate(written) == spec
    written["forks"] = {"config": json.loads(CONFIG.model_dump_json()), "suite": written["forks"]["suite"]}
    forks = HeadroomSpec.model_validate(written).forks
    assert forks is not None and list(forks.menu)[:2] == ["kept", "equal"] and forks.kept == CONFIG


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"probes": None, "forks": None}, "nothing would be measured"),
        ({"forks": {"menu": {"kept": CONFIG}, "suite": SUITE}}, "lacks the config 'equal'"),
        ({"forks": {"menu": {"kept": CONFIG, "uniform": TEAMS}, "suite": SUITE, "doses": (1,)}}, "configs with the same cells"),
        ({"students": ("lab-model", "lab-model")}, "two students are the same"),
        ({"probes": {"configs": PROBES, "batches": 4}}, "greater than or equal to 8"),
    ],
)
def test_specs_that_say_nothing(change: dict, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        tiny_spec(**change)
