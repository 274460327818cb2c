"""Serving a page on this machine."""

import threading
from collections.abc import Iterable
from pathlib import Path

from egobench_tasks.browse.listen import serve_page
from egobench_tasks.making.pages.page import Desk, build_page, style


def serve(
    desk: Desk,
    folders: Iterable[Path],
    links: Iterable[str],
    *,
    host: str,
    port: int,
    finished: threading.Event | None = None,
) -> None:
    """Serve a desk's page until interrupted, or until ``finished`` is set.

    ``links``: the query parts of the addresses to print. No file is served but those in ``folders``. Raises
    ``InputError`` where the port is taken.
    """
    said = [f"http://{host}:{port}/{link} (end with Ctrl-C)" for link in links]
    serve_page(build_page(desk), folders, said, host=host, port=port, css=style(), finished=finished)
