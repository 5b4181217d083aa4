"""The command line: other programs call it, so its JSON, exit codes and reasons are a contract."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from frozenlab import doctor
from frozenlab.cli.main import COMMANDS, main
from frozenlab.engineer import hosts
from frozenlab.engineer.engineers import BY_NAME, UNATTENDED, engineer_of
from frozenlab.engineer.sections import USUAL
from frozenlab.files import write_text
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.hashes import canonical_hashes
from frozenlab.lake.formats import FORMATS
from frozenlab.lake.instance import read_instances
from frozenlab.lake.presets import PRESETS as BOARD_PRESETS
from frozenlab.lake.rules import FAULTS
from frozenlab.lake.suites import SUITES, held_out
from frozenlab.loop.events import event_words
from frozenlab.loop.footprint import gpus
from frozenlab.loop.presets import PRESETS, preset_spec
from frozenlab.loop.session import Session
from frozenlab.loop.state import State
from frozenlab.loop.store import SessionStore
from frozenlab.replays.arms import KINDS
from frozenlab.studies.spec import STUDIES, engineer_arms, engineers_study
from frozenlab.tasks.lake.words import OUTCOMES
from frozenlab.training.methods import NAMES as METHODS
from frozenlab.training.stage_settings import SCHEDULES
from tests.builders import build_session
from tests.loop.test_loop import small_spec

BOARD = "S F F g\nF H F F\nF F H F\ns F F G\n"


@pytest.fixture
def board(tmp_path: Path) -> str:
    path = tmp_path / "board.txt"
    path.write_text(BOARD)
    return str(path)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    """The JSON a command prints."""
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def reason(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line on stderr with which a command refuses bad input."""
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err.removeprefix("frozenlab: ").strip()


@pytest.mark.parametrize("command", [command.name for command in COMMANDS])
def test_every_command_has_help(capsys: pytest.CaptureFixture[str], command: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0 and capsys.readouterr().out.startswith(f"usage: frozenlab {command}")


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("run", (*PRESETS, *METHODS, *SCHEDULES, *BY_NAME)),
        ("fork", tuple(BY_NAME)),
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
    [(["--help"], {"pydantic", "numpy", "pandas", "torch", "numba"}), (["status", "example-quick"], {"torch", "numba"})],
)
def test_a_light_command_imports_nothing_heavy(arguments: list[str], absent: set[str]) -> None:
    script = f"import sys\nfrom frozenlab.cli.main import main\ntry: main({arguments!r})\nfinally: print({absent!r} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "set()", done.stderr


def test_solve(capsys: pytest.CaptureFixture[str], board: str) -> None:
    solved = answer(capsys, "solve", board, "--soc")
    assert {key: solved[key] for key in ("solvable", "makespan", "sum_of_costs")} == {"solvable": True, "makespan": 6, "sum_of_costs": 12}
    assert set(solved) == {"solvable", "makespan", "bounds", "sum_of_costs", "needs_wait", "plan"}
    assert answer(capsys, "judge", board, json.dumps(solved["plan"]))["optimal"]


def test_an_unsolvable_board_is_an_answer_not_an_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("S H G\nF H F")
    assert answer(capsys, "solve", str(tmp_path / "b.txt"))["solvable"] is False


def test_judge_names_the_first_fault(capsys: pytest.CaptureFixture[str], board: str) -> None:
    verdict = answer(capsys, "judge", board, '["DDD", "W"]')
    assert verdict == {
        "valid": False, "optimal": False, "fault": "vertex_conflict", "step": 3, "agents": [0, 1], "cell": [3, 0],
        "makespan": None, "sum_of_costs": None,
    }  # fmt: skip


def test_generate_takes_a_preset_and_any_number_of_processes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    answer(capsys, "generate", "small-first", "--agents", "3", "--n", "300", "--out", str(one))
    answer(capsys, "generate", "small-first", "--agents", "3", "--n", "300", "--out", str(two), "--workers", "2")
    assert one.read_text() == two.read_text() and one.read_text().count("\n") == 300


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
    assert said["valid"] == "Valid and optimal: 6 time steps, sum of costs 12.\n"
    assert said["fault"].startswith("Not valid: agent 0 and agent 1 are in the same cell at time step 3, in row 3, column 0")
    assert said["convert"].startswith("1 board from text to json: 1 file, ")


