"""Writing that never leaves a torn or a half-written file."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path


def write_text(path: Path, text: str) -> None:
    """Replaces ``path`` as a whole: temp file, fsync, rename. Its folder is made where it is missing."""
    write_files(path.parent, {path.name: text})


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Puts files that belong together (name -> text) into ``folder``: they are all complete before the first takes its name."""
    folder.mkdir(parents=True, exist_ok=True)
    ready: dict[Path, str] = {}
    try:
        for name, text in texts.items():
            handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name[:100]}.")
            ready[folder / name] = temporary
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        for path, temporary in ready.items():
            os.replace(temporary, path)
    finally:
        for temporary in ready.values():
            Path(temporary).unlink(missing_ok=True)


def write_folder(folder: Path, texts: Mapping[str, str]) -> None:
    """Makes ``folder`` with these files in it, all at once. Raises FileExistsError if it is there and holds anything."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"{folder} exists already: name a new folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name[:100]}."))
    try:
        temporary.chmod(0o755)
        write_files(temporary, texts)
        os.replace(temporary, folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
