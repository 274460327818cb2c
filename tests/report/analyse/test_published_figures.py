"""Upstream's published figures come out of planted outcomes through the whole scoring path."""

import itertools
import json
import operator
from fractions import Fraction
from math import comb

import pytest
from planted import Said, letters, memory_run, memory_split, multi_row, reply, single_row

from egobench_tasks.report.analyse import published
from egobench_tasks.report.analyse.breakdowns import DIMENSIONS, breakdown, breakdown_table
from egobench_tasks.report.analyse.overall import overall_table
from egobench_tasks.report.analyse.tables import PUBLISHED, cells
from egobench_tasks.report.read.choice_results import score_runs
from egobench_tasks.report.read.open_outcomes import CODES
from egobench_tasks.report.read.published_data import open_difference

N = 1487
ANSWERS = ["A"] * 600 + ["BD"] * 437 + ["ACE"] * 300 + ["BDFH"] * 150


@pytest.fixture(scope="module")
def rows():
    return [multi_row(number, 8, answer) for number, answer in enumerate(ANSWERS)]


@pytest.fixture(scope="module")
def split(rows):
    return memory_split("multi", rows)


def partly(row, n_hits: int, n_chosen: int) -> Said:
    """So many of the right options among so many chosen."""
    others = [letter for letter in letters(row) if letter not in row["answer"]]
    return reply(row, "".join([*row["answer"][:n_hits], *others[: n_chosen - n_hits]]))


def outcomes_of(rows, figures: published.LeaderboardRow) -> dict[str, Said]:
    """Answers that are exact, wellformed and overlapping as often as the leaderboard says."""
    n_exact, n_wellformed = round(figures.exact_set * N), round(figures.wellformed * N)
    exact, rest = rows[:n_exact], rows[n_exact:]
    wellformed, misformed = rest[len(rest) - (n_wellformed - n_exact) :], rest[: len(rest) - (n_wellformed - n_exact)]
    said = {row["question_id"]: reply(row, "".join(row["answer"])) for row in exact}
    missing = figures.overlap * N - n_exact
    # Two questions of each size are kept back for the last fraction.
    kept = [row for size in (2, 3, 4) for row in [row for row in wellformed if len(row["answer"]) == size][:2]]
    for row in misformed:
        superset = missing >= 1.9
        said[row["question_id"]] = partly(row, len(row["answer"]), len(row["answer"]) + 1) if superset else Said("")
        missing -= superset
    for row in wellformed:
        size = len(row["answer"])
        hits = size - 1 if missing >= 1.9 and row not in kept else 0
        said[row["question_id"]] = partly(row, hits, size)
        missing -= hits / size
    sizes = [len(row["answer"]) for row in kept]
    choices = itertools.product(*(range(size) for size in sizes))
    best = min(choices, key=lambda hits: abs(sum(map(operator.truediv, hits, sizes)) - missing))
    said |= {row["question_id"]: partly(row, hits, len(row["answer"])) for row, hits in zip(kept, best, strict=True)}
    return said


@pytest.mark.parametrize("figures", published.MULTI_LEADERBOARD, ids=lambda figures: figures.model)
def test_the_first_leaderboard_is_rebuilt_to_the_last_digit(rows, split, figures):
    said = outcomes_of(rows, figures)
    results = score_runs([memory_run("planted", {"multi": said})], lambda _: split)
    table = overall_table(results)
    shown = {column.name: cell.text for column, cell in zip(table.columns, cells(table)[0], strict=True)}
    assert shown["questions"] == "1,487"
    assert shown["exact_set"] == f"{100 * figures.exact_set:.2f}"
    assert shown["overlap"] == f"{100 * figures.overlap:.2f}"
    assert shown["wellformed"] == f"{100 * figures.wellformed:.2f}"


def test_published_rows_stand_beside_the_runs_and_are_marked(rows, split):
    run = memory_run("mine", {"multi": {rows[0]["question_id"]: Said("")}})
    table = overall_table(score_runs([run], lambda _: split))
    assert list(table.rows["run"][1:]) == [row.model for row in published.MULTI_LEADERBOARD]
    assert list(table.rows["origin"]) == ["run"] + [PUBLISHED] * 9


def test_the_single_split_has_no_published_rows():
    rows = [single_row(0, 4, "A")]
    run = memory_run("mine", {"single": {"s0000": Said("")}})
    assert list(overall_table(score_runs([run], lambda config: memory_split(config, rows))).rows["run"]) == ["mine"]


