import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from egobench_tasks.scoring.intervals import wilson_interval


@given(st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_equals_scipys(counts):
    successes, total = counts
    reference = binomtest(successes, total).proportion_ci(method="wilson")
    assert wilson_interval(successes, total) == pytest.approx((reference.low, reference.high), abs=1e-12)


def test_wilson_of_nothing_and_of_nonsense():
    assert all(math.isnan(bound) for bound in wilson_interval(0, 0))
    with pytest.raises(ValueError, match="successes"):
        wilson_interval(5, 4)
