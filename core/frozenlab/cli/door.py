"""``frozenlab door``: passwords and links of a server that others can reach."""

from __future__ import annotations

import argparse
import sys

from frozenlab.base.roles import Role
from frozenlab.cli.common import Command, InputError, print_json


def add_door(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    password = actions.add_parser("password", help="set a role's password; it is asked for, or read from standard input")
    password.add_argument("role", choices=[role.value for role in Role], help="whom it lets in")
    links = actions.add_parser("links", help="print the links that let people in")
    links.add_argument("--address", default="http://127.0.0.1:8501", help="address of the app (default: %(default)s)")
    actions.add_parser("new-locks", help="end all passes and links; passwords stay")


def run_door(options: argparse.Namespace) -> None:
    {"password": password, "links": links, "new-locks": new_locks}[options.action](options)


def password(options: argparse.Namespace) -> None:
    from frozenlab.app.ui.door import ways

    ways.set_password(Role(options.role), asked_for(options.role))
    print(f"The {options.role} password is set, in {ways.file()}. Whoever was in as {options.role} has to come in again.")


def asked_for(role: str) -> str:
    """The password, twice the same from a person, one line from a pipe. Raises InputError."""
    from getpass import getpass

    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    first = getpass(f"New {role} password: ")
    if first != getpass("Once more: "):
        raise InputError("these were two different passwords; nothing has changed")
    return first


def links(options: argparse.Namespace) -> None:
    found = links_of(options.address)
    if options.json:
        print_json(found)
        return
    for role, link in found.items():
        print(f"{role:>8}: {link}")


def links_of(address: str) -> dict[str, str]:
    """Role -> the link that lets people in. Raises InputError if there are none, because no password is set."""
    from frozenlab.app.ui.door import passes
    from frozenlab.app.ui.door.ways import ways

    known = ways()
    if not known.passwords:
        raise InputError("there are no links before there is a password: frozenlab door password operator")
    return {role.value: passes.link_address(f"{address.rstrip('/')}/", role, known) for role in Role}


def new_locks(options: argparse.Namespace) -> None:
    from frozenlab.app.ui.door import ways

    ways.change_locks()
    print("Everybody has to come in again, and the old links open nothing.")


COMMANDS = (Command("door", "passwords and links of a lab that others can reach", add_door, run_door),)
