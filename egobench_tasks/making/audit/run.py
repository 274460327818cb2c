"""`egobench audit`: read, ask, find, write."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from egobench_tasks.asking.open import to_judge
from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.data import DatasetLocation, pin
from egobench_tasks.errors import InputError
from egobench_tasks.files import check_output_folder
from egobench_tasks.hosts.endpoint.settings import EndpointSettings, load_endpoint_settings
from egobench_tasks.judge.client import judge
from egobench_tasks.judge.prompt import JudgeItem
from egobench_tasks.judge.settings import JudgeSettings
from egobench_tasks.judge.store import VerdictStore, default_store_path
from egobench_tasks.making.audit.asked import AskedAll, Judge, ask_models
from egobench_tasks.making.audit.document import audit_document
from egobench_tasks.making.audit.files import write_audit
from egobench_tasks.making.audit.finding import Finding, by_rule
from egobench_tasks.making.audit.models import audit_replies
from egobench_tasks.making.audit.question import load_audited
from egobench_tasks.making.audit.views import choice_views, open_views, statements
from egobench_tasks.making.audit.words import audit_words
from egobench_tasks.runs.repeats import check_repeats
from egobench_tasks.scoring.answers import NORMAL_STOP


def audit(
    location: DatasetLocation,
    models: Sequence[Path],
    out: Path,
    *,
    repeats: int = 3,
    judge_settings: JudgeSettings | None = None,
) -> tuple[list[Finding], list[Path]]:
    """Audit a dataset of either benchmark and write the findings and their report into ``out``.

    ``models`` are endpoint files; without any, words alone are looked at. ``repeats``: how often each question is
    asked in each view. Open answers are judged by ``judge_settings``; without a judge they stay unjudged.
    Returns the findings and the files written. Raises ``InputError`` for a dataset or a model's file that cannot be
    used, before anything is asked, and ``EgobenchError`` for a server that ignores images.
    """
    check_output_folder(out)
    settings = read_models(models)
    for one in settings.values():
        check_repeats(repeats, one.temperature, one.seed, f"temperature (0.7) for {one.model}, or a seed that it takes")
    benchmark, rows, questions = load_audited(pin(location))
    choice = benchmark is EGOGEARS
    findings = audit_words(questions)
    said: AskedAll | None = None
    if settings:
        views = [view for row in rows for view in (choice_views(row) if choice else open_views(row))]
        options = [one for row in rows for one in statements(row)] if choice else []
        said = ask_models(settings, views, options, repeats, _judge_of(judge_settings))
        findings += audit_replies(questions, said)
    findings = by_rule(findings)
    return findings, write_audit(audit_document(benchmark.title, questions, findings, said), findings, out)


def read_models(paths: Sequence[Path]) -> Mapping[str, EndpointSettings]:
    """Read endpoint files, by the model's name. Raises ``InputError`` where two have one name, or a key is missing."""
    models: dict[str, EndpointSettings] = {}
    for path in paths:
        settings = load_endpoint_settings(path)
        settings.api_key()
        if settings.model in models:
            raise InputError(f"{path}: model {settings.model!r} is given twice; two models need two names")
        models[settings.model] = settings
    return models


def _judge_of(settings: JudgeSettings | None) -> Judge | None:
    if settings is None:
        return None

    def right(answers: Sequence[tuple[Mapping[str, Any], str]]) -> list[bool | None]:
        items = [to_judge(facts, text, NORMAL_STOP) for facts, text in answers]
        asked = [item for item in items if isinstance(item, JudgeItem)]
        verdicts = iter(judge(asked, settings, VerdictStore(default_store_path())))
        judgements = [next(verdicts) if isinstance(item, JudgeItem) else item for item in items]
        return [None if one.verdict is None else one.verdict.correct for one in judgements]

    return right
