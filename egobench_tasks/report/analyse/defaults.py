"""What the program itself decided about a run, in words: a family's defaults, or that another program asked."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from egobench_tasks.report.analyse.tables import Column, Kind
from egobench_tasks.runs.record import RunRecord

DEFAULTS = Column("defaults", "Set by default", Kind.TEXT)


def defaults_of(records: Sequence[RunRecord]) -> str:
    """Return what shaped a run's answers without the user's having said so; empty where nothing is known.

    A model of transformers: its family's ``images_kwargs`` (one tile a frame) and a template that marks images itself
    (see `hosts.lighteval.vision`). Answers from elsewhere: by which export (see `hosts.lighteval.elsewhere`).
    """
    said = [words for record in records if (words := _of_identity(record.model.identity))]
    return "; ".join(dict.fromkeys(said))


def _of_identity(identity: Mapping[str, Any]) -> str:
    if elsewhere := identity.get("answered_elsewhere"):
        return f"answered elsewhere, export {elsewhere.get('export')}, one attempt a question"
    model = identity.get("model")
    settled = model.get("settled") if isinstance(model, Mapping) else None
    if not settled:
        return ""
    images = settled.get("images_kwargs")
    words = [f"{settled.get('model_type')}: {json.dumps(images, sort_keys=True)}"] if images else []
    if settled.get("image_mark_written_by_us"):
        words.append("images marked in the text by egobench")
    return ", ".join(words)
