"""Forks next to their parents."""

from __future__ import annotations

import shutil
from pathlib import Path

from frozenlab.app.story.whole_session import branches_figure, family
from frozenlab.session.forks import fork
from frozenlab.session.spec import Parent
from frozenlab.session.store import SessionStore
from tests.builders import build_session


def test_a_family_is_the_trunk_and_all_that_was_forked_from_it(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    trunk, other = build_session(tmp_path, session_id="trunk"), build_session(tmp_path, session_id="other")
    child = fork(trunk, 0, store, "child", title="What if")
    sibling = fork(trunk, 1, store, "sibling", engineer="rules")
    of_child = trunk.spec.changed(parent=Parent(session="child", stage=0))
    grandchild = build_session(tmp_path, of_child, "grandchild")
    for session in (trunk, child, sibling, grandchild):
        names = {branch.session.id: branch.stage for branch in family(session, store)}
        assert names == {"trunk": None, "child": 0, "sibling": 1, "grandchild": 0}
        assert next(iter(names)) == "trunk"
    assert [branch.session.id for branch in family(other, store)] == ["other"]


def test_a_fork_whose_parent_is_gone_is_a_trunk_of_its_own(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    child = fork(build_session(tmp_path, session_id="trunk"), 0, store, "child")
    shutil.rmtree(tmp_path / "trunk")
    assert [(branch.session.id, branch.stage) for branch in family(child, store)] == [("child", None)]


def test_the_figure_shows_every_branch_with_its_rates(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    trunk = build_session(tmp_path, session_id="trunk")
    fork(trunk, 1, store, "child", title="What if")
    chart = branches_figure(family(trunk, store), "trunk")
    assert [trace.name for trace in chart.figure.data] == [trunk.title, "What if"]
    rates = [rate.valid for rate in trunk.state().rates]
    assert list(chart.figure.data[0].y) == rates
    assert trunk.title in chart.alt
