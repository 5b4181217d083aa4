"""Pictures of boards: small ones to choose from, still and moving ones to look at and to download."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from io import BytesIO
from itertools import pairwise
from math import cos, dist, pi, sin
from statistics import fmean

import streamlit as st
from PIL import Image, ImageDraw

from frozenlab.app.ui.components import component, text_of
from frozenlab.app.ui.theme import Palette, palette
from frozenlab.app.views.lake import drawing
from frozenlab.app.views.lake.share import encode
from frozenlab.app.views.lake.tracks import Track, complete
from frozenlab.lake.board import Board, Cell
from frozenlab.lake.exits import ARROWS, DOORS
from frozenlab.lake.picture import AGENT_COLORS, TURNS, BoardColors, draw_agent, draw_disc, draw_floor, font, ink_on
from frozenlab.lake.rules import Path, Paths

_gallery = component(__file__, "gallery", text_of(__file__, "gallery.html"), code=drawing.CODE)
FRAMES_A_STEP = 4
FRAME_MS = 110
HOLD_MS = 1200
"""How long the first and the last picture stand."""
DIGITS = text_of(__file__, "data/digits.txt").splitlines()
"""The outlines of 0 to 9 in the font of the app (Source Sans Bold, SIL Open Font License): 1000 units high, around x = 0. A picture that a
page loads has no fonts of the page."""
DIGIT_WIDTH = 528
LANE = 0.13
"""Cells between the trails of two agents that use the same edge."""
Place = tuple[float, float]
"""Row and column in cells, whole numbers at the middle of a cell."""
_SMOOTH = 2  # drawn twice as large and scaled down: Pillow draws without antialiasing


def board_gallery(
    boards: Sequence[tuple[Board, str]], *, key: str, size: int = 104, default: int = 0, on_pick: Callable[[int], None] | None = None
) -> int:
    """Small pictures of boards, each with a caption, to choose one from; returns the index of the chosen one.

    Args:
        boards: at least one board, with its caption.
        size: of each picture, in CSS pixels at a root size of 16 px.
        default: the board that is chosen at first, and again when other boards are shown.
        on_pick: called with the index of a clicked board, for a page that keeps the choice itself as ``default``.
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
            "items": [{"board": drawing.plain_board(board), "caption": caption} for board, caption in boards],
            "selected": selected,
            "size": size,
            "colors": drawing.COLORS,
        },
        default={"picked": None},
        on_picked_change=picked_one,
    )
    return selected


def board_svg(
    board: Board, paths: Paths | None = None, *, size: int = 120, colors: Palette | None = None, fault: Cell | None = None
) -> str:
    """A still picture of the board, of ``paths`` as lines and of a ring around ``fault``, as SVG text. ``size`` is its longer side in
    pixels."""
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
    for i, line in enumerate(_trails(complete(board, paths) or ())):
        points = " ".join(f"{c + 0.5:g},{r + 0.5:g}" for r, c in line)
        for stroke, width in ((ink.outline, 0.12), (AGENT_COLORS[i % len(AGENT_COLORS)], 0.08)):
            stroked = f'fill="none" stroke="{stroke}" stroke-width="{width}" stroke-linejoin="round" stroke-linecap="round"'
            parts.append(f'<polyline points="{points}" {stroked}/>')
    halo = f'{ink.outline}" stroke="{ink.ice}" stroke-width="250" stroke-linejoin="round" paint-order="stroke'
    for i, agent in enumerate(board.agents):
        color = AGENT_COLORS[i % len(AGENT_COLORS)]
        (r, c) = agent.start
        parts.append(_svg_number(agent.goal, i, halo))
        parts.append(f'<circle cx="{c + 0.5}" cy="{r + 0.5}" r=".32" fill="{color}" stroke="{ink.outline}" stroke-width=".06"/>')
        parts.append(_svg_number(agent.start, i, ink_on(color)))
    if fault is not None:
        parts.append(f'<circle cx="{fault[1] + 0.5}" cy="{fault[0] + 0.5}" r=".44" fill="none" stroke="{ink.accent}" stroke-width=".12"/>')
    return "".join(parts) + "</svg>"


