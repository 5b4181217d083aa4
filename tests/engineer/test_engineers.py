"""Asking for a config: one retry, then the previous config is kept and the record says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from frozenlab.base.cells import diff
from frozenlab.engineer.ask import ask
from frozenlab.engineer.dialects.lab import LabEngineer, ProposalGrammar, parse_proposal, render_proposal
from frozenlab.engineer.engineers import BY_NAME, ENGINEERS, PolicyEngineer, engineer_of, titled, who_is
from frozenlab.engineer.engineers.rules import propose
from frozenlab.engineer.guard import USUAL, guard
from frozenlab.engineer.protocol import Engineer, EngineerSpec, Scripted
from frozenlab.engineer.schema import Evidence, ProposalRecord
from frozenlab.engineer.sections import history
from frozenlab.lake.config_cell import LAYOUTS, CellConfig
from frozenlab.lake.draw.generator import Realised
from frozenlab.tasks.lake.family import LAKE
from tests.engineer.builders import MIXED, OPEN, asked, context_of, lines_of, mixed_cell, of_sizes, one_cell

CONTEXT, CONFIG = of_sizes(4)
SCRIPTED = [engineer() for engineer in ENGINEERS if issubclass(engineer, Scripted) and "person" not in engineer.needs]
GOOD = render_proposal(CONTEXT, propose(CONTEXT, CONFIG))


NO_END = ValueError("the text did not end within the 1024 tokens the model can hold")
FOREIGN = "word 1 is 'size99', expected #1"


@pytest.mark.parametrize(
    ("answers", "errors", "kept_because"),
    [
        ([GOOD], [None], None),
        (["size99 nonsense", GOOD], [FOREIGN, None], None),
        (["", "size99"], ["the proposal ends after word 0, expected #1", FOREIGN], f"no answer could be used after 2 attempts: {FOREIGN}"),
        ([NO_END, NO_END], [str(NO_END)] * 2, f"no answer could be used after 2 attempts: {NO_END}"),
    ],
    ids=["good", "broken-once", "broken-twice", "endless"],
)
def test_an_answer_that_cannot_be_used_is_asked_for_once_more(
    answers: list[str | ValueError], errors: list[str | None], kept_because: str | None
) -> None:
    left = list(answers)

    def write(prompt: str, grammar: ProposalGrammar, seed: int) -> str:
        assert prompt.startswith("<engineer>")
        answer = left.pop(0)
        if isinstance(answer, ValueError):
            raise answer
        return answer

    record = ask(LabEngineer(write), CONTEXT, CONFIG, USUAL, seed=1)
    assert [attempt.error for attempt in record.attempts] == errors and not left
    assert [attempt.raw for attempt in record.attempts] == ["" if answer is NO_END else answer for answer in answers]
    assert record.kept_because == kept_because
    if kept_because:
        assert record.proposal is None and record.config_after == CONFIG and record.changes == ()
    else:
        wanted, _ = guard(parse_proposal(CONTEXT, CONFIG, GOOD).config, CONFIG)
        assert record.proposal is not None and record.config_after == wanted != CONFIG


@pytest.mark.parametrize("engineer", SCRIPTED, ids=lambda engineer: engineer.kind)
def test_every_scripted_engineer_gives_a_config_that_survives_the_guard(engineer: Engineer) -> None:
    record = ask(engineer, CONTEXT, CONFIG, USUAL, seed=1)
    assert record.engineer == engineer.kind
    assert record.proposal is not None
    assert tuple(record.config_after.cells) == CONTEXT.names


@pytest.mark.parametrize("lines", [lines_of(MIXED, 0.9, 0.5, 0.1), []], ids=["evidence", "nothing"])
@pytest.mark.parametrize("engineer", SCRIPTED, ids=lambda engineer: engineer.kind)
def test_every_scripted_engineer_proposes_for_several_teams(engineer: Engineer, lines: list[Evidence]) -> None:
    record = ask(engineer, context_of(MIXED, *lines), MIXED, OPEN, seed=1)
    assert record.proposal is not None and record.kept_because is None and record.guard.repairs == ()
    assert [cell.kind for cell in record.config_after.cells.values()] == [cell.kind for cell in MIXED.cells.values()]
    assert sum(cell.share for cell in record.config_after.cells.values()) == pytest.approx(1)
    assert {claim.cell for claim in record.proposal.claims} <= set(MIXED.cells)
    assert all(mixed_cell(claim.cell).words in claim.text.lower() for claim in record.proposal.claims)
    assert ProposalRecord.model_validate_json(record.model_dump_json()) == record


def test_boards_go_to_the_team_that_learns() -> None:
    context = context_of(MIXED, *lines_of(MIXED, 1.0, 0.5, 0.0))
    shares = {name: asked(name, context, MIXED, USUAL).config_after.cells["3@4"].share for name in ("rules", "learnability")}
    assert shares["rules"] == pytest.approx(1.1 / 1.3) and shares["learnability"] == pytest.approx(0.96)


def test_fixed_changes_nothing_and_random_depends_on_the_seed() -> None:
    assert asked("fixed", CONTEXT, CONFIG).config_after == CONFIG
    one, same, other = (asked("random", CONTEXT, CONFIG, seed=seed).config_after for seed in (1, 1, 2))
    assert one == same != other


LAID_OUT = CONFIG.with_cells(
    {name: cell.model_copy(update={"layouts": {"rooms": 0.5, "maze": 0.5}}) for name, cell in CONFIG.cells.items()}
).model_copy(update={"wait_definition": "sum_of_costs"})


@pytest.mark.parametrize("engineer", [*SCRIPTED, LabEngineer(lambda prompt, grammar, seed: GOOD)], ids=lambda e: e.kind)
def test_layouts_and_wait_definition_are_not_lost_on_the_way(engineer: Engineer) -> None:
    record = ask(engineer, CONTEXT, LAID_OUT, OPEN, seed=1)
    assert record.config_after.with_layouts_of(LAID_OUT) == record.config_after
    assert not [repair for repair in record.guard.repairs if repair.knob in LAYOUTS]
    assert ProposalRecord.model_validate_json(record.model_dump_json()).config_after == record.config_after


def test_random_draws_among_the_layouts_that_the_spec_allows() -> None:
    context = CONTEXT.model_copy(update={"layouts": ("maze", "open")})
    after = asked("random", context, CONFIG)
    assert {layout for cell in after.config_after.cells.values() for layout in cell.layouts} == {"maze", "open"}
    assert {change.knob for change in after.changes} >= {"scatter", "maze", "open"}
    kept = asked("rules", context, CONFIG).config_after
    assert kept.with_layouts_of(CONFIG) == kept


def test_the_statistics_and_the_history_name_layouts() -> None:
    drawn = Realised(boards=10, share=1, hole_ratio=0.3, wait_ratio=0.5, mean_makespan=7)
    own = CellConfig(size=6, share=1, hole_ratio=0.3, wait_ratio=0.5)
    assert "boards; drawn" not in LAKE.statistics(one_cell(6), own, drawn)[0]
    mixed, _ = LAKE.statistics(one_cell(6), own.model_copy(update={"layouts": {"scatter": 0.25, "maze": 0.75}}), drawn)
    assert "wait ratio 0.50, 25% scatter, 75% maze boards; drawn 10 boards" in mixed
    assert "part of maze boards +0.20" in history.cell_line(one_cell(6), 0, {"maze": 0.2}, 0.5, 0.4, None).text


def test_the_proposals_of_a_recorded_session_still_read() -> None:
    stages = Path(__file__).parents[2] / "sessions" / "example-quick" / "stages"
    records = [ProposalRecord.model_validate_json(path.read_text(encoding="utf-8")) for path in stages.glob("*/proposal.json")]
    assert records and all(list(record.changes) == diff(record.config_before, record.config_after) for record in records)


@pytest.mark.parametrize("engineer", ENGINEERS, ids=lambda engineer: engineer.name())
def test_every_engineer_says_what_people_need_to_know(engineer: type[EngineerSpec]) -> None:
    assert BY_NAME[engineer.name()] is engineer
    assert engineer.label and engineer.help.endswith(".")
    assert who_is(engineer.name()) == (engineer.who or f"the {engineer.name()} engineer")
    assert titled(engineer.name()).endswith(engineer.label)


def test_an_engineer_is_found_by_name_and_keeps_its_settings() -> None:
    blunt = PolicyEngineer(guidance=False)
    assert engineer_of("policy", blunt) is blunt
    assert engineer_of("base", blunt).model_dump() == blunt.model_dump() | {"kind": "base"}
    assert engineer_of("rules", blunt) == engineer_of("rules")
    assert who_is("newer") == "the newer engineer", "a record of a newer version is still shown"
    with pytest.raises(ValueError, match=r"there is no engineer 'nobody'; there are policy, base"):
        engineer_of("nobody")
    with pytest.raises(ValueError, match=r"the engineer api has settings of its own: .* base_url and model"):
        engineer_of("api")
