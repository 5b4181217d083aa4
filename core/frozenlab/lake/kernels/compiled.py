"""How the lake's kernels are compiled. Imports numba; where the compiled code is kept is in cache.py."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

import numba
import numba.extending
from numba.core.registry import CPUDispatcher
from numba.core.typing.templates import Signature

from frozenlab.lake.kernels.cache import Group, cache_folder, compiling
from frozenlab.lake.kernels.stream import below, mix

numba.config.CACHE_DIR = str(cache_folder())
KERNELS: list[Any] = []
"""What numba makes of the functions below, in the order of their files; those that are compiled have ``signatures``."""


class Inner(CPUDispatcher):
    """A compiled function that only compiled functions call."""

    def __call__(self, *_: Any) -> NoReturn:
        raise TypeError(f"only compiled functions can call {self.__name__}; decorate it with @outer if Python calls it")


def kernel(function: Callable[..., Any], *signature: Signature, counting: bool = True) -> Any:
    """The decorator of compiled functions that only others call. Without the wrapper by which Python calls them they compile faster."""
    inner = numba.njit(*signature, cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=counting)(function)
    inner.__class__ = Inner  # to call a function that has no wrapper ends the process
    KERNELS.append(inner)
    return inner


def light_kernel(function: Callable[..., Any]) -> Any:
    """The same for a function that makes no arrays, returns none, and gets none from those that it calls. Numba then does not count who
    uses an array, an atomic operation at nearly every mention of one, which took PIBT two thirds of its time."""
    return kernel(function, counting=False)


def outer(function: Callable[..., Any]) -> Any:
    """The same for functions that Python calls too."""
    KERNELS.append(numba.njit(cache=True, nogil=True, no_cfunc_wrapper=True)(function))
    return KERNELS[-1]


def callable_from_kernels(function: Callable[..., Any]) -> Callable[..., Any]:
    """Lets compiled functions call a plain Python function, which is compiled with each of them."""
    return numba.extending.register_jitable(function)


for _helper in (mix, below):
    callable_from_kernels(_helper)

inlined = numba.njit(inline="always")
"""The same for a function that is compiled as a part of its caller: a small one in an inner loop, or a large one with one caller. Numba
optimises what a function calls once more with each caller, so a chain of large functions that only pass work on would be optimised again
and again."""


def kernel_of(signature: Signature) -> Callable[[Callable[..., Any]], Any]:
    """The same for one signature only; for functions that are called with constants, each of which would else make a version of its own."""

    def compiled(function: Callable[..., Any]) -> Any:
        with compiling("solver"):
            return kernel(function, signature)

    return compiled


def entry(group: Group) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The same for what Python calls, and all that it calls in turn: no two processes compile it at the same time."""

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        inner = outer(function)

        @functools.wraps(function)
        def call(*arguments: Any) -> Any:
            if not inner.overloads:  # its signatures would be listed, and hashed, anew
                with compiling(group):
                    inner.compile(tuple(numba.typeof(argument) for argument in arguments))
            return inner(*arguments)

        return call

    return compiled
