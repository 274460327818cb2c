"""What the release itself may hold that is kept and pointed out (PROTOCOL 1.1); pure functions."""

import string
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from dataset_scripts.egogears.question_types import MULTI_QUESTION_TYPES
from dataset_scripts.egogears.release import SourceManifest
from dataset_scripts.egogears.rows import MultiRecord, SingleRecord
from dataset_scripts.repository.build_report import ConfigSummary, Finding, count_findings, draft_findings
from egobench_tasks.benchmarks import EGOGEARS


def single_findings(records: Sequence[SingleRecord], checksums: Mapping[str, str] | None) -> list[Finding]:
    """Return what stands out in single questions: equal options, an unknown unit, a clip without a checksum."""
    findings = draft_findings("single", ((record.question_id, record.status) for record in records))
    if checksums is None:
        findings.append(Finding("no_checksum", "single", "", "the release holds no video_sha256.csv"))
    for record in records:
        findings += _equal_options("single", record)
        if record.unit != EGOGEARS.single_unit:
            findings.append(_finding("unknown_unit", "single", record, record.unit))
        if checksums is not None and record.media_file not in checksums:
            findings.append(_finding("no_checksum", "single", record, f"{record.media_file} is not in it"))
    return findings


def multi_findings(records: Sequence[MultiRecord]) -> list[Finding]:
    """Return what stands out in multi questions, in the order of the records."""
    findings = draft_findings("multi", ((record.question_id, record.status) for record in records))
    for record in records:
        findings += _equal_options("multi", record)
        findings += _n_select(record)
        findings += _labels(record)
        findings += _kinds(record)
    return findings


def _finding(kind: str, config: str, record: SingleRecord | MultiRecord, message: str) -> Finding:
    return Finding(kind, config, record.question_id, message)


def _equal_options(config: str, record: SingleRecord | MultiRecord) -> list[Finding]:
    letters = defaultdict(list)
    for letter, text in zip(string.ascii_uppercase, record.options, strict=False):
        letters[text].append(letter)
    return [
        _finding("equal_options", config, record, f"options {' and '.join(same)} have the same text")
        for same in letters.values()
        if len(same) > 1
    ]


def _n_select(record: MultiRecord) -> list[Finding]:
    if record.n_select == len(record.answer):
        return []
    message = f"n_select is {record.n_select}, the answer has {len(record.answer)}: the answer counts"
    return [_finding("n_select", "multi", record, message)]


def _labels(record: MultiRecord) -> list[Finding]:
    repeated = [label for label, uses in Counter(clip.label for clip in record.clips).items() if uses > 1]
    return [_finding("repeated_label", "multi", record, f"label {label} repeats") for label in repeated]


def _kinds(record: MultiRecord) -> list[Finding]:
    findings = []
    if record.unit not in EGOGEARS.multi_units:
        findings.append(_finding("unknown_unit", "multi", record, record.unit))
    elif record.question_type not in MULTI_QUESTION_TYPES[record.unit]:
        message = f"{record.question_type} is not a type of {record.unit}"
        findings.append(_finding("unknown_question_type", "multi", record, message))
    if record.status not in EGOGEARS.multi_statuses:
        findings.append(_finding("unknown_status", "multi", record, record.status))
    return findings


def published_findings(summary: ConfigSummary) -> list[Finding]:
    """Compare a config's counts with the published ones."""
    findings = count_findings(
        summary.name, "questions", {"in all": summary.rows}, {"in all": summary.published_rows}, says="published"
    )
    if summary.name == "single":
        published = {str(answers): rows for answers, rows in EGOGEARS.single_answer_counts.items()}
        return findings + count_findings("single", "answers", summary.counts["answers"], published, says="published")
    return findings + count_findings(
        "multi", "unit", summary.counts["unit"], EGOGEARS.cross_recording_unit_counts, says="published"
    )


def manifest_findings(records: Iterable[SingleRecord], manifest: SourceManifest) -> list[Finding]:
    """Compare the single questions read with what the release's own manifest says of them."""
    answers = Counter(str(len(record.answer)) for record in records)
    findings = []
    if manifest.questions is not None:
        found, said = {"in all": answers.total()}, {"in all": manifest.questions}
        findings += count_findings("single", "questions", found, said, says="source_manifest.json says")
    if manifest.answer_counts is not None:
        said = {str(count): rows for count, rows in manifest.answer_counts.items()}
        findings += count_findings("single", "answers", answers, said, says="source_manifest.json says")
    return findings
