"""Files that an enemy would like somebody to import, each with the reason for which it has to be refused."""

from __future__ import annotations

import io
import json
import pickle
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from frozenlab.experiments.bundles import limits
from frozenlab.experiments.bundles.archive import STORED
from tests.builders import small_spec
from tests.bundles.archives import FILE, Part, archive, bundle, deflated, extra, job, manifest, parts_of

TARGET = "/tmp/outside-of-everything"


class Hostile(NamedTuple):
    """One file."""

    name: str
    make: Callable[[], bytes]
    why: str
    """Words of the reason."""


class Trap:
    """What would run if somebody unpickled it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (TARGET, "w")


@cache
def sound() -> dict[str, bytes]:
    """The files of the smallest session that can be imported."""
    return {"session.json": small_spec(stages=1).model_dump_json().encode(), "state.json": b'{"schema_version": 1, "status": "done"}'}


def with_file(path: str, data: bytes, kind: str = "session", rest: dict[str, bytes] | None = None) -> bytes:
    """A sound session with one more file, which the manifest lists truly; or with another content of one of its own."""
    return bundle((sound() if rest is None else rest) | {path: data}, kind)


def with_part(*parts: Part, **end: Any) -> bytes:
    """A sound session, and entries that the manifest does not list."""
    return bundle(sound(), more=parts, **end)


def in_job(**changes: Any) -> bytes:
    """A sound session whose file of events is an entry with these fields."""
    data = b'{"time": 1, "kind": "done"}\n'
    part = Part("sessions/demo/events.jsonl", **({"data": data} | changes))
    return archive([manifest(job(sound() | {"events.jsonl": data})), *parts_of(sound()), part])


def spec(**changes: Any) -> bytes:
    return json.dumps(json.loads(sound()["session.json"]) | changes).encode()


def table(columns: dict[str, Any], **options: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, **options)
    return out.getvalue()


def arrays(**named: Any) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **named)
    return out.getvalue()


def with_table(data: bytes) -> bytes:
    return with_file("baseline/validation.parquet", data)


def headroom(data: bytes) -> bytes:
    """A measurement of headroom with one file of arrays."""
    return with_file("influence-0.npz", data, "headroom", {"task.json": b"{}"})


def with_weights(data: bytes) -> bytes:
    return with_file("stages/00/policy/model.safetensors", data)


def tensors(header: bytes, data: bytes = b"", length: int | None = None) -> bytes:
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def names() -> Iterator[Hostile]:
    """Entries whose names lead elsewhere, or look like others."""
    out, fixed, control = "leads out of its folder", "leads to a fixed place", "control character"
    for label, name, why in (
        ("traversal", "../outside", out), ("traversal-deep", "sessions/demo/../../../outside", out),
        ("traversal-end", "sessions/demo/..", out),
        ("dot", "sessions/./demo/x.json", out), ("double-slash", "sessions//demo/x.json", out),
        ("absolute", TARGET, fixed), ("unc-slashes", "//host/share/x.json", fixed), ("home", "~/.bashrc", fixed),
        ("drive", "C:/Windows/x.json", fixed), ("drive-relative", "c:x.json", fixed),
        ("backslash", "..\\..\\outside", "backslash"), ("unc", "\\\\host\\share\\x", "backslash"),
        ("nul", "sessions/demo/session.json\0.txt", control), ("newline", "sessions/demo/x\ny.json", control),
        ("terminal", "\x1b]0;owned\x07.json", control), ("right-to-left", "sessions/demo/\u202egpj.json", control),
        ("zero-width", "sessions/demo/ses\u200bsion.json", control), ("lone-surrogate", b"sessions/demo/\xed\xa0\x80.json", "not UTF-8"),
        ("decomposed", "sessions/demo/cafe\u0301.json", "not NFC"), ("not-utf8", b"sessions/demo/\xff\xfe.json", "not UTF-8"),
        ("nameless", "", "has no name"), ("folder", "sessions/demo/", "is a folder"),
        ("long", "sessions/demo/" + "x" * 300 + ".json", "more than 240 bytes"), ("deep", "/".join(["a"] * 40), "parts"),
    ):  # fmt: skip
        yield Hostile(f"name-{label}", lambda name=name: with_part(Part(name, b"{}")), why)
    yield Hostile("name-unflagged", lambda: with_part(Part("sessions/demo/é.json".encode(), b"{}", flags=0)), "not UTF-8")
    yield Hostile("name-other-case", lambda: with_part(Part("sessions/demo/SESSION.json", b"{}")), "only in capital letters")
    yield Hostile("name-twice", lambda: with_part(Part("sessions/demo/session.json", b"{}")), "more than once")
    yield Hostile("name-manifest-twice", lambda: with_part(manifest(job(sound()))), "more than once")
    yield Hostile("name-unicode-extra", lambda: in_job(extra=extra(0x7075, b"\1\0\0\0\0../x")), "another size or name")


def kinds() -> Iterator[Hostile]:
    """Entries that are no plain files."""
    for label, mode, why in (
        ("link", stat.S_IFLNK | 0o777, "a symbolic link"), ("character-device", stat.S_IFCHR, "a device"),
        ("block-device", stat.S_IFBLK, "a device"), ("pipe", stat.S_IFIFO, "a pipe"), ("socket", stat.S_IFSOCK, "a socket"),
        ("folder", stat.S_IFDIR, "a folder"), ("unknown", 0o170000, "something unknown"),
    ):  # fmt: skip
        yield Hostile(f"kind-{label}", lambda mode=mode: in_job(attributes=mode << 16), why)
        if label == "link":
            yield Hostile("kind-link-outside", lambda mode=mode: with_part(Part("x.json", b"../..", attributes=mode << 16)), why)
    yield Hostile("kind-dos-folder", lambda: in_job(attributes=FILE | 0x10), "a folder")
    yield Hostile("kind-disk", lambda: in_job(attributes=FILE | 0x08), "name of a disk")


def bombs() -> Iterator[Hostile]:
    """Archives that would fill the disk or the memory."""
    yield Hostile("bomb-ratio", lambda: in_job(data=bytes(8 * limits.MB)), "more than 200 times")
    yield Hostile("bomb-more-than-announced", lambda: in_job(packed=deflated(bytes(4 * limits.MB))), "more than it announces")
    yield Hostile("bomb-announces-all", lambda: in_job(size=0xFFFFFFFE), "more than 200 times")
    yield Hostile("bomb-overlapping", overlapping, "overlap")
    yield Hostile("bomb-many-small", many_small, "would unpack to more than")
    yield Hostile("bomb-too-many", lambda: archive([Part(str(i)) for i in range(limits.ENTRIES + 1)]), "at most 20,000 files")
    yield Hostile("bomb-archive-in-archive", lambda: with_part(Part("sessions/demo/more.zip", bundle(sound()))), "archive in the archive")
    yield Hostile("bomb-brackets", lambda: with_file("origin.json", b'{"a":' + b"[" * 90_000 + b"]" * 90_000 + b"}"), "brackets within")
    yield Hostile("bomb-nested", lambda: with_file("origin.json", b'{"a":' * 100 + b"1" + b"}" * 100), "brackets within")
    yield Hostile("bomb-values", lambda: with_file("origin.json", b'{"a":[' + b"0," * 1_000_001 + b"0]}"), "values")
    yield Hostile(
        "bomb-large-json", lambda: with_file("origin.json", b'{"a":"' + b"x" * limits.SIZES["json"] + b'"}'), "has more than 16 MB"
    )
    yield Hostile("bomb-digits", lambda: with_file("origin.json", b'{"a":' + b"9" * 10_000 + b"}"), "thousands of digits")
    yield Hostile("bomb-lines", lambda: with_file("events.jsonl", b"{}\n" * (limits.LINES + 1)), "lines")
    yield Hostile("bomb-manifest", lambda: archive([Part("manifest.json", b" " * (limits.MANIFEST + 1), STORED)]), "more than 8 MB")
    yield Hostile("bomb-manifest-brackets", lambda: archive([Part("manifest.json", b'{"jobs":' * 5000 + b"1" + b"}" * 5000)]), "brackets")
    yield Hostile("bomb-rows", lambda: with_table(table({"a": pa.nulls(limits.ROWS + 1)})), "rows")
    yield Hostile("bomb-columns", lambda: with_table(table({f"c{i}": [1] for i in range(limits.COLUMNS + 1)})), "columns")
    yield Hostile("bomb-dictionary", dictionary_bomb, "columns of more than")
    yield Hostile("bomb-pages", page_bomb, "of more than")
    yield Hostile("bomb-arrays", array_bomb, "unpacks to more")


def overlapping() -> bytes:
    """Two entries that share the data of one, of which there could be thousands."""
    parts = [manifest(job(sound())), *parts_of(sound()), Part("a.json", b"{}"), Part("a.json", b"{}")]
    begin = len(archive(parts[:-2])) - len(archive([])) - sum(46 + len(str(part.name)) for part in parts[:-2])
    parts[-1].begin = begin
    return archive(parts)


def many_small() -> bytes:
    packed = deflated(bytes(limits.MB))
    return archive([Part(f"{i}.json", packed=packed, size=limits.MB) for i in range(limits.UNPACKED // limits.MB + 1)])


def dictionary_bomb() -> bytes:
    """One long word in a dictionary, and a million rows that name it."""
    words = pa.DictionaryArray.from_arrays(pa.array(np.zeros(limits.ROWS // 2, dtype=np.int8)), pa.array(["x" * 2**16]))
    return with_table(table({"a": words.cast(pa.dictionary(pa.int32(), pa.string()))}, store_schema=False))


def page_bomb() -> bytes:
    """Groups of rows that are small on the disk and large in memory, one after the other."""
    out, group = io.BytesIO(), pa.table({"a": ["x" * 2**20] * 64})
    with pq.ParquetWriter(out, group.schema, compression="zstd", use_dictionary=False) as writer:
        for _ in range(1 + limits.IN_MEMORY // (64 * limits.MB)):
            writer.write_table(group)
    return with_table(out.getvalue())


def array_bomb() -> bytes:
    """Arrays whose directory announces four gigabytes."""
    data = bytearray(arrays(products=np.zeros(9)))
    struct.pack_into("<L", data, data.rindex(b"PK\1\2") + 24, 0xFFFFFFF0)
    return headroom(bytes(data))


def structures() -> Iterator[Hostile]:
    """Archives that mean different things to different programs."""
    whole = bundle(sound())
    not_sound = "is not sound"
    yield Hostile("zip-cut", lambda: whole[:-30], "does not end with its directory")
    yield Hostile("zip-comment", lambda: bundle(sound(), comment=b"PK\5\6" + bytes(18)), not_sound)
    yield Hostile("zip-bytes-behind", lambda: bundle(sound(), last=b"<script>"), "does not end with its directory")
    yield Hostile("zip-bytes-before", lambda: bundle(sound(), first=b"GIF89a<html>"), "no zip archive")
    yield Hostile("zip-before-a-zip", lambda: whole + whole, not_sound)
    yield Hostile("zip-gap", lambda: with_part(Part("x.json", b"{}", before=b"hidden")), "overlap, or there are bytes between")
    yield Hostile("zip-gap-at-end", lambda: bundle(sound(), between=b"hidden"), not_sound)
    yield Hostile("zip-64", lambda: bundle(sound(), between=b"PK\6\6" + bytes(72)), not_sound)
    yield Hostile("zip-64-end", lambda: bundle(sound(), n=0xFFFF, here=0xFFFF), "large form")
    yield Hostile("zip-64-begin", lambda: bundle(sound(), begin=0xFFFFFFFF), "large form")
    yield Hostile("zip-64-extra", lambda: in_job(extra=extra(0x1, struct.pack("<2Q", 2, 2))), "another size or name")
    yield Hostile("zip-64-sizes", lambda: in_job(size=0xFFFFFFFF), "zip64")
    yield Hostile("zip-fewer-entries", lambda: bundle(sound(), n=1, here=1), not_sound)
    yield Hostile("zip-more-entries", lambda: bundle(sound(), n=9, here=9), not_sound)
    yield Hostile("zip-several-disks", lambda: bundle(sound(), disk=1), "part of an archive of several")
    yield Hostile("zip-directory-elsewhere", lambda: bundle(sound(), begin=7), not_sound)
    yield Hostile("zip-entry-elsewhere", lambda: in_job(begin=3), not_sound)
    yield Hostile("zip-local-name", lambda: in_job(local={"name": b"sessions/demo/../../x.jsonl"}), "described in two ways")
    yield Hostile("zip-local-size", lambda: in_job(local={"size": 5}), "described in two ways")
    yield Hostile("zip-local-method", lambda: in_job(local={"method": STORED}), "described in two ways")
    yield Hostile("zip-local-encrypted", lambda: in_job(local={"flags": 1}), "encrypted")
    yield Hostile("zip-checksum", lambda: in_job(crc=1), "is not what its headers say")
    yield Hostile("zip-encrypted", lambda: in_job(flags=0x1), "encrypted")
    yield Hostile("zip-strongly-encrypted", lambda: in_job(flags=0x41), "encrypted")
    yield Hostile("zip-aes", lambda: in_job(extra=extra(0x9901, bytes(7))), "another size or name")
    yield Hostile("zip-lzma", lambda: in_job(method=14), "neither stored nor deflate")
    yield Hostile("zip-streamed", lambda: in_job(flags=0x8), "packed anew")
    yield Hostile("zip-entry-comment", lambda: in_job(comment=b"hello"), "has a comment")
    yield Hostile("zip-extra-cut", lambda: in_job(extra=b"\1\2\3"), "another size or name")
    yield Hostile("zip-stored-sizes", lambda: in_job(method=STORED, size=3), "two sizes differ")
    yield Hostile(
        "zip-deflate-more", lambda: in_job(packed=deflated(b'{"time": 1, "kind": "done"}\n') + b"more"), "not what its headers say"
    )
    yield Hostile("zip-deflate-cut", lambda: in_job(packed=deflated(b'{"time": 1, "kind": "done"}\n')[:-4]), "not what its headers say")
    yield Hostile("zip-deflate-broken", lambda: in_job(packed=b"\xff" * 20), "cannot be unpacked")
    yield Hostile("no-zip-empty", lambda: b"", "no zip archive")
    yield Hostile("no-zip-no-entries", lambda: archive([]), "no manifest.json")
    yield Hostile("no-zip-tar", a_tar, "no zip archive")
    yield Hostile("no-zip-pickle", lambda: pickle.dumps(Trap()), "no zip archive")


def a_tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        tar.addfile(tarfile.TarInfo("../outside"))
    return out.getvalue()


def manifests() -> Iterator[Hostile]:
    """Manifests that lie."""

    def lying(**changes: Any) -> bytes:
        told = job(sound())
        return archive([manifest(told | changes), *parts_of(sound())])

    listed = job(sound())["files"]
    yield Hostile("manifest-missing", lambda: archive(parts_of(sound())), "no manifest.json")
    yield Hostile("manifest-no-json", lambda: archive([Part("manifest.json", b"not json")]), "is no JSON")
    yield Hostile("manifest-a-list", lambda: archive([Part("manifest.json", b"[]")]), "no JSON object")
    yield Hostile("manifest-newer", lambda: archive([manifest(job(sound()), schema_version=2)]), "version 2")
    yield Hostile("manifest-other-keys", lambda: archive([manifest(job(sound()), run="rm -rf /")]), "does not describe")
    yield Hostile("manifest-no-jobs", lambda: archive([manifest()]), "does not describe")
    yield Hostile("manifest-kind", lambda: lying(kind="shell"), "does not describe")
    yield Hostile("manifest-id", lambda: lying(id="../../demo"), "does not describe")
    yield Hostile("manifest-job-twice", lambda: archive([manifest(job(sound()), job(sound())), *parts_of(sound())]), "same name")
    yield Hostile("manifest-file-twice", lambda: lying(files=[*listed, listed[0]]), "same name")
    yield Hostile("manifest-path", lambda: lying(files=[*listed, {**listed[0], "path": "../../outside"}]), "not in the archive")
    yield Hostile("manifest-lacks-a-file", lambda: lying(files=listed[:1]), "is not in the manifest")
    yield Hostile("manifest-has-more", lambda: lying(files=[*listed, {**listed[0], "path": "origin.json"}]), "not in the archive")
    yield Hostile("manifest-checksum", lambda: lying(files=[listed[0] | {"sha256": "0" * 64}, listed[1]]), "checksum differs")
    yield Hostile("manifest-size", lambda: lying(files=[listed[0] | {"size": 1}, listed[1]]), "another size")
    yield Hostile("manifest-no-task", lambda: bundle({"state.json": sound()["state.json"]}), "has no session.json")


def contents() -> Iterator[Hostile]:
    """Files that are not what they seem, or that no job has."""
    code, no_file = "could run code", "is no file that a session has"
    trap = pickle.dumps(Trap())
    listed = (
        ("model.pkl", trap, code),
        ("stages/00/policy/optimizer.pt", trap, code),
        ("stages/00/policy/pytorch_model.bin", trap, code),
        ("stages/00/policy/training_args.bin", trap, code),
        ("stages/00/policy/modeling.py", b"import os", code),
        ("run.sh", b"rm -rf /", code),
        ("stages/00/policy/rng_state.pth", trap, code),
        ("stages/00/policy/trainer_state.json", b"{}", no_file),
        ("report.html", b"<script>", "of no kind"),
        ("picture.svg", b"<svg onload=x>", "of no kind"),
        ("worker.log", b"/home/me", "of no kind"),
        (".worker.lock", b"", "of no kind"),
        ("stop", b"", "of no kind"),
        (".env", b"KEY=1", "of no kind"),
        ("secrets.toml", b"", "of no kind"),
        ("imported.json", b'{"own": true}', no_file),
        ("stages/00/more/session.json", b"{}", no_file),
        ("stages/1/context.json", b"{}", no_file),
        ("origin.json", b"\xff\xfe{}", "is no JSON"),
        ("origin.json", b"[1, 2]", "no JSON object"),
        ("origin.json", trap, "is no JSON"),
        ("events.jsonl", b'{"time": 1}\n{"cut', "is no JSON"),
        ("events.jsonl", b"[]\n", "no JSON object"),
        ("state.json", b'{"status": "running", "pid": 1, "create_time": 1}', "a worker has the job"),
        ("state.json", b'{"status": "queued"}', "a worker has the job"),
        ("state.json", b'{"status": "done", "pid": 1}', "names a process"),
        ("state.json", b'{"status": "done", "host": "lab-pc"}', "names a process or a machine"),
        ("session.json", b"{}", "cannot be opened"),
        ("session.json", spec(schema_version=3), "of a newer version"),
        ("session.json", spec(policy="/home/me/model"), "a place on the disk"),
        ("session.json", spec(policy="../../model"), "a place on the disk"),
        ("session.json", spec(policy="~/model"), "a place on the disk"),
        ("session.json", spec(policy="C:\\model"), "a place on the disk"),
        ("session.json", spec(engineer=server(key_variable="AWS_SECRET_ACCESS_KEY")), "cannot be opened"),
        ("session.json", spec(engineer=server(base_url="http://me:word@evil.test/v1")), "cannot be opened"),
        ("session.json", spec(engineer=server(base_url="file:///etc/passwd")), "cannot be opened"),
    )
    for number, (path, data, why) in enumerate(listed):
        label = f"content-{number}-{path.replace('/', '-')}"
        yield Hostile(label, lambda path=path, data=data: with_file(path, data), why)
    replay = {"title": "x", "session": "demo", "stage": 0, "arms": [{"name": "a"}], "folder": "/etc"}
    yield Hostile("content-replay-folder", lambda: bundle({"task.json": json.dumps(replay).encode()}, "replay"), "a place on the disk")
    yield Hostile("content-cell", lambda: with_file("cells/../x/session.json", b"{}", "study", {"study.json": b"{}"}), "leads out")
    yield Hostile("content-csv-nul", lambda: with_file("cells.csv", b"a\0b", "evaluation", {"report.json": b"{}"}), "is no text")
    good = table({"a": list(range(1000))})
    yield Hostile("table-no-table", lambda: with_table(b"hello, world"), "no table")
    yield Hostile("table-encrypted", lambda: with_table(b"PARE" + good[4:-4] + b"PARE"), "no table")
    yield Hostile("table-cut", lambda: with_table(good[: len(good) // 2] + good[-8:]), "cannot be read")
    yield Hostile("table-footer", lambda: with_table(good[:-8] + struct.pack("<I", 2**31) + b"PAR1"), "has a description of")
    yield Hostile("table-noise", lambda: with_table(good[:30] + bytes(i * 7 % 256 for i in range(200)) + good[230:]), "cannot be read")
    yield Hostile("table-nested", lambda: with_table(table({"a": [[[1]]]})), "column of the type")
    yield Hostile("table-binary", lambda: with_table(table({"a": [trap]})), "column of the type")
    yield Hostile("arrays-pickle", lambda: headroom(arrays(products=np.array([Trap()], dtype=object))), "a pickle")
    yield Hostile("arrays-no-archive", lambda: headroom(trap), "cannot be read")
    yield Hostile("arrays-path", arrays_elsewhere, "something else than arrays")
    yield Hostile("arrays-lie", arrays_lie, "larger than its data")
    yield Hostile("weights-pickle", lambda: with_weights(trap), "no weights in it")
    yield Hostile("weights-header", lambda: with_weights(tensors(b"{}", length=2**60)), "no weights in it")
    yield Hostile("weights-brackets", lambda: with_weights(tensors(b'{"a":' * 100 + b"1" + b"}" * 100)), "brackets within")
    beyond = b'{"a":{"dtype":"F32","shape":[1000000000],"data_offsets":[0,4000000000]}}'
    yield Hostile("weights-beyond", lambda: with_weights(tensors(beyond, bytes(4))), "cannot be read")


def arrays_elsewhere() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as inner:
        inner.writestr("../outside.npy", b"x")
    return headroom(out.getvalue())


def arrays_lie() -> bytes:
    out, array = io.BytesIO(), io.BytesIO()
    np.lib.format.write_array_header_1_0(array, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    with zipfile.ZipFile(out, "w") as inner:
        inner.writestr("products.npy", array.getvalue())
    return headroom(out.getvalue())


def server(**changes: str) -> dict[str, str]:
    return {"kind": "api", "base_url": "https://evil.test/v1", "model": "m"} | changes


CORPUS = [*names(), *kinds(), *bombs(), *structures(), *manifests(), *contents()]
