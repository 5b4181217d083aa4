"""Results that are computed once for all viewers, because a page runs again at every click of each viewer."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Any, TypeVar, cast

Result = TypeVar("Result")
MOST = 300
"""Number of results to keep; those that were asked for longest ago go first."""

_known: OrderedDict[tuple[Hashable, ...], Future[Any]] = OrderedDict()
_guard = Lock()


def once(make: Callable[[], Result], what: str, *of: Hashable) -> Result:
    """The result of ``make``, computed now or in an earlier call. All callers share it and must not change it.

    Args:
        what: its name, one for each place in the code that asks.
        of: everything it depends on; files by their revision (:meth:`frozenlab.session.session.Session.revision`).
    """
    key = (what, *of)
    with _guard:  # not Streamlit's cache: it takes milliseconds to hash a revision
        made = _known.get(key)
        if known := made is not None:
            _known.move_to_end(key)
        else:
            made = _known[key] = Future()
            while len(_known) > MOST:
                _known.popitem(last=False)
    assert made is not None
    if not known:
        try:
            made.set_result(make())
        except BaseException as error:
            with _guard:
                _known.pop(key, None)
            made.set_exception(error)  # for those who wait for it
    return cast(Result, made.result())
