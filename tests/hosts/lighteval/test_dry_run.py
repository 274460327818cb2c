"""What a run will take, worked out from the first questions."""

import dataclasses
import re

import pytest

from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.hosts.lighteval import vlm as vlm_module
from egobench_tasks.hosts.lighteval.dry_run import TaskEstimate, Timed, describe, time_tasks


def estimate(batches, n_to_ask=100, task="t"):
    n_prompt_tokens = 1000 * sum(n for n, _ in batches)
    return TaskEstimate(task, n_to_ask, 64 * n_to_ask, Timed(batches, n_prompt_tokens or None, 40 if batches else None))


def test_time_is_that_of_what_is_left_with_its_spread():
    one = estimate([(1, 2.0), (1, 4.0), (1, 3.0), (1, 3.0)])
    assert one.n_left == 96 and one.timed.seconds_a_question == 3.0
    expected, low, high = one.seconds
    error = (2 / 3) ** 0.5 / 2
    assert (expected, low, high) == pytest.approx((288, 96 * (3 - 2 * error), 96 * (3 + 2 * error)))
    assert one.tokens(one.timed.n_prompt_tokens) == 100_000


def test_questions_of_a_batch_share_its_seconds():
    assert Timed([(8, 16.0), (2, 4.0)], None, None).seconds_a_question == 2.0
    assert Timed([(8, 16.0), (2, 4.0)], None, None).standard_error_s == 0.0


def test_one_batch_has_no_spread_and_nothing_left_no_time():
    text = describe([estimate([(4, 8.0)]), estimate([], n_to_ask=0, task="done")], None, None)
    assert "3.2 min (one batch: spread unknown)" in text and "nothing to ask" in text
    assert estimate([], n_to_ask=0).seconds is None


def test_the_table_has_a_line_a_task_and_money_where_there_are_prices():
    tasks = [
        estimate([(1, 1.0), (1, 3.0)], 100, "egogears_blind:multi|0"),
        estimate([(1, 1.0), (1, 1.0)], 10, "egogears"),
    ]
    lines = describe(tasks, 2.0, 10.0).splitlines()
    assert lines[1].split()[:6] == ["egogears_blind:multi|0", "100", "6,400", "100,000", "2,000", "0.22"]
    assert re.search(r"3\.3 min \(0\.0 to 6\.5\)$", lines[1])
    assert re.search(r"^all tasks +3\.4 min \(0\.1 to 6\.7\)$", lines[3])
    assert "cost" in lines[0] and describe(tasks, None, None).splitlines()[1].split()[5] == "2.00"


def test_the_first_questions_are_answered_once_and_kept(docs_of, vlm, monkeypatch):
    monkeypatch.setattr(vlm_module, "EGOGEARS", dataclasses.replace(EGOGEARS, max_new_tokens_cap=8))
    model, docs = vlm(), docs_of("multi")
    for doc in docs:
        doc.generation_size, doc.images = 8, type(doc.images)(())
        doc.specific["segments"] = doc.specific["segments"][:1]
    (one,) = time_tasks(model, {"egogears:multi|0": docs}, n_timed=3)
    assert (one.n_to_ask, one.timed.n_questions, len(one.timed.batches)) == (8, 3, 3)
    assert all(seconds > 0 for _, seconds in one.timed.batches)
    assert one.timed.n_prompt_tokens > 3 * 100
    assert len(model.missing(docs)) == 5
    (again,) = time_tasks(model, {"egogears:multi|0": docs}, n_timed=3)
    assert (again.n_to_ask, again.n_left) == (5, 2)
