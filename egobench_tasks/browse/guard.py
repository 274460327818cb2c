"""What the server refuses: Gradio's own ways to upload files and to fetch addresses for a visitor."""

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_API = "/gradio_api"
# Joining the queue is how Gradio asks for any event; the others end one.
_POSTS = (f"{_API}/queue/join", f"{_API}/reset", f"{_API}/cancel")
_FETCHES = (f"{_API}/file=http", f"{_API}/file/http", f"{_API}/proxy=")


def is_refused(method: str, path: str) -> bool:
    """Whether a request would change something here, or go elsewhere."""
    if method in ("GET", "HEAD"):
        return any(path.lower().startswith(prefix) for prefix in _FETCHES)
    return method != "POST" or path.rstrip("/") not in _POSTS


class ReadOnly:
    """ASGI middleware that answers 403 to what `is_refused`."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http" and is_refused(scope["method"], scope["path"]):
            await PlainTextResponse("egobench browse only shows what is here", 403)(scope, receive, send)
        else:
            await self.app(scope, receive, send)
