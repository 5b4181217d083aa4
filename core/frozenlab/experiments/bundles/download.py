"""Fetching a bundle from an address that a person gave and agreed to: by https, from one host on the internet, and no further."""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urljoin, urlsplit

from frozenlab.experiments.bundles import limits
from frozenlab.experiments.bundles.manifest import BundleError

SECONDS, SILENCE = 1800.0, 30.0
"""For the whole download; without a byte."""
REDIRECTS = 3
"""To other pages of the same host."""
PIECE = 2**18
Connect = Callable[[str], socket.socket]
"""A connection to a host's port 443."""


def host_of(address: str) -> str:
    """The host that would be asked. Raises BundleError if the address is not one of https."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    plain = address.isascii() and address.isprintable() and " " not in address
    if not plain or parts.scheme != "https" or not parts.hostname or parts.username or parts.password or port not in (None, 443):
        raise BundleError("an address to import from is like https://host/file.zip, without a user, a password or a port")
    return parts.hostname


def connected(host: str) -> socket.socket:
    """An encrypted connection to a host that is on the internet. Raises BundleError if one of its addresses is of this machine or of a
    network around it, because a page elsewhere must not get this machine to ask there."""
    try:
        found = socket.getaddrinfo(host, 443, type=socket.SOCK_STREAM)
    except OSError as error:
        raise BundleError(f"{host} is not found: {error.strerror}") from None
    addresses = [str(one[4][0]) for one in found]
    if not addresses or any(not ipaddress.ip_address(address.partition("%")[0]).is_global for address in addresses):
        raise BundleError(f"{host} is on this machine or a network around it: copy the file and import that")
    raw = socket.create_connection((addresses[0], 443), timeout=SILENCE)  # the address that was looked at, not another one for the name
    return ssl.create_default_context().wrap_socket(raw, server_hostname=host)


def fetch(address: str, out: BinaryIO, connect: Connect = connected, on_progress: Callable[[int], None] = lambda size: None) -> str:
    """Write what is at the address into ``out`` and return its file name. Raises BundleError with the reason if it cannot be had."""
    host, deadline = host_of(address), time.monotonic() + SECONDS
    try:
        for _ in range(REDIRECTS + 1):
            answer = _asked(address, host, connect)
            if answer.status not in (301, 302, 303, 307, 308):
                break
            address = urljoin(address, answer.getheader("Location", ""))
            if host_of(address) != host:
                raise BundleError(f"{host} sends on to {host_of(address)}, which nobody agreed to: give that address, or use a browser")
        if answer.status != 200:
            raise BundleError(f"{host} answers {answer.status} {answer.reason}".rstrip())
        _stream(answer, out, host, deadline, on_progress)
    except (OSError, http.client.HTTPException) as error:
        raise BundleError(f"{host} does not answer as it should: {str(error) or type(error).__name__}") from None
    return Path(urlsplit(address).path).name or "bundle.zip"


def _asked(address: str, host: str, connect: Connect) -> http.client.HTTPResponse:
    connection, parts = http.client.HTTPSConnection(host), urlsplit(address)
    connection.sock = connect(host)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection.request("GET", path, headers={"User-Agent": "frozenlab", "Accept-Encoding": "identity"})
    return connection.getresponse()


def _stream(answer: http.client.HTTPResponse, out: BinaryIO, host: str, deadline: float, on_progress: Callable[[int], None]) -> None:
    size, announced = 0, answer.length
    while piece := answer.read1(PIECE):
        size += len(piece)
        if size > limits.ARCHIVE or (announced or 0) > limits.ARCHIVE:
            raise BundleError(f"a bundle has at most {limits.ARCHIVE // limits.MB:,} MB, and this is more")
        if time.monotonic() > deadline:
            raise BundleError(f"{host} is too slow: after {SECONDS / 60:.0f} minutes {size / 1e6:.0f} MB had come")
        out.write(piece)
        on_progress(size)
    if announced is not None and size < announced:
        raise BundleError(f"{host} ended after {size / 1e6:.1f} of {announced / 1e6:.1f} MB")
