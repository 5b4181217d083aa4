"""The addresses that people come from."""

from __future__ import annotations

from ipaddress import ip_address


def network(address: str) -> str:
    """The address, or the network of 64 bits of an IPv6 address: whoever has one has all of them."""
    try:
        found = ip_address(address)
    except ValueError:
        return address[:64]
    if found.version == 6 and found.ipv4_mapped is None:
        return found.exploded[:19]
    return str(found)


def shared(address: str | None) -> str:
    """What people behind one address have in common. Empty for this machine, at which a proxy may be that does not say for whom it asks."""
    name = network(address or "")
    try:
        return "" if ip_address(address or "").is_loopback else name
    except ValueError:
        return name
