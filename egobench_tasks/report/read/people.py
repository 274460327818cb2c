"""People beside models: everybody's answers to the questions that every person was asked, and no others.

People mostly answer a sample. Over a whole split theirs would be a partial run, and a model's figure over the split
is not over their questions: so both are read anew over what they share.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from egobench_tasks.benchmarks import EGOGEARS, EGOTEMPO
from egobench_tasks.report.read.choice_questions import Split
from egobench_tasks.report.read.choice_results import FindDataset, Results, score_runs
from egobench_tasks.report.read.open_outcomes import OpenOutcome
from egobench_tasks.report.read.open_reader import load_open_rows, read_open_run
from egobench_tasks.report.read.open_responses import OpenRun
from egobench_tasks.report.read.responses import Run, TaskRun
from egobench_tasks.runs.people import Person, person_of


@dataclass(frozen=True, slots=True)
class ChoicePeople:
    """``results`` over the questions shared by all people, None where they share none. ``persons`` by run's label."""

    results: Results | None
    persons: Mapping[str, Person]
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OpenPeople:
    """``outcomes`` of EgoTempo's questions shared by all people, by run's name; ``persons`` by run's name, ``judges``
    whose verdicts they are."""

    outcomes: Mapping[str, Sequence[OpenOutcome]]
    persons: Mapping[str, Person]
    judges: Mapping[str, str]
    notices: tuple[str, ...]


def is_sample(run: Run | OpenRun) -> bool:
    """Whether a run is a person's answers to a part of the questions: it has no figure over the whole."""
    person = _person(run)
    return person is not None and person.sample is not None


def choice_people(runs: Sequence[Run], load: Callable[[str], Split]) -> ChoicePeople | None:
    """Read people and models over the questions that all people were asked; None where no run is a person's.

    ``load`` gives a config's split. Raises ``InputError`` as `choice_results.score_runs`.
    """
    persons = {run.name: person for run in runs if (person := _person(run)) is not None}
    if not persons:
        return None
    asked = {run.name: _asked(run) for run in runs if run.name in persons}
    configs = list(dict.fromkeys(config for found in asked.values() for config in found))
    shared = {config: frozenset.intersection(*(one.get(config, _NONE) for one in asked.values())) for config in configs}
    shared = {config: question_ids for config, question_ids in shared.items() if question_ids}
    n_shared = sum(map(len, shared.values()))
    notices = _notices(
        EGOGEARS.title, persons, {one: sum(map(len, of.values())) for one, of in asked.items()}, n_shared
    )
    if not shared:
        return ChoicePeople(None, persons, notices)
    limited = [one for run in runs if (one := _limited_run(run, shared)).tasks]
    results = score_runs(limited, lambda config: _limited_split(load(config), shared[config]))
    labels = dict(zip((run.name for run in limited), results.labels, strict=True))
    return ChoicePeople(results, {labels[name]: person for name, person in persons.items()}, notices)


def open_people(runs: Sequence[OpenRun], find_dataset: FindDataset) -> OpenPeople | None:
    """As `choice_people`, of EgoTempo, whose dataset ``find_dataset`` finds.

    Raises ``InputError`` as `open_reader.read_open_run`.
    """
    persons = {run.name: person for run in runs if (person := _person(run)) is not None}
    if not persons:
        return None
    rows = load_open_rows(find_dataset(EGOTEMPO))
    asked = {run.name: frozenset(_open_asked(run)) for run in runs if run.name in persons}
    shared = frozenset.intersection(*asked.values())
    limited = {question_id: row for question_id, row in rows.items() if question_id in shared}
    read = {run.name: read_open_run(run, limited, only=shared).outcomes for run in runs} if shared else {}
    return OpenPeople(
        outcomes={name: outcomes for name, outcomes in read.items() if outcomes},
        persons=persons,
        judges={run.name: run.judged_by for run in runs},
        notices=_notices(EGOTEMPO.title, persons, {name: len(ids) for name, ids in asked.items()}, len(shared)),
    )


_NONE: frozenset[str] = frozenset()


def _person(run: Run | OpenRun) -> Person | None:
    return person_of(run.records)


def _asked(run: Run) -> dict[str, frozenset[str]]:
    return {task.config: frozenset(one.question_id for one in task.responses()) for task in run.tasks}


def _open_asked(run: OpenRun) -> list[str]:
    return [response.question_id for task in run.tasks for response in task.responses()]


def _limited_run(run: Run, shared: Mapping[str, frozenset[str]]) -> Run:
    tasks = tuple(_limited_task(task, shared[task.config]) for task in run.tasks if task.config in shared)
    return replace(run, tasks=tasks, probes=(), notes=())


def _limited_task(task: TaskRun, question_ids: frozenset[str]) -> TaskRun:
    return replace(task, responses=lambda: [one for one in task.responses() if one.question_id in question_ids])


def _limited_split(split: Split, question_ids: frozenset[str]) -> Split:
    attributes = split.attributes[split.attributes["question_id"].isin(question_ids)].reset_index(drop=True)
    questions = {question_id: one for question_id, one in split.questions.items() if question_id in question_ids}
    return replace(split, questions=questions, attributes=attributes)


def _notices(title: str, persons: Mapping[str, Person], n_asked: Mapping[str, int], n_shared: int) -> tuple[str, ...]:
    """Say where people were asked more than they share."""
    more = [f"{persons[name].participant} {count:,}" for name, count in n_asked.items() if count > n_shared]
    if not more:
        return ()
    return (
        f"{title}, people: {n_shared:,} questions were asked of every person, and those alone are compared "
        f"(asked: {', '.join(more)})",
    )