def test_rates_have_their_interval_and_n(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "example-quick"]) == 0
    rates = [line for line in capsys.readouterr().out.splitlines() if "valid" in line]
    assert rates and all(re.search(r"\d % valid \(\d+\.\d to \d+\.\d\), .* % optimal \(.*\), n = \d+$", line) for line in rates)


@pytest.mark.parametrize("name", ["example-quick", "example-long"])
def test_every_event_is_a_sentence(name: str) -> None:
    events, _ = SessionStore().open(name).events()
    said = [event_words(event) for event in events]
    assert len(said) > 50 and not [line for line in said if set("{}[]=") & set(line.replace("n = ", "")) or "None" in line]


def test_every_fault_has_words() -> None:
    assert set(OUTCOMES) == {*FAULTS, "optimal", "suboptimal", "valid"}


def test_boards_of_the_suites_can_be_left_out(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    config, out = tmp_path / "c.json", tmp_path / "boards.jsonl"
    config.write_text('{"agents": 2, "sizes": {"3": {"share": 1, "hole_ratio": 0.2, "wait_ratio": 0.2}}}')
    known = []
    for flags in ((), ("--exclude-held-out",)):
        answer(capsys, "generate", str(config), "--n", "300", "--out", str(out), *flags)
        hashes = canonical_hashes([instance.board for instance in read_instances(out)])
        known.append(int(np.isin(hashes, held_out()).sum()))
    assert known[0] > 0 and known[1] == 0


def test_a_session_json_that_is_a_folder_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "mine" / "session.json").mkdir(parents=True)
    assert "session.json cannot be read" in reason(capsys, "status", str(tmp_path / "mine"))


def test_generate_writes_solved_boards(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    config, out = tmp_path / "c.json", tmp_path / "boards.jsonl"
    config.write_text('{"agents": 2, "sizes": {"4": {"share": 0.5}, "5": {"share": 0.5, "wait_ratio": 0.5}}}')
    told = answer(capsys, "generate", str(config), "--n", "8", "--seed", "1", "--out", str(out), "--soc")
    assert told["sizes"]["5"]["wait_ratio"] == 0.5
    boards = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(boards) == 8
    assert all(board["optimal"]["sum_of_costs"] >= board["optimal"]["makespan"] for board in boards)


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
        (("run",), "give either a spec file or --preset"),
        (("run", "--preset", "slow"), "there is no preset 'slow'; the presets are quick, demo, study, long"),
        (("run", "--preset", "demo", "--method", "sft"), f"there is no method 'sft'; the methods are {', '.join(METHODS)}"),
        (
            ("run", "--preset", "demo", "--schedule", "cosine"),
            "there is no schedule 'cosine'; the schedules are linear, per-stage, constant",
        ),
        (("run", "spec.json", "--method", "grpo"), "--method is for presets; a spec file names its own method"),
        (("run", "--preset", "demo", "--engineer", "me"), "there is no engineer 'me'; there are policy, base"),
        (("status", "nobody"), "there is no session 'nobody'"),
        (("evaluate", "lab-model", "--suite", "none", "--out", "x"), "there is no suite 'none' and no such file; the suites are"),
        (("evaluate", "nowhere", "--suite", "quick"), "'nowhere' is no checkpoint: neither lab-model, nor a folder"),
        (("evaluate", "nobody:base", "--suite", "quick"), "there is no session 'nobody'"),
        (("evaluate", "lab-model", "--suite", "BOARD", "--temperature", "-1"), "temperature: Input should be greater than or equal to 0"),
    ],
)
def test_bad_input_is_refused_in_one_line(capsys: pytest.CaptureFixture[str], board: str, arguments: tuple[str, ...], said: str) -> None:
    assert reason(capsys, *(board if argument == "BOARD" else argument for argument in arguments)).startswith(said)


