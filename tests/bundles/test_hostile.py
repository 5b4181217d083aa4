"""No file of a stranger gets anything past its report: it is refused with the reason, and nothing outside is touched or asked."""

from __future__ import annotations

import io
import json
import pickle
import resource
import socket
import stat
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from frozenlab.experiments.bundles import limits
from frozenlab.experiments.bundles.importing import take_in
from frozenlab.experiments.bundles.layout import BundleError
from frozenlab.experiments.bundles.reading import opened
from frozenlab.session.store import SessionStore
from tests.bundles.archives import STORED, Part, archive, bundle, deflated, job, manifest, parts_of, sound

MEMORY = 1024 * 1024
"""Kilobytes beyond what this process holds that it, and any that it starts, may use; other tests may have used more before."""
TARGET = "/tmp/outside-of-everything"
EVENTS = b'{"time": 1, "kind": "done"}\n'


class Trap:
    """What would run if it was unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (TARGET, "w")


TRAP = pickle.dumps(Trap())


def has(path: str, data: bytes) -> bytes:
    """A sound session with one more file, which the manifest lists truly; or with another content of one of its own."""
    return bundle(sound() | {path: data})


def beside(*parts: Part, **end: int) -> bytes:
    """A sound session, and entries that the manifest does not list."""
    return bundle(sound(), more=parts, **end)


def entry(**changes: Any) -> bytes:
    """A sound session whose file of events is an entry with these fields."""
    part = Part(**({"name": "sessions/demo/events.jsonl", "data": EVENTS} | changes))
    return archive([manifest(job(sound() | {"events.jsonl": EVENTS})), *parts_of(sound()), part])


def around(folder: str, *more: Part, sign: str = "/") -> bytes:
    """A sound session, and more, with a folder around it and a sign between the names of folders."""
    parts = [part._replace(name=folder + part.name) for part in (manifest(job(sound())), *parts_of(sound()))]
    return archive([part._replace(name=part.name.replace("/", sign)) for part in (*parts, *more)])


def lying(**changes: Any) -> bytes:
    """A sound session of which the manifest says something else."""
    return archive([manifest(job(sound()) | changes), *parts_of(sound())])


def spec(**changes: Any) -> bytes:
    return has("session.json", json.dumps(json.loads(sound()["session.json"]) | changes).encode())


def api(**changes: str) -> bytes:
    return spec(engineer={"kind": "api", "base_url": "https://evil.test/v1", "model": "m"} | changes)


def replay(**changes: Any) -> bytes:
    task = {"title": "x", "session": "demo", "stage": 0, "arms": [{"name": "a"}]} | changes
    return bundle({"task.json": json.dumps(task).encode()}, "replay")


def table(columns: Any, **options: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, **options)
    return has("baseline/validation.parquet", out.getvalue())


def arrays(data: bytes) -> bytes:
    return bundle({"task.json": b"{}", "influence-0.npz": data}, "headroom")


def inner_zip(name: str, data: bytes) -> bytes:
    return archive([Part(name, data, STORED)])


def weights(data: bytes) -> bytes:
    return has("stages/00/policy/model.safetensors", data)


def overlapping() -> bytes:
    """Two entries that share the data of one, of which there could be thousands."""
    data = Part("a.json", bytes(50), STORED)
    return archive([manifest(job(sound())), data, data._replace(name="b.json", begin=0)])


def large_directory() -> bytes:
    """A comment in the directory that an archive of the large form would have at its end; it can name a directory of any size."""
    end = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, 2**40, 0)
    return beside(Part("x.json", comment=end + struct.pack("<4sLQL", b"PK\6\7", 0, 0, 1)))


def dictionary_bomb() -> bytes:
    """One long word in a dictionary, and a million rows that name it."""
    words = pa.DictionaryArray.from_arrays(pa.array(np.zeros(limits.ROWS // 2, dtype=np.int8)), pa.array(["x" * 2**16]))
    return table({"a": words.cast(pa.dictionary(pa.int32(), pa.string()))}, store_schema=False)


def page_bomb() -> bytes:
    """Groups of rows that are small on the disk and large in memory, one after the other."""
    out, group = io.BytesIO(), pa.table({"a": ["x" * 2**20] * 64})
    with pq.ParquetWriter(out, group.schema, compression="zstd", use_dictionary=False) as writer:
        for _ in range(1 + limits.IN_MEMORY // (64 * limits.MB)):
            writer.write_table(group)
    return has("baseline/validation.parquet", out.getvalue())


def array_bomb() -> bytes:
    """Arrays whose directory announces four gigabytes."""
    out = io.BytesIO()
    np.savez_compressed(out, products=np.zeros(9))
    data = bytearray(out.getvalue())
    struct.pack_into("<L", data, data.rindex(b"PK\1\2") + 24, 0xFFFFFFF0)
    return arrays(bytes(data))


def objects() -> bytes:
    out = io.BytesIO()
    np.savez(out, products=np.array([Trap()], dtype=object))
    return out.getvalue()


def lying_array() -> bytes:
    """The header of an array of eight terabytes, without its data."""
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    return inner_zip("products.npy", out.getvalue())


def mode(kind: int) -> int:
    return (kind | 0o777) << 16


MANY = limits.UNPACKED // limits.MB + 1
BEYOND = b'{"a":{"dtype":"F32","shape":[1000000000],"data_offsets":[0,4000000000]}}'
HOSTILE: tuple[tuple[str, Callable[[], bytes], str], ...] = (
    ("traversal", lambda: beside(Part("sessions/demo/../../../outside", b"{}")), "leads out of its folder"),
    ("absolute", lambda: beside(Part(TARGET, b"{}")), "leads to a fixed place"),
    ("folder-with-data", lambda: beside(Part("sessions/demo/x/", b"{}")), "is a link, a folder or a device"),
    ("folder-that-is-a-link", lambda: beside(Part("sessions/x/", attributes=mode(stat.S_IFLNK))), "is a link, a folder or a device"),
    ("around-up", lambda: around("../"), "no manifest.json"),
    ("twice-by-tar", lambda: beside(Part("./sessions/demo/session.json", b"{}")), "more than once"),
    ("around-root", lambda: around("/"), "no manifest.json"),
    ("around-and-beside", lambda: around("lab/", Part("other/x.json", b"{}")), "no manifest.json"),
    ("around-all-windows-up", lambda: around("lab/", Part("lab/../../x.json", b"{}"), sign="\\"), "leads out of its folder"),
    ("backslash", lambda: beside(Part("..\\..\\outside", b"{}")), "leads to a fixed place"),
    ("nul", lambda: beside(Part("sessions/demo/session.json\0.txt", b"{}")), "cannot be shown"),
    ("right-to-left", lambda: beside(Part("sessions/demo/\u202egpj.json", b"{}")), "cannot be shown"),
    ("long-name", lambda: beside(Part("x" * 300 + ".json", b"{}")), "more than 240 letters"),
    ("twice", lambda: beside(Part("sessions/demo/session.json", b"{}")), "more than once"),
    ("other-case", lambda: beside(Part("sessions/demo/SESSION.json", b"{}")), "more than once"),
    ("manifest-twice", lambda: beside(manifest(job(sound()))), "more than once"),
    ("link", lambda: entry(attributes=mode(stat.S_IFLNK)), "is a link"),
    ("pipe", lambda: entry(attributes=mode(stat.S_IFIFO)), "is a link, a folder or a device"),
    ("ratio", lambda: entry(data=bytes(8 * limits.MB)), "more than 200 times"),
    ("more-than-announced", lambda: entry(packed=deflated(bytes(4 * limits.MB))), "cannot be unpacked"),
    ("overlapping", overlapping, "overlap"),
    ("many-small", lambda: archive([Part(f"{i}", size=limits.MB, packed=b"x" * 6000) for i in range(MANY)]), "would unpack to more"),
    ("too-many", lambda: archive([Part(str(i)) for i in range(limits.ENTRIES + 1)]), "at most 20,000 files"),
    ("large-directory", large_directory, "the large form"),
    ("directory-size", lambda: bundle(sound(), size=0xFFFFFFFF), "at most 20,000 files"),
    ("bytes-before", lambda: b"GIF89a<html>" + bundle(sound()), "is not sound"),
    ("entry-elsewhere", lambda: entry(extra=struct.pack("<2HQ", 1, 8, 2**63), begin=0xFFFFFFFF), "is not sound"),
    ("extra-cut", lambda: entry(extra=struct.pack("<2H", 1, 99)), "is not sound"),
    ("local-name", lambda: entry(local_name="sessions/demo/../../x.jsonl"), "cannot be unpacked"),
    ("checksum", lambda: entry(crc=1), "cannot be unpacked"),
    ("broken", lambda: entry(packed=b"\xff" * 20), "cannot be unpacked"),
    ("encrypted", lambda: entry(flags=0x1), "is encrypted"),
    ("lzma", lambda: entry(method=14), "neither stored nor deflate"),
    ("no-archive", lambda: TRAP, "no zip archive"),
    ("manifest-missing", lambda: archive(parts_of(sound())), "no manifest.json"),
    ("manifest-brackets", lambda: archive([Part("manifest.json", b'{"jobs":' * 5000 + b"1" + b"}" * 5000)]), "brackets"),
    ("manifest-large", lambda: archive([Part("manifest.json", b" " * (limits.MANIFEST + 1), STORED)]), "more than 8 MB"),
    ("manifest-newer", lambda: archive([manifest(job(sound()), schema_version=2)]), "version 2"),
    ("manifest-id", lambda: lying(id="../../demo"), "does not describe"),
    ("manifest-path", lambda: lying(files=[job(sound())["files"][0] | {"path": "../../outside"}]), "not in the archive"),
    ("manifest-lacks-a-file", lambda: lying(files=job(sound())["files"][:1]), "is not in the manifest"),
    ("manifest-checksum", lambda: lying(files=[one | {"sha256": "0" * 64} for one in job(sound())["files"]]), "checksum differs"),
    ("manifest-size", lambda: lying(files=[one | {"size": 1} for one in job(sound())["files"]]), "another size"),
    ("manifest-job-twice", lambda: archive([manifest(job(sound()), job(sound())), *parts_of(sound())]), "same name"),
    ("archive-in-archive", lambda: beside(Part("sessions/demo/more.zip", bundle(sound()))), "archive in the archive"),
    ("pickle", lambda: has("stages/00/policy/optimizer.pt", TRAP), "could run code"),
    ("own-mark", lambda: has("imported.json", b'{"own": true}'), "is no file that a session has"),
    ("no-task", lambda: bundle({"state.json": sound()["state.json"]}), "has no session.json"),
    ("json-pickle", lambda: has("origin.json", TRAP), "is no JSON"),
    ("json-deep", lambda: has("origin.json", b'{"a":' * 100 + b"1" + b"}" * 100), "brackets within"),
    ("json-deeper", lambda: has("origin.json", b'{"a":' + b"[" * 90_000 + b"]" * 90_000 + b"}"), "brackets within"),
    ("json-values", lambda: has("origin.json", b'{"a":[' + b"0," * 1_000_001 + b"0]}"), "values"),
    ("json-digits", lambda: has("origin.json", b'{"a":' + b"9" * 10_000 + b"}"), "thousands of digits"),
    ("json-large", lambda: has("origin.json", b'{"a":"' + b"x" * limits.SIZES["json"] + b'"}'), "more than 16 MB"),
    ("lines", lambda: has("events.jsonl", b"{}\n" * (limits.LINES + 1)), "lines"),
    ("state-running", lambda: has("state.json", b'{"status": "running", "pid": 1}'), "a worker has the job"),
    ("state-process", lambda: has("state.json", b'{"status": "done", "pid": 1}'), "names a process"),
    ("spec-newer", lambda: spec(schema_version=4), "of a newer version"),
    ("spec-path", lambda: spec(policy="/home/me/model"), "a place on the disk"),
    ("spec-student-up", lambda: spec(policy="student:../../model"), "a place on the disk"),
    ("spec-key", lambda: api(key_variable="AWS_SECRET_ACCESS_KEY"), "cannot be opened"),
    ("spec-file", lambda: api(base_url="file:///etc/passwd"), "cannot be opened"),
    ("replay-folder", lambda: replay(folder="/etc"), "a place on the disk"),
    ("table-none", lambda: has("baseline/validation.parquet", b"PARE" + bytes(99) + b"PARE"), "cannot be read"),
    ("table-rows", lambda: table({"a": pa.nulls(limits.ROWS + 1)}), "rows"),
    ("table-columns", lambda: table({f"c{i}": [1] for i in range(limits.COLUMNS + 1)}), "columns"),
    ("table-binary", lambda: table({"a": [TRAP]}), "column of the type"),
    ("table-dictionary", dictionary_bomb, "columns of more than"),
    ("table-pages", page_bomb, "of more than"),
    ("arrays-pickle", lambda: arrays(objects()), "a pickle"),
    ("arrays-path", lambda: arrays(inner_zip("../outside.npy", b"x")), "something else than arrays"),
    ("arrays-lie", lambda: arrays(lying_array()), "larger than its data"),
    ("arrays-large", array_bomb, "unpacks to more"),
    ("weights-pickle", lambda: weights(TRAP), "no weights in it"),
    ("weights-beyond", lambda: weights(struct.pack("<Q", len(BEYOND)) + BEYOND + bytes(4)), "cannot be read"),
)
"""Name, what makes the file, and words of the reason for which it is refused."""


def most_used() -> tuple[int, int]:
    """The most kilobytes that this process has used, and that any of those it started has used, so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


