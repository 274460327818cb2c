"""Makes `cards/diagnosis.png`: the report of four scripted models over the sample's probes, its section "Diagnosis".

    python tests/bench/diagnosis_picture.py [--out cards/diagnosis.png]

Needs chromium and chromedriver. The models are those of `dataset_scripts/sample/scripted.py`: one that is right, and
three that are wrong in one way each; nothing in the picture is a real model's.
"""

import argparse
import io
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
WIDTH_PX, HEIGHT_PX = 1440, 1400
PROBES = ("blind", "center", "shuffled", "reversed", "reordered", "swapped", "perm1", "perm2")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "cards" / "diagnosis.png")
    parser.add_argument("--report", type=Path, help="a report.html that is there already")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        page = arguments.report or write_page(Path(name))
        take_picture(page, arguments.out)
    print(f"{arguments.out}: {arguments.out.stat().st_size / 1024:.0f} KiB")


def write_page(folder: Path) -> Path:
    """Write the runs and their report; return the page."""
    sys.path.insert(0, str(ROOT / "tests" / "report"))
    from probe_runs import write_probe_runs

    from egobench_tasks.report.show.write import Format, write_report

    runs = write_probe_runs(folder, n_single=0, n_multi=240, n_worlds=80, probes=PROBES)
    write_report(list(runs.paths.values()), folder / "report", [Format.HTML], lambda _: runs.planted.location)
    return folder / "report" / "report.html"


def take_picture(page: Path, out: Path) -> None:
    """Save what a browser shows of the section's beginning: its text, the profile, and the row a model."""
    from PIL import Image
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("headless", "no-sandbox", "disable-gpu", "hide-scrollbars", f"window-size={WIDTH_PX},{HEIGHT_PX}"):
        options.add_argument(f"--{flag}")
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        driver.get(page.resolve().as_uri())
        driver.execute_script("document.documentElement.style.scrollBehavior = 'auto'; location.hash = '#diagnosis'")
        bottom_px = driver.execute_script(
            "return document.querySelector('#table-diagnosis').getBoundingClientRect().bottom + 12"
        )
        with Image.open(io.BytesIO(driver.get_screenshot_as_png())) as image:
            image.crop((0, 0, image.width, min(image.height, round(bottom_px)))).save(out, optimize=True)
    finally:
        driver.quit()


if __name__ == "__main__":
    main()
