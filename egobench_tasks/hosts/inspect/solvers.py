"""How an Inspect sample becomes the interleaved message, with frames that live no longer than one request."""

from collections.abc import Mapping, Sequence
from typing import Any

import anyio.to_thread
from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver

from egobench_tasks.asking.messages import from_record, jpeg_parts
from egobench_tasks.frames.errors import ClipError
from egobench_tasks.frames.lazy import FrameList, FrameRequest
from egobench_tasks.frames.spec import FrameSpec
from egobench_tasks.hosts.endpoint.message import data_uri
from egobench_tasks.hosts.inspect.attempts import ask, unreadable_clip


@solver
def ask_with_frames(log_images: bool = False) -> Solver:
    """Decode a sample's frames, ask the model, and let go of the frames.

    Inspect logs images unless its user says ``--no-log-images``; here it takes ``log_images`` to log
    them. A question whose clip cannot be read gets an empty output with the error in it, and scores 0.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        segments, frames = from_record(state.metadata["segments"]), frames_of(state.metadata["clips"])
        readable = state.messages
        try:
            parts = await anyio.to_thread.run_sync(jpeg_parts, segments, frames)
        except ClipError as error:
            unreadable_clip(state, error)
            return state
        state.messages = [ChatMessageUser(content=[_content(part) for part in parts])]
        try:
            await ask(state, generate)
            return state
        finally:
            if not log_images:
                _forget_images(state, readable)

    return solve


def frames_record(frames: FrameList) -> list[dict[str, str]]:
    """A question's frames as plain values for a sample's metadata."""
    return [{"path": request.path, "sha256": request.sha256, "spec": request.spec.key()} for request in frames.requests]


def frames_of(records: Sequence[Mapping[str, Any]]) -> FrameList:
    """The inverse of `frames_record`."""
    return FrameList(
        [FrameRequest(record["path"], record["sha256"], FrameSpec.parse(record["spec"])) for record in records]
    )


def _content(part: str | bytes) -> Content:
    return ContentText(text=part) if isinstance(part, str) else ContentImage(image=data_uri(part))


def _forget_images(state: TaskState, readable: Sequence[ChatMessage]) -> None:
    """Put the readable message in place of the one with frames, in the state and in this sample's events."""
    state.messages = [*readable, *state.messages[1:]]
    for event in transcript().events:
        if isinstance(event, ModelEvent):
            event.input = [*readable, *event.input[1:]]