def everything(root: Path) -> dict[str, bytes | None]:
    """All that lies below, but for what locks a launch."""
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else None
        for path in sorted(root.rglob("*"))
        if path.name != ".launch.lock"
    }


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*asked: object) -> NoReturn:
        raise AssertionError(f"a request left: {asked}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.parametrize(("make", "why"), [pytest.param(make, why, id=name) for name, make, why in HOSTILE])
def test_it_is_refused_and_nothing_is_written(make: Callable[[], bytes], why: str, tmp_path: Path, no_network: None) -> None:
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "precious").write_text("as it was")
    sessions = tmp_path / "lab" / "sessions"
    (sessions / "own").mkdir(parents=True)
    (sessions / "own" / "session.json").write_bytes(sound()["session.json"])
    file = tmp_path / "given.zip"
    file.write_bytes(make())
    before, used, held = everything(tmp_path), most_used(), psutil.Process().memory_info().rss // 1024
    try:
        with opened(file, SessionStore(sessions)) as bundle:
            reasons = [str(refusal) for refusal in bundle.refusals]
            taken = take_in(bundle, SessionStore(sessions))
    except BundleError as error:
        reasons, taken = [str(error)], []
    assert any(why in reason for reason in reasons), reasons
    assert all(reason.isprintable() and len(reason) < 800 for reason in reasons)
    imported = {f"lab/sessions/{job.id}" for job in taken}
    assert imported <= {"lab/sessions/demo"}, "a sound job beside a foreign entry may come in"
    after = {name: data for name, data in everything(tmp_path).items() if not name.startswith("lab/sessions/demo")}
    assert after == before
    assert {*everything(sessions / "demo")} <= {"session.json", "state.json", "labels.json", "imported.json"}
    assert not Path(TARGET).exists()
    assert all(now <= max(earlier, held + MEMORY) for now, earlier in zip(most_used(), used, strict=True))


