"""Boards drawn with Pillow: still pictures for the environments, and the parts of which animations are made."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, radians, sin
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from PIL.ImageColor import getrgb

from frozenlab.lake.board import Board, Cell
from frozenlab.lake.exits import ARROWS, DOORS

AGENT_COLORS = ("#0072B2", "#E69F00", "#CC79A7", "#F0E442", "#56B4E9")
"""Agents 0..4: the five Okabe-Ito colours without vermillion, which marks faults, and green, which marks goals reached.
Their smallest CIE76 distance under protanopia, deuteranopia and tritanopia is 17; numbers and dark outlines carry the rest."""
GOAL_DISC = 0.24
"""Radius of the ice under the number of a goal, in cells; board_draw.js has it too."""

TURNS = {"^": 0, ">": 90, "v": 180, "<": 270}
"""One-way ice -> by how many degrees its arrow is turned, clockwise from upwards."""


class BoardColors(NamedTuple):
    """The colours of a picture of a board, as ``#rrggbb``: unless others are given, those of the environments' pictures."""

    ground: str = "#FBFDFF"
    text: str = "#10233F"
    ice: str = "#DCEBF7"
    edge: str = "#6F869F"
    hole: str = "#3D5672"
    hatch: str = "#5F7A96"
    outline: str = "#10233F"


def board_image(board: Board, positions: Sequence[Cell], cell: int = 48) -> NDArray[np.uint8]:
    """The board with the agents at ``positions``: frozen cells light, holes hatched, one-way ice with chevrons, doors with two posts, goals
    framed, agents as numbered discs.

    Args:
        cell: side of a cell in pixels.

    Returns:
        uint8 ``[height * cell, width * cell, 3]``
    """
    colors = BoardColors()
    image = Image.new("RGB", (board.width * cell, board.height * cell), colors.ground)
    draw = ImageDraw.Draw(image)
    draw_floor(draw, board, 0, 0, cell, colors)
    for i, (r, c) in enumerate(positions):
        draw_agent(draw, i, (c + 0.5) * cell, (r + 0.5) * cell, cell, colors)
    return np.asarray(image)


def draw_floor(draw: ImageDraw.ImageDraw, board: Board, left: float, top: float, cell: float, colors: BoardColors) -> None:
    """Ice, hatched holes, one-way ice, doors and numbered goals; ``cell`` is the side of a cell in pixels."""
    for r, row in enumerate(board.rows):
        for c, letter in enumerate(row):
            x, y = left + c * cell, top + r * cell
            inset = cell * 0.03
            box = (x + inset, y + inset, x + cell - inset, y + cell - inset)
            draw.rounded_rectangle(box, cell * 0.14, fill=colors.hole if letter == "H" else colors.ice, outline=colors.edge)
            if letter == "H":
                edge = cell * 0.07
                for n in range(1, 6):
                    d = cell * n / 3
                    near, far = max(edge, d - cell + edge), min(cell - edge, d - edge)
                    ends = (x + near, y + far, x + far, y + near)
                    draw.line(ends, fill=colors.hatch, width=max(1, round(cell * 0.03)))
            elif letter in ARROWS:
                draw_arrow(draw, letter, x, y, cell, colors)
            elif letter in DOORS:
                draw_door(draw, int(letter), x, y, cell, colors)
    for i, agent in enumerate(board.agents):
        color = AGENT_COLORS[i % len(AGENT_COLORS)]
        r, c = agent.goal
        inset = cell * 0.12
        box = (left + c * cell + inset, top + r * cell + inset, left + (c + 1) * cell - inset, top + (r + 1) * cell - inset)
        draw.rounded_rectangle(box, cell * 0.1, outline=color, width=max(2, round(cell * 0.07)))
        draw_goal_number(draw, i, left + (c + 0.5) * cell, top + (r + 0.5) * cell, cell, colors)


def draw_goal_number(draw: ImageDraw.ImageDraw, i: int, x: float, y: float, cell: float, colors: BoardColors) -> None:
    """The number of goal ``i`` around (x, y) on a disc of ice: trails cross goals, and go on behind the number."""
    radius = cell * GOAL_DISC
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colors.ice)
    draw.text((x, y), str(i), fill=colors.outline, font=font(cell * 0.32), anchor="mm")


def draw_arrow(draw: ImageDraw.ImageDraw, letter: str, x: float, y: float, cell: float, colors: BoardColors) -> None:
    """One-way ice on the cell whose top left corner is (x, y): two chevrons to the side where it can be left."""
    across, along = cos(radians(TURNS[letter])), sin(radians(TURNS[letter]))
    for tip in (-0.42, -0.1):
        corners = [(-0.3, tip + 0.26), (0.0, tip), (0.3, tip + 0.26)]
        points = [(x + cell * (0.5 + px * across - py * along), y + cell * (0.5 + px * along + py * across)) for px, py in corners]
        draw.line(points, fill=colors.outline, width=max(2, round(cell * 0.07)), joint="curve")


def draw_door(draw: ImageDraw.ImageDraw, agent: int, x: float, y: float, cell: float, colors: BoardColors) -> None:
    """A door on the cell whose top left corner is (x, y): two posts in the agent's colour, and its number."""
    color = AGENT_COLORS[agent]
    tint = tuple(round(0.7 * ice + 0.3 * own) for ice, own in zip(getrgb(colors.ice), getrgb(color), strict=True))
    draw.rounded_rectangle((x + cell * 0.05, y + cell * 0.05, x + cell * 0.95, y + cell * 0.95), cell * 0.12, fill=tint)
    for post in (0.05, 0.81):
        box = (x + cell * post, y + cell * 0.08, x + cell * (post + 0.14), y + cell * 0.92)
        draw.rounded_rectangle(box, cell * 0.04, fill=color, outline=colors.outline, width=max(1, round(cell * 0.03)))
    draw.text((x + cell * 0.5, y + cell * 0.5), str(agent), fill=colors.outline, font=font(cell * 0.32), anchor="mm")


def draw_agent(draw: ImageDraw.ImageDraw, i: int, x: float, y: float, cell: float, colors: BoardColors) -> None:
    """Agent ``i`` as a numbered disc around (x, y)."""
    color = AGENT_COLORS[i % len(AGENT_COLORS)]
    draw_disc(draw, x, y, cell * 0.31, fill=color, outline=colors.outline, width=cell * 0.05)
    draw.text((x, y), str(i), fill=ink_on(color), font=font(cell * 0.36), anchor="mm")


def draw_disc(draw: ImageDraw.ImageDraw, x: float, y: float, radius: float, *, outline: str, width: float, fill: str | None = None) -> None:
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=fill, outline=outline, width=max(2, round(width)))


def ink_on(color: str) -> str:
    """A dark or a light letter, whichever reads better on ``color`` (``#rrggbb``)."""
    r, g, b = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return "#0B1626" if 0.3 * r + 0.59 * g + 0.11 * b > 128 else "#FFFFFF"


def font(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)
