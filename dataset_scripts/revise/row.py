"""One row of a raw release after its review: new words and answer, what it was kept beside them. Pure."""

import string
from collections.abc import Mapping, Sequence
from typing import Any

from egobench_tasks.making.review.decision import Content, Span
from egobench_tasks.making.review.outcome import Outcome
from egobench_tasks.making.review.settle import Status

_DECISIONS: Mapping[Status, str] = {
    Status.CONFIRMED: "REVIEW_CONFIRM",
    Status.REPAIRED: "REVIEW_REPAIR",
    Status.REKEYED: "REVIEW_REKEY",
    Status.DROPPED: "REVIEW_DROP",
}


def revised(row: Mapping[str, Any], shown: Content, outcome: Outcome, labels: Sequence[str | None]) -> dict[str, Any]:
    """Return a row as the reviews leave it.

    Args:
        row: upstream's, without anything that names a person.
        shown: what it asked before.
        outcome: what becomes of it; one that nobody decided leaves the row as it is.
        labels: of its clips, None for a clip that has none.

    The first words and answer stay for good as ``original_question``, ``original_options`` and ``original_answer``,
    every earlier version in ``revisions``.
    """
    if outcome.status is None:
        return dict(row)
    new = dict(row) | {
        "status": outcome.status.value,
        "decision": _DECISIONS[outcome.status],
        "reasons": [*(row.get("reasons") or ()), *_tags(outcome)],
    }
    if outcome.status in (Status.REPAIRED, Status.REKEYED):
        new["repair_rounds"] = (row.get("repair_rounds") or 0) + 1
    if outcome.content is not None:
        new |= _words(row, shown, outcome.content)
    if outcome.evidence is not None:
        new |= _evidence(new, outcome.evidence, labels, outcome.content or shown)
    return new


def _tags(outcome: Outcome) -> list[str]:
    """Why, as tags: the free notes of reviewers are not handed on."""
    return [f"review_{tag}" for tag in dict.fromkeys((outcome.standing.value, outcome.because)) if tag]


def _words(row: Mapping[str, Any], shown: Content, content: Content) -> dict[str, Any]:
    before = _written(shown)
    first = {f"original_{name}": row.get(f"original_{name}", value) for name, value in before.items()}
    earlier = {**before, "status": row.get("status")}
    new = {**_written(content), **first, "revisions": [*(row.get("revisions") or ()), earlier]}
    if "n_select" in row:
        new["n_select"] = len(content.answer)
    wrong = set(string.ascii_uppercase) - set(content.answer)
    for name, letters in (("evidence", set(content.answer)), ("distractor_basis", wrong)):
        if row.get(name):
            new[name] = _moved(row[name], shown, content, letters)
    return new


def _written(content: Content) -> dict[str, Any]:
    """Words and answer in upstream's form."""
    if not content.options:
        return {"question": content.question, "answer": content.answer[0]}
    options = dict(zip(string.ascii_uppercase, content.options, strict=False))
    return {"question": content.question, "options": options, "answer": list(content.answer)}


def _moved(texts: Mapping[str, str], shown: Content, content: Content, letters: set[str]) -> dict[str, str]:
    """Texts about options, under the letters that these have now; those of options that are no longer so are left out
    (they stand in no version: what was said of one wording does not hold of another)."""
    new_letter = dict(zip(content.options, string.ascii_uppercase, strict=False))
    old_text = dict(zip(string.ascii_uppercase, shown.options, strict=False))
    moved = {new_letter.get(old_text.get(letter, "")): text for letter, text in texts.items()}
    return {letter: text for letter, text in sorted(moved.items(), key=str) if letter is not None and letter in letters}


def _evidence(row: Mapping[str, Any], span: Span, labels: Sequence[str | None], content: Content) -> dict[str, Any]:
    label = labels[span.clip] if span.clip < len(labels) else None
    where = f"{span.start_s:.1f} s to {span.end_s:.1f} s"
    new: dict[str, Any] = {
        "evidence_spans": [{"clip": span.clip, "label": label, "start_s": span.start_s, "end_s": span.end_s}]
    }
    if content.options:
        text = f"{label}: {where}" if label else where
        new |= {"evidence": dict.fromkeys(content.answer, text), "evidence_source": "human"}
    return new
