"""Start the browser's server on this machine."""

from collections.abc import Sequence
from pathlib import Path

from egobench_tasks.browse.listen import check_gradio, serve_page
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
    check_gradio("the browser", "browse")
    from egobench_tasks.browse.app import build_app
    from egobench_tasks.browse.html import style
    from egobench_tasks.browse.report_page import REPORT_PATH
    from egobench_tasks.frames.store import FrameStore

    library = load_library(dataset, runs)
    app = build_app(library, FrameStore(), None if page is None else REPORT_PATH)
    said = f"{len(library.entries)} questions at http://{host}:{port}/ (end with Ctrl-C)"
    serve_page(app, library.video_folders, [said], host=host, port=port, css=style(), report=page)


def _report_page(report: Path) -> Path:
    page = report / "report.html" if report.is_dir() else report
    if not page.is_file() or page.suffix != ".html":
        raise InputError(f"--report: {report}: holds no report.html; give the folder that `egobench report` wrote")
    return page
