"""Jobs into one file: chosen files of their folders, without paths of this machine, each with its checksum in the manifest.

The same folders always make the same bytes: entries in order, without dates, with the same rights.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from frozenlab.base.errors import cut, one_line
from frozenlab.base.files import json_value, regular, replacing
from frozenlab.experiments.bundles import limits
from frozenlab.experiments.bundles.cleaning import cleaned, cleaned_json, cleaned_lines, cleaned_state, keys
from frozenlab.experiments.bundles.found import Found, needs, title_of
from frozenlab.experiments.bundles.layout import (
    MANIFEST_FILE,
    BundleError,
    FileEntry,
    JobEntry,
    Manifest,
    allowed,
    folder_of,
    format_of,
    is_weights,
)
from frozenlab.jobs.folders import refuse_links
from frozenlab.jobs.state import read_state
from frozenlab.models.training.checkpoints import SEAL, checksum, sealed_sums

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The date of every entry: the first that the format knows."""
PACKED = {"json", "lines", "text"}
"""Formats that become smaller; tables, arrays and weights are stored as they are."""
SLICE = 2**20


class LeftOut(NamedTuple):
    """A file that could have been in a bundle."""

    job: str
    path: str
    why: str


class Exported(NamedTuple):
    """What was written."""

    manifest: Manifest
    left_out: tuple[LeftOut, ...]
    """Damaged files. Those that no bundle holds, such as logs, are not named."""


def size_of(jobs: Sequence[Found], weights: bool) -> int:
    """Bytes of the files that a bundle of the jobs would hold, before it is packed."""
    size = 0
    for path in (path for job in jobs for path in files_of(job, weights)):
        with suppress(FileNotFoundError):  # of a job that runs, a file may be gone meanwhile
            size += path.lstat().st_size
    return size


def files_of(job: Found, weights: bool) -> list[Path]:
    """The files of a job that a bundle holds, in order."""
    found = []
    for parent, folders, files in os.walk(job.folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            path = Path(parent, name).relative_to(job.folder).as_posix()
            if allowed(job.kind, path) and (weights or not is_weights(path)):
                found.append(path)
    return [job.folder / path for path in sorted(found)]


def export(jobs: Sequence[Found], target: Path, weights: bool = False) -> Exported:
    """Write the jobs into the file ``target``, which is complete before it has its name.

    Raises:
        BundleError: a job is running, or the bundle would be too large.
        LinkError: there is a link in a job's folder.
        LabError: a job cannot be opened.
    """
    with tempfile.TemporaryDirectory(prefix="frozenlab-export-") as scratch:
        packers = [_Packer(job, weights, Path(scratch) / str(number)) for number, job in enumerate(dict.fromkeys(jobs))]
        manifest = Manifest(frozenlab=version("frozenlab"), jobs=tuple(packer.entry for packer in packers))
        if len(packers) == 0 or sum(len(packer.files) for packer in packers) >= limits.ENTRIES:
            raise BundleError(f"a bundle has at most {limits.ENTRIES:,} files: export less at a time")
        if sum(job.size for job in manifest.jobs) > limits.ARCHIVE - limits.MANIFEST - 400 * limits.ENTRIES:
            raise BundleError(f"a bundle has at most {limits.ARCHIVE // limits.MB:,} MB: export less at a time, or leave the weights out")
        with replacing(target) as temporary, zipfile.ZipFile(temporary, "w", allowZip64=False) as archive:
            with archive.open(_info(MANIFEST_FILE, packed=True), "w") as entry:
                entry.write(manifest.model_dump_json(indent=1).encode())
            for packer in packers:
                packer.write(archive)
    return Exported(manifest, tuple(left for packer in packers for left in packer.left_out))


def _info(name: str, *, packed: bool, size: int = 0) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, EPOCH)
    info.create_system, info.external_attr = 3, (stat.S_IFREG | 0o644) << 16
    info.compress_type, info.file_size = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED, size
    return info


