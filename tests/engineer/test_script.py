"""The engineer `script`: a function in a Python file of the user's own."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from frozenlab.base.errors import LabError
from frozenlab.base.places import ROOT
from frozenlab.engineer.ask import ask
from frozenlab.engineer.engineers.script import ScriptEngineer
from frozenlab.engineer.guard import GuardSettings
from frozenlab.engineer.schema import Context, ProposalRecord
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.session.session import Session
from tests.engineer.builders import context_of

CONFIG = EnvironmentConfig.uniform((4, 6), agents=2)
EMPTY = context_of(CONFIG)
EXAMPLE = Session(ROOT / "sessions" / "example-quick")


def script(folder: Path, text: str) -> ScriptEngineer:
    file = folder / "mine.py"
    file.write_text(textwrap.dedent(text))
    return ScriptEngineer.of(file)


def asked(engineer: ScriptEngineer, context: Context = EMPTY) -> ProposalRecord:
    return ask(engineer, context, CONFIG, GuardSettings(max_step=1.0), seed=0)


def test_boards_are_shared_in_proportion_to_what_the_function_returns(tmp_path: Path) -> None:
    record = asked(script(tmp_path, "def propose(context, config, seed): return {name: i + 1 for i, name in enumerate(config.cells)}"))
    assert [cell.share for cell in record.config_after.cells.values()] == pytest.approx([1 / 3, 2 / 3])
    assert record.engineer == "script" and record.kept_because is None


@pytest.mark.parametrize("where", ["docstring", "docs"])
def test_the_examples_share_by_what_a_recorded_session_shows(tmp_path: Path, where: str) -> None:
    docs = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8").partition("```python\ndef propose")[2].partition("```")[0]
    example = (ScriptEngineer.__doc__ or "").partition("::\n")[2] if where == "docstring" else f"def propose{docs}"
    context, given = EXAMPLE.context(0), EXAMPLE.environment(0)
    assert context is not None and given is not None and any("step" in line.numbers for line in context.sections["failures"])
    after = ask(script(tmp_path, example), context, given.config, GuardSettings(max_step=1.0), seed=0).config_after.cells
    assert max(after, key=lambda name: after[name].share) == "3", "82.5 % of it are valid: no size has fewer"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return {'4': 1}", "a number for each of the cells 4, 6"),
        ("return 1 / 0", "ZeroDivisionError in line 2: division by zero"),
        ("return {name: 0.5 for name in config.cellz}", "AttributeError in line 2"),
    ],
)
def test_a_function_that_fails_keeps_the_config_and_says_where(tmp_path: Path, body: str, said: str) -> None:
    record = asked(script(tmp_path, f"def propose(context, config, seed):\n    {body}\n"))
    assert record.config_after == CONFIG and said in str(record.kept_because)


def test_a_file_that_cannot_be_asked_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="no function propose"):
        script(tmp_path, "shares = {}")
    with pytest.raises(LabError, match="SyntaxError"):
        script(tmp_path, "def propose(")
    with pytest.raises(LabError, match="No such file"):
        ScriptEngineer.of(tmp_path / "none.py")
    engineer = script(tmp_path, "def propose(context, config, seed): return {name: 1 for name in config.cells}")
    script(tmp_path, "def propose(context, config, seed): return {name: 2 for name in config.cells}")
    assert "has changed since" in str(asked(engineer).kept_because)
