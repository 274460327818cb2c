"""A person's answers, evaluated by lighteval as a model's are: ``egobench exam``."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lighteval.models.abstract_model import ModelConfig
from lighteval.models.model_output import ModelResponse
from lighteval.pipeline import Pipeline
from lighteval.tasks.requests import Doc

from egobench_tasks.files import check_output_folder
from egobench_tasks.hosts.lighteval.generation import Generation, no_generation
from egobench_tasks.hosts.lighteval.options import parse_lighteval_options
from egobench_tasks.hosts.lighteval.run import AnsweringModel, finish, make_pipeline
from egobench_tasks.runs.journal import MISSING, answer_key
from egobench_tasks.runs.people import Person
from egobench_tasks.runs.record import Answerer, Asked, Counts


@dataclass(frozen=True, slots=True)
class Said:
    """One answer: in a model's words, and the seconds it took."""

    text: str
    seconds: float


class PersonConfig(ModelConfig):
    """What lighteval saves with the results: `people.Person.identity`."""

    identity: dict[str, Any]


class PersonModel(AnsweringModel):
    """Answers with what a person has answered, by question id."""

    def __init__(self, person: Person, said: Mapping[str, Said]) -> None:
        super().__init__(PersonConfig(model_name=person.participant, identity=person.identity))
        self._said = said
        self.asked: Asked | None = None
        identity = person.identity
        self.answerer = Answerer(name=person.participant, key=answer_key(**identity), identity=identity)

    def greedy_until(self, docs: list[Doc]) -> list[ModelResponse]:
        """Return each document's answer; one that has none is missing."""
        said = [self._said.get(doc.specific["question_id"]) for doc in docs]
        given = [one for one in said if one is not None]
        counts = Counts(total=len(docs), asked=len(given), failed=len(docs) - len(given))
        self.asked = Asked(counts=counts, seconds=sum(one.seconds for one in given))
        return [self._response(doc, one) for doc, one in zip(docs, said, strict=True)]

    def _response(self, doc: Doc, said: Said | None) -> ModelResponse:
        if said is None:
            return no_generation(doc.query, MISSING)
        return Generation(
            input=doc.query,
            text=[said.text],
            reasonings=[""],
            answered_by=self.answerer.key,
            latency_s=said.seconds,
        )


def save_person(person: Person, asked: Mapping[str, str], said: Mapping[str, Said], out: Path) -> None:
    """Score a person's answers and save them under ``out`` as lighteval saves a run.

    Args:
        person: who, and how they were asked.
        asked: the task of every question that they were to answer (``egogears:multi``), by question id.
        said: their answers, by question id.
        out: what lighteval's ``--output-dir`` names.
    """
    check_output_folder(out)
    options = parse_lighteval_options(["--output-dir", str(out), "--save-details"], "egobench exam")
    assert options is not None
    pipeline = make_pipeline(",".join(sorted(set(asked.values()))), PersonModel(person, said), options)
    _ask_only(pipeline, asked)
    finish(pipeline)


def _ask_only(pipeline: Pipeline, asked: Mapping[str, str]) -> None:
    """Take the questions that were not asked out of the tasks: they are no part of this run."""
    for group in (pipeline.documents_dict, pipeline.sampling_docs):
        for name, docs in group.items():
            group[name] = [doc for doc in docs if doc.specific["question_id"] in asked]
