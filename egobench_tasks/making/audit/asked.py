"""Asking models for an audit, through the endpoint host: journal, growing budgets, nothing asked twice."""

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from egobench_tasks.hosts.endpoint.questions import EndpointAnswers, Unanswered
from egobench_tasks.hosts.endpoint.settings import EndpointSettings
from egobench_tasks.making.audit.views import AskedStatement, AskedView, View
from egobench_tasks.making.seen import Seen
from egobench_tasks.runs.journal import Answer
from egobench_tasks.scoring.answers import open_answer
from egobench_tasks.scoring.choice import score_text


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply of one model to one question in one view. ``said``: the original letters chosen, or an open answer's
    text; empty where the reply holds no answer. ``right`` is None where nobody judged it."""

    model: str
    question_id: str
    view: View
    said: str
    right: bool | None
    chance: float


@dataclass(frozen=True, slots=True)
class SeenOption:
    """What one model saw of one option; ``seen`` is None where its reply is none of the three verdicts."""

    model: str
    question_id: str
    option: int
    seen: Seen | None


@dataclass(frozen=True, slots=True)
class AskedAll:
    """All that models said. ``unanswered``: what got no reply, by model; it is nobody's error."""

    replies: tuple[Reply, ...]
    seen: tuple[SeenOption, ...]
    unanswered: Mapping[str, Sequence[Unanswered]]


Judge = Callable[[Sequence[tuple[Mapping[str, Any], str]]], Sequence[bool | None]]
"""Tells of open answers, given with their questions' facts, which are right; None where it cannot say."""


def ask_models(
    models: Mapping[str, EndpointSettings],
    views: Sequence[AskedView],
    options: Sequence[AskedStatement],
    repeats: int,
    judge: Judge | None = None,
) -> AskedAll:
    """Ask every model every view ``repeats`` times and every option once. Kept answers are not asked for again.

    Raises what `EndpointAnswers.ask` raises: a server that ignores images, or another model behind an old name.
    """
    replies: list[Reply] = []
    seen: list[SeenOption] = []
    unanswered: dict[str, Sequence[Unanswered]] = {}
    for name, settings in models.items():
        answers = EndpointAnswers(settings)
        asked = [(view, replace(view.asked, repeat=number)) for number in range(repeats) for view in views]
        questions = [question for _, question in asked] + [option.asked for option in options]
        unanswered[name] = asyncio.run(answers.ask(questions))
        replies += _replies(name, [(view, answers.find(question)) for view, question in asked], judge)
        seen += [
            SeenOption(name, option.question_id, option.option, read_seen(answer))
            for option in options
            if (answer := answers.find(option.asked)) is not None
        ]
    return AskedAll(tuple(replies), tuple(seen), unanswered)


def read_seen(answer: Answer) -> Seen | None:
    """Read a verdict on a statement: exactly one JSON object with a verdict, after the reasoning."""
    text = open_answer(answer.text, answer.finish_reason)
    if text is None:
        return None
    found = [verdict for block in re.findall(r"\{[^{}]*\}", text) if (verdict := _verdict(block)) is not None]
    return found[0] if len(set(found)) == 1 else None


def _verdict(block: str) -> Seen | None:
    try:
        said = json.loads(block).get("verdict")
        return Seen(str(said).strip().lower().replace("_", " "))
    except ValueError:
        return None


def _replies(model: str, found: Iterable[tuple[AskedView, Answer | None]], judge: Judge | None) -> list[Reply]:
    answered = [(view, answer) for view, answer in found if answer is not None]
    choice = [(view, answer) for view, answer in answered if "shown_letters" in view.facts]
    opened = [(view, answer) for view, answer in answered if "shown_letters" not in view.facts]
    return [_choice_reply(model, view, answer) for view, answer in choice] + _open_replies(model, opened, judge)


def _choice_reply(model: str, view: AskedView, answer: Answer) -> Reply:
    scored = score_text(view.facts, answer.text, answer.finish_reason)
    letters = dict(zip(view.facts["shown_letters"], view.facts["original_letters"], strict=True))
    said = "".join(sorted(letters[letter] for letter in scored.parsed.letters or ()))
    return Reply(model, view.asked.question_id, view.view, said, scored.score.exact_set == 1, scored.chance)


def _open_replies(model: str, answered: Sequence[tuple[AskedView, Answer]], judge: Judge | None) -> list[Reply]:
    said = [open_answer(answer.text, answer.finish_reason) or "" for _, answer in answered]
    judged: Sequence[bool | None] = [None] * len(said)
    if judge is not None:
        judged = judge([(view.facts, text) for (view, _), text in zip(answered, said, strict=True)])
    return [
        Reply(model, view.asked.question_id, view.view, text, right if text else False, 0.0)
        for (view, _), text, right in zip(answered, said, judged, strict=True)
    ]
