"""Runs with known outcomes, written by lighteval itself and read back: every figure from an independent count."""

import math
from collections import Counter

import pytest
from planted import Said, gold, letters, memory_run, memory_split, mixed_rows, reply, reply_shown, right, said_by, wrong
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

from egobench_tasks.asking.options import shuffle_options
from egobench_tasks.report.analyse.breakdowns import DIMENSIONS, breakdown
from egobench_tasks.report.analyse.comparisons import differences_table, reasoning_pairs, reasoning_table
from egobench_tasks.report.analyse.failures import hardest_table, unanswered_table
from egobench_tasks.report.analyse.overall import completeness_table, overall_table, runs_table
from egobench_tasks.report.analyse.positions import confusion, positions_table
from egobench_tasks.report.analyse.ranks import rank_agreement_table
from egobench_tasks.report.analyse.single_multi import drop_summary_table, partial_credit_table, single_multi_table
from egobench_tasks.report.read.choice_results import score_choice_runs, score_runs
from egobench_tasks.report.read.runs import find_runs
from egobench_tasks.report.show.document import egogears_document


def one_answer_right(row):
    return right(row) if len(row["answer"]) == 1 else wrong(row)


def tenth_truncated(row):
    return Said('{"answer": ["A"]}', "length") if int(row["question_id"][1:]) % 10 == 0 else right(row)


def half_missing(row):
    return None if int(row["question_id"][1:]) % 2 else right(row)


def rescuer(row):
    """Wrong on every third question; see `rescued`."""
    return wrong(row) if int(row["question_id"][1:]) % 3 == 0 else right(row)


def rescued(row):
    """Rescues the questions divisible by 6, destabilises those one above a multiple of 6."""
    remainder = int(row["question_id"][1:]) % 6
    return wrong(row) if remainder in (1, 3) else right(row)


MODELS = {
    "org/one-answer": one_answer_right,
    "org/always-B": lambda row: reply_shown("B"),
    "org/truncated": tenth_truncated,
    "org/half": half_missing,
    "org/Model-7B-Instruct": rescuer,
    "org/Model-7B-Thinking": rescued,
}


