"""The ways in: passwords of the two roles, and the keys that passes and links are signed with.

A password is set in the environment (``FROZENLAB_OPERATOR_PASSWORD``, ``FROZENLAB_VIEWER_PASSWORD``) or by ``frozenlab door password``,
which keeps its hash in a file that only its owner can read. A role's key depends on its password: with another password, nobody is still
in who came by the old one.
"""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Mapping
from functools import lru_cache
from hashlib import scrypt, sha256
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from frozenlab.base.errors import LabError, one_line
from frozenlab.base.files import write_text
from frozenlab.base.roles import Role

FILE = "FROZENLAB_DOOR"
"""The variable that names another file than the usual one."""
VARIABLES = {Role.OPERATOR: "FROZENLAB_OPERATOR_PASSWORD", Role.VIEWER: "FROZENLAB_VIEWER_PASSWORD"}
SHORTEST, LONGEST = 8, 200
"""Characters of a password."""
COST = {"n": 2**14, "r": 8, "p": 1, "dklen": 32}
"""Of scrypt: 16 MiB and some 50 ms for each try."""


class DoorError(LabError, ValueError):
    """A password cannot be used, or the file of the passwords cannot be trusted."""


class Kept(BaseModel):
    """``door.json``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1] = 1
    key: str
    """32 random bytes as hexadecimal digits."""
    passwords: Mapping[Role, str] = {}
    """Role -> salt and scrypt hash, as hexadecimal digits with a ``$`` between them."""


class Ways(NamedTuple):
    """How people can come in."""

    passwords: Mapping[Role, str]
    """Role -> salt and hash."""
    keys: Mapping[Role, bytes]
    """Role -> what its passes and links are signed with."""

    def role_of(self, password: str) -> Role | None:
        """The role that a password opens. Tries all of them, so that the time tells nothing."""
        fitting = [role for role, known in self.passwords.items() if fits(password[:LONGEST], known)]
        return max(fitting, key=list(VARIABLES)[::-1].index, default=None)


def ways() -> Ways:
    """The ways in as they are now; without passwords there are none. Raises DoorError if the file cannot be read or others can read it."""
    return _ways(file(), _stamp(file()), tuple(os.environ.get(name, "") for name in VARIABLES.values()))


@lru_cache(maxsize=1)
def _ways(path: Path, stamp: tuple[int, int] | None, given: tuple[str, ...]) -> Ways:
    for name, password in zip(VARIABLES.values(), given, strict=True):
        if password:
            check(password, name)
    if stamp is None and not any(given):
        return Ways({}, {})
    kept = read(path) if stamp else begin(path)
    secret = {role: password or kept.passwords.get(role, "") for role, password in zip(VARIABLES, given, strict=True)}
    passwords = {role: hashed(password) for role, password in zip(VARIABLES, given, strict=True) if password}
    keys = {role: hmac.digest(bytes.fromhex(kept.key), f"{role} {secret[role]}".encode(), "sha256") for role in VARIABLES}
    return Ways(dict(kept.passwords) | passwords, keys)


def file() -> Path:
    """``~/.config/frozenlab/door.json``, or what ``FROZENLAB_DOOR`` names."""
    usual = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "frozenlab" / "door.json"
    return Path(os.environ.get(FILE) or usual)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_size


def read(path: Path) -> Kept:
    """Raises DoorError."""
    try:
        if path.stat().st_mode & 0o077:
            raise DoorError(f"others can read {path}, which holds the keys of the door: chmod 600 {path}")
        return Kept.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise DoorError(f"{path} cannot be read ({one_line(error)}): delete it and set the passwords again") from None


def begin(path: Path) -> Kept:
    """A file with a new key and no passwords."""
    kept = Kept(key=secrets.token_hex(32))
    keep(path, kept)
    return kept


def keep(path: Path, kept: Kept) -> None:
    write_text(path, kept.model_dump_json(indent=1))  # a file of its owner alone, as all temporary files are
    path.chmod(0o600)


def set_password(role: Role, password: str) -> None:
    """Keep the hash of a role's password. Raises DoorError if it is too short or too long, or also opens the other role."""
    check(password, f"the {role} password")
    path = file()
    kept = read(path) if path.exists() else begin(path)
    if any(other != role and fits(password, known) for other, known in kept.passwords.items()):
        raise DoorError("this is the password of the other role: each needs its own")
    keep(path, kept.model_copy(update={"passwords": {**kept.passwords, role: hashed(password)}}))


def change_locks() -> None:
    """A new key: everybody has to come in again, and the old links open nothing. Passwords stay."""
    path = file()
    if not path.exists():
        raise DoorError("there is no door yet: frozenlab door password operator")
    keep(path, read(path).model_copy(update={"key": secrets.token_hex(32)}))


def check(password: str, name: str) -> None:
    """Raises DoorError if it cannot be a password."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise DoorError(f"{name} has {len(password)} characters: {SHORTEST} to {LONGEST} are right")


def hashed(password: str) -> str:
    salt = secrets.token_bytes(16)
    return f"{salt.hex()}${scrypt(_bytes(password), salt=salt, **COST).hex()}"


def fits(password: str, known: str) -> bool:
    """Whether a password has this hash."""
    salt, _, digest = known.partition("$")
    return hmac.compare_digest(scrypt(_bytes(password), salt=bytes.fromhex(salt), **COST), bytes.fromhex(digest))


def _bytes(password: str) -> bytes:
    return sha256(password.encode("utf-8", "surrogatepass")).digest()
