"""A Gradio page on this machine: what it may serve, whom it answers, nothing fetched or sent elsewhere."""

import contextlib
import os
import socket
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from egobench_tasks.errors import InputError
from egobench_tasks.extras import needs_extra

if TYPE_CHECKING:
    import gradio as gr

_LAST_ANSWER_S = 2.0
_OPEN_PAGES_S = 1
"""How long a server that ends waits for pages that are open: each holds a connection for as long as it is."""


def check_gradio(doing: str, extra: str) -> None:
    """Import Gradio without its statistics. Raises ``InputError`` naming the ``extra`` where it is missing."""
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # read when Gradio is imported
    with needs_extra(extra, doing):
        import fastapi  # noqa: F401
        import gradio  # noqa: F401
        import uvicorn  # noqa: F401


def serve_page(
    page: "gr.Blocks",
    folders: Iterable[Path],
    said: Iterable[str],
    *,
    host: str,
    port: int,
    css: str,
    report: Path | None = None,
    finished: threading.Event | None = None,
) -> None:
    """Serve a page until interrupted, or until ``finished`` is set.

    No file is served but those in ``folders`` and the page ``report``; ``said`` is printed once it listens. Raises
    ``InputError`` where the port is taken.
    """
    import gradio as gr
    import uvicorn
    from fastapi import FastAPI

    from egobench_tasks.browse.guard import ReadOnly
    from egobench_tasks.browse.report_page import ReportPage
    from egobench_tasks.servers.loopback import is_loopback

    # Mounted, not launched: Gradio puts its own middleware, which allows other sites' requests, around all that a
    # launched app is given.
    app = gr.mount_gradio_app(
        FastAPI(openapi_url=None),
        page,
        path="/",
        allowed_paths=[str(folder) for folder in folders],
        # The computer's own fonts: Gradio's themes may name fonts that a browser would fetch.
        theme=gr.themes.Default(font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"]),
        css=css,
        footer_links=[],
        run_history=False,
        ssr_mode=False,
        enable_monitoring=False,
    )
    shown = app if report is None else ReportPage(app, page=report)
    guarded = ReadOnly(shown, is_open=not is_loopback(host))
    config = uvicorn.Config(guarded, log_level="warning", timeout_graceful_shutdown=_OPEN_PAGES_S)
    with _listening(host, port) as listening, contextlib.suppress(KeyboardInterrupt):
        for line in said:
            print(line, flush=True)
        server = uvicorn.Server(config)
        if finished is not None:
            threading.Thread(target=_end_after, args=(server, finished), daemon=True).start()
        server.run([listening])


def _end_after(server: Any, finished: threading.Event) -> None:
    finished.wait()
    threading.Event().wait(_LAST_ANSWER_S)  # the page still waits for the answer to what ended it
    server.should_exit = True


def _listening(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise InputError(f"cannot listen on {host}:{port} ({error}); give another --port") from error
