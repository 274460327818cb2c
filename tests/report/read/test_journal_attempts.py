"""A journal with several attempts at a question: the last one, with the largest budget, counts (PROTOCOL 1.2)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.errors import InputError
from egobench_tasks.report.read.journal_reader import find_journal_run
from egobench_tasks.runs.journal import Answer, Journal
from egobench_tasks.scoring.answers import LENGTH_STOP, NORMAL_STOP

BUDGETS = (2048, 4096, 8192, 16384, 32768)


def attempt(question_id, budget_tokens, *, last, key=None):
    return Answer(
        key=key or f"{question_id}-{budget_tokens}",
        question_id=question_id,
        task="egogears:multi|0",
        prompt=f"prompt of {question_id}",
        text=f"{question_id} in {budget_tokens}",
        finish_reason=NORMAL_STOP if last else LENGTH_STOP,
        budget_tokens=budget_tokens,
    )


def responses_of(folder):
    (task,) = find_journal_run(folder).tasks
    return {response.question_id: (response.text, response.finish_reason) for response in task.responses()}


@given(
    n_attempts=st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), st.integers(1, len(BUDGETS)), min_size=1),
    n_files=st.integers(1, 3),
    rng=st.randoms(use_true_random=False),
)
def test_in_whatever_order_and_files_they_lie_the_largest_budget_counts(tmp_path_factory, n_attempts, n_files, rng):
    folder = tmp_path_factory.mktemp("journal")
    answers = [
        attempt(question_id, budget, last=budget == BUDGETS[count - 1])
        for question_id, count in n_attempts.items()
        for budget in BUDGETS[:count]
    ]
    rng.shuffle(answers)
    for part in range(n_files):
        journal = Journal(folder)
        for answer in answers[part::n_files]:
            journal.append(answer)
        journal.close()
    assert responses_of(folder) == {
        question_id: (f"{question_id} in {BUDGETS[count - 1]}", NORMAL_STOP)
        for question_id, count in n_attempts.items()
    }


def test_attempts_that_were_all_truncated_end_with_a_truncated_answer(tmp_path):
    journal = Journal(tmp_path)
    for budget in BUDGETS:
        journal.append(attempt("q1", budget, last=False))
    journal.close()
    assert responses_of(tmp_path) == {"q1": ("q1 in 32768", LENGTH_STOP)}


def test_two_answers_with_one_budget_are_two_settings_and_refused(tmp_path):
    journal = Journal(tmp_path)
    journal.append(attempt("q1", 2048, last=True))
    journal.append(attempt("q1", 2048, last=True, key="under other settings"))
    journal.close()
    with pytest.raises(InputError, match="answers question q1 under several settings"):
        responses_of(tmp_path)
