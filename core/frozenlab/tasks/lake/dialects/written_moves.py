"""What one agent is to do, read from a text: a list of moves in many spellings, or of the cells it passes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from frozenlab.lake.board import Cell

LETTERS = {
    name: letter
    for letter, names in {
        "U": ("up", "u", "north", "upward", "upwards", "↑", "⬆"),
        "D": ("down", "d", "south", "downward", "downwards", "↓", "⬇"),
        "L": ("left", "l", "west", "leftward", "leftwards", "←", "⬅"),
        "R": ("right", "r", "east", "rightward", "rightwards", "→", "➡"),
        "W": ("wait", "waits", "waiting", "w", "stay", "stays", "noop", "no-op", "hold", "holds", "idle", "pause", "none"),
    }.items()
    for name in names
}
"""Names of moves in lower case -> their letter in a plan."""
FILLER = {"move", "moves", "go", "goes", "then", "and", "finally", "first", "next", "to", "at", "in", "from", "start", "goal", "done"}
"""Words that may stand among moves and mean nothing by themselves."""
MOST_STEPS = 1000
"""More moves are no plan for any board here, but a model that repeats itself."""

Track = str | tuple[Cell, ...]
"""What one agent is to do: letters of moves, or the cells it passes."""
Tracks = dict[int, Track]
"""Agent number, as the text has it -> what it is to do."""

CELL = re.compile(r"[(\[]\s{0,3}(-?\d{1,3})\s{0,3},\s{0,3}(-?\d{1,3})\s{0,3}[)\]]")
REPEATED = re.compile(r"([a-z]{1,9}|[↑↓←→])\s{0,2}(?:[x×]\s?(\d{1,3})\b|\([x×]?\s?(\d{1,3})\s?(?:times|x)?\))", re.IGNORECASE)
REMARK = re.compile(r"\([^()]{0,200}\)")


def read_track(text: str) -> Track | None:
    """A list of moves, or of cells; None where there is anything else in it, or nothing."""
    text = re.sub(r"[*_`\"'\\]", "", text).strip()
    if text.count("[") > text.count("]"):  # a list that is broken off
        return None
    if re.fullmatch(r"\[\s*\]|\(?\s*(?:empty|no moves?(?: needed| required)?|nothing)\s*\)?\.?", text, re.IGNORECASE):
        return ""
    if sum(int(most or times) for _, most, times in REPEATED.findall(text)) > MOST_STEPS:
        return None
    cells = [(int(r), int(c)) for r, c in CELL.findall(text)]
    rest = REPEATED.sub(lambda found: f" {found[1]} " * int(found[2] or found[3]), CELL.sub(" ", text))
    rest = re.sub(r"[-=]+>", " ", REMARK.sub(" ", rest))
    if cells or any(word.lower() in LETTERS for word in re.findall(r"[A-Za-z-]{2,}", rest)):
        rest = re.sub(r"[→➡]", " ", rest)  # between moves or cells it is no move
    moves = [moves_of(token) for token in re.split(r"[\s,;:|/.\[\]{}()]+", rest)]
    if None in moves or sum(len(letters or "") for letters in moves) > MOST_STEPS:
        return None
    letters = "".join(part for part in moves if part)
    return letters or tuple(cells[:MOST_STEPS]) or None


def moves_of(token: str) -> str | None:
    """The moves that one token names, several in ``RRDW`` or ``↓↓``; none for filler, None for anything else."""
    word = token.lower()
    if word in LETTERS:
        return LETTERS[word]
    if not word or word in FILLER or re.fullmatch(r"\d{1,4}|[-–—•]+", word):
        return ""
    if token.isupper() and set(token) <= set("UDLRW"):
        return token
    if all(not sign.isalpha() and sign in LETTERS for sign in word):
        return "".join(LETTERS[sign] for sign in word)
    return None


def agent_number(text: str) -> int | None:
    """The number in ``0``, ``Agent 0`` or ``agent_0``."""
    found = re.fullmatch(r"(?:agent[ _#-]{0,2})?(\d{1,3})", text.strip(), re.IGNORECASE)
    return int(found[1]) if found else None


def joined(steps: Sequence[Tracks]) -> Tracks:
    """Time steps one after the other; an agent without a move in one waits. Empty where moves and cells are mixed."""
    agents = dict.fromkeys(number for step in steps for number in step)
    whole: Tracks = {}
    for agent in agents:
        own = [step.get(agent, "W") for step in steps]
        if all(isinstance(track, str) for track in own):
            whole[agent] = "".join(track for track in own if isinstance(track, str))
        elif all(isinstance(step.get(agent), tuple) for step in steps):
            whole[agent] = tuple(cell for track in own if isinstance(track, tuple) for cell in track)
        else:
            return {}
    return whole
