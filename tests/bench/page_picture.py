"""Takes pictures of a report and of a running browser at 1,400 and 420 px, light and dark, for docs/images.

    python tests/bench/page_picture.py --report report/report.html --browse http://127.0.0.1:7860/ [--out docs/images]

Needs chromium and chromedriver. Prints each file's size; they are meant to stay under 250 kB each.
"""

import argparse
import io
import shutil
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
WIDTHS_PX = (1400, 420)
HEIGHT_PX = 900
SCHEMES = ("light", "dark")
_READY_S = 60
_FRAMES = "return [...document.querySelectorAll('.eb-strip img')].some((image) => image.naturalWidth)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report", type=Path, help="a report.html")
    parser.add_argument("--browse", help="the address of a browser that runs")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    driver = start()
    try:
        if arguments.report:
            take(driver, arguments.report.resolve().as_uri(), arguments.out, "report", "return true")
        if arguments.browse:
            take(driver, arguments.browse, arguments.out, "browse", _FRAMES)
    finally:
        driver.quit()


def start():
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("headless", "no-sandbox", "disable-gpu", "hide-scrollbars"):
        options.add_argument(f"--{flag}")
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def take(driver, address, out, name, ready) -> None:
    """Save the first screen of an address once the script ``ready`` returns true, in every width and scheme."""
    from PIL import Image

    for width_px in WIDTHS_PX:
        for scheme in SCHEMES:
            metrics = {"width": width_px, "height": HEIGHT_PX, "deviceScaleFactor": 1, "mobile": width_px < 500}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            driver.get(address)
            deadline_s = time.monotonic() + _READY_S
            while not driver.execute_script(ready) and time.monotonic() < deadline_s:
                time.sleep(0.1)
            path = out / f"{name}-{width_px}-{scheme}.png"
            with Image.open(io.BytesIO(driver.get_screenshot_as_png())) as image:
                image.convert("RGB").quantize(128).save(path, optimize=True)
            print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
