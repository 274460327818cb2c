"""A person's answers become a run like any other, by the code that saves runs."""

import os
from pathlib import Path

from egobench_tasks.data import DatasetLocation
from egobench_tasks.making.exam.questions import ExamQuestions
from egobench_tasks.making.exam.sitting import Sitting
from egobench_tasks.runs.people import Person


def save_run(
    location: DatasetLocation, questions: ExamQuestions, participant: str, sitting: Sitting, out: Path
) -> Path:
    """Save one person's run in the folder ``out`` and return it; scores are lighteval's own, as of a model.

    A question that was to be asked and has no answer is missing, and makes the run partial.
    """
    from egobench_tasks.hosts.lighteval.person import Said, save_person

    terms = sitting.terms
    assert terms is not None  # the caller looked
    person = Person(participant=participant, shown=terms.shown.value, sample=terms.sample, seed=terms.seed)
    said = {question_id: Said(given.text, given.seconds) for question_id, given in sitting.answers.items()}
    os.environ[questions.benchmark.data_variable] = str(location)  # where lighteval's tasks look for it
    save_person(person, questions.asked(terms), said, out)
    return out