def test_chance_on_the_531_is_published_chance_for_a_mix_that_gives_it():
    mix = {(6, 1): 36, (8, 2): 490, (7, 2): 5}
    shapes = [shape for shape, count in mix.items() for _ in range(count)]
    rows = [
        multi_row(number, n_options, "ABCDE"[:n_select], unit="cross_recording")
        for number, (n_options, n_select) in enumerate(shapes)
    ]
    results = score_runs([memory_run("m", {"multi": {"m0000": Said("")}})], lambda config: memory_split(config, rows))
    expected = sum(Fraction(count, comb(*shape)) for shape, count in mix.items()) / 531
    overall = overall_table(results).rows.iloc[0]
    assert overall["chance"] == pytest.approx(float(expected), rel=1e-12)
    assert f"{overall['chance']:.4f}" == f"{published.CHANCE_INDEPENDENT_RECORDINGS:.4f}" == "0.0447"
    # Chance of overlap is averaged over answer slots.
    slots = sum(n_select * count for (_, n_select), count in mix.items())
    hits = sum(Fraction(n_select**2 * count, n_options) for (n_options, n_select), count in mix.items())
    assert overall["chance_overlap"] == pytest.approx(float(hits / slots), rel=1e-12)
    dimension = next(dimension for dimension in DIMENSIONS if dimension.key == "recordings")
    table = breakdown_table(results, dimension, breakdown(results, dimension))
    assert (table.rows["group"].item(), table.rows["questions"].item()) == ("independent recordings", 531)
    assert "4.47 %" in table.note


def test_published_rows_say_which_harness_they_come_from(rows, split):
    run = memory_run("mine", {"multi": {rows[0]["question_id"]: Said("")}})
    table = overall_table(score_runs([run], lambda _: split))
    assert "an older and laxer harness" in table.note and not table.apart
    assert set(table.rows["harness"].dropna()) == {published.EGOGEARS_HARNESS}


_NAMES = dict.fromkeys(("Gemini-Flash", "Gemini Flash", "Gemini"), "Gemini 1.5 Flash")
_SETTINGS = {
    ("central_frame", "1"): "center",
    ("text", "0"): "text",
    ("multiple_frames", "1FPS"): "fps1",
    ("multiple_frames", "32"): "f32",
    ("multiple_frames", "8"): "f8",
    "Text Only": "text",
    "Single Frame": "center",
    "Multiple Frames": "fps1",
    "Human": "video",
    "Gemini": "fps1",
}


def setting_of(table, row):
    """The paper's words for an input in ours."""
    if table == "table3":
        return _SETTINGS.get((row["input"], row["frames"]), "chance")
    if table == "table4_frames":
        return "center" if row["frames"] == 1 else f"f{row['frames']}"
    if table == "table5_sampling":
        return f"fps{row['rate_fps']:g}" + ("" if row["sampling"] == "uniform" else f"_{row['sampling']}")
    return _SETTINGS.get(row["input"] if table == "table6_closed_form" else row["model"], "chance")


def test_egotempos_published_figures_are_the_papers_whole_tables(shared_dir):
    papers = json.loads((shared_dir / "data/egotempo/published.json").read_text())
    tables = [(name, row) for name, rows in papers.items() if name.startswith("table") for row in rows]
    assert len(tables) == len(published.EGOTEMPO_TABLES)
    for (name, row), figure in zip(tables, published.EGOTEMPO_TABLES, strict=True):
        assert figure.table == int(name[5]) and figure.closed_form == (row.get("form") == "CloseQA")
        assert figure.setting == setting_of(name, row), row
        assert figure.accuracy == pytest.approx(row["Avg"] / 100)
        assert figure.categories == pytest.approx({code: row[code] / 100 for code in CODES})
        if figure.is_model or figure.setting == "video":
            assert figure.model.casefold() == _NAMES.get(row["model"], row["model"]).casefold()


def test_the_closed_forms_model_is_named_and_gpt_4os_single_frame_is_the_central_one():
    closed = {figure.setting: (figure.model, figure.accuracy) for figure in published.EGOTEMPO_CLOSED_FORM}
    assert closed["text"] == ("Gemini 1.5 Flash", 0.362) and closed["fps1"] == ("Gemini 1.5 Flash", 0.609)
    gpt = {figure.setting: figure.accuracy for figure in published.EGOTEMPO if figure.model == "GPT-4o"}
    assert gpt["center"] == 0.129 and "f1" not in gpt


def test_a_model_and_setting_stands_once_beside_a_run():
    pairs = [(figure.model, figure.setting) for figure in published.EGOTEMPO]
    assert len(set(pairs)) == len(pairs)
    rates = {figure.setting for figure in published.EGOTEMPO if figure.model == "Gemini 1.5 Flash"}
    assert {f"fps{rate}{order}" for rate in ("0.1", "0.5", "1") for order in ("", "_random", "_shuffled")} <= rates


def test_the_published_annotations_are_known_by_their_words(shared_dir, tmp_path):
    annotations = json.loads((shared_dir / "data/egotempo/egotempo_openQA.json").read_text())["annotations"]
    names = ("question_id", "question", "answer", "question_type")
    rows = [tuple(row[name].strip() for name in names) for row in annotations]
    assert open_difference(rows) is None
    assert open_difference(rows[:5]) == "5 of 500 questions"
    changed = [(rows[0][0], f"Prefix {rows[0][1]}", *rows[0][2:]), *rows[1:]]
    assert "not all with the published wording" in open_difference(changed)
