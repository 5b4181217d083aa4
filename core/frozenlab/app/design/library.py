"""Ready-made configs, and saving, loading and exporting one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from frozenlab.app.design import drafts
from frozenlab.app.design.controls import put, state
from frozenlab.app.ui import refusals
from frozenlab.app.ui.plain import plain
from frozenlab.base.errors import LabError
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_file import ConfigError
from frozenlab.session.store import SessionStore


def presets() -> None:
    def take() -> None:
        if state.design_preset:
            put(drafts.offered(state.design_preset, state.design_teams))
        state.design_preset = None

    st.pills(
        "Begin from", drafts.OFFERED, key="design_preset", on_change=take, format_func=lambda name: name.replace("-", " ").capitalize(),
        help="  \n".join(f"**{name}**: {words}" for name, words in drafts.OFFERED.items()),
    )  # fmt: skip


def library(store: SessionStore, config: EnvironmentConfig | None) -> None:
    """Save, load, export."""

    def take_upload() -> None:
        state.design_load_error = ""
        if state.design_upload is not None:
            try:
                put(EnvironmentConfig.from_bytes(state.design_upload.getvalue(), state.design_upload.name))
            except ConfigError as error:
                state.design_load_error = f"{state.design_upload.name}: {error}"

    def take_saved() -> None:
        state.design_load_error = ""
        if state.design_saved:
            try:
                put(EnvironmentConfig.read(drafts.shelf(store)[state.design_saved]))
            except (ConfigError, OSError) as error:
                state.design_load_error = f"{state.design_saved}: {error}"

    def keep(config: EnvironmentConfig) -> None:
        try:
            drafts.save(store, state.design_name, config)
            state.design_kept = f"Saved as {state.design_name}."
        except LabError as error:
            state.design_kept = str(error)

    row = st.container(horizontal=True)
    with row.popover("Load"):
        st.selectbox("Saved configs", drafts.shelf(store), index=None, key="design_saved", on_change=take_saved, placeholder="Choose one")
        st.file_uploader("A config file", type=["json", "toml"], key="design_upload", on_change=take_upload, max_upload_size=1)
    saves = refusals.changes(disabled=config is None)
    with row.popover("Save", **saves):
        st.text_input("Name", key="design_name", max_chars=63, placeholder="small-and-crowded")
        st.button("Save", on_click=keep, args=(config,), key="design_keep", **saves)
        if state.get("design_kept"):
            st.caption(state.pop("design_kept"))
    for kind, write in (("json", EnvironmentConfig.to_json), ("toml", EnvironmentConfig.to_toml)):
        row.download_button(
            f"Export {kind.upper()}",
            partial(file_text, write, config),
            f"environment.{kind}",
            f"application/{kind}",
            on_click="ignore",
            disabled=config is None,
        )
    if state.get("design_load_error"):
        st.error(plain(f"This is no environment config. {state.design_load_error}"))


def file_text(write: Callable[[EnvironmentConfig], str], config: EnvironmentConfig | None) -> str:
    return write(config).rstrip() + "\n" if config else ""
