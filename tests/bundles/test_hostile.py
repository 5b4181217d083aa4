"""No hostile file gets anything past its report: it is refused with the reason, and nothing outside is touched or asked."""

from __future__ import annotations

import resource
import socket
from pathlib import Path
from typing import NoReturn

import pytest

from frozenlab.experiments.bundles.importing import take_in
from frozenlab.experiments.bundles.manifest import BundleError
from frozenlab.experiments.bundles.reading import opened
from frozenlab.session.store import SessionStore
from tests.bundles.archives import bundle
from tests.bundles.hostile import CORPUS, TARGET, Hostile, sound

MEMORY = 1536 * 1024
"""Kilobytes that this process, and any that it starts, may have used when all is done; other tests may have used more before."""


def most_used() -> tuple[int, int]:
    """The most kilobytes that this process has used, and that any of those it started has used, so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


def everything(root: Path) -> dict[str, bytes | None]:
    """All that lies below, but for what locks a launch."""
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else None
        for path in sorted(root.rglob("*"))
        if path.name != ".launch.lock"
    }


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*asked: object) -> NoReturn:
        raise AssertionError(f"a request left: {asked}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def test_the_corpus_is_large_and_its_names_differ() -> None:
    assert len(CORPUS) >= 100
    assert len({hostile.name for hostile in CORPUS}) == len(CORPUS)


@pytest.mark.parametrize("hostile", CORPUS, ids=lambda hostile: hostile.name)
def test_it_is_refused_and_nothing_is_written(hostile: Hostile, tmp_path: Path, no_network: None) -> None:
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "precious").write_text("as it was")
    sessions = tmp_path / "lab" / "sessions"
    (sessions / "own").mkdir(parents=True)
    (sessions / "own" / "session.json").write_bytes(sound()["session.json"])
    file = tmp_path / "given.zip"
    file.write_bytes(hostile.make())
    before, used = everything(tmp_path), most_used()
    try:
        with opened(file, SessionStore(sessions)) as bundle:
            reasons = [str(refusal) for refusal in bundle.refusals]
            taken = take_in(bundle, SessionStore(sessions))
    except BundleError as error:
        reasons, taken = [str(error)], []
    assert any(hostile.why in reason for reason in reasons), reasons
    assert all(reason.isprintable() and len(reason) < 800 for reason in reasons)
    imported = {f"lab/sessions/{job.id}" for job in taken}
    assert imported <= {"lab/sessions/demo"}, "a sound job beside a foreign entry may come in"
    after = {name: data for name, data in everything(tmp_path).items() if not name.startswith("lab/sessions/demo")}
    assert after == before
    assert {*everything(sessions / "demo")} <= {"session.json", "state.json", "labels.json", "imported.json"}
    assert not Path(TARGET).exists()
    assert all(now <= max(earlier, MEMORY) for now, earlier in zip(most_used(), used, strict=True))


def test_a_sound_one_is_imported(tmp_path: Path) -> None:
    """Or the others would be refused for the wrong reasons."""
    file = tmp_path / "given.zip"
    file.write_bytes(bundle(sound()))
    with opened(file, SessionStore(tmp_path / "sessions")) as found:
        assert not found.refusals
        assert [job.id for job in take_in(found, SessionStore(tmp_path / "sessions"))] == ["demo"]
