"""The files of a report: one page that sorts in a browser, Markdown, CSV, JSON; and the comparison in a terminal."""

import base64
import io
import json
import re
import time
from dataclasses import asdict

import pandas as pd
import pytest
from planted import Said, multi_row, plant, reply_shown, right, said_by, single_row, wrong
from records import record_for
from rich.console import Console

from egobench_tasks.errors import InputError
from egobench_tasks.report.analyse.tables import Column, Kind, cells, show, table
from egobench_tasks.report.analyse.terms import TERMS
from egobench_tasks.report.read.choice_results import score_runs
from egobench_tasks.report.read.runs import find_runs
from egobench_tasks.report.show.compare import compare_runs
from egobench_tasks.report.show.markdown import render_markdown
from egobench_tasks.report.show.page import render_page
from egobench_tasks.report.show.spreadsheet import without_formulas
from egobench_tasks.report.show.write import Format, build_document, write_report

NASTY = "evil_<script>alert(1)</script>|*name*"


def speaks(modulus, truncated=0):
    def speak(row):
        number = int(row["question_id"][1:])
        if truncated and number % truncated == 0:
            return Said("<think>", "length")
        return wrong(row) if number % modulus == 0 else right(row)

    return speak


@pytest.fixture(scope="module")
def paths(planted, writer, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    models = {
        "Qwen3-VL-8B-Instruct": speaks(2),
        "Qwen3-VL-8B-Thinking": speaks(3, truncated=10),
        "always-B": lambda row: reply_shown("B"),
        "half": lambda row: None if int(row["question_id"][1:]) % 2 else right(row),
    }
    return [writer.write(folder / name, name, said_by(planted, speak)) for name, speak in models.items()]


def write_mixed(planted, writer, folder):
    """A folder that holds single and multi of one model, asked at different temperatures; both runs have records."""
    said = said_by(planted, speaks(4))
    for place, config in enumerate(("single", "multi"), start=1):
        before = set(folder.glob("details/*/*"))
        writer.write(folder, "two-ways", {config: said[config]})
        (new,) = set(folder.glob("details/*/*")) - before
        path = folder / "runs" / f"{place:04d}" / "run.json"
        path.parent.mkdir(parents=True)
        record = record_for(place, new.name, identity={"model": {"temperature": [0.9, 0.0][place - 1]}})
        path.write_text(json.dumps(asdict(record)))
    return folder


@pytest.fixture(scope="module")
def marked(planted, writer, paths, found, tmp_path_factory):
    """The four files of a report over a whole run, a partial one, and a folder of two runs."""
    folder = tmp_path_factory.mktemp("marked")
    mixed = write_mixed(planted, writer, folder / "mixed")
    write_report([paths[0], paths[3], mixed], folder / "out", find_dataset=found)
    csv = "\n".join((folder / "out/csv" / f"{name}.csv").read_text() for name in ("runs", "overall"))
    names = {"html": "report.html", "markdown": "report.md", "json": "report.json"}
    return {form: (folder / "out" / name).read_text() for form, name in names.items()} | {"csv": csv}


HOT, COLD = (f"two-ways (mixed: model.temperature={temperature})" for temperature in ("0.9", "0.0"))
MARKED = {"Qwen3-VL-8B-Instruct": "whole", "half (partial)": "partial", HOT: "mixed", COLD: "mixed"}


@pytest.mark.parametrize("form", ["html", "markdown", "csv", "json"])
def test_whole_partial_and_mixed_runs_are_marked_in_every_form(marked, form):
    text = re.sub(r"\\(.)", r"\1", marked[form]) if form == "markdown" else marked[form]
    for name in MARKED:
        assert name in text, name
    assert re.search(r"\bwhole\b", text) and re.search(r"\bpartial\b", text) and re.search(r"\bmixed\b", text)


def test_the_mark_of_each_run_stands_in_its_row(marked):
    rows = json.loads(marked["json"])["tables"]["runs"]["rows"]
    assert {row["run"]: row["mark"] for row in rows} == MARKED
    frame = pd.read_csv(io.StringIO(marked["csv"].split("\nrun,config,exact_set")[0]))
    assert dict(zip(frame["run"], frame["mark"], strict=True)) == {row["run"]: row["mark"] for row in rows}


def test_how_a_run_was_made_is_folded_under_it(marked):
    records = json.loads(marked["json"])["records"]
    assert {label: [one["number"] for one in found] for label, found in records.items()} == {HOT: [1], COLD: [2]}
    page = marked["html"].partition('<section id="records">')[2]
    assert page.count('<details class="record">') == 2
    assert f"{HOT}: run.json, run 1 of its folder" in page
    assert "model_name=m &lt;b&gt;" in page and "<b>" not in page
    assert marked["markdown"].count("<details><summary>two-ways") == 2
    assert "model_name=m &lt;b&gt;" in marked["markdown"]


@pytest.fixture(scope="module")
def found(planted):
    return lambda benchmark: planted.location


@pytest.fixture(scope="module")
def report(paths, found, tmp_path_factory):
    out = tmp_path_factory.mktemp("report") / "out"
    write_report(paths, out, find_dataset=found)
    return out


@pytest.fixture(scope="module")
def document(paths, found):
    return build_document(paths, found)


def test_all_forms_are_written_and_named(paths, found, report, tmp_path):
    assert {"report.html", "report.md", "report.json", "csv", "figures"} == {path.name for path in report.iterdir()}
    written = write_report(paths[:1], tmp_path / "one", [Format.JSON], found)
    assert written == [tmp_path / "one" / "report.json"]
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["report.json"]


def test_the_same_runs_give_the_same_bytes(paths, found, report, tmp_path):
    write_report(paths, tmp_path / "again", find_dataset=found)
    for path in sorted(report.rglob("*")):
        if path.is_file():
            assert (tmp_path / "again" / path.relative_to(report)).read_bytes() == path.read_bytes(), path


def test_bad_input_writes_nothing(planted, found, tmp_path):
    with pytest.raises(InputError):
        write_report([tmp_path], tmp_path / "out", find_dataset=found)
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_named(paths, found, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="cannot be written there"):
        write_report(paths[:1], tmp_path / "file", [Format.JSON], found)


def test_csv_holds_every_table_and_every_outcome(document, report, planted):
    names = {path.stem for path in (report / "csv").iterdir()}
    assert names == {table.key for table in document.tables} | {"outcomes", "breakdowns"}
    outcomes = pd.read_csv(report / "csv/outcomes.csv")
    assert len(outcomes) == 4 * 140
    overall = pd.read_csv(report / "csv/overall.csv")
    mine = outcomes[(outcomes["run"] == "always-B") & (outcomes["config"] == "multi")]["exact_set"].mean()
    row = overall[(overall["run"] == "always-B") & (overall["config"] == "multi")].iloc[0]
    assert row["exact_set"] == mine  # all digits


def test_json_is_json_and_says_the_same(document, report):
    content = json.loads((report / "report.json").read_text(), parse_constant=lambda name: pytest.fail(name))
    assert content["schema"] == 1
    assert set(content["tables"]) == {table.key for table in document.tables}
    assert len(content["tables"]["overall"]["rows"]) == 2 * 4 + 9
    assert any("half (partial)" in notice for notice in content["notices"])


def test_markdown_has_tables_of_even_width_and_figures_that_exist(report):
    text = (report / "report.md").read_text()
    assert text.startswith("# EgoGears report\n")
    for line in text.splitlines():
        if line.startswith("!["):
            assert (report / line.rsplit("(", 1)[1].rstrip(")")).is_file()
    blocks = [block for block in text.split("\n\n") if block.startswith("| ")]
    assert len(blocks) > 15
    for block in blocks:
        assert len({line.replace(r"\|", "").count("|") for line in block.splitlines()}) == 1


def test_names_cannot_pose_as_markup(planted, writer, tmp_path, found):
    path = writer.write(tmp_path / "run", NASTY.replace("/", "-"), {"multi": said_by(planted, right)["multi"]})
    document = build_document([path], found)
    page = render_page(document)
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page
    markdown = render_markdown(document)
    assert r"\<script\>" in markdown and "evil_" not in markdown


@pytest.mark.parametrize(
    ("value", "kind", "decimals", "shown"),
    [
        (0.38399, Kind.PERCENT, 2, "38.40"),
        (-0.0549, Kind.PERCENT, 1, "−5.5"),
        (-0.0001, Kind.POINTS, 1, "0.0"),
        (0.123, Kind.POINTS, 1, "+12.3"),
        (1487, Kind.COUNT, 1, "1,487"),
        (0.0004, Kind.P_VALUE, 1, "<0.001"),
        (1.0, Kind.P_VALUE, 1, "1.000"),
        (float("nan"), Kind.PERCENT, 1, "–"),
        (None, Kind.TEXT, 1, "–"),
        (2.5, Kind.RATIO, 2, "2.50"),
    ],
)
def test_values_as_shown(value, kind, decimals, shown):
    assert show(value, kind, decimals) == shown


def test_a_cell_has_its_interval_and_a_number_to_sort_by():
    column = Column("rate", "Rate", Kind.PERCENT, low="low", high="high")
    ((cell,),) = cells(table("key", "Title", "", [column], [{"rate": 0.5, "low": 0.4, "high": 0.6}]))
    assert (cell.text, cell.interval, cell.number) == ("50.0", "40.0 to 60.0", 0.5)


@pytest.fixture(scope="module")
def browser(start_chromium):
    with start_chromium() as driver:
        yield driver


def open_at(browser, report, width):
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get((report / "report.html").as_uri())


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_opens_without_errors_and_nothing_overflows(browser, report, width):
    open_at(browser, report, width)
    assert browser.title == "EgoGears report"
    assert [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
    assert browser.execute_script("return innerWidth") == width
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    beyond = """
        return [...document.querySelectorAll("body *")].filter((element) => {
            if (element.closest(".scroll, nav") && !element.matches(".scroll, nav")) return false;
            const box = element.getBoundingClientRect();
            return box.right > innerWidth + 1 || box.left < -1;
        }).map((element) => element.outerHTML.slice(0, 80))"""
    assert browser.execute_script(beyond) == []
    loaded = "return [...document.images].every((image) => image.complete && image.naturalWidth > 0 && image.alt)"
    assert browser.execute_script(loaded)


def test_the_page_fetches_nothing(browser, report):
    open_at(browser, report, 1280)
    entries = browser.execute_script("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert [name for name in entries if not name.startswith("data:")] == []


def column_texts(browser, key, index):
    script = "return [...document.querySelector(arguments[0]).tBodies[0].rows].map((row) => row.cells[arguments[1]].%s)"
    numbers = browser.execute_script(script % "dataset.number ?? null", f"#table-{key} table", index)
    texts = browser.execute_script(script % "textContent.trim()", f"#table-{key} table", index)
    return [float(number) if number is not None else None for number in numbers], texts


def test_tables_sort_by_a_click_and_the_other_way_by_a_second(browser, report):
    from selenium.webdriver.common.by import By

    open_at(browser, report, 1280)
    browser.execute_script("document.querySelector('#table-overall .all-columns').click()")
    heads = browser.find_elements(By.CSS_SELECTOR, "#table-overall th button")
    titles = [head.text for head in heads]
    place = titles.index("Jaccard %")
    before, _ = column_texts(browser, "overall", place)
    browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", heads[0])
    heads[place].click()
    after, _ = column_texts(browser, "overall", place)
    known = sorted((value for value in before if value is not None), reverse=True)
    assert after == known + [None] * before.count(None)  # published rows have no Jaccard: last
    heads[place].click()
    assert column_texts(browser, "overall", place)[0] == known[::-1] + [None] * before.count(None)
    heads[titles.index("Split")].click()
    _, splits = column_texts(browser, "overall", titles.index("Split"))
    assert splits == sorted(splits) and len(set(splits)) == 2  # text: upward first
    sorted_by = browser.find_elements(By.CSS_SELECTOR, "#table-overall th[aria-sort]")
    assert [head.get_attribute("aria-sort") for head in sorted_by] == ["ascending"]


LONG = "Qwen3-VL-235B-A22B-Thinking-" + 7 * "with-a-very-long-name-" + "FP8"


@pytest.fixture(scope="module")
def linked(planted, writer, paths, found, tmp_path_factory):
    """A report with a name of 185 characters, a partial run, and the address of a browser."""
    folder = tmp_path_factory.mktemp("linked")
    long = writer.write(folder / "long", LONG, said_by(planted, speaks(5)))
    write_report([paths[3], long], folder / "out", [Format.HTML], found, browse_url="http://gpu-17:9000/")
    return folder / "out"


@pytest.mark.parametrize("width", [1000, 420])
def test_the_table_of_runs_fits_and_a_long_name_takes_one_line(browser, linked, width):
    open_at(browser, linked, width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    fits = (
        "const box = document.querySelector(`#table-${arguments[0]} .scroll`); return box.scrollWidth - box.clientWidth"
    )
    assert browser.execute_script(fits, "glance") <= 0
    if width == 1000:
        assert browser.execute_script(fits, "overall") <= 0
    name = "const one = [...document.querySelectorAll('#table-glance td .name')].find((one) => one.title)"
    assert browser.execute_script(f"{name}; return [one.title, one.textContent]") == [LONG, LONG]
    assert browser.execute_script(f"{name}; return one.getBoundingClientRect().height") < 30
    assert browser.execute_script(f"{name}; return one.querySelector('.end').textContent").endswith("FP8")


def test_no_box_hides_rows_and_a_wide_table_shows_its_scroll_bar(browser, linked):
    open_at(browser, linked, 420)
    boxes = """
        return [...document.querySelectorAll(".scroll")].map((box) => {
            const bar = box.offsetHeight - box.clientHeight;
            return [box.scrollHeight - box.clientHeight, box.scrollWidth > box.clientWidth ? bar : 99];
        })"""
    assert all(hidden <= 1 and bar >= 8 for hidden, bar in browser.execute_script(boxes))


def test_the_first_screen_has_the_figure_the_runs_and_their_marks(browser, linked):
    open_at(browser, linked, 1400)
    bottoms = """
        const both = document.querySelectorAll("#figure-leaderboard img, #table-glance table");
        return [...both].map((one) => one.getBoundingClientRect().bottom)"""
    assert len(found := browser.execute_script(bottoms)) == 2 and max(found) < 900
    marks = browser.execute_script(
        "return [...document.querySelectorAll('#table-glance td.mark')].map((one) => one.innerText.trim())"
    )
    assert marks == ["● whole", "◐ partial"]
    legend = browser.execute_script("return document.querySelector('#table-glance .legend').innerText")
    assert all(mark in legend for mark in ("● whole", "◐ partial", "◇ mixed"))


@pytest.mark.parametrize("form", ["csv", "latex"])
def test_a_table_is_copied_and_downloaded_without_a_network(browser, report, tmp_path, form):
    open_at(browser, report, 1280)
    link = f"document.querySelector('#table-overall a.{form}')"
    href = browser.execute_script(f"return {link}.href")
    text = base64.b64decode(href.partition("base64,")[2]).decode()
    if form == "csv":
        assert text == (report / "csv/overall.csv").read_text()
    else:
        assert "\\toprule" in text and "always-B" in text
    # The clipboard itself is not this page's: what it is given is.
    browser.execute_script(
        "window.given = []; navigator.clipboard.writeText = async (text) => { window.given.push(text); };"
        f"document.querySelector('#table-overall button[data-copies={form}]').click()"
    )
    said = f"return document.querySelector('#table-overall button[data-copies={form}]').textContent"
    deadline = time.monotonic() + 5
    while browser.execute_script(said) != "Copied" and time.monotonic() < deadline:
        time.sleep(0.02)
    assert browser.execute_script("return window.given") == [text]
    behavior = {"behavior": "allow", "downloadPath": str(tmp_path)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", behavior)
    browser.execute_script(f"{link}.click()")
    path = tmp_path / browser.execute_script(f"return {link}.download")
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert path.read_text() == text


def test_questions_link_to_the_browser_that_is_named_and_are_words_without_one(report, linked):
    page = (linked / "report.html").read_text()
    links = re.findall(r'<td class="question"><a href="([^"]+)">([^<]+)</a>', page)
    assert links and all(href == f"http://gpu-17:9000/?question={text}" for href, text in links)
    page = (report / "report.html").read_text()
    assert '<td class="question">' in page and "?question=" not in page and "7860" not in page


@pytest.mark.parametrize("url", ["javascript:alert(1)", "gpu-17:7860", "http://", "http://a/?question=1", "http://a:b"])
def test_what_is_no_address_is_refused_before_anything_is_read(tmp_path, url):
    with pytest.raises(InputError, match="--browse-url"):
        write_report([tmp_path / "nowhere"], tmp_path / "out", browse_url=url)
    assert not (tmp_path / "out").exists()


def test_a_rise_is_not_called_a_drop(document):
    (drops,) = [table for table in document.tables if table.key == "drops"]
    titles = [column.title for column in drops.columns]
    assert "Highest difference" in titles and not any(title.endswith(" drop") for title in titles)


def test_units_and_types_are_words_with_their_ids(document, report):
    (units,) = [table for table in document.tables if table.key == "by_unit"]
    shown = {row[0].text for row in cells(units)}
    assert "a whole recording (whole_video)" in shown and not shown & set(TERMS)
    assert "whole_video" in (report / "csv/by_unit.csv").read_text()
    assert "a whole recording" not in (report / "csv/by_unit.csv").read_text()  # for programs: ids
    assert r"a whole recording (whole\_video)" in (report / "report.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser, linked, scheme, serious_faults):
    open_at(browser, linked, 1280)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    ground = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(15, 20, 24)") == (scheme == "dark")
    assert serious_faults(browser) == []


def test_two_runs_compare_in_a_terminal(paths, found):
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(compare_runs(paths[0], paths[1], found))
    text = console.export_text()
    assert "single: 60 questions" in text and "multi: 80 questions" in text
    # single: wrong before on even numbers; after on multiples of 3 and of 10.
    before = [number % 2 != 0 for number in range(60)]
    after = [number % 3 != 0 and number % 10 != 0 for number in range(60)]
    rescued = sum(two and not one for one, two in zip(before, after, strict=True))
    destabilised = sum(one and not two for one, two in zip(before, after, strict=True))
    assert f"rescued {rescued}, destabilised {destabilised}" in text
    assert "cross_recording" in text


def test_comparing_needs_two_runs_with_a_split_in_common(planted, writer, paths, found, tmp_path):
    single = writer.write(tmp_path / "single", "a", {"single": said_by(planted, right)["single"]})
    multi = writer.write(tmp_path / "multi", "b", {"multi": said_by(planted, right)["multi"]})
    with pytest.raises(InputError, match="no split in common"):
        compare_runs(single, multi, found)
    writer.write(tmp_path / "single", "c", {"single": said_by(planted, right)["single"]})
    with pytest.raises(InputError, match="hold 3 runs"):
        compare_runs(single, multi, found)


def test_a_report_of_one_run_on_one_split(planted, writer, found, tmp_path):
    path = writer.write(tmp_path / "run", "a", {"single": said_by(planted, right)["single"]})
    document = build_document([path], found)
    keys = {table.key for table in document.tables}
    assert "overall" in keys and not keys & {"differences", "single_multi", "drops", "rank_agreement", "by_recordings"}
    assert render_page(document).count("<table") == len(document.tables)


def test_a_run_that_answered_nothing_still_reports(tmp_path, planted, writer, found):
    path = writer.write(tmp_path / "run", "mute", said_by(planted, lambda row: Said("no idea")))
    document = build_document([path], found)
    assert set(next(table for table in document.tables if table.key == "overall").rows["exact_set"][:2]) == {0.0}


@pytest.mark.slow
def test_scoring_is_fast_enough_for_a_whole_leaderboard():
    """A tenth of the bench's size, and ten times its share of the goal: a slip of an order of magnitude shows."""
    from planted import memory_run, memory_split

    rows = {
        "single": [single_row(number, 6, "AC") for number in range(567)],
        "multi": [multi_row(number, 6, "AC") for number in range(1487)],
    }
    splits = {config: memory_split(config, members) for config, members in rows.items()}
    said = {config: {row["question_id"]: right(row) for row in members} for config, members in rows.items()}
    started = time.process_time()
    score_runs([memory_run(f"run-{number}", said) for number in range(3)], splits.__getitem__)
    assert time.process_time() - started < 3.0


def test_find_runs_and_plant_agree_on_an_empty_split(tmp_path):
    """A dataset without the split that a run answered is an error of the dataset's."""
    planted = plant(tmp_path / tmp_path.name, {"single": [single_row(0, 4, "A")]})
    assert find_runs([]).choice == ()
    assert set(planted.rows) == {"single"}


def test_a_cell_that_a_spreadsheet_would_compute_is_text_and_numbers_stay_numbers():
    cells = [
        "=1+1",
        "+cmd|'/c calc'!A0",
        "-x",
        "@SUM(1)",
        " =1",
        "\t=1",
        "-1.5",
        "+3",
        "1e5",
        "plain",
        -2.5,
        None,
        ("=a",),
    ]
    written = list(without_formulas(pd.DataFrame({"=head": cells}, dtype=object))["'=head"])
    assert written[:6] == [f"'{cell}" for cell in cells[:6]]
    assert written[6:] == cells[6:]
