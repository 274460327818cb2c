"""An EgoTempo question as every host shows and scores it: open, or with its gold answer among three wrong ones."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from egobench_tasks.asking.choice import ShownQuestion, readable
from egobench_tasks.asking.open_settings import category_slug
from egobench_tasks.asking.options import shuffle_options
from egobench_tasks.asking.prompts import (
    ChoiceTemplates,
    ClipFrames,
    OpenTemplates,
    Segment,
    choice_segments,
    open_segments,
)
from egobench_tasks.asking.questions import ChoiceQuestion, Clip, OpenQuestion, open_question
from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.documents import read_json
from egobench_tasks.errors import InputError
from egobench_tasks.files import sha256_of
from egobench_tasks.frames.lazy import FrameList, FrameRequest
from egobench_tasks.frames.spec import FrameSpec
from egobench_tasks.judge.prompt import JudgeItem
from egobench_tasks.judge.summary import LOST, UNANSWERED
from egobench_tasks.judge.verdict import Judgement
from egobench_tasks.runs.journal import UNANSWERED as NO_GENERATION
from egobench_tasks.scoring.answers import open_answer

if TYPE_CHECKING:
    from datasets import Dataset

OPEN_ANSWER_TOKENS = 512
HOW_TO_CONFIGURE_A_JUDGE = "set EGOBENCH_JUDGE_BASE_URL and EGOBENCH_JUDGE_MODEL"

N_WRONG = 3
NO_CLIP = Clip("(the dataset holds no clip for this question)", 0.0, "0" * 64)
"""Stands for a clip that is not there: asking for its frames is a ClipError, and the question stays unanswered."""


@dataclass(frozen=True, slots=True)
class ShownOpenQuestion:
    """What a model is shown of an open question."""

    question: OpenQuestion
    segments: tuple[Segment, ...]
    frames: FrameList

    def readable(self) -> str:
        """The message as one text for logs and details, frames as a mark."""
        return readable(self.segments, self.frames)

    def facts(self) -> dict[str, Any]:
        """What scores, the judge and reports need to know of the question, in plain values."""
        return {
            "question_id": self.question.question_id,
            "question": self.question.question,
            "answer": self.question.answer,
            "category": self.question.category,
        }


@dataclass(frozen=True, slots=True)
class OpenChoices:
    """Three wrong answers a question, by question id; ``fingerprint`` is of the whole file."""

    wrong: Mapping[str, tuple[str, ...]]
    fingerprint: str


def load_open_choices(path: Path) -> OpenChoices:
    """Read a JSON file ``{question_id: [wrong, wrong, wrong]}``.

    Raises ``InputError`` naming the file and the question that is not of this form.
    """
    loaded = read_json(path, "the wrong answers")
    if not isinstance(loaded, dict) or not loaded:
        raise InputError(f"{path}: must be one JSON object, {{question_id: [three wrong answers]}}")
    for question_id, wrong in loaded.items():
        texts = [text for text in wrong if isinstance(text, str) and text.strip()] if isinstance(wrong, list) else []
        if len(texts) != N_WRONG or len(wrong) != N_WRONG or len(set(texts)) != N_WRONG:
            raise InputError(f"{path}: question {question_id}: needs a list of {N_WRONG} different wrong answers")
    wrong_by_id = {question_id: tuple(wrong) for question_id, wrong in loaded.items()}
    return OpenChoices(wrong_by_id, sha256_of(path)[:12])


def show_open(row: Mapping[str, Any], templates: OpenTemplates, spec: FrameSpec | None) -> ShownOpenQuestion:
    """Lay out an open question; ``spec`` None shows the words alone.

    Raises ``InputError`` naming the question where the row is not one of the benchmark's.
    """
    question = open_question(row)
    segments = open_segments(question.question, templates, with_frames=spec is not None)
    return ShownOpenQuestion(question, tuple(segments), _frames(question, spec))


def show_open_choice(
    row: Mapping[str, Any], templates: ChoiceTemplates, spec: FrameSpec | None, choices: OpenChoices
) -> ShownQuestion:
    """Lay out a question of the closed form: the gold answer is option A before the shuffle.

    Raises ``InputError`` naming the question that has no wrong answers, or one equal to the gold answer.
    """
    question = open_question(row)
    wrong = choices.wrong.get(question.question_id)
    if wrong is None or question.answer in wrong:
        raise InputError(f"question {question.question_id}: needs {N_WRONG} answers other than {question.answer!r}")
    asked = ChoiceQuestion(
        question_id=question.question_id,
        question=question.question,
        options=(question.answer, *wrong),
        answer=frozenset("A"),
        clips=(question.clip or NO_CLIP,),
        unit=question.category,
        question_type=question.category,
    )
    shown_to_original = shuffle_options(asked.question_id, asked.letters)
    segments = choice_segments(asked, shown_to_original, templates)
    shown = [part for part in segments if spec is not None or not isinstance(part, ClipFrames)]
    return ShownQuestion(asked, shown_to_original, tuple(shown), _frames(question, spec))


def _frames(question: OpenQuestion, spec: FrameSpec | None) -> FrameList:
    if spec is None:
        return FrameList(())
    clip = question.clip or NO_CLIP
    return FrameList((FrameRequest(clip.path, clip.sha256, windowed(spec, question.window_s)),))


def windowed(spec: FrameSpec, window_s: tuple[float, float] | None) -> FrameSpec:
    """The spec within the part of the video that a question is about."""
    if window_s is None:
        return spec
    return replace(spec, start_s=window_s[0], end_s=window_s[1])


def find_category(name: str) -> str:
    """Return the category of a name, the dataset's own or its `category_slug`. Raises ``InputError`` for any other."""
    for category in EGOTEMPO.category_codes:
        if name in (category, category_slug(category)):
            return category
    raise InputError(f"no category {name!r}; there are {', '.join(map(category_slug, EGOTEMPO.category_codes))}")


def rows_of_category(rows: "Dataset", category: str) -> "Dataset":
    """Return the rows of one category. Raises ``InputError`` where there are none."""
    chosen = [index for index, name in enumerate(rows["category"]) if name == category]
    if not chosen:
        there = [category_slug(name) for name in EGOTEMPO.category_codes if name in set(rows["category"])]
        raise InputError(
            f"this dataset has no question of the category {category_slug(category)}; ask those that it has: "
            + ",".join(f"{EGOTEMPO.name}:{name}" for name in there)
        )
    return rows.select(chosen)


def to_judge(facts: Mapping[str, Any], text: str, finish_reason: str) -> JudgeItem | Judgement:
    """Return what a judge is asked of a generation, or what is settled without asking.

    ``facts`` are `ShownOpenQuestion.facts`. Settled are `summary.LOST`, where the question has no generation for a
    reason that is not the model's, and `summary.UNANSWERED`, where the model gave no answer (PROTOCOL 1.3).
    """
    if finish_reason in NO_GENERATION:
        return LOST
    answer = open_answer(text, finish_reason)
    if answer is None:
        return UNANSWERED
    return JudgeItem(facts["question_id"], facts["question"], facts["answer"], answer)