def _trails(paths: Paths) -> Iterator[list[Place]]:
    """The trail of each agent, as the player draws it: through the middle of the cells, but apart on an edge that several agents use."""
    teams = defaultdict(list)
    for i, path in enumerate(paths):
        for edge in {frozenset(move) for move in pairwise(path)}:
            teams[edge].append(i)

    def shifted(place: Place, *lanes: tuple[int, float]) -> Place:
        down, right = (fmean([beside for axis, beside in lanes if axis == wanted] or [0.0]) for wanted in (0, 1))
        return place[0] + down, place[1] + right

    for i, path in enumerate(paths):
        moves = [(a, b) for a, b in pairwise(path) if a != b]
        crowds = [teams[frozenset(move)] for move in moves]
        besides = [(team.index(i) - (len(team) - 1) / 2) * min(LANE, 0.5 / len(team)) for team in crowds]
        lanes = [(int(a[0] != b[0]), beside) for (a, b), beside in zip(moves, besides, strict=True)]
        line: list[Place] = [path[0]]
        for n, (a, b) in enumerate(moves):
            line += [shifted((a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part), lanes[n]) for part in (0.2, 0.8)]
            line.append(shifted(b, *lanes[n : n + 2]) if n + 1 < len(moves) else b)
        yield line


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
    words = str(number)
    left = DIGIT_WIDTH * (1 - len(words)) / 2
    digits = (f'<path transform="translate({left + DIGIT_WIDTH * n:g})" d="{DIGITS[int(digit)]}"/>' for n, digit in enumerate(words))
    return f'<g transform="translate({cell[1] + 0.5} {cell[0] + 0.63}) scale(.0004)" fill="{fill}">{"".join(digits)}</g>'


def board_gif(board: Board, tracks: Sequence[Track], colors: Palette, *, side: int = 360) -> bytes:
    """The tracks side by side in lockstep as a GIF that loops; ``side`` is the longer side of each board in pixels."""
    paths = [complete(board, track.paths) or tuple((agent.start,) for agent in board.agents) for track in tracks]
    steps = max(len(path) for plan in paths for path in plan) - 1
    times = [n / FRAMES_A_STEP for n in range(steps * FRAMES_A_STEP + 1)]
    frames = [_frame(board, tracks, paths, time, colors, side) for time in times]
    # One palette for all frames, made from the two that show most: the first fault is ringed in the last.
    both = Image.new("RGB", (frames[0].width, 2 * frames[0].height))
    both.paste(frames[0], (0, 0))
    both.paste(frames[-1], (0, frames[0].height))
    colors_used = both.quantize(128)
    first, *rest = (frame.quantize(palette=colors_used, dither=Image.Dither.NONE) for frame in frames)
    durations = [HOLD_MS if time in (0, times[-1]) else FRAME_MS for time in times]
    out = BytesIO()
    first.save(out, "GIF", save_all=True, append_images=rest, duration=durations, loop=0)
    return out.getvalue()


def _frame(board: Board, tracks: Sequence[Track], plans: Sequence[Sequence[Path]], time: float, colors: Palette, side: int) -> Image.Image:
    cell = side * _SMOOTH / max(board.height, board.width)
    gap, head = cell * 0.6, 34 * _SMOOTH
    width = gap + len(tracks) * (board.width * cell + gap)
    height = head + board.height * cell + gap
    image = Image.new("RGB", (round(width), round(height)), colors.ground)
    draw = ImageDraw.Draw(image)
    of_board = BoardColors(**{name: getattr(colors, name) for name in BoardColors._fields})
    for n, (track, plan) in enumerate(zip(tracks, plans, strict=True)):
        left, top = gap + n * (board.width * cell + gap), head
        middle = left + board.width * cell / 2
        draw.text((middle, head / 2), track.label, fill=colors.text, font=font(17 * _SMOOTH), anchor="mm")
        draw_floor(draw, board, left, top, cell, of_board)
        for i, (r, c) in enumerate(_spread([_position(path, time) for path in plan])):
            draw_agent(draw, i, left + (c + 0.5) * cell, top + (r + 0.5) * cell, cell, of_board)
        verdict = track.verdict
        if verdict and verdict.cell and not verdict.valid and time >= (verdict.step or 0):
            r, c = max(-1, min(verdict.cell[0], board.height)), max(-1, min(verdict.cell[1], board.width))
            draw_disc(draw, left + (c + 0.5) * cell, top + (r + 0.5) * cell, cell * 0.46, outline=colors.accent, width=cell * 0.08)
    return image.resize((image.width // _SMOOTH, image.height // _SMOOTH), Image.Resampling.LANCZOS)


def _position(path: Path, time: float) -> Place:
    step = min(int(time), len(path) - 1)
    after = min(step + 1, len(path) - 1)
    part = time - int(time)
    (r1, c1), (r2, c2) = path[step], path[after]
    return r1 + (r2 - r1) * part, c1 + (c2 - c1) * part


def _spread(places: Sequence[Place]) -> list[Place]:
    """Agents on one cell (a vertex conflict) a little apart, as the player draws them."""
    spread = []
    for i, place in enumerate(places):
        crowd = [j for j, other in enumerate(places) if dist(place, other) < 0.3]
        angle = 2 * pi * crowd.index(i) / len(crowd)
        out = 0.16 if len(crowd) > 1 else 0.0
        spread.append((place[0] + out * sin(angle), place[1] - out * cos(angle)))
    return spread
