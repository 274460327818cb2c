"""From a dataset row to a lighteval Doc, and to the task config that names everything that shaped it."""

from collections.abc import Mapping
from typing import Any

from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc

from egobench_tasks.benchmarks import EGOGEARS, Benchmark
from egobench_tasks.data import SPLIT
from egobench_tasks.frames.spec import FrameSpec, Sampling
from egobench_tasks.hosts.choice import show_choice
from egobench_tasks.hosts.lighteval_metrics import CHOICE_METRICS
from egobench_tasks.hosts.messages import to_record
from egobench_tasks.prompts import ChoiceTemplates


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
        spec = FrameSpec(sampling=Sampling.BUDGET, count=self.n_frames)
        self.__name__ = (
            f"{self.benchmark.name}(prompt {self.templates.fingerprint}, frames {spec.key()} "
            f"at least {self.min_frames} a clip, dataset {fingerprint})"
        )

    def __call__(self, row: Mapping[str, Any], task_name: str) -> Doc:
        """Return the Doc of one row; its frames are decoded when a batch is collated, not here."""
        shown = show_choice(row, self.templates, self.n_frames, self.min_frames)
        question, originals = shown.question, list(shown.shown_to_original.values())
        text_of = dict(zip(question.letters, question.options, strict=True))
        return Doc(
            query=shown.readable(),
            choices=[text_of[letter] for letter in originals],
            gold_index=[index for index, letter in enumerate(originals) if letter in question.answer],
            images=shown.frames,
            specific={**shown.facts(), "segments": to_record(shown.segments)},
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