class _Packer:
    """The files of one job, ready to be written: as they are, or a cleaned copy in the folder ``scratch``."""

    def __init__(self, job: Found, weights: bool, scratch: Path) -> None:
        refuse_links(job.folder)
        for state in job.folder.rglob("state.json"):
            if read_state(state.parent).live:
                raise BundleError(f"{job.kind} {job.id} is running: stop it, or export it when it is done")
        self.job, self.scratch, self.left_out, self.keys = job, scratch, [], keys()
        self.files: dict[str, Path] = {}
        """Path in the job's folder -> the file to pack."""
        changed: list[str] = []
        for path in files_of(job, weights):
            name = path.relative_to(job.folder).as_posix()
            try:
                clean = self._clean(path, name)
            except (OSError, ValueError, RecursionError, pa.ArrowException) as error:
                self.left_out.append(LeftOut(f"{job.kind} {job.id}", name, one_line(error)))
                continue
            if clean is not None:
                changed.append(name)
            self.files[name] = clean or path
        changed += self._sealed_again(changed)
        if job.task.name not in self.files:
            raise BundleError(f"{job.kind} {job.id}: {job.task.name} cannot be read, so there is nothing to export")
        entries = tuple(FileEntry(path=name, size=path.stat().st_size, sha256=checksum(path)) for name, path in sorted(self.files.items()))
        clean_needs = [need.model_copy(update={"name": cleaned_json(need.name, self.keys)}) for need in needs(job)]
        self.entry = JobEntry(
            kind=job.kind, id=job.id, title=cut(cleaned_json(title_of(job), self.keys), 500), files=entries,
            weights=any(is_weights(name) for name in self.files), needs=tuple(clean_needs), changed=tuple(sorted(set(changed))),
        )  # fmt: skip

    def _clean(self, path: Path, name: str) -> Path | None:
        """A cleaned copy of a file; None if there is nothing to clean."""
        size, of = path.stat().st_size, format_of(name)
        if size > limits.SIZES[of]:
            raise BundleError(
                f"has {size / limits.MB:,.0f} MB, and a bundle holds files of this kind up to {limits.SIZES[of] // limits.MB:,}"
            )
        if of == "table":
            return self._clean_table(path, name)
        if of in ("weights", "arrays"):
            return None
        text = regular(path).read_text(encoding="utf-8")
        clean = self._clean_text(text, name)
        return None if clean == text else self._keep(name, clean)

    def _clean_text(self, text: str, name: str) -> str:
        of = format_of(name)
        if of == "lines":
            return cleaned_lines(text, self.keys)
        if of == "text":
            return cleaned(text, self.keys)
        value = json_value(text)
        clean = cleaned_state(value, self.keys) if PurePosixPath(name).name == "state.json" else cleaned_json(value, self.keys)
        if self.job.kind == "replay" and name == "task.json":
            clean |= {"folder": None}  # its session is found by its id
        return text if clean == value else json.dumps(clean, indent=1, ensure_ascii=False)

    def _clean_table(self, path: Path, name: str) -> Path | None:
        table, changed = pq.read_table(path), False
        for i, field in enumerate(table.schema):
            if not (pa.types.is_string(field.type) or pa.types.is_large_string(field.type)):
                continue
            column = table.column(i)
            marks = ["/", "\\", *self.keys]
            suspects = {text.as_py() for mark in marks for text in column.filter(pc.match_substring(column, mark)).unique()}
            clean = {text: new for text in suspects if (new := cleaned(text, self.keys)) != text}
            if clean:
                texts = [clean.get(text, text) for text in column.to_pylist()]
                table, changed = table.set_column(i, field, pa.chunked_array([texts], type=field.type)), True
        if not changed:
            return None
        target = self._place(name)
        pq.write_table(table, target, compression="zstd")
        return target

    def _sealed_again(self, changed: Sequence[str]) -> list[str]:
        """The seals of checkpoints whose files were cleaned, with the new checksums; a file that was torn before stays so."""
        renewed = []
        for name in sorted({f"{PurePosixPath(path).parent}/{SEAL}" for path in changed if is_weights(path)} & {*self.files}):
            sums = sealed_sums(self.files[name])
            folder = PurePosixPath(name).parent
            for file, known in sums.items():
                path = f"{folder}/{file}"
                if path in changed and checksum(self.job.folder / path) == known:
                    sums[file] = checksum(self.files[path])
            self.files[name] = self._keep(name, json.dumps(sums, indent=1))
            renewed.append(name)
        return renewed

    def _place(self, name: str) -> Path:
        target = self.scratch / name
        target.parent.mkdir(parents=True, exist_ok=True)
        return target

    def _keep(self, name: str, text: str) -> Path:
        target = self._place(name)
        target.write_text(text, encoding="utf-8")
        return target

    def write(self, archive: zipfile.ZipFile) -> None:
        """Pack the files. Raises BundleError if one changes meanwhile."""
        folder = folder_of(self.job.kind, self.job.id)
        for file in self.entry.files:
            digest, path = hashlib.sha256(), self.files[file.path]
            info = _info(f"{folder}/{file.path}", packed=format_of(file.path) in PACKED, size=file.size)
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            with os.fdopen(handle, "rb") as source, archive.open(info, "w") as entry:
                while piece := source.read(SLICE):
                    digest.update(piece)
                    entry.write(piece)
            if digest.hexdigest() != file.sha256:
                raise BundleError(f"{self.job.kind} {self.job.id}: {file.path} changed while it was exported; try again")
