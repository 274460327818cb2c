"""Whole runs through lighteval: tables, results and details, kills, shards, merges."""

import asyncio
import contextlib
import json
import os
import random
import re
import signal
import time

import pyarrow.parquet as pq
import pytest

from egobench_tasks.data import DatasetLocation
from egobench_tasks.report.read.choice_outcomes import score_repeats
from egobench_tasks.report.read.choice_questions import load_split
from egobench_tasks.report.read.lighteval_reader import find_lighteval_runs
from egobench_tasks.runs.journal import Journal

pytestmark = pytest.mark.slow

TASKS = ("egogears:single|0", "egogears:multi|0")


def results_of(folder):
    (path,) = sorted(folder.rglob("results_*.json"))
    return json.loads(path.read_text())


def scores_of(folder):
    return results_of(folder)["results"]


def details_of(folder):
    """(finish reason, text) by question id."""
    rows = [row for path in folder.rglob("details_*.parquet") for row in pq.read_table(path).to_pylist()]
    return {
        row["doc"]["specific"]["question_id"]: (
            row["model_response"]["finish_reason"],
            row["model_response"]["text"][0],
        )
        for row in rows
    }


def table_of(output):
    return [line for line in output.splitlines() if line.startswith("|")]


def test_the_oracle_scores_one_and_everything_is_saved(oracle_server, config, runs, tmp_path):
    code, output = runs.run(config(), "--output-dir", "out", "--save-details")
    assert code == 0
    for task in TASKS:
        scores = scores_of(tmp_path / "out")[task]
        assert (scores["exact_set"], scores["answered"], scores["kappa"]) == (1, 1, 1)
    assert re.search(r"\|egogears:multi:0 .*exact_set.*1\.0000", "\n".join(table_of(output)))
    assert "0 answers from the journal" in output and "12 to ask m at http" in output
    details = details_of(tmp_path / "out")
    assert len(details) == 12 and {reason for reason, _ in details.values()} == {"stop"}
    saved = results_of(tmp_path / "out")["config_general"]["model_config"]
    assert (saved["model_name"], saved["endpoint"]["max_tokens_cap"]) == ("m", 32768)

    n_asked = len(oracle_server.requests)
    code, output = runs.run(config(), "--output-dir", "again")
    assert (code, len(oracle_server.requests)) == (0, n_asked)
    assert "12 answers from the journal" in output and "0 to ask" in output
    assert scores_of(tmp_path / "again") == scores_of(tmp_path / "out")


def test_a_dry_run_says_what_a_run_would_take_and_asks_none_of_it(oracle_server, config, runs, tmp_path):
    limited = config(requests_per_minute=3, max_tokens=100)
    code, output = runs.run(limited, "--output-dir", "out", dry_run=True, tasks="egogears:multi")
    assert (code, oracle_server.asked) == (0, [])
    assert re.search(r"^questions +8: 0 in the journal, 8 to ask$", output, re.MULTILINE)
    assert re.search(rf"^images +{8 * 64}$", output, re.MULTILINE)
    assert re.search(r"^prompt tokens +about 5\d,\d{3}, 100 an image$", output, re.MULTILINE)
    assert re.search(r"^new tokens +800 at most", output, re.MULTILINE)
    assert re.search(r"^time +3 minutes at least$", output, re.MULTILINE)
    assert not (tmp_path / "out").exists() and not (tmp_path / "journal").exists()
    runs.run(config(max_tokens=100), "--max-samples", 3, tasks="egogears:multi")
    _, output = runs.run(config(max_tokens=100), dry_run=True, tasks="egogears:multi")
    assert re.search(r"^questions +8: 3 in the journal, 5 to ask$", output, re.MULTILINE)
    assert re.search(r"^time +depends on the server$", output, re.MULTILINE)