def test_a_call_that_cannot_be_parsed_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["generate", "config.json", "--n", "many"])
    assert ended.value.code == 2
    assert capsys.readouterr().err == "frozenlab: argument --n: invalid int value: 'many'\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"sizes": {}}', "sizes is empty; name at least one map size"),
        ('{"sizes": {"4": {"share": 0.5}}}', "the shares sum to 0.5; they must sum to 1"),
        ('{"sizes": {"4": {"share": 2}}}', "sizes.4.share: Input should be less than or equal to 1 (given: 2)"),
        ('{"agents": 3, "sizes": {"3": {"share": 1, "hole_ratio": 0.5}}}', "size 3"),
        ("{", "not JSON: Expecting property name enclosed in double quotes at line 1, column 2"),
    ],
)
def test_bad_configs_name_what_is_wrong_and_write_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, said: str) -> None:
    config, out = tmp_path / "c.json", tmp_path / "boards.jsonl"
    config.write_text(text)
    assert reason(capsys, "generate", str(config), "--n", "4", "--out", str(out)).startswith(said)
    assert not out.exists()


def test_evaluate_gives_the_same_every_time(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path / "sessions"))
    config, suite = tmp_path / "c.json", tmp_path / "suite.jsonl"
    config.write_text('{"agents": 3, "sizes": {"4": {"share": 0.5}, "5": {"share": 0.5}}}')
    answer(capsys, "generate", str(config), "--n", "12", "--out", str(suite))
    told = [answer(capsys, "evaluate", "assets/lab-model", "--suite", str(suite), "--out", str(tmp_path / name)) for name in "ab"]
    for number, name in enumerate("ab"):
        written = json.loads((tmp_path / name / "report.json").read_text())
        assert told[number] == written | {"folder": str(tmp_path / name)}
        assert sorted(path.name for path in (tmp_path / name).iterdir()) == ["boards.parquet", "cells.csv", "report.json"]
    first, second = ({k: v for k, v in one.items() if k not in ("created", "seconds", "folder", "id")} for one in told)
    assert first == second
    assert (first["title"], first["suite"], [team["n"] for team in first["teams"]]) == ("lab model", "suite.jsonl", [12])
    for file in ("boards.parquet", "cells.csv"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    assert reason(capsys, "evaluate", "lab-model", "--suite", str(suite), "--out", str(tmp_path / "a")).endswith("name a new folder")

    assert main(["evaluate", "lab-model", "--suite", str(suite), "--title", "Mine"]) == 0
    table = capsys.readouterr().out
    assert table.startswith("Mine on suite.jsonl: 12 boards")
    assert "     3  mean    12" in table and "faults: " in table
    (result,) = (tmp_path / "sessions" / "results").iterdir()
    assert result.name.endswith("-mine") and (result / "report.json").exists()


def test_convert_goes_through_every_format_and_back(capsys: pytest.CaptureFixture[str], tmp_path: Path, board: str) -> None:
    here = board
    for name, file in (("movingai", "b.scen"), ("kei18", "b2.txt"), ("pogema", "b3.txt"), ("benchmark", "b4.json"), ("jsonl", "b5.jsonl")):
        maps = ("--map", str(tmp_path / f"{Path(here).stem}.map")) if (tmp_path / f"{Path(here).stem}.map").exists() else ()
        told = answer(capsys, "convert", here, str(tmp_path / file), "--to", name, *maps)
        assert told["to"] == name and told["boards"] == 1
        here = str(tmp_path / file)
    assert answer(capsys, "convert", here, str(tmp_path / "back.out"), "--to", "text") == {
        "from": "jsonl", "to": "text", "boards": 1, "plans": 0, "files": 1, "out": str(tmp_path / "back.out"),
    }  # fmt: skip
    assert (tmp_path / "back.out").read_text() == BOARD


def test_convert_takes_a_suite_to_a_folder_of_files_with_its_plans(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    config, suite, out = tmp_path / "c.json", tmp_path / "suite.jsonl", tmp_path / "out"
    config.write_text('{"agents": 2, "sizes": {"4": {"share": 1}}}')
    answer(capsys, "generate", str(config), "--n", "3", "--out", str(suite))
    told = answer(capsys, "convert", str(suite), str(out), "--to", "tracker")
    assert (told["boards"], told["plans"], told["files"]) == (3, 3, 9)
    plan, grid, scenario = (sorted(out.glob(f"*.{suffix}"))[0] for suffix in ("csv", "map", "scen"))
    told = answer(capsys, "convert", str(plan), str(tmp_path / "log.json"), "--to", "planviz", "--map", str(grid), "--scen", str(scenario))
    assert told["plans"] == 1 and json.loads((tmp_path / "log.json").read_text())["errors"] == []
    assert reason(capsys, "convert", str(suite), str(out), "--to", "tracker") == f"{out} exists already: name a new folder"


def test_convert_takes_the_first_agents(capsys: pytest.CaptureFixture[str], tmp_path: Path, board: str) -> None:
    answer(capsys, "convert", board, str(tmp_path / "b.jsonl"), "--agents", "1")
    assert len(json.loads((tmp_path / "b.jsonl").read_text())["agents"]) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere.map", "x.jsonl"), "nowhere.map cannot be read: No such file or directory"),
        (
            ("BOARD", "x.txt"),
            "the name 'x.txt' does not determine the format: choose one with --to: text, json, jsonl, movingai, tracker, kei18",
        ),
        (("BOARD", "x.txt", "--to", "yaml"), "there is no format 'yaml'; the formats are text, json, jsonl, movingai, tracker, kei18"),
        (("BOARD", "x.csv"), "board 'board' has no plan, and a MAPF Tracker file is about one: solve the board first"),
        (("BOARD", "x.jsonl", "--from", "movingai"), "the map is missing: it is a file of its own (.map), so give that too"),
        (("BOARD", "x.jsonl", "--agents", "3"), "the board has 2 agents; 3 cannot be taken"),
        (("BOARD", "x.jsonl", "--agents", "0"), "0 agents cannot be taken; at least 1 is expected"),
    ],
)
def test_convert_refuses_in_one_line_and_writes_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, board: str, arguments: tuple[str, ...], said: str
) -> None:
    given = [board if argument == "BOARD" else str(tmp_path / argument) if argument[:2] == "x." else argument for argument in arguments]
    assert reason(capsys, "convert", *given).startswith(said)
    assert [path.name for path in tmp_path.iterdir()] == ["board.txt"]


