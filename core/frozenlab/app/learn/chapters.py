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
        "the same step. That is a *vertex conflict*. An agent on its goal still blocks the cell. It may leave its goal again, for instance "
        "to let another agent pass, but at the end it must be there.",
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
        "A detour makes a path longer by two steps or more, a wait by one. So it can be best to stand still and let another agent pass. "
        "On some boards every plan of the fewest steps makes an agent wait before it arrives; we say that such a board *must wait*. "
        "Agents that never wait cannot solve it optimally.",
        pictures.waiting,
        lambda: Steering(
            "This board must wait. Solve it in the fewest steps; the optimum counts the steps until all have arrived.", boards.CROWD
        ),
    ),
    Chapter(
        "aims",
        "Two ways to count",
        "What is the best plan? The *makespan* counts the steps until all agents are on their goals for good: when is the team done? The "
        "*sum of costs* counts these steps for each agent alone and adds them up. A wait on the way counts, resting on the goal does not. "
        "A plan can be optimal in one of them only. Often one plan is optimal in both. Not here.",
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
        "To plan for all agents at once is hard: each agent multiplies the number of their positions by the number of cells. "
        "*Prioritized planning* lets them plan one after the other: each takes a shortest path around the paths of those before it, and "
        "keeps it. That is quick. But an agent may find no path, which depends on the order. On some boards no order works, although "
        "there is a plan.",
        pictures.no_order,
        lambda: Ordering(
            "Two of the six orders work on this board, whichever shortest paths the agents take. Find one.", boards.SOME_ORDERS
        ),
    ),
    Chapter(
        "search",
        "Conflict-Based Search",
        "How does a solver find the best plan, and know that it is the best? *Conflict-Based Search* lets every agent take a shortest "
        "path of its own. Where two of them collide, the search branches: at that step the first agent must keep off in one branch, the "
        "second in the other. Every valid plan is in one branch or in both. The agent that keeps off plans anew, and the search goes on "
        "with the cheapest node that is open. A plan without a conflict is optimal when its node is taken as the cheapest, and not "
        "yet when it appears: a constraint never makes a plan cheaper, but below a cheaper node there may be a better one.",
        pictures.searching,
        lambda: Searching(
            "You are the search. Press the open node that has to be expanded next, until the plan is found.", boards.MEETINGS
        ),
    ),
    Chapter(
        "model",
        "A model plans",
        "A language model does not search. It reads the board as words, and writes one word after the other: the cell of every agent at "
        "each step. Only what it has learned keeps it from a hole or a collision. This one first imitated a solver's plans. Here "
        "it goes on with *reinforcement learning*: it writes several plans for a board, the rules judge them, and the better ones become "
        "likelier.",
        pictures.model,
        pictures.what_is_wrong,
    ),
    Chapter(
        "engineer",
        "An engineer decides",
        "What should a model train on next? After each stage an *engineer* reads how the model did on boards that it never trained on, "
        "and writes the next *config*: how many boards of which kind. In this lab the model that is trained can do that itself. Where most "
        "plans fail, there need not be most to learn: from boards that are too hard no plan earns a reward, and what is learned on one "
        "kind of board may help on others. So an engineer predicts, and the next stage is measured.",
        pictures.engineer,
        pictures.what_will_change,
    ),
)
