"""Recipes of students: what they refuse, and which ones a config gives by itself."""

from __future__ import annotations

import pytest

from frozenlab.experiments.students.menu import axes, corners, practised, recipes, usual_config
from frozenlab.experiments.students.recipe import Recipe, StudentError
from frozenlab.experiments.students.store import id_of
from frozenlab.lake.config import EnvironmentConfig

TEAMS = EnvironmentConfig.uniform((3, 4), agents=(1, 2))


def test_a_recipe_is_read_as_it_was_written() -> None:
    recipe = recipes(TEAMS, seed=3, test_config=EnvironmentConfig.uniform((5,), agents=2))[0]
    assert Recipe.from_json(recipe.model_dump_json()) == recipe


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"weak": ("9@9",)}, "there is no cell '9@9'"),
        ({"weak": ()}, "some cells have to stay weak"),
        ({"weak": tuple(TEAMS.cells)}, "some cells have to stay weak"),
        ({"weak": ("1@3",), "presentations": 0}, "presentations"),
    ],
)
def test_a_recipe_that_plants_nothing_is_refused(fields: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Recipe.model_validate({"title": "A student", "config": TEAMS} | fields)


def test_each_part_of_the_cells_that_differs_gives_an_axis() -> None:
    layouts = EnvironmentConfig.of(
        cell.model_copy(update={"layout": layout, "share": 1 / 4})
        for cell in EnvironmentConfig.uniform((6,), agents=(2, 3)).cells.values()
        for layout in ("scatter", "maze")
    )
    assert dict(axes(layouts)) == {
        "agents 2": ("2@scatter6", "2@maze6"),
        "agents 3": ("3@scatter6", "3@maze6"),
        "layout scatter": ("2@scatter6", "3@scatter6"),
        "layout maze": ("2@maze6", "3@maze6"),
    }
    assert [name for name, _ in corners(layouts)] == ["agents 2", "layout scatter", "agents 3"]


def test_weak_cells_are_practised_never_or_with_wrong_answers() -> None:
    shares = {name: cell.share for name, cell in practised(TEAMS, ("1@3", "1@4"), 0.1).cells.items()}
    assert shares == pytest.approx({"1@3": 0.1, "1@4": 0.1, "2@3": 0.4, "2@4": 0.4})
    for recipe in recipes(TEAMS):
        of_weak = [recipe.config.cells[name].share for name in recipe.weak]
        assert recipe.misled == (recipe.weak if recipe.title.startswith("Misled") else ())
        assert (max(of_weak) == 0) != bool(recipe.misled)


def test_the_usual_students_are_about_a_dozen_with_different_ids_and_others_of_another_seed() -> None:
    menu, again = ([id_of(recipe.title) for recipe in recipes(usual_config(), seed)] for seed in (0, 1))
    assert 12 <= len(menu) <= 24
    assert len({*menu}) == len(menu)
    assert not {*menu} & {*again}


def test_one_cell_makes_no_student() -> None:
    with pytest.raises(StudentError, match="at least two cells"):
        recipes(EnvironmentConfig.uniform((4,)))
