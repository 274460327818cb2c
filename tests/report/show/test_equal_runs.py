"""What ``egobench compare`` says of the smallest difference that it would have shown."""

import math

from egobench_tasks.report.show.compare_open import would_have_shown


def test_equal_runs_are_not_told_that_a_dash_of_points_would_have_shown():
    assert would_have_shown(math.nan) == "no difference can be named that would have shown four times in five"
    assert would_have_shown(0.123).endswith("12.3 points would have shown four times in five")