def test_a_dry_run_lists_every_probe_with_its_price(oracle_server, config, runs):
    priced = config(max_tokens=100, price_in=2, price_out=10)
    tasks = "egogears_blind:multi,egogears_center:multi,egogears_swapped:multi"
    code, output = runs.run(priced, dry_run=True, tasks=tasks)
    assert (code, oracle_server.asked) == (0, [])
    lines = {line.split()[0]: line.split()[1:] for line in output.splitlines() if re.match(r"egogears_\S+\|0 ", line)}
    blind, center, swapped = (lines[f"egogears_{probe}:multi|0"] for probe in ("blind", "center", "swapped"))
    assert (blind[:2], center[0], swapped[:2]) == (["8", "0"], "8", ["6", str(6 * 64)])
    assert 8 < int(center[1]) < 100
    for name, (_, images, prompt, new, cost) in lines.items():
        n_prompt, n_new = int(prompt.replace(",", "")), int(new.replace(",", ""))
        assert float(cost) == pytest.approx((2 * n_prompt + 10 * n_new) / 1e6, abs=0.006), name
        assert n_prompt >= 100 * int(images)
    total = re.search(r"^cost +([\d.]+) at most, at 2 in and 10 out a million tokens$", output, re.MULTILINE)
    assert float(total[1]) == pytest.approx(sum(float(cells[-1]) for cells in lines.values()), abs=0.02)


def test_repeats_have_keys_and_seeds_of_their_own_and_the_first_one_scores(oracle_server, config, runs, tmp_path):
    right = oracle_server.script

    def script(request, n):
        return right(request, n) if request["seed"] == 7 else oracle_server.say(oracle_server.completion("I forgot."))

    oracle_server.script = script
    seeded, once = config(seed=7), ("--output-dir", "once", "--save-details")
    assert runs.run(seeded, *once, tasks="egogears:single")[0] == 0
    assert {request["seed"] for request in oracle_server.asked} == {7}
    n_once = len(oracle_server.asked)
    thrice = {"tasks": "egogears:single", "EGOBENCH_REPEATS": "3"}
    code, output = runs.run(seeded, "--output-dir", "thrice", "--save-details", **thrice)
    assert code == 0, output
    seeds = [request["seed"] for request in oracle_server.asked[n_once:]]
    # The kept answers are looked at again, with their own seed, before they are believed.
    assert sorted(seed for seed in seeds if seed != 7) == sorted([8, 9] * n_once)
    assert scores_of(tmp_path / "thrice") == scores_of(tmp_path / "once")
    (run,) = find_lighteval_runs(tmp_path / "thrice")
    for response in run.tasks[0].responses():
        assert [repeat.text for repeat in response.repeats] == [response.text, "I forgot.", "I forgot."]
        assert {repeat.finish_reason for repeat in response.repeats} == {"stop"}
    split = load_split(DatasetLocation(runs.environment["EGOGEARS_DATA"]), "single")
    exact = [sum(one.score.exact_set for one in outcomes) for outcomes in score_repeats(run.tasks[0], split)]
    assert exact == [n_once, 0, 0]
    _, output = runs.run(seeded, **thrice)
    assert f"{3 * n_once} answers from the journal" in output and "0 to ask" in output


def test_repeats_that_could_only_agree_are_refused_before_anything_is_asked(oracle_server, config, runs):
    code, output = runs.run(config(), EGOBENCH_REPEATS="2")
    assert code == 2 and "2 repeats at temperature 0" in output and "set temperature (0.7), or a seed" in output
    code, output = runs.run(config(temperature=1, extra_body={"seed": 1}), EGOBENCH_REPEATS="2")
    assert code == 2 and "give it as the setting `seed`" in output
    code, output = runs.run(config(temperature=1), EGOBENCH_REPEATS="many")
    assert code == 2 and "whole number from 1 up; got 'many'" in output
    assert oracle_server.requests == []


def test_questions_without_an_answer_are_wrong_listed_and_asked_again(oracle_server, config, runs, tmp_path):
    right, failed = oracle_server.script, []

    def script(request, n):
        first = oracle_server.parts_of(request)[0]
        if len(failed) < 2 and first not in failed:
            failed.append(first)
        return oracle_server.say({"error": "no luck"}, status=500) if first in failed else right(request, n)

    oracle_server.script = script
    code, output = runs.run(config(), "--output-dir", "out", "--save-details", tasks="egogears:multi")
    assert code == 1
    assert "2 questions without an answer; they count as wrong" in output
    (named,) = re.findall(r"egogears:multi\|0 (.+): HTTP 500: .*no luck.*after 2 attempts", output)  # one line for both
    listed = named.split(", ")
    details = details_of(tmp_path / "out")
    assert sorted(listed) == sorted(key for key, (reason, _) in details.items() if reason == "request_failed")
    assert scores_of(tmp_path / "out")["egogears:multi|0"]["exact_set"] == pytest.approx(
        (len(details) - 2) / len(details)
    )
    oracle_server.script = right
    n_asked = len(oracle_server.asked)
    code, _ = runs.run(config(), "--output-dir", "again", tasks="egogears:multi")
    assert (code, len(oracle_server.asked) - n_asked) == (0, 2)
    assert scores_of(tmp_path / "again")["egogears:multi|0"]["exact_set"] == 1


