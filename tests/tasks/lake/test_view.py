"""What the lake's view says beside plans."""

from frozenlab.app.learn.boards import TWO_AIMS
from frozenlab.app.views.lake.tracks import Track
from frozenlab.app.views.lake.view import cheaper_than_last
from frozenlab.lake.rules import judge, walk
from frozenlab.lake.solvers.solver import solve


def test_a_plan_with_a_smaller_sum_of_costs_than_the_fastest_is_noticed() -> None:
    solution = solve(TWO_AIMS, sum_of_costs=True)
    fastest, cheapest, failed = (
        Track("", walk(TWO_AIMS, plan), judge(TWO_AIMS, plan, solution.makespan))
        for plan in (solution.plan, solution.cheapest_plan, ("",) * TWO_AIMS.num_agents)
    )
    assert cheaper_than_last([failed, cheapest, fastest])
    assert not cheaper_than_last([failed, Track("unread", None), fastest, fastest])
