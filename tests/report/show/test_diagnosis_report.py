"""A report on scripted models with known signatures, written from ordinary run folders and looked at in a browser."""

import json

import pandas as pd
import pytest
from probe_runs import write_probe_runs

from egobench_tasks.report.show.write import write_report


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("signatures")
    probes = ("blind", "center", "shuffled", "reordered", "swapped", "perm1", "perm2", "f8", "f128")
    runs = write_probe_runs(folder, n_single=0, n_multi=60, n_worlds=30, probes=probes)
    out = folder / "report"
    write_report(
        list(runs.paths.values()),
        out,
        find_dataset=lambda _: runs.planted.location,
        against=runs.paths["oracle"],
        browse_url="http://127.0.0.1:7860/",
    )
    return out


@pytest.fixture(scope="module")
def said(written):
    rows = pd.read_csv(written / "csv/statements.csv")
    rows = rows[rows["config"] == "multi"]
    return {(row["run"], row["statement"].partition(":")[0]): row for row in rows.to_dict("records")}


@pytest.mark.slow
def test_every_model_leaves_its_signature(said):
    assert said["oracle", "Sight"]["low"] > 0.5
    assert said["oracle", "Binding"]["tells"] == "yes" and said["oracle", "Binding"]["low"] > 0.3
    assert said["oracle", "Binding to the letter"]["value"] == 1.0
    assert said["blind-guesser", "Sight"]["value"] == 0.0 and said["blind-guesser", "Sight"]["tells"] == "cannot tell"
    assert said["always-first", "Position"]["tells"] == "yes"
    assert said["always-first", "Consistency over option orders"]["value"] < 0.2
    assert said["label-ignorer", "Sight"]["low"] > 0
    assert said["label-ignorer", "Binding"]["value"] == 0.0


@pytest.mark.slow
def test_all_forms_say_the_same(written):
    tables = json.loads((written / "report.json").read_text())["tables"]
    for key in ("diagnosis", "statements", "profile", "budgets", "consistency", "examples", "diagnosis_groups"):
        assert tables[key]["rows"], key
        assert len(pd.read_csv(written / f"csv/{key}.csv")) == len(tables[key]["rows"])
    markdown, page = (written / "report.md").read_text(), (written / "report.html").read_text()
    for row in tables["statements"]["rows"]:
        assert row["sentence"].split("(")[0] in markdown
    for figure in ("profile", "budgets"):
        assert f"figures/{figure}.svg" in markdown and f'id="figure-{figure}"' in page
    assert 'href="#diagnosis"' in page


@pytest.mark.slow
def test_every_run_stands_beside_the_anchor(written):
    overall = pd.read_csv(written / "csv/overall.csv")
    beside = overall[overall["against"].notna()]
    assert set(beside["run"]) == {"blind-guesser", "always-first", "label-ignorer"}
    exact = overall.set_index(["run", "config"])["exact_set"]
    for row in beside.to_dict("records"):
        assert row["against"] == pytest.approx(row["exact_set"] - exact["oracle", row["config"]])
    units = pd.read_csv(written / "csv/by_unit.csv")
    assert units["blind-guesser against"].notna().any() and units["oracle against"].isna().all()


@pytest.mark.slow
def test_a_reader_finds_the_diagnosis_in_a_browser(written, start_chromium):
    with start_chromium() as driver:
        driver.set_window_size(1200, 900)
        driver.get(written.joinpath("report.html").as_uri())
        section = driver.find_element("css selector", "#diagnosis")
        assert "why it is wrong" in section.text and "Cannot tell whether it uses the frames" in section.text
        links = section.find_elements("css selector", "#table-examples td a")
        assert links and all("?question=" in link.get_attribute("href") for link in links)
        image = section.find_element("css selector", "#figure-profile img")
        assert driver.execute_script("return arguments[0].naturalWidth", image) > 300
        assert not [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
