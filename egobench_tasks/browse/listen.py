"""A Gradio page on this machine: what it may serve, whom it answers, nothing fetched or sent elsewhere."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from egobench_tasks.errors import InputError

if TYPE_CHECKING:
    import gradio as gr


def check_gradio(doing: str, extra: str) -> None:
    """Import Gradio without its statistics. Raises ``InputError`` naming the ``extra`` where it is missing."""
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # read when Gradio is imported
    try:
        import gradio  # noqa: F401
        import starlette.middleware  # noqa: F401
    except ModuleNotFoundError as error:
        raise InputError(f"{doing} needs {error.name}: pip install 'egobench[{extra}]'") from error


def listen(app: "gr.Blocks", folders: Iterable[Path], *, host: str, port: int, css: str) -> None:
    """Serve a page in threads of its own and return. No file is served but those in ``folders``.

    Raises ``InputError`` where the port is taken.
    """
    import gradio as gr
    from starlette.middleware import Middleware

    from egobench_tasks.browse.guard import ReadOnly
    from egobench_tasks.servers.loopback import is_loopback

    try:
        app.launch(
            server_name=host,
            server_port=port,
            share=False,
            quiet=True,
            prevent_thread_lock=True,
            allowed_paths=[str(folder) for folder in folders],
            app_kwargs={"middleware": [Middleware(ReadOnly, is_open=not is_loopback(host))]},
            # The computer's own fonts: Gradio's themes may name fonts that a browser would fetch.
            theme=gr.themes.Default(font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"]),
            css=css,
            footer_links=[],
            run_history=False,
            ssr_mode=False,
            enable_monitoring=False,
        )
    except OSError as error:
        raise InputError(f"cannot listen on {host}:{port} ({error}); give another --port") from error
