"""What models said becomes findings: planted ones are found, the sound question has none."""

import dataclasses

import pytest
from scipy.stats import binom

from egobench_tasks.making.audit.asked import AskedAll, Reply, Seen, SeenOption
from egobench_tasks.making.audit.finding import Rule
from egobench_tasks.making.audit.models import (
    audit_replies,
    chance_of,
    frame_to_video,
    longest_right_rate,
    view_figures,
)
from egobench_tasks.making.audit.question import AuditedQuestion, Footage
from egobench_tasks.making.audit.views import View

CHANCE = 0.25
QUESTION = AuditedQuestion(
    "q", "kind", "Which?", ("one", "two", "three", "four"), frozenset({1}), "two", (), (Footage("c"),)
)
WRONG, RIGHT = ("C", False), ("B", True)


def replies(model, **views):
    return [
        Reply(model, "q", View(view), letter, right, CHANCE) for view, said in views.items() for letter, right in said
    ]


def rules(said, seen=()):
    found = audit_replies([QUESTION], AskedAll(tuple(said), tuple(seen), {}))
    return [finding.rule for finding in found]


def test_a_sound_question_has_no_finding():
    said = [
        *replies("m", words=[WRONG] * 3, options=[WRONG, RIGHT], one_frame=[RIGHT, WRONG], full=[RIGHT] * 3),
        *replies("n", words=[RIGHT, WRONG, RIGHT], options=[WRONG] * 3, one_frame=[WRONG] * 3, full=[WRONG] * 3),
    ]
    seen = [SeenOption(model, "q", index, Seen.CANNOT_TELL) for model in "mn" for index in range(4)]
    assert rules(said, seen) == []


@pytest.mark.parametrize(
    ("view", "rule"),
    [("words", Rule.GUESSABLE), ("options", Rule.GUESSABLE_FROM_OPTIONS), ("one_frame", Rule.ONE_FRAME)],
)
def test_the_poorest_view_that_is_enough_is_named(view, rule):
    views = {"words": [WRONG] * 3, "options": [WRONG] * 3, "one_frame": [WRONG] * 3, "full": [RIGHT] * 3}
    assert rules(replies("m", **{**views, view: [RIGHT] * 3})) == [rule]


def test_one_lucky_guess_is_no_finding():
    assert rules(replies("m", words=[RIGHT], full=[RIGHT])) == []


def test_models_that_agree_against_the_gold_make_it_suspect_and_others_are_never_right():
    agreed = [*replies("m", full=[WRONG] * 3), *replies("n", full=[WRONG] * 3)]
    assert rules(agreed) == [Rule.SUSPECT_GOLD]
    apart = [*replies("m", full=[WRONG] * 3), *replies("n", full=[("AD", False)] * 3)]
    assert rules(apart) == [Rule.NEVER_RIGHT]
    silent = [*replies("m", full=[("", False)]), *replies("n", full=[("", False)])]
    assert rules(silent) == [Rule.NEVER_RIGHT]
    assert rules(replies("m", full=[WRONG] * 3)) == []  # one model alone proves nothing


def test_options_seen_otherwise_than_the_gold_by_most_models():
    seen = [SeenOption(model, "q", 1, Seen.CONTRADICTED) for model in "mn"]
    seen += [SeenOption(model, "q", 2, Seen.SUPPORTED) for model in "mno"]
    seen += [
        SeenOption("o", "q", 1, Seen.SUPPORTED),
        SeenOption("m", "q", 3, Seen.SUPPORTED),
        SeenOption("n", "q", 0, None),
    ]
    (found,) = audit_replies([QUESTION], AskedAll((), tuple(seen), {}))
    assert found.rule is Rule.OPTION_CONTRADICTED
    assert set(found.evidence["options"]) == {"B", "C"}


def test_unjudged_answers_are_neither_right_nor_wrong():
    said = [Reply("m", "q", View.FULL, "a cup", None, 0.0), Reply("m", "q", View.FULL, "two", True, 0.0)]
    (figure,) = view_figures(AskedAll(tuple(said), (), {}))
    assert (figure.right, figure.total, figure.accuracy) == (1, 1, 1.0)


def test_the_ratio_of_video_to_one_frame():
    said = replies("m", one_frame=[RIGHT, WRONG, WRONG, WRONG], full=[RIGHT, RIGHT, RIGHT, WRONG])
    assert frame_to_video(view_figures(AskedAll(tuple(said), (), {}))) == {"m": pytest.approx(3.0)}


@pytest.mark.parametrize(("right", "asked", "chance"), [(0, 3, 0.25), (3, 3, 0.25), (2, 5, 0.1), (1, 1, 1.0)])
def test_chance_equals_the_binomial_tail(right, asked, chance):
    assert chance_of(right, asked, chance) == pytest.approx(binom.sf(right - 1, asked, chance))


def test_a_length_that_gives_the_answer_away_shows_over_all():
    long = dataclasses.replace(QUESTION, options=("one", "two and a half", "six", "ten"))
    hits, total, expected, p_value = longest_right_rate([long] * 20)
    assert (hits, total, expected) == (20, 20, 0.25) and p_value < 1e-9
    assert longest_right_rate([QUESTION])[:2] == (0, 1)
