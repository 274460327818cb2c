"""The oracle answers all of the sample, and falls to chance when one thing at a time is scrambled behind its back."""

import io
import json
import math
import random
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pytest
from PIL import Image

from dataset_scripts.sample.oracle import answer_message
from egobench_tasks.scoring.answers import final_answer
from egobench_tasks.scoring.choice import to_original
from egobench_tasks.scoring.scores import chance_exact

Scramble = Callable[[object, random.Random], list]


@pytest.fixture(scope="module")
def answers(sample) -> dict[str, str]:
    """The oracle's answers to the messages as they should be, by question id."""
    return {
        posed.question.question_id: answer_message(posed.parts())
        for config in sample.posed.values()
        for posed in config
    }


def is_right(posed, answer: str, shown_to_original=None) -> bool:
    letters = final_answer(answer, posed.question.letters)
    assert letters is not None and len(letters) == posed.question.n_select
    return to_original(letters, shown_to_original or posed.shown_to_original) == posed.question.answer


def exact(posed, parts) -> bool:
    return is_right(posed, answer_message(parts))


def most_by_chance(posed_questions: Iterable, confidence: float = 0.999) -> int:
    """The number of right answers that guessing exceeds once in a thousand times: an exact Poisson binomial."""
    distribution = np.ones(1)
    for posed in posed_questions:
        chance = chance_exact(len(posed.question.options), posed.question.n_select)
        distribution = np.convolve(distribution, [1 - chance, chance])
    return int(np.searchsorted(np.cumsum(distribution), confidence))


def assert_chance(posed_questions: Sequence, right: Iterable[bool], name: str) -> None:
    right = list(right)
    most = most_by_chance(posed_questions)
    expected = sum(chance_exact(len(posed.question.options), posed.question.n_select) for posed in posed_questions)
    print(f"{name}: {sum(right)} of {len(right)} right; {expected:.1f} by chance, {most} at most")
    assert most < 0.5 * len(right), "too few questions to tell chance from knowledge"
    assert sum(right) <= most


def shuffled(items: Sequence, rng: random.Random) -> list:
    return rng.sample(list(items), len(items))


def deranged_labels(labels: Sequence[str], rng: random.Random) -> list[str]:
    """Every label becomes another; clips that shared one go on sharing."""
    distinct = sorted(set(labels))
    while True:
        renamed = dict(zip(distinct, shuffled(distinct, rng), strict=True))
        if all(old != new for old, new in renamed.items()):
            return [renamed[label] for label in labels]


def blank_jpeg() -> bytes:
    data = io.BytesIO()
    Image.new("RGB", (320, 180), (128, 128, 128)).save(data, "JPEG")
    return data.getvalue()


@pytest.mark.parametrize("config", ["single", "multi"])
def test_oracle_answers_everything(sample, answers, config):
    ids = [posed.question.question_id for posed in sample.posed[config]]
    assert len(ids) == len(set(ids)) >= 48
    right = [is_right(posed, answers[posed.question.question_id]) for posed in sample.posed[config]]
    assert [question_id for question_id, good in zip(ids, right, strict=True) if not good] == []


@pytest.mark.parametrize("config", ["single", "multi"])
@pytest.mark.parametrize("how", ["shuffled", "reversed"])
def test_frame_order_scrambled(sample, config, how):
    rng = random.Random(0)
    order = {"shuffled": lambda frames: shuffled(frames, rng), "reversed": lambda frames: frames[::-1]}[how]
    questions = sample.posed[config]
    right = [exact(posed, posed.parts(jpegs=[order(frames) for frames in posed.jpegs])) for posed in questions]
    assert_chance(questions, right, f"{config} frames {how}")


def test_labels_scrambled(sample):
    rng = random.Random(0)
    questions = [posed for posed in sample.posed["multi"] if len(set(posed.labels)) > 1]
    right = [exact(posed, posed.parts(labels=deranged_labels(posed.labels, rng))) for posed in questions]
    assert_chance(questions, right, "multi labels")


@pytest.mark.parametrize("config", ["single", "multi"])
def test_option_mapping_scrambled(sample, answers, config):
    rng = random.Random(0)
    questions = sample.posed[config]
    right = []
    for posed in questions:
        shown = list(posed.shown_to_original)
        other_mapping = dict(zip(shown, shuffled(shown, rng), strict=True))
        right.append(is_right(posed, answers[posed.question.question_id], other_mapping))
    assert_chance(questions, right, f"{config} options")


@pytest.mark.parametrize("config", ["single", "multi"])
def test_frames_of_another_question(sample, config):
    questions = sample.posed[config]
    others = questions[5:] + questions[:5]
    right = []
    for posed, other in zip(questions, others, strict=True):
        jpegs = [other.jpegs[index % len(other.jpegs)] for index in range(len(posed.jpegs))]
        right.append(exact(posed, posed.parts(jpegs=jpegs)))
    assert_chance(questions, right, f"{config} others' frames")


@pytest.mark.parametrize("config", ["single", "multi"])
def test_blank_frames(sample, config):
    questions = sample.posed[config]
    blank = blank_jpeg()
    right = [exact(posed, posed.parts(jpegs=[[blank] * len(frames) for frames in posed.jpegs])) for posed in questions]
    assert_chance(questions, right, f"{config} blank frames")


@pytest.mark.parametrize("config", ["single", "multi"])
def test_text_alone(sample, config):
    questions = sample.posed[config]
    right = [exact(posed, posed.parts(jpegs=[[] for _ in posed.jpegs])) for posed in questions]
    assert_chance(questions, right, f"{config} text alone")


def test_guesses_are_even_and_repeatable():
    """Without frames every pair of letters comes up about equally often."""
    counts: dict[str, int] = {}
    for number in range(3000):
        text = f'Question {number}\n\nA. one\nB. two\nC. three\nD. four\n\n{{"answer": ["A", "B"]}}\n'
        answer = answer_message([text])
        assert answer == answer_message([text])
        counts[answer] = counts.get(answer, 0) + 1
    assert len(counts) == math.comb(4, 2)
    assert all(400 < count < 600 for count in counts.values())
    assert all(len(json.loads(answer)["answer"]) == 2 for answer in counts)


def test_message_without_options():
    with pytest.raises(ValueError, match="reads like an option"):
        answer_message(["Which way?"])
