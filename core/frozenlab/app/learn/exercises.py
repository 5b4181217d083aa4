"""The exercises of the course. Each draws itself, and marks an answer with a reason that the rules or a solver gives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, permutations, takewhile
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from frozenlab.app import allowances
from frozenlab.app.play.optimum import solution_of
from frozenlab.app.ui import markup, nav, theme
from frozenlab.app.ui.figures import Chart
from frozenlab.app.ui.once import once
from frozenlab.app.views.lake.player import board_player
from frozenlab.app.views.lake.search import COSTS, Solved, search_player
from frozenlab.app.views.lake.share import encode
from frozenlab.app.views.lake.steer import BY_TOUCH, STEP_BY_STEP, steer, steered
from frozenlab.app.views.lake.tracks import Track, fault_sentence, followed, names
from frozenlab.base.numbers import counted, listed, share
from frozenlab.engineer.sentences import capitalised
from frozenlab.lake.board import Agent, Board, Cell, Plan
from frozenlab.lake.execution import by_the_clock, in_order
from frozenlab.lake.planners import ECBS, PLANNERS, Found, Planner
from frozenlab.lake.rules import Paths, judge, judge_paths, walk
from frozenlab.lake.solvers.cbs import Objective
from frozenlab.lake.solvers.priorities import by_urgency, plan_in_order, step_by_urgency
from frozenlab.tasks.lake.words import OUTCOMES

HEIGHT = 420
WORDS = {"U": "goes up", "D": "goes down", "L": "goes left", "R": "goes right", "W": "waits"}
"""The letters of a plan."""
GUESSES = (5, 10, 20, 50, 100, 200, 500, 1000)
"""Of the nodes that a search expands."""
CROWD, TAIL = 12, 2
"""Agents of which whole trails would cover a board, and steps that theirs go back."""
FLOOD = "Write 0 at the goal, 1 beside it, 2 beside these: from any cell a shortest path goes on to a number that is one less."
TEAM_TASK = "Bring all agents to their goals in as few steps as possible."
"""What is asked of a board that a teacher has chosen."""


@dataclass(frozen=True)
class Mark:
    """What the judge says of an answer."""

    right: bool
    reason: str
    fault: str = ""
    """What was wrong, in some words, for the teacher's table."""
    heading: str = ""
    """What stands before the reason, where right and wrong are not the question."""
    step: int | None = None
    """Of the plan, which the reason names."""


@dataclass(frozen=True)
class Exercise(ABC):
    """One task for the learner."""

    task: str

    @abstractmethod
    def ask(self, key: str, beside: DeltaGenerator) -> tuple[Any, bool]:
        """Draws what answers the task, its board in ``beside``; returns the answer now, and whether the learner has just handed it in."""

    @abstractmethod
    def mark(self, answer: Any) -> Mark:
        """What the judge says of an answer."""

    @abstractmethod
    def answer(self) -> str:
        """A right answer, in words, for the teacher."""

    def hints(self) -> Sequence[str]:
        """What helps on, one step after the other; empty: nothing."""
        return ()

    def afterwards(self, answer: Any, key: str) -> None:
        """Draws what the learner sees of a right answer, above its board: nothing, unless there is one."""
        return


@dataclass(frozen=True)
class OnBoard(Exercise):
    """A task on a board."""

    board: Board

    def afterwards(self, answer: Any, key: str) -> None:
        nav.button(
            "Play with this board", "play", query={"board": encode(self.board)}, key=f"{key}-play", type="tertiary",
            icon=":material/sports_esports:",
        )  # fmt: skip


@dataclass(frozen=True)
class OnPlan(OnBoard):
    """A task about a plan for the board, which a sheet on paper shows, too."""

    @abstractmethod
    def paths(self) -> Paths:
        """Of the plan."""


