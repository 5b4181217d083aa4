import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.lake.config import ConfigError, EnvironmentConfig, SizeConfig, diff


def test_a_config_survives_its_file(tmp_path: Path) -> None:
    config = EnvironmentConfig.uniform((6, 3), agents=3, hole_ratio=0.25)
    (tmp_path / "config.json").write_text(config.to_json())
    assert EnvironmentConfig.read(tmp_path / "config.json") == config
    assert list(config.sizes) == [3, 6]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"agents": 2, "sizes": {}}, "sizes is empty"),
        ({"agents": 2, "sizes": {"4": {"share": 0.5}}}, "the shares sum to 0.5"),
        ({"agents": 2, "sizes": {"2": {"share": 1}}}, r"size 2 is outside 3\.\.32"),
        (
            {"agents": 2, "sizes": {"4": {"share": 1, "hole_ratio": 1.2}}},
            r"sizes\.4\.hole_ratio: .*less than or equal to 1 \(given: 1\.2\)",
        ),
        ({"agents": 2, "sizes": {"4": {"share": 1, "holes": 1}}}, r"sizes\.4\.holes"),
        ({"agents": 6, "sizes": {"4": {"share": 1}}}, "agents: .*less than or equal to 5"),
        ({"agents": 2, "sizes": {"four": {"share": 1}}}, "sizes.four"),
        ({"agents": 2, "sizes": {"4": {"share": float("nan")}}}, "sizes.4.share"),
        ([], "valid dictionary"),
    ],
)
def test_a_bad_config_gives_one_line_that_names_the_key(data: object, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason) as caught:
        EnvironmentConfig.from_json(json.dumps(data))
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300


@given(st.text() | st.text(alphabet='{}[]":,0123456789.shareizgn'))
def test_no_text_brings_the_reader_down(text: str) -> None:
    try:
        EnvironmentConfig.from_json(text)
    except ConfigError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"[" * 200_000, b"9" * 5000])
def test_a_hostile_file_is_a_config_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "config.json").write_bytes(content)
    with pytest.raises(ConfigError):
        EnvironmentConfig.read(tmp_path / "config.json")


def test_diff_tells_changed_new_and_gone_knobs() -> None:
    before = EnvironmentConfig(sizes={3: SizeConfig(share=0.5), 4: SizeConfig(share=0.5)})
    after = EnvironmentConfig(sizes={4: SizeConfig(share=0.5, hole_ratio=0.3), 5: SizeConfig(share=0.5)})
    changes = {(change.size, change.knob): (change.before, change.after) for change in diff(before, after)}
    assert changes[(4, "hole_ratio")] == (0.2, 0.3) and (4, "share") not in changes
    assert changes[(3, "share")] == (0.5, None) and changes[(5, "share")] == (None, 0.5)
    assert diff(before, before) == []
