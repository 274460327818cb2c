"""A mean over parts of a benchmark does not bear the name of its figure."""

import pytest

from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.hosts.lighteval.averages import correct_averages


def averaged(n_categories, lost=0, group="egotempo"):
    names = [f"{group}:c{number}|0" for number in range(n_categories)]
    figures = {name: {"exact_match": 0.5, "exact_match_stderr": 0.1} for name in names}
    figures[f"{group}:_average|0"] = {"exact_match": 0.5, "exact_match_stderr": 0.1}
    values = {name: {"lost": [0.0, 0.0]} for name in names}
    values[names[0]]["lost"][0] = lost
    correct_averages(figures, values)
    (name,) = [name for name in figures if name not in names]
    return name, figures[name]


def test_the_average_of_all_categories_keeps_its_name_and_gets_the_error_of_a_mean_of_parts():
    n_all = len(EGOTEMPO.category_codes)
    name, average = averaged(n_all)
    assert name == "egotempo:_average|0"
    assert average == {"exact_match": 0.5, "exact_match_stderr": pytest.approx(0.1 / n_all**0.5)}


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ((3,), "egotempo:_average (3 of 10 categories)|0"),
        ((10, 1.0), "egotempo:_average (partial)|0"),
        ((3, 1.0), "egotempo:_average (3 of 10 categories, partial)|0"),
        ((2, 1.0, "egogears"), "egogears:_average (partial)|0"),
        ((2, 0.0, "egogears"), "egogears:_average|0"),
        ((2, 1.0, "mmlu"), "mmlu:_average|0"),
    ],
)
def test_an_average_that_lacks_something_says_so_in_its_name(asked, name):
    assert averaged(*asked)[0] == name
