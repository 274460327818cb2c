"""A person's answers become a run like any other, by the code that saves runs."""

import os
from pathlib import Path

from egobench_tasks.asking.open import category_slug
from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.data import DatasetLocation, benchmark_of, load_rows
from egobench_tasks.making.exam.sitting import Sitting, draw
from egobench_tasks.runs.people import Person


def save_run(location: DatasetLocation, participant: str, sitting: Sitting, out: Path) -> Path:
    """Save one person's run in the folder ``out`` and return it; scores are lighteval's own, as of a model.

    A question that was to be asked and has no answer is missing, and makes the run partial.
    """
    from egobench_tasks.hosts.lighteval.person import Said, save_person

    assert sitting.terms is not None
    terms = sitting.terms
    benchmark, configs = benchmark_of(location)
    task_of: dict[str, str] = {}
    for config in configs:
        for row in load_rows(location, config):
            part = config if benchmark is EGOGEARS else category_slug(row["category"])
            task_of[row["question_id"]] = f"{benchmark.name}:{part}"
    asked = draw(list(task_of), terms)
    said = {one: Said(given.text, given.seconds) for one, given in sitting.answers.items()}
    person = Person(participant=participant, shown=terms.shown.value, sample=terms.sample, seed=terms.seed)
    os.environ[benchmark.data_variable] = str(location)
    save_person(person, {one: task_of[one] for one in asked}, said, out)
    return out
