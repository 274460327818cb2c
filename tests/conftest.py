"""What all tests share: real annotations where they are, a sample benchmark, a tiny model, and a home of their own."""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OURS = ("EGOGEARS_DATA", "EGOTEMPO_DATA", "EGOBENCH_PROMPTS", "EGOBENCH_JUDGE_PROMPT", "EGOBENCH_JOURNAL")


def pytest_configure(config):
    """Caches and settings of the user's stay out of the tests, theirs out of the user's home.

    Here and not in a fixture: huggingface_hub and datasets read these variables once, when imported.
    No test asks a network for anything.
    """
    config.home = tempfile.mkdtemp(prefix="egobench-tests-")
    os.environ.update(
        HF_HOME=f"{config.home}/hf",
        EGOBENCH_CACHE=f"{config.home}/cache",
        HF_HUB_OFFLINE="1",
        TOKENIZERS_PARALLELISM="false",
    )
    for name in OURS:
        os.environ.pop(name, None)


def pytest_unconfigure(config):
    """Remove what the session kept."""
    shutil.rmtree(config.home, ignore_errors=True)


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder with real annotations and golden vectors, which the project does not commit."""
    folder = Path(os.environ.get("EGOBENCH_SHARED", ROOT.parent / "shared"))
    if not (folder / "protocol" / "vectors.json").is_file():
        pytest.skip(f"no shared data at {folder}: set EGOBENCH_SHARED to the folder that holds protocol/ and data/")
    return folder


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory) -> Path:
    """A small sample benchmark: ``raw`` and the built ``egogears``."""
    from dataset_scripts.egogears.build import build_egogears
    from dataset_scripts.sample.release import write_sample_release

    folder = tmp_path_factory.mktemp("sample")
    write_sample_release(folder / "raw", questions=12, seed=1)
    build_egogears(folder / "raw", folder / "egogears")
    return folder


@pytest.fixture(scope="session")
def tiny_llava(tmp_path_factory) -> Path:
    """A random LLaVA, a real transformers model in every part."""
    from dataset_scripts.sample.tiny_vlm import write_tiny_llava

    return write_tiny_llava(tmp_path_factory.mktemp("models") / "tiny-llava")


@pytest.fixture(scope="session")
def tiny_clip(tmp_path_factory):
    """One second of 64x36 video: its path and SHA-256."""
    import av
    import numpy as np

    from egobench_tasks.files import sha256_of

    path = tmp_path_factory.mktemp("clip") / "tiny.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=8)
        stream.width, stream.height, stream.pix_fmt = 64, 36, "yuv420p"
        for index in range(8):
            frame = av.VideoFrame.from_ndarray(np.full((36, 64, 3), index * 30, np.uint8), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path, sha256_of(path)


@pytest.fixture(scope="session")
def start_chromium(tmp_path_factory):
    """``with start_chromium(performance="ALL") as driver``: headless Chromium that logs its console, and what is named.

    Skips where there is no browser; CI must have one.
    """
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or chromedriver is None:
        if os.environ.get("CI"):
            pytest.fail("CI has no chromium and chromedriver; .ci/run must install them")
        pytest.skip("needs chromium and chromedriver (Debian: apt install chromium chromium-driver)")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    @contextlib.contextmanager
    def start(**logs):
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        flags = "headless no-sandbox disable-gpu disable-quic no-first-run disable-background-networking "
        flags += "disable-component-update disable-sync disable-dev-shm-usage"
        for flag in flags.split():
            options.add_argument(f"--{flag}")
        options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", **logs})
        driver = webdriver.Chrome(options=options, service=Service(chromedriver))
        try:
            yield driver
        finally:
            driver.quit()

    return start


@pytest.fixture(scope="session")
def serious_faults():
    """``serious_faults(driver)``: what axe-core calls serious or critical of the page that a browser shows, a line a
    fault and element. axe-core comes with the package selenium-axe-python (MPL 2.0)."""
    pytest.importorskip("selenium_axe_python")
    from selenium_axe_python import Axe

    def faults(driver):
        axe = Axe(driver)
        axe.inject()
        driver.set_script_timeout(300)
        # The rows of a table are alike: three of each are looked at.
        driver.execute_script(
            "for (const body of document.querySelectorAll('tbody')) while (body.rows.length > 3) body.deleteRow(-1)"
        )
        found = driver.execute_async_script(
            "const done = arguments[arguments.length - 1];axe.run().then(done, (error) => done({error: String(error)}))"
        )
        assert "error" not in found, found
        return [
            f"{one['id']} ({one['impact']}): {' '.join(node['html'].split())[:200]}: {node['failureSummary'][:300]}"
            for one in found["violations"]
            if one["impact"] in ("serious", "critical")
            for node in one["nodes"]
        ]

    return faults
