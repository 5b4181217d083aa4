"""Bundles made by hand, in which every byte can be wrong."""

from __future__ import annotations

import hashlib
import json
import stat
import struct
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple
from zipfile import ZIP_DEFLATED as DEFLATED
from zipfile import ZIP_STORED as STORED

from frozenlab.experiments.bundles.layout import MANIFEST_FILE, folder_of
from tests.builders import small_spec

FILE = (stat.S_IFREG | 0o644) << 16
UTF8 = 0x800


class Part(NamedTuple):
    """An entry. What is None is as it should be."""

    name: str
    data: bytes = b""
    method: int = DEFLATED
    attributes: int = FILE
    packed: bytes | None = None
    """The data as they are packed."""
    size: int | None = None
    crc: int | None = None
    flags: int = UTF8
    extra: bytes = b""
    comment: bytes = b""
    local_name: str | None = None
    """The name in the header before the data."""
    begin: int | None = None
    """Where the directory says that it begins."""


def archive(parts: Sequence[Part], **end: int) -> bytes:
    """The bytes of an archive; ``end`` has fields of the end of the directory that are wrong: ``n``, ``size``, ``begin``."""
    out, directory = bytearray(), bytearray()
    for part in parts:
        begin = len(out) if part.begin is None else part.begin
        packed = part.packed if part.packed is not None else deflated(part.data) if part.method == DEFLATED else part.data
        crc = zlib.crc32(part.data) if part.crc is None else part.crc
        about = (part.flags, part.method, 0, 33, crc, len(packed), len(part.data) if part.size is None else part.size)
        name, local = part.name.encode(), (part.local_name or part.name).encode()
        out += struct.pack("<4s5H3L2H", b"PK\3\4", 20, *about, len(local), 0) + local + packed
        lengths = len(name), len(part.extra), len(part.comment)
        directory += struct.pack("<4s6H3L5H2L", b"PK\1\2", 0x314, 20, *about, *lengths, 0, 0, part.attributes, begin)
        directory += name + part.extra + part.comment
    known = {"n": len(parts), "size": len(directory), "begin": len(out)} | end
    return bytes(out + directory + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, known["n"], known["n"], known["size"], known["begin"], 0))


def deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def job(files: Mapping[str, bytes], kind: str = "session", job_id: str = "demo", **fields: Any) -> dict[str, Any]:
    """A job of a manifest, which says the truth about its files."""
    listed = [{"path": path, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()} for path, data in files.items()]
    return {"kind": kind, "id": job_id, "title": "Demo", "weights": False, "files": listed} | fields


def manifest(*jobs: dict[str, Any], **fields: Any) -> Part:
    return Part(MANIFEST_FILE, json.dumps({"schema_version": 1, "frozenlab": "0.1.0", "jobs": jobs} | fields).encode())


def parts_of(files: Mapping[str, bytes], kind: str = "session", job_id: str = "demo") -> list[Part]:
    return [Part(f"{folder_of(kind, job_id)}/{path}", data, STORED) for path, data in files.items()]


def bundle(files: Mapping[str, bytes], kind: str = "session", job_id: str = "demo", more: Sequence[Part] = (), **end: int) -> bytes:
    """A bundle of one job with these files, and ``more`` entries that the manifest does not list."""
    return archive([manifest(job(files, kind, job_id)), *parts_of(files, kind, job_id), *more], **end)


@cache
def sound() -> dict[str, bytes]:
    """The files of the smallest session that can be imported."""
    return {"session.json": small_spec(stages=1).model_dump_json().encode(), "state.json": b'{"schema_version": 1, "status": "done"}'}
