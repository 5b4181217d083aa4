import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.lake.board import Agent, Board, Cell
from frozenlab.lake.words.reading import judge_answer
from frozenlab.tasks.lake.dialects import DialectError, max_plan_words, parse_plan, render_board, render_plan
from frozenlab.tasks.vocabulary import WORDS
from tests.lake.boards import boards

SIDE_BY_SIDE = Board.from_text("S F G\ns F g")


@given(boards(most_side=10))
def test_a_prompt_is_made_of_vocabulary_words_and_tells_boards_apart(board: Board) -> None:
    words = render_board(board).split()
    assert set(words) <= set(WORDS)
    assert words.count("moves") == 1 and words[-1] == "moves"
    holes = words[words.index("holes") + 1 : words.index("agent0")]
    assert len(holes) == len(board.holes)
    moved = Board(board.rows, (Agent(board.agents[0].goal, board.agents[0].start), *board.agents[1:]))
    assert render_board(moved) != render_board(board)


@given(boards(most_side=10), st.data())
def test_a_plan_survives_the_way_through_words(board: Board, data: st.DataObject) -> None:
    steps = data.draw(st.integers(0, 8))
    any_cell = st.tuples(st.integers(0, 9), st.integers(0, 9))
    paths = tuple((agent.start, *data.draw(st.lists(any_cell, min_size=steps, max_size=steps))) for agent in board.agents)
    answer = parse_plan(board, render_plan(paths), finished=True)
    assert answer.paths == paths and answer.fault is None


def test_the_prompt_lists_holes_and_agents() -> None:
    board = Board.from_text("S F G\ns H g")
    assert render_board(board) == "<plan> h2 w3 k2 holes r1c1 agent0 r0c0 r0c2 agent1 r1c0 r1c2 moves"


def test_the_prompt_lists_one_way_ice_and_doors_after_the_holes() -> None:
    board = Board.from_text("S F G >\ns H g 1\n> ^ 0 1")
    expected = "<plan> h3 w4 k2 holes r1c1 ^ r2c1 > r0c3 r2c0 door0 r2c2 door1 r1c3 r2c3 agent0 r0c0 r0c2 agent1 r1c0 r1c2 moves"
    assert render_board(board) == expected and set(expected.split()) <= set(WORDS)


def test_paths_of_unequal_length_are_filled_up_by_waiting() -> None:
    paths: tuple[tuple[Cell, ...], ...] = (((0, 0), (0, 1), (0, 2)), ((1, 0), (1, 1)))
    assert render_plan(paths) == "r0c1 r1c1 r0c2 r1c1"


@pytest.mark.parametrize(
    ("completion", "finished", "fault"),
    [
        ("r0c1 moves", True, "parse_error"),
        ("r0c1 moves", False, "parse_error"),
        ("r0c1 r1c1", False, "truncated"),
        ("r0c1 r1c1 r0c2", True, "missing_agent"),
        ("", True, "goal_not_reached"),
        ("r0c1 r1c1 r0c2 r1c2", True, None),
        ("r0c1 r1c1 r0c2 r9c9", True, "out_of_bounds"),
        ("r0c1 r1c1 r1c1 r1c1", True, "vertex_conflict"),
        ("r0c2 r1c1 r0c2 r1c2", True, "illegal_jump"),
    ],
)
def test_the_fault_of_an_answer(completion: str, finished: bool, fault: str | None) -> None:
    board = SIDE_BY_SIDE
    verdict = judge_answer(board, parse_plan(board, completion, finished), optimal_makespan=2)
    assert verdict.fault == fault
    assert verdict.valid == (fault is None)
    assert bool(verdict.optimal) == (fault is None)
    assert len(verdict.on_goal) == board.num_agents


def test_boards_without_words_are_refused() -> None:
    with pytest.raises(DialectError, match="1×11"):
        render_board(Board(("F" * 11,), (Agent((0, 0), (0, 1)),)))
    six = tuple(Agent((0, i), (1, i)) for i in range(6))
    with pytest.raises(DialectError, match="6 agents"):
        render_board(Board(("F" * 6, "F" * 6), six))


def test_the_word_limit_leaves_room_for_every_agent_and_the_end() -> None:
    board = SIDE_BY_SIDE
    assert max_plan_words(board) > 2 * board.num_agents and max_plan_words(board) % board.num_agents == 1
