import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.base.cells import diff
from frozenlab.lake.config import PLACEMENTS, EnvironmentConfig, WaitDefinition
from frozenlab.lake.config_cell import LAYOUTS, BoardKind, CellConfig
from frozenlab.lake.config_file import ConfigError
from frozenlab.lake.draw.feasible import infeasible
from frozenlab.lake.presets import PRESETS, preset
from frozenlab.tasks.families import family_of


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_config_that_windows_has_saved_is_read(encoding: str) -> None:
    config, countdown = EnvironmentConfig.uniform((4,), agents=2), family_of("countdown")
    for name, text in {"a.TOML": config.to_toml(), "a.json": config.to_json()}.items():
        assert EnvironmentConfig.from_bytes(text.replace("\n", "\r\n").encode(encoding), name) == config
    other = next(iter(countdown.ready_made().values()))
    assert countdown.config_of(other.model_dump_json(indent=1).encode(encoding), "b.json") == other


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"agents": 2, "sizes": {}}, "sizes is empty"),
        ({"agents": 2, "sizes": {"4": {"share": 0.5}}}, "the shares sum to 0.5"),
        ({"agents": 2, "sizes": {"2": {"share": 1}}}, r"sizes\.2: .*greater than or equal to 3 \(given: '2'\)"),
        (
            {"agents": 2, "sizes": {"4": {"share": 1, "hole_ratio": 1.2}}},
            r"sizes\.4\.hole_ratio: .*less than or equal to 1 \(given: 1\.2\)",
        ),
        ({"agents": 2, "sizes": {"4": {"share": 1, "holes": 1}}}, r"sizes\.4\.holes"),
        ({"agents": 6, "sizes": {"4": {"share": 1}}}, "agents: .*less than or equal to 5"),
        ({"agents": 2, "sizes": {"four": {"share": 1}}}, "sizes.four"),
        ({"agents": 2, "sizes": {"4": {"share": float("nan")}}}, "sizes.4.share"),
        (
            {"sizes": {"4": {"share": 1, "layouts": {"roms": 1}}}},
            r"sizes\.4\.layouts\.roms: .*'scatter', 'rooms', .*'open'.* \(given: 'roms'\)",
        ),
        ({"sizes": {"4": {"share": 1, "layouts": {"rooms": 0.5}}}}, r"sizes\.4\.layouts: the parts of the layouts sum to 0\.5"),
        ({"sizes": {"4": {"share": 1, "layouts": {}}}}, r"sizes\.4\.layouts: .*at least 1"),
        ({"sizes": {"4": {"share": 1, "layouts": {"rooms": -1, "maze": 2}}}}, r"sizes\.4\.layouts\.rooms: .*greater than or equal to 0"),
        ({"sizes": {"4": {"share": 1}}, "wait_definition": "soc"}, "wait_definition: .*'makespan' or 'sum_of_costs'"),
        ([], "valid dictionary"),
        ({"cells": []}, "sizes is empty"),
        ({"cells": [{"size": 4, "share": 0.5}, {"size": 4, "share": 0.5}]}, "two cells have the same agents, size and layout"),
        ({"cells": [{"size": 4, "share": 1.5}]}, r"cells\.0\.share: .*\(given: 1\.5\)"),
        ({"cells": [{"size": 4, "share": 1, "layout": "maze", "layouts": {"open": 1}}]}, "or .layouts., how it mixes them"),
        ({"cells": [{"size": 4, "share": 1}], "sizes": {"4": {"share": 1}}}, "or .cells. with agents and a size each, not both"),
        ({"sizes": {"4": {"share": 1, "layout": "maze"}}}, "sizes.4: 'layout' has no place here"),
        ({"agents": 2}, "names no map sizes"),
    ],
)
def test_a_bad_config_gives_one_line_that_names_the_key(data: object, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason) as caught:
        EnvironmentConfig.from_json(json.dumps(data))
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("agents = 2\n[sizes.4]\nshare = x", r"not TOML: .*line 3, column 9"),
        ("[sizes.4]\nshare = 1\n[sizes.4]", r"not TOML: .*twice \(at line 3, column 9\)"),
        ("[sizes.4]\nshare = 2", r"sizes\.4\.share: .*less than or equal to 1 \(given: 2\)"),
        ("[sizes.4]\nshare = 1\nlayouts = {mazes = 1}", r"sizes\.4\.layouts\.mazes: .*'maze'.*'open'"),
        ("sizes = 1979-05-27", "sizes: .*valid dictionary"),
    ],
)
def test_bad_toml_gives_one_line_with_the_place_or_the_key(text: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason) as caught:
        EnvironmentConfig.from_toml(text)
    assert "\n" not in str(caught.value)


@given(st.text() | st.text(alphabet='{}[]":,0123456789.shareizgn=\n'))
def test_no_text_brings_the_readers_down(text: str) -> None:
    for read in (EnvironmentConfig.from_json, EnvironmentConfig.from_toml):
        try:
            read(text)
        except ConfigError as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize("name", ["config.json", "config.toml"])
