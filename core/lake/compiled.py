"""How the lake's kernels are compiled and where the compiled code is kept. Imports numba.

Numba notices that a cached function's own file has changed, but not that a file has changed whose functions it calls. So the code is kept
in a folder named after all files of compiled code together: ``.cache/`` of the project (or of the home folder, where the project is
read-only), or under ``NUMBA_CACHE_DIR``.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core.typing.templates import Signature

NAMES = ("kernels*", "drawing", "layouts", "stream", "reward", "rules", "config")
SOURCES = sorted(path for name in NAMES for path in Path(__file__).parent.glob(f"{name}.py"))
"""All files of compiled code, and those whose constants it has taken in."""
PROJECT = Path(__file__).parents[2]


def cache_folder() -> Path:
    home = PROJECT if os.access(PROJECT, os.W_OK) else Path.home()
    base = Path(os.environ.get("NUMBA_CACHE_DIR") or home / ".cache" / "frozenlab-kernels")
    return base / hashlib.blake2b(b"".join(path.read_bytes() for path in SOURCES), digest_size=8).hexdigest()


numba.config.CACHE_DIR = str(cache_folder())
kernel = numba.njit(cache=True, nogil=True)
"""The decorator of all compiled functions."""


def kernel_of(signature: Signature) -> Callable[[Callable[..., Any]], Any]:
    """The same for one signature only; for functions that are called with constants, each of which would else make a version of its own."""
    return numba.njit(signature, cache=True, nogil=True)
