"""``frozenlab fork`` and ``propose``."""

from __future__ import annotations

from pathlib import Path

import pytest

from frozenlab.base.files import write_text
from frozenlab.cli.main import main
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.session.session import Session
from frozenlab.session.state import State
from tests.cli.calls import reason


def test_a_fork_keeps_the_sizes_named(root: Path, built: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def run(session: Session, as_json: bool) -> None:
        made.append(session)
        write_text(session.dir / "state.json", State(status="stopped").model_dump_json())

    monkeypatch.setattr("frozenlab.cli.session.run_in_foreground", run)
    record = built.proposal(0)
    cell = next(change.cell for change in record.changes if change.knob != "share")
    assert main(["fork", "built:1", "--keep", cell, "--why", "It works.", "--id", "kept", "--engineer", "rules"]) == 0
    (forked,) = made
    given = forked.given(0)
    assert given.summary == "It works." and (forked.id, forked.spec.engineer.kind, forked.spec.parent.session) == ("kept", "rules", "built")
    for knob in ("hole_ratio", "wait_ratio"):
        assert getattr(given.config.cells[cell], knob) == getattr(record.config_before.cells[cell], knob)
    config = root / "config.json"
    config.write_text(record.config_before.to_json())
    assert main(["fork", "built:1", "--config", str(config), "--id", "own"]) == 0
    assert made[-1].given(0).config == record.config_before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("fork", "built"), "names no stage"),
        (("fork", "built:0"), "names no stage"),
        (("fork", "built:9"), "has not validated a stage 9"),
        (("fork", "built:1", "--keep", "99"), "has no cell 99"),
        (("fork", "built:1", "--keep", "4", "--config", "x.json"), "give one"),
        (("fork", "built:1", "--engineer", "nobody"), "engineer"),
        (("propose", "built", "config.json"), "cannot change them"),
        (("propose", "built", "same.json"), "does not wait for a proposal, it is done"),
    ],
)
def test_impossible_forks_and_proposals_are_refused(
    capsys: pytest.CaptureFixture[str], root: Path, built: Session, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(root)
    Path("config.json").write_text(EnvironmentConfig.uniform((3, 10)).to_json())
    Path("same.json").write_text(built.spec.initial_config.to_json())
    assert said in reason(capsys, *arguments)
    assert [path.name for path in root.iterdir() if path.is_dir() and not path.name.startswith(".")] == ["built"]
    assert not list(root.rglob("given.json"))
