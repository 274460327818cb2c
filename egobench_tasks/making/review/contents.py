"""What each question of a dataset asks, as a review compares it."""

from egobench_tasks.asking.questions import choice_question, open_question
from egobench_tasks.benchmarks import EGOGEARS, Benchmark
from egobench_tasks.data import DatasetLocation, benchmark_of, load_rows
from egobench_tasks.making.review.decision import Content


def load_contents(location: DatasetLocation) -> tuple[Benchmark, tuple[str, ...], dict[str, Content]]:
    """Return a dataset's benchmark, its configs, and every question's content by id, in the dataset's order.

    Raises ``InputError`` where it is of neither benchmark.
    """
    benchmark, configs = benchmark_of(location)
    contents: dict[str, Content] = {}
    for row in (row for config in configs for row in load_rows(location, config)):
        if benchmark is EGOGEARS:
            choice = choice_question(row)
            contents[choice.question_id] = Content(choice.question, choice.options, tuple(sorted(choice.answer)))
        else:
            question = open_question(row)
            contents[question.question_id] = Content(question.question, (), (question.answer,))
    return benchmark, configs, contents
