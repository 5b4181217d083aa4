"""Zip archives of which every byte can be wrong, and the manifest of a bundle."""

from __future__ import annotations

import hashlib
import json
import stat
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from frozenlab.experiments.bundles.archive import DEFLATED, DIRECTORY, END, LOCAL, STORED, UTF8
from frozenlab.experiments.bundles.layout import folder_of
from frozenlab.experiments.bundles.manifest import MANIFEST_FILE

FILE = (stat.S_IFREG | 0o644) << 16


@dataclass
class Part:
    """An entry. What is None is as it should be."""

    name: str | bytes
    data: bytes = b""
    method: int = DEFLATED
    attributes: int = FILE
    extra: bytes = b""
    comment: bytes = b""
    needed: int = 20
    packed: bytes | None = None
    """The data as they are packed."""
    size: int | None = None
    crc: int | None = None
    flags: int | None = None
    before: bytes = b""
    """Bytes before its local header."""
    local: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the local header that differ from the directory: name, method, crc, packed, size, flags."""
    begin: int | None = None
    """Where the directory says that it begins."""


def archive(
    parts: Sequence[Part], *, first: bytes = b"", between: bytes = b"", comment: bytes = b"", last: bytes = b"", **end: int
) -> bytes:
    """The bytes of an archive.

    Args:
        first, between, last: bytes before all, before the end of the directory, and after all.
        end: fields of the end of the directory that are wrong: ``disk``, ``n``, ``here``, ``size``, ``begin``.
    """
    out, directory = bytearray(first), bytearray()
    for part in parts:
        name = part.name if isinstance(part.name, bytes) else part.name.encode()
        flags = (0 if name.isascii() else UTF8) if part.flags is None else part.flags
        packed = part.packed if part.packed is not None else deflated(part.data) if part.method == DEFLATED else part.data
        size = len(part.data) if part.size is None else part.size
        crc = zlib.crc32(part.data) if part.crc is None else part.crc
        known = {"name": name, "method": part.method, "crc": crc, "packed": len(packed), "size": size, "flags": flags} | part.local
        out += part.before
        begin = len(out) if part.begin is None else part.begin
        out += LOCAL.pack(
            b"PK\3\4", part.needed, known["flags"], known["method"], 0, 33, known["crc"], known["packed"], known["size"],
            len(known["name"]), len(part.extra),
        )  # fmt: skip
        out += known["name"] + part.extra + packed
        directory += DIRECTORY.pack(
            b"PK\1\2", 0x314, part.needed, flags, part.method, 0, 33, crc, len(packed), size, len(name), len(part.extra), len(part.comment),
            0, 0, part.attributes, begin,
        )  # fmt: skip
        directory += name + part.extra + part.comment
    known_end = {"disk": 0, "here": len(parts), "n": len(parts), "size": len(directory), "begin": len(out)} | end
    tail = END.pack(
        b"PK\5\6", known_end["disk"], 0, known_end["here"], known_end["n"], known_end["size"], known_end["begin"], len(comment)
    )  # fmt: skip
    return bytes(out + directory + between + tail + comment + last)


def deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def extra(kind: int, data: bytes = b"") -> bytes:
    return struct.pack("<2H", kind, len(data)) + data


def job(files: Mapping[str, bytes], kind: str = "session", job_id: str = "demo", **fields: Any) -> dict[str, Any]:
    """A job of a manifest, which says the truth about its files."""
    listed = [{"path": path, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()} for path, data in files.items()]
    return {"kind": kind, "id": job_id, "title": "Demo", "weights": False, "files": listed} | fields


def manifest(*jobs: dict[str, Any], **fields: Any) -> Part:
    return Part(MANIFEST_FILE, json.dumps({"schema_version": 1, "frozenlab": "0.1.0", "jobs": jobs} | fields).encode())


def parts_of(files: Mapping[str, bytes], kind: str = "session", job_id: str = "demo") -> list[Part]:
    return [Part(f"{folder_of(kind, job_id)}/{path}", data, STORED) for path, data in files.items()]


def bundle(files: Mapping[str, bytes], kind: str = "session", job_id: str = "demo", more: Sequence[Part] = (), **end: Any) -> bytes:
    """A bundle of one job with these files, and ``more`` entries."""
    return archive([manifest(job(files, kind, job_id)), *parts_of(files, kind, job_id), *more], **end)
