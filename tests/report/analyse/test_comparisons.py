"""What makes a comparison doubtful stands beside it, and nowhere else."""

from simulated import blind_guesser, oracle, simulated_results

from egobench_tasks.report.analyse.comparisons import Pair, compare_pairs, differences_table


def compared(other):
    results = simulated_results({"a": oracle, "b": other}, (), count=160)
    (row,) = compare_pairs(results, [Pair("a", "b")])
    return row["doubt"], [column.title for column in differences_table(results).columns]


def test_two_runs_that_hardly_differ_have_a_rough_interval():
    doubt, titles = compared(oracle)
    assert doubt == "few events: the interval is rough" and "Doubt" in titles


def test_a_comparison_of_many_changes_has_no_column_for_doubts():
    doubt, titles = compared(blind_guesser)
    assert doubt is None and "Doubt" not in titles
