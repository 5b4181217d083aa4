"""``frozenlab doctor``: what this machine can run, and what is missing for the rest."""

from __future__ import annotations

import argparse
import platform
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from frozenlab.base import places
from frozenlab.cli.common import show
from frozenlab.jobs.machine import Gpu, cores, fast_bfloat16, gpus, memory, open_files
from frozenlab.session.footprint import (
    COMMON,
    GIB,
    LEARNT,
    Shape,
    footprint,
    footprint_on_processor,
    processor_seconds,
    seconds_to_read,
    shape_of,
    shape_on_processor,
    shortfalls,
)
from frozenlab.session.presets import PRESETS, preset_spec
from frozenlab.session.spec import SessionSpec

ESSENTIAL = ("streamlit", "plotly", "torch", "transformers", "trl", "peft", "numba", "pandas")
MEMORY_NEEDED = 3 * 2**30
"""Free bytes that a session with the lab model needs."""
FILES_NEEDED = 4096
"""Open files, below which a server refuses pages that many visitors open."""


def examine() -> dict[str, Any]:
    """Check the machine. Returns ``{"checks": [{"what", "ok", "found", "advice"}, ...], "can": {"lab-model": bool, "gpu": bool},
    "presets": {name: None or the reason why it cannot run here}, "cards": [...], "processor": {name: {"GiB", "CPU hours"}}}``; ``cards``
    as :func:`on_cards` gives them, ``processor`` of the language models' presets that run there; ``advice`` is empty if nothing has to be
    done."""
    python_ok = (3, 11) <= sys.version_info[:2] < (3, 14)
    packages = {name: installed(name) for name in ESSENTIAL}
    missing = [name for name, found in packages.items() if found is None]
    model = places.ASSETS / "lab-model" / "model.safetensors"
    free, files = memory().available, open_files()
    gpu = ", ".join(f"{gpu.name} ({gpu.memory / GIB:.0f} GiB)" for gpu in gpus())
    vllm = installed("vllm")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    checks = [
        check("Python", python_ok, platform.python_version(), "install Python 3.11, 3.12 or 3.13"),
        check("packages", not missing, listed(packages), f"missing: {', '.join(missing)}; run make install"),
        check("lab model", model.is_file(), "shipped" if model.is_file() else "not found", "fetch assets/lab-model from the repository"),
        check("processor cores", True, str(cores()), ""),
        check("bfloat16", True, bfloat16(), ""),
        check("free memory", free >= MEMORY_NEEDED, f"{free / 2**30:.1f} GiB", "a session needs about 3 GiB"),
        check("open files", files >= FILES_NEEDED, f"{files:,} at most", f"many visitors of a server need {FILES_NEEDED:,}: ulimit -Hn"),
        check("language models on the processor", True, learning_speed(), ""),
        check("GPU", bool(gpu), gpu or "none", "only large language models need one: those that a processor would train for weeks"),
        check("vLLM", vllm is not None, vllm or "not installed", 'on a GPU machine: pip install -e ".[gpu]"'),
        check(
            "Chromium", chromium is not None, "found" if chromium else "not found", "only the browser tests need it: make test installs it"
        ),
    ]
    ready = {entry["what"]: entry["ok"] for entry in checks}
    can = {
        "lab-model": all(ready[what] for what in ("Python", "packages", "lab model", "free memory")),
        "gpu": ready["GPU"] and ready["vLLM"],
    }
    presets = {name: why_not(name, can["lab-model"]) for name in PRESETS}
    here = {
        name: on_this_processor(spec, shape)
        for name, spec in of_language_models().items()
        if presets[name] is None and (shape := shape_on_processor(spec))
    }
    return {"checks": checks, "can": can, "presets": presets, "cards": on_cards(), "processor": here}


def run_doctor(options: argparse.Namespace) -> None:
    report = examine()
    lines = [
        f"{'yes' if check['ok'] else ' no'}  {check['what']}: {check['found']}" + (f"; {check['advice']}" if check["advice"] else "")
        for check in report["checks"]
    ]
    lines += ["", "sessions that are ready to run (frozenlab run --preset NAME):"]
    takes = {name: f"about {needs['GiB']:g} GiB and {needs['CPU hours']:g} CPU hours" for name, needs in report["processor"].items()}
    said = {name: reason or takes.get(name) for name, reason in report["presets"].items()}
    lines += [
        f"{' no' if reason else 'yes'}  {name}" + (f": {said[name]}" if said[name] else "") for name, reason in report["presets"].items()
    ]
    for card in report["cards"]:
        lines += ["", f"{card['gpu']}, {card['GiB']} GiB (estimates; hours are right to a factor of two or three):"]
        for name, needs in card["presets"].items():
            hours = "" if needs["hours"] is None else f", about {needs['hours']:g} h of training"
            lines.append(f"     {name}: {needs['GiB']:g} GiB{hours}")
    show(options.json, report, *lines)


def why_not(preset: str, lab_model: bool) -> str | None:
    """The reason why this machine cannot run a preset; None if it can."""
    spec = preset_spec(preset)
    if spec.language is None:
        return None if lab_model else "the lab model does not run here: see the checks above"
    reasons = shortfalls(spec)
    return "; ".join(reasons) or None


def on_cards() -> list[dict[str, Any]]:
    """What the presets with a language model would take on each kind of GPU here: ``gpu``, ``GiB``, and by preset the ``GiB`` needed and
    the ``hours`` of training, None where the GPU's speed is not known."""
    return [
        {
            "gpu": gpu.name,
            "GiB": round(gpu.memory / GIB),
            "presets": {name: on_card(spec, gpu) for name, spec in of_language_models().items()},
        }
        for gpu in dict.fromkeys(gpus())
    ]


def of_language_models() -> dict[str, SessionSpec]:
    """The presets with a language model."""
    return {name: spec for name in PRESETS if (spec := preset_spec(name)).language is not None}


def on_this_processor(spec: SessionSpec, shape: Shape) -> dict[str, float]:
    taken = footprint_on_processor(spec, shape).total * spec.processes
    return {"GiB": round(taken / GIB, 1), "CPU hours": round(processor_seconds(spec, shape) / 3600, 1)}


def learning_speed() -> str:
    """How fast a core of this processor teaches a small language model."""
    small = COMMON["smollm2"]
    learnt = 1 / (LEARNT * seconds_to_read(small, "bfloat16"))
    return f"one of {small.parameters / 1e9:.2f} billion weights learns about {learnt:.0f} tokens a second on a core"


def on_card(spec: SessionSpec, gpu: Gpu) -> dict[str, float | None]:
    shape = shape_of(spec.policy)
    assert shape is not None, "presets are of common models"
    taken = footprint(spec, shape, gpu)
    seconds = taken.step_seconds(gpu)
    steps = spec.training.steps * spec.stages
    return {"GiB": round(taken.total / GIB, 1), "hours": None if seconds is None else round(seconds * steps / 3600, 1)}


def bfloat16() -> str:
    """How the processor computes matrix products in 16 bits."""
    return "the processor has instructions for it" if fast_bfloat16() else "the processor has no instructions for it, so float32 is used"


def check(what: str, ok: bool, found: str, advice: str) -> dict[str, Any]:
    return {"what": what, "ok": ok, "found": found, "advice": "" if ok else advice}


def installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def listed(packages: dict[str, str | None]) -> str:
    return ", ".join(f"{name} {found}" for name, found in packages.items() if found)
