"""A probe's page as a visitor gets it: the condition by name, the message and the frames that the probe shows."""

import base64

import pytest
from planted import Planted, RunWriter, Said, right
from visiting import METRICS, open_page, serve, texts, wait_for

from egobench_tasks.asking.choice import show_choice
from egobench_tasks.asking.messages import jpeg_parts
from egobench_tasks.asking.probes import PROBES
from egobench_tasks.asking.prompts import load_choice_templates
from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.data import fingerprint, load_rows

pytestmark = pytest.mark.slow

MODEL = "prober-8B"
ASKED = ("blind", "center", "f8", "reversed", "shuffled", "reordered", "renamed", "unlabelled", "perm1")
IMAGES = "[...document.querySelectorAll('.eb-strip img')]"


@pytest.fixture(scope="module")
def row(sample_runs):
    """The sample's question on the most clips."""
    return max(sample_runs.rows, key=lambda row: len(row.get("videos", [])))


def shown_by(row, probe=None):
    n_frames, floor = EGOGEARS.frames_per_question, EGOGEARS.min_frames_per_clip
    return show_choice(row, load_choice_templates(), n_frames, floor, probe and PROBES[probe])


def says(row, probe):
    """A letter in the order that the probe shows, in words that name the probe."""
    letter = next(iter(shown_by(row, probe).shown_to_original))
    return Said(f'Seen by {probe}. {{"answer": ["{letter}"]}}', "stop")


@pytest.fixture(scope="module")
def run(sample_runs, row, tmp_path_factory):
    rows = load_rows(sample_runs.location, "multi")
    planted = Planted(sample_runs.location, {"multi": list(rows)}, {"multi": fingerprint(rows)})
    said = {"multi": {one["question_id"]: right(one) for one in planted.rows["multi"]}}
    said |= {f"{probe}:multi": {row["question_id"]: says(row, probe)} for probe in ASKED}
    return RunWriter(planted).write(tmp_path_factory.mktemp("probes") / MODEL, MODEL, said)


@pytest.fixture(scope="module")
def server(sample_runs, run, tmp_path_factory):
    process, port = serve(sample_runs.location, [run], str(tmp_path_factory.mktemp("cache")))
    yield port
    process.terminate()
    process.wait(20)


@pytest.fixture(scope="module")
def browser(start_chromium):
    with start_chromium() as driver:
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", METRICS)
        yield driver


def visit(browser, port, row, probe):
    """Open a question as a probe shows it, and wait for its frames."""
    open_page(browser, port, row["question_id"], probe)
    at = f'.eb-question[data-question="{row["question_id"]}"][data-probe="{probe or ""}"]'
    wait_for(browser, f"return document.querySelector('{at}') !== null")
    wait_for(browser, f"return document.querySelector('.eb-strips') && {IMAGES}.every((image) => image.naturalWidth)")


def frames_on_page(browser):
    sources = browser.execute_script(f"return {IMAGES}.map((image) => image.src)")
    return [base64.b64decode(source.partition("base64,")[2]) for source in sources]


def served(row, probe):
    """The JPEGs of the message that a host sends, in its order."""
    shown = shown_by(row, probe)
    return [part for part in jpeg_parts(shown.segments, shown.frames) if isinstance(part, bytes)]


@pytest.mark.parametrize("probe", ASKED)
def test_a_probes_page_names_it_and_shows_what_was_served(browser, server, row, probe, tmp_path, monkeypatch):
    monkeypatch.setenv("EGOBENCH_CACHE", str(tmp_path))
    visit(browser, server, row, probe)
    assert texts(browser, ".eb-probes [aria-current]") == [probe]
    (note,) = texts(browser, "p.eb-probe")
    assert f"Shown with {PROBES[probe].changes}" in note and f"A sound model {PROBES[probe].expects}" in note
    sent = served(row, probe)
    assert frames_on_page(browser) == sent
    assert texts(browser, ".eb-strips h3") == [f"What a model sees: {len(sent)} frame{'s' * (len(sent) != 1)}"]
    words = browser.execute_script("return document.querySelector('.eb-words pre').textContent")
    assert words == shown_by(row, probe).readable()
    (answer,) = texts(browser, f'.eb-run-answer[data-run="{MODEL}"] .eb-raw')
    assert answer == says(row, probe).text


def test_probes_differ_from_the_benchmark_in_the_frames_that_they_change(browser, server, row):
    """That pages are what is served proves little where all serve the same."""
    shown = {}
    for probe in (None, "blind", "center", "reversed", "shuffled"):
        visit(browser, server, row, probe)
        shown[probe] = frames_on_page(browser)
    plain = shown[None]
    assert len(plain) == EGOGEARS.frames_per_question
    assert shown["blind"] == [] and len(shown["center"]) == len(row["clip_labels"])
    for probe in ("reversed", "shuffled"):
        assert sorted(shown[probe]) == sorted(plain) and shown[probe] != plain
    assert shown["reversed"] != shown["shuffled"]


def test_the_way_from_the_benchmark_to_a_probe_and_on_is_a_click(browser, server, row):
    visit(browser, server, row, None)
    assert texts(browser, ".eb-probes [aria-current]") == ["the benchmark"]
    assert texts(browser, ".eb-raw") == [right(row).text]
    (link,) = [one for one in browser.find_elements("css selector", ".eb-probes a") if one.text == "shuffled"]
    link.click()
    wait_for(browser, "return document.querySelector('.eb-question')?.dataset.probe === 'shuffled'")
    assert browser.current_url.endswith(f"?question={row['question_id']}&probe=shuffled")
    assert texts(browser, ".eb-raw") == [says(row, "shuffled").text]


def test_a_probe_that_does_not_apply_is_named(browser, server, sample_runs):
    single = next(row for row in sample_runs.rows if "videos" not in row)
    open_page(browser, server, single["question_id"], "swapped")
    wait_for(
        browser, "return document.querySelector('.eb-message')?.innerText.includes('the probe swapped applies to')"
    )
