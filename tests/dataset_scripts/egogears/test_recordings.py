"""Recording names: what they say, and nothing more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataset_scripts.egogears.recordings import Recording, read_recording_name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("P03_FastWalk_Night_Traj02_Trial01", Recording("P03", "fast_walk", "night", "Traj02")),
        ("P02_SlowWalk_Day_Trial03", Recording("P02", "slow_walk", "day", None)),
        ("P01_Running_Night_Traj03", Recording("P01", "run", "night", "Traj03")),
        ("P02_FastWalk_Night_Trial03", Recording("P02", "fast_walk", "night", None)),
        ("Hohenheim_laufen_schnell", Recording(speed="fast_walk")),
        ("sinzheim_city_slow", Recording(speed="slow_walk")),
        ("Asemwald_laufen_2", Recording(speed="walk")),
        ("Kiesweg_Fast_260518_202851", Recording(speed="fast_walk")),
        ("park_joggen", Recording(speed="run")),
        ("See_langsam", Recording(speed="slow_walk")),
        ("Altstadt_260518", Recording()),
        ("slow_then_fast", Recording()),
        ("joggen_langsam", Recording()),
        ("Breakfast_Daylight", Recording()),
        ("Nightmarket_Walk", Recording(speed="walk")),
        ("P3_FastWalk_Night", Recording(speed="fast_walk")),
        ("", Recording()),
    ],
)
def test_names(name, expected):
    assert read_recording_name(name) == expected


@given(
    participant=st.integers(0, 99),
    speed=st.sampled_from([("SlowWalk", "slow_walk"), ("FastWalk", "fast_walk"), ("Running", "run")]),
    lighting=st.sampled_from(["Day", "Night"]),
    route=st.none() | st.integers(0, 99),
    trial=st.none() | st.integers(0, 99),
)
def test_coded_names_give_back_what_they_were_made_of(participant, speed, lighting, route, trial):
    name = f"P{participant:02}_{speed[0]}_{lighting}"
    name += "" if route is None else f"_Traj{route:02}"
    name += "" if trial is None else f"_Trial{trial:02}"
    assert read_recording_name(name) == Recording(
        f"P{participant:02}", speed[1], lighting.lower(), None if route is None else f"Traj{route:02}"
    )


@given(st.text())
def test_any_other_name_gives_at_most_a_speed(name):
    recording = read_recording_name("x" + name)
    assert (recording.participant, recording.lighting, recording.route) == (None, None, None)
    assert recording.speed in {None, "slow_walk", "fast_walk", "walk", "run"}
