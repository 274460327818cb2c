"""What a message is to show of a multiple-choice question, before it is laid out: all that a probe can change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from egobench_tasks.asking.options import shuffle_options
from egobench_tasks.asking.prompts import ClipView
from egobench_tasks.asking.questions import ChoiceQuestion, Clip
from egobench_tasks.frames.spec import FrameSpec, Sampling, allocate_frames, printed_duration_s


class FrameRule(Protocol):
    """Which frames of a question's clips are shown. ``str`` names the rule for task configs and details."""

    def specs(self, clips: Sequence[Clip]) -> tuple[FrameSpec, ...]:
        """Return what is taken of each clip, in the clips' order; nothing where no clip is shown."""


@dataclass(frozen=True, slots=True)
class SharedFrames:
    """``total`` frames shared over the clips by duration, ``floor`` a clip at least (PROTOCOL 1.2)."""

    total: int
    floor: int

    def specs(self, clips: Sequence[Clip]) -> tuple[FrameSpec, ...]:
        """See `FrameRule`."""
        shares = allocate_frames([printed_duration_s(clip.duration_s) for clip in clips], self.total, self.floor)
        return tuple(FrameSpec(sampling=Sampling.BUDGET, count=count) for count in shares)

    def __str__(self) -> str:
        return f"{FrameSpec(sampling=Sampling.BUDGET, count=self.total).key()} at least {self.floor} a clip"


@dataclass(frozen=True, slots=True)
class OtherBudget:
    """Another number of frames than the benchmark's, shared as `SharedFrames` are.

    A clip gets ``min(4, total // clips)`` at least, and one in any case: a floor of 4 would show 40
    frames of ten clips where 8 were asked for.
    """

    total: int

    def specs(self, clips: Sequence[Clip]) -> tuple[FrameSpec, ...]:
        """See `FrameRule`."""
        return SharedFrames(self.total, max(1, min(4, self.total // len(clips)))).specs(clips)

    def __str__(self) -> str:
        return f"{FrameSpec(sampling=Sampling.BUDGET, count=self.total).key()} at least min(4, share) a clip"


@dataclass(frozen=True, slots=True)
class CentralFrame:
    """The one frame in the middle of each clip."""

    def specs(self, clips: Sequence[Clip]) -> tuple[FrameSpec, ...]:
        """See `FrameRule`."""
        return tuple(FrameSpec(sampling=Sampling.CENTRAL) for _ in clips)

    def __str__(self) -> str:
        return FrameSpec(sampling=Sampling.CENTRAL).key()


@dataclass(frozen=True, slots=True)
class NoFrames:
    """The words alone."""

    def specs(self, clips: Sequence[Clip]) -> tuple[FrameSpec, ...]:
        """See `FrameRule`."""
        return ()

    def __str__(self) -> str:
        return "none"


@dataclass(frozen=True, slots=True)
class ChoiceView:
    """What a message shows of a question.

    ``question``: its words may be changed; its id, answer and clips are the dataset's. ``clips``: those
    shown, in the order shown. ``specs``: what is taken of each clip of the question, by its index; none
    where no clip is shown. ``did``: what a probe did, in words. ``implied``: the original letters that
    are right after the change, where it moves the answer and the options say whereto; else None.
    """

    question: ChoiceQuestion
    shown_to_original: Mapping[str, str]
    clips: tuple[ClipView, ...]
    specs: tuple[FrameSpec, ...]
    did: str = ""
    implied: frozenset[str] | None = None

    @property
    def labels(self) -> list[str]:
        """The labels under which clips are shown, each once, in the order shown."""
        return list(dict.fromkeys(clip.label for clip in self.clips if clip.label is not None))

    @property
    def texts(self) -> list[str]:
        """The question and its options, the dataset's order."""
        return [self.question.question, *self.question.options]


def plain_view(question: ChoiceQuestion, frames: FrameRule) -> ChoiceView:
    """Return a question as the benchmark shows it, by a rule of frames."""
    specs = frames.specs(question.clips)
    shown = tuple(ClipView(index, clip.label) for index, clip in enumerate(question.clips)) if specs else ()
    return ChoiceView(question, shuffle_options(question.question_id, question.letters), shown, specs)
