"""The browser's server in a process of its own, and a visit to its page in headless Chromium."""

import os
import socket
import subprocess
import sys
from urllib.parse import urlencode

import pytest

LAUNCH = """
import sys
from pathlib import Path
from egobench_tasks.browse.launch import launch
from egobench_tasks.data import DatasetLocation
report = Path(sys.argv[3]) if sys.argv[3] else None
launch(DatasetLocation(sys.argv[2]), [Path(run) for run in sys.argv[4:]], port=int(sys.argv[1]), report=report)
"""

METRICS = {"width": 1280, "height": 1000, "deviceScaleFactor": 1, "mobile": False}


def serve(location, runs, cache, report=""):
    """Start the browser in a process of its own; return it and its port once it listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", LAUNCH, str(port), location.path, str(report), *map(str, runs)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ | {"EGOBENCH_CACHE": cache}
    )
    printed = []
    for line in process.stdout:
        printed.append(line)
        if f"http://127.0.0.1:{port}/" in line:
            return process, port
    pytest.fail("the server ended: " + "".join(printed))


def wait_for(browser, script, timeout_s=60):
    """Return what the script returns once that is true."""
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, timeout_s, poll_frequency=0.05).until(lambda driver: driver.execute_script(script))


def open_page(browser, port, question_id=None, probe=None):
    asked = {name: value for name, value in (("question", question_id), ("probe", probe)) if value is not None}
    browser.get(f"http://127.0.0.1:{port}/" + (f"?{urlencode(asked)}" if asked else ""))
    wait_for(browser, "return document.querySelectorAll('a.eb-entry').length")


def wait_for_question(browser, question_id):
    wait_for(browser, f"return document.querySelector('.eb-question[data-question=\"{question_id}\"]') !== null")
    wait_for(browser, "return [...document.querySelectorAll('.eb-strip img')].some((image) => image.naturalWidth)")


def texts(browser, selector):
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((element) => element.innerText)", selector
    )
