"""Inspect logs of EgoTempo with known verdicts, as `inspect eval` writes them."""

import math

from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score
from open_runs import CATEGORY, JUDGE, LOST, ROWS, SAVED, answer_to

from egobench_tasks.judge.identity import to_record


def write_log(
    path, said=SAVED, judge=JUDGE, model="org/m", created="2026-11-30T05:15:00+00:00", text=None, **task_args
):
    """The same run as `open_runs.write_run` saves, in a log of Inspect's."""
    named = {} if judge is None else {"judge_identity": to_record(judge)}
    spec = EvalSpec(
        created=created,
        task="egobench_tasks/egotempo",
        task_args={"setting": "f16", "category": CATEGORY, **task_args},
        dataset=EvalDataset(sample_ids=list(said)),
        model=model,
        config=EvalConfig(),
        metadata={
            "prompt": "open-1",
            "frames": "count=16",
            "dataset": "f" * 16,
            "judge": "none" if judge is None else f"{judge.model}, prompt {judge.wording}",
            **named,
        },
    )
    samples = [_sample(question_id, says, text or answer_to(question_id)) for question_id, says in said.items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_eval_log(EvalLog(eval=spec, samples=samples, status="success"), str(path))
    return path


def _sample(question_id, says, text):
    row = ROWS[question_id]
    lost, silent, judged = says == LOST, says == "unanswered", says in ("correct", "incorrect")
    attempt = {"text": "" if silent or lost else text, "finish_reason": LOST if lost else "stop", "reasoning": "so"}
    value = {
        "judged": float(judged),
        "judge_accuracy": float(says == "correct") if judged else math.nan,
        "judge_score": 4.0 if judged else math.nan,
    }
    return EvalSample(
        id=question_id,
        epoch=1,
        input="",
        target=row.answer,
        metadata={
            "question_id": question_id,
            "question": row.question,
            "answer": row.answer,
            "category": row.category,
            "attempts": [attempt],
        },
        output=ModelOutput.from_content("m", attempt["text"]),
        scores={"open_scorer": Score(value=value, explanation="close" if judged else None)},
    )
