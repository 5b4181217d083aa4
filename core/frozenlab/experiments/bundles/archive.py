"""Reading zip archives that anybody may have made.

The standard library reads what it can make sense of; this reads only what has one meaning. The archive ends with its directory, without a
comment; the entries fill it from the first byte to the directory, without gaps and without overlapping; both headers of an entry say the
same; an entry is a plain file, stored or deflated. What breaks the archive as a whole is raised, what is wrong with an entry stands in its
``problem``. Nothing is unpacked before all of it is known, and never more than was announced.

The format: APPNOTE.TXT of PKWARE, version 6.3.10, sections 4.3 to 4.5.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import struct
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from frozenlab.base.errors import cut
from frozenlab.experiments.bundles import limits
from frozenlab.experiments.bundles.manifest import BundleError

END, DIRECTORY, LOCAL = struct.Struct("<4s4H2LH"), struct.Struct("<4s6H3L5H2L"), struct.Struct("<4s5H3L2H")
"""The end of the directory, one of its entries, and the header before an entry's data."""
STORED, DEFLATED = 0, 8
ENCRYPTED, STREAMED, PATCH, STRONG, UTF8, MASKED = 0x1, 0x8, 0x20, 0x40, 0x800, 0x2000
"""Flags of an entry."""
ZIP64, UNICODE_NAME, AES = 0x1, 0x7075, 0x9901
"""Kinds of extra fields that would give an entry other sizes, another name or another content."""
CHUNK = 2**18
KINDS_OF_FILE = {
    stat.S_IFLNK: "a symbolic link", stat.S_IFDIR: "a folder", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket",
}  # fmt: skip


class Entry(NamedTuple):
    """An entry of the directory."""

    name: str
    size: int
    """Bytes, unpacked, as both headers say."""
    packed: int
    method: int
    crc: int
    begin: int
    """Byte of its local header."""
    data: int = 0
    """Byte of its packed data."""
    problem: str | None = None
    """Why it is refused, as it follows its name in a sentence; None: its headers are sound."""


def entries(file: BinaryIO) -> list[Entry]:
    """All entries, in the order of the directory. Raises BundleError if the archive as a whole is not sound."""
    n, begin, size = _end(file)
    known = _with_twins([_located(file, entry) for entry in _directory(_read(file, begin, size), n)])
    at = 0
    for entry in sorted(known, key=lambda one: (one.begin, one.packed)):
        if entry.begin != at:
            raise BundleError("this archive is not sound: its entries overlap, or there are bytes between them that belong to none")
        at = entry.data + entry.packed
    if at != begin:
        raise BundleError("this archive is not sound: its entries do not end where its directory begins")
    if sum(entry.size for entry in known if not entry.problem) > limits.UNPACKED:
        raise BundleError(f"this archive would unpack to more than {limits.UNPACKED // limits.MB:,} MB")
    return known


def _end(file: BinaryIO) -> tuple[int, int, int]:
    """The number of entries, and first byte and length of the directory."""
    total = file.seek(0, os.SEEK_END)
    if total > limits.ARCHIVE:
        raise BundleError(f"a bundle has at most {limits.ARCHIVE // limits.MB + 1:,} MB, this file has {total / limits.MB:,.0f}")
    if total < END.size or _read(file, 0, 4) not in (b"PK\3\4", b"PK\5\6"):
        raise BundleError("this is no zip archive: frozenlab export makes one")
    signature, disk, first_disk, here, n, size, begin, comment = END.unpack(_read(file, total - END.size, END.size))
    if signature != b"PK\5\6" or comment:
        raise BundleError("this archive does not end with its directory: it is cut off, or has a comment or other bytes behind it")
    if 0xFFFF in (here, n) or 0xFFFFFFFF in (size, begin):
        raise BundleError("this archive has the large form (zip64), which no bundle needs")
    if disk or first_disk or here != n:
        raise BundleError("this is one part of an archive of several")
    if n > limits.ENTRIES or size > limits.ENTRIES * 512:
        raise BundleError(f"a bundle has at most {limits.ENTRIES:,} files")
    if begin + size != total - END.size:
        raise BundleError("this archive is not sound: its directory is not where its end says")
    return n, begin, size


