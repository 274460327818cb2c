"""From a dataset row to a lighteval Doc, and to the task config that names everything that shaped it."""

from collections.abc import Mapping
from typing import Any

from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc

from egobench_tasks.benchmarks import EGOGEARS, Benchmark
from egobench_tasks.data import SPLIT
from egobench_tasks.frames.lazy import FrameList, FrameRequest
from egobench_tasks.frames.spec import FrameSpec, allocate_frames
from egobench_tasks.hosts.lighteval_metrics import CHOICE_METRICS
from egobench_tasks.hosts.messages import to_record
from egobench_tasks.options import shuffle_options
from egobench_tasks.prompts import ChoiceTemplates, Segment, Text, choice_segments
from egobench_tasks.questions import ChoiceQuestion, choice_question


class ChoicePrompt:
    """lighteval's ``prompt_function`` of the multiple-choice tasks: a dataset row becomes a Doc.

    Its ``__name__`` spells out template, frames and dataset. lighteval prints that name, and
    nothing else of a prompt function, into the task config from which it keys cached answers and
    which it saves with the results; a plain function's name would let answers to other inputs pass
    as these.
    """

    def __init__(self, benchmark: Benchmark, templates: ChoiceTemplates, n_frames: int, min_frames: int) -> None:
        self.benchmark = benchmark
        self.templates = templates
        self.n_frames = n_frames
        self.min_frames = min_frames
        self.set_dataset(fingerprint="not loaded")

    def set_dataset(self, fingerprint: str) -> None:
        """Name the loaded rows' `data.fingerprint` in ``__name__``."""
        spec = FrameSpec.budget(self.n_frames)
        self.__name__ = (
            f"{self.benchmark.name}(prompt {self.templates.fingerprint}, frames {spec.key()} "
            f"at least {self.min_frames} a clip, dataset {fingerprint})"
        )

    def __call__(self, row: Mapping[str, Any], task_name: str) -> Doc:
        """Return the Doc of one row; its frames are decoded when a batch is collated, not here."""
        question = choice_question(row)
        shown_to_original = shuffle_options(question.question_id, question.letters)
        segments = choice_segments(question, shown_to_original, self.templates)
        frames = self._frames(question)
        text_of = dict(zip(question.letters, question.options, strict=True))
        originals = list(shown_to_original.values())
        return Doc(
            query=_readable(segments, frames),
            choices=[text_of[letter] for letter in originals],
            gold_index=[index for index, letter in enumerate(originals) if letter in question.answer],
            images=frames,
            specific={
                "question_id": question.question_id,
                "shown_letters": "".join(shown_to_original),
                "original_letters": "".join(originals),
                "answer": "".join(sorted(question.answer)),
                "unit": question.unit,
                "question_type": question.question_type,
                "n_clips": len(question.clips),
                "segments": to_record(segments),
            },
        )

    def _frames(self, question: ChoiceQuestion) -> FrameList:
        shares = allocate_frames([clip.duration_s for clip in question.clips], self.n_frames, self.min_frames)
        return FrameList(
            tuple(
                FrameRequest(clip.path, clip.sha256, FrameSpec.budget(count))
                for clip, count in zip(question.clips, shares, strict=True)
            )
        )


def egogears_task(config: str, templates: ChoiceTemplates) -> LightevalTaskConfig:
    """Return the task ``egogears:single`` or ``egogears:multi``."""
    return LightevalTaskConfig(
        name=f"{EGOGEARS.name}:{config}",
        prompt_function=ChoicePrompt(EGOGEARS, templates, EGOGEARS.frames_per_question, EGOGEARS.min_frames_per_clip),
        hf_repo=EGOGEARS.name,
        hf_subset=config,
        hf_avail_splits=[SPLIT],
        evaluation_splits=[SPLIT],
        few_shots_split=SPLIT,
        metrics=[CHOICE_METRICS],
        generation_size=EGOGEARS.max_new_tokens,
        stop_sequence=[],
        version=1,
    )


def _readable(segments: list[Segment], frames: FrameList) -> str:
    """The message as one text for logs and details, frames as counts."""
    return "".join(
        segment.text if isinstance(segment, Text) else f"[{frames.requests[segment.clip_index].spec.count} frames]\n"
        for segment in segments
    )
