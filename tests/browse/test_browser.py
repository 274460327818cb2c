"""The page as a visitor gets it: the real server, in headless Chromium."""

import http.client
import json
import os
import subprocess
import sys
import time

import pytest
from planted import mixed_rows, plant
from sample_runs import HASTY, THINKER
from selenium.webdriver.common.keys import Keys
from visiting import LAUNCH, METRICS, open_page, serve, wait_for, wait_for_question

from egobench_tasks.report.show.write import Format, write_report

ENTRIES = "return [...document.querySelectorAll('a.eb-entry')].map((entry) => entry.dataset.question)"
pytestmark = pytest.mark.slow


def severe_messages(browser):
    """What the console was told since it was last read; each begins with the address that told it."""
    return [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


def leave_page(browser):
    """Go to no page at all: what the one that is left complains of (its stream was cut) is told now, and read away."""
    browser.get("about:blank")
    browser.get_log("browser")


@pytest.fixture(scope="module")
def server(sample_runs, tmp_path_factory):
    report = tmp_path_factory.mktemp("report")
    write_report(sample_runs.paths, report, [Format.HTML], lambda _: sample_runs.location)
    process, port = serve(sample_runs.location, sample_runs.paths, str(tmp_path_factory.mktemp("cache")), report)
    yield port
    process.terminate()
    process.wait(20)


@pytest.fixture(scope="module")
def browser(start_chromium):
    with start_chromium(performance="ALL") as driver:
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", METRICS)
        yield driver


def choose(browser, label, value):
    """Choose from a menu with mouse and keyboard, as a visitor does."""
    from selenium.webdriver.common.by import By

    menu = browser.find_element(By.CSS_SELECTOR, f'#eb-filters input[aria-label="{label}"]')
    menu.click()
    menu.send_keys(Keys.CONTROL, "a")
    menu.send_keys(value)
    menu.send_keys(Keys.ENTER)


def test_filters_narrow_the_list(browser, server, sample_runs):
    open_page(browser, server)
    assert browser.execute_script(ENTRIES) == [row["question_id"] for row in sample_runs.rows]
    choose(browser, "Config", "multi")
    multi = [(number, row["question_id"]) for number, row in enumerate(sample_runs.rows) if "videos" in row]
    wait_for(browser, f"{ENTRIES}.length === {len(multi)}")
    assert browser.execute_script(ENTRIES) == [question_id for _, question_id in multi]
    choose(browser, THINKER, "wrong")
    expected = [question_id for number, question_id in multi if number % 3 == 2]
    wait_for(browser, f"{ENTRIES}.length === {len(expected)}")
    assert browser.execute_script(ENTRIES) == expected
    head = browser.execute_script("return document.querySelector('.eb-head').innerText")
    assert f"{len(expected)} of 12 questions" in head and f"0 of {len(expected)} right" in head


def test_a_click_opens_a_question_and_names_it_in_the_address(browser, server, sample_runs):
    open_page(browser, server)
    question_id = sample_runs.rows[-1]["question_id"]
    browser.execute_script(f"document.querySelector('a.eb-entry[data-question=\"{question_id}\"]').click()")
    wait_for_question(browser, question_id)
    assert browser.current_url == f"http://127.0.0.1:{server}/?question={question_id}"
    names = browser.execute_script(
        "return [...document.querySelectorAll('.eb-run-answer')].map((one) => one.dataset.run)"
    )
    assert names == [THINKER, HASTY]


def test_a_link_opens_a_question_with_clips_that_play(browser, server, sample_runs):
    row = max(sample_runs.rows, key=lambda row: len(row.get("videos", [])))
    open_page(browser, server, row["question_id"])
    wait_for_question(browser, row["question_id"])
    selected = "return document.querySelector('a.eb-selected').dataset.question"
    assert wait_for(browser, selected) == row["question_id"]
    labels = browser.execute_script(
        "return [...document.querySelectorAll('.eb-clips strong')].map((one) => one.innerText)"
    )
    assert labels == row["clip_labels"]
    assert browser.execute_script("return [...document.querySelectorAll('video')].every((video) => video.paused)")
    browser.execute_script("document.querySelectorAll('video')[1].play()")
    wait_for(browser, "return document.querySelectorAll('video')[1].readyState >= 2")
    wait_for(browser, "return document.querySelectorAll('video')[1].currentTime > 0.3")
    others = "return [...document.querySelectorAll('video')].filter((video) => !video.paused).length"
    assert browser.execute_script(others) == 1
    browser.execute_script("document.querySelectorAll('video')[1].pause()")
    assert browser.execute_script("return document.querySelectorAll('.eb-strip').length") == len(row["clip_labels"])
    assert browser.execute_script("return document.querySelectorAll('.eb-strip img').length") == 64


def test_what_a_model_wrote_is_shown_as_text(browser, server, sample_runs):
    open_page(browser, server, sample_runs.rows[0]["question_id"])
    wait_for_question(browser, sample_runs.rows[0]["question_id"])
    details = "document.querySelector('.eb-run-answer details')"
    assert browser.execute_script(f"return {details}.open") is False
    browser.execute_script(f"{details}.querySelector('summary').click()")
    assert "<b>door</b> & a wall" in browser.execute_script(f"return {details}.querySelector('pre').innerText")


SHOWN = "return document.querySelector('.eb-question')?.dataset.question"


def shows(browser, question_id):
    wait_for(browser, f"{SHOWN} === '{question_id}'")


def address(browser):
    return browser.current_url.partition("?question=")[2]


def test_it_starts_at_the_first_question_keys_lead_on_and_back_leads_back(browser, server, sample_runs):
    ids = [row["question_id"] for row in sample_runs.rows]
    open_page(browser, server)
    shows(browser, ids[0])
    page = browser.find_element("css selector", "body")
    for key, place in (("j", 1), (Keys.ARROW_RIGHT, 2), ("k", 1), ("j", 2)):
        page.send_keys(key)
        shows(browser, ids[place])
        wait_for(browser, f"return location.search === '?question={ids[place]}'")
    browser.back()
    shows(browser, ids[1])
    browser.back()
    shows(browser, ids[2])
    assert address(browser) == ids[2]
    wait_for(browser, f"return document.querySelector('a.eb-selected').dataset.question === '{ids[2]}'")
    browser.find_element("css selector", ".eb-question [data-step='1']").click()
    shows(browser, ids[3])
    search = browser.find_element("css selector", "#eb-search input, #eb-search textarea")
    search.send_keys("j")  # a letter to look for, not a step
    time.sleep(0.5)
    shows(browser, ids[3])


def test_a_search_finds_words_of_the_options(browser, server, sample_runs):
    row = sample_runs.rows[0]
    open_page(browser, server)
    search = browser.find_element("css selector", "#eb-search input, #eb-search textarea")
    search.send_keys(f"{row['options'][0]} {row['question_id']}".upper())
    wait_for(browser, f"{ENTRIES}.length === 1")
    assert browser.execute_script(ENTRIES) == [row["question_id"]]
    search.send_keys(" nothing like it")
    wait_for(browser, "return document.querySelector('.eb-entries .eb-none') !== null")


@pytest.fixture
def narrow(browser):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", METRICS | {"width": 420, "height": 900})
    yield browser
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", METRICS)


def test_a_narrow_screen_folds_filters_and_shows_the_question_after_a_click(narrow, server, sample_runs):
    open_page(narrow, server)
    assert narrow.execute_script("return document.documentElement.scrollWidth") <= 420
    height = "return document.querySelector('#eb-filters').offsetHeight"
    assert narrow.execute_script(height) == 0
    fold = narrow.find_element("css selector", ".eb-fold")
    fold.click()
    assert narrow.execute_script(height) > 0 and fold.get_attribute("aria-expanded") == "true"
    fold.click()
    assert narrow.execute_script(height) == 0
    question_id = sample_runs.rows[4]["question_id"]
    narrow.execute_script(f"document.querySelector('a.eb-entry[data-question=\"{question_id}\"]').click()")
    shows(narrow, question_id)
    top = "return document.querySelector('.eb-question h2').getBoundingClientRect().top"
    wait_for(narrow, f"{top} >= 0 && document.querySelector('.eb-question').getBoundingClientRect().top < 20")
    assert narrow.execute_script(top) < 300


def test_runs_are_named_with_their_folder_and_the_report_is_a_click_away(browser, server, sample_runs):
    leave_page(browser)
    open_page(browser, server)
    assert f"{sample_runs.paths[0].parent.name}/{THINKER}" in browser.find_element("css selector", ".eb-tallies").text
    assert str(sample_runs.paths[0]) not in browser.page_source
    assert severe_messages(browser) == []
    browser.find_element("css selector", ".eb-count a").click()
    wait_for(browser, "return document.title === 'EgoGears report'")
    # The page that was left may complain in Gradio's own scripts (/assets/) that its stream was cut.
    assert [message for message in severe_messages(browser) if "/assets/" not in message] == []
    assert browser.execute_script("return document.querySelector('#figure-leaderboard img').naturalWidth") > 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser, server, sample_runs, scheme, serious_faults):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    open_page(browser, server)
    wait_for_question(browser, sample_runs.rows[0]["question_id"])
    assert browser.execute_script("return document.body.classList.contains('dark')") == (scheme == "dark")
    assert serious_faults(browser) == []


