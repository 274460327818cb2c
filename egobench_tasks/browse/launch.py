"""Start the browser's server on this machine."""

import os
from collections.abc import Sequence
from pathlib import Path

from egobench_tasks.browse.load import load_library
from egobench_tasks.data import DatasetLocation
from egobench_tasks.errors import InputError
from egobench_tasks.extras import needs_extra


def launch(dataset: DatasetLocation, runs: Sequence[Path], *, host: str = "127.0.0.1", port: int = 7860) -> None:
    """Serve a dataset, and runs over it, until interrupted.

    ``runs`` are what `report.runs.find_runs` takes. Nothing is written but decoded frames in the
    cache, nothing is sent elsewhere, and no file is served but the dataset's clips. ``host`` other
    than loopback lets everyone on the network look.
    Raises ``InputError`` without Gradio, where the port is taken, and as `load.load_library`.
    """
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # read when Gradio is imported
    with needs_extra("browse", "the browser"):
        import gradio as gr
        from starlette.middleware import Middleware

        from egobench_tasks.browse.app import build_app
    from egobench_tasks.browse.guard import ReadOnly
    from egobench_tasks.browse.html import style
    from egobench_tasks.frames.store import FrameStore
    from egobench_tasks.servers.loopback import is_loopback

    library = load_library(dataset, runs)
    app = build_app(library, FrameStore())
    try:
        app.launch(
            server_name=host,
            server_port=port,
            share=False,
            quiet=True,
            prevent_thread_lock=True,
            allowed_paths=[str(folder) for folder in library.video_folders],
            app_kwargs={"middleware": [Middleware(ReadOnly, is_open=not is_loopback(host))]},
            # The computer's own fonts: Gradio's themes may name fonts that a browser would fetch.
            theme=gr.themes.Default(font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"]),
            css=style(),
            footer_links=[],
            run_history=False,
            ssr_mode=False,
            enable_monitoring=False,
        )
    except OSError as error:
        raise InputError(f"cannot listen on {host}:{port} ({error}); give another --port") from error
    print(f"{len(library.entries)} questions at http://{host}:{port}/ (end with Ctrl-C)", flush=True)
    app.block_thread()
