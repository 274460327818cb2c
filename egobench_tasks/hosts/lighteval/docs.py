"""From a dataset row to a lighteval Doc, and to the task config that names everything that shaped it.

lighteval is imported when a Doc or a task is made, not before: `egobench run endpoint` asks meanwhile.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from egobench_tasks.asking.choice import ShownQuestion, show_choice
from egobench_tasks.asking.judging import check_judge
from egobench_tasks.asking.messages import to_record
from egobench_tasks.asking.open import (
    OPEN_ANSWER_TOKENS,
    OpenChoices,
    ShownOpenQuestion,
    rows_of_category,
    show_open,
    show_open_choice,
)
from egobench_tasks.asking.open_settings import category_slug
from egobench_tasks.asking.probes import Probe, probe_task, rows_asked
from egobench_tasks.asking.prompts import ChoiceTemplates, OpenTemplates
from egobench_tasks.asking.view import NoFrames, SharedFrames
from egobench_tasks.benchmarks import EGOGEARS, EGOTEMPO, Benchmark
from egobench_tasks.data import SPLIT
from egobench_tasks.frames.spec import FrameSpec

if TYPE_CHECKING:
    from datasets import Dataset
    from lighteval.tasks.lighteval_task import LightevalTaskConfig
    from lighteval.tasks.requests import Doc


class RowPrompt(ABC):
    """lighteval's ``prompt_function`` of our tasks: a dataset row becomes a Doc.

    Its ``__name__`` spells out wording, frames and dataset. lighteval prints that name, and nothing
    else of a prompt function, into the task config from which it keys cached answers and which it
    saves with the results; a plain function's name would let answers to other inputs pass as these.
    """

    benchmark: Benchmark
    n_published: int
    """How many questions the published split has."""
    fingerprint: str
    """The loaded rows' `data.fingerprint`."""
    max_new_tokens: int
    """What a model that does not reason may answer in."""
    n_rows: int = 0
    """How many questions the dataset has, of this task; 0 before it is loaded."""

    @property
    @abstractmethod
    def inputs(self) -> str:
        """Wording and frames, in words."""

    @property
    def needs_clips(self) -> bool:
        """Whether a model is shown frames at all."""
        return True

    @abstractmethod
    def show(self, row: Mapping[str, Any]) -> ShownQuestion | ShownOpenQuestion:
        """Return what a model is shown of one row. Raises ``InputError`` where it is not the benchmark's."""

    def __call__(self, row: Mapping[str, Any], task_name: str) -> "Doc":
        """Return the Doc of one row; its frames are decoded when a batch is collated, not here."""
        shown = self.show(row)
        return _choice_doc(shown) if isinstance(shown, ShownQuestion) else _doc(shown, [shown.question.answer], 0)

    def select(self, rows: "Dataset") -> "Dataset":
        """Return the rows of this task."""
        return rows

    def asked(self, rows: "Dataset") -> "Dataset":
        """Return those of the task's rows that are asked at all; which they are is no part of the dataset's name."""
        return rows

    def prepare(self) -> None:  # noqa: B027  # most tasks have nothing to prepare
        """Find what is wrong with the task's settings before a model is loaded. Raises ``InputError``."""

    def set_dataset(self, fingerprint: str) -> None:
        """Name the loaded rows' `data.fingerprint` in ``__name__``."""
        self.fingerprint = fingerprint
        self.__name__ = f"{self.benchmark.name}({self.inputs}, dataset {fingerprint})"


class ChoicePrompt(RowPrompt):
    """EgoGears: the options shuffled, ``n_frames`` shared over the clips, ``min_frames`` a clip at least.

    ``probe`` changes one thing of every question, and asks those that it applies to.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        n_published: int,
        templates: ChoiceTemplates,
        n_frames: int,
        min_frames: int,
        probe: Probe | None = None,
    ) -> None:
        self.benchmark = benchmark
        self.n_published = n_published
        self.templates = templates
        self.n_frames = n_frames
        self.min_frames = min_frames
        self.probe = probe
        self.max_new_tokens = EGOGEARS.max_new_tokens
        self.set_dataset(fingerprint="not loaded")

    @property
    def inputs(self) -> str:
        """See `RowPrompt.inputs`."""
        named = f"probe {self.probe.name}, " if self.probe else ""
        frames = (self.probe and self.probe.frames) or SharedFrames(self.n_frames, self.min_frames)
        return f"{named}prompt {self.templates.fingerprint}, frames {frames}"

    @property
    def needs_clips(self) -> bool:
        """See `RowPrompt.needs_clips`."""
        return self.probe is None or not isinstance(self.probe.frames, NoFrames)

    def asked(self, rows: "Dataset") -> "Dataset":
        """See `RowPrompt.asked`. Raises ``InputError`` where the probe applies to none of the rows."""
        if self.probe is None:
            return rows
        return rows_asked(rows, self.probe)

    def show(self, row: Mapping[str, Any]) -> ShownQuestion:
        """See `RowPrompt.show`."""
        return show_choice(row, self.templates, self.n_frames, self.min_frames, self.probe)


class CategoryPrompt(RowPrompt):
    """One category of EgoTempo under one input setting; ``spec`` None shows the words alone."""

    def __init__(self, category: str, spec: FrameSpec | None) -> None:
        self.benchmark = EGOTEMPO
        self.n_published = EGOTEMPO.rows_per_category
        self.category = category
        self.spec = spec

    def select(self, rows: "Dataset") -> "Dataset":
        """Return the category's rows."""
        return rows_of_category(rows, self.category)

    @property
    def needs_clips(self) -> bool:
        """See `RowPrompt.needs_clips`."""
        return self.spec is not None

    @property
    def frames(self) -> str:
        """What is taken of the clip, in words."""
        return self.spec.key() if self.spec else "none"


