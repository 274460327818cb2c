"""Whether a run's answers are a person's, and on which terms: it stands in what identifies the run."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from egobench_tasks.runs.record import RunRecord
from egobench_tasks.runs.values import from_json

_PERSON = "person"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Who answered (an id), and how they were asked. ``shown``: "clips" or "frames". ``sample``: how many questions
    were drawn with ``seed``, None where all were asked."""

    participant: str
    shown: str
    sample: int | None = None
    seed: int = 0

    @property
    def identity(self) -> dict[str, Any]:
        """What a run of theirs is known by (`record.Answerer.identity`)."""
        return {_PERSON: asdict(self)}


def person_of(records: Iterable[RunRecord]) -> Person | None:
    """Return the person whose answers these runs are; None for a model's."""
    for record in records:
        said = record.model.identity.get(_PERSON)
        if isinstance(said, Mapping):
            found = from_json(Person, dict(said))
            assert isinstance(found, Person)
            return found
    return None
