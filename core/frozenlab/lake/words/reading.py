"""Parsing plans from the text that language models really write: the one reader of sessions, of the TRL reward and of the verifiers task.

When asked for one line per agent, models write that line in bold, in a table, as JSON, as arrows, as the cells they pass, time step by time
step, or after a plan that they give up. Whatever the text, :func:`parse_answer` gives a plan or a fault, never an exception, and it
guesses no move: words that are not a list of moves from end to end are not taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from frozenlab.base.files import json_values
from frozenlab.base.spoken import spoken
from frozenlab.lake.board import Board, Cell
from frozenlab.lake.rules import Fault, Path, Paths, Verdict, judge_paths, walk

AGENT = re.compile(r"\bagent[ _#-]{0,2}(\d{1,3})\b[ )\]]{0,2}", re.IGNORECASE)
STEP = re.compile(r"(?m)^[ \t\-*#>]{0,8}(?:time ?-?step|step|time|t)[ ]?[=#:]?[ ]?(\d{1,4})\b", re.IGNORECASE)
BULLET = re.compile(r"(?m)^[ \t]{0,8}(?:[-*•]|\d{1,4}[.)])[ \t]+")


@dataclass(frozen=True)
class Answer:
    """A parsed completion. Exactly one of the two fields is set."""

    paths: Paths | None = None
    """The cells of each agent at time 0, 1, 2, ...; time 0 is the start."""
    fault: Fault | None = None
    """``parse_error``, ``truncated`` or ``missing_agent``: why there are no paths."""


def judge_answer(board: Board, answer: Answer, optimal_makespan: int | None = None) -> Verdict:
    """The verdict on an answer: its own fault if it could not be read, otherwise that of :func:`judge_paths` on its paths."""
    if answer.paths is not None:
        return judge_paths(board, answer.paths, optimal_makespan)
    return Verdict(answer.fault, optimal=False, on_goal=(False,) * board.num_agents)


def parse_answer(board: Board, text: str, finished: bool) -> Answer:
    """The plan that ``text`` ends with; ``finished`` says whether the model ended it itself.

    A text that was cut off is ``truncated``. One in which no plan can be read, or which plans for an agent that is not there, is a
    ``parse_error``; one that plans for some of the agents only is a ``missing_agent``.
    """
    if not finished:
        return Answer(fault="truncated")
    tracks = read_tracks(spoken(text), board.num_agents)
    if set(tracks) == set(range(1, board.num_agents + 1)):  # it counts agents from 1
        tracks = {number - 1: track for number, track in tracks.items()}
    if not tracks or not set(tracks) <= set(range(board.num_agents)):
        return Answer(fault="parse_error")
    if len(tracks) < board.num_agents:
        return Answer(fault="missing_agent")
    return Answer(paths=tuple(path_of(board, i, tracks[i]) for i in range(board.num_agents)))


def path_of(board: Board, agent: int, track: Track) -> Path:
    """The cells of an agent from its start on. A list of cells may begin with the start or after it."""
    if isinstance(track, str):
        return walk(board, ("",) * agent + (track,))[agent]
    start = board.agents[agent].start
    return track if track[0] == start else (start, *track)


# --- shapes of an answer ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """A plan in the text, and where it ends."""

    tracks: Tracks
    end: int


def read_tracks(text: str, team: int) -> Tracks:
    """The plan in the text: of those for most agents the last; empty where there is none."""
    readers: tuple[Callable[[str, int], Iterator[Found]], ...] = (in_json, in_tables, in_time_steps, in_lines, without_names)
    found = [plan for read in readers for plan in read(text, team)]
    best = max(found, key=lambda plan: (min(len(plan.tracks), team), plan.end), default=None)
    return best.tracks if best else {}


def in_lines(text: str, team: int) -> Iterator[Found]:
    """``Agent 0: RIGHT, DOWN``, one a line or several in one; the moves may follow in lines of their own."""
    text = blanked(text, STEP, "\n")
    tracks: Tracks = {}
    end = 0
    marks = list(AGENT.finditer(text))
    for mark, following in zip(marks, [*marks[1:], None], strict=False):
        rest = text[mark.end() : following.start() if following else len(text)]
        separator = re.match(r"[*_`\"' ]{0,6}(?:'s (?:plan|path|moves|actions))?[*_`\"' ]{0,4}(?:[:=]|-+>|[–—-] )[*_ ]{0,4}", rest)
        if separator is None:
            continue
        line, _, below = rest[separator.end() :].partition("\n")
        track = read_track(line) if line.strip(" *_`") else read_track(BULLET.sub(" ", below.lstrip("\n").split("\n\n")[0]))
        if track is not None:
            tracks.pop(int(mark[1]), None)
            tracks[int(mark[1])] = track
            end = mark.end()
    if tracks:
        yield Found(tracks, end)


def in_time_steps(text: str, team: int) -> Iterator[Found]:
    """``Step 1: Agent 0 RIGHT, Agent 1 DOWN``, the agents in the same line or in those below; a count that restarts begins a new plan."""
    marks = list(STEP.finditer(text))
    steps: list[Tracks] = []
    last = -1
    for mark, following in zip(marks, [*marks[1:], None], strict=False):
        if int(mark[1]) <= last:
            steps = []
        last = int(mark[1])
        section = text[mark.end() : following.start() if following else len(text)].lstrip(" :*_-\n").split("\n\n")[0]
        moves: Tracks = {}
        for agent in AGENT.finditer(section):
            rest = section[agent.end() :]
            own = rest[: min((found.start() for found in (AGENT.search(rest), re.search(r"\n", rest)) if found), default=len(rest))]
            track = read_track(own.strip(" :=*_-→>;,.|"))
            if track is not None:
                moves[int(agent[1])] = track if isinstance(track, str) else track[-1:]
        if moves:
            steps.append(moves)
    if steps and (tracks := joined(steps)):
        yield Found(tracks, marks[-1].end())


def in_tables(text: str, team: int) -> Iterator[Found]:
    """A table with a column an agent and a row a time step, or with a row an agent."""
    for table in re.finditer(r"(?m)(?:^[ \t]*\|.*\|[ \t]*(?:\n|$)){3,}", text):
        rows = [[cell.strip(" *_`") for cell in line.strip().strip("|").split("|")] for line in table[0].strip().splitlines()]
        rows = [row for row in rows if not all(re.fullmatch(r":?-*:?", cell) for cell in row)]
        columns = {place: number for place, cell in enumerate(rows[0]) if (number := agent_number(cell)) is not None and "gent" in cell}
        if columns:
            steps = [
                {number: track for place, number in columns.items() if place < len(row) and (track := read_track(row[place])) is not None}
                for row in rows[1:]
            ]
            tracks = joined([{n: track if isinstance(track, str) else track[-1:] for n, track in step.items()} for step in steps])
        else:
            named = {number: read_track(row[-1]) for row in rows if (number := agent_number(row[0])) is not None}
            tracks = {number: track for number, track in named.items() if track is not None}
        if tracks:
            yield Found(tracks, table.end())


def without_names(text: str, team: int) -> Iterator[Found]:
    """As many lines of moves at the end as there are agents, in their order."""
    lines = [line for line in text.strip().strip("`").splitlines() if line.strip()]
    if not AGENT.search(text) and len(lines) >= team:
        tracks = [read_track(BULLET.sub("", line)) for line in lines[-team:]]
        if all(tracks):
            yield Found({i: track for i, track in enumerate(tracks) if track}, len(text))


def in_json(text: str, team: int) -> Iterator[Found]:
    """Every JSON object or list that is a plan. Places in a list count as agents only if the text names none."""
    for value, end in json_values(text):
        by_place = isinstance(value, list) and not any(isinstance(entry, Mapping) for entry in value)
        try:
            tracks = None if by_place and AGENT.search(text) else tracks_of_json(value, team)
        except RecursionError:  # nested without end is no plan
            continue
        if tracks:
            yield Found(tracks, end)


def blanked(text: str, pattern: re.Pattern[str], until: str) -> str:
    """The text with what follows each match, to the end of its paragraph, replaced by spaces."""
    for mark in pattern.finditer(text):
        end = text.find(until + until, mark.start())
        end = len(text) if end < 0 else end
        text = text[: mark.start()] + " " * (end - mark.start()) + text[end:]
    return text


def tracks_of_json(value: Any, team: int) -> Tracks | None:
    """An object with a key an agent, a list with an entry an agent, a list of time steps, or any of them within an object."""
    if isinstance(value, Mapping):
        numbers = [agent_number(str(key)) for key in value]
        if value and None not in numbers and not any(isinstance(entry, Mapping) for entry in value.values()):
            return tracks_of_entries(dict(zip(numbers, value.values(), strict=True)))
        within = [tracks for entry in value.values() if isinstance(entry, (Mapping, list)) and (tracks := tracks_of_json(entry, team))]
        if len(within) > 1 and all(isinstance(entry, Mapping) for entry in value.values()):
            return joined(within)
        return within[-1] if within else None
    if not isinstance(value, list) or not value:
        return None
    if all(isinstance(entry, Mapping) for entry in value):
        named = [named_entry(entry) for entry in value]
        if all(entry is not None for entry in named):
            return tracks_of_entries(dict(entry for entry in named if entry is not None))
        steps = [tracks_of_json(entry, team) for entry in value]
        return joined([step for step in steps if step]) if all(steps) else None
    if len(value) == team and all(isinstance(entry, (str, list)) for entry in value):
        return tracks_of_entries(dict(enumerate(value)))
    return None


def named_entry(entry: Mapping[str, Any]) -> tuple[int, Any] | None:
    """``{"agent": 0, "moves": [...]}``: the number and its plan."""
    numbers = [agent_number(str(part)) for key, part in entry.items() if key.lower() in ("agent", "agent_id", "id", "name")]
    plans = [part for key, part in entry.items() if isinstance(part, list) or key.lower() in ("moves", "actions", "plan", "path")]
    return (numbers[0], plans[-1]) if numbers and numbers[0] is not None and plans else None


def tracks_of_entries(entries: Mapping[int | None, Any]) -> Tracks | None:
    tracks: Tracks = {}
    for number, entry in entries.items():
        if isinstance(entry, list):
            if entry and all(isinstance(cell, list) and len(cell) == 2 and all(type(part) is int for part in cell) for cell in entry):
                entry = " ".join(f"({r}, {c})" for r, c in entry)
            elif all(isinstance(part, str) for part in entry):
                entry = ", ".join(entry)
        track = read_track(entry) if isinstance(entry, str) and entry else "" if entry in ([], "") else None
        if track is None or number is None:
            return None
        tracks[number] = track
    return tracks


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
