"""A sample benchmark, built by the ordinary builder, and every question's message as a model gets it."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image

from dataset_scripts.egogears.build import build_egogears
from dataset_scripts.sample.release import SampleRelease, write_sample_release
from egobench_tasks.asking.options import shuffle_options
from egobench_tasks.asking.prompts import Text, choice_segments, load_choice_templates
from egobench_tasks.asking.questions import ChoiceQuestion, choice_question
from egobench_tasks.data import DatasetLocation, load_rows
from egobench_tasks.frames.decode import decode_jpegs
from egobench_tasks.frames.spec import FrameSpec, Sampling, allocate_frames


@dataclass(frozen=True)
class Posed:
    """A question as it is put to a model: ``jpegs[c]`` are clip c's frames in time order."""

    question: ChoiceQuestion
    shown_to_original: dict[str, str]
    jpegs: tuple[tuple[bytes, ...], ...]

    @property
    def labels(self) -> list[str | None]:
        return [clip.label for clip in self.question.clips]

    def parts(
        self, *, jpegs: Sequence[Sequence[bytes]] | None = None, labels: Sequence[str | None] | None = None
    ) -> list[str | Image.Image]:
        """The message, with other frames or labels where they are given."""
        jpegs = self.jpegs if jpegs is None else jpegs
        labels = self.labels if labels is None else labels
        instruction, *_ = choice_segments(self.question, self.shown_to_original, load_choice_templates())
        assert isinstance(instruction, Text)
        parts: list[str | Image.Image] = [instruction.text]
        for label, frames in zip(labels, jpegs, strict=True):
            if label is not None:
                parts.append(f"{label}\n")
            parts += [Image.open(io.BytesIO(frame)).convert("RGB") for frame in frames]
        return parts


@dataclass(frozen=True)
class Sample:
    release: SampleRelease
    folder: Path
    posed: dict[str, list[Posed]]


N_QUESTIONS = 128


@pytest.fixture(scope="session")
def sample(tmp_path_factory) -> Sample:
    folder = tmp_path_factory.mktemp("scrambled")
    release = write_sample_release(folder / "raw", questions=N_QUESTIONS, seed=3)
    build_egogears(folder / "raw", folder / "egogears")
    location = DatasetLocation(str(folder / "egogears"))
    cache: dict[tuple[str, int], tuple[bytes, ...]] = {}
    posed = {
        config: [_pose(choice_question(row), cache) for row in load_rows(location, config)]
        for config in ("single", "multi")
    }
    return Sample(release, folder, posed)


def _pose(question: ChoiceQuestion, cache: dict[tuple[str, int], tuple[bytes, ...]]) -> Posed:
    shares = allocate_frames([clip.duration_s for clip in question.clips])
    for clip, count in zip(question.clips, shares, strict=True):
        if (clip.sha256, count) not in cache:
            cache[clip.sha256, count] = decode_jpegs(clip.path, FrameSpec(sampling=Sampling.BUDGET, count=count)).frames
    jpegs = tuple(cache[clip.sha256, count] for clip, count in zip(question.clips, shares, strict=True))
    return Posed(question, shuffle_options(question.question_id, question.letters), jpegs)
