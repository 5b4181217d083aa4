"""Suites: fixed sets of boards on which policies are compared, by name (those are held out), from a file or from the official dataset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from frozenlab.base.cells import quotas
from frozenlab.base.errors import LabError
from frozenlab.base.files import MAX_TEXT, read_text
from frozenlab.base.schemas import Strict
from frozenlab.lake import formats
from frozenlab.lake.board import BoardError
from frozenlab.lake.config import PAPER_SIZES, EnvironmentConfig
from frozenlab.lake.config_cell import MAX_AGENTS, MAX_SIZE, MIN_SIZE, BoardKind, Layout, Ratio
from frozenlab.lake.draw.feasible import infeasible
from frozenlab.lake.draw.generator import name_instance
from frozenlab.lake.draw.hashes import NOTHING, canonical_hashes
from frozenlab.lake.draw.stream import Block, Stratum, fill_blocks, holes_of
from frozenlab.lake.formats import benchmark
from frozenlab.lake.formats.entry import Entry, Source
from frozenlab.lake.instance import Instance
from frozenlab.lake.kernels.warm_up import load_solver
from frozenlab.lake.solvers.solver import solve_all


class SuiteSpec(Strict):
    """Which boards a suite holds; the same spec gives the same boards everywhere.

    A suite cell is one team size on one map size, and one layout if it has several. Its boards are spread evenly over the hole ratios.
    Cells and hole ratios that leave no room for the agents are skipped.
    """

    agents: Annotated[tuple[Annotated[int, Field(ge=1, le=MAX_AGENTS)], ...], Field(min_length=1)]
    sizes: Annotated[tuple[Annotated[int, Field(ge=MIN_SIZE, le=MAX_SIZE)], ...], Field(min_length=1)]
    boards_per_cell: Annotated[int, Field(ge=1, le=10_000, title="Held-out boards")]
    """Boards for each map size and each number of agents. More boards give narrower intervals and a slower validation."""
    hole_ratios: Annotated[tuple[Ratio, ...], Field(min_length=1)] = (0.1, 0.2, 0.3, 0.4, 0.5)
    wait_ratio: Ratio | None = None
    """Part of a cell's boards, spread evenly over the hole ratios, that need a WAIT; None keeps the natural mix."""
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    layouts: Annotated[tuple[Layout, ...], Field(min_length=1, exclude_if=lambda layouts: layouts == ("scatter",))] = ("scatter",)
    """Layouts of the boards, a cell each. Left out of files where all boards are scatter, as the paper's."""

    @property
    def family(self) -> str:
        return "lake"

    @property
    def cells(self) -> tuple[BoardKind, ...]:
        """The kinds of boards, each with as many. As in the paper, a board has at least as many rows as agents."""
        kinds = (
            BoardKind(num_agents, size, None if self.layouts == ("scatter",) else layout)
            for num_agents in self.agents
            for size in self.sizes
            for layout in self.layouts
        )
        return tuple(kind for kind in kinds if kind.size >= kind.agents and self.hole_counts(kind))

    def hole_counts(self, kind: BoardKind) -> list[int]:
        """The different hole counts of a cell's boards, ascending; those that leave no room for the team are left out."""
        name = str(kind.size)
        configs = [EnvironmentConfig.uniform((kind.size,), kind.agents, ratio, self.wait_ratio or 0.0) for ratio in self.hole_ratios]
        natural = self.wait_ratio is None
        possible = [config for config in configs if infeasible(config, name, kind.layout or "scatter", natural=natural) is None]
        return sorted({holes_of(kind.size, config.cells[name].hole_ratio) for config in possible})


SEED = 20_260_617
WAIT_RATIOS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The shares of boards that need a WAIT of the paper's benchmark, a suite each."""
PAPER = SuiteSpec(agents=(3, 4, 5), sizes=PAPER_SIZES, boards_per_cell=150, seed=SEED)
SUITES: dict[str, SuiteSpec] = {
    "quick": SuiteSpec(agents=(2, 3, 4), sizes=PAPER_SIZES, boards_per_cell=10, seed=SEED),
    "session": SuiteSpec(agents=(3,), sizes=(3, 4, 5, 6, 7, 8), boards_per_cell=40, seed=SEED),
    "train-shape": SuiteSpec(agents=(2,), sizes=PAPER_SIZES, boards_per_cell=150, seed=SEED),
    "paper": PAPER,
} | {f"paper-wr{ratio:g}": PAPER.model_copy(update={"wait_ratio": ratio}) for ratio in WAIT_RATIOS}
"""Suites by name. ``session`` is what the quick session validates on, and a part of ``paper``; ``train-shape`` has the paper's team size
of training; ``paper`` has the shape of the public benchmark: 21 cells with 3,150 boards in their natural mix; in ``paper-wr0.5`` half of
them need a WAIT. Every wait ratio can be had in every cell and at every hole ratio that ``paper`` has."""
HELD_OUT = Path(__file__).parent / "data" / "held_out.npy"