@dataclass(frozen=True)
class Steering(OnBoard):
    """Bring a team to its goals with the smallest makespan or sum of costs."""

    objective: Objective = "makespan"

    def ask(self, key: str, beside: DeltaGenerator) -> tuple[Any, bool]:
        """A single agent that has arrived sees the flood from its goal under its trail."""
        plan = steered(self.board, key=f"{key}-board")
        handed_in, arrived = check_moves(plan, "Check my plan", key), f"{key}-arrived"
        if handed_in and judge(self.board, plan).valid:
            st.session_state[arrived] = True
        numbers = self.flood() if self.board.num_agents == 1 and st.session_state.get(arrived) else None
        with beside:
            steer(
                self.board, key=f"{key}-board", objective=self.objective, height=HEIGHT, stepwise=True, axes=True, numbers=numbers,
                step=self.mark(plan).step if handed_in else None,
            )  # fmt: skip
        return plan, handed_in

    def mark(self, answer: Plan) -> Mark:
        solution = solution_of(encode(self.board), True)
        verdict = judge(self.board, answer, solution.makespan)
        if verdict.fault is not None:
            outcome = OUTCOMES[verdict.fault]
            return Mark(False, f"{fault_sentence(verdict)} The rule: {outcome.rule}", outcome.label, step=verdict.step)
        if self.objective == "makespan":
            reached, best = verdict.makespan, solution.makespan
            goal = "All agents are on their goals" if self.board.num_agents > 1 else "The agent is on its goal"
            figures = f"{goal} after {reached} steps"
        else:
            reached, best = verdict.sum_of_costs, solution.sum_of_costs
            figures = f"All agents are on their goals, and your sum of costs is {reached}"
        if best is None:
            return Mark(True, f"{figures}. The best one is not known for this board.")
        proven = "nothing less is possible" if reached == best else f"{best} is possible"
        told, step = self.way_down(answer, verdict.makespan or 0) if self.board.num_agents == 1 else ("", None)
        return Mark(reached == best, f"{figures}; the exact solver proves that {proven}.{told}", "valid, not the best", step=step)

    def flood(self) -> list[list[int | None]]:
        """The steps to the goal that are left from each cell, row by row; None where no way leads to it."""
        left, board = self.board.distances_to_goal(0), self.board
        return [[left.get((row, column)) for column in range(board.width)] for row in range(board.height)]

    def way_down(self, plan: Plan, arrival: int) -> tuple[str, int | None]:
        """What the numbers of the flood say of the trail of a single agent until its ``arrival``, and the first step that went no number
        down."""
        [path], left = walk(self.board, plan), self.board.distances_to_goal(0)
        numbers = [left[cell] for cell in path][: arrival + 1]
        look = " Look at the numbers of the flood under your trail:"
        for step, (before, after) in enumerate(pairwise(numbers), start=1):
            if after >= before:
                return f"{look} step {step} {f'stayed on {before}' if after == before else f'went from {before} up to {after}'}.", step
        return f"{look} every step went one number down, from {numbers[0]} to 0.", None

    def answer(self) -> str:
        best = self.best()
        verdict = judge(self.board, best)
        cost = verdict.makespan if self.objective == "makespan" else verdict.sum_of_costs
        return f"{listed(f'agent {i} {letters}' for i, letters in enumerate(best))}: a {COSTS[self.objective]} of {cost}, the smallest."

    def best(self) -> Plan:
        return best_plan(self.board, self.objective)

    def hints(self) -> Sequence[str]:
        """How far each agent has it alone, where the shortest paths fail, and how one agent begins: one that takes longer than alone, if
        any does."""
        board, best = self.board, self.best()
        alone = [shortest_alone(board, i) for i in range(board.num_agents)]
        far = listed(f"agent {i} needs {counted(len(letters), 'step')}" for i, letters in enumerate(alone))
        verdict = judge(board, tuple(alone))
        trouble = [] if verdict.fault is None else [f"If each goes its shortest way: {fault_sentence(verdict)}"]
        late = max(range(board.num_agents), key=lambda i: len(best[i]) - len(alone[i]))
        ideas = [f"Alone on the board: {far}.", *trouble] if board.num_agents > 1 else [FLOOD, f"{capitalised(far)}."]
        return [
            *ideas,
            f"In one of the best plans agent {late} {WORDS[best[late][:1] or 'W']} at first.",
        ]

    def afterwards(self, answer: Plan, key: str) -> None:
        """The learner's plan beside the solver's, in lockstep, where the numbers of the flood do not say it all."""
        if self.board.num_agents > 1:
            kind = InSteps if self.objective == "makespan" else Track
            tried = [("your plan", answer), ("the exact solver", self.best())]
            show_plans(self.board, tried, kind, key=f"{key}-beside", height=240)
        super().afterwards(answer, key)


@dataclass(frozen=True)
class OneStep(OnBoard):
    """Move the whole team one step."""

    def ask(self, key: str, beside: DeltaGenerator) -> tuple[Any, bool]:
        plan = steered(self.board, key=f"{key}-board")
        handed_in = check_moves(plan, "Check this step", key)
        with beside:
            steer(self.board, key=f"{key}-board", height=HEIGHT, stepwise=True, most=1, axes=True, step=1 if handed_in else None)
        return plan, handed_in