def test_convert_never_changes_a_map_that_lies_there(capsys: pytest.CaptureFixture[str], tmp_path: Path, board: str) -> None:
    (tmp_path / "mine.map").write_text("mine")
    said = reason(capsys, "convert", board, str(tmp_path / "mine.scen"))
    assert said == f"{tmp_path / 'mine.map'} exists already with other content: choose another name for the output"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["board.txt", "mine.map"]


def test_a_bad_spec_names_the_key(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    spec = tmp_path / "spec.json"
    spec.write_text('{"stages": 0}')
    assert reason(capsys, "run", str(spec)).startswith(f"{spec}: stages: Input should be greater than or equal to 1 (given: 0)")


@pytest.mark.training
@pytest.mark.xdist_group("cli")
def test_a_study_is_run_to_its_end_and_told_again_by_its_id(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path))
    spec = engineers_study(session=small_spec()).model_copy(
        update={"arms": engineer_arms([engineer_of("rules"), engineer_of("fixed")]), "seeds": (5,)}
    )
    (tmp_path / "spec.json").write_text(spec.model_dump_json())
    told = answer(capsys, "study", str(tmp_path / "spec.json"), "--id", "mine", "--jobs", "2")
    assert (told["status"], told["cells"], told["done"]) == ("done", 2, 2)
    assert [(arm["arm"], list(arm["by_seed"])) for arm in told["report"]["valid"]["arms"]] == [("rules", ["5"]), ("fixed", ["5"])]
    again = answer(capsys, "study", "mine")
    assert again["report"]["valid"] == told["report"]["valid"], "what is done is not run again"
    names = {path.name for path in (Path(told["folder"]) / "report").iterdir()}
    assert names == {"report.json", "report.html", "arms.csv", "effects.csv", "boards.parquet"}
    assert [main(["study", *words]) for words in (["mine", "--seeds", "2"], ["nobody"], ["sections", "--seeds", "0"])] == [2, 2, 2]
    assert [path.name for path in (tmp_path / "studies").iterdir()] == ["mine"], "a refusal leaves nothing"
    capsys.readouterr()


