"""``frozenlab app``: opening the lab."""

from __future__ import annotations

import argparse
import os
import secrets
import socket
import subprocess
import sys
import time
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

from frozenlab.base import look_only, places
from frozenlab.cli.common import InputError, show
from frozenlab.lake.kernels import cache as kernel_cache


def add_app(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, default=8501, help="port of the server (default: %(default)s)")
    parser.add_argument("--host", help="let other machines reach the lab at this address, such as 0.0.0.0, by a link with a password")
    parser.add_argument("--look-only", action="store_true", help="a server for visitors: it cannot start, stop, change or delete anything")
    parser.add_argument(
        "--allowed-host", metavar="NAME", action="append", default=[],
        help="another name of the lab, such as lab.example, besides this machine's own; a proxy's too",
    )  # fmt: skip
    parser.add_argument("--no-browser", action="store_true", help="start the server without opening a browser")
    parser.add_argument("--sessions", type=Path, help="folder of the sessions (default: FROZENLAB_SESSIONS, else sessions/)")


def run_app(options: argparse.Namespace) -> int:
    check_free(options.host or "127.0.0.1", options.port)
    environment = os.environ | ({"FROZENLAB_SESSIONS": str(options.sessions.resolve())} if options.sessions else {})
    command = [sys.executable, "-m", "streamlit", "run", str(places.ROOT / "streamlit_app.py"), "--server.port", str(options.port)]
    if options.look_only:
        environment[look_only.VARIABLE] = "1"
        command += ["--server.maxUploadSize", "1"]  # MB, which stay in memory
    invite = None
    if others := [*options.allowed_host, *reached_by(options.host)]:
        command += for_others(options)
    if others or environment.get("FROZENLAB_PASSWORD"):
        invite = with_password(environment)
    kernel_cache.start()
    hears, tells = os.pipe()
    server = subprocess.Popen(command, cwd=places.workplace(), env=environment | {places.TELL: str(tells)}, pass_fds=(tells,))
    os.close(tells)
    try:
        with os.fdopen(hears) as told:  # ends with the server, at the latest
            scheme, _, path = told.read().partition(" ")
        if wait_until_up(server, options.port):
            url = url_of(scheme, here(options.host), options.port, path)
            link = [invite(url_of(scheme, others[0], options.port, path) if others else url)] if invite else []
            open_at = f"FrozenLab is open at {url}  (Ctrl+C closes it; running sessions continue)"
            show(options.json, {"url": url, "others": link[0] if link else None}, open_at, *link)
            if not options.no_browser:
                webbrowser.open(url)
        return server.wait()
    except KeyboardInterrupt:
        server.terminate()
        return 0


def check_free(host: str, port: int) -> None:
    """Raises InputError if no server can listen there: another program does, or it is no address of this machine."""
    try:
        with socket.create_server((host, port or -1), family=socket.AF_INET6 if ":" in host else socket.AF_INET):
            return
    except OverflowError:
        why = "a port is a number from 1 to 65535"
    except OSError as error:
        why = str(error.strerror).split(" (")[0]
    raise InputError(f"the lab cannot listen at {host}, port {port}: {why}; give another --port or --host")


def for_others(options: argparse.Namespace) -> list[str]:
    """The options of a server that others can reach."""
    names = dict.fromkeys(["localhost", "127.0.0.1", *reached_by(options.host), *options.allowed_host])
    address = ["--server.address", options.host] if options.host else []
    return [*address, *(part for name in names for part in ("--server.allowedHosts", name))]


def with_password(environment: dict[str, str]) -> Callable[[str], str]:
    """The password of the server in its ``environment``, drawn if there is none, and what makes the line for others of its address.

    The link is as good as the password, so it is never written to a log. Raises InputError where a
    drawn one could not be read, and DoorError for one that is too short.
    """
    from frozenlab.app.ui import door

    if environment.get(door.VARIABLE):
        door.password()
        return f"The lab asks for the password in {door.VARIABLE}: {{}}".format
    if not sys.stdout.isatty():
        raise InputError(f"set {door.VARIABLE}: a password that is drawn is shown in a terminal only")
    word = environment[door.VARIABLE] = secrets.token_urlsafe(32)
    return lambda address: f"Link for others: {door.link(address, word)}"


def url_of(scheme: str, name: str, port: int, path: str) -> str:
    """The address of the lab below a path, under a name or an address of its machine."""
    return f"{scheme}://{f'[{name}]' if ':' in name else name}:{port}/{path}".rstrip("/")


def here(host: str | None) -> str:
    """Where this machine itself reaches a server that listens at ``host``."""
    return "127.0.0.1" if host in (None, "0.0.0.0", "::") else str(host)


def reached_by(host: str | None) -> list[str]:
    """The names by which others reach a server that listens at ``host``: its own, or every address and the name of this machine."""
    if host is None:
        return []
    if host not in ("0.0.0.0", "::"):
        return [host]
    addresses = [one.address for all_of in psutil.net_if_addrs().values() for one in all_of if one.family == socket.AF_INET]
    name = socket.gethostname()
    return [*(address for address in addresses if not address.startswith("127.")), name, f"{name}.local"]


def wait_until_up(server: subprocess.Popen[bytes], port: int) -> bool:
    """Wait for the server to take connections; False if it ended instead, as where another program has the port already."""
    while server.poll() is None:
        with suppress(psutil.Error):
            if any(
                open_.status == psutil.CONN_LISTEN and open_.laddr.port == port for open_ in psutil.Process(server.pid).net_connections()
            ):
                return True
        time.sleep(0.2)
    return False