@dataclass(frozen=True)
class Stepping(OneStep):
    """Be PIBT for one step."""

    def mark(self, answer: Plan) -> Mark:
        """Of a step with a conflict: who is in it, and then why PIBT avoids that."""
        moves, verdict = step_by_urgency(self.board), judge(self.board, answer)
        went = [path[-1] for path in walk(self.board, answer)]
        collide = verdict.agents if verdict.fault in ("vertex_conflict", "edge_conflict") else tuple(moves)
        for i, (cell, pusher) in moves.items():
            if went[i] == cell or i not in collide:
                continue
            taken = next((j for j in takewhile(i.__ne__, moves) if went[i] == went[j]), None)
            why, fault = f"when agent {i} chooses, another cell that nobody has taken is nearer its goal", "not the nearest cell left"
            if taken is not None:
                why, fault = f"agent {taken} chooses before agent {i} and has taken that cell", "enters a cell that is taken"
            elif pusher is not None:
                pushed = f"agent {pusher} goes to the cell of agent {i}, which inherits the priority and chooses next"
                but = f"the cell nearest its goal that nobody has taken, but not that of agent {pusher}, for two must not swap cells"
                why, fault = f"{pushed}: {but}", "overlooks an inherited priority"
            if len(collide) < len(moves):
                return Mark(False, f"{fault_sentence(verdict)} PIBT avoids that: {why}.", fault)
            return Mark(False, f"Agent {i} {WORDS[answer[i][:1] or 'W']}. {capitalised(why)}.", fault)
        pushes = listed(f"agent {pusher} pushed agent {i}" for i, (_, pusher) in moves.items() if pusher is not None)
        (_, cost), best = pibt_on(self.board), solution_of(encode(self.board), True).sum_of_costs
        goes_on = f"It goes on to a plan with a sum of costs of {cost}, where {best} is possible"
        counts = "that counts each agent's steps until it stays on its goal, and adds them up"  # a lesson may leave out its chapter
        return Mark(True, f"That is PIBT's step: {pushes}. {goes_on}; {counts}.")

    def answer(self) -> str:
        words = self.first_steps()
        return f"In the order in which they choose: {listed(f'agent {i} {words[i]}' for i in step_by_urgency(self.board))}."

    def hints(self) -> Sequence[str]:
        moves = step_by_urgency(self.board)
        pushed, pusher = next((i, pusher) for i, (_, pusher) in moves.items() if pusher is not None)
        return (
            f"Agent {by_urgency(self.board)[0]} is the most urgent. Which cell beside it is the nearest to its goal?",
            f"Agent {pusher} goes to the cell of agent {pushed}. So agent {pushed} chooses next, and must not change places with it.",
            f"Agent {pushed} {self.first_steps()[pushed]}. Who stands there?",
        )

    def afterwards(self, answer: Plan, key: str) -> None:
        """How PIBT goes on."""
        board_player(self.board, [Track("PIBT", *followed(self.board, pibt_on(self.board)[0], None))], key=f"{key}-on", height=240)
        super().afterwards(answer, key)

    def first_steps(self) -> list[str]:
        return [WORDS[letters[:1] or "W"] for letters in pibt_on(self.board)[0]]


@dataclass(frozen=True)
class Freeing(OneStep):
    """Where PIBT comes back to how the team stood, make another step, from which it finds a plan."""

    way_out: Plan
    """A right answer."""
    clues: Sequence[str]

    def mark(self, answer: Plan) -> Mark:
        verdict = judge(self.board, answer)
        if verdict.fault not in (None, "goal_not_reached"):
            return Mark(False, fault_sentence(verdict), OUTCOMES[verdict.fault].label)
        plan = self.goes_on(answer)
        if plan is None:
            return Mark(False, "From there PIBT finds no plan either, however often it tries.", "PIBT finds no plan")
        cost, best = judge(self.board, plan).sum_of_costs, solution_of(encode(self.board), True).sum_of_costs
        return Mark(
            True,
            f"From there PIBT brings all to their goals, with a sum of costs of {cost}, where {best} is possible. LaCAM tries other steps "
            "by itself wherever the team stands as it has stood before.",
        )

    def goes_on(self, step: Plan) -> Plan | None:
        """The step, and PIBT's plan from there; None if it finds none."""
        cells = [path[-1] for path in walk(self.board, step)]
        after = Board(self.board.rows, tuple(Agent(cell, agent.goal) for cell, agent in zip(cells, self.board.agents, strict=True)))
        rest = planned(after, PLANNERS["pibt"], 0.2)[-1].plan
        return None if rest is None else tuple((first[:1] or "W") + more for first, more in zip(step, rest, strict=True))

    def answer(self) -> str:
        moves = listed(f"agent {i} {WORDS[letter]}" for i, letter in enumerate(self.way_out))
        return f"{capitalised(moves)}. {self.mark(self.way_out).reason}"

    def hints(self) -> Sequence[str]:
        return self.clues

    def afterwards(self, answer: Plan, key: str) -> None:
        """How PIBT goes on from there."""
        plan = self.goes_on(answer) or ()
        board_player(self.board, [Track("your step, then PIBT", *followed(self.board, plan, None))], key=f"{key}-on", height=240)
        super().afterwards(answer, key)


