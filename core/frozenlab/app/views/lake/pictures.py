"""Still pictures of boards, as SVG."""

from __future__ import annotations

import base64

from frozenlab.app.ui.theme import Palette, palette
from frozenlab.app.views.lake.tracks import complete
from frozenlab.lake.board import Board, Cell
from frozenlab.lake.exits import ARROWS, DOORS
from frozenlab.lake.picture import AGENT_COLORS, TURNS, ink_on
from frozenlab.lake.rules import Paths


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
            if letter in ARROWS:
                parts.append(_svg_arrow((r, c), letter, ink))
            elif letter in DOORS:
                parts.append(_svg_door((r, c), int(letter), ink))
    for i, agent in enumerate(board.agents):
        color = AGENT_COLORS[i % len(AGENT_COLORS)]
        (r, c) = agent.goal
        for stroke, width in ((ink.outline, 0.16), (color, 0.1)):
            place = f'x="{c + 0.14}" y="{r + 0.14}" width=".72" height=".72" rx=".1"'
            parts.append(f'<rect {place} fill="none" stroke="{stroke}" stroke-width="{width}"/>')
        parts.append(_svg_number(agent.goal, i, ink.outline))
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


def _svg_arrow(cell: Cell, letter: str, ink: Palette) -> str:
    """One-way ice, as the player draws it."""
    turn = f"translate({cell[1] + 0.5} {cell[0] + 0.5}) rotate({TURNS[letter]})"
    line = f'fill="none" stroke="{ink.outline}" stroke-opacity=".8" stroke-width=".075" stroke-linecap="round" stroke-linejoin="round"'
    return f'<path transform="{turn}" d="M-.3-.16L0-.42L.3-.16M-.3 .16L0-.1L.3 .16" {line}/>'


def _svg_door(cell: Cell, agent: int, ink: Palette) -> str:
    """A door, as the player draws it: two posts and a number."""
    (r, c), color = cell, AGENT_COLORS[agent]
    tint = f'<rect x="{c + 0.05}" y="{r + 0.05}" width=".9" height=".9" rx=".12" fill="{color}" fill-opacity=".3"/>'
    posts = "".join(
        f'<rect x="{c + x:g}" y="{r + 0.08:g}" width=".14" height=".84" rx=".04" fill="{color}" stroke="{ink.outline}" stroke-width=".03"/>'
        for x in (0.05, 0.81)
    )
    return tint + posts + _svg_number(cell, agent, ink.outline)


def _svg_number(cell: Cell, number: int, fill: str) -> str:
    style = 'text-anchor="middle" font-family="Source Sans,Arial,sans-serif" font-weight="700" font-size=".4"'
    return f'<text x="{cell[1] + 0.5}" y="{cell[0] + 0.64}" {style} fill="{fill}">{number}</text>'


def svg_uri(svg: str) -> str:
    """The picture as an address that an ``<img>`` or an image column shows without a request."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
