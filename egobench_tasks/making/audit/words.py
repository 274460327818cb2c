"""What words alone give away: no model, no frame. Each rule is one function from questions to findings.

Thresholds are on the cautious side: a finding sends a person to a question, and ten idle ones a day teach a person to
stop looking. They were set so that the sample benchmark, which is sound by construction, has no finding.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rapidfuzz import fuzz

from egobench_tasks.making.audit.finding import Finding, Rule, by_rule
from egobench_tasks.making.audit.lists import either_or, incomplete_lists, lists_in_order
from egobench_tasks.making.audit.question import AuditedQuestion, pairs_on_the_same_footage

SAME_QUESTION = 90.0
"""Token similarity in percent (rapidfuzz's ``token_sort_ratio``) from which two texts say the same."""
LONGER_BY = 1.5
"""A right option this many times as long as the longest wrong one stands out."""
LONGER_BY_CHARACTERS = 20
SHARED_WORDS = 3
"""So many content words shared by the question and a right option, and by no wrong one, point at it."""


_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_LABEL = re.compile(r"\b(?:CLIP|VIDEO)_[A-Z0-9]+\b")
_CLOCK = re.compile(r"(?<![\d:])\d{1,2}:[0-5]\d(?::[0-5]\d)?(?![\d:])")
_SECOND = re.compile(
    r"\b(?:at|around|after|by|between|until|from)\s+(?:the\s+)?\d+(?:\.\d+)?(?:st|nd|rd|th)?[\s-]*(?:s|sec|secs|second)s?\b"
    r"|\bframe\s+(?:no\.?\s*)?\d+\b",
    re.IGNORECASE,
)
_RECORDING = re.compile(r"\b(?:P\d{2}_\w+|Traj\d{2}|Trial\d{2}|\w*(?:SlowWalk|FastWalk|Running)_\w+)\b")
_VOCABULARY = tomllib.loads((Path(__file__).parent / "vocabulary.toml").read_text(encoding="utf-8"))
_TURNING_WORDS, _GLUE_WORDS, _STOP_WORDS = (
    frozenset(_VOCABULARY[name].split()) for name in ("turning", "glue", "stop")
)


def audit_words(questions: Sequence[AuditedQuestion]) -> list[Finding]:
    """Return every finding of every rule, in the order of `Rule`, then of the questions."""
    found = [finding for rule in RULES for finding in rule(questions)]
    place = {question.question_id: number for number, question in enumerate(questions)}
    return by_rule(sorted(found, key=lambda finding: place[finding.question_id]))


def content_words(text: str) -> frozenset[str]:
    """The words of a text that carry meaning, in lower case, a plural ``s`` taken off."""
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(_singular(word) for word in words if word not in _STOP_WORDS and len(word) > 2)


def repeated(questions: Sequence[AuditedQuestion]) -> Iterator[Finding]:
    """Questions that ask the same of the same footage; with other gold answers, one of the two is wrong."""
    for question, other in pairs_on_the_same_footage(questions):
        alike = fuzz.token_sort_ratio(question.question.lower(), other.question.lower())
        if alike < SAME_QUESTION or _turned(question.question, other.question) or not _same_options(question, other):
            continue
        same_answer = fuzz.token_sort_ratio(question.answer.lower(), other.answer.lower())
        rule = Rule.DUPLICATE if same_answer >= SAME_QUESTION else Rule.CONTRADICTION
        yield Finding(
            other.question_id,
            rule,
            f"asks {other.question!r} (answer {other.answer!r}) where {question.question_id} asks "
            f"{question.question!r} (answer {question.answer!r})",
            (question.question_id,),
            {"question_similarity": round(alike, 1), "answer_similarity": round(same_answer, 1)},
        )


def leaked_labels(questions: Sequence[AuditedQuestion]) -> Iterator[Finding]:
    """Labels that no clip of the question bears, and labels that the right options alone name."""
    for question in questions:
        texts = (question.question, *question.options)
        strangers = sorted({label for text in texts for label in _LABEL.findall(text)} - set(question.labels))
        if strangers:
            message = f"names {', '.join(strangers)}; its clips are {', '.join(question.labels) or 'unlabelled'}"
            yield Finding(question.question_id, Rule.LEAK_LABEL, message, (), {"labels": strangers})
        elif _only_the_right_name_a_label(question):
            message = "its right options name a clip, and no wrong one does"
            yield Finding(question.question_id, Rule.LEAK_LABEL, message, (), {"right": question.answer})


def leaked_times(questions: Sequence[AuditedQuestion]) -> Iterator[Finding]:
    """A moment of the footage named by clock, second or frame: frames carry no times, so it tells who made it."""
    yield from _matches(questions, Rule.LEAK_TIME, (_CLOCK, _SECOND), "names the time {}")


def leaked_names(questions: Sequence[AuditedQuestion]) -> Iterator[Finding]:
    """The name of a recording, with its participant, route, speed or light."""
    yield from _matches(questions, Rule.LEAK_NAME, (_RECORDING,), "names the recording {}")


def answered_by_itself(questions: Sequence[AuditedQuestion]) -> Iterator[Finding]:
    """Open questions whose answer adds no word of its own, in no list to be chosen from or put in order."""
    for question in questions:
        words = _tokens(question.answer) - _GLUE_WORDS
        if question.options or not words or not words <= _tokens(question.question):
            continue
        if _enumerates(question.question):
            continue  # "in which order: a, b, c?" must hold its answer's words
        message = f"answer {question.answer!r} is in the question {question.question!r}"
        yield Finding(question.question_id, Rule.ANSWER_IN_QUESTION, message, (), {"words": sorted(words)})


def shared_words(questions: Sequence[AuditedQuestion]) -> Iterator[Finding]:
    """Right options that share words with the question which no wrong option has."""
    for question in questions:
        if not question.wrong_options:
            continue
        asked = content_words(question.question)
        wrong = frozenset().union(*map(content_words, question.wrong_options))
        for index in sorted(question.right):
            shared = (content_words(question.options[index]) & asked) - wrong
            if len(shared) >= SHARED_WORDS:
                message = f"option {question.options[index]!r} shares {', '.join(sorted(shared))} with the question"
                yield Finding(question.question_id, Rule.SHARED_WORDS, message, (), {"words": sorted(shared)})
                break


def longest_is_right(questions: Sequence[AuditedQuestion]) -> Iterator[Finding]:
    """Questions with one right option that is far longer than every wrong one."""
    for question in questions:
        if len(question.right) != 1 or not question.wrong_options:
            continue
        (right,) = (len(question.options[index]) for index in question.right)
        wrong = max(map(len, question.wrong_options))
        if right >= LONGER_BY * wrong and right - wrong >= LONGER_BY_CHARACTERS:
            message = f"its right option has {right} characters, the longest wrong one {wrong}"
            evidence = {"right_characters": right, "longest_wrong_characters": wrong}
            yield Finding(question.question_id, Rule.LONGEST_IS_RIGHT, message, (), evidence)


RULES: tuple[Callable[[Sequence[AuditedQuestion]], Iterator[Finding]], ...] = (
    repeated,
    leaked_labels,
    leaked_times,
    leaked_names,
    answered_by_itself,
    incomplete_lists,
    lists_in_order,
    either_or,
    shared_words,
    longest_is_right,
)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _tokens(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))


