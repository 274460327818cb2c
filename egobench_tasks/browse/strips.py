"""The frames that a model saw of each clip, with their times."""

from dataclasses import dataclass

from egobench_tasks.asking.messages import in_order
from egobench_tasks.asking.prompts import ClipView
from egobench_tasks.browse.question import QuestionPage
from egobench_tasks.frames.errors import ClipError
from egobench_tasks.frames.store import FrameStore


@dataclass(frozen=True, slots=True)
class Strip:
    """A clip's frames as JPEGs, in the order shown, and the second of the clip that each is from.

    ``problem`` says why there are none, or what is broken in the clip.
    """

    label: str | None
    jpegs: tuple[bytes, ...]
    times_s: tuple[float, ...]
    problem: str | None = None


def decode_strips(page: QuestionPage, store: FrameStore) -> tuple[Strip, ...]:
    """Return a strip for each clip that models are shown, from the store that their hosts read too.

    Clips and frames come in the order shown. A clip that cannot be read is a strip without frames that says why.
    """
    shown = page.shown
    if shown is None:
        clips = zip(page.clips, page.frames.requests, strict=False)  # no frames are asked for of words alone
        shown = tuple(ClipView(index, clip.label) for index, (clip, _) in enumerate(clips))
    strips = []
    for clip in shown:
        request = page.frames.requests[clip.index]
        try:
            stored = store.get(request.path, request.sha256, request.spec)
        except ClipError as error:
            strips.append(Strip(clip.label, (), (), str(error)))
        else:
            jpegs, times_s = in_order(stored.jpegs, clip.order), in_order(stored.times_s, clip.order)
            strips.append(Strip(clip.label, tuple(jpegs), tuple(times_s), stored.damage))
    return tuple(strips)
