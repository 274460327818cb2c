"""An audit as a document: how many questions each rule finds, every finding, and how models do on how little."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from egobench_tasks.making.audit.asked import AskedAll
from egobench_tasks.making.audit.finding import TITLES, Finding, Rule
from egobench_tasks.making.audit.models import frame_to_video, longest_right_rate, view_figures
from egobench_tasks.making.audit.question import AuditedQuestion
from egobench_tasks.report.analyse.tables import Column, Kind, Table, table
from egobench_tasks.report.show.document import Document
from egobench_tasks.report.show.section import Section

_NOTHING_DROPPED = (
    "A finding is a reason for a person to look, no verdict: nothing was dropped or changed. "
    "`egobench review --findings findings.jsonl` shows these questions first."
)


def audit_document(
    title: str, questions: Sequence[AuditedQuestion], findings: Sequence[Finding], said: AskedAll | None
) -> Document:
    """Lay out an audit. ``said`` is None where no model was asked."""
    sections = [
        Section("findings", "Findings", _NOTHING_DROPPED, (_rules(questions, findings), _list(findings)), ()),
        Section("words", "What words give away", "", (_right_options(questions), _common_answers(questions)), ()),
    ]
    notices: list[str] = []
    if said is None:
        notices.append("No model was asked: this is what words alone tell. Give --models for the rest.")
    else:
        sections.append(Section("models", "How little is enough", "", (_views(said),), ()))
        notices += [
            f"{model}: {len(missing)} requests got no answer; their questions rest on fewer replies; run again"
            for model, missing in said.unanswered.items()
            if missing
        ]
    return Document(
        title=f"Audit of {title}",
        subtitle=f"{len(questions):,} questions, {len({finding.question_id for finding in findings}):,} with a finding",
        notices=tuple(notices),
        sections=tuple(_without_empty(section) for section in sections),
        data={},
    )


def _rules(questions: Sequence[AuditedQuestion], findings: Sequence[Finding]) -> Table:
    counts = Counter(finding.rule for finding in findings)
    rows = [
        {"rule": rule.value, "what": TITLES[rule], "questions": counts[rule], "share": counts[rule] / len(questions)}
        for rule in Rule
        if counts[rule]
    ]
    columns = (
        Column("rule", "Rule", Kind.TEXT),
        Column("what", "The question …", Kind.TEXT),
        Column("questions", "Findings", Kind.COUNT),
        Column("share", "Of all", Kind.PERCENT),
    )
    return table("rules", "By rule", "", columns, rows)


def _list(findings: Sequence[Finding]) -> Table:
    rows = [
        {"question_id": one.question_id, "rule": one.rule.value, "message": one.message, "related": one.related}
        for one in findings
    ]
    columns = (
        Column("question_id", "Question", Kind.QUESTION),
        Column("rule", "Rule", Kind.TEXT),
        Column("message", "What was found", Kind.TEXT),
        Column("related", "With", Kind.QUESTIONS),
    )
    return table("findings", "Every finding", "", columns, rows)


def _right_options(questions: Sequence[AuditedQuestion]) -> Table:
    """How often a right option stands at each letter, and how often the one right option is the longest."""
    rows: list[dict[str, Any]] = []
    choice = [question for question in questions if question.options]
    for index in range(max((len(question.options) for question in choice), default=0)):
        offered = [question for question in choice if index < len(question.options)]
        expected = math.fsum(len(question.right) / len(question.options) for question in offered)
        rows.append(
            {
                "what": f"right option at {chr(ord('A') + index)}",
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


def _common_answers(questions: Sequence[AuditedQuestion]) -> Table:
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


def _views(said: AskedAll) -> Table:
    figures = view_figures(said)
    ratios: Mapping[str, float] = frame_to_video(figures)
    rows = [
        {
            "model": figure.model,
            "view": figure.view.value.replace("_", " "),
            "accuracy": figure.accuracy,
            "low": figure.low,
            "high": figure.high,
            "chance": figure.chance,
            "replies": figure.total,
            "ratio": ratios.get(figure.model, math.nan) if figure.view.value == "full" else math.nan,
        }
        for figure in figures
    ]
    note = (
        "Words: no frame. Options: no frame and no question. One frame: the central one of each clip. Ratio: all "
        "frames against one (EgoTempo, table 1). Repeats of one question count as replies of their own: intervals are "
        "too narrow where a model repeats itself."
    )
    columns = (
        Column("model", "Model", Kind.TEXT),
        Column("view", "Shown", Kind.TEXT),
        Column("accuracy", "Right", Kind.PERCENT, low="low", high="high"),
        Column("chance", "By chance", Kind.PERCENT),
        Column("replies", "Replies", Kind.COUNT),
        Column("ratio", "Frame → video", Kind.RATIO, 2),
    )
    return table("views", "Accuracy by what is shown", note, columns, rows)


def _without_empty(section: Section) -> Section:
    kept = tuple(one for one in section.tables if not one.rows.empty)
    return Section(section.key, section.title, section.text, kept, section.plots)