def _turned(text: str, other: str) -> bool:
    """Whether two texts differ in a word that turns what is asked: an order, a side, a number."""
    return any(word in _TURNING_WORDS or word.isdigit() for word in _tokens(text) ^ _tokens(other))


def _same_options(question: AuditedQuestion, other: AuditedQuestion) -> bool:
    """Whether two questions offer much the same to choose from; a template asked with other options is another one."""
    if not question.options and not other.options:
        return True
    return fuzz.token_sort_ratio(" ".join(sorted(question.options)), " ".join(sorted(other.options))) >= SAME_QUESTION


def _only_the_right_name_a_label(question: AuditedQuestion) -> bool:
    right = [_LABEL.search(question.options[index]) is not None for index in sorted(question.right)]
    wrong = [_LABEL.search(text) is not None for text in question.wrong_options]
    return bool(right) and all(right) and len(wrong) > 1 and not any(wrong)


def _enumerates(text: str) -> bool:
    return text.count(",") >= 1 or " or " in text


def _matches(
    questions: Sequence[AuditedQuestion], rule: Rule, patterns: Sequence[re.Pattern[str]], message: str
) -> Iterator[Finding]:
    for question in questions:
        texts = (question.question, *(question.options or (question.answer,)))
        found = [match[0] for text in texts for pattern in patterns for match in pattern.finditer(text)]
        if found:
            yield Finding(question.question_id, rule, message.format(", ".join(map(repr, found))), (), {"found": found})
