"""A multiple-choice question as every host shows it: options shuffled, message laid out, frames shared out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from egobench_tasks.asking.options import shuffle_options
from egobench_tasks.asking.prompts import ChoiceTemplates, Segment, Text, choice_segments
from egobench_tasks.asking.questions import ChoiceQuestion, choice_question
from egobench_tasks.frames.lazy import FrameList, FrameRequest
from egobench_tasks.frames.spec import FrameSpec, Sampling, allocate_frames, printed_duration_s


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """What a model is shown of a question. ``frames`` are decoded by a host just before it asks."""

    question: ChoiceQuestion
    shown_to_original: Mapping[str, str]
    segments: tuple[Segment, ...]
    frames: FrameList

    def readable(self) -> str:
        """The message as one text for logs and details, frames as counts."""
        return readable(self.segments, self.frames)

    def facts(self) -> dict[str, Any]:
        """What scores and reports need to know of the question, in plain values."""
        return {
            "question_id": self.question.question_id,
            "shown_letters": "".join(self.shown_to_original),
            "original_letters": "".join(self.shown_to_original.values()),
            "answer": "".join(sorted(self.question.answer)),
            "unit": self.question.unit,
            "question_type": self.question.question_type,
            "n_clips": len(self.question.clips),
        }


def readable(segments: Sequence[Segment], frames: FrameList) -> str:
    """A message as one text: frames as their number, or as what is taken where the clip's length decides that."""

    def words(segment: Segment) -> str:
        if isinstance(segment, Text):
            return segment.text
        spec = frames.requests[segment.clip_index].spec
        return f"[{spec.count} frames]\n" if spec.count else f"[frames: {spec.key()}]\n"

    return "".join(map(words, segments))


def show_choice(row: Mapping[str, Any], templates: ChoiceTemplates, n_frames: int, min_frames: int) -> ShownQuestion:
    """Lay out a dataset row: ``n_frames`` shared over its clips, ``min_frames`` a clip at least (PROTOCOL 1.2).

    Raises ``InputError`` naming the question where the row is not one of the benchmark's.
    """
    question = choice_question(row)
    shown_to_original = shuffle_options(question.question_id, question.letters)
    printed_s = [printed_duration_s(clip.duration_s) for clip in question.clips]
    shares = allocate_frames(printed_s, n_frames, min_frames)
    requests = (
        FrameRequest(clip.path, clip.sha256, FrameSpec(sampling=Sampling.BUDGET, count=count))
        for clip, count in zip(question.clips, shares, strict=True)
    )
    return ShownQuestion(
        question,
        shown_to_original,
        tuple(choice_segments(question, shown_to_original, templates)),
        FrameList(tuple(requests)),
    )
