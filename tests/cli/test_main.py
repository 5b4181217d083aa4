"""The command line as a whole: its JSON, exit statuses and refusals, which other programs rely on."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

import pytest

from frozenlab.cli.common import show
from frozenlab.cli.main import COMMANDS, main
from frozenlab.engineer import hosts
from frozenlab.engineer.engineers import ENGINEERS, UNATTENDED, ApiEngineer
from frozenlab.engineer.sections import USUAL
from frozenlab.experiments.replays.task import KINDS
from frozenlab.experiments.studies.presets import STUDIES, engineers_study
from frozenlab.lake.formats import FORMATS
from frozenlab.lake.presets import PRESETS as BOARD_PRESETS
from frozenlab.lake.suites import SUITES
from frozenlab.models.training.methods import NAMES as METHODS
from frozenlab.models.training.stage_settings import SCHEDULES
from frozenlab.session.presets import PRESETS
from tests.builders import build_session, short_spec
from tests.cli.calls import reason


def test_every_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ((command.name, *verb) for command in COMMANDS for verb in ((), *((verb.name,) for verb in command.verbs))):
        with pytest.raises(SystemExit) as ended:
            main([*words, "--help"])
        said = capsys.readouterr().out
        assert ended.value.code == 0 and said.startswith(f"usage: frozenlab {' '.join(words)}")
        assert ("--json" in said) != ("VERB" in said), "all commands print JSON, as docs/cli.md says"


def test_a_shell_completes_commands_verbs_and_options() -> None:
    said = subprocess.run([sys.executable, "-m", "frozenlab.cli", "--completion", "bash"], capture_output=True, text=True, check=True)
    assert not said.stderr, "it would be read at the start of every shell"
    script = said.stdout
    asked = {"jo": "jobs", "jobs de": "delete", "jobs delete --": "--help --json", "run --sch": "--schedule"}
    for words, completed in asked.items():
        line = f'COMP_WORDS=(frozenlab {words}); COMP_CWORD={len(words.split())}; _frozenlab; echo "${{COMPREPLY[@]}}"'
        done = subprocess.run(["bash", "-c", f"{script}\n{line}"], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == completed


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0 and capsys.readouterr().out == f"frozenlab {version('frozenlab')}\n"


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("run", (*PRESETS, *METHODS, *SCHEDULES, *(engineer.name() for engineer in ENGINEERS))),
        ("fork", tuple(engineer.name() for engineer in ENGINEERS)),
        ("replay", (*KINDS, *USUAL, *UNATTENDED)),
        ("study", (*STUDIES, *(engineer for engineer in UNATTENDED if engineer != "api"))),
        ("generate", BOARD_PRESETS),
        ("convert", FORMATS),
        ("evaluate", SUITES),
    ],
)
def test_help_names_every_choice(capsys: pytest.CaptureFixture[str], command: str, names: Iterable[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    text = re.sub(r"-\n\s+", "-", capsys.readouterr().out)
    assert not [name for name in names if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)]


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (["--help"], {"pydantic", "numpy", "pandas", "torch", "numba"}),
        (["run", "--help"], {"pandas", "torch", "numba", "openai"}),
        (["status", "example-quick"], {"torch", "numba", "openai"}),
    ],
)
def test_a_light_command_imports_nothing_heavy(arguments: list[str], absent: set[str]) -> None:
    script = f"import sys\nfrom frozenlab.cli.main import main\ntry: main({arguments!r})\nfinally: print({absent!r} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "set()", done.stderr


def test_what_a_command_prints_is_for_people(capsys: pytest.CaptureFixture[str], board: str, tmp_path: Path) -> None:
    out = str(tmp_path / "boards.jsonl")
    said = {}
    for name, arguments in {
        "generate": ("generate", "small-first", "--n", "40", "--out", out),
        "solve": ("solve", board, "--soc"),
        "valid": ("judge", board, '["DDDRRR", "RRRUUU"]'),
        "fault": ("judge", board, '["DDD", "W"]'),
        "convert": ("convert", board, str(tmp_path / "x.json"), "--to", "json"),
        "status": ("status", "example-quick"),
    }.items():
        assert main(arguments) == 0
        said[name] = capsys.readouterr().out
        assert not set("{}[]'") & set(said[name]) and "None" not in said[name], f"{name} prints Python"
    assert said["generate"].startswith(f"40 boards with 2 agents, each solved, in {out}") and "95 % interval" in said["generate"]
    assert "Fewest time steps: 6, proven." in said["solve"] and "agent 1: RRRUUU" in said["solve"]
    assert said["valid"] == "Valid, optimal makespan: 6 time steps, sum of costs 12.\n"
    assert said["fault"].startswith("Not valid: agent 0 and agent 1 are in the same cell at time step 3, in row 3, column 0")
    assert said["convert"].startswith("1 board from text to json: 1 file, ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("solve", "nowhere.txt"), "nowhere.txt cannot be read: No such file or directory"),
        (("judge", "BOARD", "[1]"), 'the plan must be a JSON list of motion strings, one per agent, like ["RRD", "WDL"]'),
        (("judge", "BOARD", '["RX"]'), "agent 0: 'X' is no action; use U D L R W"),
        (("judge", "BOARD", '["R", "R", "R"]'), "the plan has 3 motion strings, the board has 2 agents"),
        (("judge", "BOARD", "NaN"), "'NaN' is neither a file nor a JSON list of motion strings"),
        (("judge", "BOARD", '{"a": ["R"]}'), '\'{"a": ["R"]}\' is neither a file nor a JSON list of motion strings'),
        (("judge", "BOARD", "[" * 100_000), "the plan is not JSON: a number too long, or too deeply nested"),
        (("delete", "x"), "there is no command 'delete'; did you mean frozenlab jobs delete?"),
        (("jobs", "restor"), "there is no command 'restor'; did you mean frozenlab jobs restore?"),
        (("evalute",), "there is no command 'evalute'; did you mean frozenlab evaluate?"),
        (("xyz",), "there is no command 'xyz'; frozenlab --help lists them"),
        (("run",), "give either a spec file or --preset"),
        (("run", "--preset", "slow"), "there is no preset 'slow'; the presets are quick, demo, study, smoke, long"),
        (("run", "--preset", "demo", "--method", "sft"), f"argument --method: there is no method 'sft'; there are {', '.join(METHODS)}"),
        (
            ("run", "--preset", "demo", "--schedule", "cosine"),
            "argument --schedule: Input should be 'linear', 'per-stage' or 'constant'",
        ),
        (("run", "spec.json", "--method", "grpo"), "--method is for presets; a spec file names its own method"),
        (("run", "--preset", "demo", "--engineer", "me"), "there is no engineer 'me'; there are policy, base"),
        (("status", "nobody"), "there is no session 'nobody'"),
        (("evaluate", "lab-model", "--suite", "none", "--out", "x"), "there is no suite 'none' and no such file; the suites are"),
        (
            ("evaluate", "nowhere", "--suite", "quick"),
            "'nowhere' is no checkpoint: neither lab-model, nor a folder with a model.safetensors, nor SESSION:STAGE",
        ),
        (("evaluate", "nobody:base", "--suite", "quick"), "there is no session 'nobody'"),
        (
            ("evaluate", "lab-model", "--suite", "BOARD", "--temperature", "-1"),
            "argument --temperature: Input should be greater than or equal to 0",
        ),
        (("app", "--port", "0"), "the lab cannot listen at 127.0.0.1, port 0: a port is"),
        (("app", "--port", "99999"), "the lab cannot listen at 127.0.0.1, port 99999: "),
        (("app", "--host", "203.0.113.9"), "the lab cannot listen at 203.0.113.9, port 8501: Cannot assign"),
        (("generate", "config.json", "--n", "many"), "argument --n: invalid int value: 'many'"),
        (("fork", "example-quick:²"), "'example-quick:²' names no stage: use SESSION:1, SESSION:2, ..."),
        (("fork", "example-quick:٣"), "'example-quick:٣' names no stage"),
        (("replay", "example-quick:²"), "'example-quick:²' is neither a replay nor a session and a stage"),
        (("replay", f"example-quick:{'9' * 100}"), "'example-quick:9999"),
        (("run", "--preset", "quick", "--policy", "a\udcff"), r"'a\udcff' is no text in UTF-8"),
    ],
)
def test_bad_input_is_refused_in_one_line(capsys: pytest.CaptureFixture[str], board: str, arguments: tuple[str, ...], said: str) -> None:
    assert reason(capsys, *(board if argument == "BOARD" else argument for argument in arguments)).startswith(said)


@pytest.mark.parametrize("arguments", ["--help", "--version", "solve BOARD", "list --json", "students list", "jobs disk"])
def test_a_reader_that_has_seen_enough_ends_a_command_quietly(board: str, arguments: str) -> None:
    """Also where the little that it prints is written at its very end."""
    command = [sys.executable, "-m", "frozenlab.cli", *arguments.replace("BOARD", board).split()]
    reads, writes = os.pipe()
    os.close(reads)
    with os.fdopen(writes) as closed:
        done = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, timeout=120, check=False)
    assert done.returncode == (0 if arguments == "--help" else 141)  # argparse minds no reader
    assert b"pipe" not in done.stderr.lower()  # a solver that was not compiled before says that it is prepared


def test_a_user_without_a_home_or_a_writable_folder_gets_the_variable(
    capsys: pytest.CaptureFixture[str], board: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)  # as in containers
    monkeypatch.setenv("FROZENLAB_SESSIONS", board + "/below a file")
    assert "set FROZENLAB_SESSIONS to a folder of yours" in reason(capsys, "replay", "example-quick:2", "--vary", "engineers")
    assert os.environ["HOME"] == "/"


@pytest.mark.parametrize("arms", [5, None, True, "a", [5], [{"name": 5}]])
def test_a_study_whose_arms_are_none_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, arms: object) -> None:
    spec = tmp_path / "study.json"
    spec.write_text(json.dumps(engineers_study(2).model_dump(mode="json") | {"arms": arms}))
    assert reason(capsys, "study", str(spec)).startswith(f"{spec}: arms")


@pytest.mark.parametrize(
    ("key", "said"),
    [("\x1b[31mRED\x1b]0;pwn\x07", r"\x1b[31mRED\x1b]0;pwn\x07: Extra"), ("\r\nfrozenlab: all fine", r"\r\nfrozenlab: all fine: Extra")],
)
def test_what_a_terminal_would_obey_is_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path, key: str, said: str) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"agents": 2, "sizes": {"4": {"share": 1, "hole_ratio": 0.2, "wait_ratio": 0.2}}, key: 1}))
    assert said in reason(capsys, "generate", str(config), "--n", "1", "--seed", "1", "--out", str(tmp_path / "o.jsonl"))
    show(False, {}, "one\ntwo \x1b[31m")
    assert capsys.readouterr().out == "one\ntwo \\x1b[31m\n"


@pytest.mark.parametrize("command", ["run", "resume", "fork", "replay", "study"])
def test_a_server_that_was_not_allowed_is_not_asked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path / "sessions"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    api = ApiEngineer(base_url="https://api.evil.example/v1", model="m")
    spec = short_spec().changed(engineer=api)
    build_session(tmp_path / "sessions", spec, status="stopped")
    (tmp_path / "spec.json").write_text(spec.model_dump_json())
    (tmp_path / "study.json").write_text(engineers_study(2, session=spec, engineers=("rules", api)).model_dump_json())
    what = {"run": str(tmp_path / "spec.json"), "resume": "built", "study": str(tmp_path / "study.json")}.get(command, "built:1")
    before = sorted((tmp_path / "sessions").iterdir())
    said = "api.evil.example has not been allowed on this machine yet: --allow-host api.evil.example allows it"
    assert said in reason(capsys, command, what)
    assert [path for path in sorted((tmp_path / "sessions").iterdir()) if path.name != ".launch.lock"] == before
    assert main([command, "nothing:1", "--allow-host", "api.evil.example"]) == 2, "the host is remembered all the same"
    assert hosts.refusal(api) is None


def test_a_fault_of_ours_is_not_reported_as_bad_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fails(*_: object) -> None:
        raise KeyError("a list of ours")

    monkeypatch.setattr("frozenlab.session.store.SessionStore.open", fails)
    assert main(["status", "any"]) == 70
    said = capsys.readouterr().err
    assert "Traceback" in said and "KeyError" in said and "this is a fault of FrozenLab" in said
