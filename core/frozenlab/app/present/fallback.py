"""The recorded session that is shown where a live one has nothing to tell."""

from __future__ import annotations

from collections.abc import Iterable

from frozenlab.app.present.scenes import Scene, TalkError, scenes_of
from frozenlab.app.ui.once import once
from frozenlab.session.session import Session


def recorded(found: Iterable[Session]) -> Session | None:
    """The first of the sessions that has a story, recorded ones before all others."""
    for session in sorted(found, key=lambda one: not one.read_only):
        try:
            kept_scenes(session)
        except TalkError:
            continue
        return session
    return None


def kept_scenes(session: Session) -> list[Scene]:
    """Made once as long as the session's files stay as they are. Raises TalkError as :func:`scenes_of` does."""
    return once(lambda: scenes_of(session), "talk scenes", session.revision(), session.state().status)
