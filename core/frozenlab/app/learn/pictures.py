"""The pictures of the course, one a chapter: boards to play with, and the exercises that are made of recorded answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import plotly.graph_objects as go
import streamlit as st

from frozenlab.app.learn import boards
from frozenlab.app.learn.exercises import HEIGHT, Choice, InSteps, Prediction, priorities, show_plans
from frozenlab.app.play.optimum import solution_of
from frozenlab.app.ui import markup
from frozenlab.app.ui.components import NODES, component
from frozenlab.app.ui.figures import AFTER_COLOR, BEFORE_COLOR, GRID_COLOR, Chart, common_layout, whiskers
from frozenlab.app.views.lake import view
from frozenlab.app.views.lake.player import board_player
from frozenlab.app.views.lake.search import search_player
from frozenlab.app.views.lake.share import encode
from frozenlab.app.views.lake.tracks import Recorded, fault_sentence, recorded
from frozenlab.app.views.views import view_of
from frozenlab.base.cells import in_order
from frozenlab.base.numbers import Interval, paired_change, share, signed
from frozenlab.engineer.schema import Context, Evidence, ProposalRecord
from frozenlab.lake.rules import judge
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore
from frozenlab.tasks.families import cell_label
from frozenlab.tasks.lake.dialects import render_board
from frozenlab.tasks.lake.words import OUTCOMES

MISTAKES = ("vertex_conflict", "edge_conflict", "hole", "goal_not_reached")
"""What an answer may be suspected of."""
SEARCHED = {"Board 1": boards.MORE_MEETINGS, "Board 2": boards.MANY_MEETINGS}
_flood = component(
    __file__,
    "flood",
    '<div class="flood"><table><caption>Steps to the goal from each cell</caption><tbody></tbody></table><div class="bar">'
    '<button type="button" class="play"></button><input type="range" min="0" step="1" aria-label="Steps of the flood"></div>'
    '<p role="status"></p></div>',
    code=NODES,
)
SESSION, TWIN = "example-quick", "example-quick-fixed"


def flood() -> None:
    """The steps that are left from each cell to a goal that the reader moves."""
    board = boards.AROUND_HOLES
    [agent] = board.agents
    _flood(key="learn-flood", data={"rows": board.rows, "start": agent.start, "goal": agent.goal}, height="content")
    st.caption("Press a cell, or drag over the board, to move the goal. The flood spreads from it, one cell in each step.")


def meeting() -> None:
    show_plans(boards.CROSSING, view.CROSSING_PLANS, InSteps, key="learn-meeting", autoplay=True)


def swapping() -> None:
    tried = [("they change places", ("RR", "LL")), ("agent 1 follows", ("DRRU", "LL"))]
    show_plans(boards.FACE_TO_FACE, tried, InSteps, key="learn-swapping", autoplay=True)


def waiting() -> None:
    tried = [("agent 1 goes around", ("RR", "LDDR")), view.CROSSING_PLANS[1]]
    show_plans(boards.CROSSING, tried, InSteps, key="learn-waiting", autoplay=True)


def aims() -> None:
    """The best plan for either aim."""
    board = boards.TWO_AIMS
    solution = solution_of(encode(board), True)
    assert solution.plan is not None and solution.cheapest_plan is not None
    quick, cheap = (judge(board, plan, solution.makespan) for plan in (solution.plan, solution.cheapest_plan))
    show_plans(
        board,
        [
            (f"makespan {quick.makespan}, sum of costs {quick.sum_of_costs}", solution.plan),
            (f"makespan {cheap.makespan}, sum of costs {cheap.sum_of_costs}", solution.cheapest_plan),
        ],
        key="learn-aims",
        autoplay=True,
    )


def no_order() -> None:
    """The board on which every order fails, and a plan that no prioritized planning finds."""
    st.markdown("On another board **no order works**, because the agent that plans first blocks the other. Try both:")
    first = st.segmented_control("Plans first", (0, 1), default=0, required=True, format_func="agent {}".format, key="learn-first")
    priorities(boards.NO_ORDER, (first, 1 - first), key="learn-no-order")
    if st.toggle("Show the plan that there is", key="learn-no-order-plan"):
        solution = solution_of(encode(boards.NO_ORDER), True)
        assert solution.plan is not None
        show_plans(boards.NO_ORDER, [("the exact solver", solution.plan)], key="learn-no-order-solved", autoplay=True)


def searching() -> None:
    chosen = st.segmented_control(
        "Board", list(SEARCHED), default="Board 1", required=True, key="learn-searched", label_visibility="collapsed"
    )
    board = SEARCHED[chosen]
    search_player(board, "sum_of_costs", solution_of(encode(board), True), key=f"learn-search-{chosen}", height=300)


def model(solved: bool = True) -> None:
    """The board as words, and the answer before training; once ``solved``, what that did, and the answer after training."""
    first, last = before_and_after()
    board, answered, words = st.columns([1.1, 0.8, 1])
    with board:
        board_player(first.board, [], key="learn-model-board", height=240, axes=True)
    words.markdown("**What it reads**")
    words.code(render_board(first.board), language=None, wrap_lines=True)
    answered.markdown("**What it wrote**")
    answered.code("\n".join(map(" ".join, by_step(first))), language=None)
    if solved and st.toggle("Show what it did before and after training", key="learn-model-shown"):
        board_player(first.board, [first, last], key="learn-model", height=HEIGHT, autoplay=True, axes=True)
    st.caption(f"Recorded by the session {SESSION}, on board {first.board_id}.")


def by_step(answer: Recorded) -> list[list[str]]:
    """The words of an answer as they are, step by step."""
    words, agents = (answer.completion or "").split(), answer.board.num_agents
    return [words[at : at + agents] for at in range(0, len(words), agents)]


def what_is_wrong() -> Choice:
    """What is wrong with the recorded answer? The judge of the session said so."""
    first, _ = before_and_after()
    assert first.verdict is not None and first.verdict.fault is not None
    reason = f"{fault_sentence(first.verdict)} The rule: {OUTCOMES[first.verdict.fault].rule}"
    return Choice(
        "Read what it wrote before training: each line has the cells of agents 0, 1 and 2, row and column, one step on. What goes wrong "
        "first?",
        [OUTCOMES[name].label for name in MISTAKES],
        MISTAKES.index(first.verdict.fault),
        [
            reason if name == first.verdict.fault else f"{OUTCOMES[name].rule} Read its lines again: another rule is broken before."
            for name in MISTAKES
        ],
        [
            "Read one column from top to bottom: that is the way of one agent. Follow it on the board with a finger.",
            "Then read each line from left to right, beside the line above it: where do the agents stand, and where did they stand before?",
        ],
    )


def engineer() -> None:
    """What the engineer read of each size, and what it decided."""
    found = decision()
    old, new = found.record.config_before.cells, found.record.config_after.cells
    expected = {claim.cell: claim.expected for claim in found.record.claims if claim.expected is not None}
    read, wrote = ("map size", "valid", "optimal", "main fault"), ("share", "expected valid")
    n = found.failures[0].numbers["n"]
    st.markdown(f"**What it read after stage {found.stage + 1}** of the session {SESSION}, on {n:.0f} boards of each size")
    is_shown = st.toggle("Show what it wrote", key="learn-engineer-shown")
    rows = []
    for line in found.failures:
        cell = line.cell or ""
        counts = {name: f"{n * rate:.0f}" for name, rate in line.numbers.items()}
        faults = {name: line.numbers[name] for name in counts if name in OUTCOMES and not OUTCOMES[name].valid}
        main, *others = (name for name, rate in faults.items() if rate == max(faults.values()))
        fault = f"{OUTCOMES[main].label} ({counts[main]})" if not others else f"none ({counts[main]} each)"
        row = [cell_label(cell), counts["valid"], counts["optimal"], fault]
        decided = [f"{share(old[cell].share)} → {share(new[cell].share)}", f"{n * expected[cell]:.0f}"]
        rows.append(row + decided if is_shown else row)
    head = [(name, "") for name in (*read, *(wrote if is_shown else ()))]
    st.html(markup.table("What the engineer read", head, rows, "fl-cards" if is_shown else ""))


def what_will_change() -> Prediction:
    """What came of the decision, on the test boards that no engineer saw."""
    own, record = session(), decision().record
    tables = [table for stage in (0, 1) if (table := own.results(stage)) is not None]
    old, new = record.config_before.cells, record.config_after.cells
    gains = {name: paired_change(*(table[table["config_cell"] == name] for table in tables)) for name in in_order(new)}
    most = max(new, key=lambda name: new[name].share - old[name].share)
    few = [name for name in gains if new[name].share < old[name].share]
    best = max(few, key=lambda name: gains[name].value)
    raised, spared = cell_label(most), cell_label(best)
    came = f"{raised} came out at {gains[most].points} on the test boards"
    also = f"{spared} at {gains[best].points} with {share(new[best].share)} of the boards"
    worst = min(gains[name].value for name in few)
    kept = SessionStore().open(TWIN).results(1)
    assert kept is not None
    without = paired_change(*(table[table["config_cell"] == most] for table in (tables[0], kept)))
    sense = f"The extra boards on {raised} made {'a' if gains[most].clear else 'no'} difference that shows"
    few_boards = "The intervals overlap: so few boards cannot show which of them gained more."
    twin = f"Was it the config? Its twin, which kept its own and trained as many steps, came out at {without.points} on {raised}."
    return Prediction(
        f"You are the engineer. The next stage trains with {share(new[most].share)} of its boards on {raised} instead of "
        f"{share(old[most].share)}, and with fewer on {', '.join(map(cell_label, few))}. What will that change?",
        [
            f"{raised} gains more than all other sizes.",
            f"{raised} gains, and the sizes that get fewer boards lose.",
            f"A size that gets fewer boards gains at least as much as {raised}.",
        ],
        [
            f"{sense}: {came}, and {also}. {few_boards} {twin}",
            f"{sense}: {came}. No size that gets fewer boards came out below {signed(worst)}, though the intervals include small losses. "
            f"{twin}",
            f"{sense}: {came}, and {also}. {few_boards} {twin}",
        ],
        gains_chart(
            {cell_label(name): gain for name, gain in gains.items()}, {cell_label(name): new[name].share for name in gains}, raised
        ),
    )


def gains_chart(gains: Mapping[str, Interval], shares: Mapping[str, float], raised: str) -> Chart:
    """How the rate of valid plans changed by size, with what is left to chance; ``raised``: the size that got the most boards."""
    figure = go.Figure()
    places = {size: f"{size}<br>{share(part)}" for size, part in shares.items()}
    for name, color in ((f"{raised}, which got the most boards", AFTER_COLOR), ("other sizes", BEFORE_COLOR)):
        own = {places[size]: gain for size, gain in gains.items() if (size == raised) is (color == AFTER_COLOR)}
        figure.add_scatter(
            x=list(own), y=[100 * gain.value for gain in own.values()], mode="markers", name=name,
            error_y=whiskers(own.values(), color, scale=100, thickness=14, width=0),
            marker=dict(color="white", size=9, line=dict(color=color, width=2)),
            customdata=[(gain.points, gain.bounds, gain.n) for gain in own.values()],
            hovertemplate="%{x}: <b>%{customdata[0]}</b><br>95 % interval %{customdata[1]}, n = %{customdata[2]}<extra></extra>",
        )  # fmt: skip
    figure.add_hline(y=0, line=dict(color=BEFORE_COLOR, width=1.5, dash="dot"))
    common_layout(figure, 280, 40)
    about = "size, and its share of the boards"
    figure.update_xaxes(title=about, type="category", categoryorder="array", categoryarray=list(places.values()))
    figure.update_yaxes(title="points, with 95 % interval", gridcolor=GRID_COLOR, zeroline=False)
    said = "; ".join(f"{size} {gain.signed} ({gain.bounds})" for size, gain in gains.items())
    return Chart(figure, f"Change of the rate of valid plans on {gains[raised].n} test boards of each size, in points: {said}.")


def session() -> Session:
    """Raises SessionError if it is not there."""
    return SessionStore().open(SESSION)


def before_and_after() -> tuple[Recorded, Recorded]:
    """Two answers to one board: the model's before training, which collides, and its answer after the last stage, which is optimal."""
    own = session()
    turned = view_of(own.spec.tasks).turned(own)
    assert turned is not None
    before, after, stages = turned
    return recorded(before, "before training"), recorded(after, f"after {stages} stages")


@dataclass(frozen=True)
class Decision:
    """What an engineer read after a stage, and what it wrote."""

    stage: int
    context: Context
    record: ProposalRecord

    @property
    def failures(self) -> list[Evidence]:
        """The line of the failures section about each cell."""
        return [line for line in self.context.sections["failures"] if line.cell and line.id == f"F{line.cell}"]


def decision() -> Decision:
    """The one after the first stage."""
    own = session()
    context, record = own.context(0), own.proposal(0)
    assert context is not None and record is not None
    return Decision(0, context, record)
