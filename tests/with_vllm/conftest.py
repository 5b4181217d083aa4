"""vLLM on the CPU: ``make test-vllm``. These changes are for tests only; a GPU needs none of them."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("vllm") else ["test_*.py"]


def rebind_without_llvmlite(overrides: list[object], rebind: Callable[[list[object]], None]) -> None:
    """vLLM looks into every module for its kernels; llvmlite, which comes with Numba, has an object that answers to any name, wrongly."""
    hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith("llvmlite")}
    try:
        rebind(overrides)
    finally:
        sys.modules.update(hidden)


if find_spec("vllm"):
    os.environ |= {
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        "HF_HUB_OFFLINE": "1",
        "TORCHDYNAMO_DISABLE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    import torch
    import vllm
    import vllm._custom_ops as ops
    from vllm.triton_utils import dispatcher

    torch.set_num_threads(1)
    # Otherwise oneDNN packs the weights at the start, and none can be loaded into them afterwards.
    ops._supports_onednn = False
    # Compiling takes longer than all the tests.
    vllm.LLM = functools.partial(vllm.LLM, enforce_eager=True)
    dispatcher._rebind_kernels = functools.partial(rebind_without_llvmlite, rebind=dispatcher._rebind_kernels)
