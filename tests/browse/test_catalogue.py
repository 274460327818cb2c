"""Filters over the list of questions."""

from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.browse.catalogue import (
    FACETS,
    Entry,
    Filters,
    Verdict,
    counts,
    facet_values,
    matching,
    n_lost,
    verdict_values,
)

RUNS = ("a", "b")
facets = st.dictionaries(st.sampled_from(list(FACETS)), st.sampled_from("xyz"))
entries = st.lists(
    st.builds(
        Entry,
        question_id=st.uuids().map(str),
        question=st.text(),
        facets=facets,
        verdicts=st.fixed_dictionaries({run: st.sampled_from(Verdict) for run in RUNS}),
    )
)
filters = st.builds(
    Filters,
    facets=facets,
    verdicts=st.dictionaries(st.sampled_from(RUNS), st.sampled_from([verdict.value for verdict in Verdict])),
)


@given(entries, filters)
def test_what_passes_passes_each_filter_alone_and_keeps_its_order(listed, wanted):
    alone = [Filters(facets={facet: value}) for facet, value in wanted.facets.items()]
    alone += [Filters(verdicts={run: value}) for run, value in wanted.verdicts.items()]
    passing = matching(listed, wanted)
    assert passing == [entry for entry in listed if all(entry in matching([entry], one) for one in alone)]


@given(entries)
def test_no_filter_passes_all_and_every_value_offered_finds_something(listed):
    assert matching(listed, Filters()) == listed
    for facet in FACETS:
        for value in facet_values(listed, facet):
            assert matching(listed, Filters(facets={facet: value}))
    for run in RUNS:
        for value in verdict_values(listed, run):
            assert matching(listed, Filters(verdicts={run: value}))


def entry(verdict):
    return Entry("q", "?", {"config": "multi"}, {"a": verdict})


def test_wrong_takes_in_what_has_no_answer_and_nothing_unjudged():
    """PROTOCOL 1.3: no answer is wrong; PROTOCOL 2: no verdict is neither."""
    listed = [entry(verdict) for verdict in Verdict]
    found = [one.verdicts["a"] for one in matching(listed, Filters(verdicts={"a": "wrong"}))]
    assert found == [Verdict.WRONG, Verdict.NO_ANSWER]
    assert [one.verdicts["a"] for one in matching(listed, Filters(verdicts={"a": "no answer"}))] == [Verdict.NO_ANSWER]
    assert counts(listed, "a") == (1, 3)
    assert n_lost(listed, "a") == 1


def test_wrong_is_offered_where_answers_are_only_missing():
    assert verdict_values([entry(Verdict.NO_ANSWER)], "a") == ["wrong", "no answer"]
