"""A multiple-choice question as every host shows it: options shuffled, message laid out, frames shared out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from egobench_tasks.asking.probes import Probe
from egobench_tasks.asking.prompts import ChoiceTemplates, ClipView, Segment, Text, choice_segments
from egobench_tasks.asking.questions import ChoiceQuestion, choice_question
from egobench_tasks.asking.view import ChoiceView, SharedFrames, plain_view
from egobench_tasks.errors import InputError
from egobench_tasks.frames.lazy import FrameList, FrameRequest


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """What a model is shown of a question. ``frames`` are decoded by a host just before it asks.

    ``clips``: those shown, in the order shown, by their index in ``frames``; None for all as they are.
    ``probed``: by which probe it was changed, and what that did to this question; None for the benchmark itself.
    """

    question: ChoiceQuestion
    shown_to_original: Mapping[str, str]
    segments: tuple[Segment, ...]
    frames: FrameList
    clips: tuple[ClipView, ...] | None = None
    probed: "Probed | None" = None

    def readable(self) -> str:
        """The message as one text for logs and details, frames as counts."""
        return readable(self.segments, self.frames)

    def facts(self) -> dict[str, Any]:
        """What scores and reports need to know of the question, in plain values."""
        return {
            "question_id": self.question.question_id,
            "question": self.question.question,
            "shown_letters": "".join(self.shown_to_original),
            "original_letters": "".join(self.shown_to_original.values()),
            "answer": "".join(sorted(self.question.answer)),
            "unit": self.question.unit,
            "question_type": self.question.question_type,
            "n_clips": len(self.question.clips),
            **(self.probed.facts() if self.probed else {}),
        }


@dataclass(frozen=True, slots=True)
class Probed:
    """What a probe did to one question. ``seed``: of what was drawn, None where nothing was. ``implied``: the
    original letters that are right after the change, where that can be said of a moved answer."""

    probe: str
    seed: str | None
    did: str
    clip_order: tuple[int, ...]
    headings: tuple[str | None, ...]
    implied: frozenset[str] | None

    def facts(self) -> dict[str, Any]:
        """See `ShownQuestion.facts`; clips by their index in the dataset, in the order shown, "-" for no heading."""
        return {
            "probe": self.probe,
            "probe_seed": self.seed or "",
            "probe_did": self.did,
            "shown_clips": " ".join(map(str, self.clip_order)),
            "shown_headings": " ".join(heading or "-" for heading in self.headings),
            "implied_answer": "".join(sorted(self.implied or ())),
        }


def readable(segments: Sequence[Segment], frames: FrameList) -> str:
    """A message as one text: frames as their number, or as what is taken where the clip's length decides that."""

    def words(segment: Segment) -> str:
        if isinstance(segment, Text):
            return segment.text
        spec = frames.requests[segment.clip_index].spec
        if segment.order is not None:
            return (
                f"[{len(segment.order)} frames in the order {', '.join(str(place + 1) for place in segment.order)}]\n"
            )
        return f"[{spec.count} frames]\n" if spec.count else f"[frames: {spec.key()}]\n"

    return "".join(map(words, segments))


def show_choice(
    row: Mapping[str, Any], templates: ChoiceTemplates, n_frames: int, min_frames: int, probe: Probe | None = None
) -> ShownQuestion:
    """Lay out a dataset row: ``n_frames`` shared over its clips, ``min_frames`` a clip at least (PROTOCOL 1.2).

    ``probe`` changes one thing; a rule of frames of its own takes the place of these numbers. Raises
    ``InputError`` naming the question where the row is not one of the benchmark's, or the probe does not
    apply to it (`Probe.applies`).
    """
    question, frames = choice_question(row), SharedFrames(n_frames, min_frames)
    if probe is None:
        return _laid_out(plain_view(question, frames), templates, None)
    view = probe.view(question, frames)
    if view is None:
        raise InputError(f"question {question.question_id}: the probe {probe.name} does not apply to it")
    probed = Probed(
        probe=probe.name,
        seed=probe.seed(question.question_id) if probe.seed else None,
        did=view.did or probe.changes,
        clip_order=tuple(clip.index for clip in view.clips),
        headings=tuple(clip.label for clip in view.clips),
        implied=view.implied,
    )
    return _laid_out(view, templates, probed)


def _laid_out(view: ChoiceView, templates: ChoiceTemplates, probed: Probed | None) -> ShownQuestion:
    requests = (
        FrameRequest(clip.path, clip.sha256, spec)
        for clip, spec in zip(view.question.clips, view.specs, strict=bool(view.specs))
    )
    return ShownQuestion(
        view.question,
        view.shown_to_original,
        tuple(choice_segments(view.question, view.shown_to_original, templates, view.clips)),
        FrameList(tuple(requests)),
        view.clips,
        probed,
    )