def _directory(data: bytes, n: int) -> Iterator[Entry]:
    at = 0
    for _ in range(n):
        if len(data) - at < DIRECTORY.size:
            raise BundleError("this archive is not sound: its directory is shorter than its number of entries")
        (signature, _, needed, flags, method, _, _, crc, packed, size, name_length, extra_length, comment, disk, _, attributes, begin) = (
            DIRECTORY.unpack_from(data, at)
        )
        if signature != b"PK\1\2" or disk:
            raise BundleError("this archive is not sound: its directory holds something else than entries")
        if flags & STREAMED:
            raise BundleError("this archive was packed anew by another program, which puts sizes behind the files: take the original")
        at += DIRECTORY.size
        raw, extra = data[at : at + name_length], data[at + name_length : at + name_length + extra_length]
        at += name_length + extra_length + comment
        name, problem = _name(raw, flags)
        problem = problem or _odd(flags, method, needed, extra, attributes, comment) or _too_large(size, packed, method)
        yield Entry(name, size, packed, method, crc, begin, 0, problem)
    if at != len(data):
        raise BundleError("this archive is not sound: its directory is longer than its number of entries")


def _name(raw: bytes, flags: int) -> tuple[str, str | None]:
    """An entry's name, and what is wrong with it."""
    try:
        name = raw.decode("utf-8" if flags & UTF8 else "ascii")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "backslashreplace"), "has a name that is not UTF-8"
    return name, _name_problem(name)


def _name_problem(name: str) -> str | None:
    parts = name.split("/")
    if not name:
        return "has no name"
    if any(unicodedata.category(letter).startswith("C") for letter in name):
        return "has a control character in its name"
    if len(name.encode()) > limits.NAME or len(parts) > limits.DEPTH:
        return f"has a name of more than {limits.NAME} bytes or {limits.DEPTH} parts"
    if "\\" in name:
        return "has a backslash in its name"
    if name.startswith(("/", "~")) or re.match("[A-Za-z]:", name):
        return "leads to a fixed place of the disk"
    if name.endswith("/"):
        return "is a folder, and a bundle holds only files"
    if {"", ".", ".."} & set(parts):
        return "leads out of its folder"
    if unicodedata.normalize("NFC", name) != name:
        return "has a name that is written in an unusual way (not NFC)"
    return None


def _odd(flags: int, method: int, needed: int, extra: bytes, attributes: int, comment: int) -> str | None:
    if flags & (ENCRYPTED | STRONG | MASKED):
        return "is encrypted"
    if method not in (STORED, DEFLATED) or flags & PATCH:
        return "is packed in a way that is neither stored nor deflate"
    if kind := _kind_of_file(attributes):
        return f"is {kind}, and no plain file"
    if comment:
        return "has a comment"
    if needed & 0xFF > 20 or _kinds(extra) & {ZIP64, UNICODE_NAME, AES} or -1 in _kinds(extra):
        return "has extra fields that may give it another size or name"
    return None


def _kind_of_file(attributes: int) -> str | None:
    """What an entry's attributes make of it, if that is no plain file."""
    kind = stat.S_IFMT(attributes >> 16)
    if kind in (0, stat.S_IFREG):
        return "a folder" if attributes & 0x10 else "the name of a disk" if attributes & 0x08 else None
    return KINDS_OF_FILE.get(kind, "something unknown")


def _kinds(extra: bytes) -> set[int]:
    """The kinds of an entry's extra fields; -1 among them if they are cut off."""
    found: set[int] = set()
    at = 0
    while at < len(extra):
        if len(extra) - at < 4:
            return found | {-1}
        kind, length = struct.unpack_from("<2H", extra, at)
        found.add(kind)
        at += 4 + length
    return found if at == len(extra) else found | {-1}


