"""``frozenlab evaluate``, ``export`` and ``warm-start``: measuring a checkpoint, taking it elsewhere, and preparing one."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from frozenlab.cli.common import (
    Command,
    InputError,
    add_allow_host,
    add_fields,
    agree,
    field_help,
    given,
    new_folder,
    progress,
    refusing,
    show,
)

if TYPE_CHECKING:
    from frozenlab.engineer.hosts import Server

MODEL_HELP = "lab-model, student:ID, a checkpoint folder, a name on the hub, or SESSION:base, SESSION:1, ..."
API = "api:"
"""A name that begins so is that of a model behind a server."""
OF_TASK = ("title", "seed", "samples", "thinking", "max_tokens", "temperature", "top_p", "top_k")
OF_SERVER = ("base_url", "key_variable", "timeout", "input_price", "output_price")
"""Fields of an evaluation's task and of its server that are options."""


def add_evaluate(parser: argparse.ArgumentParser) -> None:
    from frozenlab.engineer.hosts import Server
    from frozenlab.experiments.benchmark.task import Task
    from frozenlab.tasks.families import FAMILIES

    parser.add_argument("model", help=f"{MODEL_HELP}; or {API}NAME for a model behind an OpenAI-compatible server")
    suites = ", ".join(dict.fromkeys(name for family in FAMILIES for name in family.named_suites()))
    parser.add_argument("--suite", required=True, help=f"{field_help(Task, 'suite')}; the named ones are {suites}")
    parser.add_argument("--out", type=Path, help="a new folder for the result (default: among those on the Benchmark page)")
    add_fields(parser, Task, *OF_TASK)
    server = parser.add_argument_group(f"a model behind a server ({API}NAME)")
    add_fields(server, Server, *OF_SERVER)
    server.add_argument("--yes", action="store_true", help="do not ask for confirmation before paying")
    add_allow_host(parser)


def add_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", help=MODEL_HELP)
    parser.add_argument("out", type=Path, metavar="OUT", help="a new folder")
    parser.add_argument("--adapter", action="store_true", help="export only the adapters of a LoRA model (default: merge them)")


def add_warm_start(parser: argparse.ArgumentParser) -> None:
    from frozenlab.cli.session import add_spec
    from frozenlab.models.settings import WarmStart
    from frozenlab.session.spec import SessionSpec

    add_spec(parser)
    parser.add_argument("--out", type=Path, required=True, help="a new folder for the checkpoint")
    add_fields(parser, WarmStart, *WarmStart.model_fields)
    add_fields(parser, SessionSpec, "seed", defaults=False)


def run_evaluate(options: argparse.Namespace) -> None:
    import os

    from frozenlab.engineer import hosts
    from frozenlab.experiments.benchmark.evaluations import fresh_id, needs_of, title_of
    from frozenlab.experiments.benchmark.results import results_folder, save_result
    from frozenlab.experiments.benchmark.task import task_for
    from frozenlab.jobs.environment import worker_environment
    from frozenlab.jobs.launcher import counted
    from frozenlab.session.store import SessionStore

    store = SessionStore()
    fields = given(options, *OF_TASK)
    if options.model.startswith(API):
        server = server_of(options)
        hosts.check([server])
        fields = given(options, "seed", "title", "samples") | {"server": server}
    task = task_for(options.model, options.suite, store, **fields)
    folder = (options.out or results_folder(store) / fresh_id(task, store)).resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} exists already: name a new folder")
    os.environ.update(worker_environment(task.online))
    with counted(store.root, folder, "evaluate", title_of(task), needs_of(task)), progress() as note:
        from frozenlab.experiments.benchmark.measuring import measure

        report, rows = measure(task, folder.name, note, lambda cost: agree(cost, yes=options.yes))
    save_result(folder, report, rows)
    heading = f"{report.title} on {report.suite}: {report.n} boards, planned {report.how} in {report.seconds:.0f} s"
    show(options, report.model_dump(mode="json") | {"folder": str(folder)}, heading, *report.lines(), "", f"in {folder}")


def server_of(options: argparse.Namespace) -> Server:
    """The server of a model ``api:NAME``, as the options describe it."""
    from frozenlab.engineer.hosts import Server

    if "base_url" not in options:
        raise InputError(f"{options.model} needs --base-url, the address of its server, such as https://api.openai.com/v1")
    fields = {"temperature": 0.0} | given(options, "temperature", "max_tokens", *OF_SERVER) | {"model": options.model.removeprefix(API)}
    with refusing():
        return Server(**fields)


def save_at_once(save: Callable[[Path], None], out: Path) -> None:
    """Writes a folder wholly or not at all."""
    import tempfile

    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as scratch:
        whole = Path(scratch) / out.name
        save(whole)
        whole.rename(out)


def run_export(options: argparse.Namespace) -> None:
    import os

    from frozenlab.experiments.benchmark.task import checkpoint_of
    from frozenlab.jobs.environment import worker_environment
    from frozenlab.models.folders import on_hub
    from frozenlab.session.store import SessionStore

    checkpoint = checkpoint_of(options.model, SessionStore())
    name, language = checkpoint["policy"], checkpoint.get("language")
    out = new_folder(options.out)
    if options.adapter and (language is None or language.lora is None):
        raise InputError(f"{options.model} was not trained with LoRA: it has no adapters")
    os.environ.update(worker_environment(language is not None and on_hub(name)))
    from frozenlab.models.language.policy import HFPolicy
    from frozenlab.models.loading import load_policy

    policy = load_policy(name, language)
    save_at_once(policy.export if isinstance(policy, HFPolicy) and not options.adapter else policy.save, out)
    show(options, {"model": options.model, "out": str(out)}, f"{options.model} is in {out}")


def run_warm_start(options: argparse.Namespace) -> None:
    import os

    from frozenlab.base.places import sessions_folder
    from frozenlab.cli.session import spec_of
    from frozenlab.jobs.environment import worker_environment
    from frozenlab.jobs.launcher import counted
    from frozenlab.jobs.needs import language_model
    from frozenlab.models.settings import WarmStart
    from frozenlab.session.footprint import shortfalls

    spec = spec_of(options.spec, options.preset).changed(**given(options, "seed"))
    if spec.language is None:
        raise InputError("a warm start is for language models; the lab model has had its own")
    out = new_folder(options.out)
    if lacking := [reason for reason in shortfalls(spec) if "vLLM" not in reason]:
        raise InputError(f"this cannot run here: {'; '.join(lacking)}")
    os.environ.update(worker_environment(spec.online))
    settings = WarmStart(**given(options, *WarmStart.model_fields))
    with counted(sessions_folder(), out, "warm-start", f"Warm start of {spec.policy}", language_model()), progress() as note:
        from frozenlab.session.warm_start import warmed_up

        policy = warmed_up(spec, settings, lambda done, of, loss: note("learning", done, of))
    save_at_once(policy.save, out)
    words = f"{spec.policy} has learnt {settings.examples:,} worked answers and is in {out}: frozenlab run ... --policy {out}"
    show(options, {"model": spec.policy, "examples": settings.examples, "out": str(out)}, words)


COMMANDS = (
    Command("evaluate", "measure a model on a suite: rates, gaps, faults", add_evaluate, run_evaluate),
    Command("export-model", "export a checkpoint for use elsewhere", add_export, run_export),
    Command("warm-start", "teach a language model worked answers before a session", add_warm_start, run_warm_start),
)
