from __future__ import annotations

import stat
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.app.ui.door import passes, ways
from frozenlab.app.ui.door.addresses import network
from frozenlab.app.ui.door.passes import Left
from frozenlab.app.ui.door.tries import FREE, LONGEST_WAIT, TOGETHER, Tries, delay
from frozenlab.app.ui.door.ways import DoorError, Ways
from frozenlab.base.roles import Role

OPERATOR, VIEWER = "an operator's password", "a viewer's password"


@pytest.fixture
def door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ways.VARIABLES.values():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FROZENLAB_DOOR", str(tmp_path / "door.json"))
    return tmp_path / "door.json"


@pytest.fixture(scope="module")
def keys() -> Ways:
    return Ways({}, {Role.OPERATOR: b"o" * 32, Role.VIEWER: b"v" * 32})


def test_without_passwords_there_is_no_way_in_and_no_file(door: Path) -> None:
    assert not ways.ways().passwords and not ways.ways().keys and not door.exists()


def test_a_password_opens_its_role_and_only_its_owner_can_read_the_file(door: Path) -> None:
    ways.set_password(Role.OPERATOR, OPERATOR)
    ways.set_password(Role.VIEWER, VIEWER)
    known = ways.ways()
    assert [known.role_of(word) for word in (OPERATOR, VIEWER, "another password")] == [Role.OPERATOR, Role.VIEWER, None]
    assert stat.S_IMODE(door.stat().st_mode) == 0o600
    assert OPERATOR not in door.read_text() and VIEWER not in door.read_text()


def test_the_environment_comes_before_the_file(door: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ways.set_password(Role.OPERATOR, OPERATOR)
    monkeypatch.setenv("FROZENLAB_OPERATOR_PASSWORD", "that of the environment")
    assert ways.ways().role_of("that of the environment") is Role.OPERATOR
    assert ways.ways().role_of(OPERATOR) is None


def test_another_password_ends_the_passes_and_links_of_its_role_alone(door: Path) -> None:
    ways.set_password(Role.OPERATOR, OPERATOR)
    ways.set_password(Role.VIEWER, VIEWER)
    held = {role: (passes.issue(role, ways.ways()), passes.link(role, ways.ways())) for role in Role}
    ways.set_password(Role.VIEWER, "a new one for viewers")
    alive = {role: (passes.read(one, ways.ways()), passes.role_of_link(link, ways.ways())) for role, (one, link) in held.items()}
    assert alive[Role.VIEWER] == (None, None) and all(alive[Role.OPERATOR])
    ways.change_locks()
    assert passes.read(held[Role.OPERATOR][0], ways.ways()) is None and ways.ways().role_of(OPERATOR) is Role.OPERATOR


@pytest.mark.parametrize("password", ["", "short", "x" * 201])
def test_what_cannot_be_a_password_is_refused(door: Path, password: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DoorError, match="8 to 200 are right"):
        ways.set_password(Role.OPERATOR, password)
    assert not door.exists()
    monkeypatch.setenv("FROZENLAB_VIEWER_PASSWORD", password or "short")
    with pytest.raises(DoorError, match="FROZENLAB_VIEWER_PASSWORD"):
        ways.ways()


def test_one_password_for_both_roles_is_refused(door: Path) -> None:
    ways.set_password(Role.OPERATOR, OPERATOR)
    with pytest.raises(DoorError, match="the other role"):
        ways.set_password(Role.VIEWER, OPERATOR)


def test_a_file_that_others_can_read_or_that_is_damaged_opens_nothing(door: Path) -> None:
    ways.set_password(Role.OPERATOR, OPERATOR)
    door.chmod(0o644)
    with pytest.raises(DoorError, match="chmod 600"):
        ways.read(door)
    door.chmod(0o600)
    door.write_text('{"key": ')
    with pytest.raises(DoorError, match="set the passwords again"):
        ways.ways()


def test_a_pass_says_who_holds_it(keys: Ways) -> None:
    for role in Role:
        held = passes.read(passes.issue(role, keys), keys)
        assert held is not None and held.role is role and len(held.id) == 16
    assert passes.issue(Role.VIEWER, keys) != passes.issue(Role.VIEWER, keys)


def test_no_viewers_pass_becomes_an_operators(keys: Ways) -> None:
    held = passes.issue(Role.VIEWER, keys)
    assert passes.read(held.replace("viewer", "operator"), keys) is None
    assert passes.role_of_link("o" + passes.link(Role.VIEWER, keys)[1:], keys) is None


@given(st.data())
def test_a_changed_pass_is_none(keys: Ways, data: st.DataObject) -> None:
    held = passes.issue(data.draw(st.sampled_from(Role)), keys)
    place = data.draw(st.integers(0, len(held) - 1))
    letter = data.draw(st.characters(codec="latin-1").filter(lambda one: one != held[place]))
    assert passes.read(held[:place] + letter + held[place + 1 :], keys) is None


@given(st.text(max_size=120))
def test_no_other_text_is_a_pass_or_a_link(keys: Ways, text: str) -> None:
    assert passes.read(text, keys) is None and passes.role_of_link(text, keys) is None


def test_a_pass_ends(keys: Ways, monkeypatch: pytest.MonkeyPatch) -> None:
    held, now = passes.issue(Role.VIEWER, keys), time.time()
    monkeypatch.setattr(passes.time, "time", lambda: now + passes.LASTS + 1)
    assert passes.read(held, keys) is None
    monkeypatch.setattr(passes.time, "time", lambda: now - 3600)
    assert passes.read(held, keys) is None


def test_the_passes_of_those_who_left_take_bounded_memory(keys: Ways) -> None:
    left, held = Left(most=3), [passes.read(passes.issue(Role.VIEWER, keys), keys) for _ in range(5)]
    for one in held:
        assert one is not None
        left.add(one.id)
    assert [one.id in left for one in held if one] == [False, False, True, True, True]


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_an_address_waits_longer_after_each_wrong_password() -> None:
    clock, waits = Clock(), []
    tries = Tries(clock=clock)
    for _ in range(FREE + 10):
        tries.wrong("10.0.0.1")
        waits.append(tries.wait("10.0.0.1"))
        clock.now += waits[-1]
    assert waits[: FREE - 1] == [0, 0] and waits[FREE - 1 :] == [min(LONGEST_WAIT, 2.0**n) for n in range(11)]
    assert tries.wait("10.0.0.2") == 0
    tries.wrong("10.0.0.1")
    tries.right("10.0.0.1")
    assert tries.wait("10.0.0.1") == 0


def test_many_addresses_together_get_only_so_many_tries() -> None:
    clock = Clock()
    tries = Tries(clock=clock)
    for number in range(TOGETHER):
        assert tries.wait(f"10.0.0.{number}") == 0
        tries.wrong(f"10.0.0.{number}")
    assert tries.wait("10.1.1.1") > 0
    clock.now += 3600
    assert tries.wait("10.1.1.1") == 0


def test_an_ipv6_network_counts_as_one_address_and_memory_is_bounded() -> None:
    assert network("2001:db8::1") == network("2001:db8::ffff:1") != network("2001:db8:0:1::1")
    tries = Tries(remembered=5, clock=Clock())
    for number in range(50):
        tries.wrong(f"10.0.0.{number}")
    assert len(tries._wrong) == 5


@given(st.integers(0, 10**6))
def test_no_wait_is_longer_than_the_longest(wrong: int) -> None:
    assert 0 <= delay(wrong) <= LONGEST_WAIT
