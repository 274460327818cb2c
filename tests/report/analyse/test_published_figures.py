"""Upstream's published figures come out of planted outcomes through the whole scoring path."""

import itertools
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
