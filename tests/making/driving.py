"""A page as a person uses it: the real server in a process of its own, headless Chromium, keys."""

import os
import socket
import subprocess
import sys
import time

import pytest

TABLET = {"width": 768, "height": 1024, "deviceScaleFactor": 1, "mobile": False}
DESKTOP = {"width": 1280, "height": 1000, "deviceScaleFactor": 1, "mobile": False}


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Server:
    """`egobench` with some arguments, listening on ``port``; ``printed`` is what it said until then."""

    def __init__(self, *arguments, port=None, **environment):
        self.port = port or free_port()
        command = [sys.executable, "-m", "egobench_tasks.cli", *map(str, arguments), "--port", str(self.port)]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | environment,
        )
        self.printed = ""
        for line in self.process.stdout:
            self.printed += line
            if f"http://127.0.0.1:{self.port}/" in line:
                return
        pytest.fail(f"the server ended: {self.printed}")

    def kill(self):
        self.process.kill()
        self.process.wait(20)

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        if self.process.poll() is None:
            self.kill()


class Person:
    """Someone at the page. Every key waits until the page says that it was saved."""

    def __init__(self, browser, port):
        self.browser, self.port = browser, port

    def open(self, query=""):
        self.browser.get("about:blank")
        self.browser.get(f"http://127.0.0.1:{self.port}/{query}")
        self.wait("return document.querySelector('form.em .em-told') !== null")
        return self

    def run(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def wait(self, script, timeout_s=30):
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.browser, timeout_s, poll_frequency=0.01).until(lambda driver: self.run(script))

    @property
    def question(self):
        return self.run("return document.querySelector('form.em').dataset.question")

    @property
    def notice(self):
        return self.run("return document.querySelector('.em-notice')?.textContent ?? ''")

    def texts(self, selector):
        return self.run("return [...document.querySelectorAll(arguments[0])].map((one) => one.innerText)", selector)

    def press(self, *keys):
        """Press keys one after the other, each as a person does: when the page has answered the one before."""
        from selenium.webdriver import ActionChains

        for key in keys:
            ActionChains(self.browser).send_keys(key).perform()
            self.settled()
        return self

    def settled(self):
        """Wait until nothing is under way."""
        self.wait("return document.querySelector('form.em .em-told')?.textContent !== 'saving …'")

    def type(self, name, text):
        """Replace the text of a field."""
        self.run("document.querySelector(`form.em [name=${arguments[0]}]`).value = ''", name)
        self.browser.find_element("css selector", f"form.em [name={name}]").send_keys(text)
        return self

    def leave_field(self):
        self.run("document.activeElement.blur()")
        return self

    def overflow_px(self):
        return self.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")

    def seconds_to_next(self, key="n"):
        """From a key to the next question on screen with every clip showing a picture, by the browser's own clock."""
        before = self.question
        self.wait("return window.egobenchClips.isReady(JSON.parse(document.querySelector('form.em').dataset.ahead))")
        self.browser.execute_script(MEASURE, before, key)
        return self.wait("return window.egobenchTook ?? null") / 1000

    def resize(self, metrics):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        time.sleep(0.2)
        return self


MEASURE = """
const [before, key] = arguments, started = performance.now();
window.egobenchTook = null;
document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const look = () => {
  const now = document.querySelector("form.em")?.dataset.question;
  const clips = document.querySelector("#em-clips .em-clips")?.dataset.question;
  const videos = [...document.querySelectorAll("#em-clips video")];
  const isThere = now && now !== before && clips === now && videos.length && videos.every((one) => one.readyState >= 2);
  if (isThere) window.egobenchTook = performance.now() - started; else requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""
