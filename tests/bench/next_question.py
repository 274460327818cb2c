"""Seconds from a key to the next question with a picture in every clip, in headless Chromium: review and exam.

python tests/bench/next_question.py [QUESTIONS]
"""

import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

sys.path.insert(0, str(Path(__file__).parents[1] / "making"))
from driving import DESKTOP, Person, Server

from dataset_scripts.egogears.build import build_egogears
from dataset_scripts.sample.release import write_sample_release

GOAL_S = 0.3


def measure(browser, command, query, key, n_questions):
    """Seconds to each of the following questions; the clips of the next are loaded while one is looked at."""
    with Server(*command) as server:
        person = Person(browser, server.port).resize(DESKTOP).open(query)
        return [person.seconds_to_next(key) for _ in range(n_questions - 1)]


def main():
    n_questions = int(sys.argv[1]) if len(sys.argv) > 1 else 16
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    service = Service(shutil.which("chromedriver"))
    for flag in ("headless", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument(f"--{flag}")
    with tempfile.TemporaryDirectory() as name, webdriver.Chrome(options=options, service=service) as browser:
        folder = Path(name)
        write_sample_release(folder / "raw", questions=n_questions, seed=1)
        build_egogears(folder / "raw", folder / "egogears")
        review = ("review", folder / "egogears", "--reviewer", "r1", "--decisions", folder / "reviews")
        exam = ("exam", folder / "egogears", "--participant", "p1", "--out", folder / "people")
        for page, command, query, key in (
            ("review", review, "", "n"),
            ("exam", exam, "?participant=p1&number=1", "PageDown"),
        ):
            took_s = measure(browser, command, query, key, n_questions)
            over = sum(one > GOAL_S for one in took_s)
            print(
                f"{page:8} median {statistics.median(took_s):.3f} s, max {max(took_s):.3f} s, {over} of {len(took_s)} "
                f"over {GOAL_S} s; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
            )


if __name__ == "__main__":
    main()
