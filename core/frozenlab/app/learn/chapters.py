"""The chapters of the course: one idea, one picture to play with, one exercise each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from frozenlab.app.learn import boards, pictures
from frozenlab.app.learn.exercises import Exercise, Ordering, Searching, Steering


@dataclass(frozen=True)
class Chapter:
    name: str
    """In addresses and tables."""
    title: str
    idea: str
    picture: Callable[[], None]
    exercise: Callable[[], Exercise]


CHAPTERS = (
    Chapter(
        "one",
        "One agent",
        "An agent stands on a frozen lake and wants to reach its goal, the square with its number. In each step it goes to a neighbouring "
        "cell, or waits. Hatched cells are holes. The fewest steps are found by flooding the board from the goal: each cell gets the "
        "number of steps that are left from there, and the agent always goes to a smaller number.",
        pictures.distances,
        lambda: Steering("Bring the agent to its goal in as few steps as possible.", boards.AROUND_HOLES),
    ),
    Chapter(
        "meeting",
        "Two on one cell",
        "With several agents the shortest paths are no longer enough. All agents move at the same time, and no two may be on one cell at "
        "the same step. That is a *vertex conflict*. An agent that has arrived stays where it is, and still blocks its cell.",
        pictures.meeting,
        lambda: Steering("Bring both to their goals, without a conflict, in as few steps as possible.", boards.CROSSING),
    ),
    Chapter(
        "swapping",
        "Swapping places",
        "Two agents that face each other cannot change places: they would meet on the edge between their cells. That is an *edge "
        "conflict*. To follow another agent is allowed: a cell may be entered in the very step in which it is left.",
        pictures.swapping,
        lambda: Steering("They stand in each other's way. Let one of them go around, in as few steps as possible.", boards.FACE_TO_FACE),
    ),
    Chapter(
        "waiting",
        "When waiting is best",
        "A detour costs two steps or more, a wait only one. So it can be best to stand still and let somebody pass. On some boards every "
        "plan of the fewest steps makes an agent wait; we say that such a board *must wait*. They are the hard ones: whoever only follows "
        "shortest paths never solves them optimally.",
        pictures.waiting,
        lambda: Steering(
            "This board must wait. Solve it in the fewest steps; the optimum counts the steps until all have arrived.", boards.CROWD
        ),
    ),
    Chapter(
        "aims",
        "Two ways to count",
        "What is the best plan? The *makespan* counts the steps until the last agent is on its goal: when is the team done? The *sum of "
        "costs* adds up the steps of all agents: how long do they travel altogether? Mostly one plan is best for both. Not here.",
        pictures.aims,
        lambda: Steering(
            "Find a plan with the smallest **sum of costs**. It may take more steps until the last agent arrives.",
            boards.TWO_AIMS,
            "sum_of_costs",
        ),
    ),
    Chapter(
        "priorities",
        "One after the other",
        "To plan for all agents at once is hard, for the number of positions multiplies with every agent. *Prioritized planning* lets "
        "them plan one after the other: each takes its shortest path around the paths of those before it. That is quick. But it depends "
        "on the order, and on some boards no order works, although there is a plan.",
        pictures.no_order,
        lambda: Ordering("Two of the six orders work on this board. Find one.", boards.SOME_ORDERS),
    ),
    Chapter(
        "search",
        "Conflict-Based Search",
        "How does a solver find the best plan, and know that it is the best? *Conflict-Based Search* lets every agent take its own "
        "shortest path. Where two of them collide, it splits the world in two: in the one half the first agent must keep off, in the other "
        "half the second. It plans the one that keeps off anew, and always goes on with the cheapest half. The first one without a "
        "conflict is optimal, for constraints never make a plan cheaper.",
        pictures.searching,
        lambda: Searching(
            "You are the search. Press the open node that has to be expanded next, until the plan is found.", boards.MEETINGS
        ),
    ),
    Chapter(
        "model",
        "A model plans",
        "A language model does not search. It reads the board as words, and writes one word after the other: the cell of every agent at "
        "each step. Nothing keeps it from a hole or a collision but what it has learned. Here it was trained by *reinforcement learning*: "
        "it writes several plans for a board, the rules judge them, and the better ones become likelier.",
        pictures.model,
        pictures.what_is_wrong,
    ),
    Chapter(
        "engineer",
        "An engineer decides",
        "What should a model train on next? After each stage an *engineer* reads how the model did on boards that it never trained on, "
        "and writes the next *config*: how many boards of which kind. In this lab the model that is trained does that itself. Whether it "
        "was right shows after the next stage.",
        pictures.engineer,
        pictures.most_to_win,
    ),
)
