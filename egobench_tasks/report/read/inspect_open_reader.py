"""Reading Inspect logs (``.eval``) of `egobench_tasks/egotempo`, with the verdicts that stand in them."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from egobench_tasks.asking.open import find_category
from egobench_tasks.asking.open_settings import DEFAULT_SETTING, category_slug
from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.errors import InputError
from egobench_tasks.hosts.lighteval.saved_task import UNRECORDED, Inputs, SavedJudge
from egobench_tasks.judge.identity import JudgeIdentity, from_record
from egobench_tasks.judge.verdict import Verdict
from egobench_tasks.report.read.inspect_logs import name_of, read_headers, read_samples, settings_of, shaping
from egobench_tasks.report.read.open_responses import OpenFacts, OpenResponse, OpenRun, OpenTask
from egobench_tasks.runs.journal import REQUEST_FAILED

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

_OPEN_TASK = re.compile(rf"(?:\w+/)?{EGOTEMPO.name}")
_ALL_CATEGORIES = tuple(map(category_slug, EGOTEMPO.category_codes))
_REQUIRED = ("question_id", "question", "answer", "category")
_NO_JUDGE = "none"
_JUDGE = re.compile(r"(?P<name>.+), prompt (?P<wording>\S+)")


def find_inspect_open_runs(path: Path) -> list[OpenRun]:
    """Return the runs of EgoTempo in an Inspect log or in a folder of them, one a model and set of settings.

    Of several logs that asked one category by one setting the newest counts. Raises ``InputError`` for a log that
    cannot be read.
    """
    by_model: dict[str, dict[str, list[OpenTask]]] = {}
    headers = [(log, header) for log, header in read_headers(path) if _OPEN_TASK.fullmatch(header.eval.task)]
    frames: dict[str, set[str | None]] = {}
    for _, header in headers:
        frames.setdefault(_setting(header), set()).add(settings_of(header).frames)
    for log, header in headers:
        torn = len(frames[_setting(header)]) > 1
        tasks = by_model.setdefault(header.eval.model, {}).setdefault(shaping(header, with_frames=torn), [])
        tasks[:] = [*_without(tasks, newer := _task(log, header)), newer]
    return [
        OpenRun(
            name=(name := name_of(model, settings, len(runs))),
            model=name,
            folder=path,
            tasks=tuple(tasks),
            mixed=len(runs) > 1,
        )
        for model, runs in sorted(by_model.items())
        for settings, tasks in runs.items()
    ]


def _without(tasks: Sequence[OpenTask], newer: OpenTask) -> Iterator[OpenTask]:
    """Yield older tasks with the categories that the newer one does not answer."""
    for task in tasks:
        left = tuple(one for one in task.categories if task.setting != newer.setting or one not in newer.categories)
        if left:
            yield replace(task, categories=left)


def _task(log: Path, header: "EvalLog") -> OpenTask:
    category = _asked_with(header, "category")
    settings = settings_of(header)
    judge = _judge(log, header.eval.metadata or {})
    return OpenTask(
        setting=_setting(header),
        categories=_ALL_CATEGORIES if category is None else (category_slug(find_category(category)),),
        source=log,
        responses=partial(_responses, log, judge),
        inputs=Inputs(settings.prompt, settings.frames, settings.dataset),
        judge=judge,
    )


def _setting(header: "EvalLog") -> str:
    return _asked_with(header, "setting") or DEFAULT_SETTING


def _asked_with(header: "EvalLog", name: str) -> str | None:
    value = header.eval.task_args.get(name)
    return None if value is None else str(value)


def _judge(log: Path, metadata: Mapping[str, Any]) -> SavedJudge | None:
    """The judge whose verdicts stand in a log; a log of before its identity was kept has its name and wording alone."""
    try:
        if (record := metadata.get("judge_identity")) is not None:
            identity = from_record(record)
            return SavedJudge(identity.name, identity.wording, identity.digest)
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{log}: its metadata's judge_identity cannot be read ({error!r})") from error
    said = str(metadata.get("judge", ""))
    if said == _NO_JUDGE:
        return None
    match = _JUDGE.fullmatch(said)
    if match is None:
        return UNRECORDED
    return SavedJudge(match["name"], match["wording"], JudgeIdentity(match["name"], match["wording"]).digest)


def _responses(log: Path, judge: SavedJudge | None) -> Iterator[OpenResponse]:
    """Yield a response a question: the first epoch's, which scores."""
    first: dict[str, EvalSample] = {}
    for sample in read_samples(log, _REQUIRED):
        question_id = sample.metadata["question_id"]
        if question_id not in first or sample.epoch < first[question_id].epoch:
            first[question_id] = sample
    for sample in first.values():
        yield _response(sample, judged=judge is not None)


def _response(sample: "EvalSample", *, judged: bool) -> OpenResponse:
    from egobench_tasks.hosts.inspect.attempts import counted_attempt

    facts, said = sample.metadata, counted_attempt(sample.metadata, sample.output)
    return OpenResponse(
        question_id=facts["question_id"],
        text=said.text,
        finish_reason=REQUEST_FAILED if sample.error is not None else said.finish_reason,
        reasoning=said.reasoning,
        facts=OpenFacts(facts["question"], facts["answer"], facts["category"]),
        verdict=_verdict(sample) if judged else None,
    )


def _verdict(sample: "EvalSample") -> Verdict | None:
    for score in (sample.scores or {}).values():
        value = score.value
        if isinstance(value, Mapping) and value.get("judged"):
            rating = value.get("judge_score")
            known = float(rating) if isinstance(rating, int | float) and not math.isnan(rating) else None
            return Verdict(value.get("judge_accuracy") == 1, known, score.explanation)
    return None
