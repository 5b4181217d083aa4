"""Reading what version 1 of a session's spec, of a study's arm and of a replay's arm said about their engineer.

Version 1 kept an engineer in three places: its name in ``engineer``, the server of the engineer ``api`` in ``api``, and the settings of a
language model as engineer in ``language`` (``guidance``, ``proposal_tokens``, ``proposal_temperature``). Version 2 keeps all of it in
``engineer``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frozenlab.engineer.engineers import BY_NAME
from frozenlab.engineer.own_model import ModelEngineer
from frozenlab.models.settings import ENGINEERS_OWN


def upgraded_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A session's spec, as JSON holds it, in version 2. What is in version 2 already stays as it is."""
    new = {name: value for name, value in spec.items() if name != "api"}
    if "api" in spec or isinstance(spec.get("engineer"), str):
        new["engineer"] = upgraded_engineer(spec.get("engineer", "policy"), spec.get("api"), spec.get("language"))
    elif isinstance(spec.get("language"), Mapping) and "engineer" not in spec:
        new["engineer"] = upgraded_engineer("policy", None, spec["language"])
    return new | ({"schema_version": 2} if spec.get("schema_version") == 1 else {})


def upgraded_arm(arm: Mapping[str, Any], session: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """An arm of a study (of this ``session``, as JSON holds it) or of a replay in version 2."""
    new = {name: value for name, value in arm.items() if name != "api" and (name != "language" or value is not None)}
    session = session or {}
    name, own = arm.get("engineer"), session.get("language")
    language = own
    if isinstance(arm.get("language"), Mapping) and isinstance(own, Mapping):
        language = new.pop("language")
        if not same_model(language, own):
            raise ValueError(f'the arm {arm.get("name")} has another "language" than the session, and more than its guidance differs')
        name = name or session.get("engineer", "policy")
    api = arm.get("api") or session.get("api")
    if name == "api" and api is None:
        new["engineer"] = None  # in a replay: the session's own
    elif isinstance(name, str):
        new["engineer"] = upgraded_engineer(name, api if name == "api" else None, language)
    return new


def same_model(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two settings of a language model differ in nothing but the model's part as engineer."""
    first, second = ({name: value for name, value in model.items() if name not in ENGINEERS_OWN} for model in (one, other))
    return first == second


def upgraded_engineer(name: Any, api: Any, language: Any) -> Any:
    """The engineer of this name with the settings that version 1 kept in ``api`` or ``language``; only its name if it had none."""
    if not isinstance(name, str) or name not in BY_NAME:
        return name
    if name == "api" and isinstance(api, Mapping):
        return {"kind": name, **api}
    if (name == "api") != (api is not None):
        raise ValueError('"api" says where the engineer api is asked: give both or neither')
    if isinstance(language, Mapping) and issubclass(BY_NAME[name], ModelEngineer):
        return {"kind": name} | {new: language[old] for old, new in ENGINEERS_OWN.items() if old in language}
    return name
