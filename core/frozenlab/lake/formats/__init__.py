"""Boards and plans in the formats of the neighbouring tools.

Three functions do it all, and :data:`FORMATS` says for which formats::

    entries = read("movingai", Source(scenario, map=map_))      # boards, and plans where the format has them
    files = write("planviz", entries[0], "stem")                 # file name -> text
    name = recognise("result.txt", text)                         # which format a file is in

Files are untrusted: errors are one line (BoardError), sizes are bounded, and no path in it is followed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from frozenlab.lake.board import GOAL_LETTERS, ICE, START_LETTERS, Board, BoardError, read_json
from frozenlab.lake.formats import benchmark, frozenlake, kei18, libmrp, movingai, paths, planviz, pogema, tracker
from frozenlab.lake.formats.entry import Entry, Source
from frozenlab.lake.instance import Instance, instances_in
from frozenlab.lake.solvers.solver import Solution


@dataclass(frozen=True)
class Format:
    """One format: what people call it, and how it is read and written."""

    title: str
    suffix: str
    """Of its main file."""
    read: Callable[[Source], list[Entry]]
    write: Callable[[Entry, str], dict[str, str]]
    """One board as files that begin with a stem: name -> text, the main file first."""
    plans: bool = False
    """Whether it carries plans."""
    join: Callable[[Iterable[str]], str] | None = None
    """How the texts of several boards make one file; None where a file holds one board."""
    furnished: bool = False
    """Whether it has letters for one-way ice and doors."""
    mapped: bool = False
    """Whether its map is a file of its own, of MovingAI."""


# --- our own files: the text form, the JSON form, and JSON lines of instances, as suites are kept ----------------------


def read_text(source: Source) -> list[Entry]:
    return [Entry(source.name, Board.from_text(source.text))]


def write_text(entry: Entry, stem: str) -> dict[str, str]:
    """Raises BoardError where the board has no letters."""
    return {f"{stem}.txt": entry.board.to_text() + "\n"}


def read_object(source: Source) -> list[Entry]:
    return [Entry(source.name, Board.from_dict(read_json(source.text)))]


def write_object(entry: Entry, stem: str) -> dict[str, str]:
    return {f"{stem}.json": json.dumps(entry.board.to_dict()) + "\n"}


def read_lines(source: Source) -> list[Entry]:
    """The boards, each with its optimal plan where it has one."""
    return [Entry(instance.id, instance.board, instance.solution.plan) for instance in instances_in(source.text)]


def write_line(entry: Entry, stem: str) -> dict[str, str]:
    """One line without an optimum: that a plan of a file is the best there is has not been proven."""
    return {f"{stem}.jsonl": Instance(entry.name, entry.board, Solution("undecided")).to_line() + "\n"}


# --- all formats ------------------------------------------------------------------------------------------------------

FORMATS: dict[str, Format] = {
    "text": Format("FrozenLab text", ".txt", read_text, write_text, furnished=True),
    "json": Format("FrozenLab JSON", ".json", read_object, write_object, furnished=True),
    "jsonl": Format("FrozenLab suite (JSON lines)", ".jsonl", read_lines, write_line, join="".join, furnished=True),
    "movingai": Format("MovingAI scenario and map", ".scen", movingai.read, movingai.write, mapped=True),
    "tracker": Format("MAPF Tracker plan", ".csv", tracker.read, tracker.write, plans=True, mapped=True),
    "kei18": Format("mapf-visualizer, LaCAM, PIBT", ".txt", kei18.read, kei18.write, plans=True, mapped=True),
    "paths": Format("paths.txt of CBSH2, EECBS, MAPF-LNS2", ".txt", paths.read, paths.write, plans=True, mapped=True),
    "planviz": Format("PlanViz log", ".json", planviz.read, planviz.write, plans=True, mapped=True),
    "pogema": Format("POGEMA map", ".txt", pogema.read, pogema.write),
    "libmrp": Format("libMultiRobotPlanning instance", ".yaml", libmrp.read, libmrp.write),
    "frozenlake": Format("Gymnasium FrozenLake desc", ".json", frozenlake.read, frozenlake.write),
    "benchmark": Format("MAPF-FrozenLake benchmark", ".json", benchmark.read, benchmark.write, join=benchmark.join, furnished=True),
}


def read(name: str, source: Source) -> list[Entry]:
    """The boards of a file in the format ``name``, at least one. Raises BoardError with a one-line reason.

    Example:
        >>> (entry,) = read("text", Source("S F G"))
        >>> entry.board.agents
        (Agent(start=(0, 0), goal=(0, 2)),)
    """
    if source.agents is not None and source.agents < 1:
        raise BoardError(f"{source.agents} agents cannot be taken; at least 1 is expected")
    entries = FORMATS[name].read(replace(source, text=source.text.removeprefix("\ufeff")))
    if not entries:
        raise BoardError("the file holds no board")
    return [entry.first(source.agents) for entry in entries]


def write(name: str, entries: Sequence[Entry], stem: str) -> dict[str, str]:
    """The files (name -> text, the main one first) that hold ``entries`` in the format ``name``.

    Several boards are one file where the format has a way to say that, else files of their own, named after the boards.
    Raises BoardError if the format cannot hold one of them.

    Example:
        >>> write("pogema", read("text", Source("S F G")), "line")
        {'line.txt': 'a.A\\n'}
    """
    form = FORMATS[name]
    if not form.furnished and any(entry.board.is_furnished for entry in entries):
        able = ", ".join(other for other, one in FORMATS.items() if one.furnished)
        raise BoardError(f"the format {name} has no one-way ice and no doors, and a board has some; take one of {able}")
    if form.join is not None:
        return {stem + form.suffix: form.join(next(iter(form.write(entry, stem).values())) for entry in entries)}
    if len(entries) == 1:
        return form.write(entries[0], stem)
    files: dict[str, str] = {}
    for entry, own_stem in zip(entries, file_stems(entries), strict=True):
        try:
            files |= form.write(entry, own_stem)
        except BoardError as error:
            raise BoardError(f"board {entry.name[:80]!r}: {error}") from None
    return files


def file_stems(entries: Sequence[Entry]) -> list[str]:
    """Names for files, all different and harmless whatever the boards are called."""
    stems = [re.sub(r"[^A-Za-z0-9._-]+", "_", entry.name).strip("._-")[:80] or "board" for entry in entries]
    different = len({stem.lower() for stem in stems}) == len(stems)
    return stems if different else [f"{i}_{stem}" for i, stem in enumerate(stems)]


# --- which format a file is in ----------------------------------------------------------------------------------------


def suffix_format(file_name: str) -> str | None:
    """The format that a file name tells: None where several end like it."""
    suffix = Path(file_name).suffix.lower().replace(".yml", ".yaml")
    names = [name for name, form in FORMATS.items() if form.suffix == suffix or (name == "movingai" and suffix == ".map")]
    return names[0] if len(names) == 1 else None


def recognise(file_name: str, text: str) -> str:
    """The format of a file, by its name if that tells, else by its content. Raises BoardError if neither does.

    Example:
        >>> recognise("room.scen", "version 1"), recognise("plan.txt", "S F G")
        ('movingai', 'text')
    """
    text = text.removeprefix("\ufeff")
    name = suffix_format(file_name)
    if name == "libmrp":
        name = "tracker" if tracker.is_yaml(text) else name
    else:
        name = _json_format(text) if text.lstrip()[:1] in ("{", "[") else name or _text_format(text)
    if name is None:
        raise BoardError("the file does not reveal its format; the formats are " + ", ".join(FORMATS))
    return name


def guess(file_name: str, text: str) -> str:
    """The format of a text that is meant to be a board. Where none fits it is our own, because our error messages name the cell."""
    try:
        return recognise(file_name, text)
    except BoardError:
        return "json" if text.lstrip().startswith("{") else "text"


def _json_format(text: str) -> str | None:
    text = frozenlake.printed(text)
    first, _, rest = text.strip().partition("\n")
    is_lines = first.endswith("}") and (not rest or rest.lstrip().startswith("{"))
    data = read_json(first if is_lines else text)
    record = data[0] if isinstance(data, list) and data else data
    if isinstance(data, list) and data and isinstance(record, (str, list)):
        return "frozenlake"
    if not isinstance(record, dict):
        return None
    if "actionModel" in record:
        return "planviz"
    if "solution_plan" in record:
        return "tracker"
    if "agents_xy" in record:
        return "pogema"
    if "text" in record:
        return "benchmark"
    if "map" in record:
        return "jsonl" if is_lines and (rest or "id" in record) else "json"
    return None


def _text_format(text: str) -> str | None:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if movingai.part_of("", text):
        return "movingai"
    if tracker.is_table(text) or (lines and all(re.fullmatch(r"[udlrw0-9]+", line) for line in lines)):
        return "tracker"
    if any(paths.LINE.match(line) for line in lines[:2]):
        return "paths"
    if any(re.match(r"(map|agents):", line) for line in lines) and "goal" in text:
        return "libmrp"
    if any(re.match(r"(starts=|solution=|map_file=|\d+:)", line) for line in lines):
        return "kei18"
    if lines and {cell for line in lines for cell in line.split()} <= set(ICE + START_LETTERS + GOAL_LETTERS):
        return "text"
    if lines and all(set(line) <= set(frozenlake.LETTERS) for line in lines):
        return "frozenlake"
    if lines and all(re.fullmatch(r"[.#@$!A-Za-z]+", line) for line in lines) and re.search("[A-Z]", text):
        return "pogema"
    return None
