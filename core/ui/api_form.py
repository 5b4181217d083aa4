"""The part of a form that is about an engineer behind an API."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import streamlit as st

from frozenlab.engineer import hosts
from frozenlab.engineer.server import Server
from frozenlab.ui import markup

ERROR = "api_host_error"


def fields(key: str = "form_api", lessons: bool = True) -> dict[str, Any]:
    """Where it is asked, and what that costs: the settings of the engineer ``api``. The key itself is never entered here.

    Args:
        key: what the keys of the widgets begin with.
        lessons: ask whether it is told the paper's two lessons.
    """
    where, which = st.columns([1.4, 1])
    fields: dict[str, Any] = {
        "base_url": where.text_input("Address", "http://127.0.0.1:8000/v1", key=f"{key}_url", help="Up to and including /v1."),
        "model": which.text_input("Model", key=f"{key}_model", help="As the server calls it.", placeholder="Qwen/Qwen3-4B").strip(),
    }
    variable, timeout, told = st.columns([1.4, 0.5, 0.5], vertical_alignment="bottom")
    fields["key_variable"] = variable.text_input(
        "Environment variable with the key", "FROZENLAB_API_KEY", key=f"{key}_key",
        help="Its name ends in _API_KEY. Set it before the lab is opened, or as a line of .streamlit/secrets.toml. The key is read when it "
        "is needed, stored nowhere.",
    )  # fmt: skip
    fields["timeout"] = timeout.number_input(
        "Seconds", 1.0, 3600.0, 180.0, 10.0, format="%.0f", key=f"{key}_timeout", help="For an answer."
    )
    if lessons:
        fields["guidance"] = told.toggle("Lessons", True, key=f"{key}_guidance", help="Tell it the paper's two lessons.")
    read, written = st.columns(2)
    for name, place, what in (("input_price", read, "read"), ("output_price", written, "written")):
        fields[name] = place.number_input(
            f"Price of a million tokens {what}", 0.0, value=None, key=f"{key}_{name}", placeholder="not known",
            help="In whatever currency. With both prices costs are told.",
        )  # fmt: skip
    if not os.environ.get(fields["key_variable"]):
        st.caption(f"{fields['key_variable']} is not set on this machine: the server will be asked without a key.")
    return fields


def may_ask(servers: Iterable[Server | None], key: str) -> bool:
    """Whether what is about to start may ask these servers. Asks here about each one that nobody has allowed on this machine yet.

    Args:
        key: what the keys of the buttons begin with.
    """
    if ERROR in st.session_state:
        st.error(markup.plain(st.session_state.pop(ERROR)))
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
            st.button("Allow", key=f"{key}-allow-{host}", icon=":material/key:", on_click=allow, args=(host,), help="For good.")
    return not refused


def allow(host: str) -> None:
    try:
        hosts.allow(host)
    except OSError as error:
        st.session_state[ERROR] = f"{host} could not be remembered in {hosts.remembered()}: {error.strerror}."
