"""Filters over the list of questions."""

from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.browse.catalogue import (
    FACETS,
    PAGE_SIZE,
    Entry,
    Filters,
    Verdict,
    counts,
    facet_values,
    matching,
    n_lost,
    neighbour,
    page_of,
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


def test_a_search_looks_through_id_question_and_options_for_every_word():
    listed = [
        Entry("q1", "Which door is passed?", {}, options=("the RED one", "none")),
        Entry("q2", "Which wall?", {}, options=("the red door",)),
    ]

    def found(words):
        return [entry.question_id for entry in matching(listed, Filters(words=words))]

    assert found("  ") == found("which") == found("RED door") == ["q1", "q2"]
    assert found("passed") == ["q1"] and found("Q2") == ["q2"] and found("red wall x") == []


@given(entries, st.integers(-3, 3))
def test_steps_stay_in_the_list_and_lead_back(listed, step):
    ids = [entry.question_id for entry in listed]
    assert neighbour(listed, "elsewhere", step) == (ids[0] if ids else None)
    for place, question_id in enumerate(ids):
        there = ids.index(neighbour(listed, question_id, step))
        assert there == min(max(place + step, 0), len(ids) - 1)


def test_the_page_of_a_question_is_the_one_that_holds_it():
    listed = [Entry(str(number), "", {}) for number in range(2 * PAGE_SIZE + 1)]
    places = [0, PAGE_SIZE - 1, PAGE_SIZE, 2 * PAGE_SIZE]
    assert [page_of(listed, str(place)) for place in places] == [0, 0, 1, 2]
    assert page_of(listed, "elsewhere") == page_of(listed, None) == page_of([], "0") == 0
