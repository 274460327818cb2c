"""Names and addresses of this machine alone."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Whether a host's name or address is of this machine alone."""
    name = host.lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False