def test_a_replay_is_asked_then_told_again_by_its_id(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path))
    build_session(tmp_path)
    rows, who = tmp_path / "rows.csv", ("--engineers", "random,fixed")
    told = answer(capsys, "replay", "built:2", *who, "--samples", "3", "--id", "mine", "--out", str(rows))
    assert (told["id"], told["status"], told["answers"], told["stage"]) == ("mine", "done", 6, 2)
    assert [(arm["arm"], arm["n"], arm["p"] is None) for arm in told["arms"]] == [("random", 3, True), ("fixed", 3, False)]
    assert len(rows.read_text().splitlines()) == 1 + 6 * 4 and len(told["sentences"]) == 4
    assert answer(capsys, "replay", "mine") == told, "what is there is not asked again"
    left = answer(capsys, "replay", "built:2", "--vary", "left-out", "--sections", "failures", "--engineers", "rules", "--samples", "1")
    assert [arm["arm"] for arm in left["arms"]] == ["all", "no-failures"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nobody",), "'nobody' is neither a replay nor a session and a stage like example-quick:1"),
        (("built:1",), "the arm failures-statistics-preserved cannot be asked: the engineer policy needs the weights of stage 1"),
        (("built:9",), "built has not validated a stage 9"),
        (("built:1", "--engineers", "me"), "there is no engineer 'me'; there are policy, base"),
        (("built:1", "--vary", "one-at-a-time", "--engineers", "rules,fixed"), "--vary one-at-a-time asks one engineer"),
        (("built:1", "--vary", "engineers", "--sections", "failures"), "--sections varies what one engineer sees"),
        (("built:1", "--engineers", "rules", "--samples", "0"), "samples: Input should be greater than or equal to 1"),
        (("built:1", "--engineers", "api"), "the engineer api has settings of its own"),
    ],
)
def test_a_replay_that_cannot_be_asked_is_refused_and_leaves_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path))
    build_session(tmp_path)
    assert reason(capsys, "replay", *arguments).startswith(said)
    assert not (tmp_path / "replays").exists()


def test_an_api_is_not_paid_before_somebody_agrees(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path))
    monkeypatch.setattr("frozenlab.engineer.chat.TRIES", 1)
    build_session(tmp_path)
    where = {"base_url": "http://127.0.0.1:9/v1", "model": "told", "input_price": 1, "output_price": 8, "timeout": 1}
    (tmp_path / "api.json").write_text(json.dumps(where))
    asked = ["replay", "built:1", "--vary", "leave-one-out", "--sections", "history", "--engineers", "api", "--samples", "1"]
    asked += ["--api", str(tmp_path / "api.json")]
    assert main(asked) == 2
    estimate, refusal = capsys.readouterr().err.splitlines()
    assert estimate.startswith("2 requests, about ") and "which cost at most 0.0" in estimate
    assert refusal == "frozenlab: nothing was asked; --yes skips the confirmation"
    assert not (tmp_path / "replays").exists()
    told = answer(capsys, *asked, "--yes")
    assert [(arm["n"], arm["unusable"]) for arm in told["arms"]] == [(1, 1), (1, 1)], "nobody is there to answer"


@pytest.mark.parametrize("command", ["run", "resume", "fork", "replay", "study"])
def test_a_server_that_was_not_allowed_is_not_asked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path / "sessions"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    from frozenlab.engineer.engineers import ApiEngineer

    api = ApiEngineer(base_url="https://api.evil.example/v1", model="m")
    spec = small_spec().changed(engineer=api)
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