def test_an_unknown_question_is_named(browser, server):
    open_page(browser, server, "no & <such>")
    said = "return document.querySelector('.eb-message')?.innerText"
    wait_for(browser, f"{said}.includes('There is no question no & <such>')")


def test_nothing_overflows_nothing_fails_nothing_leaves_this_machine(browser, server, sample_runs, tmp_path):
    leave_page(browser)
    browser.get_log("performance")
    row = max(sample_runs.rows, key=lambda row: len(row.get("videos", [])))
    open_page(browser, server, row["question_id"])
    wait_for_question(browser, row["question_id"])
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 1280
    assert severe_messages(browser) == []
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    addresses = [one["params"]["request"]["url"] for one in messages if one["method"] == "Network.requestWillBeSent"]
    assert len(addresses) > 10
    ours = (f"http://127.0.0.1:{server}/", "data:image/", f"blob:http://127.0.0.1:{server}/")
    assert [address for address in addresses if not address.startswith(ours)] == []
    shot = os.environ.get("EGOBENCH_SCREENSHOT", str(tmp_path / "browse.png"))
    assert browser.save_screenshot(shot)


def status(port, method, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request(method, path)
    return connection.getresponse().status


def test_only_the_datasets_clips_are_served_and_nothing_is_taken(server, sample_runs, sample_folder):
    clip = sample_runs.rows[0]["video"]["path"]
    assert status(server, "GET", f"/gradio_api/file={clip}") == 200
    metadata = sample_folder / "egogears" / "single" / "metadata.parquet"
    for path in (metadata, f"{clip}/../../metadata.parquet", sample_runs.paths[0], "/etc/passwd"):
        assert status(server, "GET", f"/gradio_api/file={path}") == 403
    assert status(server, "GET", "/gradio_api/file=http://127.0.0.1:9/") == 403
    assert status(server, "POST", "/gradio_api/upload") == 403


@pytest.mark.parametrize("host", ["127.0.0.1", "evil.com"])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/config"),
        ("GET", "/gradio_api/info"),
        ("GET", "/gradio_api/queue/data?session_hash=x"),
        ("POST", "/gradio_api/queue/join"),
        ("OPTIONS", "/gradio_api/queue/join"),
        ("OPTIONS", "/"),
        ("GET", "/nothing"),
    ],
)
def test_a_page_of_another_site_gets_leave_for_nothing_on_any_path(server, method, path, host):
    connection = http.client.HTTPConnection("127.0.0.1", server, timeout=20)
    asking = {"Origin": "http://evil.com", "Access-Control-Request-Method": "POST"}
    connection.request(method, path, headers={"Host": f"{host}:{server}", **asking})
    reply = connection.getresponse()
    assert reply.status == 403
    assert [name for name, _ in reply.getheaders() if name.lower().startswith("access-control")] == []


