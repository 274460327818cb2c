"""An audit as a document: how many questions each rule finds, every finding, and how models do on how little."""

from collections import Counter
from collections.abc import Sequence

from egobench_tasks.making.audit.asked import AskedAll
from egobench_tasks.making.audit.finding import TITLES, Finding, Rule
from egobench_tasks.making.audit.model_tables import by_how_many, options_table, replies_table, views
from egobench_tasks.making.audit.question import AuditedQuestion
from egobench_tasks.making.audit.word_tables import common_answers, right_options
from egobench_tasks.report.analyse.tables import Column, Kind, Table, table
from egobench_tasks.report.show.document import Document
from egobench_tasks.report.show.section import Section

_NOTHING_DROPPED = (
    "A finding is a reason for a person to look, no verdict: nothing was dropped or changed. "
    "`egobench review --findings findings.jsonl` shows these questions first."
)

TABLES = (
    "rules", "findings", "right_options", "common_answers", "views", "by_how_many", "replies", "options"
)  # fmt: skip
"""The keys of all tables that an audit may have."""


def audit_document(
    title: str, questions: Sequence[AuditedQuestion], findings: Sequence[Finding], said: AskedAll | None
) -> Document:
    """Lay out an audit. ``said`` is None where no model was asked."""
    sections = [
        Section("findings", "Findings", _NOTHING_DROPPED, (_rules(questions, findings), _list(findings)), ()),
        Section("words", "What words give away", "", (right_options(questions), common_answers(questions)), ()),
    ]
    notices: list[str] = []
    if said is None:
        notices.append("No model was asked: this is what words alone tell. Give --models for the rest.")
    else:
        overall = (views(said), by_how_many(said))
        sections.append(Section("models", "How little is enough", "", overall, ()))
        each = (replies_table(questions, said), options_table(questions, said))
        sections.append(Section("each", "What models said", "", each, ()))
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


def _without_empty(section: Section) -> Section:
    kept = tuple(one for one in section.tables if not one.rows.empty)
    return Section(section.key, section.title, section.text, kept, section.plots)
