"""What the script of the sample makes of a message: its frames replaced by what they show, without a pixel."""

from collections.abc import Sequence

from dataset_scripts.sample.walks import Event, Walk
from egobench_tasks.asking.choice import ShownQuestion
from egobench_tasks.asking.prompts import Text
from egobench_tasks.frames.spec import FrameSpec, Sampling

ScriptedPart = str | Walk


def scripted_message(shown: ShownQuestion, walks: Sequence[Walk]) -> list[ScriptedPart]:
    """Return a message as texts, and for each clip the one walk that its frames show in the order shown.

    ``walks`` are the question's clips', by their index.
    """
    parts: list[ScriptedPart] = []
    for segment in shown.segments:
        if isinstance(segment, Text):
            parts.append(segment.text)
        else:
            spec = shown.frames.requests[segment.clip_index].spec
            parts.append(walk_shown(walks[segment.clip_index], spec, segment.order))
    return parts


def walk_shown(walk: Walk, spec: FrameSpec, order: Sequence[int] | None) -> Walk:
    """Return what evenly spaced frames of a walk show in an order: each event where a frame first falls on it."""
    n_frames = 1 if spec.sampling is Sampling.CENTRAL else spec.count or 1
    places = range(n_frames) if order is None else order
    events: dict[Event, None] = {}
    for place in places:
        if walk.events:
            events.setdefault(walk.events[int((place + 0.5) / n_frames * len(walk.events))])
    return Walk(tuple(events), walk.lighting, walk.pace)


def see_script(frames: Sequence[Walk]) -> Walk:
    """Eyes for scripted messages; clips that no label separates run into one another, as their frames would."""
    return Walk(tuple(event for walk in frames for event in walk.events), frames[0].lighting, frames[0].pace)
