"""The paper's figures, as they are printed."""

from __future__ import annotations

import pytest

from frozenlab.base.numbers import wilson
from frozenlab.experiments.benchmark.lake.paper_results import paper_results
from frozenlab.lake.suites import SUITES


def test_the_papers_rows_as_printed() -> None:
    tables = paper_results().agents
    ours = {agents: table.models["Qwen3-4B + GRPO + Ours"].overall for agents, table in tables.items()}
    printed = {3: (0.5167, 0.3167), 4: (0.3314, 0.2133), 5: (0.1867, 0.11)}
    for agents, rates in ours.items():
        assert (rates.valid, rates.optimal) == pytest.approx(printed[agents])
    assert tables[3].models["GPT-5.4"].by_size[3].valid == pytest.approx(0.6467)
    assert tables[3].bounds(0.6467) == wilson(97, 150)


def test_every_table_is_whole_and_has_the_cells_of_our_suite() -> None:
    tables = paper_results().agents
    assert {(agents, size) for agents, table in tables.items() for size in table.sizes} == {
        (kind.agents, kind.size) for kind in SUITES["paper"].cells
    }
    for table in tables.values():
        assert len(table.models) == 7
        assert all(tuple(row.by_size) == table.sizes for row in table.models.values())


def test_two_printed_sums_are_not_the_means_of_their_cells() -> None:
    off = {
        (agents, name)
        for agents, table in paper_results().agents.items()
        for name, row in table.models.items()
        if any(row.mean(metric) != pytest.approx(getattr(row.overall, metric), abs=2e-4) for metric in ("valid", "optimal"))
    }
    assert off == {(4, "Gemini-3.1-Pro"), (5, "Kimi-K2.5")}
