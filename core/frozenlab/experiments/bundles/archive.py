"""Reading zip archives of strangers with the standard library's ``zipfile``.

The size of the directory is bounded before ``zipfile`` reads it. Entries that are no plain files have a ``problem``, and are not unpacked;
nothing is unpacked beyond the size that the directory announces.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable
from typing import BinaryIO, NamedTuple

from frozenlab.base.errors import cut, printable
from frozenlab.experiments.bundles import limits
from frozenlab.experiments.bundles.contents import ContentError
from frozenlab.experiments.bundles.layout import MANIFEST_FILE, BundleError

END = struct.Struct("<4s4H2LH")
"""The end of the directory: signature, four counts, bytes and first byte of the directory, length of the comment."""
LOCATOR = 20
"""Bytes before the end in which an archive of the large form (zip64) says where its own end is."""
HEADER = 30
"""The least bytes before an entry's data, its name not counted."""
ENCRYPTED, UTF8 = 0x2041, 0x800
"""Flags of an entry."""
DOS_KINDS = 0x18
"""Attributes of an entry that is a folder or the name of a disk."""
DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, UnicodeError)
"""What ``zipfile`` raises about archives that it cannot read."""
CHUNK = 2**18
DESKTOP = re.compile(r"^__MACOSX/|(^|/)(\._[^/]*|\.DS_Store|Thumbs\.db|desktop\.ini)$")
"""Names of what desktops leave in folders."""
AROUND = re.compile(r"\w[\w .()-]*/")
"""The name of a folder around all of a bundle, as a desktop gives the unpacked one."""


class Entry(NamedTuple):
    """An entry of the directory."""

    info: zipfile.ZipInfo
    name: str
    """Its name in the bundle, whatever tool has packed it."""
    problem: str | None
    """Why it is refused, as it follows its name in a sentence; None: its description is sound."""


def entries(file: BinaryIO) -> tuple[zipfile.ZipFile, list[Entry]]:
    """An archive and its entries, in the order of the directory. Raises BundleError if the archive as a whole is not sound."""
    _check_end(file)
    try:
        archive = zipfile.ZipFile(file)
    except DAMAGE:
        raise BundleError("this archive is not sound: its directory cannot be read") from None
    known = archive.infolist()
    if len(known) > limits.ENTRIES:
        raise BundleError(f"a bundle has at most {limits.ENTRIES:,} files")
    if sum(info.file_size for info in known) > limits.UNPACKED:
        raise BundleError(f"this archive would unpack to more than {limits.UNPACKED // limits.MB:,} MB")
    end = 0
    for info in sorted(known, key=lambda info: info.header_offset):
        if info.header_offset < end:
            raise BundleError("this archive is not sound: its entries overlap")
        end = info.header_offset + HEADER + len(info.orig_filename) + info.compress_size
    if end > archive.start_dir:
        raise BundleError("this archive is not sound: an entry ends after its directory begins")
    named = _named(known)
    same_name = Counter(name.casefold() for _, name in named)
    return archive, [Entry(info, name, _problem(info, name, same_name[name.casefold()])) for info, name in named]


def _named(known: list[zipfile.ZipInfo]) -> list[tuple[zipfile.ZipInfo, str]]:
    """The entries with their names in the bundle, whichever tool has packed it again: without those of folders and what a desktop leaves
    in each, with / where Windows wrote \\, and without a folder around all."""
    windows = not any("/" in info.orig_filename for info in known)
    named = [(info, info.orig_filename.replace("\\", "/") if windows else info.orig_filename) for info in known]
    named = [(info, name.removeprefix("./")) for info, name in named if not (_is_folder(info, name) or DESKTOP.search(name))]
    around = AROUND.match(named[0][1]) if named else None
    if around and all(name.startswith(around[0]) for _, name in named) and any(name == around[0] + MANIFEST_FILE for _, name in named):
        return [(info, name.removeprefix(around[0])) for info, name in named]
    return named


def _is_folder(info: zipfile.ZipInfo, name: str) -> bool:
    """Whether it is nothing but the name of a folder, which is never made from it."""
    return name.endswith("/") and not info.file_size and stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFDIR)


def _check_end(file: BinaryIO) -> None:
    """Raise BundleError unless the file ends with a directory of bounded size."""
    total = file.seek(0, os.SEEK_END)
    if total > limits.ARCHIVE:
        raise BundleError(f"a bundle has at most {limits.ARCHIVE // limits.MB:,} MB, this file has {total / limits.MB:,.0f}")
    file.seek(max(0, total - END.size - LOCATOR))
    tail = file.read()
    if len(tail) < END.size or not tail[-END.size :].startswith(b"PK\5\6") or not tail.endswith(b"\0\0"):
        raise BundleError("this is no zip archive that ends with its directory: it is cut off, or frozenlab jobs export did not make it")
    *_, size, begin, _ = END.unpack(tail[-END.size :])
    if tail.startswith(b"PK\6\7"):
        raise BundleError("this archive has the large form (zip64), which no bundle needs")
    if size > limits.ENTRIES * 512:
        raise BundleError(f"a bundle has at most {limits.ENTRIES:,} files")
    if begin + size != total - END.size:
        raise BundleError("this archive is not sound: its directory is not where its end says")


def _problem(info: zipfile.ZipInfo, name: str, same_name: int) -> str | None:
    kind = stat.S_IFMT(info.external_attr >> 16)
    readable = name.isprintable() and (name.isascii() or info.flag_bits & UTF8)
    plain = kind in (0, stat.S_IFREG) and not info.external_attr & DOS_KINDS and not name.endswith("/")
    packing = info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    bomb = info.file_size > max(limits.RATIO_FROM, limits.RATIO * info.compress_size)
    problems = (
        (not readable, "has a name with letters that cannot be shown"),
        (len(name) > limits.NAME, f"has a name of more than {limits.NAME} letters"),
        (same_name > 1, "is there more than once, capital letters not counted"),
        (name.startswith(("/", "~")) or "\\" in name or name[1:2] == ":", "leads to a fixed place of the disk"),
        (not plain, "is a link, a folder or a device, and no plain file"),
        ({"", ".", ".."} & {*name.split("/")}, "leads out of its folder"),
        (info.flag_bits & ENCRYPTED, "is encrypted"),
        (not packing, "is packed in a way that is neither stored nor deflate"),
        (bomb, f"unpacks to more than {limits.RATIO} times its size"),
    )
    return next((why for wrong, why in problems if wrong), None)


def unpack(archive: zipfile.ZipFile, entry: Entry, write: Callable[[bytes], object]) -> str:
    """Hand an entry's content to ``write``, piece by piece, and return its SHA-256 sum. Raises ContentError if it is damaged."""
    digest = hashlib.sha256()
    try:
        with archive.open(entry.info) as file:
            while piece := file.read(CHUNK):
                digest.update(piece)
                write(piece)
    except DAMAGE:
        raise ContentError("cannot be unpacked: it is torn, or was changed") from None
    return digest.hexdigest()


def shown(name: str) -> str:
    """An entry's name in one line of a report, whatever letters it is made of."""
    return cut(printable(name), 120)