FOLDERS = tuple(Part(name, method=STORED, attributes=(stat.S_IFDIR | 0o755) << 16 | 0x10) for name in ("sessions/", "sessions/demo/"))
SOUND: dict[str, Callable[[], bytes]] = {
    "as it was packed": lambda: bundle(sound()),
    "zip-r": lambda: beside(*FOLDERS),
    "wrapped": lambda: around("my lab (1)/", *(part._replace(name=f"my lab (1)/{part.name}") for part in FOLDERS)),
    "finder": lambda: around("lab/", Part("__MACOSX/lab/._manifest.json", b"x"), Part("lab/.DS_Store", b"x"), Part("lab/sessions/._demo")),
    "windows": lambda: around("", Part("sessions/", attributes=0x10), Part("sessions/demo/Thumbs.db", b"x"), sign="\\"),
    "windows-wrapped": lambda: around("lab/", Part("lab/desktop.ini", b"x"), sign="\\"),
    "tar": lambda: around("./", Part("./", method=STORED, attributes=(stat.S_IFDIR | 0o755) << 16)),
    "stored": lambda: archive([part._replace(method=STORED) for part in (*parts_of(sound()), manifest(job(sound())))]),
}


@pytest.mark.parametrize("make", SOUND.values(), ids=SOUND)
def test_a_sound_one_is_imported_even_if_another_tool_has_packed_it_again(make: Callable[[], bytes], tmp_path: Path) -> None:
    """Or the others would be refused for the wrong reasons."""
    file, store = tmp_path / "given.zip", SessionStore(tmp_path / "sessions")
    file.write_bytes(make())
    with opened(file, store) as found:
        assert not found.refusals
        assert [job.id for job in take_in(found, store)] == ["demo"]
    assert {path.name for path in (store.root / "demo").iterdir()} <= {"session.json", "state.json", "labels.json", "imported.json"}
