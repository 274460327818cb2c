"""Start the browser's server on this machine."""

import contextlib
import os
import socket
from collections.abc import Sequence
from pathlib import Path

from egobench_tasks.browse.load import load_library
from egobench_tasks.data import DatasetLocation
from egobench_tasks.errors import InputError


def launch(dataset: DatasetLocation, runs: Sequence[Path], *, host: str = "127.0.0.1", port: int = 7860) -> None:
    """Serve a dataset, and runs over it, until interrupted.

    ``runs`` are what `report.runs.find_runs` takes. Nothing is written but decoded frames in the
    cache, nothing is sent elsewhere, and no file is served but the dataset's clips. ``host`` other
    than loopback lets everyone on the network look.
    Raises ``InputError`` without Gradio, where the port is taken, and as `load.load_library`.
    """
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # read when Gradio is imported
    try:
        import gradio as gr
        import uvicorn
        from fastapi import FastAPI
    except ModuleNotFoundError as error:
        raise InputError(f"browsing needs {error.name}: pip install 'egobench[browse]'") from error
    from egobench_tasks.browse.app import build_app
    from egobench_tasks.browse.guard import ReadOnly
    from egobench_tasks.browse.html import style
    from egobench_tasks.frames.store import FrameStore
    from egobench_tasks.servers.loopback import is_loopback

    library = load_library(dataset, runs)
    # Mounted, not launched: Gradio puts its own middleware, which allows other sites' requests, around all that a
    # launched app is given.
    app = gr.mount_gradio_app(
        FastAPI(openapi_url=None),
        build_app(library, FrameStore()),
        path="/",
        allowed_paths=[str(folder) for folder in library.video_folders],
        # The computer's own fonts: Gradio's themes may name fonts that a browser would fetch.
        theme=gr.themes.Default(font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"]),
        css=style(),
        footer_links=[],
        run_history=False,
        ssr_mode=False,
        enable_monitoring=False,
    )
    guarded = ReadOnly(app, is_open=not is_loopback(host))
    with _listening(host, port) as listening, contextlib.suppress(KeyboardInterrupt):
        print(f"{len(library.entries)} questions at http://{host}:{port}/ (end with Ctrl-C)", flush=True)
        # A page that is open keeps a connection open: its end is not waited for.
        settings = uvicorn.Config(guarded, log_level="warning", timeout_graceful_shutdown=1)
        uvicorn.Server(settings).run([listening])


def _listening(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise InputError(f"cannot listen on {host}:{port} ({error}); give another --port") from error
