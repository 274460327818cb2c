"""Serving a page on this machine."""

import threading
from collections.abc import Iterable
from pathlib import Path

from egobench_tasks.browse.listen import listen
from egobench_tasks.making.pages.page import Desk, build_page, style

_LOOK_S = 0.5
_LAST_ANSWER_S = 2.0


def serve(
    desk: Desk, folders: Iterable[Path], links: Iterable[str], *, host: str, port: int, finished: threading.Event
) -> None:
    """Serve a desk's page until interrupted, or until ``finished`` is set.

    ``links``: the query parts of the addresses to print. No file is served but those in ``folders``. Raises
    ``InputError`` where the port is taken.
    """
    app = build_page(desk)
    listen(app, folders, host=host, port=port, css=style())
    for link in links:
        print(f"http://{host}:{port}/{link} (end with Ctrl-C)", flush=True)
    try:
        while not finished.wait(_LOOK_S):
            pass
        threading.Event().wait(_LAST_ANSWER_S)  # the page still waits for the answer that ended it
    except KeyboardInterrupt:
        pass
    finally:
        app.close()
