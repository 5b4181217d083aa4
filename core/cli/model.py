"""``frozenlab evaluate`` and ``export``: measuring a checkpoint, and taking it elsewhere."""

from __future__ import annotations

import argparse
from pathlib import Path

from frozenlab.cli.common import Command, InputError, print_json, progress

MODEL_HELP = "lab-model, student:ID, a checkpoint folder, a name on the hub, or SESSION:base, SESSION:1, ..."


def add_evaluate(parser: argparse.ArgumentParser) -> None:
    from frozenlab.tasks.families import FAMILIES

    parser.add_argument("model", help=MODEL_HELP)
    suites = ", ".join(dict.fromkeys(name for family in FAMILIES for name in family.named_suites()))
    parser.add_argument(
        "--suite", required=True, help=f"a named suite ({suites}), a file of boards, or hf:benchmark_wr0.5 of the official dataset"
    )
    parser.add_argument("--out", type=Path, help="a new folder for the result (default: among those on the Benchmark page)")
    parser.add_argument("--title", help="title of the result")
    parser.add_argument("--thinking", action=argparse.BooleanOptionalAction, help="let a language model think before it answers")
    parser.add_argument("--max-tokens", type=int, help="the longest answer of a language model, thoughts included (default: 1024)")
    parser.add_argument("--temperature", type=float, help="sampling temperature (default: 0, greedy; a model that thinks: 0.6)")
    parser.add_argument("--top-p", type=float, help="sample from the likeliest tokens of that share (default: 1; if it thinks: 0.95)")
    parser.add_argument("--top-k", type=int, help="sample from so many of the likeliest tokens (default: all; if it thinks: 20)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the samples at other temperatures (default: %(default)s)")


def add_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", help=MODEL_HELP)
    parser.add_argument("out", type=Path, metavar="OUT", help="a new folder")
    parser.add_argument("--adapter", action="store_true", help="export only the adapters of a LoRA model (default: merge them)")


def run_evaluate(options: argparse.Namespace) -> None:
    import os

    from frozenlab.benchmark.evaluations import fresh_id
    from frozenlab.benchmark.results import results_folder, save_result
    from frozenlab.benchmark.task import task_for
    from frozenlab.jobs.environment import worker_environment
    from frozenlab.loop.store import SessionStore

    store = SessionStore()
    names = ("seed", "title", "thinking", "max_tokens", "temperature", "top_p", "top_k")
    fields = {name: value for name in names if (value := getattr(options, name)) is not None}
    task = task_for(options.model, options.suite, store, **fields)
    folder = (options.out or results_folder(store) / fresh_id(task, store)).resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} exists already: name a new folder")
    os.environ.update(worker_environment(task.online))
    from frozenlab.benchmark.measuring import measure

    with progress() as note:
        report, rows = measure(task, folder.name, note)
    save_result(folder, report, rows)
    if options.json:
        print_json(report.model_dump(mode="json") | {"folder": str(folder)})
    else:
        print(f"{report.title} on {report.suite}: {report.n} boards, planned {report.how} in {report.seconds:.0f} s")
        print("\n".join([*report.lines(), "", f"in {folder}"]))


def run_export(options: argparse.Namespace) -> None:
    import os
    import tempfile

    from frozenlab.benchmark.task import checkpoint_of
    from frozenlab.jobs.environment import worker_environment
    from frozenlab.loop.store import SessionStore
    from frozenlab.policy.folders import on_hub

    checkpoint = checkpoint_of(options.model, SessionStore())
    name, language = checkpoint["policy"], checkpoint.get("language")
    out = options.out.resolve()
    if out.exists() or not out.parent.is_dir():
        raise InputError(f"{out} exists already: name a new folder" if out.exists() else f"there is no folder {out.parent}")
    if options.adapter and (language is None or language.lora is None):
        raise InputError(f"{options.model} was not trained with LoRA: it has no adapters")
    os.environ.update(worker_environment(language is not None and on_hub(name)))
    from frozenlab.policy.language.policy import HFPolicy
    from frozenlab.policy.loading import load_policy

    policy = load_policy(name, language)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as scratch:  # so that there is never half a model in OUT
        whole = Path(scratch) / out.name
        if isinstance(policy, HFPolicy) and not options.adapter:
            policy.export(whole)
        else:
            policy.save(whole)
        whole.rename(out)
    if options.json:
        print_json({"model": options.model, "out": str(out)})
    else:
        print(f"{options.model} is in {out}")


COMMANDS = (
    Command("evaluate", "measure a model on a suite: rates, gaps, faults", add_evaluate, run_evaluate),
    Command("export", "export a checkpoint for use elsewhere", add_export, run_export),
)
