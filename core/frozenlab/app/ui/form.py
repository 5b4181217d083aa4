"""Inputs drawn from pydantic models: ranges, defaults and help come from the model's fields and are written nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args, get_origin

import streamlit as st
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from streamlit.delta_generator import DeltaGenerator

from frozenlab.app.ui import refusals
from frozenlab.app.ui.components.draft import KEPT
from frozenlab.base.docstrings import field_docs
from frozenlab.base.errors import one_line

Model = TypeVar("Model", bound=BaseModel)
FINE = 1e-3
"""Steps below this are shown in scientific notation."""


def open_file(button: str, model: type[Model], take: Callable[[Model], object], what: str, hint: str, *, key: str, **look: Any) -> None:
    """A button for a JSON file of a model, which ``take`` gets; or why it is none: ``x.json is not the spec of a session: ...``.

    Args:
        what: what such a file holds, as ``the spec of a session``.
        look: of Streamlit's popover.
    """
    error = f"{key}-error"

    def read() -> None:
        if (upload := st.session_state[key]) is None:
            return
        try:
            take(model.model_validate_json(upload.getvalue()))
        except ValueError as wrong:
            st.session_state[error] = f"{upload.name} is not {what}: {one_line(wrong)}."

    with st.popover(button, icon=":material/upload_file:", **look):
        st.file_uploader(what[0].upper() + what[1:], type="json", key=key, on_change=read, max_upload_size=1, help=hint)
    refusals.show_reason(error)


def fields(
    model: type[BaseModel], names: Iterable[str], *, key: str, columns: int = 4, steps: dict[str, float] | None = None
) -> dict[str, Any]:
    """Draws an input for each of the fields ``names`` of ``model``, in rows of ``columns``, and returns the values by name.

    Example:
        ``TrainingSettings(**fields(TrainingSettings, ("steps", "temperature"), key="form", steps={"temperature": 0.1}))``

    Args:
        key: what the keys of the inputs begin with; a page that fills the form sets ``st.session_state["<key>_<name>"]``.
        steps: how far one click moves a number, where that is not 1.
    """
    values = {}
    for place, name in enumerate(names):
        if place % columns == 0:
            row = st.columns(columns, vertical_alignment="bottom")
        values[name] = field(model, name, key=f"{key}_{name}", place=row[place % columns], step=(steps or {}).get(name))
    return values


def field(
    model: type[BaseModel], name: str, *, key: str, place: DeltaGenerator | None = None, step: float | None = None, **options: Any
) -> Any:
    """Draws one input and returns its value: a toggle for a bool, a number within the field's range, else a line of text.

    Args:
        options: of the Streamlit input, in place of what the model says.

    Raises:
        TypeError: the field holds something that has no input here.
    """
    info = model.model_fields[name]
    kind, constraints, optional = parts_of(info)
    what: dict[str, Any] = {
        "label": info.title or name.replace("_", " ").capitalize(),
        "key": key,
        "help": field_docs(model).get(name),
    } | KEPT
    if optional:
        what["value"] = None
    elif key not in st.session_state and not info.is_required():
        st.session_state[key] = info.get_default()
    where = place or st
    if kind is bool:
        return where.toggle(**what | options)
    if kind in (int, float):
        return where.number_input(**what | number_options(kind, constraints, step) | options)
    if kind is str:
        return where.text_input(**what | {"max_chars": bound(constraints, "max_length")} | options)
    raise TypeError(f"no input for {model.__name__}.{name}: {kind}")


def parts_of(info: FieldInfo) -> tuple[Any, list[Any], bool]:
    """The plain type of a field, its constraints, and whether it may be None."""
    kinds = [kind for kind in get_args(info.annotation) if kind is not NoneType]
    if NoneType not in get_args(info.annotation):
        return info.annotation, info.metadata, False
    kind = kinds[0]
    if get_origin(kind) is not Annotated:
        return kind, info.metadata, True
    kind, *notes = get_args(kind)
    return kind, [each for note in notes for each in (note.metadata if isinstance(note, FieldInfo) else [note])], True


def number_options(kind: type, constraints: list[Any], step: float | None) -> dict[str, Any]:
    """Range, step and format of a number. An open end (greater than 0) becomes the next number, or a tenth of a step."""
    near = 1 if kind is int else round((step or 0.1) / 10, 12)
    low, above = bound(constraints, "ge"), bound(constraints, "gt")
    high, below = bound(constraints, "le"), bound(constraints, "lt")
    options = {"min_value": low if above is None else above + near, "max_value": high if below is None else below - near, "step": step}
    numbers = {name: kind(value) for name, value in options.items() if value is not None}
    return numbers | ({"format": "%.1e"} if kind is float and step is not None and step < FINE else {})


def bound(constraints: Iterable[Any], name: str) -> Any:
    """The constraint ``name`` (``ge``, ``lt``, ``max_length``, ...), or None."""
    return next((getattr(each, name) for each in constraints if hasattr(each, name)), None)
