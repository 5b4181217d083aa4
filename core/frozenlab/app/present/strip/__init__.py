"""The film strip on which a talk is prepared: its scenes as pictures, to order and to leave out, each with what to say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict

from frozenlab.app.present.deck import CODE, STYLE
from frozenlab.app.present.scenes import Scene
from frozenlab.app.ui.components import registered, text_of
from frozenlab.app.ui.theme import DARK, LIGHT
from frozenlab.app.views.views import VIEWS
from frozenlab.session.session import Session

_strips = {
    name: registered(
        f"strip_{name}",
        html=text_of(__file__, "strip.html").replace("PLAYER", view.player.html),
        css=view.player.style + STYLE + text_of(__file__, "strip.css"),
        js=view.player.code + CODE + text_of(__file__, "strip.js"),
    )
    for name, view in VIEWS.items()
}


def film_strip(
    session: Session,
    scenes: Sequence[Scene],
    shown: Sequence[str],
    notes: Mapping[str, str],
    minutes: int,
    cuts: Mapping[int, Sequence[str]],
    *,
    fixed: bool,
    key: str,
    on_change: Callable[[], None],
) -> None:
    """Draws the strip. What the reader decides is ``st.session_state[key].prepared``: ``{"scenes", "notes", "minutes", "own"}``.

    Args:
        scenes: all that can be shown.
        shown: the names of those that are, in their order.
        notes: scene name -> what to say, where it is not what the scene suggests.
        minutes: how long the talk is.
        cuts: ready-made choices of scenes by their minutes.
        fixed: nothing can be changed here.
    """
    data = {
        "id": session.id, "scenes": list(scenes), "shown": list(shown), "notes": dict(notes),
        "minutes": minutes, "cuts": {number: list(names) for number, names in cuts.items()}, "fixed": fixed,
        "colors": {"light": asdict(LIGHT), "dark": asdict(DARK)},
    }  # fmt: skip
    strip = _strips.get(session.spec.tasks.name, next(iter(_strips.values())))
    strip(key=key, data=data, on_prepared_change=on_change, height="content")