@pytest.fixture(scope="module")
def results(planted, writer, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    paths = [writer.write(folder / name, name, said_by(planted, speak)) for name, speak in MODELS.items()]
    return score_choice_runs(find_runs(paths).choice, lambda benchmark: planted.location)


def records(table, **where):
    rows = table.rows
    for name, value in where.items():
        rows = rows[rows[name] == value]
    return rows.to_dict("records")


def record(table, **where):
    (row,) = records(table, **where)
    return row


def test_nothing_saved_disagrees_with_the_scores_computed_here(results):
    assert [task.disagreeing for task in results.tasks] == [()] * 12
    assert list(runs_table(results).rows["disagreeing"]) == [0] * 12


def test_the_settings_are_read_from_the_task_config(results, planted):
    task = results.tasks[0]
    assert task.settings.dataset == planted.fingerprints[task.config]
    assert task.settings.prompt.startswith("choice-")
    assert "count=64" in task.settings.frames and "at least 4 a clip" in task.settings.frames


@pytest.mark.parametrize("config", ["single", "multi"])
def test_one_answer_questions_right_and_no_other(results, planted, config):
    rows = planted.rows[config]
    n_right = sum(len(row["answer"]) == 1 for row in rows)
    overall = record(overall_table(results), run="one-answer", config=config)
    assert overall["exact_set"] == pytest.approx(n_right / len(rows))
    assert (overall["low"], overall["high"]) == pytest.approx(proportion_confint(n_right, len(rows), method="wilson"))
    chance = sum(1 / math.comb(len(row["options"]), len(row["answer"])) for row in rows) / len(rows)
    assert overall["chance"] == pytest.approx(chance)
    assert overall["kappa"] == pytest.approx((n_right / len(rows) - chance) / (1 - chance))
    formats = breakdown(results, next(one for one in DIMENSIONS if one.key == "answer_format"))
    mine = formats[(formats["run"] == "one-answer") & (formats["config"] == config)].set_index("group")["exact_set"]
    assert mine.to_dict() == {"one answer": 1.0, "several answers": 0.0}


@pytest.mark.parametrize("config", ["single", "multi"])
def test_always_b_chooses_b_whenever_it_is_shown(results, planted, config):
    rows = planted.rows[config]
    shown_gold = Counter(
        letter
        for row in rows
        for letter, original in shuffle_options(row["question_id"], letters(row)).items()
        if original in row["answer"]
    )
    for row in records(positions_table(results), run="always-B", config=config):
        n_shown = sum(row["letter"] in letters(question) for question in rows)
        assert row["shown"] == n_shown
        assert row["right"] == pytest.approx(shown_gold[row["letter"]] / n_shown)
        assert row["chosen"] == (1.0 if row["letter"] == "B" else 0.0)
        assert row["excess"] == pytest.approx(row["chosen"] - row["right"])
        assert row["recall"] == (1.0 if row["letter"] == "B" else 0.0)
    outcomes = results.of(config)
    matrix = confusion(outcomes[outcomes["run"] == "always-B"])
    assert matrix["B"].sum() == matrix.to_numpy().sum() == sum(len(row["answer"]) == 1 for row in rows)


@pytest.mark.parametrize("config", ["single", "multi"])
def test_truncated_answers_are_wrong_and_counted_whatever_they_hold(results, planted, config):
    n = len(planted.rows[config])
    row = record(completeness_table(results), run="truncated", config=config)
    assert (row["truncated"], row["answered"], row["missing"]) == (n // 10, n - n // 10, 0)
    assert record(overall_table(results), run="truncated", config=config)["exact_set"] == pytest.approx(0.9)
    listed = record(unanswered_table(results), run="truncated", config=config)
    assert listed["reason"] == "truncated"
    assert listed["question_ids"] == tuple(f"{config[0]}{number:04}" for number in range(0, n, 10))


def test_a_run_with_half_its_questions_is_partial_everywhere_and_they_count_as_wrong(results):
    label = "half (partial)"
    assert results.labels == ("one-answer", "always-B", "truncated", label, "Model-7B-Instruct", "Model-7B-Thinking")
    assert record(completeness_table(results), run=label, config="multi")["missing"] == 40
    assert record(overall_table(results), run=label, config="multi")["exact_set"] == 0.5
    assert len(record(unanswered_table(results), run=label, config="single")["question_ids"]) == 30
    assert f"{label}, multi: 40 of 80 questions are missing" in "\n".join(results.notices)
    document = egogears_document(results)
    named = [
        table for table in document.tables if "run" in table.rows and "half" in " ".join(map(str, table.rows["run"]))
    ]
    assert len(named) > 5
    assert all(label in set(table.rows["run"]) and "half" not in set(table.rows["run"]) for table in named)
    assert all(
        label in plot.svg or label.split()[0] not in plot.svg for section in document.sections for plot in section.plots
    )


@pytest.mark.parametrize("config", ["single", "multi"])
def test_rescued_and_destabilised_questions_are_counted_and_tested(results, planted, config):
    numbers = range(len(planted.rows[config]))
    before = [number % 3 != 0 for number in numbers]
    after = [number % 6 not in (1, 3) for number in numbers]
    cells = Counter(zip(before, after, strict=True))
    row = record(reasoning_table(results), config=config)
    assert (row["first"], row["second"]) == ("Model-7B-Instruct", "Model-7B-Thinking")
    assert row["rescued"] == cells[False, True] > 0
    assert row["destabilised"] == cells[True, False] > 0
    assert row["both_right"] == cells[True, True]
    assert row["both_wrong"] == cells[False, False]
    table = [[cells[True, True], cells[True, False]], [cells[False, True], cells[False, False]]]
    assert row["p_value"] == pytest.approx(mcnemar(table, exact=True).pvalue)
    assert row["gain"] == pytest.approx((sum(after) - sum(before)) / len(before))
    assert row["low"] <= row["gain"] <= row["high"]


def test_every_two_runs_are_compared_with_holms_correction_over_all(results):
    rows = differences_table(results).rows
    assert len(rows) == 2 * 15
    assert (rows["p_holm"] >= rows["p_value"]).all()
    smallest = rows.sort_values("p_value").iloc[0]
    assert smallest["p_holm"] == pytest.approx(min(1.0, smallest["p_value"] * len(rows)))
    totals = rows[["both_right", "rescued", "destabilised", "both_wrong"]].sum(axis=1)
    assert dict(totals.groupby(rows["config"]).first()) == {"single": 60, "multi": 80}


def test_single_against_multi_four_ways(results, planted):
    run = "one-answer"

    def share(config):
        return sum(len(row["answer"]) == 1 for row in planted.rows[config]) / len(planted.rows[config])

    rows = {row["measure"]: row for row in records(single_multi_table(results), run=run)}
    exact = rows["exact, all questions"]
    assert exact["difference"] == pytest.approx(share("multi") - share("single"))
    assert exact["low"] < exact["difference"] < exact["high"]
    assert rows["exact, questions with one answer"]["difference"] == 0.0
    overall = {config: record(overall_table(results), run=run, config=config) for config in ("single", "multi")}
    for measure, metric in (("Jaccard", "jaccard"), ("kappa", "kappa")):
        assert rows[measure]["difference"] == pytest.approx(overall["multi"][metric] - overall["single"][metric])


def test_footage_that_both_splits_show_is_drawn_for_both():
    """Each split was drawn by itself, and its questions one by one: an interval for luck that there is none of."""
    rows = {"single": mixed_rows(120, 0)["single"], "multi": mixed_rows(0, 120)["multi"]}
    for number, row in enumerate(rows["single"]):
        row["recording"] = f"recording {number // 4}"
    for number, row in enumerate(rows["multi"]):
        row["clip_sha256"] = [rows["single"][number // 4 * 4]["sha256"]] * len(row["clip_sha256"])
    of = {row["question_id"]: number // 4 for members in rows.values() for number, row in enumerate(members)}
    said = {
        config: {row["question_id"]: right(row) if of[row["question_id"]] % 2 else wrong(row) for row in members}
        for config, members in rows.items()
    }
    results = score_runs([memory_run("m", said)], lambda config: memory_split(config, rows[config]))
    assert len(set(results.outcomes["cluster"])) == 30
    row = record(single_multi_table(results), measure="exact, all questions")
    assert (row["difference"], row["low"], row["high"]) == (0.0, 0.0, 0.0)
    apart = {config: [dict(one) for one in members] for config, members in rows.items()}
    for number, one in enumerate(apart["multi"]):
        one["clip_sha256"] = [f"{number // 4:064}"] * len(one["clip_sha256"])
    results = score_runs([memory_run("m", said)], lambda config: memory_split(config, apart[config]))
    assert len(set(results.outcomes["cluster"])) == 60
    row = record(single_multi_table(results), measure="exact, all questions")
    assert row["high"] - row["low"] == pytest.approx(2 * 1.96 * (2 * 0.25 / 30) ** 0.5, rel=0.1)


def test_the_drop_is_summed_up_over_configurations_paired_with_themselves(results):
    four_ways = single_multi_table(results)
    summary = record(drop_summary_table(four_ways), measure="exact, all questions")
    overall = overall_table(results)
    drops = [
        record(overall, run=run, config="multi", origin="run")["exact_set"]
        - record(overall, run=run, config="single")["exact_set"]
        for run in results.whole
    ]
    assert set(results.labels) - set(results.whole) == {"half (partial)"}
    assert summary["configurations"] == len(drops) == 5
    assert summary["mean"] == pytest.approx(sum(drops) / len(drops))
    assert summary["dropping"] == sum(drop < 0 for drop in drops)
    assert summary["published"] == -0.225


def test_partial_credit_adds_the_median_of_the_runs_gains(results):
    overall = overall_table(results)
    rows = [row for row in records(overall, config="single", origin="run") if row["run"] in results.whole]
    gains = sorted(row["jaccard"] - row["exact_set"] for row in rows)
    assert record(partial_credit_table(results), config="single")["gain"] == pytest.approx(gains[2])


def test_ten_of_240_multi_questions_spoil_no_mean_drop_median_or_rank():
    rows = {"single": mixed_rows(60, 0)["single"], "multi": mixed_rows(0, 240)["multi"]}
    said = {config: {row["question_id"]: right(row) for row in members} for config, members in rows.items()}
    cut = {"single": said["single"], "multi": dict(list(said["multi"].items())[:10])}
    runs = [memory_run("whole", said), memory_run("cut", cut)]
    results = score_runs(runs, lambda config: memory_split(config, rows[config]))
    four_ways = single_multi_table(results)
    drops = drop_summary_table(four_ways)
    assert set(four_ways.rows["run"]) == {"whole", "cut (partial)"}  # its figures stand there, marked
    assert record(drops, measure="exact, all questions")["mean"] == 0.0
    assert record(drops, measure="exact, all questions")["configurations"] == 1
    assert "Whole runs only; left out: cut (partial)." in drops.note
    assert set(partial_credit_table(results).rows["runs"]) == {1}
    assert set(rank_agreement_table(results).rows["runs"]) == {1}


def test_seven_of_1487_questions_are_said_and_not_ranked_among_published_models():
    rows = mixed_rows(0, 7)["multi"]
    said = {row["question_id"]: right(row) for row in rows}
    results = score_runs([memory_run("m", {"multi": said})], lambda config: memory_split(config, rows))
    document = egogears_document(results)
    tables = {table.key: table for table in document.tables}
    for key in ("overall", "partial_credit"):
        assert "NOT the published dataset (multi: 7 of 1,487 questions)" in tables[key].note
    assert tables["overall"].apart
    assert "7 of 1,487 questions" in document.subtitle
    assert any("7 of 1,487" in notice for notice in document.notices)
    assert tables["runs"].rows["published"].tolist() == [1487]
    (leaderboard,) = [plot for section in document.sections for plot in section.plots if plot.key == "leaderboard"]
    assert "◊" not in leaderboard.svg and "published" not in leaderboard.svg


def test_a_question_counts_for_the_runs_that_were_asked_it():
    rows = mixed_rows(0, 4)["multi"]
    said = {row["question_id"]: wrong(row) for row in rows}
    asked = dict(list(said.items())[:1])
    runs = [memory_run("whole", {"multi": said}), memory_run("cut", {"multi": asked})]
    results = score_runs(runs, lambda config: memory_split(config, rows))
    assert hardest_table(results).rows.set_index("question_id")["runs"].to_dict() == {
        row["question_id"]: 2 if row["question_id"] in asked else 1 for row in rows
    }


def test_the_hardest_questions_are_those_that_the_fewest_runs_get_right(results, planted):
    rows = hardest_table(results).rows
    counted = {
        row["question_id"]: sum(results.outcomes["exact_set"][results.outcomes["question_id"] == row["question_id"]])
        for row in rows.to_dict("records")
    }
    assert list(rows["right"]) == [counted[question_id] for question_id in rows["question_id"]]
    assert list(rows["right"] / rows["runs"]) == sorted(rows["right"] / rows["runs"])


def test_groups_partition_the_questions(results, planted):
    for dimension in DIMENSIONS:
        scores = breakdown(results, dimension)
        if scores.empty or dimension.only is not None:
            continue
        for config, rows in planted.rows.items():
            mine = scores[(scores["config"] == config) & (scores["run"] == "always-B")]
            attributes = results.splits[config].attributes
            assert mine["questions"].sum() == attributes[dimension.column].notna().sum() <= len(rows)


def test_crossed_routes_are_those_with_all_six_combinations(results, planted):
    speeds = breakdown(results, next(one for one in DIMENSIONS if one.key == "crossed_speed_by_lighting"))
    mine = speeds[speeds["run"] == "always-B"].set_index("group")["questions"]
    on_route = Counter()
    for row in planted.rows["single"]:
        if row["participant"] == "P01":  # P03's route lacks running at night
            on_route[f"{row['speed']}, {row['lighting']}"] += 1
    assert mine.to_dict() == dict(on_route)
    assert len(on_route) == 6


def test_groups_without_a_source_are_left_out_and_said_so(results):
    document = egogears_document(results)
    tables = {table.key: table for table in document.tables}
    assert "by_capability" not in tables
    assert "of 60 single questions" in tables["by_speed"].note
    assert "80 of 80 multi questions" in tables["by_speed"].note


def test_a_guesser_scores_at_chance():
    rows = mixed_rows(0, 1500, seed=4)["multi"]
    import random

    generator = random.Random(8)
    said = {row["question_id"]: reply(row, "".join(generator.sample(letters(row), len(gold(row))))) for row in rows}
    results = score_runs([memory_run("guess", {"multi": said})], lambda config: memory_split(config, rows))
    overall = record(overall_table(results), run="guess")
    assert overall["low"] < overall["chance"] < overall["high"]
    assert abs(overall["kappa"]) < 0.04
    assert overall["wellformed"] == overall["answered"] == 1.0
    slots = sum(len(gold(row)) for row in rows)
    hits = sum(
        len(set(outcome) & set(gold(row))) for row, outcome in zip(rows, results.outcomes["predicted"], strict=True)
    )
    assert hits / slots == pytest.approx(overall["chance_overlap"], abs=0.03)


def test_every_reason_for_no_answer_is_kept_apart():
    said = {
        "no_json": Said("B, I think"),
        "unknown_letter": Said('{"answer": ["Z"]}'),
        "unreadable_item": Said('{"answer": ["both"]}'),
        "empty": Said('{"answer": []}'),
        "not_a_list": Said('{"answer": 3}'),
        "truncated": Said("<think>", "length"),
        "abnormal_stop": Said("", "content_filter"),
        "unclosed_reasoning": Said('<think> {"answer": ["A"]}'),
        "request_failed": Said("", "request_failed"),
        "clip_unreadable": Said("", "clip_unreadable"),
        "answered": Said('{"answer": ["A"]}'),
        "missing": None,
    }
    rows = mixed_rows(0, len(said))["multi"]
    answers = {row["question_id"]: one for row, one in zip(rows, said.values(), strict=True) if one}
    results = score_runs([memory_run("run", {"multi": answers})], lambda config: memory_split(config, rows))
    assert dict(zip(said, results.outcomes["state"], strict=True)) == {state: state for state in said}
    row = record(completeness_table(results), run="run (partial)")
    assert all(row[state] == 1 for state in said)
    assert results.tasks[0].unfinished == 3  # missing, request failed, clip unreadable: not the model's


def test_runs_under_other_settings_are_not_put_together_without_saying_so():
    rows = mixed_rows(0, 10)["multi"]
    said = {row["question_id"]: right(row) for row in rows}
    runs = [
        memory_run("long", {"multi": said}, frames="count=64", prompt="p", dataset="f" * 16),
        memory_run("short", {"multi": said}, frames="count=32", prompt="p", dataset="f" * 16),
    ]
    results = score_runs(runs, lambda config: memory_split(config, rows))
    assert "multi: the runs differ in frames. count=64: long; count=32: short" in results.notices
    assert all("differ in their settings" in table.note for table in egogears_document(results).tables)
    alike = score_runs(runs[:1], lambda config: memory_split(config, rows))
    assert alike.differing is None and alike.notices == ()


def test_rank_agreement_of_three_runs():
    rows = mixed_rows(0, 90)["multi"]

    def run(name, n_right):
        said = {row["question_id"]: right(row) if place < n_right else wrong(row) for place, row in enumerate(rows)}
        return memory_run(name, {"multi": said})

    results = score_runs([run("a", 10), run("b", 50), run("c", 80)], lambda config: memory_split(config, rows))
    assert record(rank_agreement_table(results), first="exact_set, multi", second="jaccard, multi")["rho"] == 1.0


@pytest.mark.parametrize(
    ("labels", "pairs"),
    [
        (["X-8B-Instruct", "X-8B-Thinking"], [("X-8B-Instruct", "X-8B-Thinking")]),
        (["X-8B", "X-8B-thinking (partial)"], [("X-8B", "X-8B-thinking (partial)")]),
        (["glm_direct", "glm_reasoning", "other"], [("glm_direct", "glm_reasoning")]),
        (["X-8B", "X-4B-Thinking"], []),
        (["X", "X-direct", "X-Thinking"], []),  # which one? none, rather than a guess
        (["Rethinking-7B"], []),
    ],
)
def test_reasoning_runs_find_their_direct_ones_by_name(labels, pairs):
    assert [(pair.first, pair.second) for pair in reasoning_pairs(labels)] == pairs