def check_moves(plan: Plan, label: str, key: str) -> bool:
    """The button below a board to steer on. Whether a plan is handed in: one without a move is no try."""
    checked = st.button(label, type="primary", key=f"{key}-check")
    if checked and not any(plan):
        st.info("No agent has moved yet, so this does not count as a try.")
    st.container(key="learn-by-hand").caption(STEP_BY_STEP)
    st.container(key="learn-by-touch").caption(BY_TOUCH)
    return checked and any(plan)


@dataclass(frozen=True)
class Question(Exercise):
    """A question with options."""

    options: Sequence[str]

    def ask(self, key: str, beside: DeltaGenerator) -> tuple[Any, bool]:
        chosen = st.radio(
            self.task,
            range(len(self.options)),
            format_func=self.options.__getitem__,
            index=None,
            key=f"{key}-choice",
            label_visibility="collapsed",
        )
        pressed = st.button("Check my answer", type="primary", key=f"{key}-check", disabled=chosen is None)
        return chosen, pressed and chosen is not None


@dataclass(frozen=True)
class Choice(Question):
    """A question with one right answer."""

    right: int
    reasons: Sequence[str]
    """Why each option is right or wrong."""
    clues: Sequence[str]
    """Hints: where to look, never what to answer."""

    def hints(self) -> Sequence[str]:
        return self.clues

    def mark(self, answer: int) -> Mark:
        return Mark(answer == self.right, self.reasons[answer], f"answer {answer + 1}: {self.options[answer]}")

    def answer(self) -> str:
        return f"{self.options[self.right].rstrip('.')}. {self.reasons[self.right]}"


@dataclass(frozen=True)
class Prediction(Question):
    """A question that was open when it came up: what then was measured."""

    came: Sequence[str]
    """In sentences."""
    chart: Chart
    """The same in figures."""

    def mark(self, answer: int) -> Mark:
        return Mark(True, f"You predicted: {self.options[answer]} {self.came[answer]}", heading="What happened.")

    def answer(self) -> str:
        return f"It was open. {self.came[0]}"

    def afterwards(self, answer: Any, key: str) -> None:
        theme.chart(self.chart, key=f"{key}-chart")


@dataclass(frozen=True)
class Estimate(Exercise):
    """Say beforehand what is true of several cases."""

    truths: Mapping[str, float]
    """Case -> what is true of it, as its slider counts."""
    most: float
    """Of the sliders."""
    near: float
    """How far off an estimate may be, as a part of what is true; in powers of ten, so many of them."""
    correction: str
    """What is said of cases, with places for them and for "more" or "fewer"."""
    told: str
    """What is true, in sentences."""
    clues: Sequence[str]
    in_powers: bool = False
    """Whether the sliders count powers of ten."""

    def ask(self, key: str, beside: DeltaGenerator) -> tuple[Any, bool]:
        said = [self.slider(case, f"{key}-{case}") for case in self.truths]
        return said, st.button("Check my estimates", type="primary", key=f"{key}-check", disabled=not all(said))

    def slider(self, case: str, key: str) -> float:
        """What is said of a case; 0: nothing yet."""
        if self.in_powers:
            return st.select_slider(case, range(int(self.most) + 1), 0, key=key, format_func=lambda digits: f"10{raised(digits)}")
        return st.slider(case, 0.0, self.most, 0.0, 0.05, key=key)

    def mark(self, answer: Sequence[float]) -> Mark:
        said = dict(zip(self.truths, answer, strict=True))
        off = [case for case, true in self.truths.items() if abs(said[case] - true) > self.near * (1 if self.in_powers else true)]
        if not off:
            return Mark(True, self.told)
        sides = {
            side: [case for case in off if (said[case] < self.truths[case]) is more] for side, more in (("more", True), ("fewer", False))
        }
        corrected = listed(self.correction.format(listed(cases), side) for side, cases in sides.items() if cases)
        return Mark(False, f"{capitalised(corrected)} than you say.", f"estimates for {listed(off)}")

    def answer(self) -> str:
        return self.told

    def hints(self) -> Sequence[str]:
        return self.clues


