"""What the Play page offers to choose from: boards, recorded answers, files of other tools, and models that can plan."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from frozenlab.app.views.lake.tracks import Recorded
from frozenlab.base.errors import GenerationError
from frozenlab.base.files import text_of
from frozenlab.lake import config_cell, formats
from frozenlab.lake.board import Board, BoardError, read_board
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.feasible import infeasible
from frozenlab.lake.draw.generator import generate, random_instances
from frozenlab.lake.formats import FORMATS, Entry, Source
from frozenlab.lake.formats.entry import plan_of
from frozenlab.lake.formats.movingai import part_of
from frozenlab.lake.instance import Instance
from frozenlab.lake.rules import Paths, walk
from frozenlab.models.fetching import SOURCES
from frozenlab.models.folders import PLANNER, PLANNER_TITLE, nowhere, policy_folder, weights_file
from frozenlab.models.training.methods import title_of
from frozenlab.session.presets import preset_spec
from frozenlab.session.runs import by_name
from frozenlab.session.session import Checkpoint, Session
from frozenlab.session.store import OFFERED, SessionStore

FIRST_SIZE, FIRST_TEAM, FIRST_HOLES, FIRST_SEED = 6, 3, 20, 400
"""What the controls of a random board begin with; holes in percent."""
FIRST_BOARD = read_board("""
a F S H s F
F F H F F F
F F H F A g
H F F G F F
F F H H H F
F F F F F F
""")
"""What the page opens with, and what these controls draw: their first board on which holes make an agent go round, every plan of the fewest
steps makes an agent wait, and whoever is asked plans otherwise: the base of the first session breaks a rule where its last stage does not,
LaCAM pays more than the smallest sum of costs, and the tree of Conflict-Based Search has something to see."""


def random_board(
    size: int, agents: int, hole_ratio: float, needs_wait: bool | None, seed: int, layout: config_cell.Layout = "scatter"
) -> Instance:
    """One solvable board with its best plan; ``needs_wait`` None keeps the natural mix. The same arguments give the same board.

    Raises:
        GenerationError: there is no such board, or none was found; the message says why.
    """
    config = EnvironmentConfig.uniform((size,), agents, hole_ratio, float(needs_wait or 0), {layout: 1.0})
    if needs_wait is not None:
        return generate(config, 1, seed)[0]
    if reason := infeasible(config, str(size), layout, natural=True):
        raise GenerationError(reason)
    return next(random_instances((size,), (agents,), (hole_ratio,), 1, seed, layout=layout))


UPLOADS = sorted({form.suffix for form in FORMATS.values()} | {".map", ".yml"})
"""How the names of files end that can be brought."""
EXPORTS = {name: form.title for name, form in FORMATS.items() if name not in ("text", "json", "jsonl")}
"""The formats of other tools that a board can be taken to, by what people call them."""


def bring(files: Mapping[str, bytes], agents: int | None = None) -> tuple[str, list[Entry]]:
    """The boards of uploaded files and the name of the main one: one file, with the map and the scenario it is about if it needs them.

    Args:
        files: name -> content.
        agents: take the first agents only; all for None.

    Raises:
        BoardError: the files hold no board; the message says what is wrong with which.
        TextError: one of them is too large, or is not text.
    """
    texts = {name: text_of(data, name) for name, data in files.items()}
    ends = {part: [name for name in texts if part_of(name, texts[name]) == part] for part in (".map", ".scen")}
    others = [name for name in texts if name not in ends[".map"] + ends[".scen"]]
    for names in (others, *ends.values()):
        if len(names) > 1:
            raise BoardError(f"{names[0]} and {names[1]} are two of a kind: bring one, with its map and scenario if it needs them")
    [main, *_] = others or ends[".scen"] or ends[".map"]
    [map_name, scenario] = [names[0] if names else None for names in ends.values()]
    parts = [name and texts[name] for name in (map_name, scenario)]
    source = Source(texts[main], Path(main).stem, parts[0], map_name, parts[1], agents, scenario)
    try:
        return main, formats.read(formats.guess(main, texts[main]), source)
    except BoardError as error:
        raise BoardError(f"{main}: {error}") from None


def from_file(entry: Entry, file_name: str) -> Recorded:
    """The plan of a file. Raises ValueError if it has none."""
    if entry.plan is None:
        raise ValueError(f"{file_name} has no plan")
    return Recorded(file_name, walk(entry.board, entry.plan), board_id=entry.name, board=entry.board)


def export(board: Board, paths: Paths | None, name: str) -> tuple[str, bytes]:
    """A board, and a plan where the format ``name`` carries plans: file name and content, a zip archive where it takes several files.

    Raises BoardError if the format cannot hold them.
    """
    plan = None
    if paths is not None and FORMATS[name].plans:
        if tuple(path[:1] for path in paths) != tuple((agent.start,) for agent in board.agents):
            raise BoardError("the plan does not give every agent a path from its start")
        plan = plan_of(paths)
    files = formats.write(name, [Entry("board", board, plan)], "board")
    if len(files) == 1:
        [(file_name, text)] = files.items()
        return file_name, text.encode()
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file_name, text in files.items():
            packed.writestr(zipfile.ZipInfo(file_name), text)
    return f"board-{name}.zip", archive.getvalue()


def validations(session: Session) -> dict[str, pd.DataFrame]:
    """The validations of a session by name, the latest first."""
    found = {}
    for stage in [*reversed(range(session.spec.stages)), None]:
        table = session.validation(stage)
        if table is not None and not table.empty:
            found["before training" if stage is None else f"after stage {stage + 1}"] = table
    return found


def models(store: SessionStore) -> dict[str, Checkpoint]:
    """Every checkpoint that can be asked, by a name of its own: the lab model, models that were fetched, then session by session."""
    found = {"Lab model, as shipped": Checkpoint(label="as shipped", stage=None, path=policy_folder("lab-model"))}
    taught = preset_spec("smollm2").language
    published = taught and taught.model_copy(update={"lora": None, "question": "full"})
    for name, source in SOURCES.items():
        found[f"{source.title}, as published"] = Checkpoint(label="as published", stage=None, path=policy_folder(name), language=published)
    if nowhere(PLANNER) is None:
        found[PLANNER_TITLE] = Checkpoint(label="taught to plan", stage=None, path=policy_folder(PLANNER), language=taught)
    as_they_came = [checkpoint.path for checkpoint in found.values()]
    for title, session in by_name(store.sessions(OFFERED)).items():
        for checkpoint in session.checkpoints():
            if checkpoint.path not in as_they_came:
                trained = "" if checkpoint.stage is None else f" by {title_of(session.spec.training.method)}"
                found[f"{title}, {checkpoint.label}{trained}"] = checkpoint
    return {name: checkpoint for name, checkpoint in found.items() if weights_file(checkpoint.path)}


def staged(store: SessionStore) -> dict[str, tuple[str, list[Checkpoint]]]:
    """The id of every session that has kept the weights of at least one stage -> its name, and its base and stages."""
    found = {}
    for title, session in by_name(store.sessions(OFFERED)).items():
        kept = [checkpoint for checkpoint in session.checkpoints() if weights_file(checkpoint.path)]
        if len(kept) > 1:
            found[session.id] = title, kept
    return found
