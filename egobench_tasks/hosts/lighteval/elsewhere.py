"""Answers that another program got for an export become a run like any other: ``egobench score``.

A direct run asks for a cut answer again with twice the budget. Here it stays cut, and the run's record says so.
"""

import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lighteval.models.abstract_model import ModelConfig
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.requests import Doc

from egobench_tasks.errors import InputError
from egobench_tasks.files import check_output_folder, sha256_of
from egobench_tasks.hosts.export.answers import Given, read_answers
from egobench_tasks.hosts.export.manifest import Manifest, Written, read_whole
from egobench_tasks.hosts.lighteval.export import inputs_of
from egobench_tasks.hosts.lighteval.generation import Generation, no_generation
from egobench_tasks.hosts.lighteval.offline import as_task_names
from egobench_tasks.hosts.lighteval.options import parse_lighteval_options
from egobench_tasks.hosts.lighteval.run import AnsweringModel, finish, make_pipeline
from egobench_tasks.runs.journal import CLIP_UNREADABLE, MISSING, REQUEST_FAILED, answer_key
from egobench_tasks.runs.record import Answerer, Asked, Counts
from egobench_tasks.scoring.endings import NOT_GIVEN, Ending, ending

_SHOWN = 10
ONE_ATTEMPT = "one: a cut answer stays cut, where a direct run would ask again with twice the budget"


class ElsewhereConfig(ModelConfig):
    """What lighteval saves with the results: who answered which export."""

    answered_elsewhere: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Lack:
    id: str
    finish_reason: str
    reason: str


class ElsewhereModel(AnsweringModel):
    """Answers lighteval's documents with what came back. ``lacking``, after scoring: questions without an answer.

    ``elsewhere`` is for the run's record.
    """

    def __init__(self, name: str, manifest: Manifest, given: Mapping[str, Given], files: Mapping[str, str]) -> None:
        plan = manifest.plan
        identity = {"export": manifest.digest, "form": plan.form, "settings": plan.settings, "attempts": ONE_ATTEMPT}
        super().__init__(ElsewhereConfig(model_name=name, answered_elsewhere=identity))
        keyed = {"answered_elsewhere": identity, "model": name}
        self.answerer = Answerer(name=name, key=answer_key(**keyed), identity=keyed)
        self.elsewhere = {"export": manifest.digest, "files": files, "attempts": ONE_ATTEMPT, **_endings(given)}
        self.asked: Asked | None = None
        self.lacking: list[_Lack] = []
        self._thinking = plan.thinking
        self._given = given
        self._written = {(one.task, one.question_id): one for one in manifest.written}

    def greedy_until(self, docs: list[Doc]) -> list[ModelResponse]:
        """Return each document's answer; one without scores as in any run."""
        responses = [self._response(doc) for doc in docs]
        self.asked = Asked(
            counts=Counts(
                total=len(docs),
                reused=len(docs) - len(self.lacking),
                failed=len(self.lacking),
                prompt_tokens=_total(response.n_prompt_tokens for response in responses),
                new_tokens=_total(response.n_new_tokens for response in responses),
            ),
            seconds=0.0,
        )
        return responses

    def _response(self, doc: Doc) -> Generation:
        question = self._written[doc.task_name, doc.specific["question_id"]]
        given = self._given.get(question.id, Given(None))
        if given.reply is None:
            self.lacking.append(_lack(question, given))
            return no_generation(doc.query, self.lacking[-1].finish_reason)
        reply = given.reply
        return Generation(
            input=doc.query,
            text=[reply.text],
            reasonings=[reply.reasoning],
            finish_reason=reply.finish_reason,
            answered_by=self.answerer.key,
            thinking=self._thinking,
            n_prompt_tokens=reply.n_prompt_tokens,
            n_new_tokens=reply.n_new_tokens,
        )


def score(answers: Sequence[Path], export: Path, out: Path, model: str | None = None) -> int:
    """Score the answers to an export, saved under ``out`` as lighteval saves a run; needs the dataset, not its clips.

    ``model``: who answered; None for the name in the export's requests. Returns the exit code: 1 where questions have
    no answer, else 0. Raises ``InputError`` for answers and exports that cannot be used (see `read_answers`), and where
    the questions here are not those that were exported.
    """
    manifest = read_whole(export)
    name = model or manifest.plan.model
    if not name:
        raise InputError("who answered? Give --model NAME: the export names none")
    given = read_answers(answers, manifest)
    check_output_folder(out)
    answering = ElsewhereModel(name, manifest, given, {path.name: sha256_of(path) for path in answers})
    for variable, location in manifest.plan.datasets.items():
        os.environ.setdefault(variable, location)
    limit = [] if manifest.plan.limit is None else ["--max-samples", str(manifest.plan.limit)]
    options = parse_lighteval_options(["--output-dir", str(out), "--save-details", *limit], "egobench score")
    assert options is not None
    pipeline = make_pipeline(as_task_names(manifest.plan.tasks), answering, options)
    _check_inputs(manifest, inputs_of(pipeline), export)
    finish(pipeline)
    _tell(answering, given)
    return 1 if answering.lacking else 0


def _lack(question: Written, given: Given) -> _Lack:
    if question.failure is not None:
        return _Lack(question.id, CLIP_UNREADABLE, question.failure)
    if given.failure:
        return _Lack(question.id, REQUEST_FAILED, given.failure)
    return _Lack(question.id, MISSING, "no answer among those given")


def _check_inputs(manifest: Manifest, inputs: Mapping[str, str], export: Path) -> None:
    exported = manifest.plan.inputs
    for task in sorted(exported.keys() | inputs.keys()):
        if exported.get(task) != inputs.get(task):
            raise InputError(
                f"{task}: here it is {inputs.get(task)}, in {export} {exported.get(task)}; score with the dataset, the "
                "wording and the version that it was exported with"
            )


def _endings(given: Mapping[str, Given]) -> dict[str, int]:
    """How many answers were cut, and of how many that is not known."""
    reasons = [one.reply.finish_reason for one in given.values() if one.reply is not None]
    kinds = Counter(ending(reason) for reason in reasons)
    return {"n_cut": kinds[Ending.LENGTH], "n_without_finish_reason": reasons.count(NOT_GIVEN)}


def _total(counts: Any) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _tell(model: ElsewhereModel, given: Mapping[str, Given]) -> None:
    said = _endings(given)
    if said["n_cut"]:
        print(
            f"{said['n_cut']} answers were cut by their budget and count as none; a direct run would ask for them "
            "again with twice the budget",
            file=sys.stderr,
        )
    if said["n_without_finish_reason"]:
        print(
            f"{said['n_without_finish_reason']} answers give no finish_reason: "
            "one that was cut reads as if it were whole",
            file=sys.stderr,
        )
    if model.lacking:
        print(f"{len(model.lacking)} questions without an answer; the run is partial:", file=sys.stderr)
        for lack in model.lacking[:_SHOWN]:
            print(f"  {lack.id}: {lack.reason}", file=sys.stderr)
        if len(model.lacking) > _SHOWN:
            print(f"  … {', '.join(lack.id for lack in model.lacking[_SHOWN:])}", file=sys.stderr)
