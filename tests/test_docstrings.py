"""Docstrings below fields are found in the source."""

from __future__ import annotations

from pydantic import BaseModel

from frozenlab.base.docstrings import describe_fields, field_docs


class Base(BaseModel):
    shared: int = 0
    """Of the base."""
    replaced: int = 0
    """Of the base."""


class Derived(Base):
    """The class itself."""

    replaced: int = 1
    """Of the derived class,
    in two lines."""
    silent: int = 0

    def method(self) -> None:
        """Not a field."""


def test_a_field_has_the_docstring_below_it_and_bases_count() -> None:
    assert field_docs(Derived) == {"shared": "Of the base.", "replaced": "Of the derived class,\nin two lines."}


def test_docstrings_become_descriptions_of_the_schema() -> None:
    schema = Base.model_json_schema()
    describe_fields(schema, Base)
    assert {name: entry["description"] for name, entry in schema["properties"].items()} == field_docs(Base)