class OpenPrompt(CategoryPrompt):
    """EgoTempo's open questions."""

    def __init__(self, category: str, spec: FrameSpec | None, templates: OpenTemplates) -> None:
        super().__init__(category, spec)
        self.templates = templates
        self.max_new_tokens = OPEN_ANSWER_TOKENS
        self.set_dataset(fingerprint="not loaded")

    @property
    def inputs(self) -> str:
        """See `RowPrompt.inputs`."""
        return f"prompt {self.templates.fingerprint}, frames {self.frames}"

    def prepare(self) -> None:
        """See `RowPrompt.prepare`."""
        check_judge()

    def show(self, row: Mapping[str, Any]) -> ShownOpenQuestion:
        """See `RowPrompt.show`."""
        return show_open(row, self.templates, self.spec)


class OpenChoicePrompt(CategoryPrompt):
    """EgoTempo's closed form: the gold answer among three wrong ones (PROTOCOL 2: chance 25 %)."""

    def __init__(self, category: str, spec: FrameSpec | None, templates: ChoiceTemplates, choices: OpenChoices) -> None:
        super().__init__(category, spec)
        self.templates = templates
        self.choices = choices
        self.max_new_tokens = EGOGEARS.max_new_tokens
        self.set_dataset(fingerprint="not loaded")

    @property
    def inputs(self) -> str:
        """See `RowPrompt.inputs`."""
        return f"prompt {self.templates.fingerprint}, choices {self.choices.fingerprint}, frames {self.frames}"

    def show(self, row: Mapping[str, Any]) -> ShownQuestion:
        """See `RowPrompt.show`."""
        return show_open_choice(row, self.templates, self.spec, self.choices)


def egogears_task(config: str, templates: ChoiceTemplates, probe: Probe | None = None) -> "LightevalTaskConfig":
    """Return the task ``egogears:single`` or ``egogears:multi``, or a probe's ``egogears_PROBE:single``."""
    from egobench_tasks.hosts.lighteval.metrics import CHOICE_METRICS

    name = probe_task(probe.name) if probe else EGOGEARS.name
    return _task(f"{name}:{config}", config, egogears_prompt(config, templates, probe), [CHOICE_METRICS])


def open_task(name: str, category: str, spec: FrameSpec | None, templates: OpenTemplates) -> "LightevalTaskConfig":
    """Return the task ``NAME:CATEGORY`` of EgoTempo's open questions."""
    from egobench_tasks.hosts.lighteval.judge import judge_metrics
    from egobench_tasks.hosts.lighteval.metrics import OPEN_METRICS

    prompt = OpenPrompt(category, spec, templates)
    return _task(f"{name}:{category_slug(category)}", EGOTEMPO.config, prompt, [*judge_metrics(), OPEN_METRICS])


def open_choice_task(
    name: str, category: str, spec: FrameSpec | None, templates: ChoiceTemplates, choices: OpenChoices
) -> "LightevalTaskConfig":
    """Return the task ``NAME:CATEGORY`` of EgoTempo's closed form."""
    from egobench_tasks.hosts.lighteval.metrics import CHOICE_METRICS

    prompt = OpenChoicePrompt(category, spec, templates, choices)
    return _task(f"{name}:{category_slug(category)}", EGOTEMPO.config, prompt, [CHOICE_METRICS])


def egogears_prompt(config: str, templates: ChoiceTemplates, probe: Probe | None) -> ChoicePrompt:
    """Return what rows of EgoGears are shown by, in a task's figures."""
    n_frames, min_frames = EGOGEARS.frames_per_question, EGOGEARS.min_frames_per_clip
    return ChoicePrompt(EGOGEARS, EGOGEARS.rows[config], templates, n_frames, min_frames, probe)


def _task(name: str, config: str, prompt: RowPrompt, metrics: list[Any]) -> "LightevalTaskConfig":
    from lighteval.tasks.lighteval_task import LightevalTaskConfig

    return LightevalTaskConfig(
        name=name,
        prompt_function=prompt,
        hf_repo=prompt.benchmark.name,
        hf_subset=config,
        hf_avail_splits=[SPLIT],
        evaluation_splits=[SPLIT],
        few_shots_split=SPLIT,
        metrics=metrics,
        generation_size=prompt.max_new_tokens,
        stop_sequence=[],
        version=prompt.benchmark.version,
    )


def _choice_doc(shown: ShownQuestion) -> "Doc":
    question, originals = shown.question, list(shown.shown_to_original.values())
    text_of = dict(zip(question.letters, question.options, strict=True))
    gold = [index for index, letter in enumerate(originals) if letter in question.answer]
    return _doc(shown, [text_of[letter] for letter in originals], gold)


def _doc(shown: ShownQuestion | ShownOpenQuestion, choices: list[str], gold_index: int | list[int]) -> "Doc":
    from lighteval.tasks.requests import Doc

    return Doc(
        query=shown.readable(),
        choices=choices,
        gold_index=gold_index,
        images=shown.frames,
        specific={**shown.facts(), "segments": to_record(shown.segments)},
    )
