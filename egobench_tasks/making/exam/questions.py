"""Which questions of a dataset people can be asked, and of which task each is."""

from collections.abc import Mapping
from dataclasses import dataclass

from egobench_tasks.asking.open_settings import category_slug
from egobench_tasks.benchmarks import EGOGEARS, Benchmark
from egobench_tasks.data import DatasetLocation, benchmark_of, fingerprint, load_rows
from egobench_tasks.making.exam.sitting import Terms, draw


@dataclass(frozen=True, slots=True)
class ExamQuestions:
    """``tasks``: by question id, in the dataset's order, the task that asks it (``egogears:multi``). ``watchable``: the
    ids of those whose clips are here. ``fingerprint``: of the dataset, all configs."""

    benchmark: Benchmark
    tasks: Mapping[str, str]
    watchable: tuple[str, ...]
    fingerprint: str

    def shown(self, terms: Terms) -> tuple[str, ...]:
        """Return the questions that people are shown, in the order asked. Raises ``InputError`` as `sitting.draw`."""
        return draw(self.watchable, terms)

    def asked(self, terms: Terms) -> dict[str, str]:
        """Return the tasks of the questions that a run is of, by id: those shown, or where all are asked the ones
        without a clip too, which leave the run partial as they leave a model's."""
        ids = tuple(self.tasks) if terms.sample is None else self.shown(terms)
        return {question_id: self.tasks[question_id] for question_id in ids}


def load_questions(location: DatasetLocation) -> ExamQuestions:
    """Read a dataset of either benchmark. Raises ``InputError`` for any other."""
    benchmark, configs = benchmark_of(location)
    tasks: dict[str, str] = {}
    watchable: list[str] = []
    prints: list[str] = []
    for config in configs:
        rows = load_rows(location, config)
        prints.append(fingerprint(rows))
        for row in rows:
            part = config if benchmark is EGOGEARS else category_slug(row["category"])
            tasks[row["question_id"]] = f"{benchmark.name}:{part}"
            if row["video"] is not None:
                watchable.append(row["question_id"])
    return ExamQuestions(benchmark, tasks, tuple(watchable), "-".join(prints))
