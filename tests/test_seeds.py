"""Every random draw of the lab comes from :mod:`frozenlab.base.seeds`, and no two uses share a key."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from frozenlab.base import seeds

ROOT = Path(__file__).parents[1]
SOURCES = sorted(path for folder in ("core", "pages", "benchmarks", "recipes") for path in (ROOT / folder).rglob("*.py"))
MAKERS = {
    "default_rng", "RandomState", "SeedSequence", "Philox", "PCG64", "MT19937", "SFC64", "Random", "SystemRandom", "Generator", "seed",
}  # fmt: skip
"""Calls that make or seed a generator of numpy, Python or torch; ``core/frozenlab/base/seeds.py`` alone may."""
GLOBAL = ("np.random.", "numpy.random.", "random.", "torch.rand")
"""What begins so draws from a generator that belongs to everybody."""
TAKERS = {"manual_seed", "manual_seed_all", "set_seed"}
"""Calls that seed a library's own generator: with a seed of ``seeds.derive``, written there and then."""


def test_the_same_key_gives_the_same_draws_and_any_other_gives_others() -> None:
    def draws(seed: int, purpose: str, *place: int) -> list[int]:
        return seeds.rng(seed, purpose, *place).integers(2**31, size=4).tolist()

    assert draws(1, "plans", 2, 3) == draws(1, "plans", np.int64(2), np.int32(3)), "whatever kind of whole number says so"
    places = [(2, 3), (3, 2), (2,), (23,), (2, 3, 0)]
    keys = [(seed, purpose, *place) for seed in (1, 12) for purpose in ("plans", "cuts") for place in places]
    assert len({tuple(draws(*key)) for key in keys}) == len(keys)
    assert draws(1, "plans", 2, 3) == [180_822_756, 1_109_624_164, 1_044_030_062, 673_779_162], "every recording hangs on them"
    with pytest.raises(TypeError):
        seeds.rng(1, "plans", 2.0)  # type: ignore[arg-type]


def test_derived_seeds_fit_every_library_and_do_not_count_up() -> None:
    derived = [seeds.derive(seed, "boards", stage) for seed in range(100) for stage in range(100)]
    assert all(0 <= seed < 2**31 for seed in derived)
    assert len(set(derived)) > 9_990, "of 10,000; chance lets about one pair meet in 2^31"
    assert not {seed + 1 for seed in derived} & {seeds.derive(0, "boards", 0)}


def test_draws_of_neighbouring_keys_are_not_correlated() -> None:
    first = np.array([[seeds.rng(1, purpose, step).random() for step in range(2_000)] for purpose in ("a", "b")])
    assert abs(np.corrcoef(first)[0, 1]) < 0.1
    assert abs(np.corrcoef(first[0, 1:], first[0, :-1])[0, 1]) < 0.1


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """The calls in a module, with the last name of what is called."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = node.func
            yield (called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""), node


def wrong(name: str, call: ast.Call) -> bool:
    """Whether a call makes a generator, or draws from one that it did not get from us."""
    whole = ast.unparse(call.func)
    if name in TAKERS:
        return not ast.unparse(call.args[0]).startswith("seeds.derive(")
    return name in MAKERS or (whole.startswith(GLOBAL) and whole != "torch.random.fork_rng")


def test_only_seeds_makes_generators() -> None:
    elsewhere = [path for path in SOURCES if not path.samefile(seeds.__file__)]
    made = [f"{path.relative_to(ROOT)}:{call.lineno} {name}" for path in elsewhere for name, call in calls(path) if wrong(name, call)]
    assert made == [], "use frozenlab.base.seeds"


@pytest.mark.parametrize(
    "line", ["np.random.default_rng(seed)", "torch.manual_seed(seed + 1)", "np.random.rand(3)", "random.Random(1)", "torch.randn(2)"]
)
def test_a_generator_made_elsewhere_is_found(line: str, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(line)
    assert [wrong(name, call) for name, call in calls(tmp_path / "module.py")] == [True]


def test_each_purpose_appears_once_in_the_source() -> None:
    purposes: Counter[str] = Counter()
    for path in SOURCES:
        for _, call in calls(path):
            if ast.unparse(call.func) in ("seeds.rng", "seeds.derive"):
                purpose = call.args[1]
                assert isinstance(purpose, ast.Constant), f"{path.name} line {call.lineno}: the purpose is not written out"
                purposes[purpose.value] += 1
    assert len(purposes) > 20
    assert [purpose for purpose, n in purposes.items() if n > 1] == []