@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"[" * 200_000, b"9" * 5000, b"a=" + b"[" * 200_000])
def test_a_hostile_file_is_a_config_error(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigError):
        EnvironmentConfig.read(tmp_path / name)


weights = st.floats(0, 1).filter(lambda weight: weight == 0 or weight > 1e-3)


@st.composite
def configs(draw: st.DrawFn, apart: bool = False) -> EnvironmentConfig:
    """Configs of one team in mixed layouts; ``apart``: of any teams, and some layouts have cells of their own."""
    team = draw(st.integers(1, 5))
    teams, layouts = (st.integers(1, 5), st.none() | st.sampled_from(LAYOUTS)) if apart else (st.just(team), st.none())
    shares = draw(st.dictionaries(st.builds(BoardKind, teams, st.integers(3, 32), layouts), st.floats(0.01, 1), min_size=1))
    cells = []
    for kind, share in shares.items():
        mix = draw(st.dictionaries(st.sampled_from(LAYOUTS), weights).filter(lambda mix: not mix or sum(mix.values()) > 0))
        parts = {"layouts": {layout: weight / sum(mix.values()) for layout, weight in mix.items()}} if mix and not kind.layout else {}
        ratios = {"hole_ratio": draw(st.floats(0, 1)), "wait_ratio": draw(st.floats(0, 1))}
        cells.append(CellConfig.model_validate(kind._asdict() | {"share": share / sum(shares.values())} | ratios | parts))
    definition, placement = draw(st.sampled_from(get_args(WaitDefinition))), draw(st.sampled_from(PLACEMENTS))
    return EnvironmentConfig.of(cells, wait_definition=definition, placement=placement)


@pytest.mark.parametrize("apart", [False, True])
@given(data=st.data())
def test_every_config_survives_its_file_fits_the_schema_and_names_each_cell_once(apart: bool, data: st.DataObject) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    config = data.draw(configs(apart))
    written = json.loads(config.to_json())
    assert EnvironmentConfig.from_json(config.to_json()) == EnvironmentConfig.from_toml(config.to_toml()) == config
    assert ("cells" in written) == (len(config.teams) > 1 or any(cell.layout for cell in config.cells.values()))
    jsonschema.validate(written, EnvironmentConfig.model_json_schema())
    assert [config.name_of(cell.kind) for cell in config.cells.values()] == list(config.cells) == [c.name for c in config.described()]
    assert len({cell.words for cell in config.described()}) == len(config.cells)
    assert all(config.cell_of(cell.kind) == name for name, cell in config.cells.items())


def test_the_papers_config_is_written_without_layouts_or_wait_definition() -> None:
    config = EnvironmentConfig.uniform((4,))
    plain = {"agents": 2, "sizes": {"4": {"share": 1.0, "hole_ratio": 0.2, "wait_ratio": 0.2}}}
    assert json.loads(config.to_json()) == tomllib.loads(config.to_toml()) == plain


def test_empty_parts_and_the_order_of_layouts_make_no_difference() -> None:
    cell = CellConfig(size=4, share=1, layouts={"maze": 0.5, "rooms": 0.5, "open": 0})
    assert cell == CellConfig(size=4, share=1, layouts={"rooms": 0.5, "maze": 0.5}) and list(cell.layouts) == ["rooms", "maze"]


# --- teams and layouts ------------------------------------------------------------------------------------------------


def test_a_cell_is_named_by_what_tells_it_from_others() -> None:
    assert list(EnvironmentConfig.uniform((4, 10), agents=3).cells) == ["4", "10"]
    assert list(EnvironmentConfig.uniform((4, 10), agents=(2, 3)).cells) == ["2@4", "2@10", "3@4", "3@10"]
    apart = EnvironmentConfig.of(CellConfig(size=6, share=1 / 3, layout=layout) for layout in ("maze", None, "scatter"))
    assert list(apart.cells) == ["6", "scatter6", "maze6"]


@pytest.mark.parametrize(
    ("config", "kind", "cell"),
    [
        (EnvironmentConfig.uniform((4, 6)), BoardKind(5, 6), "6"),
        (EnvironmentConfig.uniform((4, 6)), BoardKind(2, 5), "5"),
        (EnvironmentConfig.uniform((6,), (2, 4)), BoardKind(5, 6), "4@6"),
        (EnvironmentConfig.uniform((6,), (2, 4)), BoardKind(3, 6), "2@6"),
        (EnvironmentConfig.of([CellConfig(size=6, share=1, layout="maze")]), BoardKind(2, 6, "maze"), "maze6"),
        (EnvironmentConfig.of([CellConfig(size=6, share=1, layout="maze")]), BoardKind(2, 6, "rooms"), "rooms6"),
        (EnvironmentConfig.uniform((6,)), BoardKind(2, 6, "rooms"), "6"),
        (EnvironmentConfig.of([CellConfig(size=6, share=1, layout="maze")]), BoardKind(2, 6), "6"),
    ],
)
def test_boards_count_for_the_cell_that_is_nearest(config: EnvironmentConfig, kind: BoardKind, cell: str) -> None:
    assert config.cell_of(kind) == cell