@pytest.mark.skipif(bool(gpus()), reason="there is a GPU")
def test_a_session_that_cannot_run_here_is_refused_before_it_is_made(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["run", "--preset", "paper", "--out", str(tmp_path / "made")]) == 2
    assert "this session cannot run here" in (said := capsys.readouterr().err) and "it needs a GPU" in said
    assert not (tmp_path / "made").exists()


def test_doctor_reports_what_can_run(capsys: pytest.CaptureFixture[str]) -> None:
    report = answer(capsys, "doctor")
    assert report["can"]["lab-model"] is True
    assert {"Python", "packages", "lab model", "GPU"} <= {check["what"] for check in report["checks"]}
    assert set(report["presets"]) == set(PRESETS)
    assert report["presets"]["quick"] is None
    if not gpus():
        assert "it needs a GPU" in report["presets"]["paper"]


@pytest.mark.parametrize(("fast", "found"), [(True, "the processor has instructions for it"), (False, "so float32 is used")])
def test_doctor_says_what_the_processor_makes_of_bfloat16(fast: bool, found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frozenlab.training.optimizers.fast_bfloat16", lambda: fast)
    assert doctor.bfloat16().endswith(found)


def test_a_preset_can_have_another_schedule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr("frozenlab.cli.session.run_in_foreground", lambda session, as_json: made.append(session.spec.training))
    main(["run", "--preset", "quick", "--schedule", "per-stage", "--out", str(tmp_path / "made")])
    plain = preset_spec("quick").training
    assert made == [plain.model_copy(update={"schedule": "per-stage", "warmup_steps": 2})]


def test_a_fork_keeps_what_it_is_told_to_keep(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path))
    made = []

    def run(session: Session, as_json: bool) -> None:
        made.append(session)
        write_text(session.dir / "state.json", State(status="stopped").model_dump_json())

    monkeypatch.setattr("frozenlab.cli.fork.run_in_foreground", run)
    parent = build_session(tmp_path, session_id="built")
    record = parent.proposal(0)
    assert record is not None
    size = next(change.size for change in record.changes if change.knob != "share")
    assert main(["fork", "built:1", "--keep", str(size), "--why", "It works.", "--id", "kept", "--engineer", "rules"]) == 0
    (forked,) = made
    given = forked.given(0)
    assert given.summary == "It works." and (forked.id, forked.spec.engineer.kind, forked.spec.parent.session) == ("kept", "rules", "built")
    for knob in ("hole_ratio", "wait_ratio"):
        assert getattr(given.config.sizes[size], knob) == getattr(record.config_before.sizes[size], knob)
    config = tmp_path / "config.json"
    config.write_text(record.config_before.to_json())
    assert main(["fork", "built:1", "--config", str(config), "--id", "own"]) == 0
    assert made[-1].given(0).config == record.config_before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("fork", "built"), "names no stage"),
        (("fork", "built:0"), "names no stage"),
        (("fork", "built:9"), "has not validated a stage 9"),
        (("fork", "built:1", "--keep", "99"), "has no map size 99"),
        (("fork", "built:1", "--keep", "4", "--config", "x.json"), "give one"),
        (("fork", "built:1", "--engineer", "nobody"), "engineer"),
        (("propose", "built", "config.json"), "cannot change them"),
        (("propose", "built", "same.json"), "does not wait for a proposal, it is done"),
    ],
)
def test_forks_and_proposals_that_cannot_be_are_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    built = build_session(tmp_path, session_id="built")
    Path("config.json").write_text(EnvironmentConfig.uniform((3, 10)).to_json())
    Path("same.json").write_text(built.spec.initial_config.to_json())
    assert said in reason(capsys, *arguments)
    assert [path.name for path in tmp_path.iterdir() if path.is_dir() and not path.name.startswith(".")] == ["built"]


def test_a_fault_of_ours_is_not_told_as_bad_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fails(*_: object) -> None:
        raise KeyError("a list of ours")

    monkeypatch.setattr("frozenlab.loop.store.SessionStore.open", fails)
    assert main(["status", "any"]) == 70
    said = capsys.readouterr().err
    assert "Traceback" in said and "KeyError" in said and "this is a fault of FrozenLab" in said
