"""Forms for an engineer behind an API: its settings, and permission to ask its server."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

import streamlit as st
from pydantic import ValidationError

from frozenlab.app.ui import form, markup, refusals
from frozenlab.base.errors import cut
from frozenlab.base.numbers import counted
from frozenlab.engineer import hosts
from frozenlab.engineer.dialects.lab import ProposalError
from frozenlab.engineer.engineers.api import ApiEngineer
from frozenlab.engineer.hosts import Server

ERROR = "api_host_error"


FIELDS = ("base_url", "model", "key_variable", "timeout", "guidance", "input_price", "output_price")
ADDRESS = "http://127.0.0.1:8000/v1"
PATIENCE = 60.0
"""Seconds, at most, that a test of the connection waits for an answer."""


class Tried(NamedTuple):
    """What came of a test of the connection."""

    address: str
    models: tuple[str, ...]
    """Those that the server lists."""
    works: bool
    words: str


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
    connection(values, key)
    return values


def connection(values: dict[str, Any], key: str) -> None:
    """A button that tries the server out, what came of it, and the models that the server lists, to choose one."""
    try:
        server = Server(**{name: values[name] for name in ("base_url", "key_variable")}, model=values["model"] or "the server")
    except ValidationError:  # the form's own check says what is wrong
        return
    # Once the model is named, the page itself asks whether the server may be asked.
    allowed = hosts.refusal(server) is None if values["model"] else may_ask([server], f"{key}-test")
    hint = "Asks the server for its models, and the model for one word." if allowed else "Allow the server first."
    if st.button("Test the connection", key=f"{key}-test", icon=":material/lan:", **refusals.changes(hint, disabled=not allowed)):
        with st.spinner("Asking the server", show_time=True):
            st.session_state[f"{key}-tried"] = try_out(server, bool(values["model"]))
    found: Tried | None = st.session_state.get(f"{key}-tried")
    if found is None or found.address != server.base_url:
        return
    (st.success if found.works else st.error)(markup.plain(found.words))
    if found.models:
        st.pills(
            "Models there", found.models, key=f"{key}-models",
            on_change=lambda: st.session_state.update({f"{key}_model": st.session_state[f"{key}-models"] or values["model"]}),
        )  # fmt: skip


def try_out(server: Server, named: bool) -> Tried:
    """Asks a server for its models and, if one is ``named``, that one for a word."""
    from frozenlab.engineer.chat import ask_for_text, models_there  # imports openai, which takes a second

    server, began = server.model_copy(update={"timeout": PATIENCE, "max_tokens": 1000}), time.monotonic()
    models: tuple[str, ...] = ()
    try:
        models = models_there(server)
        words = f"{hosts.host_of(server)} answers, and lists {counted(len(models), 'model')}."
        works = True
    except ProposalError as error:
        works, words = False, f"{error}."
    if named:
        try:
            text = ask_for_text(server, [{"role": "user", "content": "Answer with one word: ready."}], seed=0).written.text
            works, words = True, f"{server.model} wrote {cut(' '.join(text.split()), 60)!r} after {time.monotonic() - began:.1f} s."
        except ProposalError as error:
            missing = f" The server does not list {server.model}." if models and server.model not in models else ""
            works, words = False, f"{error}.{missing}"
    return Tried(server.base_url, models, works, words)


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
