"""Answers without reasoning although thinking was on: counted, and the score that upstream's harness would give."""

from dataclasses import replace

from planted import memory_run, memory_split, right

from egobench_tasks.report.analyse.overall import overall_table
from egobench_tasks.report.read.choice_results import score_runs


def test_right_answers_without_a_trace_are_counted_and_would_be_wrong_upstream(planted):
    rows = planted.rows["single"]
    run = memory_run("thinker", {"single": {row["question_id"]: right(row) for row in rows}})
    (task,) = run.tasks

    def responses(thinking):
        """Every other question has reasoning, in the text or kept apart in turn."""
        for number, response in enumerate(task.responses()):
            text = f"<think>why</think>{response.text}" if number % 4 == 0 else response.text
            yield replace(response, text=text, reasoning="why" if number % 4 == 2 else "", thinking=thinking)

    def overall(thinking):
        thinker = replace(run, tasks=(replace(task, responses=lambda: responses(thinking)),))
        table = overall_table(score_runs([thinker], lambda config: memory_split(config, rows)))
        return table.rows.to_dict("records")[0]

    told, untold = overall(thinking=True), overall(thinking=False)
    without = len(rows) // 2
    assert (told["exact_set"], told["no_trace"]) == (1, without)
    assert told["exact_traced"] == 1 - without / len(rows)
    assert (untold["exact_set"], untold["no_trace"], untold["exact_traced"]) == (1, 0, 1)
