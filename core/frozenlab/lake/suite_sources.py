"""Where the boards of an evaluation come from: a named suite, a file, or the official dataset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from frozenlab.base.errors import LabError
from frozenlab.base.files import MAX_TEXT, read_text
from frozenlab.lake import formats
from frozenlab.lake.board import BoardError
from frozenlab.lake.formats import benchmark
from frozenlab.lake.formats.entry import Entry, Source
from frozenlab.lake.instance import Instance
from frozenlab.lake.kernels.warm_up import load_solver
from frozenlab.lake.solvers.solver import solve_all
from frozenlab.lake.suites import SUITES, SuiteSpec, build_suite

HUB = "LARK-Lab/MAPF-FrozenLake-Benchmark"
"""The official dataset on the Hugging Face hub; its parts are called ``benchmark_wr*``, by wait ratio."""
PREFIX = "hf:"
"""Begins the name of a part of the official dataset: ``hf:benchmark_wr0.5``."""
CHUNK = 64
"""Boards that are solved between two reports of progress."""

Progress = Callable[[int, int], None]


class SuiteError(LabError, ValueError):
    """There are no such boards, or they cannot be used; the message says why."""


@dataclass(frozen=True)
class Suite:
    """Boards to evaluate on, all with different names and their optima known (save for a few that the solver leaves undecided)."""

    name: str
    spec: SuiteSpec | None
    """None unless it is a named suite."""
    boards: list[Instance]


def check_suite(name: str) -> None:
    """Raises SuiteError if ``name`` is no suite, no part of the official dataset by its form, and no file. Reads nothing."""
    if name not in SUITES and not name.startswith(PREFIX) and not Path(name).is_file():
        raise SuiteError(
            f"there is no suite {name!r} and no such file; the suites are {', '.join(SUITES)}, "
            f"and {PREFIX}benchmark_wr0.5 and the like of the official dataset"
        )


def open_suite(name: str, on_progress: Progress | None = None) -> Suite:
    """The boards of a named suite, of a file (JSON lines, JSON, Parquet or any other format of boards), or of the official dataset.

    The optima that a file may claim are not believed: every board that was not drawn here is solved here.

    Args:
        on_progress: called with (boards solved, all of them) now and then.

    Raises:
        SuiteError: there is no such suite, or one of its boards cannot be used.
        BoardError: a file cannot be read; the message names the record.
        OSError: there is no such file.
    """
    check_suite(name)
    load_solver()
    if name in SUITES:
        return Suite(name, SUITES[name], build_suite(SUITES[name], on_progress=on_progress))
    if name.startswith(PREFIX):
        return Suite(name, None, solved(official(name.removeprefix(PREFIX)), on_progress))
    return Suite(Path(name).name, None, solved(read_file(Path(name)), on_progress))


def read_file(path: Path) -> list[Entry]:
    """The boards of a file. Raises BoardError or TextError with a one-line reason."""
    if path.suffix != ".parquet":
        text = read_text(path)
        return formats.read(formats.recognise(path.name, text), Source(text, path.stem))
    import pyarrow
    from pyarrow import parquet

    if path.stat().st_size > MAX_TEXT:
        raise BoardError(f"{path.name} is larger than {MAX_TEXT // 2**20} MB")
    try:
        records = parquet.read_table(path).to_pylist()
    except pyarrow.ArrowException as error:
        raise BoardError(f"{path.name} is no Parquet file: {str(error).splitlines()[0]}") from None
    return benchmark.read_records(records)


def official(part: str, repository: str = HUB) -> list[Entry]:
    """The boards of one part of the official dataset, of all its splits.

    Args:
        repository: a dataset on the hub, or a local folder of the same shape.

    Raises:
        SuiteError: it cannot be loaded, most likely because there is no network.
        BoardError: a record is wrong; the message names it.
    """
    import datasets

    try:
        splits = datasets.load_dataset(repository, part)
    except (OSError, ValueError) as error:  # everything that can go wrong here, the network included, is one of these
        reason = str(error).splitlines()[0].rstrip(".")
        raise SuiteError(
            f"{part!r} of {repository} cannot be loaded: {reason}. Without a network, give the dataset's file instead"
        ) from None
    return benchmark.read_records(record for split in splits.values() for record in split)


def solved(entries: Sequence[Entry], on_progress: Progress | None = None) -> list[Instance]:
    """The boards with their optima, exact; those without a name are given a number. Raises SuiteError for a board nobody can solve."""
    if not entries:
        raise SuiteError("the suite holds no board")
    names = [entry.name or f"board-{number}" for number, entry in enumerate(entries, 1)]
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise SuiteError(f"{times} boards are called {name!r}; every board needs a name of its own")
    found: list[Instance] = []
    for first in range(0, len(entries), CHUNK):
        boards = [entry.board for entry in entries[first : first + CHUNK]]
        for board, solution in zip(boards, solve_all(boards, sum_of_costs=True), strict=True):
            if solution.status == "unsolvable":
                raise SuiteError(f"board {names[len(found)]!r} has no solution, so no model can be measured on it")
            found.append(Instance(names[len(found)], board, solution))
        if on_progress:
            on_progress(len(found), len(entries))
    return found
