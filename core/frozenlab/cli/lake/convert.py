"""``frozenlab convert``: boards and plans from one format to another."""

from __future__ import annotations

import argparse
from pathlib import Path

from frozenlab.cli.common import Command, InputError, listed, print_json


def add_convert(parser: argparse.ArgumentParser) -> None:
    from frozenlab.lake.formats import FORMATS

    parser.add_argument("source", type=Path, metavar="IN", help="the file to read")
    parser.add_argument("target", type=Path, metavar="OUT", help="a file, or a new folder if several boards need a file each")
    names = listed(FORMATS)
    parser.add_argument("--from", dest="source_format", metavar="FORMAT", help=f"{names} (default: from the name or content of IN)")
    parser.add_argument("--to", dest="target_format", metavar="FORMAT", help="format of OUT, one of the same (default: from its name)")
    parser.add_argument("--map", type=Path, help="the MovingAI map (.map) of IN, if IN only names it")
    parser.add_argument("--scen", type=Path, help="the MovingAI scenario (.scen) of IN, for MAPF Tracker plans")
    parser.add_argument("--agents", type=int, help="take only the first agents, this many")


def run_convert(options: argparse.Namespace) -> None:
    from frozenlab.base.files import read_text, write_files, write_folder
    from frozenlab.base.numbers import counted
    from frozenlab.lake import formats

    names = ", ".join(formats.FORMATS)
    for name in (options.source_format, options.target_format):
        if name is not None and name not in formats.FORMATS:
            raise InputError(f"there is no format {name!r}; the formats are {names}")
    try:
        text, map_text, scenario = (path and read_text(path) for path in (options.source, options.map, options.scen))
    except OSError as error:
        raise InputError(f"{error.filename} cannot be read: {error.strerror}") from None
    target = options.target_format or formats.suffix_format(options.target.name)
    if target is None:
        raise InputError(f"the name {options.target.name!r} does not determine the format: choose one with --to: {names}")
    source = options.source_format or formats.recognise(options.source.name, text)
    map_name = options.map and options.map.name
    entries = formats.read(source, formats.Source(text, options.source.stem, map_text, map_name, scenario, options.agents))
    files = formats.write(target, entries, options.target.stem)
    if len(entries) > 1 and formats.FORMATS[target].join is None:
        write_folder(options.target, files)
    else:
        main, *others = files
        if options.target.name not in files:
            files = {options.target.name: files[main], **{name: files[name] for name in others}}
        refuse_to_replace(options.target.parent, {name: files[name] for name in others})
        write_files(options.target.parent, files)
    plans = sum(entry.plan is not None for entry in entries) if formats.FORMATS[target].plans else 0
    if options.json:
        print_json({"from": source, "to": target, "boards": len(entries), "plans": plans, "files": len(files), "out": str(options.target)})
    else:
        what = f"{counted(len(entries), 'board')} and {counted(plans, 'plan')}" if plans else counted(len(entries), "board")
        print(f"{what} from {source} to {target}: {counted(len(files), 'file')}, {options.target}")


def refuse_to_replace(folder: Path, files: dict[str, str]) -> None:
    """Raise InputError if a map or scenario that would be written exists with other content: it may be somebody's own."""
    for name, text in files.items():
        path = folder / name
        if path.exists() and path.read_bytes() != text.encode():
            raise InputError(f"{path} exists already with other content: choose another name for the output")


COMMANDS = (Command("convert", "convert boards and plans from one format to another", add_convert, run_convert),)