@dataclass(frozen=True)
class Ordering(OnBoard):
    """Find an order of priorities in which every agent finds a path."""

    def ask(self, key: str, beside: DeltaGenerator) -> tuple[Any, bool]:
        """The paths are seen once the order is handed in, or it would be found by clicking."""
        # Labels that say the place would change with each click; the browser sends labels, and a click before the answer would be lost.
        order = st.pills(
            "Who plans first, second, ...", range(self.board.num_agents), selection_mode="multi", key=f"{key}-order",
            format_func="agent {}".format, help="Press the agents in planning order.",
        )  # fmt: skip
        st.caption("Your order: " + (", then ".join(f"agent {agent}" for agent in order) or "nobody yet"))
        complete = len(order) == self.board.num_agents
        checked = st.button("Check this order", type="primary", key=f"{key}-check", disabled=not complete)
        if checked:
            st.session_state[f"{key}-tried"] = order
        with beside:
            priorities(self.board, order if st.session_state.get(f"{key}-tried") == order else (), key=f"{key}-board")
        return list(order), checked

    def mark(self, answer: Sequence[int]) -> Mark:
        planned = plan_in_order(self.board, answer)
        if len(planned) == self.board.num_agents:
            return Mark(True, "Every agent found a path around those before it.")
        stuck, done = answer[len(planned)], answer[: len(planned)]
        stands = next((j for j in done if stuck in plan_in_order(self.board, [*(i for i in done if i != j), stuck])), None)
        why = "" if stands is None else f" It would if agent {stands} did not stay on {self.board.agents[stands].goal}."
        return Mark(False, f"Agent {stuck} finds no path around {names(done)}.{why}", "an agent finds no path")

    def answer(self) -> str:
        agents = range(self.board.num_agents)
        orders = [order for order in permutations(agents) if len(plan_in_order(self.board, order)) == len(agents)]
        return f"Agents in the order {' or '.join('-'.join(map(str, order)) for order in orders)}."

    def hints(self) -> Sequence[str]:
        return (
            "An agent that has arrived blocks its goal for all who plan after it.",
            "Whose goal lies on the only way of the others?",
            "That agent has to plan last.",
        )


@dataclass(frozen=True)
class Bounding(OnBoard):
    """Find the factor with which ECBS takes so little effort and proves so much; first say what it will take."""

    factors: Sequence[float]
    most: int
    """Nodes that the search may expand."""
    within: float
    """How far above the best the plan may cost, as a part of that, by what the search proves."""

    def ask(self, key: str, beside: DeltaGenerator) -> tuple[Any, bool]:
        """The smallest and the largest factor are told. Of the others nothing is seen before the learner has said how many nodes it
        takes: each w has a guess of its own."""
        known, said = st.container(), f"{key}-said"
        smallest, *others, largest = self.factors
        factor = st.segmented_control("Your w", others, key=f"{key}-w", format_func="{:g}".format)
        guess = st.select_slider(
            "Nodes that it expands: your guess", [0, *GUESSES], key=f"{key}-guess-{factor}", format_func=lambda n: f"{n or '?'}",
            disabled=not factor,
        )  # fmt: skip
        checked = st.button("Check this w", type="primary", key=f"{key}-check", disabled=not (factor and guess))
        guesses: dict[float, str] = st.session_state.setdefault(said, {smallest: "", largest: ""})
        if checked and factor:
            guesses.pop(factor, None)
            guesses[factor] = f"{guess:,}"  # the newest stands last
        known.html(self.tried(guesses))
        tracks = []
        for newest in [factor for factor in guesses if guesses[factor]][-1:]:
            end = self.run(newest)
            known.caption(f"You guessed {guesses[newest]} nodes; with w = {newest:g} it took {end.nodes:,}.")
            tracks.append(Track(f"w = {newest:g}", *followed(self.board, end.plan or (), None)))
        with beside:
            board_player(self.board, tracks, key=f"{key}-run", height=HEIGHT, tail=tail_of(self.board))
        return factor, checked

    def tried(self, guesses: Mapping[float, str]) -> str:
        """What the search found with each factor, beside what was guessed, as finished HTML."""
        rows = []
        for factor in sorted(guesses):
            end = self.run(factor)
            proven = [f"≤ {share((end.ratio or 0) - 1)}", str(end.cost), str(end.lower_bound)]
            rows.append([f"{factor:g}", guesses[factor] or "–", f"{end.nodes:,}", *proven])
        head = [
            ("w", ""), ("your guess", "Nodes"), ("nodes", "That the search expanded"),
            ("above the best", "As the search proves"), ("cost", "Sum of costs of its plan"), ("bound", "No plan costs less"),
        ]  # fmt: skip
        return markup.table("What the search found", head, rows, "fl-tries", [name for name, _ in head[1:]])

    def mark(self, answer: float) -> Mark:
        end, best = self.run(answer), self.run(1.0).cost or 0
        assert end.cost is not None and end.ratio is not None, "ECBS ends on boards of the course"
        many, dear = end.nodes > self.most, end.ratio - 1 > self.within
        nodes = f"{end.nodes:,} nodes{f', more than {self.most}' if many else ''}"
        above = f"so it is at most {share(end.ratio - 1)} above the best{f', not at most {share(self.within)}' if dear else ''}"
        truth = "" if many or dear else f" In truth it is {share(end.cost / best - 1)} above, as w = 1 proves {best}."
        found = f"With w = {answer:g}: {nodes}. The plan costs {end.cost} and none costs less than {end.lower_bound}, {above}.{truth}"
        return Mark(not many and not dear, found, f"w = {answer:g}")

    def answer(self) -> str:
        return next(mark.reason for factor in self.factors if (mark := self.mark(factor)).right)

    def hints(self) -> Sequence[str]:
        loosest = self.run(self.factors[-1])
        return (
            "Compare the two ends in the table: the larger w is, the fewer nodes are expanded, and the dearer is the plan.",
            f"What is proven? With w = {self.factors[-1]:g} the plan costs {loosest.cost} and none costs less than {loosest.lower_bound}: "
            f"it is at most {share((loosest.ratio or 0) - 1)} above the best.",
            f"Begin with the w that is nearest to {self.factors[0]:g}. If it takes more than {self.most} nodes, try the next larger one.",
        )

    def run(self, factor: float) -> Found:
        """What the search ends with."""
        return planned(self.board, ECBS(factor), 5.0)[-1]


