"""What an audit has to say of a question, and how it is kept: one JSON object a line."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from egobench_tasks.documents import parse_json
from egobench_tasks.errors import InputError
from egobench_tasks.files import write_atomically


class Rule(StrEnum):
    """What can be wrong with a question. The order is that of a report."""

    DUPLICATE = "duplicate"
    CONTRADICTION = "contradiction"
    LEAK_LABEL = "leak_label"
    LEAK_TIME = "leak_time"
    LEAK_NAME = "leak_name"
    ANSWER_IN_QUESTION = "answer_in_question"
    LIST_INCOMPLETE = "list_incomplete"
    LIST_IN_ORDER = "list_in_order"
    EITHER_OR = "either_or"
    SHARED_WORDS = "shared_words"
    LONGEST_IS_RIGHT = "longest_is_right"
    GUESSABLE = "guessable"
    GUESSABLE_FROM_OPTIONS = "guessable_from_options"
    ONE_FRAME = "one_frame"
    SUSPECT_GOLD = "suspect_gold"
    NEVER_RIGHT = "never_right"
    OPTION_CONTRADICTED = "option_contradicted"


TITLES: Mapping[Rule, str] = {
    Rule.DUPLICATE: "asks the same as another question on the same footage",
    Rule.CONTRADICTION: "asks the same as another question on the same footage, with another answer",
    Rule.LEAK_LABEL: "names a clip where that gives the answer away, or one that the question does not have",
    Rule.LEAK_TIME: "names a time in the footage",
    Rule.LEAK_NAME: "names a recording, its speed or its light",
    Rule.ANSWER_IN_QUESTION: "holds its answer in its own words",
    Rule.LIST_INCOMPLETE: "lists things to be put in order of which its answer leaves some out",
    Rule.LIST_IN_ORDER: "lists things in the very order that it asks for",
    Rule.EITHER_OR: "names its two possible answers: half of all guesses are right",
    Rule.SHARED_WORDS: "shares words with a right option that no wrong one has",
    Rule.LONGEST_IS_RIGHT: "has a right option that stands out by its length",
    Rule.GUESSABLE: "is answered right without any frame",
    Rule.GUESSABLE_FROM_OPTIONS: "is answered right from its options alone",
    Rule.ONE_FRAME: "is answered right from one frame of each clip",
    Rule.SUSPECT_GOLD: "is answered alike by all models, and not as the gold says",
    Rule.NEVER_RIGHT: "is answered right by no model",
    Rule.OPTION_CONTRADICTED: "has an option that models, shown the clips alone, see otherwise than the gold",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at. ``related`` are other questions it concerns; ``evidence`` is plain JSON."""

    question_id: str
    rule: Rule
    message: str
    related: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)


def by_rule(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings in the order of `Rule`; those of one rule stay in theirs."""
    order = {rule: number for number, rule in enumerate(Rule)}
    return sorted(findings, key=lambda finding: order[finding.rule])


def write_findings(path: Path, findings: Iterable[Finding]) -> None:
    """Write findings as JSON lines, complete or not at all."""
    with write_atomically(path) as file:
        for finding in findings:
            file.write((json.dumps(asdict(finding), ensure_ascii=False, sort_keys=True) + "\n").encode())


def read_findings(path: Path) -> list[Finding]:
    """Read what `write_findings` wrote. Raises ``InputError`` naming the file and the line that is not of this form."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot read the findings: {error}") from error
    findings = []
    for number, line in enumerate(lines, start=1):
        try:
            record = parse_json(line)
            findings.append(
                Finding(
                    str(record["question_id"]),
                    Rule(record["rule"]),
                    str(record["message"]),
                    tuple(record["related"]),
                    dict(record["evidence"]),
                )
            )
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}: line {number} is no finding of `egobench audit`: {error}") from error
    return findings
