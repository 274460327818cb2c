import itertools

from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.asking.order import clips_together
from egobench_tasks.frames.lazy import FrameList, FrameRequest
from egobench_tasks.frames.spec import FrameSpec, Sampling


def shown(question):
    clips, n_characters = question
    spec = FrameSpec(sampling=Sampling.BUDGET, count=4)
    return FrameList([FrameRequest(f"{clip}.mp4", clip, spec) for clip in clips]), "x" * n_characters


questions = st.lists(st.tuples(st.lists(st.sampled_from("abcd"), max_size=3), st.integers(0, 9)), max_size=20)


@given(questions)
def test_questions_that_share_their_first_clip_follow_each_other(questions):
    ordered = clips_together(questions, shown)
    assert sorted(ordered) == sorted(questions)
    firsts = [clips[:1] for clips, _ in ordered]
    changes = sum(one != other for one, other in itertools.pairwise(firsts))
    assert changes == max(0, len({tuple(first) for first in firsts}) - 1)


@given(questions.filter(bool))
def test_the_longest_prompt_comes_first(questions):
    sizes = [(len(clips), n_characters) for clips, n_characters in clips_together(questions, shown)]
    assert sizes[0] == max(sizes)


def test_the_order_does_not_depend_on_the_order_given():
    expected = [(["a", "b"], 5), (["a"], 4), (["a"], 3), (["b", "a"], 1), (["b"], 3)]
    assert clips_together(expected[::-1], shown) == clips_together(expected, shown) == expected
