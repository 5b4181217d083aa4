"""The part of the Train form that is about a Hugging Face language model."""

from __future__ import annotations

from typing import Any

import streamlit as st

from frozenlab.app.ui.form import field
from frozenlab.engineer.engineers.own_model import PolicyEngineer
from frozenlab.jobs.gpus import Gpu, gpus
from frozenlab.models.settings import LanguageSettings, Launcher, Lora, Vllm
from frozenlab.session.footprint import GIB, Shape, footprint
from frozenlab.session.spec import SessionSpec

VLLM_HERE, VLLM_SERVER, TRANSFORMERS = "vLLM, in the training process", "vLLM, a server on other GPUs", "transformers, slow"
WRITERS: dict[str, Vllm | None] = {VLLM_HERE: Vllm(), VLLM_SERVER: Vllm(mode="server"), TRANSFORMERS: None}
EXAMPLE_GPUS = (Gpu("an NVIDIA H100", 80 * GIB), Gpu("an A100", 80 * GIB))
"""Examples for estimates on a machine without a GPU."""


def values(spec: SessionSpec) -> dict[str, Any]:
    """What a spec puts into the widgets, by their keys without ``form_``."""
    language = spec.language
    if language is None:
        return {}
    mode = language.vllm and language.vllm.mode
    return {
        "policy": spec.policy,
        "rank": language.lora.rank if language.lora else 0,
        "max_tokens": language.max_tokens,
        "thinking": language.thinking,
        "guidance": getattr(spec.engineer, "guidance", False),
        "processes": language.launcher.processes,
        "writer": next(name for name, vllm in WRITERS.items() if (vllm and vllm.mode) == mode),
    }


def fields(begun: LanguageSettings) -> dict[str, Any]:
    """The language model and how it is trained: ``policy`` and ``language`` of the spec, and the ``guidance`` of its engineer. Everything
    else is as in the preset."""
    st.caption("The preset's numbers are starting points: they are not tuned at this size yet.")
    which, writes = st.columns([1.4, 1])
    policy = which.text_input(
        "Model", key="form_policy", max_chars=300, help="Its name on the Hugging Face hub, or a folder on this machine."
    )
    writer = writes.selectbox("Plans are written by", list(WRITERS), key="form_writer")
    rank, longest, gpus, choices = st.columns(4, vertical_alignment="bottom")
    lora = field(
        Lora, "rank", key="form_rank", place=rank, min_value=0, help="Size of the adapters that are trained; 0 trains all weights."
    )
    max_tokens = field(LanguageSettings, "max_tokens", key="form_max_tokens", place=longest)
    processes = field(Launcher, "processes", key="form_processes", place=gpus)
    thinks = field(LanguageSettings, "thinking", key="form_thinking", place=choices)
    lessons = field(PolicyEngineer, "guidance", key="form_guidance", place=choices)
    vllm = WRITERS[writer]
    language = begun.model_copy(
        update={
            "lora": (begun.lora or Lora()).model_copy(update={"rank": lora, "alpha": 2 * lora}) if lora else None,
            "max_tokens": max_tokens,
            "context": max(begun.context, 2 * max_tokens),
            "thinking": thinks,
            "launcher": begun.launcher.model_copy(update={"processes": processes}),
            "vllm": begun.vllm if vllm and begun.vllm and vllm.mode == begun.vllm.mode else vllm,
        }
    )
    return {"policy": policy.strip(), "language": language, "guidance": lessons}


def in_even_passes(language: LanguageSettings, plans: int) -> LanguageSettings:
    """The same settings with the most rows, but no more than before, that divide the ``plans`` of a step evenly."""
    own = max(1, plans // language.launcher.processes)
    return language.model_copy(update={"rows": max(rows for rows in range(1, language.rows + 1) if own % rows == 0)})


def memory_and_time(spec: SessionSpec, shape: Shape, timed: bool) -> None:
    """What a language model's session takes, before anything is loaded; no word on time where a session has been ``timed``."""
    taken = footprint(spec, shape, min(gpus(), key=lambda gpu: gpu.memory, default=None))
    parts = ", ".join(f"{what} {size / GIB:.1f}" for what, size in taken.parts.items())
    st.markdown(f"**{shape.parameters / 1e9:.2g} billion weights**; on each GPU at least **{taken.total / GIB:.0f} GiB** of memory.")
    st.caption(f"GiB: {parts}. Estimated from the model's shape; memory of the libraries comes on top.")
    if not timed:
        here = gpus()[:1] or EXAMPLE_GPUS
        steps = spec.training.steps * spec.stages
        times = [
            f"{rough(seconds * steps)} on {gpu.name}"
            for gpu in here
            if (seconds := footprint(spec, shape, gpu).step_seconds(gpu)) is not None
        ]
        if times:
            st.caption(f"Training about {' or '.join(times)}, by published speeds: right to a factor of two or three.")


def rough(seconds: float) -> str:
    """A time that is not known better than to a factor: ``20 min``, ``35 h``, ``3 days``."""
    hours = seconds / 3600
    if hours < 1.5:
        return f"{max(10, round(seconds / 600) * 10)} min"
    return f"{hours:.0f} h" if hours < 72 else f"{hours / 24:.0f} days"
