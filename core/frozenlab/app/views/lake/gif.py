"""An animation of plans as a GIF, for slides and messages: the player's picture without its controls."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from math import cos, dist, pi, sin

from PIL import Image, ImageDraw

from frozenlab.app.ui.theme import Palette
from frozenlab.app.views.lake.tracks import Track, complete
from frozenlab.lake.board import Board
from frozenlab.lake.picture import BoardColors, draw_agent, draw_disc, draw_floor, font
from frozenlab.lake.rules import Path

FRAMES_A_STEP = 4
FRAME_MS = 110
HOLD_MS = 1200
"""How long the first and the last picture stand."""
Place = tuple[float, float]
"""Row and column in cells, whole numbers at the middle of a cell."""
_SMOOTH = 2  # drawn twice as large and scaled down: Pillow draws without antialiasing


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
