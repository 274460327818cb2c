"""What each probe changes, and that it changes nothing else."""

import dataclasses

import pytest

from egobench_tasks.asking.choice import show_choice
from egobench_tasks.asking.messages import from_record, in_order, to_record
from egobench_tasks.asking.probes import PROBES, SET_OF_PROBES, find_probe, rows_asked
from egobench_tasks.asking.prompts import ClipFrames, Text, load_choice_templates
from egobench_tasks.asking.questions import choice_question
from egobench_tasks.errors import InputError
from egobench_tasks.frames.spec import Sampling

TEMPLATES = load_choice_templates()
LABELS = ["CLIP_1", "CLIP_10", "CLIP_2"]


def row(labels=LABELS, question="Which clip shows a door?", options=None, question_id="q1", answer="A", durations=None):
    options = options or [f"{label} shows a door" for label in labels]
    return {
        "question_id": question_id,
        "question": question,
        "options": options,
        "answer": list(answer),
        "unit": "u",
        "question_type": "t",
        "videos": [{"bytes": None, "path": f"/{index}.mp4"} for index in range(len(labels))],
        "clip_labels": labels,
        "clip_duration_s": durations or [20.0] * len(labels),
        "clip_sha256": [f"{index:x}" * 64 for index in range(len(labels))],
    }


def single():
    return {
        **{
            key: value
            for key, value in row(["x"], options=["one", "two"]).items()
            if key not in ("videos", "clip_labels")
        },
        "video": {"bytes": None, "path": "/0.mp4"},
        "duration_s": 60.0,
        "sha256": "0" * 64,
    }


def show(of, probe=None):
    return show_choice(of, TEMPLATES, 64, 4, PROBES[probe] if probe else None)


def headings(shown):
    return [part.text.strip() for part in shown.segments[1:] if isinstance(part, Text)]


def clips(shown):
    return [part.clip_index for part in shown.segments if isinstance(part, ClipFrames)]


def requests(shown):
    return [(request.sha256, request.spec) for request in shown.frames.requests]


def test_the_probes_are_those_of_the_plan():
    budgets = {f"f{total}" for total in (8, 16, 32, 128, 256)}
    assert {name for name in PROBES if PROBES[name].multi_only} == {"reordered", "renamed", "swapped", "unlabelled"}
    moved = {"reversed", "shuffled", "reordered", "renamed", "swapped", "unlabelled"}
    assert set(PROBES) == {"blind", "optionsonly", "center"} | budgets | moved | {f"perm{n}" for n in (1, 2, 3, 4)}
    assert SET_OF_PROBES == ("blind", "center", "shuffled", "reordered", "swapped", "perm1", "perm2")
    with pytest.raises(InputError, match="no probe 'mirrored'; there are blind, "):
        find_probe("mirrored")


@pytest.mark.parametrize("name", PROBES)
def test_the_answer_and_the_store_keys_are_the_questions_own(name):
    """A probe never changes the gold, and one that leaves the frames alone asks the store for the same entries."""
    plain, probed = show(row()), show(row(), name)
    assert probed.question.answer == plain.question.answer
    assert probed.question.clips == plain.question.clips
    if PROBES[name].frames is None:
        assert requests(probed) == requests(plain)
    facts = probed.facts()
    assert facts["probe"] == name and facts["probe_did"]
    assert bool(facts["probe_seed"]) == (name in ("shuffled", "reordered", "renamed") or name.startswith("perm"))
    assert not any("probe" in fact for fact in plain.facts())


def test_blind_is_the_same_words_without_a_clip():
    plain, blind = show(row()), show(row(), "blind")
    assert blind.segments == plain.segments[:1] and not blind.frames.requests


def test_optionsonly_withholds_the_question():
    text = show(row(question="Where is the DOOR?"), "optionsonly").readable()
    assert "DOOR" not in text and "Question: (withheld)" in text and "CLIP_10 shows a door" in text


def test_center_is_one_frame_a_clip():
    assert [spec.sampling for _, spec in requests(show(row(), "center"))] == [Sampling.CENTRAL] * 3


