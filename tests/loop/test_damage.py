"""However a session's files are damaged, every reader shows what it can, names the damage and raises nothing else."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from frozenlab.engineer.sections import describe
from frozenlab.experiments.benchmark.results import Result
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.session.session import Session, SessionError
from frozenlab.session.soundness import problems_of
from frozenlab.session.store import SessionStore
from tests.builders import build_result, build_session, small_spec

JUNK: tuple[Any, ...] = (None, True, [1], {}, "7", "x", 1e300, -1, 10**30, float("nan"), float("inf"), "")
EACH = 20
"""Mutations of each file."""
FILES = (
    "session.json", "state.json", "events.jsonl", "baseline/validation.parquet", "stages/00/environment.json", "stages/00/metrics.jsonl",
    "stages/00/completions.parquet", "stages/00/validation.parquet", "stages/00/context.json", "stages/00/proposal.json",
)  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return build_session(tmp_path_factory.mktemp("damage"), small_spec(stages=1, sizes=(3, 4), boards_per_size=4))


def read_all(folder: Path) -> Session:
    """Every reader there is, and what the worker and the pages make of what they read."""
    session = Session(folder)
    problems_of(session), session.rates(), session.checkpoints(), session.created, session.title
    for stage in range(2):
        session.metrics(stage)
        try:
            measured = session.measurements(stage)
        except SessionError:
            continue
        describe(measured, session.spec.sections, session.spec.layouts)
    SessionStore(folder.parent).sessions()
    return session


def places(value: Any, at: tuple = ()) -> Iterator[tuple]:
    yield at
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[key], (*at, key))


def changed(text: str, draw: random.Random) -> str:
    """JSON with a value at some place in it changed or deleted."""
    value = json.loads(text)
    *way, last = draw.choice([at for at in places(value) if at] or [(None,)])
    inner = value
    for key in way:
        inner = inner[key]
    if draw.random() < 0.2:
        del inner[last]
    else:
        inner[last] = draw.choice(JUNK)
    return json.dumps(value)


def mutated(data: bytes, suffix: str, draw: random.Random) -> bytes | pd.DataFrame:
    if draw.random() < 0.3:
        flipped = bytearray(data)
        for _ in range(draw.randint(1, 4)):
            flipped[draw.randrange(len(flipped))] = draw.randrange(256)
        return draw.choice([bytes(flipped), data[: draw.randrange(len(data))], bytes(len(data)), b"[" * 100_000])
    if suffix == ".json":
        return changed(data.decode(), draw).encode()
    if suffix == ".jsonl":
        lines = data.decode().splitlines()
        number = draw.randrange(len(lines))
        lines[number] = changed(lines[number], draw)
        return ("\n".join(lines) + "\n").encode()
    table = pd.read_parquet(pa.BufferReader(data))
    name = draw.choice(list(table.columns))
    if draw.random() < 0.3:
        return table.drop(columns=name)
    return table.assign(**{name: draw.choice(["x", None, 1.5, -1, True])})


@pytest.mark.parametrize("file", FILES)
def test_every_reader_survives_every_mutation_of_every_file(built: Session, file: str) -> None:
    path, draw = built.dir / file, random.Random(file)
    data = path.read_bytes()
    try:
        for number in range(EACH):
            broken = mutated(data, path.suffix, draw)
            if isinstance(broken, bytes):
                path.write_bytes(broken)
            else:
                broken.to_parquet(path)
            try:
                read_all(built.dir)
            except SessionError as error:
                assert file == "session.json", f"mutation {number}: {error}"
    finally:
        path.write_bytes(data)


def damaged(folder: Path, file: str, how: Callable[[Path], Any]) -> Session:
    built = build_session(folder, small_spec(stages=1, sizes=(3,), boards_per_size=4))
    how(built.dir / file)
    return Session(built.dir)


def as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def with_metadata(path: Path) -> None:
    """A table with whole numbers in it that no column can hold."""
    table = pq.read_table(path)
    broken = json.loads(table.schema.metadata[b"pandas"])
    broken["index_columns"] = [{"kind": "range", "name": None, "start": 0, "stop": 10**30, "step": 1}]
    pq.write_table(table.replace_schema_metadata({b"pandas": json.dumps(broken).encode()}), path)


@pytest.mark.parametrize("how", [as_folder, with_metadata, lambda path: pd.read_parquet(path).drop(columns="size").to_parquet(path)])
def test_a_malformed_table_is_not_a_measurement(tmp_path: Path, how: Callable[[Path], None]) -> None:
    session = damaged(tmp_path, "stages/00/validation.parquet", how)
    assert session.validation(0) is None
    [problem] = session.problems
    assert problem.startswith("stages/00/validation.parquet cannot be read: ")


def test_an_empty_table_is_not_a_measurement(tmp_path: Path) -> None:
    session = damaged(tmp_path, "baseline/validation.parquet", lambda path: pd.read_parquet(path).head(0).to_parquet(path))
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
    assert all(isinstance(event["kind"], str) and event["time"] < 2e9 for event in session.events()[0])
    assert session.problems[0].startswith("events.jsonl has a line that is none of its kind")


def test_whole_numbers_of_events_stay_whole(tmp_path: Path) -> None:
    session = damaged(tmp_path, "events.jsonl", add('{"time": 1.5, "kind": "validated", "stage": 0, "n": 240, "kept_because": null}'))
    assert str(session.events()[0][-1]) == "{'time': 1.5, 'kind': 'validated', 'stage': 0, 'n': 240, 'kept_because': None}"


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


def test_a_bad_folder_is_listed_as_unreadable_and_the_others_are_shown(tmp_path: Path) -> None:
    build_session(tmp_path, small_spec(stages=1, sizes=(3,), boards_per_size=4), "good")
    (tmp_path / "bad" / "session.json").mkdir(parents=True)
    store = SessionStore(tmp_path)
    assert "good" in [session.id for session in store.sessions()]
    assert store.unreadable["bad"].startswith("session 'bad': session.json cannot be read: ")


def test_a_result_whose_table_lacks_a_column_has_no_rows_and_says_so(tmp_path: Path) -> None:
    boards = generate(EnvironmentConfig.uniform((3,), agents=2), 4, 1, sum_of_costs=True)
    folder = build_result(tmp_path, "mine", boards, 0.5).dir
    pd.read_parquet(folder / "boards.parquet").drop(columns="cell").to_parquet(folder / "boards.parquet")
    result = Result(folder)
    assert result.rows is None and result.problems == ["mine: boards.parquet cannot be read: it has no column 'cell'"]
