"""Start the browser's server on this machine."""

import os
from collections.abc import Sequence
from pathlib import Path

from egobench_tasks.browse.load import load_library
from egobench_tasks.data import DatasetLocation
from egobench_tasks.errors import InputError


def launch(
    dataset: DatasetLocation,
    runs: Sequence[Path],
    *,
    host: str = "127.0.0.1",
    port: int = 7860,
    report: Path | None = None,
) -> None:
    """Serve a dataset, and runs over it, until interrupted.

    ``runs`` are what `report.runs.find_runs` takes. Nothing is written but decoded frames in the
    cache, nothing is sent elsewhere, and no file is served but the dataset's clips and the page of ``report``, a
    folder that `egobench report` wrote. ``host`` other than loopback lets everyone on the network look.
    Raises ``InputError`` without Gradio, without a page in ``report``, where the port is taken, and as
    `load.load_library`.
    """
    page = None if report is None else _report_page(report)
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # read when Gradio is imported
    try:
        import gradio as gr
        from starlette.middleware import Middleware
    except ModuleNotFoundError as error:
        raise InputError(f"browsing needs {error.name}: pip install 'egobench[browse]'") from error
    from egobench_tasks.browse.app import build_app
    from egobench_tasks.browse.guard import ReadOnly
    from egobench_tasks.browse.html import style
    from egobench_tasks.browse.report_page import REPORT_PATH, ReportPage
    from egobench_tasks.frames.store import FrameStore
    from egobench_tasks.servers.loopback import is_loopback

    library = load_library(dataset, runs)
    app = build_app(library, FrameStore(), None if page is None else REPORT_PATH)
    middleware = [Middleware(ReadOnly, is_open=not is_loopback(host))]
    if page is not None:
        middleware.append(Middleware(ReportPage, page=page))
    try:
        app.launch(
            server_name=host,
            server_port=port,
            share=False,
            quiet=True,
            prevent_thread_lock=True,
            allowed_paths=[str(folder) for folder in library.video_folders],
            app_kwargs={"middleware": middleware},
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


def _report_page(report: Path) -> Path:
    page = report / "report.html" if report.is_dir() else report
    if not page.is_file() or page.suffix != ".html":
        raise InputError(f"--report: {report}: holds no report.html; give the folder that `egobench report` wrote")
    return page
