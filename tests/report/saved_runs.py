"""Runs as lighteval saves them, written without lighteval."""

import json

import pyarrow as pa
import pyarrow.parquet as pq

from egobench_tasks.asking.open_settings import category_slug
from egobench_tasks.benchmarks import EGOGEARS, EGOTEMPO

COMMIT = "0123456789abcdef0123456789abcdef01234567"
DATE = "2026-11-30T05-15-00.123456"
CATEGORIES = [f"egotempo:{category_slug(category)}" for category in EGOTEMPO.category_codes]
JUDGE = {"metric_name": "judge_accuracy", "sample_level_fn": "verdicts of a-judge, prompt p1"}


def write_run(
    folder, scores, n_rows, *, repo="org/data", revision=COMMIT, date=DATE, model="org/model", lost=0, settings=None
):
    """Write a run as lighteval does: ``scores`` and ``n_rows`` by task, of which the first ``lost`` failed."""
    config = {
        "hf_repo": repo,
        "hf_revision": revision,
        "prompt_function": "name(prompt p, frames f, dataset d)",
        "metrics": [JUDGE],
    }
    results = folder / "results" / model
    details = folder / "details" / model / date
    for path in (results, details):
        path.mkdir(parents=True, exist_ok=True)
    saved = {
        "results": {f"{task}|0": values for task, values in scores.items()} | {"all": {}},
        "config_tasks": {f"{task}|0": config for task in scores},
        "config_general": {"model_config": settings or {}},
    }
    (results / f"results_{date}.json").write_text(json.dumps(saved))
    for task, count in n_rows.items():
        reasons = ["request_failed"] * lost + ["stop"] * (count - lost)
        rows = [
            {
                "doc": {"specific": {"question_id": f"q{number}"}},
                "model_response": {"text": [f"{date} {number}"], "finish_reason": reason},
            }
            for number, reason in enumerate(reasons)
        ]
        pq.write_table(pa.Table.from_pylist(rows), details / f"details_{task}|0_{date}.parquet")
    return folder


def gears_run(folder, exact=0.25, **options):
    scores = {f"egogears:{config}": {"exact_set": exact} for config in EGOGEARS.rows}
    return write_run(folder, scores, {f"egogears:{name}": n for name, n in EGOGEARS.rows.items()}, **options)


def tempo_run(folder, judged=1.0, categories=CATEGORIES, **options):
    scores = {name: {"judge_accuracy": 0.1 * place, "judged": judged} for place, name in enumerate(categories)}
    return write_run(folder, scores, dict.fromkeys(categories, 50), **options)