def build_suite(
    spec: SuiteSpec,
    config: EnvironmentConfig | None = None,
    *,
    sum_of_costs: bool = True,
    exclude: NDArray[np.uint64] = NOTHING,
    workers: int = 1,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Instance]:
    """Draws and solves the boards of a suite; cell after cell, and in a cell one hole count after the other.

    No two boards of a suite are rotations, mirror images or renumberings of each other. A tiny cell that has no more different boards
    holds fewer.

    Args:
        config: the config of the session, which names the cell that each board counts for.
        sum_of_costs: find the optimal sums of costs too.
        exclude, workers, on_progress: as in :func:`frozenlab.lake.draw.generator.generate`.

    Raises:
        GenerationError: a wait ratio cannot be reached.
    """
    blocks: list[tuple[str, Block]] = []  # with the name of the cell that their boards count for
    for kind in spec.cells:
        name = config.cell_of(kind) if config else ""
        counts = spec.hole_counts(kind)
        even = [1.0] * len(counts)
        parts: list[tuple[int, ...]] = [(boards,) for boards in quotas(spec.boards_per_cell, even)]
        if spec.wait_ratio is not None:
            waiting = quotas(quotas(spec.boards_per_cell, [1 - spec.wait_ratio, spec.wait_ratio])[1], even)
            parts = [(boards[0] - wait, wait) for boards, wait in zip(parts, waiting, strict=True)]
        for holes, wanted in zip(counts, parts, strict=True):
            stratum = Stratum(kind.size, kind.agents, holes, kind.layout or "scatter")
            blocks.append((name, Block(stratum, stratum.key("suite", spec.seed), wanted)))
    filled = fill_blocks(
        [block for _, block in blocks], exclude=exclude, distinct=True, sum_of_costs=sum_of_costs, workers=workers, on_progress=on_progress
    )
    boards = [(board, name) for (name, _), drawn in zip(blocks, filled, strict=True) for board in drawn]
    return [name_instance(number, *pair) for number, pair in enumerate(boards)]


@cache
def held_out() -> NDArray[np.uint64]:
    """Canonical hashes, ascending, of all boards of all named suites: no training draw may have them. Made by :func:`main`."""
    return np.load(HELD_OUT, allow_pickle=False)


HUB = "LARK-Lab/MAPF-FrozenLake-Benchmark"
"""The official dataset on the Hugging Face hub; its parts are called ``benchmark_wr*``, by wait ratio."""
PREFIX = "hf:"
"""Begins the name of a part of the official dataset: ``hf:benchmark_wr0.5``."""
CHUNK = 64
"""Boards that are solved between two reports of progress."""

Progress = Callable[[int, int], None]


class SuiteError(LabError, ValueError):
    """There are no such boards, or they cannot be used; the message says why."""


def check_suite(name: str) -> None:
    """Raises SuiteError if ``name`` is no suite, no part of the official dataset by its form, and no file. Reads nothing."""
    if name not in SUITES and not name.startswith(PREFIX) and not Path(name).is_file():
        raise SuiteError(
            f"there is no suite {name!r} and no such file; the suites are {', '.join(SUITES)}, "
            f"and {PREFIX}benchmark_wr0.5 and the like of the official dataset"
        )


def open_suite(name: str, on_progress: Progress | None = None) -> list[Instance]:
    """The boards of a named suite, of a file (JSON lines, JSON, Parquet or any other format of boards), or of the official dataset.

    All have different names, and their optima are known (save for a few that the solver leaves undecided). Those that a file may claim are
    not believed: every board that was not drawn here is solved here.

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
        return build_suite(SUITES[name], on_progress=on_progress)
    return solved(official(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else read_file(Path(name)), on_progress)


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
    """The boards with their optima, exact; those without a name are given a number. Raises SuiteError for a board without a solution."""
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


def main() -> None:
    """``python -m frozenlab.lake.suites`` writes the hashes of the named suites again."""
    boards = [instance.board for spec in SUITES.values() for instance in build_suite(spec, sum_of_costs=False)]
    np.save(HELD_OUT, canonical_hashes(boards))
    print(f"{len(held_out())} different boards in {len(SUITES)} suites")


if __name__ == "__main__":
    main()
