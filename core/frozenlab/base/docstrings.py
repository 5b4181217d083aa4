"""The docstrings below the fields of a class, read from its source when it is needed: by forms and JSON schemas, in most processes never.

Pydantic's ``use_attribute_docstrings`` reads them when a class is made, which takes every start of a process 40 ms.
"""

from __future__ import annotations

import ast
import inspect
from functools import cache
from itertools import pairwise
from textwrap import dedent
from typing import Any


@cache
def field_docs(model: type) -> dict[str, str]:
    """Field -> the docstring below it, of a class and its bases.

    >>> from frozenlab.lake.config_cell import CellConfig
    >>> field_docs(CellConfig)["hole_ratio"]
    'Part of a board that is holes.'
    """
    docs: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if base.__module__.partition(".")[0] not in ("builtins", "pydantic"):
            docs |= docs_in(dedent(inspect.getsource(base)))
    return docs


def docs_in(source: str) -> dict[str, str]:
    """Field -> docstring, from the source of one class."""
    (definition,) = ast.parse(source).body
    assert isinstance(definition, ast.ClassDef)
    docs = {}
    for field, text in pairwise(definition.body):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(doc))):
                docs[name] = inspect.cleandoc(doc)
    return docs


def describe_fields(schema: dict[str, Any], model: type) -> None:
    """Give each property of a model's JSON schema its description. A ``json_schema_extra`` of pydantic."""
    for name, text in field_docs(model).items():
        schema["properties"][name]["description"] = text