@dataclass(frozen=True)
class Regrouping(OnPlan):
    """Choose the two agents that plan anew, so that the plan of PIBT becomes cheapest."""

    def ask(self, key: str, beside: DeltaGenerator) -> tuple[Any, bool]:
        two = st.pills(
            "Two that plan anew", range(self.board.num_agents), selection_mode="multi", key=f"{key}-two", format_func="agent {}".format
        )
        plan, cost = pibt_on(self.board)
        with beside:
            track = Track(f"sum of costs {cost}", *followed(self.board, plan, None))
            board_player(self.board, [track], key=f"{key}-before", height=HEIGHT, autoplay=True)
        return sorted(two), st.button("Check these two", type="primary", key=f"{key}-check", disabled=len(two) != 2)

    def mark(self, answer: Sequence[int]) -> Mark:
        saved, most = self.saves(answer), self.saves(self.best())
        other = "no other two save as much" if saved == most else "another two save more"
        done = f"{names(answer).capitalize()} plan anew around all others and save {saved} of {pibt_on(self.board)[1]}"
        return Mark(saved == most, f"{done}; {other}.", f"{names(answer)} save {saved}")

    def answer(self) -> str:
        return self.mark(self.best()).reason

    def hints(self) -> Sequence[str]:
        plan, _ = pibt_on(self.board)
        alone = [len(shortest_alone(self.board, i)) for i in range(self.board.num_agents)]
        slowest = max(range(len(alone)), key=lambda i: len(plan[i]) - alone[i])
        far = listed(f"agent {i} takes {len(letters)} steps and needs {alone[i]}" for i, letters in enumerate(plan))
        return (
            f"Compare with the way of each agent alone: {far}.",
            f"Agent {slowest} loses most, but saves only {self.saves([slowest])} if it alone plans anew: who is in its way?",
            f"One of the two is agent {slowest}. Play the plan slowly: before whom does it go back?",
        )

    def best(self) -> tuple[int, ...]:
        return max(combinations(range(self.board.num_agents), 2), key=self.saves)

    def saves(self, two: Sequence[int]) -> int:
        return sum(map(len, self.paths())) - sum(map(len, self.anew(two)))

    def paths(self) -> Paths:
        return walk(self.board, pibt_on(self.board)[0])

    def anew(self, two: Sequence[int]) -> Paths:
        """The cheapest paths where these plan one after the other around all others, in the best order."""
        paths = self.paths()
        others = {i: path for i, path in enumerate(paths) if i not in two}
        tried = [plan_in_order(self.board, order, others) for order in permutations(two)]
        found = [tuple(one[i] for i in range(len(paths))) for one in tried if len(one) == len(paths)]
        return min([paths, *found], key=lambda paths: sum(map(len, paths)))

    def afterwards(self, answer: Sequence[int], key: str) -> None:
        show_paths(self.board, {"before": self.paths(), "after": self.anew(answer)}, key=f"{key}-after", height=240)
        super().afterwards(answer, key)


