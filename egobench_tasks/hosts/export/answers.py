"""Answers that came back from elsewhere: our own lines, OpenAI's batch output, or lmms-eval's logged samples.

Each is read as the endpoint host reads a reply (`servers.reply`): the same text, reasoning and failures come of it.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from egobench_tasks.documents import parse_json
from egobench_tasks.errors import InputError
from egobench_tasks.hosts.export.manifest import Manifest
from egobench_tasks.scoring.endings import NOT_GIVEN
from egobench_tasks.servers.reply import BadReply, Reply, checked_reply, read_completion
from egobench_tasks.texts import well_formed

_SHOWN = 10
_REASON_CHARACTERS = 200
_OURS = '{"question_id": …, "text": …, "finish_reason": …}'


@dataclass(frozen=True, slots=True)
class Given:
    """What came back for a question: a reply, or the reason why there is none."""

    reply: Reply | None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class _Line:
    where: str
    name: str
    task: str | None
    given: Given


def read_answers(paths: Sequence[Path], manifest: Manifest) -> dict[str, Given]:
    """Return what the files say of an export's questions, by their ids there.

    A failure counts only where no answer of the same question stands beside it. Raises ``InputError`` naming the line
    that is no answer, and the questions that are answered twice, or that the export does not have.
    """
    ids = _Ids(manifest)
    found: dict[str, Given] = {}
    unknown: list[str] = []
    doubled: Counter[str] = Counter()
    for line in (line for path in paths for line in _lines(path)):
        key = ids.find(line)
        if key is None:
            unknown.append(f"{line.name} ({line.where})")
        elif key not in found or found[key].reply is None:
            found[key] = line.given
        elif line.given.reply is not None:
            doubled[key] += 1
    if unknown:
        raise InputError(f"{len(unknown)} answers are to no question of this export: {_listed(unknown)}")
    if doubled:
        raise InputError(
            f"{len(doubled)} questions are answered more than once: {_listed(sorted(doubled))}; keep one each"
        )
    return found


class _Ids:
    """Finds a question by its id in the export, or by the dataset's own where one task alone has it."""

    def __init__(self, manifest: Manifest) -> None:
        self._known = {question.id for question in manifest.written}
        self._by_question: dict[str, list[str]] = {}
        for question in manifest.written:
            self._by_question.setdefault(question.question_id, []).append(question.id)

    def find(self, line: _Line) -> str | None:
        if line.name in self._known:
            return line.name
        keys = self._by_question.get(line.name, [])
        if line.task is not None:
            wanted = f"{line.task.partition('|')[0]}/{line.name}"
            return wanted if wanted in keys else None
        if len(keys) > 1:
            raise InputError(
                f"{line.where}: {line.name} is a question of several tasks here ({_listed(keys)}); give the `id` of "
                "the exported line, or its `task` too"
            )
        return keys[0] if keys else None


def _lines(path: Path) -> Iterator[_Line]:
    try:
        with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
            for number, text in enumerate(file, start=1):
                if text.strip():
                    yield _line(text, f"{path}:{number}")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error


def _line(text: str, where: str) -> _Line:
    try:
        row = parse_json(text)
    except ValueError as error:
        raise InputError(f"{where}: is no JSON ({type(error).__name__}: {error}); was the file cut short?") from error
    if isinstance(row, Mapping):
        if "custom_id" in row:
            return _Line(where, _text(row, "custom_id", where), None, _of_batch(row))
        if "filtered_resps" in row or "resps" in row:
            return _Line(where, _text(row, "target", where), None, _of_lmms_eval(row, where))
        if "text" in row and ("id" in row or "question_id" in row):
            task = _text(row, "task", where) if row.get("task") is not None else None
            return _Line(where, _text(row, "id" if "id" in row else "question_id", where), task, _of_ours(row, where))
    raise InputError(
        f"{where}: is no answer; expected {_OURS}, a line of OpenAI's batch output, or lmms-eval's samples"
    )


def _text(row: Mapping[str, Any], name: str, where: str) -> str:
    value = row.get(name)
    if not isinstance(value, str):
        raise InputError(f"{where}: {name} must be text, got {str(value)[:_REASON_CHARACTERS]!r}")
    return well_formed(value)


def _of_ours(row: Mapping[str, Any], where: str) -> Given:
    reason = row.get("finish_reason")
    return _checked(
        "" if row["text"] is None else _text(row, "text", where),
        "" if row.get("reasoning") is None else _text(row, "reasoning", where),
        NOT_GIVEN if reason is None or reason == "" else _text(row, "finish_reason", where),
    )


def _of_lmms_eval(row: Mapping[str, Any], where: str) -> Given:
    """lmms-eval logs texts alone: why a generation ended is not known."""
    replies = row.get("filtered_resps") or row.get("resps")
    while isinstance(replies, list) and replies:
        replies = replies[0]
    if not isinstance(replies, str):
        raise InputError(f"{where}: filtered_resps holds no text")
    return _checked(well_formed(replies), "", NOT_GIVEN)


def _of_batch(row: Mapping[str, Any]) -> Given:
    response, error = row.get("response"), row.get("error")
    if error or not isinstance(response, Mapping) or response.get("status_code", HTTPStatus.OK) != HTTPStatus.OK:
        return Given(None, f"the batch failed it: {json.dumps(error or response, default=str)[:_REASON_CHARACTERS]}")
    try:
        return Given(read_completion(response.get("body")))
    except BadReply as bad:
        return Given(None, str(bad))


def _checked(text: str, reasoning: str, finish_reason: str) -> Given:
    try:
        return Given(checked_reply(text, reasoning, finish_reason, None, None))
    except BadReply as bad:
        return Given(None, str(bad))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