def _too_large(size: int, packed: int, method: int) -> str | None:
    if 0xFFFFFFFF in (size, packed):
        return "has sizes that stand elsewhere (zip64)"
    if method == STORED and size != packed:
        return "is stored, but its two sizes differ"
    if size > limits.RATIO_FROM and size > limits.RATIO * packed:
        return f"unpacks to more than {limits.RATIO} times its size"
    return None


def _located(file: BinaryIO, entry: Entry) -> Entry:
    """The entry with the place of its data, once its local header says the same as the directory."""
    header = _read(file, entry.begin, LOCAL.size)
    if len(header) < LOCAL.size or header[:4] != b"PK\3\4":
        raise BundleError("this archive is not sound: an entry does not begin where the directory says")
    _, needed, flags, method, _, _, crc, packed, size, name_length, extra_length = LOCAL.unpack(header)
    if flags & STREAMED:
        raise BundleError("this archive was packed anew by another program, which puts sizes behind the files: take the original")
    raw = _read(file, entry.begin + LOCAL.size, name_length + extra_length)
    same = _name(raw[:name_length], flags)[0] == entry.name
    same &= (method, crc, packed, size) == (entry.method, entry.crc, entry.packed, entry.size)
    problem = entry.problem or _odd(flags, method, needed, raw[name_length:], 0, 0)
    problem = problem or (None if same else "is described in two ways, and they differ")
    return entry._replace(data=entry.begin + LOCAL.size + name_length + extra_length, problem=problem)


def _with_twins(known: list[Entry]) -> list[Entry]:
    """Entries of the same name are all refused, also of names that some disks take for the same."""
    names, folded = Counter(entry.name for entry in known), Counter(entry.name.casefold() for entry in known)

    def twin(entry: Entry) -> str | None:
        if names[entry.name] > 1:
            return "is there more than once"
        return "differs from another entry only in capital letters" if folded[entry.name.casefold()] > 1 else None

    return [entry._replace(problem=entry.problem or twin(entry)) for entry in known]


def _read(file: BinaryIO, begin: int, n: int) -> bytes:
    file.seek(begin)
    return file.read(n)


def unpack(file: BinaryIO, entry: Entry, write: Callable[[bytes], object]) -> str:
    """Hand the entry's content to ``write``, piece by piece, and return its SHA-256 sum. Raises BundleError if it is not what its headers
    say; ``write`` gets no more bytes than they announced."""
    digest, crc, size, left = hashlib.sha256(), 0, 0, entry.packed
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS) if entry.method == DEFLATED else None
    file.seek(entry.data)
    while left:
        packed = file.read(min(CHUNK, left))
        left -= len(packed)
        if not packed:
            raise BundleError(f"{shown(entry.name)} is cut off")
        for piece in [packed] if unpacker is None else _pieces(unpacker, packed, entry):
            size += len(piece)
            if size > entry.size:
                raise BundleError(f"{shown(entry.name)} unpacks to more than it announces")
            crc = zlib.crc32(piece, crc)
            digest.update(piece)
            write(piece)
    if size != entry.size or crc != entry.crc or (unpacker is not None and (not unpacker.eof or unpacker.unused_data)):
        raise BundleError(f"{shown(entry.name)} is not what its headers say: torn, or changed since")
    return digest.hexdigest()


def _pieces(unpacker: zlib._Decompress, packed: bytes, entry: Entry) -> Iterator[bytes]:
    try:
        while True:
            piece = unpacker.decompress(packed, CHUNK)
            packed = unpacker.unconsumed_tail
            yield piece
            if unpacker.eof or (not packed and len(piece) < CHUNK):
                return
    except zlib.error:
        raise BundleError(f"{shown(entry.name)} cannot be unpacked") from None


def shown(name: str) -> str:
    """An entry's name in one line of a report, whatever letters it is made of."""
    return cut(ascii(name)[1:-1] if not name.isprintable() else name, 120)
