"""Small frames of questions for a page, from the store of frames alone: nothing is decoded that no run decoded."""

import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from PIL import Image

from egobench_tasks.asking.questions import ChoiceQuestion
from egobench_tasks.asking.view import SharedFrames
from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.frames.store import FrameStore

HEIGHT_PX = 64
MAX_A_QUESTION = 6
MAX_BYTES = 500_000
"""Of all thumbnails of a report: questions come until they are used up."""
_QUALITY = 60


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A frame as a small JPEG. ``label`` names its clip, None where there is one alone; ``time_s``: from its start."""

    jpeg: bytes
    label: str | None
    time_s: float


def question_strips(
    questions: Iterable[ChoiceQuestion], store: FrameStore, max_bytes: int = MAX_BYTES
) -> Mapping[str, tuple[Thumbnail, ...]]:
    """Return `MAX_A_QUESTION` thumbnails at most for each question all of whose clips the store holds, by id.

    The frames are of those that the benchmark shows (PROTOCOL 1.2). Questions come in their order while ``max_bytes``
    last.
    """
    strips: dict[str, tuple[Thumbnail, ...]] = {}
    left_bytes = max_bytes
    for question in questions:
        strip = tuple(_strip(question, store))
        left_bytes -= sum(len(one.jpeg) for one in strip)
        if left_bytes < 0:
            break
        if strip:
            strips[question.question_id] = strip
    return strips


def _strip(question: ChoiceQuestion, store: FrameStore) -> Iterator[Thumbnail]:
    rule = SharedFrames(EGOGEARS.frames_per_question, EGOGEARS.min_frames_per_clip)
    specs = rule.specs(question.clips)
    held = [store.held(clip.sha256, spec) for clip, spec in zip(question.clips, specs, strict=True)]
    shown = held[:MAX_A_QUESTION]
    each = max(1, MAX_A_QUESTION // len(shown)) if shown else 0
    if any(clip is None for clip in held):
        return
    for place, clip in enumerate(shown):
        if clip is None:
            continue
        for number in _spread(len(clip.jpegs), each):
            label = question.clips[place].label
            yield Thumbnail(_smaller(clip.jpegs[number]), label, clip.times_s[number])


def _spread(total: int, count: int) -> list[int]:
    """``count`` of ``total`` places, in the middle of as many equal parts; each once.

    >>> _spread(64, 3), _spread(2, 3)
    ([10, 32, 53], [0, 1])
    """
    return sorted({(2 * index + 1) * total // (2 * count) for index in range(count)}) if total else []


def _smaller(jpeg: bytes) -> bytes:
    with Image.open(io.BytesIO(jpeg)) as image:
        width_px = max(1, round(image.width * HEIGHT_PX / image.height))
        image.draft("RGB", (width_px, HEIGHT_PX))
        small = image.convert("RGB").resize((width_px, HEIGHT_PX), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    small.save(out, "JPEG", quality=_QUALITY, optimize=True)
    return out.getvalue()