@dataclass(frozen=True)
class Delaying(OnPlan):
    """Say who comes late where one agent starts a step late and all keep the plan's order."""

    agent: int

    def ask(self, key: str, beside: DeltaGenerator) -> tuple[Any, bool]:
        others = [i for i in range(self.board.num_agents) if i != self.agent]
        late = st.pills("Who comes late, too", others, selection_mode="multi", key=f"{key}-late", format_func="agent {}".format)
        with beside:
            track = Track("the plan", self.paths())
            board_player(self.board, [track], key=f"{key}-plan", height=HEIGHT, autoplay=True, axes=True)
        return sorted(late), st.button("Check my answer", type="primary", key=f"{key}-check", disabled=not late)

    def mark(self, answer: Sequence[int]) -> Mark:
        waits = self.waits()
        if wrong := sorted({*answer} - {*waits}):
            said = f"{names(wrong).capitalize()} {'is' if len(wrong) == 1 else 'are'} on time"
            return Mark(False, f"{said}: whoever comes late has left each cell by then.", f"{names(wrong)} would be late")
        if missing := [waits[i] for i in waits if i not in answer]:
            ahead, cell = missing[0]
            return Mark(False, f"That is not all. Somebody has to wait until agent {ahead} has left {cell}.", "not all who are late")
        met = fault_sentence(judge_paths(self.board, by_the_clock(self.paths(), self.agent, 0)))
        why = listed(f"agent {i} waits until agent {ahead} has left {cell}" for i, (ahead, cell) in waits.items())
        return Mark(True, f"{capitalised(why)}. So nobody meets. By the clock they would. {met}")

    def answer(self) -> str:
        return self.mark(sorted(self.waits())).reason

    def hints(self) -> Sequence[str]:
        return (
            f"Play the plan step by step. Agent {self.agent} leaves each cell one step later: who enters one right after it?",
            "Who has to wait is late, too. Who comes right behind?",
            f"{len(self.waits())} of the others come late.",
        )

    def paths(self) -> Paths:
        """Of the cheapest plan, in which nobody is late."""
        return walk(self.board, best_plan(self.board, "sum_of_costs"))

    def waits(self) -> dict[int, tuple[int, Cell]]:
        """Who comes late, too -> for whom it waits at first, and on which cell that one stands then."""
        found, came = {}, in_order(self.paths(), self.agent, 0)
        for i, path in enumerate(self.paths()):
            late = next((step for step, cell in enumerate(path) if cell != came[i][step]), None)
            if i != self.agent and late is not None:
                found[i] = next((j, path[late]) for j, other in enumerate(came) if other[late] == path[late])
        return found

    def afterwards(self, answer: Sequence[int], key: str) -> None:
        show_late(self.board, self.paths(), self.agent, 1, key=f"{key}-after", height=240)
        super().afterwards(answer, key)


def priorities(board: Board, order: Sequence[int], *, key: str) -> None:
    """The paths that the agents take one after the other, as far as the order goes. Agents without a path are drawn faint: to those that
    plan before them they are not there."""
    planned = plan_in_order(board, order)
    paths = tuple(planned.get(i, (agent.start,)) for i, agent in enumerate(board.agents))
    absent = tuple(i for i in range(board.num_agents) if i not in planned)
    board_player(
        board, [Track("", paths, None if absent else judge_paths(board, paths), absent=absent)], key=key, height=HEIGHT,
        autoplay=bool(planned), axes=True,
    )  # fmt: skip
    says = f"Planned: {names(list(planned))}." if planned else "No agent has planned yet."
    st.caption(f"{says} Agent {order[len(planned)]} finds no path around that." if len(planned) < len(order) else says)