# --- the JSON schema --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "broken",
    [
        {"sizes": {}},
        {"agents": 6},
        {"agents": 2.5},
        {"team": 2},
        {"wait_definition": "soc"},
        {"sizes": {"2": {"share": 1}}},
        {"sizes": {"4": {"hole_ratio": 0.2}}},
        {"sizes": {"4": {"share": 1.5}}},
        {"sizes": {"4": {"share": 1, "holes": 3}}},
        {"sizes": {"4": {"share": 1, "layouts": {"roms": 1}}}},
        {"sizes": {"4": {"share": 1, "layouts": {}}}},
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(broken: dict[str, object]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    data = {"sizes": {"4": {"share": 1}}} | broken
    with pytest.raises(ConfigError):
        EnvironmentConfig.from_json(json.dumps(data))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, EnvironmentConfig.model_json_schema())


def test_the_schema_explains_every_key_and_its_example_is_valid() -> None:
    schema = EnvironmentConfig.model_json_schema()
    keys = schema["properties"] | schema["$defs"]["CellConfig"]["properties"]
    assert all(key["description"] for key in keys.values())
    assert list(EnvironmentConfig.from_json(json.dumps(schema["examples"][1])).cells) == ["2@6", "4@6"]
    assert EnvironmentConfig.from_json(json.dumps(schema["examples"][0])).cells["8"].layouts == {"scatter": 0.5, "maze": 0.5}


def one_team(**sizes: dict[str, Any]) -> EnvironmentConfig:
    """``one_team(s4={...})``: a config of these map sizes."""
    return EnvironmentConfig.model_validate({"sizes": {name[1:]: cell for name, cell in sizes.items()}})


def test_diff_tells_changed_new_and_gone_knobs() -> None:
    before = one_team(s3={"share": 0.5}, s4={"share": 0.5})
    after = one_team(s4={"share": 0.5, "hole_ratio": 0.3}, s5={"share": 0.5})
    changes = {(change.cell, change.knob): (change.before, change.after) for change in diff(before, after)}
    assert changes["4", "hole_ratio"] == (0.2, 0.3) and ("4", "share") not in changes
    assert changes["3", "share"] == (0.5, None) and changes["5", "share"] == (None, 0.5)
    assert diff(before, before) == []


def test_diff_tells_layouts() -> None:
    before, after = one_team(s4={"share": 1}), one_team(s4={"share": 1, "layouts": {"scatter": 0.5, "maze": 0.5}})
    assert [(c.knob, c.before, c.after) for c in diff(before, after)] == [("scatter", 1.0, 0.5), ("maze", 0.0, 0.5)]


@given(configs(), configs())
def test_a_diff_is_empty_for_equals_only(before: EnvironmentConfig, after: EnvironmentConfig) -> None:
    assert diff(before, before) == []
    old, new = ({name: cell.settings() for name, cell in config.cells.items()} for config in (before, after))
    assert bool(diff(before, after, tolerance=0)) == (old != new)


# --- presets ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("agents", range(1, 6))
@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_can_be_drawn_for_every_team(name: str, agents: int) -> None:
    config = preset(name, agents)
    assert config == preset(name, agents) and config.teams == (agents,)
    assert [infeasible(config, name) for name in config.cells] == [None] * len(config.cells)


def test_small_first_and_hard_are_what_they_say() -> None:
    shares = [cell.share for cell in preset("small-first").cells.values()]
    assert shares == sorted(shares, reverse=True) and shares[0] > 0.5
    assert preset("hard").sizes[0] == 6 and all(cell.wait_ratio > 0.5 for cell in preset("hard").cells.values())


@pytest.mark.parametrize(
    ("name", "agents", "reason"), [("easy", 2, "'easy' is no preset; there are uniform, "), ("hard", 6, r"outside 1\.\.5")]
)
def test_an_unknown_preset_or_team_is_refused(name: str, agents: int, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        preset(name, agents)


@pytest.mark.parametrize("read", [EnvironmentConfig.from_json, EnvironmentConfig.from_toml])
def test_a_long_text_is_refused_unread(read: Callable[[str], EnvironmentConfig]) -> None:
    with pytest.raises(ConfigError, match="1,000,000 characters; an environment config has at most 100,000"):
        read(" " * 1_000_000)


def test_an_error_is_one_short_line_however_long_the_key() -> None:
    for data in ({"sizes": {"x" * 5000: {}}}, {"k" * 5000: 1}, {"sizes": {"4": {"share": "y" * 5000}}}):
        with pytest.raises(ConfigError) as caught:
            EnvironmentConfig.from_json(json.dumps(data))
        assert len(str(caught.value)) < 500 and "\n" not in str(caught.value)
