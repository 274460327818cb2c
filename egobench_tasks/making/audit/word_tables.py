"""What an audit's page tells of words over all questions: position and length of right options, commonest answers."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from egobench_tasks.making.audit.models import longest_right_rate
from egobench_tasks.making.audit.question import AuditedQuestion, letter_of
from egobench_tasks.report.analyse.tables import Column, Kind, Table, table


def right_options(questions: Sequence[AuditedQuestion]) -> Table:
    """How often a right option stands at each letter, and how often the one right option is the longest."""
    rows: list[dict[str, Any]] = []
    choice = [question for question in questions if question.options]
    for index in range(max((len(question.options) for question in choice), default=0)):
        offered = [question for question in choice if index < len(question.options)]
        expected = math.fsum(len(question.right) / len(question.options) for question in offered)
        rows.append(
            {
                "what": f"right option at {letter_of(index)}",
                "found": sum(index in question.right for question in offered) / len(offered),
                "expected": expected / len(offered),
                "questions": len(offered),
                "p_value": None,
            }
        )
    hits, total, expected_share, p_value = longest_right_rate(choice)
    if total:
        rows.append(
            {
                "what": "the one right option is the longest",
                "found": hits / total,
                "expected": expected_share,
                "questions": total,
                "p_value": p_value,
            }
        )
    note = (
        "Letters are the dataset's; models see options in an order drawn by question id. p: two-sided, against chance."
    )
    columns = (
        Column("what", "", Kind.TEXT),
        Column("found", "Found", Kind.PERCENT),
        Column("expected", "By chance", Kind.PERCENT),
        Column("questions", "Questions", Kind.COUNT),
        Column("p_value", "p", Kind.P_VALUE),
    )
    return table("right_options", "Position and length of right options", note, columns, rows)


def common_answers(questions: Sequence[AuditedQuestion]) -> Table:
    """What always giving a kind's commonest answer would score, word for word."""
    kinds: dict[str, Counter[str]] = {}
    for question in questions:
        if not question.options:
            kinds.setdefault(question.kind, Counter())[question.answer.strip().rstrip(".").lower()] += 1
    rows = [
        {"kind": kind, "answer": answer, "share": count / counts.total(), "questions": counts.total()}
        for kind, counts in kinds.items()
        for answer, count in counts.most_common(1)
    ]
    columns = (
        Column("kind", "Category", Kind.TEXT),
        Column("answer", "Commonest answer", Kind.TEXT),
        Column("share", "Of the category", Kind.PERCENT),
        Column("questions", "Questions", Kind.COUNT),
    )
    note = "Answers compared without case and full stop; a guesser of the commonest one scores this share at least."
    return table("common_answers", "Commonest answers", note, columns, rows)
