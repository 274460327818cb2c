"""Which questions a sample benchmark asks: a fixed round of plans, filled in by seed, as often as is asked for.

The round covers what upstream holds: all units, 3 to 8 options, 1 to 5 answers, 1 to 10 clips, repeated labels, a
clip that ends early, portrait clips.
"""

import random
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dataset_scripts.sample.composing import Draft, Kind, compose
from dataset_scripts.sample.statements import Label
from dataset_scripts.sample.walks import Walk
from dataset_scripts.sample.world import Clip, World

_MAX_DRAWS = 5000


@dataclass(frozen=True, slots=True)
class SinglePlan:
    """A question about one clip of the single split.

    ``clip`` is its index in ``World.singles``. ``n_select`` is None where the clip itself decides it.
    """

    clip: int
    kind: Kind
    n_options: int
    n_select: int | None


@dataclass(frozen=True, slots=True)
class MultiPlan:
    """A question about several clips. ``repeats`` of them stand under a label that another clip has too."""

    unit: str
    question_type: str
    kind: Kind
    n_clips: int
    n_options: int
    n_select: int
    repeats: int = 0


SINGLE_PLANS = (
    SinglePlan(0, Kind.STATEMENTS, 4, 1),
    SinglePlan(7, Kind.STATEMENTS, 3, 1),
    SinglePlan(1, Kind.AFTER_TURN, 4, None),
    SinglePlan(6, Kind.ORDER, 6, 1),
    SinglePlan(3, Kind.STATEMENTS, 8, 5),
    SinglePlan(4, Kind.STATEMENTS, 5, 2),
    SinglePlan(5, Kind.AFTER_TURN, 6, None),
    SinglePlan(2, Kind.ORDER, 5, 1),
    SinglePlan(0, Kind.STATEMENTS, 7, 4),
    SinglePlan(2, Kind.STATEMENTS, 6, 3),
    SinglePlan(5, Kind.ORDER, 8, 1),
    SinglePlan(6, Kind.STATEMENTS, 4, 2),
)
MULTI_PLANS = (
    MultiPlan("whole_video", "event-phase", Kind.STATEMENTS, 3, 5, 2),
    MultiPlan("multi_caption_multi_clip", "event-order", Kind.STATEMENTS, 3, 6, 3),
    MultiPlan("anonymous_multi_clip", "landmark-cooccurrence", Kind.CLIPS, 5, 5, 2),
    MultiPlan("cross_video", "description-matching", Kind.STATEMENTS, 3, 8, 4, repeats=1),
    MultiPlan("cross_recording", "same-place-different-recording", Kind.STATEMENTS, 4, 7, 3),
    MultiPlan("whole_video", "landmark-order", Kind.ORDER, 2, 4, 1),
    MultiPlan("multi_caption_multi_clip", "event-order", Kind.ORDER, 3, 6, 1),
    MultiPlan("anonymous_multi_clip", "route-phase-discrimination", Kind.STATEMENTS, 4, 8, 5),
    MultiPlan("cross_video", "landmark-order-discrimination", Kind.ORDER, 3, 5, 1),
    MultiPlan("cross_recording", "shared-landmark-identification", Kind.CLIPS, 4, 4, 2),
    MultiPlan("anonymous_multi_clip", "landmark-cooccurrence", Kind.CLIPS, 8, 8, 3),
    MultiPlan("cross_video", "description-matching", Kind.STATEMENTS, 4, 6, 1, repeats=1),
    MultiPlan("whole_video", "event-phase", Kind.STATEMENTS, 1, 3, 1),
    MultiPlan("cross_recording", "route-identity-discrimination", Kind.STATEMENTS, 3, 6, 2),
    MultiPlan("anonymous_multi_clip", "route-phase-discrimination", Kind.STATEMENTS, 10, 8, 3),
    MultiPlan("multi_caption_multi_clip", "route-phase-discrimination", Kind.STATEMENTS, 2, 5, 1),
    MultiPlan("cross_video", "route-phase-alignment", Kind.STATEMENTS, 2, 4, 2),
    MultiPlan("anonymous_multi_clip", "event-order", Kind.ORDER, 3, 8, 1),
    MultiPlan("cross_recording", "route-identity-discrimination", Kind.ORDER, 4, 6, 1),
    MultiPlan("anonymous_multi_clip", "landmark-cooccurrence", Kind.CLIPS, 3, 3, 1),
)


