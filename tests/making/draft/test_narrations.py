"""Narrations of long videos, and the clips that follow from them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.errors import InputError
from egobench_tasks.making.draft.narrations import Narration, as_text, plan_clips, read_narrations


def said(*times_s):
    return tuple(Narration(time_s, f"at {time_s}") for time_s in times_s)


def test_a_clip_reaches_half_a_videos_own_interval_beyond_its_narrations():
    """β is 2 s and 6 s, α 4 s: stretches of 0.5 s and 1.5 s in all."""
    planned = plan_clips({"a": said(10, 12, 14), "b": said(1, 7)})
    assert [(clip.video, clip.start_s, clip.end_s) for clip in planned] == [("a", 9.75, 14.25), ("b", 0.25, 7.75)]
    assert planned[0].clip_id == "a_9.750_14.250"


def test_a_clip_ends_at_120_narrations_or_120_seconds():
    many = plan_clips({"a": said(*(number / 2 for number in range(250)))})
    assert [len(clip.narrations) for clip in many] == [120, 120, 10]
    long = plan_clips({"a": said(*range(0, 300, 10))})
    assert all(clip.end_s - clip.start_s <= 120 for clip in long)
    assert sum(len(clip.narrations) for clip in long) == 30


@given(
    st.dictionaries(
        st.sampled_from("abc"), st.lists(st.floats(0, 5000), min_size=1, max_size=40), min_size=1, max_size=3
    )
)
def test_every_narration_is_in_one_clip_in_order(times):
    narrations = {video: tuple(Narration(one, "x") for one in sorted(own)) for video, own in times.items()}
    planned = plan_clips(narrations)
    for video, own in narrations.items():
        assert [one for clip in planned if clip.video == video for one in clip.narrations] == list(own)
    for clip in planned:
        assert 0 <= clip.start_s < clip.end_s
        assert len(clip.narrations) == 1 or clip.end_s - clip.start_s <= 120 + 1e-6


def test_both_forms_are_read(tmp_path):
    ego4d = {
        "v1": {
            "narration_pass_1": {"narrations": [{"timestamp_sec": 4.5, "narration_text": "#C walks"}]},
            "narration_pass_2": {"narrations": [{"timestamp_sec": 1.0, "narration_text": "other words"}]},
        },
        "v2": {
            "narration_pass_1": {"narrations": []},
            "narration_pass_2": {"narrations": [{"timestamp_sec": 2, "narration_text": "#C turns"}]},
        },
    }
    (tmp_path / "narration.json").write_text(json.dumps(ego4d))
    assert read_narrations(tmp_path / "narration.json") == {
        "v1": (Narration(4.5, "#C walks"),),
        "v2": (Narration(2.0, "#C turns"),),
    }
    lines = [{"video": "v", "time_s": 3, "text": "later"}, {"video": "v", "time_s": 1, "text": "first"}]
    (tmp_path / "lines.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    read = read_narrations(tmp_path / "lines.jsonl")
    assert read == {"v": (Narration(1.0, "first"), Narration(3.0, "later"))}
    assert as_text(read["v"], 1.0) == "0.0 s: first\n2.0 s: later"
    (tmp_path / "one.jsonl").write_text(json.dumps(lines[0]))
    assert len(read_narrations(tmp_path / "one.jsonl")["v"]) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"v": 3}',
        '{"v": {"narration_pass_1": {"narrations": [{"timestamp_sec": -1, "narration_text": "x"}]}}}',
        '{"video": "../out", "time_s": 1, "text": "x"}',
        '{"video": "v", "time_s": NaN, "text": "x"}',
        '{"video": "v", "time_s": true, "text": "x"}',
        '{"video": "v", "time_s": 1, "text": "x"}\nnot json',
    ],
)
def test_what_is_no_narration_is_refused_by_name(tmp_path, text):
    (tmp_path / "file.json").write_text(text)
    with pytest.raises(InputError, match=r"file\.json"):
        read_narrations(tmp_path / "file.json")
