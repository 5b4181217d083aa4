"""Who looks at a page: whoever sits at this machine, or on a server with a door somebody whom it let in."""

from __future__ import annotations

from collections import OrderedDict

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from frozenlab.app.ui.door import passes
from frozenlab.app.ui.door.accounts import accounts
from frozenlab.app.ui.door.addresses import shared
from frozenlab.app.ui.door.ways import ways
from frozenlab.base.roles import HERE, Person, Role

NOBODY = Person(Role.VIEWER, "nobody")
"""Whose pass does not hold any more, until their browser notices."""
REMEMBERED = 2_000
_last: OrderedDict[str, Person] = OrderedDict()
"""Session of Streamlit -> who it was, so that a click does what it has begun when its page is closed meanwhile."""


def person() -> Person:
    """Who asks, in the thread of a page's run: known by the cookies of its WebSocket, which nothing that a page sends can change.

    A thread of the server's own is nobody's.
    """
    run = get_script_run_ctx(suppress_warning=True)
    if run is None:
        return HERE
    client = runtime.get_instance().get_client(run.session_id)
    if client is None or client.client_context is None:
        return _last.get(run.session_id, NOBODY)
    cookies, address = client.client_context.cookies, shared(client.client_context.remote_ip)
    found = (passes.bearer(cookies, ways()) or accounts().person(cookies) or NOBODY)._replace(address=address)
    _last[run.session_id] = found
    while len(_last) > REMEMBERED:
        _last.popitem(last=False)
    return found
