"""What `egobench check` reports: one finding a fault, errors before warnings."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum


class Severity(StrEnum):
    """An error makes the dataset wrong, unloadable or unlawful to publish; a warning makes it worse to use."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault of a dataset folder.

    ``rule`` is a short stable name, ``where`` a path relative to the folder (with row or key, where that helps),
    ``message`` says what is wrong and what to do.
    """

    severity: Severity
    rule: str
    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.severity.value}  {self.rule}  {self.where}: {self.message}"


def error(rule: str, where: str, message: str) -> Finding:
    """Return a finding that forbids publishing."""
    return Finding(Severity.ERROR, rule, where, message)


def warning(rule: str, where: str, message: str) -> Finding:
    """Return a finding that does not."""
    return Finding(Severity.WARNING, rule, where, message)


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return each finding once: errors first, then by rule and place."""
    return sorted(set(findings), key=lambda one: (one.severity is not Severity.ERROR, one.rule, one.where, one.message))


def errors_of(findings: Iterable[Finding]) -> list[Finding]:
    """Return the errors among findings."""
    return [finding for finding in findings if finding.severity is Severity.ERROR]


def as_lines(findings: Sequence[Finding]) -> str:
    """Return one line a finding and a last line that counts them."""
    n_errors = len(errors_of(findings))
    return "\n".join([*map(str, findings), f"{n_errors} errors, {len(findings) - n_errors} warnings"])


def as_json(findings: Sequence[Finding]) -> str:
    """Return findings as a JSON list of objects with severity, rule, where and message."""
    return json.dumps([asdict(finding) for finding in findings], indent=2, ensure_ascii=False)
