import json
import string

from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.asking.options import shuffle_options
from egobench_tasks.scoring.choice import to_original


def test_golden_vectors(shared_dir):
    cases = json.loads((shared_dir / "protocol" / "vectors.json").read_text())["shuffle"]
    assert cases
    for case in cases:
        assert shuffle_options(case["question_id"], case["letters"]) == case["shown_to_original"]


def test_known_order_needs_no_shared_data():
    assert shuffle_options("q", "ABC") == {"A": "A", "B": "C", "C": "B"}


@given(st.text(), st.integers(2, 26))
def test_a_bijection_whatever_the_order_of_the_input(question_id, n_options):
    letters = string.ascii_uppercase[:n_options]
    shown_to_original = shuffle_options(question_id, letters)
    assert list(shown_to_original) == list(letters)
    assert sorted(shown_to_original.values()) == list(letters)
    assert shuffle_options(question_id, reversed(letters)) == shown_to_original
    assert to_original(letters, shown_to_original) == set(letters)


def test_mapping_back():
    assert to_original({"A", "C"}, {"A": "B", "B": "A", "C": "C"}) == {"B", "C"}
