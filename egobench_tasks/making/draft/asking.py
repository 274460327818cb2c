"""Asking a model for captions and questions, through the endpoint host: its journal, nothing asked twice."""

import asyncio
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from egobench_tasks.asking.choice import readable
from egobench_tasks.asking.open_settings import MAX_SHORT_SIDE_PX
from egobench_tasks.asking.prompts import ClipFrames, Segment, Text
from egobench_tasks.frames.lazy import FrameList, FrameRequest
from egobench_tasks.frames.spec import FrameSpec, Jpeg, Sampling
from egobench_tasks.hosts.endpoint.questions import EndpointAnswers, EndpointQuestion
from egobench_tasks.hosts.endpoint.settings import EndpointSettings
from egobench_tasks.making.draft.candidate import OPEN_KINDS, Candidate
from egobench_tasks.making.draft.narrations import PlannedClip, as_text
from egobench_tasks.making.draft.reading import Proposal, UnreadableReply, read_caption, read_proposals
from egobench_tasks.making.draft.wording import Wording
from egobench_tasks.runs.journal import Answer

MAX_FRAMES = 64
CAPTION_TOKENS = 1024
QUESTIONS_TOKENS = 4096

_Key = TypeVar("_Key", bound=Hashable)
_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class DraftClip:
    """A clip to ask about: its file, what its bytes are, how long it lasts in seconds, and where it comes from."""

    path: str
    name: str
    sha256: str
    duration_s: float
    planned: PlannedClip


@dataclass(frozen=True, slots=True)
class Drafted:
    """What came of it. ``failures``: what gave no question, by clip and kind, and why; ``n_asked_again``: replies that
    could not be read and were asked for again."""

    candidates: tuple[Candidate, ...]
    failures: Mapping[str, str]
    n_asked_again: int


def draft_questions(
    clips: Sequence[DraftClip],
    settings: EndpointSettings,
    kinds: Sequence[str],
    wording: Wording,
    *,
    per_clip: int = 1,
    retries: int = 3,
) -> Drafted:
    """Have each clip described, then ask for ``per_clip`` questions of each kind about it.

    A reply in another form is asked for again up to ``retries`` times, with the reason. Raises what
    `EndpointAnswers.ask` raises: a server that ignores images, or another model behind an old name.
    """
    answers = EndpointAnswers(settings)
    by_name = {clip.name: clip for clip in clips}
    captions = _ask_until_read(
        answers,
        {name: _caption_question(clip, wording) for name, clip in by_name.items()},
        lambda name, answer: read_caption(answer.text, answer.finish_reason),
        retries,
    )
    wanted = [(name, kind) for name in captions.read for kind in kinds]
    proposed = _ask_until_read(
        answers,
        {
            (name, kind): _kind_question(by_name[name], kind, captions.read[name], wording, per_clip)
            for name, kind in wanted
        },
        lambda key, answer: read_proposals(
            answer.text, answer.finish_reason, is_open=key[1] in OPEN_KINDS, duration_s=by_name[key[0]].duration_s
        )[:per_clip],
        retries,
    )
    found = {
        one.question_id: one
        for name, kind in wanted
        for proposal in proposed.read.get((name, kind), ())
        for one in [_candidate(by_name[name], kind, proposal, settings.model, wording.version)]
    }
    failures = {f"{name}: caption": reason for name, reason in captions.failures.items()}
    failures |= {f"{name}: {kind}": reason for (name, kind), reason in proposed.failures.items()}
    return Drafted(tuple(found.values()), failures, captions.n_asked_again + proposed.n_asked_again)


@dataclass(frozen=True, slots=True)
class _Replies(Generic[_Key, _Read]):
    read: Mapping[_Key, _Read]
    failures: Mapping[_Key, str]
    n_asked_again: int


def _ask_until_read(
    answers: EndpointAnswers,
    questions: Mapping[_Key, Callable[[str | None], EndpointQuestion]],
    read: Callable[[_Key, Answer], _Read],
    retries: int,
) -> _Replies[_Key, _Read]:
    """Ask each question until its reply can be read; ``questions`` make it, given why the last reply could not be."""
    done: dict[_Key, _Read] = {}
    failures: dict[_Key, str] = {}
    waiting: dict[_Key, str | None] = dict.fromkeys(questions)
    n_asked_again = 0
    for attempt in range(retries + 1):
        asked = {key: questions[key](reason) for key, reason in waiting.items()}
        unanswered = {one.question_id: one.reason for one in asyncio.run(answers.ask(list(asked.values())))}
        waiting = {}
        for key, question in asked.items():
            answer = answers.find(question)
            if answer is None:
                failures[key] = unanswered.get(question.question_id, "no answer; run the same command again")
                continue
            try:
                done[key] = read(key, answer)
            except UnreadableReply as error:
                waiting[key] = str(error)
        if not waiting:
            break
        n_asked_again += len(waiting) if attempt < retries else 0
    failures |= {
        key: f"{retries + 1} replies could not be used, the last because {why}" for key, why in waiting.items()
    }
    return _Replies(done, failures, n_asked_again)


def _caption_question(clip: DraftClip, wording: Wording) -> Callable[[str | None], EndpointQuestion]:
    told = as_text(clip.planned.narrations, clip.planned.start_s)
    return lambda reason: _question(clip, "caption", wording.caption(clip.duration_s, told, reason), CAPTION_TOKENS)


def _kind_question(
    clip: DraftClip, kind: str, caption: str, wording: Wording, per_clip: int
) -> Callable[[str | None], EndpointQuestion]:
    return lambda reason: _question(
        clip, kind, wording.questions(kind, per_clip, clip.duration_s, caption, reason), QUESTIONS_TOKENS
    )


def _question(clip: DraftClip, what: str, words: str, budget_tokens: int) -> EndpointQuestion:
    count = min(MAX_FRAMES, max(2, round(clip.duration_s)))
    spec = FrameSpec(sampling=Sampling.UNIFORM, count=count, max_short_side_px=MAX_SHORT_SIDE_PX, jpeg=Jpeg.LIBJPEG_95)
    frames = FrameList((FrameRequest(clip.path, clip.sha256, spec),))
    segments: tuple[Segment, ...] = (ClipFrames(0), Text(words))
    return EndpointQuestion(
        question_id=f"{clip.name} {what}",
        task=f"draft_{what}",
        prompt=readable(segments, frames),
        segments=segments,
        frames=frames,
        budget_tokens=budget_tokens,
    )


def _candidate(clip: DraftClip, kind: str, proposal: Proposal, model: str, wording: str) -> Candidate:
    return Candidate(
        kind=kind,
        clip=clip.name,
        recording=clip.planned.video,
        start_s=clip.planned.start_s,
        end_s=clip.planned.end_s,
        question=proposal.question,
        options=proposal.options,
        right=proposal.right,
        answer=proposal.answer,
        evidence_start_s=proposal.start_s,
        evidence_end_s=proposal.end_s,
        model=model,
        wording=wording,
    )