def test_a_port_in_use_is_named(server, sample_runs):
    command = [sys.executable, "-c", LAUNCH, str(server), sample_runs.location.path, ""]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode != 0 and f"cannot listen on 127.0.0.1:{server}" in done.stderr


def test_ten_thousand_questions_list_in_under_a_second_and_few_bytes(browser, tmp_path):
    """From the choice in a menu to the entries laid out on screen, server and all."""
    planted = plant(tmp_path / "many", mixed_rows(1000, 9000))
    process, port = serve(planted.location, [], str(tmp_path / "cache"))
    try:
        browser.get_log("performance")
        open_page(browser, port)
        count = "document.querySelector('.eb-count').innerText"
        wait_for(browser, f"return {count}.includes('10000 of 10000')")
        assert len(browser.execute_script(ENTRIES)) == 100
        choose(browser, "Config", "single")
        wait_for(browser, f"return {count}.includes('1000 of 10000')")
        browser.get_log("performance")
        started = time.perf_counter()
        choose(browser, "Config", "all")
        wait_for(browser, f"return {count}.includes('10000 of 10000')")
        elapsed_s = time.perf_counter() - started
        messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
        sent = sum(
            one["params"]["encodedDataLength"] for one in messages if one["method"] == "Network.dataReceived"
        ) or sum(one["params"]["dataLength"] for one in messages if one["method"] == "Network.dataReceived")
        pane = "const pane = document.querySelector('#eb-side > .eb-pane')"
        assert browser.execute_script(f"{pane}; return pane.scrollHeight > pane.clientHeight + 1000")
        assert browser.execute_script("return document.documentElement.scrollHeight - innerHeight") < 300
        open_page(browser, port, last := planted.rows["multi"][-1]["question_id"])
        seen = "document.querySelector('a.eb-selected')?.getBoundingClientRect().bottom <= innerHeight"
        wait_for(browser, f"{pane}; return {seen} && pane.scrollTop > 0")
        assert browser.execute_script("return document.querySelector('a.eb-selected').dataset.question") == last
    finally:
        process.terminate()
        process.wait(20)
    print(f"10,000 questions listed in {elapsed_s:.2f} s, {sent:,} bytes")
    assert elapsed_s < 1.0 and sent < 500_000
