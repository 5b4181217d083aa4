"""However a session's files are damaged, every reader shows what it can, names the damage and raises nothing else."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from frozenlab.base.files import append_line
from frozenlab.experiments.benchmark.results import Result
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.session import reading
from frozenlab.session.reading import GrowingLines, sound_lines
from frozenlab.session.session import Figures, Session, SessionError
from tests.builders import build_result, build_session, small_spec
from tests.faults import readers
from tests.faults.harness import DAMAGES
from tests.faults.mutations import way_of_file

EACH = 20
"""Mutations of each file."""
FILES = (
    "session.json", "state.json", "events.jsonl", "baseline/validation.parquet", "stages/00/environment.json", "stages/00/metrics.jsonl",
    "stages/00/completions.parquet", "stages/00/validation.parquet", "stages/00/context.json", "stages/00/proposal.json",
)  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return build_session(tmp_path_factory.mktemp("damage"), small_spec(stages=1, sizes=(3, 4), boards_per_size=4))


@pytest.mark.parametrize("file", FILES)
def test_every_reader_survives_every_mutation_of_every_file(built: Session, file: str) -> None:
    path, draw = built.dir / file, random.Random(file)
    data = path.read_bytes()
    try:
        for number in range(EACH):
            with suppress(ValueError, IndexError):  # the file is so short or so simple that it cannot be damaged in this way
                way_of_file(path, draw)(path, draw)
            for read in (readers.store, readers.session, readers.evidence):
                try:
                    read(built.dir.parent, built.id)
                except SessionError as error:
                    assert file == "session.json" or read is readers.evidence, f"mutation {number}: {error}"
            path.write_bytes(data)
    finally:
        path.write_bytes(data)


def damaged(folder: Path, file: str, how: Callable[[Path], Any]) -> Session:
    built = build_session(folder, small_spec(stages=1, sizes=(3,), boards_per_size=4))
    how(built.dir / file)
    return Session(built.dir)


def with_metadata(path: Path) -> None:
    """A table with whole numbers in it that no column can hold."""
    table = pq.read_table(path)
    broken = json.loads(table.schema.metadata[b"pandas"])
    broken["index_columns"] = [{"kind": "range", "name": None, "start": 0, "stop": 10**30, "step": 1}]
    pq.write_table(table.replace_schema_metadata({b"pandas": json.dumps(broken).encode()}), path)


@pytest.mark.parametrize("how", [DAMAGES["a folder"], with_metadata, DAMAGES["without a column"]])
def test_a_malformed_table_is_not_a_measurement(tmp_path: Path, how: Callable[[Path], None]) -> None:
    session = damaged(tmp_path, "stages/00/validation.parquet", how)
    assert session.validation(0) is None
    [problem] = session.problems
    assert problem.startswith("stages/00/validation.parquet cannot be read: ")


def test_an_empty_table_is_not_a_measurement(tmp_path: Path) -> None:
    session = damaged(tmp_path, "baseline/validation.parquet", DAMAGES["without rows"])
    assert session.validation(None) is None
    assert session.problems == ["baseline/validation.parquet holds no boards"]


def test_a_path_may_leave_the_board_or_be_empty(tmp_path: Path) -> None:
    def off_the_board(path: Path) -> None:
        table = pd.read_parquet(path)
        table[["valid", "fault", "cell", "paths"]] = [False, "out_of_bounds", "[-1, 3]", "[[], [[0, 0], [-1, 0]]]"]
        table.to_parquet(path)

    session = damaged(tmp_path, "stages/00/completions.parquet", off_the_board)
    assert session.completions(0) is not None and session.problems == []


def add(line: str) -> Callable[[Path], int]:
    return lambda path: path.write_text(path.read_text() + line + "\n")


@pytest.mark.parametrize("line", ['{"time": [1], "kind": "x"}', '{"time": 1e300, "kind": "x"}', '{"kind": "x"}', '{"time": 1}'])
def test_lines_that_are_not_events_are_skipped_and_named(tmp_path: Path, line: str) -> None:
    session = damaged(tmp_path, "events.jsonl", add(line))
    assert all(isinstance(event["kind"], str) and event["time"] < 2e9 for event in session.events())
    assert session.problems[0].startswith("events.jsonl has a line that is none of its kind")


def test_whole_numbers_of_events_stay_whole(tmp_path: Path) -> None:
    session = damaged(tmp_path, "events.jsonl", add('{"time": 1.5, "kind": "validated", "stage": 0, "n": 240, "kept_because": null}'))
    assert str(session.events()[-1]) == "{'time': 1.5, 'kind': 'validated', 'stage': 0, 'n': 240, 'kept_because': None}"


def test_figures_are_numbers_or_nothing(tmp_path: Path) -> None:
    session = damaged(
        tmp_path, "stages/00/metrics.jsonl", add('{"step": "7", "reward": 0.5}\n{}\n{"step": 9, "reward": [1]}\n{"step": 10}')
    )
    assert session.metrics(0)["step"].tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 10], "a step that is written as text is one"
    assert session.metrics(0)["reward"].dtype == float
    assert len(session.problems) == 2


def test_rates_are_counted_again_if_the_state_is_lost(tmp_path: Path) -> None:
    session = damaged(tmp_path, "state.json", Path.unlink)
    state = session.state()
    assert (state.status, state.error) == ("failed", "state.json is missing or damaged")
    assert [(rate.stage, rate.n) for rate in state.rates] == [(None, 4), (0, 4)]


def test_a_swapped_environment_is_noticed(tmp_path: Path) -> None:
    other = build_session(tmp_path, small_spec(stages=1, sizes=(4,), boards_per_size=4), "other")
    config = (other.stage_dir(0) / "environment.json").read_text()
    session = damaged(tmp_path, "stages/00/environment.json", lambda path: path.write_text(config))
    assert session.environment(0) is None
    assert session.problems == ["stages/00/environment.json is not what was decided on for this stage"]


def test_a_result_whose_table_lacks_a_column_has_no_rows_and_says_so(tmp_path: Path) -> None:
    boards = generate(EnvironmentConfig.uniform((3,), agents=2), 4, 1, sum_of_costs=True)
    folder = build_result(tmp_path, "mine", boards, 0.5).dir
    pd.read_parquet(folder / "boards.parquet").drop(columns="cell").to_parquet(folder / "boards.parquet")
    result = Result(folder)
    assert result.rows is None and result.problems == ["mine: boards.parquet cannot be read: it has no column 'cell'"]


# --- files that grow --------------------------------------------------------------------------------------------------


def test_of_a_growing_file_only_new_lines_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, read, asked = tmp_path / "metrics.jsonl", GrowingLines(Figures, 10), []
    monkeypatch.setattr(reading, "sound_lines", lambda path, kind, offset: asked.append(offset) or sound_lines(path, kind, offset))
    for step in range(1, 4):
        append_line(path, {"step": step, "valid": 0.5})
        assert read(path) == sound_lines(path, Figures)
    assert asked[0] == 0 < asked[1] < asked[2]


@pytest.mark.parametrize(
    "written", ['{"step": 9, "valid": 0.1}\n', '{"step": 7, "valid": 0.25}\n{"step": 8, "valid": 0.5}\n{"step": 9, "valid": 0.5}\n', ""]
)
def test_a_file_that_was_written_anew_is_read_from_its_start(tmp_path: Path, written: str) -> None:
    path, read = tmp_path / "metrics.jsonl", GrowingLines(Figures, 10)
    for step in (1, 2):
        append_line(path, {"step": step, "valid": 0.5})
    read(path)
    path.write_text(written)
    assert read(path) == sound_lines(path, Figures)


def test_problems_are_told_once(tmp_path: Path) -> None:
    path, read = tmp_path / "metrics.jsonl", GrowingLines(Figures, 10)
    for line in ('{"step": "x"}\n', '{"step": 1}\n', '{"step": "x"}\n', '{"step": 2}'):
        with path.open("a") as file:
            file.write(line)
        found = read(path)
    assert [row["step"] for row in found.lines] == [1] and len(found.problems) == 1


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    path, read = tmp_path / "metrics.jsonl", GrowingLines(Figures, 10)
    append_line(path, {"step": 1, "valid": 0.5})
    read(path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(OSError, match=r"metrics\.jsonl is no file"):
        read(path)
