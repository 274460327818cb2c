"""The HTTP client to one address, made so that a setting of this machine ends as a message and not as a traceback."""

import os
import resource
import ssl
from urllib.parse import urlsplit

import httpx

from egobench_tasks.errors import InputError
from egobench_tasks.servers.loopback import is_loopback

_CONNECT_S = 30.0
_SPARE_HANDLES = 64
"""Files open at once besides connections: the dataset, the journal, clips being decoded, locks."""


def make_transport(base_url: str, most_at_once: int) -> httpx.AsyncClient:
    """Return a client without limits of its own on replies' time: whoever asks bounds the whole request.

    Servers on this machine are asked directly, whatever proxy the environment names. Raises ``InputError`` for a
    proxy or a certificate setting that cannot be used, and where this process may not open enough files.
    """
    parts = urlsplit(base_url)
    check_handles(most_at_once)
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=most_at_once)
    is_local = is_loopback(parts.hostname or "")
    try:
        return httpx.AsyncClient(
            verify=_certificates(parts.scheme),
            timeout=httpx.Timeout(None, connect=_CONNECT_S),
            limits=limits,
            trust_env=not is_local,
            headers={"Accept-Encoding": "identity", "User-Agent": "egobench"},
        )
    except (ImportError, ValueError, httpx.InvalidURL) as error:
        proxies = ", ".join(sorted(name for name in os.environ if name.lower().endswith("_proxy") and os.environ[name]))
        raise InputError(
            f"{base_url}: the proxy that {proxies or 'the environment'} names cannot be used ({error}); "
            "unset the variable, or name this server in NO_PROXY"
        ) from error


def check_handles(most_at_once: int) -> None:
    """Raise this process's limit of open files as far as needed. Raises ``InputError`` where that is not allowed."""
    needed = most_at_once + _SPARE_HANDLES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise InputError(
            f"this process may open {hard} files, and {most_at_once} requests at once need {needed}; "
            f"give a smaller concurrency, or raise the limit (ulimit -Hn {needed})"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def _certificates(scheme: str) -> ssl.SSLContext:
    """Plain HTTP needs none, so a stale setting must not matter; HTTPS takes what the environment names."""
    if scheme == "http":
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        return httpx.create_ssl_context()
    except OSError as error:  # ssl.SSLError is one
        named = [f"{name}={os.environ[name]}" for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if os.environ.get(name)]
        raise InputError(
            f"the certificates that {' and '.join(named) or 'this machine has'} cannot be read ({error}); "
            "unset the variable, or let it name a file that exists"
        ) from error
