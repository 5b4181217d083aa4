from frozenlab.lake.reward import plan_reward


def test_reward_orders_plans() -> None:
    """Optimal, slower, much slower; then what fails late and brings agents home, what fails at once, what cannot be read."""
    earned = [
        plan_reward(3, 3, None, 1.0),
        plan_reward(3, 4, None, 1.0),
        plan_reward(3, 300, None, 1.0),
        plan_reward(3, None, 4, 1.0),
        plan_reward(3, None, 3, 0.5),
        plan_reward(3, None, 1, 0.5),
        plan_reward(3, None, 1, 0.0),
    ]
    assert earned == sorted(earned, reverse=True)
    assert earned[0] == 1.0 and earned[2] > 0.7 and earned[3] == 0.1 and earned[-1] == 0.0
    assert plan_reward(3, None, None, 0.5) == 0.0


def test_a_plan_of_no_steps_is_optimal_where_none_are_needed() -> None:
    assert plan_reward(0, 0, None, 1.0) == 1.0 and plan_reward(0, None, 2, 0.0) == 0.0