@dataclass(frozen=True)
class Searching(OnBoard):
    """Be the search: choose the node that is expanded next, until a plan without a conflict is the cheapest."""

    objective: Objective = "sum_of_costs"

    def ask(self, key: str, beside: DeltaGenerator) -> tuple[Any, bool]:
        solution = solution_of(encode(self.board), True)
        with beside:
            solved = search_player(self.board, self.objective, solution, key=f"{key}-search", choosing=True, height=300)
        new = solved is not None and st.session_state.get(f"{key}-marked") != solved
        if new:
            st.session_state[f"{key}-marked"] = solved
        return solved, new

    def mark(self, answer: Solved) -> Mark:
        best = solution_of(encode(self.board), True).sum_of_costs
        slips = "without a wrong choice" if not answer.wrong else f"with {counted(answer.wrong, 'wrong choice')}"
        return Mark(
            answer.cost == best,
            f"Your tree of {answer.nodes} nodes ends {slips} in a plan with a {COSTS[self.objective]} of {answer.cost}; "
            f"the exact solver says that {best} is the best.",
            "the search was not finished",
        )

    def answer(self) -> str:
        best = solution_of(encode(self.board), True).sum_of_costs
        return f"Always the cheapest open node, until it has no conflict: a {COSTS[self.objective]} of {best}."


@dataclass(frozen=True)
class InSteps(Track):
    """A plan for readers who have not read yet of makespans and sums of costs."""

    @property
    def badge(self) -> str | None:
        assert self.verdict is not None
        return ("fewest steps" if self.verdict.optimal else "valid, more steps than needed") if self.verdict.valid else super().badge

    def caption(self, short: bool = False) -> str:
        assert self.verdict is not None
        all_of_them = "All on goal" if len(self.paths or ()) > 1 else "On its goal"
        return f"{all_of_them} after {self.verdict.makespan} steps." if self.verdict.valid else super().caption(short)


def show_plans(
    board: Board, tried: Sequence[tuple[str, Plan]], kind: type[Track] = Track, *, key: str, height: int = HEIGHT, autoplay: bool = False
) -> None:
    """Plans side by side, judged."""
    best = solution_of(encode(board), True)
    tracks = [kind(label, walk(board, plan), judge(board, plan, best.makespan), best.sum_of_costs) for label, plan in tried]
    board_player(board, tracks, key=key, height=height, autoplay=autoplay, axes=True)


def show_paths(board: Board, tried: Mapping[str, Paths], *, key: str, height: int = HEIGHT) -> None:
    """The paths of plans side by side, judged."""
    tracks = [Track(label, paths, judge_paths(board, paths)) for label, paths in tried.items()]
    board_player(board, tracks, key=key, height=height, autoplay=True)


def show_late(board: Board, paths: Paths, agent: int, steps: int, *, key: str, height: int = HEIGHT) -> None:
    """What becomes of a plan where an agent starts some steps late, by the clock and in order."""
    tried = {"by the clock": by_the_clock(paths, agent, 0, steps), "in order": in_order(paths, agent, 0, steps)}
    show_paths(board, tried, key=key, height=height)


def tail_of(board: Board) -> int | None:
    """Steps that the trails of its team go back; None: to the start."""
    return TAIL if board.num_agents > CROWD else None


def best_plan(board: Board, objective: Objective = "makespan") -> Plan:
    """The exact solver's plan."""
    solution = solution_of(encode(board), True)
    plan = solution.plan if objective == "makespan" else solution.cheapest_plan
    assert plan is not None, "boards of the course can be solved"
    return plan


def shortest_alone(board: Board, agent: int) -> str:
    """The letters of a shortest path of an agent that has the board to itself."""
    alone = Board(board.rows, (board.agents[agent],))
    plan = solution_of(encode(alone), False).plan
    assert plan is not None, "agents of the course can reach their goals"
    return plan[0]


def planned(board: Board, planner: Planner, seconds: float) -> list[Found]:
    """What a planner finds, as it comes; planned once for all learners. Raises LimitError where a visitor has had enough planned."""

    def plan() -> list[Found]:
        allowances.spend(allowances.SOLVED)
        found = [Found()]
        found.append(planner.plan(board, seconds, 0, found.append))
        return found

    return once(plan, "learn plan", encode(board), planner, seconds)


def pibt_on(board: Board) -> tuple[Plan, int]:
    """PIBT's plan for a board of the course, and its sum of costs."""
    found = planned(board, PLANNERS["pibt"], 1.0)[-1]
    assert found.plan is not None and found.cost is not None, "PIBT has a plan for these boards"
    return found.plan, found.cost


def power(number: int) -> str:
    """``249,984``, ``6.9 × 10¹⁰``"""
    digits = len(str(number)) - 1
    return f"{number:,}" if digits < 6 else f"{number / 10**digits:.1f} × 10{raised(digits)}"


def raised(exponent: int) -> str:
    return str(exponent).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def show_mark(mark: Mark) -> None:
    (st.success if mark.right else st.error)(f"**{mark.heading or ('Right.' if mark.right else 'Not yet.')}** {markup.plain(mark.reason)}")
