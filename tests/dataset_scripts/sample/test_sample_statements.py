"""The sample's English reads back to what it was written from, and statements mean what they say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataset_scripts.sample.asking import WhichAfterTurn, WhichClips, WhichOrder, WhichStatements, read_asking
from dataset_scripts.sample.statements import AfterTurn, InOrder, LeadsBack, OnSides, Start, read_sentence
from dataset_scripts.sample.walks import Colour, Landmark, Lighting, Pace, Passage, Shape, Side, Turn, Walk

labels = st.sampled_from(["CLIP_1", "CLIP_10", "CLIP_C", "VIDEO_A"])
any_label = st.none() | labels
landmarks = st.builds(Landmark, st.sampled_from(Colour), st.sampled_from(Shape))
sides = st.sampled_from(Side)
turns = st.builds(Turn, sides)
in_order = st.builds(InOrder, any_label, st.lists(landmarks, min_size=2, max_size=5).map(tuple))
sentences = st.one_of(
    in_order,
    st.builds(OnSides, any_label, landmarks, sides, landmarks, sides),
    st.builds(Start, any_label, st.sampled_from(Lighting), st.sampled_from(Pace), landmarks),
    st.builds(LeadsBack, labels, labels),
)


@given(sentences)
def test_sentences_read_back(sentence):
    assert read_sentence(str(sentence)) == sentence
    asking = WhichStatements()
    assert asking.read_option(asking.option_text(sentence)) == sentence


@given(
    st.one_of(
        st.just(WhichStatements()),
        st.builds(WhichOrder, any_label),
        st.builds(WhichClips, landmarks, landmarks),
        st.builds(WhichAfterTurn, any_label, turns),
    )
)
def test_questions_read_back(asking):
    assert read_asking(str(asking)) == asking


@given(any_label, st.lists(landmarks, min_size=2, max_size=4).map(tuple), turns)
def test_short_options_read_back(label, order, turn):
    for asking, statement in [
        (WhichOrder(label), InOrder(label, order)),
        (WhichClips(*order[:2]), InOrder("CLIP_A", order[:2])),
        (WhichAfterTurn(label, turn), AfterTurn(label, turn, order[0])),
    ]:
        assert asking.read_option(asking.option_text(statement)) == statement


@given(st.text())
def test_other_text_is_no_statement(text):
    assert read_sentence(text) is None
    assert read_asking(text) is None


@pytest.mark.parametrize(
    "asking", [WhichOrder(None), WhichClips(Landmark(Colour.RED, Shape.BALL), Landmark(Colour.BLUE, Shape.BALL))]
)
def test_option_of_another_kind(asking):
    assert asking.read_option("The weather was fine.") is None


RED, BLUE, PINK = (
    Landmark(Colour.RED, Shape.BALL),
    Landmark(Colour.BLUE, Shape.CONE),
    Landmark(Colour.PINK, Shape.PILLAR),
)
OUT = Walk(
    (Passage(RED, Side.LEFT), Turn(Side.RIGHT), Passage(BLUE, Side.RIGHT), Passage(PINK, Side.LEFT)),
    Lighting.DAY,
    Pace.RUN,
)
BACK = Walk((Passage(PINK, Side.RIGHT), Passage(BLUE, Side.LEFT), Passage(RED, Side.RIGHT)), Lighting.NIGHT, Pace.WALK)
WALKS = {"CLIP_A": [OUT], "CLIP_B": [BACK], "VIDEO_C": [OUT, BACK]}


@pytest.mark.parametrize(
    ("statement", "true"),
    [
        (InOrder("CLIP_A", (RED, BLUE, PINK)), True),
        (InOrder("CLIP_A", (RED, PINK)), True),
        (InOrder("CLIP_A", (BLUE, RED)), False),
        (InOrder("CLIP_B", (BLUE, RED)), True),
        (InOrder("CLIP_X", (BLUE, RED)), False),
        (InOrder("VIDEO_C", (BLUE, RED)), True),
        (InOrder("VIDEO_C", (RED, BLUE)), True),
        (InOrder("VIDEO_C", (RED, PINK, BLUE)), False),
        (InOrder("CLIP_A", (RED, Landmark(Colour.BLUE, Shape.BALL))), False),
        (OnSides("CLIP_A", RED, Side.LEFT, BLUE, Side.RIGHT), True),
        (OnSides("CLIP_A", RED, Side.LEFT, BLUE, Side.LEFT), False),
        (OnSides("CLIP_A", BLUE, Side.RIGHT, RED, Side.LEFT), False),
        (Start("CLIP_A", Lighting.DAY, Pace.RUN, RED), True),
        (Start("CLIP_A", Lighting.NIGHT, Pace.RUN, RED), False),
        (Start("CLIP_A", Lighting.DAY, Pace.WALK, RED), False),
        (Start("CLIP_A", Lighting.DAY, Pace.RUN, BLUE), False),
        (LeadsBack("CLIP_A", "CLIP_B"), True),
        (LeadsBack("CLIP_B", "CLIP_A"), True),
        (LeadsBack("CLIP_A", "CLIP_A"), False),
        (AfterTurn("CLIP_A", Turn(Side.RIGHT), BLUE), True),
        (AfterTurn("CLIP_A", Turn(Side.RIGHT), RED), False),
        (AfterTurn("CLIP_A", Turn(Side.LEFT), BLUE), False),
        (AfterTurn("CLIP_B", Turn(Side.RIGHT), BLUE), False),
    ],
)
def test_what_statements_mean(statement, true):
    assert statement.holds(WALKS) is true


def test_two_empty_walks_do_not_lead_back():
    nothing = Walk((), Lighting.DAY, Pace.WALK)
    assert not LeadsBack("CLIP_A", "CLIP_B").holds({"CLIP_A": [nothing], "CLIP_B": [nothing]})
