"""The runs' report beside the browser: one page, read when it is asked for."""

from pathlib import Path

from starlette.responses import FileResponse, PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

REPORT_PATH = "/report"
_HEADERS = {
    # A report fetches nothing; what a name in it might do, it may not do here either.
    "Content-Security-Policy": "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
}


class ReportPage:
    """ASGI middleware that answers `REPORT_PATH` with one file, and passes everything else on."""

    def __init__(self, app: ASGIApp, *, page: Path) -> None:
        self.app = app
        self._page = page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the report, or pass a request on."""
        if scope["type"] != "http" or scope["path"].rstrip("/") != REPORT_PATH:
            await self.app(scope, receive, send)
        elif not self._page.is_file():
            await PlainTextResponse("the report is not there any more", 404)(scope, receive, send)
        else:
            await FileResponse(self._page, media_type="text/html", headers=_HEADERS)(scope, receive, send)
