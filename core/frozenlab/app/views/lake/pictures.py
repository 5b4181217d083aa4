"""Pictures of boards: small ones to choose from, still and moving ones to look at and to download."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from html import escape
from io import BytesIO
from itertools import pairwise
from math import ceil, cos, dist, inf, pi, sin
from statistics import fmean
from typing import Any, NamedTuple

import streamlit as st
from PIL import Image, ImageDraw

from frozenlab.app.ui.components import component, text_of
from frozenlab.app.ui.theme import Palette, palette
from frozenlab.app.views.lake import drawing
from frozenlab.app.views.lake.share import encode
from frozenlab.app.views.lake.tracks import BESIDE, Track, complete, leave, margin_of, plain_track
from frozenlab.lake.board import Board, Cell
from frozenlab.lake.exits import ARROWS, DOORS
from frozenlab.lake.picture import (
    AGENT_COLORS,
    GOAL_DISC,
    TURNS,
    BoardColors,
    draw_agent,
    draw_disc,
    draw_floor,
    draw_goal_number,
    font,
    ink_on,
)
from frozenlab.lake.rules import Path, Paths

_gallery = component(__file__, "gallery", text_of(__file__, "gallery.html"), code=drawing.CODE)
FRAMES_A_STEP = 4
FRAME_MS = 110
HOLD_MS = 1500
"""How long the first picture, the last and those of faults stand."""
MOST_IN_A_ROW = 3
"""Boards; more stand in two rows. save.js has it too."""
FAINT = 0.45
"""How opaque is what follows the first fault."""
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
    board: Board, paths: Paths | None = None, *, size: int = 120, colors: Palette | None = None, rings: Sequence[Place] = ()
) -> str:
    """A still picture of the board, of ``paths`` as lines and of ``rings``, as SVG text. ``size`` is its longer side in pixels."""
    paths = complete(board, paths)
    margin = BESIDE if leave(board, paths) else 0
    h, w = (side + 2 * margin for side in (board.height, board.width))
    scale = size / max(h, w)
    look = f'viewBox="{-margin:g} {-margin:g} {w:g} {h:g}" width="{w * scale:g}" height="{h * scale:g}"'
    return _svg(look, _svg_board(board, paths, colors or palette(), rings), colors or palette())


def boards_svg(board: Board, tracks: Sequence[Track], colors: Palette, *, side: int = 600) -> str:
    """The tracks side by side with their names and what becomes of them, as SVG text; ``side`` is the longer side of each board."""
    sheet = _Sheet.of(board, tracks, side)
    (width, height), middle = sheet.size, sheet.wide / 2
    parts = [f'<rect width="{width}" height="{height}" fill="{colors.ground}"/>']

    def write(words: str, x: float, y: float, size: float, weight: int) -> None:
        look = f'text-anchor="middle" font-family="Source Sans,Arial,sans-serif" font-weight="{weight}" font-size="{size:g}"'
        parts.append(f'<text x="{x:g}" y="{y + 0.35 * size:g}" {look} fill="{colors.text}">{escape(words)}</text>')

    for track, said, (left, top) in zip(sheet.shown, sheet.captions, sheet.places, strict=True):
        write(_title(track), left + middle, top - sheet.head / 2, sheet.head * 0.42, 600)
        inner = sheet.margin * sheet.cell
        parts.append(f'<g transform="translate({left + inner:g} {top + inner:g}) scale({sheet.cell:g})">')
        parts += [*_svg_board(board, track["paths"], colors, track["fault"]["marks"] if track["fault"] else []), "</g>"]
        for row, words in enumerate(said):
            write(words, left + middle, top + sheet.high + (row + 0.75) * sheet.line, sheet.line * 0.7, 400)
    return _svg(f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"', parts, colors)


def _svg(look: str, parts: Sequence[str], ink: Palette) -> str:
    hatch = (
        '<defs><pattern id="hatch" width=".22" height=".22" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        f'<rect width=".22" height=".22" fill="{ink.hole}"/><rect width=".05" height=".22" fill="{ink.hatch}"/></pattern></defs>'
    )
    return f'<svg xmlns="http://www.w3.org/2000/svg" {look}>{hatch}{"".join(parts)}</svg>'


def _svg_board(board: Board, paths: Paths | None, ink: Palette, rings: Sequence[Place]) -> list[str]:
    """The elements of a board whose cells have a side of 1."""
    parts = []
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
    for i, line in enumerate(_trails(paths or ())):
        points = " ".join(f"{c + 0.5:g},{r + 0.5:g}" for r, c in line)
        for stroke, width in ((ink.outline, 0.12), (AGENT_COLORS[i % len(AGENT_COLORS)], 0.08)):
            stroked = f'fill="none" stroke="{stroke}" stroke-width="{width}" stroke-linejoin="round" stroke-linecap="round"'
            parts.append(f'<polyline points="{points}" {stroked}/>')
    for i, agent in enumerate(board.agents):
        disc = f'<circle cx="{agent.goal[1] + 0.5}" cy="{agent.goal[0] + 0.5}" r="{GOAL_DISC}" fill="{ink.ice}"/>'
        parts.append(f"<g>{disc}{_svg_number(agent.goal, i, ink.outline)}</g>")
    for i, agent in enumerate(board.agents):
        color = AGENT_COLORS[i % len(AGENT_COLORS)]
        (r, c) = agent.start
        parts.append(f'<circle cx="{c + 0.5}" cy="{r + 0.5}" r=".32" fill="{color}" stroke="{ink.outline}" stroke-width=".06"/>')
        parts.append(_svg_number(agent.start, i, ink_on(color)))
    for down, right in rings:
        parts.append(f'<circle cx="{right + 0.5}" cy="{down + 0.5}" r=".44" fill="none" stroke="{ink.accent}" stroke-width=".12"/>')
    return parts


def _trails(paths: Paths, time: float = inf) -> Iterator[list[Place]]:
    """The trail of each agent at a time, as the player draws it: through the middle of the cells, but apart on an edge that several agents
    have used."""
    teams: dict[frozenset[Cell], dict[int, int]] = defaultdict(dict)
    for i, path in enumerate(paths):
        for step, move in enumerate(pairwise(path)):
            teams[frozenset(move)].setdefault(i, step)

    def lane(i: int, a: Cell, b: Cell) -> tuple[int, float]:
        team = teams[frozenset((a, b))]
        there = sum(((i > j) - (i < j)) * max(0.0, min(time - since, 1.0)) for j, since in team.items())
        return int(a[0] != b[0]), there / 2 * min(LANE, 0.5 / len(team))

    def shifted(place: Place, *lanes: tuple[int, float]) -> Place:
        down, right = (fmean([beside for axis, beside in lanes if axis == wanted] or [0.0]) for wanted in (0, 1))
        return place[0] + down, place[1] + right

    for i, path in enumerate(paths):
        moves = [(a, b, min(time - step, 1.0)) for step, (a, b) in enumerate(pairwise(path)) if a != b and step < time]
        lanes = [lane(i, a, b) for a, b, _ in moves]
        line: list[Place] = [path[0]]
        for n, (a, b, done) in enumerate(moves):
            line += [shifted(_between(a, b, part), lanes[n]) for part in (0.2, 0.8) if part <= done]
            line.append(shifted(b, *lanes[n : n + 2]) if n + 1 < len(moves) else _between(a, b, done))
        yield line


def _between(a: Place, b: Place, part: float) -> Place:
    return a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part


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


class _Sheet(NamedTuple):
    """Boards side by side, each with its name above and what becomes of it below, laid out as save.js does it; lengths in pixels."""

    shown: list[dict[str, Any]]
    """The tracks as the player takes them."""
    captions: list[list[str]]
    """The lines below each board."""
    told: list[float]
    """When they can be seen in each plan."""
    places: list[tuple[float, float]]
    """The left top corner of each board with its margin."""
    size: tuple[int, int]
    wide: float
    high: float
    """Of a board with its margin."""
    margin: float
    """In cells."""
    cell: float
    head: float
    line: float

    @classmethod
    def of(cls, board: Board, tracks: Sequence[Track], side: float, above: int = 0) -> _Sheet:
        """``above``: lines that stand over the captions."""
        shown = [plain_track(board, track, short=len(tracks) > 1) for track in tracks]
        margin = margin_of(board, shown)
        cell = side / (max(board.height, board.width) + 2 * margin)
        wide, high = ((cells + 2 * margin) * cell for cells in (board.width, board.height))
        columns = columns_of(len(shown))
        gap, head, line = wide / 20, wide / 9, wide / 17
        captions = [_wrapped(track["caption"], wide, line * 0.7) for track in shown]
        told = [track["fault"]["time"] if track["fault"] else _makespan(plan) for track, plan in zip(shown, tracks, strict=True)]
        tall = head + high + (above + max(map(len, captions)) + 0.5) * line
        places = [(gap + n % columns * (wide + gap), n // columns * tall + head) for n in range(len(shown))]
        size = round(gap + columns * (wide + gap)), round(ceil(len(shown) / columns) * tall)
        return cls(shown, captions, told, places, size, wide, high, margin, cell, head, line)


def columns_of(boards: int) -> int:
    """How many boards stand in a row."""
    return ceil(boards / 2) if boards > MOST_IN_A_ROW else boards


def _makespan(track: Track) -> float:
    return inf if track.verdict is None or track.verdict.makespan is None else track.verdict.makespan


def _title(track: dict[str, Any]) -> str:
    return " · ".join(filter(None, (track["label"], track["badge"])))


def _wrapped(text: str, width: float, size: float) -> list[str]:
    """A text in lines that are no wider than ``width`` in letters of this ``size``; a cell is not broken."""
    lines = [""]
    for word in re.split(r" (?!-?\d+\))", text):
        longer = f"{lines[-1]} {word}".strip()
        if font(size).getlength(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def board_gif(board: Board, tracks: Sequence[Track], colors: Palette, *, side: int = 360) -> bytes:
    """The tracks side by side in lockstep as a GIF that loops; ``side`` is the longer side of each board in pixels."""
    sheet = _Sheet.of(board, tracks, side * _SMOOTH, above=1)
    starts = tuple((agent.start,) for agent in board.agents)
    plans = [track["paths"] or starts for track in sheet.shown]
    steps = max(len(path) for plan in plans for path in plan) - 1
    times = [n / FRAMES_A_STEP for n in range(steps * FRAMES_A_STEP + 1)]
    empty = _floors(board, sheet, colors)
    frames = [_frame(board, sheet, plans, time, steps, empty, colors) for time in times]
    colors_used = _palette_of((frames[0], frames[-1]), (*AGENT_COLORS, colors.accent))
    first, *rest = (frame.quantize(palette=colors_used, dither=Image.Dither.NONE) for frame in frames)
    stops = {0, steps, *(track["fault"]["time"] for track in sheet.shown if track["fault"])}
    durations = [HOLD_MS if time in stops else FRAME_MS for time in times]
    out = BytesIO()
    first.save(out, "GIF", save_all=True, append_images=rest, duration=durations, loop=0)
    return out.getvalue()


def _palette_of(frames: Sequence[Image.Image], signs: Sequence[str]) -> Image.Image:
    """One palette for all frames, made from those that show most. ``signs``: colours that it has, however small what they mark."""
    width, height = frames[0].size
    shown = Image.new("RGB", (width, (len(frames) + 1) * height))
    for n, frame in enumerate(frames):
        shown.paste(frame, (0, n * height))
    for n, color in enumerate(signs):
        shown.paste(color, (n * width // len(signs), len(frames) * height, (n + 1) * width // len(signs), (len(frames) + 1) * height))
    return shown.quantize(128)


def _floors(board: Board, sheet: _Sheet, colors: Palette) -> Image.Image:
    """What all frames have in common: the boards without agents, and their names."""
    image = Image.new("RGB", sheet.size, colors.ground)
    draw = ImageDraw.Draw(image)
    inner = sheet.margin * sheet.cell
    of_board = _colors_of_board(colors)
    for track, (left, top) in zip(sheet.shown, sheet.places, strict=True):
        _write(draw, _title(track), left + sheet.wide / 2, top - sheet.head / 2, sheet.head * 0.42, sheet.wide, colors.text)
        draw_floor(draw, board, left + inner, top + inner, sheet.cell, of_board)
    return image


def _frame(
    board: Board, sheet: _Sheet, plans: Sequence[Paths], time: float, steps: int, empty: Image.Image, colors: Palette
) -> Image.Image:
    image, cell, margin = empty.copy(), sheet.cell, sheet.margin
    draw = ImageDraw.Draw(image)
    of_board = _colors_of_board(colors)
    for track, said, told, plan, (left, top) in zip(sheet.shown, sheet.captions, sheet.told, plans, sheet.places, strict=True):
        fault = track["fault"]

        def at(place: Place, left: float = left, top: float = top) -> Place:
            return left + (margin + place[1] + 0.5) * cell, top + (margin + place[0] + 0.5) * cell

        for i, trail in enumerate(_trails(plan, time)):
            for color, width in ((colors.outline, 0.136), (AGENT_COLORS[i % len(AGENT_COLORS)], 0.085)):
                draw.line([at(place) for place in trail], color, round(width * cell), joint="curve")
        for i, agent in enumerate(board.agents):  # over the trails
            draw_goal_number(draw, i, *at(agent.goal), cell, of_board)
        for i, place in enumerate(_spread([_position(path, time) for path in plan])):
            draw_agent(draw, i, *at(place), cell, of_board)
        if fault and time > fault["time"]:
            here = (round(left), round(top), round(left + sheet.wide), round(top + sheet.high))
            image.paste(Image.blend(empty.crop(here), image.crop(here), FAINT), here)
        if fault and time >= fault["time"]:
            for place in fault["marks"]:
                draw_disc(draw, *at(place), cell * 0.46, outline=colors.accent, width=cell * 0.08)
        for row, words in enumerate([f"step {int(time)} / {steps}", *(said if time >= min(told, steps) else [])]):
            y = top + sheet.high + (row + 0.75) * sheet.line
            _write(draw, words, left + sheet.wide / 2, y, sheet.line * 0.7, sheet.wide, colors.text)
    return image.resize((image.width // _SMOOTH, image.height // _SMOOTH), Image.Resampling.LANCZOS)


def _write(draw: ImageDraw.ImageDraw, words: str, x: float, y: float, size: float, width: float, color: str) -> None:
    """``words`` around (x, y), smaller where they are wider than ``width``."""
    fitting = size * min(1.0, width / max(1.0, font(size).getlength(words)))
    draw.text((x, y), words, fill=color, font=font(fitting), anchor="mm")


def _colors_of_board(colors: Palette) -> BoardColors:
    return BoardColors(**{name: getattr(colors, name) for name in BoardColors._fields})


def _position(path: Path, time: float) -> Place:
    step = min(int(time), len(path) - 1)
    return _between(path[step], path[min(step + 1, len(path) - 1)], time - int(time))


def _spread(places: Sequence[Place]) -> list[Place]:
    """Agents on one cell (a vertex conflict) a little apart, as the player draws them."""
    spread = []
    for i, place in enumerate(places):
        crowd = [j for j, other in enumerate(places) if dist(place, other) < 0.3]
        angle = 2 * pi * crowd.index(i) / len(crowd)
        out = 0.16 if len(crowd) > 1 else 0.0
        spread.append((place[0] + out * sin(angle), place[1] - out * cos(angle)))
    return spread