@pytest.mark.parametrize(
    ("name", "n_clips", "counts"),
    [
        ("f8", 1, [8]),
        ("f8", 2, [4, 4]),
        ("f8", 3, [3, 3, 2]),
        ("f8", 10, [1] * 10),
        ("f16", 10, [2, 2, 2, 2, 2, 2, 1, 1, 1, 1]),
        ("f32", 10, [4, 4, 3, 3, 3, 3, 3, 3, 3, 3]),
        ("f128", 3, [43, 43, 42]),
        ("f256", 1, [256]),
    ],
)
def test_budgets_reach_every_clip_and_no_further(name, n_clips, counts):
    shown = show(row([f"CLIP_{n}" for n in range(n_clips)], options=["a", "b", "c"]), name)
    assert [spec.count for _, spec in requests(shown)] == counts


def test_a_short_clip_keeps_its_floor_under_a_small_budget():
    shown = show(row(durations=[100.0, 1.0, 1.0]), "f16")
    assert [spec.count for _, spec in requests(shown)] == [8, 4, 4]


def test_reversed_and_shuffled_order_frames_within_their_clip():
    backwards = [part for part in show(row(), "reversed").segments if isinstance(part, ClipFrames)]
    assert [part.order for part in backwards] == [tuple(range(22))[::-1], *[tuple(range(21))[::-1]] * 2]
    shuffled = [part for part in show(row(), "shuffled").segments if isinstance(part, ClipFrames)]
    assert [sorted(part.order) for part in shuffled] == [list(range(22)), list(range(21)), list(range(21))]
    assert shuffled[1].order != shuffled[2].order  # of equal clips, each its own draw
    assert shuffled == [part for part in show(row(), "shuffled").segments if isinstance(part, ClipFrames)]
    assert shuffled != [
        part for part in show(row(question_id="q2"), "shuffled").segments if isinstance(part, ClipFrames)
    ]


def test_a_clip_with_fewer_frames_than_asked_for_keeps_the_order_of_those_it_has():
    assert in_order("abc", (4, 2, 0, 3, 1)) == ["c", "a", "b"]
    assert in_order("abc", None) == ["a", "b", "c"]


def test_an_order_survives_the_details_and_shapes_the_key():
    for name in (None, "reversed", "shuffled"):
        segments = list(show(row(), name).segments)
        assert from_record(to_record(segments)) == segments
    assert to_record(show(row()).segments)[1:3] == [
        {"text": "\nCLIP_1\n", "clip_index": None},
        {"text": None, "clip_index": 0},
    ]


def test_reordered_clips_take_their_labels_along():
    for question_id in map(str, range(20)):
        of = row(question_id=question_id)
        shown = show(of, "reordered")
        assert clips(shown) != [0, 1, 2] and sorted(clips(shown)) == [0, 1, 2]
        assert headings(shown) == [LABELS[index] for index in clips(shown)]
        assert shown.segments[0] == show(of).segments[0]
        order = ", ".join(str(index + 1) for index in clips(shown))
        assert shown.facts()["probe_did"] == f"clips of the dataset in the order {order}"  # people count from 1


def test_a_repeated_label_stays_with_both_of_its_clips():
    of = row(["VIDEO_A", "VIDEO_B", "VIDEO_A"], options=["VIDEO_A leads", "VIDEO_B leads", "neither"])
    assert headings(show(of, "swapped")) == ["VIDEO_B", "VIDEO_A", "VIDEO_B"]
    renamed = headings(show(of, "renamed"))
    assert renamed[0] == renamed[2] != renamed[1] and not set(renamed) & {"VIDEO_A", "VIDEO_B"}


def test_renamed_is_the_same_question_in_other_names():
    shown = show(row(question="Is it clip 1 or CLIP_10?"), "renamed")
    new = dict(zip(LABELS, headings(shown), strict=True))
    assert shown.question.question == f"Is it clip {new['CLIP_1'][5:]} or {new['CLIP_10']}?"
    assert shown.question.options == tuple(f"{new[label]} shows a door" for label in LABELS)
    assert not set(LABELS) & set(new.values())
    assert shown.facts()["probe_did"] == ", ".join(f"{old} is {new[old]}" for old in LABELS)


def test_renamed_leaves_out_words_that_it_cannot_rename_with_certainty():
    of = row(["VIDEO_A", "VIDEO_B"], question="Which of VIDEO_A and VIDEO_B?", options=["A, then B", "B, then A", "no"])
    assert not PROBES["renamed"].applies(choice_question(of))
    assert PROBES["swapped"].applies(choice_question(of))


