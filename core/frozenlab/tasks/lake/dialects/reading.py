"""Parsing plans from the text that language models really write.

When asked for one line per agent, models write that line in bold, in a table, as JSON, as arrows, as the cells they pass, time step by time
step, or after a plan that they give up. Whatever the text, :func:`parse_answer` gives a plan or a fault, never an exception, and it
guesses no move: words that are not a list of moves from end to end are not taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from frozenlab.base.json_in_text import json_values
from frozenlab.lake.board import Board
from frozenlab.lake.rules import Path, walk
from frozenlab.tasks.lake.answer import Answer
from frozenlab.tasks.lake.dialects.json_answers import tracks_of_json
from frozenlab.tasks.lake.dialects.written_moves import Track, Tracks, agent_number, joined, read_track

AGENT = re.compile(r"\bagent[ _#-]{0,2}(\d{1,3})\b[ )\]]{0,2}", re.IGNORECASE)
STEP = re.compile(r"(?m)^[ \t\-*#>]{0,8}(?:time ?-?step|step|time|t)[ ]?[=#:]?[ ]?(\d{1,4})\b", re.IGNORECASE)
BULLET = re.compile(r"(?m)^[ \t]{0,8}(?:[-*•]|\d{1,4}[.)])[ \t]+")


def parse_answer(board: Board, text: str, finished: bool) -> Answer:
    """The plan that ``text`` ends with; ``finished`` says whether the model ended it itself.

    A text that was cut off is ``truncated``. One in which no plan can be read, or which plans for an agent that is not there, is a
    ``parse_error``; one that plans for some of the agents only is a ``missing_agent``.
    """
    if not finished:
        return Answer(fault="truncated")
    tracks = read_tracks(after_thinking(text), board.num_agents)
    if set(tracks) == set(range(1, board.num_agents + 1)):  # it counts agents from 1
        tracks = {number - 1: track for number, track in tracks.items()}
    if not tracks or not set(tracks) <= set(range(board.num_agents)):
        return Answer(fault="parse_error")
    if len(tracks) < board.num_agents:
        return Answer(fault="missing_agent")
    return Answer(paths=tuple(path_of(board, i, tracks[i]) for i in range(board.num_agents)))


def after_thinking(text: str) -> str:
    """What is said aloud: the text after its thoughts, nothing where they never end."""
    *_, spoken = text.split("</think>")
    return "" if "<think>" in spoken else spoken


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
