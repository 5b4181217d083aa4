"""The pictures of the chapters about planners: they plan here and now, and the numbers are theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import log10, perm
from statistics import fmean

import plotly.graph_objects as go
import streamlit as st

from frozenlab.app.learn import boards
from frozenlab.app.learn.exercises import (
    HEIGHT,
    Bounding,
    Choice,
    Delaying,
    Estimate,
    Freeing,
    Regrouping,
    Stepping,
    best_plan,
    planned,
    power,
    show_late,
    tail_of,
)
from frozenlab.app.play.optimum import solution_of
from frozenlab.app.play.searching import figures, improvement
from frozenlab.app.ui import markup, theme
from frozenlab.app.ui.figures import AFTER_COLOR, BEFORE_COLOR, CHECK_COLOR, GRID_COLOR, REWARD_COLOR, Chart, band, common_layout
from frozenlab.app.ui.once import once
from frozenlab.app.views.lake.player import board_player
from frozenlab.app.views.lake.share import encode
from frozenlab.app.views.lake.tracks import Track, followed
from frozenlab.base import seeds
from frozenlab.base.errors import LabError
from frozenlab.base.numbers import counted, listed, share
from frozenlab.lake.board import FROZEN, Agent, Board, Cell
from frozenlab.lake.planners import ECBS, PLANNERS, Found, Planner
from frozenlab.lake.planners.lifelong import Shift, work
from frozenlab.lake.rules import Path, Paths, walk
from frozenlab.lake.solvers.priorities import by_urgency, plan_in_order

FACTORS = (1.0, 1.05, 1.1, 1.2, 1.5, 2.0)
"""Of ECBS."""
TEAMS = (2, 5, 10, 15, 20, 25, 30, 40, 50)
"""Numbers of robots in the warehouse."""
SHIFTS, STEPS, WATCHED = 6, 300, 60
"""Shifts of each team, their steps, and those of the one that is shown."""
FEW, ASKED, NEAR = 5, (10, 20, 40), 0.25
"""Robots of the team that is told, of those that are asked for, and how far off an estimate may be."""
SIDE = 8
"""Of the board whose states are counted."""
A_BILLION, A_YEAR = 10**9, 365 * 24 * 3600
"""Ways that are looked at in a second, and seconds."""
MOST_AGENTS, KNOWN, TEAMS_ASKED = 12, 2, (3, 6, 10)
"""Agents of the largest team that is counted, of the largest that is told, and of those that are asked for."""


# --- time as the third axis -------------------------------------------------------------------------------------------


def reservations(solved: bool = True) -> None:
    """Where each cell of a row is taken, step by step; once ``solved``, the path that goes around that."""
    board = boards.RESERVED
    first, second = paths_in_time()
    over_time, on_board = st.columns([1, 1.25], vertical_alignment="center")
    over_time.html(time_table(solved))
    goes = "goes" if solved else "begins"
    over_time.caption(
        f"The row of agent 0 over time: **1** where agent 1 has reserved the cell, **0** where agent 0 {goes}. "
        "Waiting moves an agent one row up: time passes, the cell stays."
    )
    track = (
        Track("agent 0 plans around agent 1", (first, second)) if solved else Track("agent 1 has planned", (first[:1], second), absent=(0,))
    )
    with on_board:
        board_player(board, [track], key="learn-spacetime", height=300, autoplay=True, axes=True)


def time_table(solved: bool) -> str:
    """The cells of the row of agent 0 over time, as HTML."""
    board = boards.RESERVED
    row = board.agents[0].start[0]
    goal = {board.agents[0].goal[1]: "<br>goal of 0"}
    head = "".join(f"<th scope='col'>({row}, {column}){goal.get(column, '')}</th>" for column in range(board.width))
    lines = "".join(
        f"<tr><th scope='row'>step {step}</th>{''.join(state_cell((row, column), step, solved) for column in range(board.width))}</tr>"
        for step in range(max(map(len, paths_in_time())) - 1, -1, -1)  # time goes up
    )
    return (
        f"<table class='fl-time'><caption class='fl-hidden'>The cells of a row over time</caption><tr><th></th>{head}</tr>{lines}</table>"
    )


def state_cell(cell: Cell, step: int, solved: bool) -> str:
    first, second = paths_in_time()
    for name, path in (("0", first), ("1", second)):
        if path[min(step, len(path) - 1)] == cell and (solved or name == "1" or not step):
            return f"<td class='is-{name}'>{name}</td>"
    return "<td></td>"


def paths_in_time() -> tuple[Path, Path]:
    """The paths of agents 0 and 1, of whom 1 has planned first."""
    planned = plan_in_order(boards.RESERVED, (1, 0))
    return planned[0], planned[1]


def earliest() -> Choice:
    """When agent 0 arrives around the reservations of agent 1."""
    path, _ = paths_in_time()
    arrives, alone = len(path) - 1, boards.RESERVED.distances_to_goal(0)[boards.RESERVED.agents[0].start]
    options = [alone, arrives, arrives + 1]
    return Choice(
        "Agent 1 has planned: it goes straight down. At which step can agent 0 be on its goal at the earliest?",
        [f"At step {step}" for step in options],
        right=1,
        reasons=[
            f"Alone it would need {alone} steps, but then both would be on one cell on the way.",
            f"It lets agent 1 pass: {counted(arrives - alone, 'step')} later than alone. A detour would take longer by two steps.",
            "That is possible, but not the earliest: follow the cells that are taken, step by step.",
        ],
        clues=[
            "Read the table from the bottom up: each row is a step. Which cell on the way of agent 0 is taken, and at which step?",
            "Put a finger where agent 0 stands at step 0. Each step leads one row up: to the cell beside it, or straight up if it waits.",
        ],
    )


# --- how big it gets ----------------------------------------------------------------------------------------------------


def sizes(solved: bool = True) -> None:
    """States and joint moves of some agents, beside what the reader has said; before that is ``solved``, of the teams that are told."""
    n = st.slider("Agents", 1, MOST_AGENTS, TEAMS_ASKED[-1], key="learn-agents") if solved else KNOWN
    ways = {k: standing(k) for k in range(1, n + 1)}
    rows = [(str(k), power(ways[k]), f"{5**k:,}") for k in sorted({1, min(KNOWN, n), n})]
    head = [("agents", ""), (f"ways to stand on {SIDE}×{SIDE} cells", ""), ("moves in one step", "at most: five for each")]
    st.html(markup.table("How big it gets", head, rows, numbers=(head[1][0], head[2][0])))
    digits = {k: st.session_state.get(f"learn-size-{k} agents", 0) for k in TEAMS_ASKED}
    theme.chart(states_chart(ways, {k: 10.0**said for k, said in digits.items() if said}), key="learn-states")
    if solved:
        st.caption(
            "A solver that goes through all of that can plan for three or four agents; those of the next chapters look at far less. But "
            "NP-hard means: unless P = NP, every planner that always finds the best plan is too slow on some boards, though not on each. "
            "Any plan, or that there is none, can be found in polynomial time (Kornhauser, Miller and Spirakis 1984 for one move at a "
            "time, Yu and Rus 2015 for moves at once), where every move can be undone. One-way ice makes that hard, too (Nebel 2020)."
        )


def standing(k: int) -> int:
    """The ways in which so many agents can stand."""
    return perm(SIDE * SIDE, k)


def states_chart(ways: Mapping[int, int], said: Mapping[int, float]) -> Chart:
    """The ways in which each number of agents can stand, on a scale that multiplies, and how many of them are counted in a second and in a
    year; ``said``: what the reader has estimated, whose bars stand at the left of the true ones."""
    figure = go.Figure(layout=dict(barmode="overlay"))
    figure.add_bar(x=list(said), y=list(said.values()), offset=-0.4, width=0.4, marker_color=REWARD_COLOR, name="your estimate")
    left = [0.0 if k in said else -0.4 for k in ways]
    widths, counts = [0.4 - edge for edge in left], [float(count) for count in ways.values()]
    figure.add_bar(x=list(ways), y=counts, offset=left, width=widths, marker_color=AFTER_COLOR, name="ways to stand")
    for time, count in (("a second", A_BILLION), ("a year", A_BILLION * A_YEAR)):
        figure.add_hline(count, line=dict(dash="dot", color=BEFORE_COLOR))
        look = dict(x=0, xref="paper", xanchor="left", yanchor="bottom", showarrow=False)
        figure.add_annotation(y=log10(count), text=f"counted in {time}", **look)
    common_layout(figure, 420, 20)
    figure.update_xaxes(title="agents", dtick=1, range=[0.4, MOST_AGENTS + 0.6])
    figure.update_yaxes(title="ways to stand", type="log", range=[0, 22], dtick=4, exponentformat="power", gridcolor=GRID_COLOR)
    return Chart(figure, f"Ways to stand by the number of agents, on a logarithmic scale: {', '.join(map(power, ways.values()))}.")


def mark_estimates(figure: go.Figure, said: Mapping[int, float]) -> None:
    """What the reader has said, by the size of the team."""
    if any(said.values()):
        look = dict(symbol="diamond-open", size=12, color=BEFORE_COLOR, line=dict(width=2))
        figure.add_scatter(x=list(said), y=list(said.values()), mode="markers", marker=look, name="your estimate")


def larger_teams() -> Estimate:
    cells, ways = SIDE * SIDE, {k: standing(k) for k in TEAMS_ASKED}
    smallest, *_, largest = TEAMS_ASKED
    more = listed(f"{k} agents in {power(ways[k])}" for k in TEAMS_ASKED[1:])
    return Estimate(
        f"On {SIDE}×{SIDE} cells one agent can stand in {standing(1)} ways, and two in {cells} · {cells - 1} = {standing(2):,}. In how "
        "many can larger teams? You may be a factor of ten off.",
        {f"{k} agents": log10(count) for k, count in ways.items()},
        20,
        1,
        "{} can stand in {} ways",
        f"{smallest} agents can stand in {power(ways[smallest])} ways, {more}. To look at those of {largest} agents would take "
        f"{ways[largest] // (A_BILLION * A_YEAR)} years, at a billion in a second.",
        (
            f"The next agent finds {cells - 2} cells free. How many digits does a number get when it is multiplied by about {cells}?",
            f"Three agents: {cells} · {cells - 1} · {cells - 2}. Three factors of about 60, and 60 · 60 is {60 * 60:,}.",
            f"Each agent adds a bit less than two powers of ten. {largest} agents are {largest} factors, from {cells} down to "
            f"{cells - largest + 1}.",
        ),
        in_powers=True,
    )


# --- planners at work ---------------------------------------------------------------------------------------------------


def let_them_plan(board: Board, planners: Mapping[str, Planner], key: str, seconds: float) -> dict[str, list[Found]]:
    """A button, and what the planners found once it was pressed; nothing before."""
    asked = f"learn-planned-{key}"
    press, about = st.columns([1, 2.6], vertical_alignment="center")
    label = f"Let {'it' if len(planners) == 1 else 'them'} plan"
    if press.button(label, key=f"learn-plan-{key}", type="primary", icon=":material/play_arrow:"):
        st.session_state[asked] = True
    if not st.session_state.get(asked):
        plan = "plans" if len(planners) == 1 else "plan"
        about.caption(f"{listed(planners)} {plan} for {counted(board.num_agents, 'agent')}, for {seconds:g} s at most.")
        board_player(board, [], key=f"learn-{key}-still", height=HEIGHT)
        return {}
    try:
        with st.spinner("Planning", show_time=True):
            return {name: planned(board, planner, seconds) for name, planner in planners.items()}
    except LabError as error:
        st.error(markup.plain(str(error)))
        return {}


def side_by_side(board: Board, names: Sequence[str], key: str, seconds: float) -> dict[str, list[Found]]:
    """What planners of the lab find once they are asked, as a table, and their plans in lockstep. Returns it, too."""
    found = let_them_plan(board, {PLANNERS[name].title: PLANNERS[name] for name in names}, key, seconds)
    if not found:
        return {}
    head = [(name, "") for name in ("planner", "first plan after", "sum of costs", "against the bound", "makespan")]
    rows = [[escape(name), *(escape(part) for part in figures(history)[:4])] for name, history in found.items()]
    st.html(markup.table("What they found", head, rows, "fl-cards", ("first plan after", "sum of costs", "makespan")))
    tracks = []
    for name, history in found.items():
        if (plan := history[-1].plan) is not None:
            paths, verdict = followed(board, plan, None)
            tracks.append(Track(name, paths, verdict))
    board_player(board, tracks, key=f"learn-{key}-plans", height=HEIGHT, autoplay=True, tail=tail_of(board))
    return found


def pibt() -> None:
    side_by_side(boards.TEAM_OF_40, ("pibt", "lns"), "pibt", 2.0)


def pibt_step() -> Stepping:
    board = boards.PUSHED
    first, *others = (f"{i} ({board.distances_to_goal(i)[board.agents[i].start]}" for i in by_urgency(board))
    turns = listed([f"agent {first} steps to go)", *(f"{other})" for other in others)])
    rule = "Each takes the cell nearest its goal that nobody has taken before; whom it pushes chooses next"
    return Stepping(f"Be PIBT for one step. {rule}. The most urgent first: {turns}.", board)


def lacam() -> None:
    if side_by_side(boards.BLOCKED, ("pibt", "prioritized", "lacam"), "lacam", 0.5):
        best = solution_of(encode(boards.BLOCKED), True).sum_of_costs
        st.caption(f"No order of the agents works here, so more time does not help prioritized planning. The cheapest plan costs {best}.")


def another_step() -> Freeing:
    return Freeing(
        "PIBT goes to and fro here: agent 0 pushes agent 2 to the right, and agent 2 pushes it back. Be LaCAM: make another step for the "
        "team, from which PIBT finds a plan.",
        boards.SWINGING,
        ("L", "U", "L"),
        (
            "Agents 0 and 2 want to go past each other. In which cell could one of them let the other pass?",
            "Agent 1 stands in that cell. Where can it go, and who has to make room for it?",
            "Agents 0 and 2 both go left.",
        ),
    )


def bounded() -> None:
    """ECBS with several factors: how much time buys how much."""
    ends = {factor: planned(boards.TEAM_OF_24, ECBS(factor), 5.0)[-1] for factor in FACTORS}
    theme.chart(bounds_chart(ends), key="learn-bounds-chart")
    nodes = listed(f"{end.nodes:,} for w = {factor:g}" for factor, end in ends.items())
    st.caption(f"Nodes that the search expands: {nodes}. With w = 1 it is Conflict-Based Search.")


def bounds_chart(ends: Mapping[float, Found]) -> Chart:
    """What each plan costs and what is proven: the best plan costs something between the two."""
    costs, least = [end.cost for end in ends.values()], [end.lower_bound for end in ends.values()]
    figure = go.Figure([band(list(ends), least, [cost or 0 for cost in costs])])
    for name, values, color in (("sum of costs", costs, AFTER_COLOR), ("proven: no plan costs less", least, CHECK_COLOR)):
        figure.add_scatter(x=list(ends), y=values, name=name, mode="lines+markers", line=dict(color=color))
    common_layout(figure, 260)
    figure.update_xaxes(title="w", gridcolor=GRID_COLOR)
    figure.update_yaxes(title="sum of costs", gridcolor=GRID_COLOR)
    return Chart(figure, f"Costs by the factor: {listed(f'{factor:g}: {end.cost}' for factor, end in ends.items())}.")


def factor_for() -> Bounding:
    most, within = 50, 0.1
    asked = f"expands at most {most} nodes, and proves that its plan costs at most {share(within)} more than the best one"
    return Bounding(f"Find the w with which the search {asked}.", boards.TEAM_OF_24, FACTORS, most, within)


def neighbourhoods() -> None:
    """LNS on a board that is too large for an optimum: its plan becomes cheaper as long as it runs."""
    if found := side_by_side(boards.TEAM_OF_40, ("lns",), "lns", 4.0):
        theme.chart(improvement({"lns": found[PLANNERS["lns"].title]}), key="learn-lns-chart")


def two_anew() -> Regrouping:
    return Regrouping("This is a plan of PIBT. Choose the two agents that save most if they plan anew around all others.", boards.TWO_ANEW)


# --- plans meet the world -----------------------------------------------------------------------------------------------


def delays() -> None:
    """A plan in which one agent is late, by the clock and in order."""
    late = st.slider("Agent 0 is late by, steps", 0, 4, 1, key="learn-late")
    show_late(boards.CROSSING, walk(boards.CROSSING, best_plan(boards.CROSSING)), 0, late, key="learn-delays")


def who_waits() -> Delaying:
    order = "all keep the plan's order: nobody enters a cell before those who pass it first"
    return Delaying(f"Agent 3 starts one step late, and {order}. Choose all others that come late, too.", boards.DELAYED, 3)


def warehouse() -> None:
    """How many goals a team reaches in a step, by its size, beside what the reader has said; and a team at work."""
    reached = int(shift().reached.sum())
    st.caption(
        f"In these {WATCHED} steps they reached {counted(reached, 'goal')}, {reached / WATCHED:.1f} in a step: "
        "the first goals take a while."
    )
    said = {k: st.session_state.get(f"learn-warehouse-{k} robots", 0.0) for k in ASKED}
    with st.spinner("Working", show_time=True):
        rates = throughputs()
    theme.chart(throughput_chart(rates, said), "learn-throughput")


def shift() -> Shift:
    """A team at work."""
    k = st.select_slider("Robots", TEAMS, 20, key="learn-robots")
    board = in_warehouse(k, 0)
    done = work(board, WATCHED, 0)
    paths: Paths = tuple(tuple(divmod(cell, board.width) for cell in path) for path in done.cells.T.tolist())
    shown = Board(board.rows, tuple(Agent(path[0], path[-1]) for path in paths))
    board_player(
        shown, [Track(f"{k} robots, {WATCHED} steps", paths)], key="learn-warehouse", height=240, autoplay=True, tail=tail_of(shown)
    )
    st.caption(f"Squares: where each robot is after {WATCHED} steps.")
    return done


def in_warehouse(k: int, seed: int) -> Board:
    """A team of so many robots, drawn from the seed."""
    draws = seeds.rng(seed, "learn/warehouse", k)
    rows = boards.WAREHOUSE
    free = [(r, c) for r, row in enumerate(rows) for c, letter in enumerate(row) if letter == FROZEN]
    starts, goals = (draws.permutation(len(free))[:k] for _ in range(2))
    return Board(rows, tuple(Agent(free[a], free[b]) for a, b in zip(starts, goals, strict=True)))


def throughputs() -> dict[int, list[float]]:
    """Robots -> goals in a step, one for each of SHIFTS shifts. Counted once for all learners."""
    return once(lambda: {k: [work(in_warehouse(k, seed), STEPS, seed).throughput for seed in range(SHIFTS)] for k in TEAMS}, "learn shifts")


def throughput_chart(rates: Mapping[int, list[float]], said: Mapping[int, float]) -> Chart:
    """The mean over the shifts of each team, with a band from the lowest to the highest; ``said``: what the reader has estimated."""
    figure = go.Figure([band(list(rates), [min(own) for own in rates.values()], [max(own) for own in rates.values()])])
    means = [fmean(own) for own in rates.values()]
    figure.add_scatter(x=list(rates), y=means, mode="lines+markers", line=dict(color=AFTER_COLOR), name="measured")
    mark_estimates(figure, said)
    common_layout(figure, 240, 30)
    figure.update_xaxes(title="robots", gridcolor=GRID_COLOR)
    figure.update_yaxes(title="goals in a step", gridcolor=GRID_COLOR, rangemode="tozero")
    told = ", ".join(f"{k}: {mean:.2f}" for k, mean in zip(rates, means, strict=True))
    return Chart(figure, f"Goals that the team reaches in a step, by the number of robots; {SHIFTS} shifts of {STEPS} steps each. {told}.")


def more_robots() -> Estimate:
    rates = throughputs()
    means = {f"{k} robots": fmean(rates[k]) for k in ASKED}
    came = listed(f"{k} robots {fmean(rates[k]):.2f} ({min(rates[k]):.2f} to {max(rates[k]):.2f})" for k in ASKED)
    return Estimate(
        f"{FEW} robots reach {fmean(rates[FEW]):.2f} goals in a step, on average over {SHIFTS} shifts of {STEPS} steps. How many do larger "
        f"teams reach in the same aisles? You may be {share(NEAR)} off.",
        means,
        2.5,
        NEAR,
        "{} reach {} goals",
        f"Measured, as the mean over {SHIFTS} shifts, with the lowest and the highest: {came}.",
        (
            "Watch a large team: its aisles are one robot wide. What do two robots do that meet head-on?",
            "Let 10 robots work, and then 50: are they on their way, or do they wait and back out?",
            f"No team reaches {max(map(fmean, rates.values())) + 0.1:.1f} goals in a step.",
        ),
    )