def test_swapped_exchanges_two_headings_and_no_word():
    of = row(options=["CLIP_2 turns", "CLIP_10 turns", "CLIP_2 and CLIP_10 part"])
    shown = show(of, "swapped")
    assert headings(shown) == ["CLIP_1", "CLIP_2", "CLIP_10"] and clips(shown) == [0, 1, 2]
    assert shown.segments[0] == show(of).segments[0]
    assert shown.facts()["shown_headings"] == "CLIP_1 CLIP_2 CLIP_10"


@pytest.mark.parametrize(
    ("question", "options", "answer", "implied"),
    [
        ("Which clips?", ["CLIP_1", "CLIP_10", "CLIP_2"], "A", "B"),
        ("Which clips?", ["CLIP_1", "CLIP_10", "CLIP_2"], "AC", "BC"),
        ("Which clips?", ["CLIP_1", "CLIP_10", "CLIP_2"], "AB", "AB"),
        ("Which?", ["clip 1 turns", "clip 10 turns", "neither turns"], "C", "C"),
        ("Which?", ["CLIP_1 turns", "CLIP_10 stops", "none"], "A", ""),
        ("What of CLIP_1?", ["CLIP_1", "CLIP_10", "CLIP_2"], "A", ""),
        ("Which?", ["CLIP_1", "CLIP_10", "CLIP_10"], "A", ""),
    ],
)
def test_swapped_says_what_must_be_right_where_the_options_do(question, options, answer, implied):
    assert show(row(question=question, options=options, answer=answer), "swapped").facts()["implied_answer"] == implied


def test_unlabelled_shows_the_same_frames_under_nothing():
    shown = show(row(), "unlabelled")
    assert headings(shown) == [] and clips(shown) == [0, 1, 2]
    assert shown.segments[0] == show(row()).segments[0]


def test_permutations_are_five_orders_of_one_set():
    for question_id in map(str, range(20)):
        of = row(question_id=question_id)
        shown = [show(of), *(show(of, f"perm{number}") for number in (1, 2, 3, 4))]
        orders = {tuple(one.shown_to_original.values()) for one in shown}
        assert len(orders) == 5 and all(sorted(order) == list("ABC") for order in orders)
        assert {"".join(one.shown_to_original) for one in shown} == {"ABC"}


def test_two_options_have_one_other_order():
    question = choice_question(row(options=["CLIP_1", "CLIP_2"]))
    assert [PROBES[f"perm{number}"].applies(question) for number in (1, 2, 3, 4)] == [True, False, False, False]


@pytest.mark.parametrize("name", ["reordered", "swapped", "unlabelled", "renamed"])
def test_a_probe_of_clips_is_not_asked_of_one_clip(name):
    assert not PROBES[name].applies(choice_question(single()))
    with pytest.raises(InputError, match=f"q1: the probe {name} does not apply"):
        show(single(), name)


def test_probes_of_words_need_words_that_name_a_clip():
    question = choice_question(row(options=["a door", "a sign", "a bus"]))
    asked = [name for name in PROBES if not PROBES[name].applies(question)]
    assert asked == ["renamed", "swapped"]
    one = choice_question(row(options=["CLIP_1 turns", "a sign", "a bus"]))
    assert PROBES["renamed"].applies(one) and not PROBES["swapped"].applies(one)


def test_rows_that_remain_are_counted_and_none_is_an_error():
    from datasets import Dataset

    rows = Dataset.from_list([row(question_id=f"q{n}", options=None if n % 2 else ["a", "b", "c"]) for n in range(6)])
    assert rows_asked(rows, PROBES["swapped"])["question_id"] == ["q1", "q3", "q5"]
    with pytest.raises(InputError, match="the probe swapped applies to none of these 1 questions"):
        rows_asked(rows.select([0]), PROBES["swapped"])


def test_a_seed_decides_and_stands_in_the_details():
    facts = show(row(), "perm3").facts()
    assert facts["probe_seed"] == "q1 3"
    assert show(row(), "reordered").facts()["probe_seed"] == "q1"
    assert dataclasses.replace(PROBES["perm3"]).view(choice_question(row()), PROBES["center"].frames) is not None
