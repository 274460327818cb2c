"""A scored export of open questions is judged, reported, browsed and compared as a direct run over the same replies."""

import hashlib
import json

import pytest

SAID = ("Somebody waves.", "The person opens a door, then waves.", "Twice.", "")


def said_to(message, model):
    """What the scripted model says to a message's words; models differ on some."""
    words = "".join(part["text"] for part in message["content"] if part["type"] == "text")
    return SAID[hashlib.sha256(f"{model} {words}".encode()).digest()[0] % len(SAID)]


def rows_of(report, run):
    """A run's rows in every table of a report, but for its name and for who got its answers."""
    tables = json.loads((report / "report.json").read_text())["tables"]
    found = {
        name: [
            {column: value for column, value in row.items() if column not in ("run", "defaults")}
            for row in table["rows"]
            if run in str(row.get("run"))
        ]
        for name, table in tables.items()
    }
    return {name: rows for name, rows in found.items() if rows}


@pytest.mark.slow
def test_a_scored_export_is_judged_reported_browsed_and_compared_as_a_direct_run(
    server, config, runs, egotempo, judge, tmp_path
):
    from egobench_tasks.browse.load import load_library
    from egobench_tasks.data import DatasetLocation

    dataset = {"EGOTEMPO_DATA": str(egotempo.folder), "EGOBENCH_CACHE": str(tmp_path / "cache")}
    environment = {
        **dataset,
        "EGOBENCH_JUDGE_BASE_URL": judge.base_url,
        "EGOBENCH_JUDGE_MODEL": "scripted",
    }
    code, printed = runs.egobench("export", "egotempo_f4", "--format", "messages", "--out", "export", **environment)
    assert code == 1 and "19 questions in 1 files" in printed  # one has no clip
    lines = [json.loads(line) for path in (tmp_path / "export").glob("*.jsonl") for line in path.open()]
    for model in ("m", "other"):
        said = [
            {"id": line["id"], "text": said_to(line["messages"][0], model), "finish_reason": "stop"} for line in lines
        ]
        (tmp_path / f"{model}.jsonl").write_text("\n".join(map(json.dumps, said)))
        out = ["--export", "export", "--output-dir", f"scored-{model}", "--model", model]
        code, printed = runs.egobench("score", f"{model}.jsonl", *out, **dataset)
        assert code == 1 and "1 questions without an answer; the run is partial" in printed
        assert "no answer has a verdict yet" in printed and "next: egobench judge" in printed
        assert "the same command asks" not in printed  # it asks nobody
        code, printed = runs.egobench("judge", f"scored-{model}", **environment)
        n_words = sum(bool(one["text"]) for one in said)
        assert code == 1 and f"{n_words} of {n_words} answers judged" in printed and "1 of 20 questions lost" in printed

    server.script = lambda request, n: server.say(server.completion(said_to(request["messages"][0], "m")))
    n_asked = len(judge.asked)
    code, _ = runs.run(config(), "--output-dir", "direct", "--save-details", tasks="egotempo_f4", **environment)
    assert code == 1
    assert len(judge.asked) == n_asked  # the same answers to the same questions have their verdicts already

    names = ("scored-m", "scored-other", "direct")
    code, printed = runs.egobench("report", *names, "--out", "report", **environment)
    assert code == 0, printed
    scored = rows_of(tmp_path / "report", "(scored-m)")
    assert scored == rows_of(tmp_path / "report", "(direct)")
    assert {"open_runs", "open_categories", "open_inputs", "open_durations"} <= scored.keys()
    assert rows_of(tmp_path / "report", "other, judged by scripted")["open_categories"] != scored["open_categories"]
    assert "answered elsewhere, export" in (tmp_path / "report" / "report.md").read_text()

    code, printed = runs.egobench("compare", "scored-m", "direct", **environment)
    assert code == 0 and "19 questions decided in both" in printed
    assert "rescued 0, destabilised 0" in printed
    code, printed = runs.egobench("compare", "scored-m", "scored-other", **environment)
    assert code == 0 and "rescued 0, destabilised 0" not in printed

    library = load_library(DatasetLocation(str(egotempo.folder)), [tmp_path / name for name in names])
    first, other, last = library.runs
    assert len(library.entries) == 20
    assert all(entry.verdicts[first] == entry.verdicts[last] for entry in library.entries)
    assert any(entry.verdicts[first] != entry.verdicts[other] for entry in library.entries)
