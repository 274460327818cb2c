"""What the server refuses: Gradio's own ways to upload files and to fetch addresses for a visitor, and other sites."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from egobench_tasks.servers.loopback import is_loopback

_API = "/gradio_api"
# Joining the queue is how Gradio asks for any event; the others end one.
_POSTS = (f"{_API}/queue/join", f"{_API}/reset", f"{_API}/cancel")
_FETCHES = (f"{_API}/file=http", f"{_API}/file/http", f"{_API}/proxy=")


def is_refused(method: str, path: str) -> bool:
    """Whether a request would change something here, or go elsewhere."""
    if method in ("GET", "HEAD"):
        return any(path.lower().startswith(prefix) for prefix in _FETCHES)
    return method != "POST" or path.rstrip("/") not in _POSTS


def is_foreign(headers: Mapping[str, str], *, is_open: bool) -> bool:
    """Whether another site's page asks: through a name of its own that leads here, or across sites.

    Args:
        headers: the request's, by names in lower case.
        is_open: whether the server was told to listen beyond this machine. Else it answers to names of this machine
            alone.
    """
    host = headers.get("host", "")
    try:
        name, asking = urlsplit(f"//{host}").hostname or "", urlsplit(headers.get("origin", f"//{host}")).netloc
    except ValueError:
        return True
    return (not is_open and not is_loopback(name)) or asking.lower() != host.lower()


class ReadOnly:
    """ASGI middleware that answers 403 to what `is_refused`, and to what `is_foreign`."""

    def __init__(self, app: ASGIApp, *, is_open: bool = False) -> None:
        self.app = app
        self._is_open = is_open

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] != "http" or is_foreign(Headers(scope=scope), is_open=self._is_open):
            await PlainTextResponse("egobench answers pages of its own alone", 403)(scope, receive, send)
        elif is_refused(scope["method"], scope["path"]):
            await PlainTextResponse("egobench takes nothing but what its own pages send", 403)(scope, receive, send)
        else:
            await self.app(scope, receive, send)
