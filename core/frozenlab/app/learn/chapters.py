"""The chapters of the course: one idea, one picture to play with, one exercise each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple

from frozenlab.app.learn import boards, pictures, planners
from frozenlab.app.learn.exercises import Exercise, Ordering, Searching, Steering


@dataclass(frozen=True)
class Chapter:
    name: str
    """In addresses and tables."""
    title: str
    idea: str
    picture: Callable[[], None]
    exercise: Callable[[], Exercise]
    recap: str
    """What to remember, in one sentence of Markdown."""
    minutes: int = 3
    """To read and to solve; a lesson shares out its time in this proportion."""
    ask: str = ""
    """A question to put to a class."""
    hear: str = ""
    """What an answer to it has to say."""
    before: Callable[[], object] | None = None
    """What stands beside a question until the first try, where the picture would answer it."""
    tells: bool = False
    """Whether the picture has what is asked for, so that it opens only once the answer is right."""


CHAPTERS = (
    Chapter(
        "one",
        "One agent",
        "In multi-agent path finding (MAPF) several robots cross a board at the same time and never meet. First, one alone: "
        "it wants to reach its goal, the square with its number. In each step it goes to a neighbouring cell, or waits. Hatched cells are "
        "holes.\n\nThe fewest steps are found by flooding the board from the goal: each cell gets the number of steps that are left from "
        "there, and the agent always goes to a smaller number.",
        pictures.flood,
        lambda: Steering("Bring the agent to its goal in as few steps as possible.", boards.LONG_WAY),
        "The steps that are left from each cell lead the way: always to a smaller number.",
        ask="Why does the agent never have to try a path and turn back?",
        hear="The numbers lead around all holes: beside each cell there is one with a smaller number, until the goal.",
    ),
    Chapter(
        "meeting",
        "Two on one cell",
        "With several agents the shortest paths are no longer enough. All agents move at the same time, and no two may be on one cell at "
        "the same step. That is a *vertex conflict*.\n\nWe name a cell by its row and its column: (3, 2) is in row 3 and column 2. "
        "An agent on its goal still blocks the cell. It may leave its goal again, for instance to let another agent pass, but at the end "
        "it must be there.",
        pictures.meeting,
        lambda: Steering("Bring both to their goals, without a conflict, in as few steps as possible.", boards.SAME_CELL),
        "No two agents on one cell at the same step; an agent on its goal counts, too.",
        ask="Does the team take longer because the two would meet?",
        hear="Not in the exercise: agent 1 waits a step, and 4 steps are what agent 0 needs alone. But agent 1 comes a step later.",
    ),
    Chapter(
        "swapping",
        "Swapping places",
        "Two agents that face each other cannot change places: they would meet on the edge between their cells. That is an *edge "
        "conflict*.\n\nStern et al. 2019 call it a swapping conflict. Following another agent is allowed: a cell may be entered in the "
        "very step in which it is left.",
        pictures.swapping,
        lambda: Steering("They stand in each other's way. Let one of them give way, in as few steps as possible.", boards.NARROW),
        "Agents cannot swap cells, but one may follow another, and a whole circle may go round.",
        ask="Four agents stand on a square of four cells, and each goes on to the next. Is that allowed?",
        hear="Yes. Each enters a cell that is left in the same step, and no two swap. Stern et al. 2019 call this following and a cycle; "
        "some planners forbid them, here both are allowed.",
    ),
    Chapter(
        "waiting",
        "When waiting is best",
        "A detour makes a path longer by two steps or more, a wait by one. So it can be best to stand still and let another agent pass.\n\n"
        "On some boards every plan with the fewest steps makes some agent wait before it arrives; we say that such a board *must wait*. "
        "Agents that never wait need more steps there.",
        pictures.waiting,
        lambda: Steering("This board must wait. Solve it in the fewest steps, counted until all have arrived.", boards.CROWD),
        "A wait costs one step, a detour two at the least: so waiting can be best.",
        ask="Why is a detour longer by two steps at least, and never by one?",
        hear="Colour the cells like a chessboard: each move changes the colour. So all paths between two cells are of even length, "
        "or all of odd length.",
    ),
    Chapter(
        "aims",
        "Two ways to count",
        "What is the best plan? The *makespan* counts the steps until all agents are on their goals for good: when is the team done? The "
        "*sum of costs* counts these steps for each agent alone and adds them up.\n\nSo every wait counts, even one on the goal if the "
        "agent leaves it again; only standing there for good is free. A plan may be the best by one count and not by the other. Often one "
        "plan is the best by both; on this board none is.",
        pictures.aims,
        lambda: Steering(
            "Find a plan with the smallest **sum of costs**. It may take more steps until the last agent arrives.",
            boards.OTHER_AIMS,
            "sum_of_costs",
        ),
        "Always say what a plan is optimal in: the makespan, or the sum of costs.",
        minutes=4,
        ask="Who cares about the makespan, and who about the sum of costs: a fire brigade, or a taxi company?",
        hear="The fire brigade can begin when the last car is there: the makespan. The company pays for each car's time: the sum of costs.",
    ),
    Chapter(
        "spacetime",
        "Time is the third axis",
        "How does one agent plan among others that move? A state is a cell and a step. From a cell the agent goes to a neighbouring cell "
        "or stays, and either takes one step of time. The path of another agent reserves its cells at their steps, and nobody may swap "
        "cells with it.\n\n*Space-time A∗* searches these states, with the steps that are left from a cell as its estimate. A cell that is "
        "free now may be taken later, so a wait is a move like any other, and an agent has arrived only once nobody else needs its goal "
        "cell.",
        planners.reservations,
        planners.earliest,
        "With other agents moving, a state is a cell and a step.",
        ask="Why may an agent not simply stay on its goal once it is there?",
        hear="Another agent may have reserved that cell for later. An agent has arrived only once nobody else needs its goal cell.",
        before=lambda: planners.reservations(solved=False),
        tells=True,
    ),
    Chapter(
        "priorities",
        "One after the other",
        "To plan for all agents at once is hard. *Prioritized planning* lets them plan one after the other: each takes a shortest path "
        "around the paths of those before it, and keeps it. That is quick.\n\nBut an agent may find no path, and often that depends on the "
        "order. On some boards no order works, although there is a plan.",
        pictures.no_order,
        lambda: Ordering(
            "Two of the six orders work on this board, whichever shortest paths the agents take. Find one.", boards.SOME_ORDERS
        ),
        "Prioritized planning is quick, and may find no plan although there is one.",
        ask="In how many orders can five agents plan? And ten?",
        hear="In 120, and in 3,628,800. So a planner tries some of them, and gives up after a while.",
    ),
    Chapter(
        "size",
        "How big it gets",
        "Why not go through everything? Because there is too much of it. Each further agent multiplies the ways in which the team can "
        "stand by nearly the number of cells, and its joint moves by five. To find a plan of the smallest makespan or sum "
        "of costs is *NP-hard*.\n\nA planner is *complete* if it finds a plan wherever there is one, and *optimal* if its plan is the "
        "best. Conflict-Based Search keeps both and looks at less; the planners after it give up one or both, to save time.",
        planners.sizes,
        planners.larger_teams,
        "To find the best plan is NP-hard; to find some plan is not, where every move can be undone.",
        ask="To find the best plan is NP-hard. Can no planner find it for a hundred agents?",
        hear="On many boards one does. NP-hard speaks of the worst boards: on some, every planner that always finds the best plan is too "
        "slow, unless P = NP.",
        before=lambda: planners.sizes(solved=False),
        tells=True,
    ),
    Chapter(
        "search",
        "Conflict-Based Search",
        "How does a solver find the best plan, and know that it is the best? *Conflict-Based Search* begins with a node in which every "
        "agent takes a shortest path of its own.\n\nWhere two of them collide, the node gets two children: at that step the first agent "
        "must keep off in one, the second in the other, and plans anew. Every valid plan is below one of them or below both.\n\n"
        "Nodes that have no children yet are open. The search always takes the cheapest of them. If that one has no conflict, its plan is "
        "the best: children never cost less than their parent, so nothing better is left.",
        pictures.searching,
        lambda: Searching(
            "You are the search. Press the open node that has to be expanded next, until the plan is found.", boards.MEETINGS
        ),
        "When the cheapest of all open nodes has no conflict, its plan is the best. Where there is no plan, the search may never end.",
        minutes=6,
        ask="Why must the search not stop at the first plan without a conflict?",
        hear="A node that is still open may cost less, and a cheaper plan may lie below it.",
    ),
    Chapter(
        "pibt",
        "Fast but not optimal",
        "*PIBT* plans one step at a time. The most urgent agent takes the cell beside it, or its own, from which the fewest steps are "
        "left: first who has the longest way, later who has been on its way the longest.\n\nAn agent that stands on that cell inherits the "
        "priority and chooses next, but may not change places; if it finds no cell, the first one tries its next best. That takes only a "
        "moment for hundreds of agents. But it looks only one step ahead: the plan may cost far more than the best one, and agents may "
        "block each other for good.",
        planners.pibt,
        planners.pibt_step,
        "PIBT: one step at a time, priorities that are inherited; very fast, not complete, not optimal.",
        ask="What does PIBT not look at, and what does that cost?",
        hear="All that comes after the next step. So agents take steps that they must take back, and may block each other for good.",
    ),
    Chapter(
        "lacam",
        "LaCAM: complete and fast",
        "*LaCAM* searches over how the whole team stands, its configurations. It lets PIBT make the next step, and goes on from there.\n\n"
        "When it comes back to a configuration, it demands another step from there: first one agent must go to a certain cell, then a "
        "second one too. It adds such constraints one by one, and only where they are needed, so that in the end every joint move is "
        "tried. That is as fast as PIBT where things are easy, and finds a plan wherever there is one.",
        planners.lacam,
        planners.another_step,
        "LaCAM: a search over how the team stands, with constraints added lazily; complete, not optimal.",
        ask="PIBT is not complete, and LaCAM is. What has been added?",
        hear="It knows how the team has stood. Where PIBT comes back to that, it is made to try another step, until all are tried.",
    ),
    Chapter(
        "bounds",
        "How much time buys how much",
        "A planner can trade cost for time. *ECBS* is Conflict-Based Search that also knows a lower bound for every node. "
        "Among all nodes that cost at most w times the smallest bound it takes the one with the fewest conflicts, and single paths may be "
        "up to w times as long as the shortest ones, too.\n\nIts plan costs at most w times the best. A plan that may cost a little "
        "more is often found far sooner: the search expands fewer nodes.",
        planners.bounded,
        planners.factor_for,
        "ECBS: at most w times the best, often much sooner.",
        ask="The planner had w = 1.2, and its plan costs 60. What do we know of the best plan?",
        hear="It costs 50 at the least, 60 / 1.2, and 60 at the most.",
        tells=True,
    ),
    Chapter(
        "neighbourhoods",
        "Always improving",
        "Why stop at the first plan? *Large neighbourhood search* takes any plan, lets a few agents that are in each other's way plan "
        "anew while all others keep their paths, and keeps the result if it costs no more. It does that again and again, thousands of "
        "times in a few seconds.\n\nSuch a planner is *anytime*: whenever it is stopped, it has a plan, and a longer run never "
        "makes it worse.",
        planners.neighbourhoods,
        planners.two_anew,
        "LNS: an anytime planner; it improves, and proves nothing.",
        ask="The plan has not become better for a minute. Is it the best one?",
        hear="Nobody knows. This planner proves nothing; only a lower bound could tell.",
    ),
    Chapter(
        "delays",
        "When somebody is late",
        "A plan is a timetable, and robots are late. If one is late and the others go on by the clock, they may collide. What keeps a "
        "plan safe is not its times but its order: which agent passes each cell first.\n\nSo robots are told to enter a cell only when "
        "all that come before them there have left it, or leave it in the same step. A delay is then passed on to those who have "
        "to wait, and nobody meets, whoever is late.",
        planners.delays,
        planners.who_waits,
        "A plan that is followed in order, not by the clock, stays safe.",
        ask="Whom does a delay make late?",
        hear="Those who pass a cell after the agent that is late, and those after them, if they would come too early otherwise.",
    ),
    Chapter(
        "warehouse",
        "The warehouse that never ends",
        "In a warehouse nobody is ever done: a robot that reaches its goal gets the next. That is *lifelong* MAPF. There is no makespan "
        "and no sum of costs, for there is no end; what counts is the *throughput*, the goals reached per step.\n\nHere PIBT moves all "
        "robots step by step. More robots reach more goals, until they get in each other's way.",
        planners.warehouse,
        planners.more_robots,
        "Lifelong MAPF counts throughput, and in narrow aisles more robots soon reach hardly more goals.",
        ask="Twice as many robots: twice as many goals?",
        hear="Nearly, as long as there is room. Later they stand in each other's way, and more robots reach no more.",
        before=planners.shift,
        tells=True,
    ),
    Chapter(
        "model",
        "A model plans",
        "A language model does not search. It reads the board as words, and writes one word after the other: the cell of every agent at "
        "each step. Only what it has learned keeps it from a hole or a collision.\n\nThis one first imitated a solver's plans. Here "
        "it goes on with *reinforcement learning*: it writes several plans for a board, the rules judge them, and the better ones become "
        "likelier.",
        pictures.model,
        pictures.what_is_wrong,
        "A model writes a plan word by word, and nothing checks it while it writes.",
        ask="Who checks the plan while the model writes it?",
        hear="Nobody. The rules judge it when it is written.",
        before=lambda: pictures.model(solved=False),
    ),
    Chapter(
        "engineer",
        "An engineer decides",
        "What should a model train on next? After each stage an *engineer* reads how the model did on boards that it never trained on, and "
        "writes the next *config*: how many boards of which kind. In this lab the model that is trained can do that itself.\n\nThe kind "
        "that fails most is not always the one to train on: on boards that are too hard no plan earns a reward, on those that are too easy "
        "all plans earn the same, and what is learned on one kind of board may help on others. So an engineer predicts, and the next stage "
        "is measured.",
        pictures.engineer,
        pictures.what_will_change,
        "Predict, and then measure beside a twin: after one stage, and on a few hundred boards, small gains do not show.",
        minutes=4,
        ask="Most plans fail on one kind of board. Should the model train on it?",
        hear="If some of its plans succeed there. Where none does, no plan earns a reward, and there is nothing to learn from.",
    ),
)
BY_NAME = {chapter.name: chapter for chapter in CHAPTERS}
PARTS = {"The problem": CHAPTERS[:6], "Planners": CHAPTERS[6:15], "The model": CHAPTERS[15:]}
"""The chapters by their part of the course."""


class Track(NamedTuple):
    """A lesson that is ready to be held."""

    minutes: int
    chapters: tuple[str, ...]


TRACKS = {
    "School": Track(45, ("one", "meeting", "swapping", "waiting", "spacetime", "pibt")),
    "University 1": Track(90, tuple(chapter.name for chapter in CHAPTERS[:9])),
    "University 2": Track(90, tuple(chapter.name for chapter in CHAPTERS[9:])),
}
"""One lesson for schools, and two double lessons for universities."""


def shared_out(minutes: int, chapters: Sequence[Chapter]) -> list[int]:
    """Whole minutes for each chapter, in proportion to its own, at least one each; they add up to ``minutes`` if there is one for each.

    >>> shared_out(20, CHAPTERS[:6])
    [3, 3, 3, 4, 4, 3]
    """
    ends = [minutes * done / sum(chapter.minutes for chapter in chapters) for done in accumulate(chapter.minutes for chapter in chapters)]
    return [max(1, round(end) - round(begin)) for begin, end in pairwise([0.0, *ends])]
