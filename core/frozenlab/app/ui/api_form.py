"""Forms for an engineer behind an API: its settings, and permission to ask its server."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import streamlit as st

from frozenlab.app.ui import form, markup, refusals
from frozenlab.engineer import hosts
from frozenlab.engineer.engineers.api import ApiEngineer
from frozenlab.engineer.hosts import Server

ERROR = "api_host_error"


FIELDS = ("base_url", "model", "key_variable", "timeout", "guidance", "input_price", "output_price")
ADDRESS = "http://127.0.0.1:8000/v1"


def fields(key: str = "form_api", lessons: bool = True) -> dict[str, Any]:
    """The address, the model and the prices of the engineer ``api``. The key itself is never entered here.

    Args:
        key: what the keys of the widgets begin with.
        lessons: ask whether the paper's two lessons are part of its prompt.
    """
    st.session_state.setdefault(f"{key}_base_url", ADDRESS)
    names = [name for name in FIELDS if lessons or name != "guidance"]
    values = form.fields(ApiEngineer, names, key=key, steps={"timeout": 10.0})
    values["model"] = values["model"].strip()
    if not os.environ.get(values["key_variable"]):
        st.caption(f"{values['key_variable']} is not set on this machine: the server will be asked without a key.")
    return values


def fill(engineer: ApiEngineer, key: str = "form_api") -> None:
    """Puts the settings of an engineer into the form; before it is drawn."""
    st.session_state.update({f"{key}_{name}": getattr(engineer, name) for name in FIELDS})


def may_ask(servers: Iterable[Server | None], key: str) -> bool:
    """Whether these servers may be asked. Shows a question for each one that is not allowed on this machine yet.

    Args:
        key: what the keys of the buttons begin with.
    """
    refusals.show_reason(ERROR)
    refused = {hosts.host_of(server): server for server in filter(None, servers) if hosts.refusal(server)}
    for host, server in refused.items():
        if hosts.in_the_clear(server):
            st.error(markup.plain(f"{hosts.refusal(server)}."))
            continue
        gets = f" and the key in {server.key_variable}" if hosts.has_key(server) else ""
        with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"{key}-host-{host}"):
            st.markdown(
                f"**May {markup.plain(host)} be asked?** It gets the prompts{markup.plain(gets)}. Allow only servers that you know."
            )
            allows = refusals.changes("For good.")
            st.button("Allow", key=f"{key}-allow-{host}", icon=":material/key:", on_click=allow, args=(host,), **allows)
    return not refused


def allow(host: str) -> None:
    try:
        hosts.allow(host)
    except OSError as error:
        st.session_state[ERROR] = f"{host} could not be remembered in {hosts.remembered()}: {error.strerror}."