def test_killed_ten_times_the_table_is_that_of_an_undisturbed_run(oracle_server, config, runs, tmp_path):
    right = oracle_server.script

    def slow(request, n):
        say = right(request, n)
        say.delay_s = 0.1
        return say

    _, undisturbed = runs.run(config(concurrency=2), "--output-dir", "out", EGOBENCH_JOURNAL=str(tmp_path / "other"))
    oracle_server.script = slow
    clock, killed = random.Random(5), 0
    asked_again = []
    while killed < 10:
        kept = {answer.prompt.partition("\n\nClips:")[0] for answer in journalled(tmp_path / "journal")}
        n_asked = len(oracle_server.asked)
        process = runs.start(run="endpoint", config=str(config(concurrency=2)), tasks="egogears")
        time.sleep(clock.uniform(0.2, 1.2))
        with contextlib.suppress(ProcessLookupError):  # on a fast machine it may have ended, which is no kill
            os.kill(process, signal.SIGKILL)
        killed += runs.wait() == -signal.SIGKILL
        asked = [str(oracle_server.parts_of(request)[0]) for request in oracle_server.asked[n_asked:]]
        asked_again += [text for text in asked if text.partition("\n\nClips:")[0] in kept]
        if len(journalled(tmp_path / "journal")) > 9:
            forget_some(tmp_path / "journal")  # so that all ten kills meet a run with something to ask
    assert asked_again == []
    (tmp_path / "output.txt").unlink(missing_ok=True)  # a run that ended before its kill has printed its table there
    _, output = runs.run(config(concurrency=2), "--output-dir", "out2")
    assert table_of(output) == table_of(undisturbed)
    assert scores_of(tmp_path / "out2") == scores_of(tmp_path / "out")


def journalled(folder):
    return [answer for path in folder.glob("*") for answer in Journal(path).answers().values()]


def forget_some(folder):
    for path in sorted(folder.glob("*/*.jsonl"))[::2]:
        path.unlink()


def test_shards_merge_into_the_whole_runs_results(oracle_server, config, runs, tmp_path):
    _, whole = runs.run(config(), "--output-dir", "whole", EGOBENCH_JOURNAL=str(tmp_path / "other"))
    n_asked = len(oracle_server.asked)
    for index in (1, 2, 3):
        code, output = runs.run(config(), "--output-dir", f"s{index}", EGOBENCH_SHARD=f"{index}/3")
        assert code == 0
        assert f"shard {index}/3" in output
    assert len(oracle_server.asked) - n_asked == 12
    parts = [details_of(tmp_path / f"s{index}") for index in (1, 2, 3)]
    assert sum(map(len, parts)) == len({key for part in parts for key in part}) == 12
    code, merged = runs.merge("s1", "s2", "s3", out="merged")
    assert code == 0
    assert table_of(merged) == table_of(whole)
    assert scores_of(tmp_path / "merged") == scores_of(tmp_path / "whole")
    assert details_of(tmp_path / "merged") == {key: value for part in parts for key, value in part.items()}
    assert "12 of 12 questions from 3 runs" in merged

    code, output = runs.merge("s1", "s3", out="partial")
    assert code == 1
    assert f"{len(parts[1])} questions are missing and count as wrong: " in output
    assert all(key in output for key in parts[1])
    present = sum(scores_of(tmp_path / "partial")[task]["exact_set"] for task in TASKS)
    assert 0 < present < 2
    reasons = [reason for reason, _ in details_of(tmp_path / "partial").values()]
    assert (len(reasons), reasons.count("missing")) == (12, len(parts[1]))


