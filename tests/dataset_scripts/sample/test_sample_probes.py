"""Each probe proved by the oracle that reads pixels, against what the sample's script says follows from the change."""

import io
import itertools
from dataclasses import dataclass

import pytest
from PIL import Image

from dataset_scripts.sample.asking import read_asking
from dataset_scripts.sample.oracle import answer_message, true_letters
from dataset_scripts.sample.questions import SampleQuestion, multi_questions, single_questions
from dataset_scripts.sample.scripted import always_first, guess_blind, ignore_labels
from dataset_scripts.sample.sight import look_at, walk_of
from dataset_scripts.sample.world import make_world
from egobench_tasks.asking.choice import ShownQuestion, show_choice
from egobench_tasks.asking.messages import jpeg_parts
from egobench_tasks.asking.probes import PROBES
from egobench_tasks.asking.prompts import load_choice_templates
from egobench_tasks.asking.questions import choice_question
from egobench_tasks.data import DatasetLocation, load_rows
from egobench_tasks.scoring.answers import final_answer
from egobench_tasks.scoring.choice import to_original

UNCHANGED = ("reordered", "renamed", "perm1", "perm2", "perm3", "perm4")


@dataclass
class Eyes:
    """The oracle's, which look at each picture once, however often and in whatever order it is shown."""

    looks: dict

    def __call__(self, jpegs):
        return walk_of([self._look(jpeg) for jpeg in jpegs])

    def _look(self, jpeg):
        if jpeg not in self.looks:
            self.looks[jpeg] = look_at(Image.open(io.BytesIO(jpeg)).convert("RGB"))
        return self.looks[jpeg]


@dataclass(frozen=True)
class Truth:
    """What the script knows of a question: the statement of each option, and the walks under each label."""

    question: SampleQuestion

    def right(self, change=lambda label, walk: (label, walk)):
        """The original letters that are true once each clip's label and walk are changed."""
        walks = {}
        for label, clip in self.question.clips:
            label, walk = change(label, clip.scene.walk)
            walks.setdefault(label, []).append(walk)
        asking = read_asking(self.question.question)
        statements = [asking.read_option(text) for text in self.question.options]
        return {letter for letter, one in zip("ABCDEFGH", statements, strict=False) if one.holds(walks)}


@pytest.fixture(scope="module")
def rows(sample_folder):
    location = DatasetLocation(str(sample_folder / "egogears"))
    return [row for config in ("single", "multi") for row in load_rows(location, config)]


@pytest.fixture(scope="module")
def truths(rows):
    """The questions of `sample_folder`, made anew from its seed."""
    world = make_world(1)
    n_single = sum("videos" not in row for row in rows)
    made = [*single_questions(world, n_single, 1), *multi_questions(world, len(rows) - n_single, 1)]
    truths = {question.question_id: Truth(question) for question in made}
    assert all(truths[row["question_id"]].right() == set(row["answer"]) for row in rows)
    return truths


@pytest.fixture(scope="module")
def eyes():
    return Eyes({})


def asked(rows, probe) -> list[ShownQuestion]:
    """The questions that a probe (None: the benchmark) asks, as it shows them."""
    templates = load_choice_templates()
    return [
        show_choice(row, templates, 64, 4, PROBES[probe] if probe else None)
        for row in rows
        if probe is None or PROBES[probe].applies(choice_question(row))
    ]


def originals(shown: ShownQuestion, letters) -> set[str]:
    return set(to_original(letters, shown.shown_to_original))


def answered(shown: ShownQuestion, model, eyes) -> set[str]:
    reply = model(jpeg_parts(shown.segments, shown.frames), eyes)
    return originals(shown, final_answer(reply, shown.shown_to_original))


def seen(shown: ShownQuestion, eyes) -> set[str]:
    """What the oracle finds true, however many options are asked for."""
    return originals(shown, true_letters(jpeg_parts(shown.segments, shown.frames), eyes))


def test_the_oracle_is_right_where_nothing_may_change(rows, eyes):
    for probe in (None, *UNCHANGED):
        shown = asked(rows, probe)
        assert len(shown) >= 6
        assert all(answered(one, answer_message, eyes) == one.question.answer for one in shown), probe


def test_under_swapped_headings_the_oracle_sees_what_they_imply(rows, truths, eyes):
    shown, moved, said = asked(rows, "swapped"), 0, 0
    assert len(shown) >= 4
    for one in shown:
        labels, headings = [clip.label for clip in one.question.clips], one.facts()["shown_headings"].split()
        heading = dict(zip(labels, headings, strict=True))
        assert sum(label != new for label, new in heading.items()) == 2
        implied = truths[one.question.question_id].right(lambda label, walk, new=heading: (new[label], walk))
        assert seen(one, eyes) == implied
        moved += implied != one.question.answer
        if told := one.facts()["implied_answer"]:
            said += 1
            assert set(told) == implied == answered(one, answer_message, eyes)
    assert moved >= 2 and said >= 1


def test_under_reversed_frames_the_oracle_sees_the_walk_backwards(rows, truths, eyes):
    for one in asked(rows, "reversed"):
        implied = truths[one.question.question_id].right(lambda label, walk: (label, walk.played_backwards()))
        assert seen(one, eyes) == implied != one.question.answer


@pytest.mark.parametrize("probe", ["blind", "optionsonly", "unlabelled"])
def test_what_is_not_shown_is_not_seen(rows, eyes, probe):
    assert all(not seen(one, eyes) for one in asked(rows, probe))


@pytest.mark.parametrize("probe", ["shuffled", "center"])
def test_without_order_most_is_lost(rows, eyes, probe):
    shown = asked(rows, probe)
    assert sum(answered(one, answer_message, eyes) == one.question.answer for one in shown) <= len(shown) / 2


def test_more_frames_than_the_benchmarks_lose_nothing(rows, eyes):
    shown = asked(rows[-1:], "f128")
    assert [answered(one, answer_message, eyes) for one in shown] == [one.question.answer for one in shown]


def test_three_wrong_models_leave_their_signatures(rows, eyes):
    """Words alone never move; first letters move with the options only; no labels: blind to their exchange."""
    plain = {one.question.question_id: one for one in asked(rows, None)}

    def same(model, probe):
        return [
            answered(one, model, eyes) == answered(plain[one.question.question_id], model, eyes)
            for one in asked(rows, probe)
        ]

    for probe in ("blind", "optionsonly", "center", "shuffled", "reordered", "swapped", "unlabelled", "perm1", "perm2"):
        assert all(same(guess_blind, probe)), probe
    for probe in ("blind", "shuffled", "reordered", "swapped", "renamed"):
        assert all(same(always_first, probe)), probe
    assert sum(same(always_first, "perm1")) < len(rows) / 2
    for probe in ("reordered", "swapped", "perm1"):
        assert all(same(ignore_labels, probe)), probe
    exact = [answered(one, ignore_labels, eyes) == one.question.answer for one in plain.values()]
    several = [len(one.question.clips) > 1 for one in plain.values()]
    assert all(right for right, many in zip(exact, several, strict=True) if not many)
    assert sum(itertools.compress(exact, several)) < sum(several)
