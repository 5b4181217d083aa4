"""Jobs as one file: the same bytes each time, nothing of the machine, the same files on the other side, and read-only there."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from frozenlab.base.files import append_line, write_parquet, write_text
from frozenlab.base.places import ASSETS, SESSIONS
from frozenlab.cli.main import main
from frozenlab.engineer.schema import Proposal
from frozenlab.experiments.bundles.cleaning import cleaned, cleaned_json
from frozenlab.experiments.bundles.found import Found, find, needs
from frozenlab.experiments.bundles.importing import TAG, ids, take_in
from frozenlab.experiments.bundles.layout import FILES, BundleError, allowed
from frozenlab.experiments.bundles.reading import opened
from frozenlab.experiments.bundles.writing import export, files_of, size_of
from frozenlab.experiments.references import references, with_names
from frozenlab.experiments.shelf import shelf
from frozenlab.jobs.imported import ImportedError, imported, make_own
from frozenlab.jobs.job import KINDS
from frozenlab.jobs.launcher import LaunchError, check_folder
from frozenlab.jobs.worker import work_on
from frozenlab.models.training.checkpoints import SEAL, checksum, damage
from frozenlab.session.catalog import Labels
from frozenlab.session.forks import fork
from frozenlab.session.launch import check_resumable
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore
from tests.builders import build_session, small_spec
from tests.cli.calls import answer, reason

PLACE = "/home/somebody else/lab"
KEY = "sk-very-secret-0123456789"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SessionStore:
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path / "here"))
    (tmp_path / "here").mkdir()
    return SessionStore(tmp_path / "here")


@pytest.fixture
def elsewhere(tmp_path: Path) -> SessionStore:
    (tmp_path / "there").mkdir()
    return SessionStore(tmp_path / "there")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("built")
    build_session(root, small_spec(stages=2, sizes=(3, 4), boards_per_size=4), "demo")
    return root


@pytest.fixture
def session(store: SessionStore, built: Path) -> Session:
    shutil.copytree(built / "demo", store.root / "demo")
    return store.open("demo")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out.zip"


def change(path: Path, **fields: object) -> None:
    """Write other values of some fields into a JSON file."""
    write_text(path, json.dumps(json.loads(path.read_text()) | fields))


def there(store: SessionStore, file: Path) -> list[Found]:
    """Import everything."""
    with opened(file, store) as bundle:
        assert not bundle.refusals, [str(refusal) for refusal in bundle.refusals]
        return take_in(bundle, store)


def test_every_kind_of_job_has_its_files() -> None:
    assert set(FILES) == set(KINDS)
    assert all(allowed(kind.name, kind.task) for kind in KINDS.values())


def test_a_session_comes_back_with_the_same_bytes(
    store: SessionStore, elsewhere: SessionStore, session: Session, out: Path, tmp_path: Path
) -> None:
    shelf.label(session, Labels(title="Mine", tags=("talk",), notes="for Tuesday", archived=True))
    exported = export([find("demo", store)], out)
    assert not exported.left_out
    export([find("demo", store)], tmp_path / "two.zip")
    assert out.read_bytes() == (tmp_path / "two.zip").read_bytes()
    (job,) = there(elsewhere, out)
    originals = {path.relative_to(session.dir) for path in files_of(Found("session", session.dir), weights=True)}
    copies = {path.relative_to(job.folder) for path in job.folder.rglob("*") if path.is_file()}
    assert copies - originals == {Path("imported.json")} and originals <= copies
    differing = {str(path) for path in originals if (session.dir / path).read_bytes() != (job.folder / path).read_bytes()}
    assert differing <= {"state.json", "labels.json"}
    copy = elsewhere.open("demo")
    assert copy.labels == Labels(title="Mine", tags=(TAG, "talk"), notes="for Tuesday")
    assert copy.rates() == session.rates() and not copy.problems
    assert [entry.folder.name for entry in elsewhere.listed() if not entry.recorded] == ["demo"]


def test_what_ships_comes_back_with_the_same_bytes(store: SessionStore, elsewhere: SessionStore, out: Path) -> None:
    """A session with weights, replays, results and measurements."""
    sources = {"session:x": SESSIONS / "example-quick-kept"}
    for kind in ("replay", "evaluation", "headroom"):
        sources |= {f"{kind}:{folder.name}": folder for folder in sorted((ASSETS / KINDS[kind].place).iterdir())[:2]}
    jobs = []
    for name, folder in sources.items():
        kind, _, job_id = name.partition(":")
        target = shutil.copytree(folder, store.root / KINDS[kind].place / job_id)
        jobs.append(find(name, store))
        assert jobs[-1].folder == target
    export(jobs, out, weights=True)
    copies = {job.folder.name: job.folder for job in there(elsewhere, out)}
    assert len(copies) == len(jobs)
    for name, folder in sources.items():
        for path in folder.rglob("*"):
            if path.is_file() and path.name != "state.json":
                assert (copies[name.partition(":")[2]] / path.relative_to(folder)).read_bytes() == path.read_bytes()


def test_no_path_and_no_key_leaves_the_machine(
    store: SessionStore, elsewhere: SessionStore, session: Session, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/somebody else")
    monkeypatch.setenv("MY_API_KEY", KEY)
    change(session.dir / "session.json", title=f"run of {KEY}")
    append_line(session.dir / "events.jsonl", {"time": 1.8e9, "kind": "failed", "why": f"The disk is full, in {PLACE}/demo. Key {KEY}"})
    change(session.dir / "state.json", error=f"{PLACE}/x broke", pid=77, create_time=1.0, host="my-laptop")
    table = pd.read_parquet(session.stage_dir(0) / "completions.parquet")
    table["completion"] = f"see {store.root}/demo/worker.log, or " + table["completion"]
    write_parquet(session.stage_dir(0) / "completions.parquet", table)
    proposal = Proposal(summary=f"as in {PLACE}/notes.txt", config=session.spec.initial_config)
    write_text(session.stage_dir(1) / "given.json", proposal.model_dump_json())
    for name in ("worker.log", ".worker.lock", ".env", "secrets.toml", "notes.txt"):
        (session.dir / name).write_text(f"{KEY} {PLACE}")
    exported = export([find("demo", store)], out)
    assert {*exported.manifest.jobs[0].changed} == {
        "session.json", "events.jsonl", "state.json", "stages/00/completions.parquet", "stages/01/given.json",
    }  # fmt: skip
    there(elsewhere, out)
    words = "".join(pd.read_parquet(path).to_string() for path in elsewhere.root.rglob("*.parquet"))
    words += "".join(path.read_text() for path in elsewhere.root.rglob("*") if path.suffix in (".json", ".jsonl"))
    for word in (KEY, "somebody", str(store.root), "my-laptop", '"pid": 77'):
        assert word not in words
    assert "[MY_API_KEY]" in words and "not/here/notes.txt" in words and "not/here/worker.log, or " in words
    assert not list(elsewhere.root.rglob("*.log")) and not list(elsewhere.root.rglob(".env"))


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("cannot be read: /tmp/x/a.json: no", "cannot be read: not/here/a.json: no"),
        ("C:\\Users\\me\\m.json is torn", "not/here/m.json is torn"),
        (
            "valid/optimal 3/4, <a></tmp/x>, http://host/home/x and /no_think",
            "valid/optimal 3/4, <a></tmp/x>, http://host/home/x and /no_think",
        ),
        ("file:///home/me/x", "not/here/x"),
    ],
)
def test_paths_are_replaced_and_words_are_not(text: str, clean: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)  # the user of a container, without a name
    assert cleaned(text, {}) == clean
    assert cleaned_json({"a": [text]}, {}) == {"a": [clean]}


def test_a_cleaned_checkpoint_has_a_new_seal(
    store: SessionStore, elsewhere: SessionStore, session: Session, out: Path, tmp_path: Path
) -> None:
    policy = session.stage_dir(1) / "policy"
    shutil.copytree(ASSETS / "lab-model", policy)
    (policy / "README.md").write_text(f"base_model: {tmp_path}/base")  # as PEFT writes it
    change(policy / "config.json", _name_or_path=str(tmp_path / "base"))
    (policy / "optimizer.pt").write_bytes(b"never exported")
    write_text(policy / SEAL, json.dumps({path.name: checksum(path) for path in policy.iterdir() if path.name != SEAL}))
    assert damage(policy) is None
    export([find("demo", store)], out, weights=True)
    export([find("demo", store)], tmp_path / "without.zip")
    there(elsewhere, out)
    copy = elsewhere.open("demo").stage_dir(1) / "policy"
    assert damage(copy) is None and not (copy / "optimizer.pt").exists()
    assert json.loads((copy / "config.json").read_text())["_name_or_path"] == "not/here/base"
    assert (copy / "README.md").read_text() == "base_model: not/here/base"
    assert (tmp_path / "without.zip").stat().st_size < 1e6 < out.stat().st_size


def test_nothing_runs_in_an_imported_session_until_it_is_made_ones_own(
    store: SessionStore, elsewhere: SessionStore, session: Session, out: Path
) -> None:
    change(session.dir / "state.json", status="stopped")
    export([find("demo", store)], out)
    there(elsewhere, out)
    copy = elsewhere.open("demo")
    assert copy.read_only and "out.zip" in str(copy.why_read_only)
    for refused in (
        lambda: check_folder(copy), lambda: check_resumable(copy), lambda: fork(copy, 0, elsewhere, "branch"),
        lambda: work_on(copy), lambda: shelf.label(copy, Labels(title="x")),
    ):  # fmt: skip
        with pytest.raises((LaunchError, ImportedError, shelf.ShelfError), match=r"imported on .* and is not yours yet"):
            refused()
    make_own(copy.dir)
    assert not elsewhere.open("demo").read_only
    check_folder(copy), check_resumable(copy)
    assert imported(copy.dir) is not None, "where it comes from stays known"
    with pytest.raises(ImportedError, match="was made here"):
        make_own(session.dir)


def test_an_imported_session_can_be_deleted(store: SessionStore, elsewhere: SessionStore, session: Session, out: Path) -> None:
    export([find("demo", store)], out)
    there(elsewhere, out)
    shelf.delete(elsewhere.open("demo"), elsewhere)
    assert [session.id for session in shelf.in_trash(elsewhere)] == ["demo"]


def test_a_mark_that_cannot_be_read_still_marks(session: Session) -> None:
    (session.dir / "imported.json").write_text("{")
    assert Session(session.dir).read_only


def test_taken_ids_give_way_and_jobs_of_a_bundle_still_find_each_other(
    store: SessionStore, elsewhere: SessionStore, session: Session, out: Path
) -> None:
    task = shutil.copytree(ASSETS / "replays" / "engineers", store.root / "replays" / "asked") / "task.json"
    change(task, session="demo", folder=f"{PLACE}/demo")
    assert [(need.kind, need.name) for need in needs(find("asked", store))] == [("session", "demo")]
    export([find("asked", store), find("demo", store)], out)
    assert [job.id for job in there(elsewhere, out)] == ["asked", "demo"]
    with opened(out, elsewhere) as bundle:
        assert all(job.here for job in bundle.jobs) and not bundle.sound, "the same again is nothing to import"
    change(elsewhere.root / "demo" / "session.json")
    shutil.rmtree(elsewhere.root / "replays" / "asked")
    with opened(out, elsewhere) as bundle:
        assert next(needed for job in bundle.jobs for needed in job.needs)[1] == "in this file"
        taken = take_in(bundle, elsewhere)
    assert [job.id for job in taken] == ["asked", "demo-2"]
    assert json.loads(taken[0].task.read_text()) == json.loads(task.read_text()) | {"session": "demo-2", "folder": None}


def test_references_are_known_by_their_fields_and_can_be_renamed() -> None:
    students, fork = ["lab-model", "student:weak", "/models/mine"], {"policy": "lab-model", "parent": {"session": "demo"}}
    arm = {"name": "oracle", "configs": {"student:weak": {}, "*": {}}}
    study = {"title": "demo", "students": students, "session": fork, "arms": [arm]}
    assert references(study, "study") == {("student", "weak"), ("model", "/models/mine"), ("session", "demo")}
    assert references({"students": ["weak"]}, "diagnosis") == {("student", "weak")}
    renamed = with_names(study, "study", lambda ref: f"{ref.name}-2")
    assert renamed["title"] == "demo" and renamed["session"]["parent"] == {"session": "demo-2"}
    assert renamed["students"][:2] == ["lab-model", "student:weak-2"] and [*renamed["arms"][0]["configs"]] == ["student:weak-2", "*"]


def test_no_import_passes_for_a_recorded_session(store: SessionStore, out: Path) -> None:
    assert next(ids("session", "example-quick")) == "imported-quick"
    export([find("example-quick-kept", store)], out)
    assert [job.id for job in there(store, out)] == ["imported-quick-kept"]
    assert store.open("imported-quick-kept").read_only
    with opened(out, store) as bundle:
        assert [job.facts.split(", ")[2] for job in bundle.jobs] == ["is here already as imported-quick-kept"] and not bundle.sound


def test_a_running_job_and_a_damaged_one(store: SessionStore, session: Session, out: Path, tmp_path: Path) -> None:
    (session.stage_dir(0) / "context.json").write_text("{torn")
    (session.dir / "link").symlink_to(tmp_path)
    with pytest.raises(ValueError, match="holds a link"):
        export([find("demo", store)], out)
    (session.dir / "link").unlink()
    exported = export([find("demo", store)], out)
    assert [left.path for left in exported.left_out] == ["stages/00/context.json"]
    change(session.dir / "state.json", status="queued", pid=None, host="lab-pc")
    with pytest.raises(BundleError, match="session demo is running"):
        export([find("demo", store)], tmp_path / "again.zip")
    assert not (tmp_path / "again.zip").exists()


def test_the_command_line(store: SessionStore, session: Session, out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "jobs", "export", "demo", "--out", str(out))["jobs"][0]["id"] == "demo"
    assert "exists already" in reason(capsys, "jobs", "export", "demo", "--out", str(out))
    assert "there is no job 'nobody'" in reason(capsys, "jobs", "export", "nobody", "--out", f"{out}2")
    change(session.dir / "session.json")
    assert main(["jobs", "import", str(out)]) == 0, "a report is no import"
    said = capsys.readouterr().out
    assert "becomes demo-2, because its id is taken" in said and "nothing was imported; --yes" in said
    assert not (store.root / "demo-2").exists()
    assert main(["jobs", "import", str(out), "--yes"]) == 0 and "frozenlab jobs own session:demo-2" in capsys.readouterr().out
    assert main(["jobs", "own", "demo-2"]) == 2 and store.open("demo-2").read_only, "it was not confirmed"
    assert "was imported on" in capsys.readouterr().err
    assert answer(capsys, "jobs", "own", "demo-2", "--yes")["own"] and not store.open("demo-2").read_only
    assert "is no file: where a browser has unpacked it" in reason(capsys, "jobs", "import", str(tmp_path), "--yes")
    assert "cannot be read" in reason(capsys, "jobs", "import", "https://example.org/x.zip")


def test_jobs_are_deleted_after_their_export_can_be_opened(
    store: SessionStore, session: Session, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export_and_delete = ["jobs", "export", "--delete", "--out", str(out)]
    assert main([*export_and_delete, "demo"]) == 2, "it was not confirmed"
    assert "would go into" in capsys.readouterr().err and not out.exists() and store.open("demo")
    assert main([*export_and_delete, "example-quick", "--yes"]) == 2 and "is a recorded session" in capsys.readouterr().err
    assert main([*export_and_delete, "demo", "--yes"]) == 0
    assert [session.id for session in shelf.in_trash(store)] == ["demo"]
    shelf.empty_trash(store)
    assert [job.id for job in there(store, out)] == ["demo"]


def test_a_folder_with_a_link_to_nowhere_has_a_size(store: SessionStore, session: Session) -> None:
    """The page with the button that says it opens all the same; the export itself refuses the link."""
    whole = size_of([Found("session", session.dir)], False)
    (session.dir / "labels.json").symlink_to(store.root / "nowhere")
    assert whole < size_of([Found("session", session.dir)], False) < whole + 1000