def test_runs_that_do_not_belong_together_are_not_merged(oracle_server, config, runs, tmp_path):
    one = "egogears:single"
    runs.run(config(), "--output-dir", "a", "--save-details", tasks=one)
    runs.run(config(thinking="off"), "--output-dir", "thinking", "--save-details", tasks=one)
    runs.run(config(model="m2"), "--output-dir", "model", "--save-details", tasks=one)
    runs.run(config(), "--output-dir", "bare", tasks=one)
    for other, says in [
        ("thinking", "differ in the model's thinking"),
        ("model", "model_name"),
        ("bare", "no details"),
    ]:
        code, output = runs.merge("a", other, out="x")
        assert (code, says in output) == (2, True), output
    wrong = oracle_server.completion('{"answer": ["A"]} ')
    oracle_server.script = lambda request, n: oracle_server.say(wrong)
    runs.run(config(), "--output-dir", "b", "--save-details", tasks=one, EGOBENCH_JOURNAL=str(tmp_path / "other"))
    code, output = runs.merge("a", "b", out="x")
    assert code == 1
    assert re.search(r"question \w{16} of egogears:single\|0 has two different answers, in .*a/.* and in .*b/", output)
    assert not (tmp_path / "x").exists()


def test_what_cannot_run_is_one_message(oracle_server, config, runs, tmp_path):
    for values, arguments, environment, says in [
        ({}, [], {"EGOGEARS_DATA": ""}, "egobench build egogears"),
        ({}, ["--no-such-option"], {}, "No such option"),
        ({"oops": 1}, [], {}, "unknown setting 'oops'"),
        ({"api_key_variable": "UNSET_KEY"}, [], {}, "$UNSET_KEY, which is not set"),
        ({}, [], {"EGOBENCH_SHARD": "9/3"}, "i/n"),
        ({}, [], {"EGOBENCH_SHARD": "12/12"}, "use fewer shards"),
    ]:
        code, output = runs.run(config(**values), *arguments, **environment)
        assert (code, says in output) == (2, True), output
        assert "Traceback" not in output
    assert oracle_server.requests == []


def test_the_key_is_in_none_of_the_files_of_a_run(oracle_server, config, runs, tmp_path):
    key = "sk-very-secret-1234567890"
    code, output = runs.run(
        config(api_key_variable="MY_KEY"), "--output-dir", "out", "--save-details", tasks="egogears:single", MY_KEY=key
    )
    assert code == 0
    assert all(headers["authorization"] == f"Bearer {key}" for headers in oracle_server.headers)
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert key not in output and not any(key.encode() in data for data in written)


def test_every_host_sends_the_same_message(oracle_server, settings, docs_of, sample_folder, tmp_path, monkeypatch):
    import inspect_ai
    from inspect_ai.model import get_model
    from PIL import Image

    from egobench_tasks.frames.lazy import open_jpeg
    from egobench_tasks.hosts.inspect.tasks import egogears_multi, egogears_single
    from egobench_tasks.hosts.lighteval.endpoint import EndpointModel
    from egobench_tasks.hosts.lighteval.messages import message_parts
    from egobench_tasks.hosts.lighteval.metrics import ChoiceScores

    monkeypatch.setenv("EGOGEARS_DATA", str(sample_folder / "egogears"))
    docs = docs_of("single") + docs_of("multi")
    responses = asyncio.run(EndpointModel(settings(concurrency=2)).greedy_until(docs))
    for doc, response in zip(docs, responses, strict=True):
        assert ChoiceScores().compute(doc, response)["exact_set"] == 1
    by_endpoint = sorted(map(oracle_server.parts_of, oracle_server.asked), key=str)
    n_requests = len(oracle_server.requests)
    model = get_model("openai-api/test/m", base_url=oracle_server.url, api_key="none")
    logs = inspect_ai.eval(
        [egogears_single(), egogears_multi()], model=model, log_dir=str(tmp_path / "logs"), display="none"
    )
    for log in logs:
        assert log.status == "success", log.error
        (scores,) = [scores for scores in log.results.scores if scores.name == "exact_set"]
        assert (scores.metrics["mean"].value, scores.metrics["kappa"].value) == (1, 1)
    by_inspect = sorted(map(oracle_server.parts_of, oracle_server.requests[n_requests:]), key=str)
    assert by_inspect == by_endpoint

    def pixels(parts):
        images = [part if isinstance(part, str | Image.Image) else open_jpeg(part) for part in parts]
        return [part if isinstance(part, str) else (part.size, part.tobytes()) for part in images]

    by_transformers = [pixels(message_parts(doc)) for doc in docs]
    assert sorted(by_transformers, key=str) == sorted(map(pixels, by_endpoint), key=str)
