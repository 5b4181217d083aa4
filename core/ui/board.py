"""Boards on the page: the player that animates plans, the editor, and small still pictures.

Player, editor and gallery are Streamlit components whose browser side is in ``assets/`` under their names (plain JavaScript on the
drawing code of ``board_draw.js``; no build step). Colours come from :mod:`frozenlab.ui.theme`, so that all that draws a board agrees.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from html import escape
from typing import Any

import streamlit as st

from frozenlab.lake.board import MAX_SIDE, Board, BoardError, Cell
from frozenlab.lake.picture import AGENT_COLORS, ink_on
from frozenlab.lake.rules import Paths, Verdict, walk
from frozenlab.lake.solve.solver import solve
from frozenlab.ui import preparing
from frozenlab.ui.nav import asset
from frozenlab.ui.share import decode, encode
from frozenlab.ui.theme import DARK, LIGHT, OUTCOME_WORDS, Palette, palette

EDITOR_SIDES = (3, 10)
"""Smallest and largest side the editor offers; a board that is larger already stays so."""
COLORS = {"light": asdict(LIGHT), "dark": asdict(DARK), "agents": AGENT_COLORS}
"""What the drawing code in the browser takes its colours from."""
PLAYER_CODE = asset("focus.js") + asset("board_draw.js") + asset("player.js")


_player = st.components.v2.component(
    "frozenlab_player",
    html=asset("player.html"),
    css=asset("board.css"),
    js=PLAYER_CODE + asset("player_component.js"),
)
_editor = st.components.v2.component(
    "frozenlab_editor",
    html=asset("editor.html"),
    css=asset("board.css") + asset("editor.css"),
    js=asset("board_draw.js") + asset("editor.js"),
)
_gallery = st.components.v2.component(
    "frozenlab_gallery", html=asset("gallery.html"), css=asset("gallery.css"), js=asset("board_draw.js") + asset("gallery.js")
)


@dataclass(frozen=True)
class Track:
    """One plan on the board."""

    label: str
    paths: Paths | None
    """The cells of every agent at time 0, 1, 2, ..., illegal ones included; None where there is no plan to show."""
    verdict: Verdict | None = None


# --- the player ------------------------------------------------------------------------------------------------------


def board_player(
    board: Board,
    tracks: Sequence[Track],
    *,
    key: str,
    ghost: Paths | None = None,
    height: int = 460,
    autoplay: bool = False,
    busy: str = "",
) -> None:
    """Draws ``board`` once a track, side by side, and animates all of them under one timeline.

    The first fault of a track is ringed on the board, marked on the timeline and said in words; what follows it is drawn faint.

    Args:
        tracks: what to animate; without any, the board stands still with its agents on their starts.
        key: identity of this player; it keeps playing while the same key shows the same data.
        ghost: the optimal plan, which the reader can lay over every other plan.
        height: of each board at most, in CSS pixels at a root size of 16 px (it grows with presenter mode, and shrinks with the window).
        autoplay: starts when new data arrive (never for readers who asked for reduced motion).
        busy: what goes on just now, in words that stand over the boards.
    """
    tracks = tracks or [Track("", None)]
    shown = [plain_track(board, track) for track in tracks]
    everything = [path for paths in [*(track["paths"] for track in shown), ghost] if paths for path in paths]
    steps = max((len(path) - 1 for path in everything), default=0)
    _player(
        key=key,
        data={
            "board": plain_board(board),
            "tracks": shown,
            "ghost": ghost,
            "steps": steps,
            "begin": 0,
            "margin": 0.85 if any(not board.contains(cell) for path in everything for cell in path) else 0.08,
            "height": height,
            "autoplay": autoplay,
            "busy": busy,
            "colors": COLORS,
        },
    )


def plain_track(board: Board, track: Track) -> dict[str, Any]:
    """A track as the player takes it."""
    paths, verdict = complete(board, track.paths), track.verdict
    return {
        "label": track.label,
        "badge": OUTCOME_WORDS[verdict.outcome] if verdict else None,
        "outcome": (verdict.outcome if verdict.valid else "fault") if verdict else None,
        "caption": fault_sentence(verdict) if verdict else "",
        "paths": paths,
        "fault": _mark(board, paths, verdict),
    }


def fault_sentence(verdict: Verdict) -> str:
    """The verdict as one plain sentence."""
    if verdict.valid:
        figures = f"All on goal after {_steps(verdict.makespan)}, sum of costs {verdict.sum_of_costs}."
        return figures + {True: " No plan is faster.", False: " A faster plan exists.", None: ""}[verdict.optimal]
    step, cell = verdict.step, verdict.cell
    who = _names(verdict.agents)
    return {
        "parse_error": "The answer cannot be read as a plan.",
        "truncated": "The answer was cut off before the plan was complete.",
        "missing_agent": f"The answer gives {who} no path." if verdict.agents else "The answer does not give every agent a path.",
        "out_of_bounds": f"Step {step}: {who} leaves the board at {cell}.",
        "hole": f"Step {step}: {who} falls into the hole at {cell}.",
        "illegal_jump": f"Step {step}: {who} jumps to {cell}, which is no neighbouring cell."
        if step
        else f"{who.capitalize()} does not begin at its start but at {cell}.",
        "vertex_conflict": f"Step {step}: {who} are both on {cell}.",
        "edge_conflict": f"Step {step}: {who} swap cells and meet on the edge of {cell}.",
        "goal_not_reached": f"After the last step ({step}), {who} {'is' if len(verdict.agents) == 1 else 'are'} not on the goal.",
    }[verdict.outcome]


def _steps(n: int | None) -> str:
    return f"{n} step" if n == 1 else f"{n} steps"


def _names(agents: Sequence[int]) -> str:
    numbers = [str(i) for i in agents]
    return f"agent {numbers[0]}" if len(numbers) == 1 else f"agents {', '.join(numbers[:-1])} and {numbers[-1]}" if numbers else "no agent"


def plain_board(board: Board) -> dict[str, Any]:
    return {"rows": board.rows, "agents": [asdict(agent) for agent in board.agents]}


def complete(board: Board, paths: Paths | None) -> Paths | None:
    """``paths`` with one path an agent (one without a path stands on its start), held near the board where they leave it."""
    if paths is None:
        return None
    filled = [*paths, *[()] * (board.num_agents - len(paths))][: board.num_agents]
    return tuple(
        tuple((max(-1, min(r, board.height)), max(-1, min(c, board.width))) for r, c in path or (agent.start,))
        for path, agent in zip(filled, board.agents, strict=True)
    )


def _mark(board: Board, paths: Paths | None, verdict: Verdict | None) -> dict[str, Any] | None:
    """When and where the player shows the fault. A swap of cells is met halfway, in time and place."""
    if verdict is None or verdict.valid or paths is None:
        return None

    def at(agent: int, step: int) -> Cell:
        return paths[agent][min(step, len(paths[agent]) - 1)]

    step = verdict.step if verdict.step is not None else 0
    if verdict.fault == "edge_conflict":
        i, j = verdict.agents
        (r1, c1), (r2, c2) = at(i, step), at(j, step)
        return {"time": step - 0.5, "marks": [((r1 + r2) / 2, (c1 + c2) / 2)]}
    cells = [at(i, step) for i in verdict.agents if i < len(paths)]
    return {"time": step, "marks": list(dict.fromkeys(cells))}


# --- the editor ------------------------------------------------------------------------------------------------------


def board_editor(board: Board, *, key: str, revision: int = 0, height: int = 460) -> Board:
    """An editor that starts from ``board``; returns the board as edited so far.

    The browser holds the truth while it edits: late echoes of the script never undo a stroke. It takes ``board`` anew when ``board`` or
    ``revision`` changes, so pass the board that was loaded, not the one this function returned; raise ``revision`` to reset.
    """
    base = f"{revision}:{encode(board)}"
    edit = (st.session_state.get(key) or {}).get("edit") or {}
    current = _read_edit(edit, base) or board
    _editor(
        key=key,
        data={
            "base": base,
            "board": plain_board(current),
            "sides": [EDITOR_SIDES[0], max(EDITOR_SIDES[1], board.height, board.width)],
            "height": height,
            "colors": COLORS,
        },
        default={"edit": None},
        on_edit_change=lambda: None,
    )
    return current


def _read_edit(edit: dict[str, Any], base: str) -> Board | None:
    """The board that the browser sent, or None if it belongs to another base or breaks the rules of a board."""
    if edit.get("base") != base or len(edit.get("rows", ())) > MAX_SIDE:
        return None
    try:
        return Board.from_dict({"map": edit["rows"], "agents": edit["agents"]})
    except (BoardError, KeyError):
        return None


# --- the gallery -----------------------------------------------------------------------------------------------------


def board_gallery(
    boards: Sequence[tuple[Board, str]], *, key: str, size: int = 104, default: int = 0, on_pick: Callable[[int], None] | None = None
) -> int:
    """Small pictures of boards, each with a caption, to choose one from; returns the index of the chosen one.

    Args:
        boards: at least one board, with its caption.
        size: of each picture, in CSS pixels at a root size of 16 px.
        default: the board that is chosen at first, and again when other boards are shown.
        on_pick: is told the index of a board that was clicked, for a page that keeps the choice itself: it is always ``default`` then.
    """
    codes = [[encode(board), caption] for board, caption in boards]
    batch = sha256(json.dumps(codes).encode()).hexdigest()[:16]
    picked = (st.session_state.get(key) or {}).get("picked") or {}
    index = picked.get("index") if picked.get("batch") == batch else None
    selected = index if on_pick is None and isinstance(index, int) and 0 <= index < len(boards) else default

    def picked_one() -> None:
        chosen = st.session_state[key]["picked"]
        if on_pick is not None and chosen["batch"] == batch and 0 <= int(chosen["index"]) < len(boards):
            on_pick(int(chosen["index"]))

    _gallery(
        key=key,
        data={
            "batch": batch,
            "items": [{"board": plain_board(board), "caption": caption} for board, caption in boards],
            "selected": selected,
            "size": size,
            "colors": COLORS,
        },
        default={"picked": None},
        on_picked_change=picked_one,
    )
    return selected


# --- still pictures --------------------------------------------------------------------------------------------------


def board_svg(board: Board, paths: Paths | None = None, *, size: int = 120, colors: Palette | None = None) -> str:
    """A still picture of the board, and of ``paths`` as lines, as SVG text. ``size`` is its longer side in pixels."""
    ink = colors or palette()
    h, w = board.height, board.width
    scale = size / max(h, w)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w * scale:g}" height="{h * scale:g}">',
        '<defs><pattern id="hatch" width=".22" height=".22" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">',
        f'<rect width=".22" height=".22" fill="{ink.hole}"/><rect width=".05" height=".22" fill="{ink.hatch}"/></pattern></defs>',
    ]
    for r, row in enumerate(board.rows):
        for c, letter in enumerate(row):
            fill = "url(#hatch)" if letter == "H" else ink.ice
            place = f'x="{c + 0.03}" y="{r + 0.03}" width=".94" height=".94" rx=".14"'
            parts.append(f'<rect {place} fill="{fill}" stroke="{ink.edge}" stroke-width=".02"/>')
    for i, agent in enumerate(board.agents):
        color = AGENT_COLORS[i % len(AGENT_COLORS)]
        (r, c) = agent.goal
        for stroke, width in ((ink.outline, 0.16), (color, 0.1)):
            place = f'x="{c + 0.14}" y="{r + 0.14}" width=".72" height=".72" rx=".1"'
            parts.append(f'<rect {place} fill="none" stroke="{stroke}" stroke-width="{width}"/>')
        parts.append(_svg_number(agent.goal, i, ink.text))
    for i, path in enumerate(complete(board, paths) or ()):
        shift = (i - (board.num_agents - 1) / 2) * 0.1
        points = " ".join(f"{c + 0.5 + shift:g},{r + 0.5 + shift:g}" for r, c in path)
        for stroke, width in ((ink.outline, 0.12), (AGENT_COLORS[i % len(AGENT_COLORS)], 0.08)):
            line = f'fill="none" stroke="{stroke}" stroke-width="{width}" stroke-linejoin="round" stroke-linecap="round"'
            parts.append(f'<polyline points="{points}" {line}/>')
    for i, agent in enumerate(board.agents):
        color = AGENT_COLORS[i % len(AGENT_COLORS)]
        (r, c) = agent.start
        parts.append(f'<circle cx="{c + 0.5}" cy="{r + 0.5}" r=".32" fill="{color}" stroke="{ink.outline}" stroke-width=".06"/>')
        parts.append(_svg_number(agent.start, i, ink_on(color)))
    return "".join(parts) + "</svg>"


def _svg_number(cell: Cell, number: int, fill: str) -> str:
    style = 'text-anchor="middle" font-family="Source Sans,Arial,sans-serif" font-weight="700" font-size=".4"'
    return f'<text x="{cell[1] + 0.5}" y="{cell[0] + 0.64}" {style} fill="{fill}">{number}</text>'


def svg_uri(svg: str) -> str:
    """The picture as an address that an ``<img>`` or an image column shows without a request."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def board_picture(board: Board, paths: Paths | None = None, *, size: int = 120, alt: str = "") -> None:
    """Shows :func:`board_svg`. ``alt`` says in words what the picture shows."""
    words = escape(alt or f"A {board.height} by {board.width} board with {board.num_agents} agents", quote=True)
    st.html(f'<img src="{svg_uri(board_svg(board, paths, size=size))}" alt="{words}" style="display:block;max-width:100%">')


def optimal_paths(code: str) -> Paths | None:
    """The paths of an optimal plan for the board of a code (:mod:`frozenlab.ui.share`); None if none was found, or if
    the solver is still being compiled, which is announced."""
    if not preparing.ready("solver"):
        preparing.announce("solver", what="The optimal plan is still to come.")
        return None
    return _optimal_paths(code)


@st.cache_data(max_entries=256, show_spinner="Solving the board")
def _optimal_paths(code: str) -> Paths | None:
    board = decode(code)
    plan = solve(board).plan
    return None if plan is None else walk(board, plan)


def paths_from_json(text: str | None) -> Paths | None:
    """Reads the ``paths`` column of a session's tables: per agent a list of ``[row, col]``."""
    if not isinstance(text, str):
        return None
    data = json.loads(text)
    return None if data is None else tuple(tuple((r, c) for r, c in path) for path in data)
