"""Runs of EgoTempo with known verdicts, as lighteval and `egobench judge` write them, and the dataset they answer."""

import json
import math

import pyarrow as pa
import pyarrow.parquet as pq

from dataset_scripts.egotempo.build import FOLDER, SCHEMA
from dataset_scripts.repository.videofolder import configs_yaml, parquet_bytes
from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.data import DatasetLocation
from egobench_tasks.judge.identity import JudgeIdentity
from egobench_tasks.judge.prompt import JudgeItem
from egobench_tasks.judge.verdict import Judgement, NoVerdict, Verdict
from egobench_tasks.judge.verdict_files import write_verdicts
from egobench_tasks.report.read.open_reader import OpenRow

CATEGORY = "counting actions"
F16 = "egotempo_f16"
ROWS = {
    f"q.{number}": OpenRow(f"q.{number}", f"How often {number}?", "twice", CATEGORY, 10.0 + number)
    for number in range(6)
}
DATE = "2026-11-30T05-15-00.1"
WORDING = "judge-1-abc"
JUDGE, STERN = JudgeIdentity("mild", WORDING), JudgeIdentity("stern", WORDING)
SAVED = {"q.0": "correct", "q.1": "incorrect", "q.2": None, "q.3": "correct", "q.4": "correct", "q.5": "incorrect"}
LOST = "request_failed"


def answer_to(question_id, model="m"):
    return f"{model} says {question_id}"


def write_run(
    folder,
    said=SAVED,
    task="egotempo_f16:counting_actions",
    model="m",
    judge=JUDGE,
    date=DATE,
    settings=None,
    **changed,
):
    """A run as lighteval saves it, what a report reads. ``said``: by question id what the run's judge said, None for no
    verdict, `LOST` for a request that failed, "unanswered" for a model that said nothing."""
    details = folder / f"details/org/{model}/{date}/details_{task}|0_{date}.parquet"
    results = folder / f"results/org/{model}/results_{date}.json"
    for path in (details, results):
        path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist([_row(one, says, model, changed) for one, says in said.items()]), details)
    printed = (
        f"verdicts of {judge.name}, prompt {judge.wording}, identity {judge.digest}"
        if judge
        else "verdicts of no judge, prompt p"
    )
    config = {
        "prompt_function": f"egotempo({changed.get('inputs', 'prompt open-1, frames count=16')}, dataset {'f' * 16})",
        "metrics": [{"metric_name": "judge_accuracy", "sample_level_fn": printed}],
    }
    saved = json.loads(results.read_text()) if results.exists() else {"config_tasks": {}}
    saved["config_tasks"][f"{task}|0"] = config
    saved["config_general"] = {"model_config": {"model_name": model, **(settings or {})}}
    results.write_text(json.dumps(saved))
    return details


def _row(question_id, says, model, changed):
    lost, silent = says == LOST, says == "unanswered"
    facts = {
        "question_id": question_id,
        "question": ROWS[question_id].question,
        "answer": changed.get("answer", "twice"),
        "category": CATEGORY,
    }
    judged = says in ("correct", "incorrect")
    return {
        "doc": {"specific": facts},
        "model_response": {
            "text": ["" if lost or silent else changed.get("text", answer_to(question_id, model))],
            "finish_reason": LOST if lost else "stop",
        },
        "metric": {"judged": float(judged), "judge_accuracy": float(says == "correct") if judged else math.nan},
    }


def write_file(folder, judge, correct, model="m"):
    """What `egobench judge` writes of a run's answers: by question id whether they are right, None for no verdict."""
    judged = []
    for question_id, right in correct.items():
        item = JudgeItem(question_id, ROWS[question_id].question, "twice", answer_to(question_id, model))
        verdict = None if right is None else Verdict(right, 5.0)
        failure = NoVerdict.TIMEOUT if right is None else None
        judged.append(("egotempo_f16:counting_actions", item, Judgement(verdict, failure, "")))
    return write_verdicts(folder, judge, judged)


def plant_open(folder):
    """Write `ROWS` as a dataset whose clips are stubs, two questions on each video."""
    (folder / FOLDER / "videos").mkdir(parents=True)
    (folder / FOLDER / "videos/clip.mp4").write_bytes(b"no video")
    rows = [
        {
            **dict.fromkeys(SCHEMA.names),
            "file_name": "videos/clip.mp4",
            "question_id": row.question_id,
            "video_uid": f"video {number // 2}",
            "category": row.category,
            "category_code": EGOTEMPO.category_codes[row.category],
            "question": row.question,
            "answer": row.answer,
            "duration_s": row.duration_s,
        }
        for number, row in enumerate(ROWS.values())
    ]
    (folder / FOLDER / "metadata.parquet").write_bytes(parquet_bytes(rows, SCHEMA))
    patterns = {EGOTEMPO.config: [f"{FOLDER}/metadata.parquet", f"{FOLDER}/videos/*"]}
    (folder / "README.md").write_text(f"---\n{configs_yaml(patterns)}\n---\n")
    return DatasetLocation(str(folder))