@dataclass(frozen=True, slots=True)
class SampleQuestion:
    """A question in words, its answer as letters, and its clips with their labels in the order they are shown."""

    question_id: str
    plan: SinglePlan | MultiPlan
    question: str
    options: tuple[str, ...]
    answer: tuple[str, ...]
    clips: tuple[tuple[Label, Clip], ...]


def single_questions(world: World, count: int, seed: int) -> Iterator[SampleQuestion]:
    """Yield questions of the single split."""
    for number in range(count):
        plan = SINGLE_PLANS[number % len(SINGLE_PLANS)]
        yield _question(random.Random(f"sample single {seed} {number}"), world, plan)


def multi_questions(world: World, count: int, seed: int) -> Iterator[SampleQuestion]:
    """Yield questions of the multi split."""
    for number in range(count):
        plan = MULTI_PLANS[number % len(MULTI_PLANS)]
        yield _question(random.Random(f"sample multi {seed} {number}"), world, plan)


def _question(rng: random.Random, world: World, plan: SinglePlan | MultiPlan) -> SampleQuestion:
    """Draw clips and a question about them until one fits the plan."""
    question_id = f"{rng.getrandbits(64):016x}"
    for _ in range(_MAX_DRAWS):
        clips = _clips(rng, world, plan)
        walks: dict[Label, list[Walk]] = {}
        for label, clip in clips:
            walks.setdefault(label, []).append(clip.scene.walk)
        same_place = isinstance(plan, MultiPlan) and plan.unit == "cross_recording"
        draft = compose(rng, plan.kind, walks, plan.n_options, plan.n_select, same_place=same_place)
        if draft is not None:
            return _in_words(question_id, plan, draft, clips, walks)
    raise RuntimeError(f"no question in {_MAX_DRAWS} draws for {plan}: the plan does not fit the world")


def _in_words(
    question_id: str,
    plan: SinglePlan | MultiPlan,
    draft: Draft,
    clips: Sequence[tuple[Label, Clip]],
    walks: dict[Label, list[Walk]],
) -> SampleQuestion:
    return SampleQuestion(
        question_id=question_id,
        plan=plan,
        question=str(draft.asking),
        options=tuple(draft.asking.option_text(statement) for statement in draft.statements),
        answer=tuple(string.ascii_uppercase[index] for index in draft.answer(walks)),
        clips=tuple(clips),
    )


def _clips(rng: random.Random, world: World, plan: SinglePlan | MultiPlan) -> list[tuple[Label, Clip]]:
    if isinstance(plan, SinglePlan):
        return [(None, world.singles[plan.clip])]
    if plan.unit == "whole_video":
        clips = sorted(rng.sample(rng.choice(world.excerpts), plan.n_clips), key=lambda clip: clip.start_s)
        return [(f"CLIP_{number}", clip) for number, clip in enumerate(clips, start=1)]
    if plan.unit == "cross_video":
        return _cross_video(rng, world, plan)
    if plan.unit == "multi_caption_multi_clip":
        clips = rng.sample(rng.choice(world.excerpts), plan.n_clips)
    elif plan.unit == "cross_recording":
        clips = rng.sample(rng.choice(world.routes), plan.n_clips)
    else:
        routes = [clip for route in world.routes for clip in route]
        clips = rng.sample([*world.runs, *routes] if plan.n_clips < 5 else world.runs, plan.n_clips)
    letters = rng.sample(string.ascii_uppercase[: max(6, plan.n_clips)], plan.n_clips)
    return [(f"CLIP_{letter}", clip) for letter, clip in zip(letters, clips, strict=True)]


def _cross_video(rng: random.Random, world: World, plan: MultiPlan) -> list[tuple[Label, Clip]]:
    """One stretch of several recordings, and of some recordings another stretch under the same label."""
    recordings = rng.sample(world.excerpts, plan.n_clips - plan.repeats)
    stretch, other_stretch = rng.sample(range(len(world.excerpts[0])), 2)
    labelled: list[tuple[Label, Clip]] = [
        (f"VIDEO_{letter}", recording[stretch])
        for letter, recording in zip(string.ascii_uppercase, recordings, strict=False)
    ]
    labelled += [(labelled[index][0], recordings[index][other_stretch]) for index in range(plan.repeats)]
    return labelled
