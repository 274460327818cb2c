import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.asking.labels import fresh_labels, named_labels, names_suffix_alone, rename_labels

VIDEOS = ["VIDEO_A", "VIDEO_B", "VIDEO_C"]
OTHERS = {"VIDEO_A": "VIDEO_X", "VIDEO_B": "VIDEO_Y", "VIDEO_C": "VIDEO_Z"}


@pytest.mark.parametrize(
    ("text", "renamed"),
    [
        ("VIDEO_A's door, then VIDEO_B.", "VIDEO_X's door, then VIDEO_Y."),
        ("Video C → Video A → Video B", "Video Z → Video X → Video Y"),
        ("Videos B and C share the route", "Videos Y and Z share the route"),
        ("in videos A, B, and C", "in videos X, Y, and Z"),
        ("video-A or Video_B", "video-X or Video_Y"),
        ("VIDEO_AB, VIDEO_A1, MY_VIDEO_A, Video Bx", "VIDEO_AB, VIDEO_A1, MY_VIDEO_A, Video Bx"),
        ("In videos B and C, A person waits", "In videos Y and Z, A person waits"),
        ("VIDEO_A", "VIDEO_X"),
    ],
)
def test_labels_in_every_form_the_dataset_uses(text, renamed):
    assert rename_labels(text, OTHERS) == renamed


def test_a_label_is_not_the_beginning_of_a_longer_one():
    exchanged = {"CLIP_1": "CLIP_10", "CLIP_10": "CLIP_1"}
    assert rename_labels("CLIP_1, CLIP_10, CLIP_100, clip 10", exchanged) == "CLIP_10, CLIP_1, CLIP_100, clip 1"
    assert named_labels("CLIP_10 alone", ["CLIP_1", "CLIP_10"]) == {"CLIP_10"}


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("C → A → B", True),
        ("B, then the others", True),
        ("A", True),
        ("A dog in Video B", False),
        ("Only VIDEO_A and Video B", False),
        ("Bus B2 and a T-junction", False),
    ],
)
def test_ends_of_labels_that_stand_alone(text, alone):
    assert names_suffix_alone(text, VIDEOS) is alone


def test_a_lone_number_is_a_label_only_in_a_list_of_them():
    assert names_suffix_alone("3 → 1 → 2", ["CLIP_1", "CLIP_2", "CLIP_3"])
    assert not names_suffix_alone("a sign showing 2", ["CLIP_1", "CLIP_2", "CLIP_3"])


LABELS = st.lists(
    st.sampled_from([*(f"CLIP_{n}" for n in range(1, 13)), *(f"CLIP_{letter}" for letter in string.ascii_uppercase)]),
    min_size=1,
    max_size=10,
    unique=True,
)


@given(LABELS, st.integers(0, 99))
def test_fresh_labels_are_new_and_lead_back(labels, seed):
    fresh = fresh_labels(labels, random.Random(seed))
    ends = {label.partition("_")[2] for label in labels}
    assert list(fresh) == sorted(labels) and len(set(fresh.values())) == len(labels)
    assert not {new.partition("_")[2] for new in fresh.values()} & ends
    text = " then ".join(f"{label} (clip {label.partition('_')[2]})" for label in labels)
    renamed = rename_labels(text, fresh)
    assert not named_labels(renamed, labels)
    assert rename_labels(renamed, {new: old for old, new in fresh.items()}) == text


def test_more_labels_than_letters():
    labels = [f"CLIP_{letter}" for letter in string.ascii_uppercase[:14]]
    assert len(set(fresh_labels(labels, random.Random(0)).values())) == 14
