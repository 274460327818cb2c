"""Runs of one model over parts of the questions become one: ``egobench merge``.

lighteval's own pipeline scores the answers anew over every question of the split, so a question
that no run answered stays in the denominator.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from lighteval.models.abstract_model import ModelConfig
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.requests import Doc

from egobench_tasks.documents import parse_json
from egobench_tasks.errors import EgobenchError, InputError
from egobench_tasks.files import check_output_folder
from egobench_tasks.hosts.lighteval.details import DETAILS_NAME
from egobench_tasks.hosts.lighteval.generation import Generation, no_generation
from egobench_tasks.hosts.lighteval.options import LightevalOptions, parse_lighteval_options
from egobench_tasks.hosts.lighteval.record import answerer_of_config
from egobench_tasks.hosts.lighteval.run import AnsweringModel, finish, make_pipeline
from egobench_tasks.runs.differences import comparable, differing
from egobench_tasks.runs.journal import MISSING, UNANSWERED
from egobench_tasks.runs.record import RECORDS_FOLDER, Answerer, Asked, Counts, RunRecord, record_of
from egobench_tasks.runs.shards import SHARD_VARIABLE
from egobench_tasks.scoring.answers import NORMAL_STOP
from egobench_tasks.scoring.endings import Ending, ending
from egobench_tasks.servers.settings import SHAPING_NOTHING

_SHOWN = 20
# Machines of one run have their own servers and memory.
_SHAPING_NOTHING = SHAPING_NOTHING | {"cache_dir", "batch_size", "served"}
_SAID_BY_SERVERS = ("server_id", "root", "parent")

QuestionKey = tuple[str, str]
"""A task's full name and a question's id."""


@dataclass(frozen=True, slots=True)
class SavedRun:
    """One run as lighteval saved it: the model's settings, each task's input as its config names it, and details.

    ``record`` is its ``run.json``, None for a run of before there were any.
    """

    results: Path
    record: RunRecord | None
    model_config: Mapping[str, Any]
    inputs: Mapping[str, str]
    details: Mapping[str, Path]


@dataclass(frozen=True, slots=True)
class _Found:
    generation: Generation
    path: Path


class MergedModelConfig(ModelConfig, extra="allow"):  # type: ignore[call-arg]  # lighteval has no types
    """The first run's own settings, whichever back end's they are."""


class MergedModel(AnsweringModel):
    """Answers with what the merged runs answered. ``missing``, after scoring: the questions none of them did.

    ``merged``: what the new run's record says of the old ones.
    """

    def __init__(
        self, config: MergedModelConfig, found: Mapping[QuestionKey, _Found], runs: Sequence[SavedRun]
    ) -> None:
        super().__init__(config)
        self._found = found
        self._records = [run.record for run in runs if run.record is not None]
        self.missing: list[QuestionKey] = []
        self.merged = [_in_short(record) for record in self._records]
        self.asked: Asked | None = None

    @property
    def answerer(self) -> Answerer:
        """Who answered: the first run's, whom all were found to be (`merge_runs`)."""
        return self._records[0].model if self._records else answerer_of_config(self.config)

    def greedy_until(self, docs: list[Doc]) -> list[ModelResponse]:
        """Return each document's saved generation."""
        responses = [self._response(doc) for doc in docs]
        n_missing = len(self.missing)
        counts = Counts(total=len(docs), reused=len(docs) - n_missing, failed=n_missing)
        self.asked = Asked(counts=counts, seconds=0.0)
        return responses

    def _response(self, doc: Doc) -> ModelResponse:
        key = (doc.task_name, doc.specific["question_id"])
        if key not in self._found:
            self.missing.append(key)
            return no_generation(doc.query, MISSING)
        return self._found[key].generation


def merge_runs(runs: Sequence[Path], out: Path) -> int:
    """Merge the runs saved under the given folders into one, saved under ``out`` as lighteval saves a run.

    Needs the dataset's rows, not its clips. Returns the exit code: 1 where questions are missing,
    else 0. Raises ``InputError`` for folders without details, runs of different models or inputs,
    and a dataset other than the runs'; ``EgobenchError`` where two runs answer one question differently.
    """
    saved = [run for folder in runs for run in find_runs(folder)]
    _check_alike(saved)
    found = collect_answers(saved)
    tasks = sorted({task for run in saved for task in run.details})
    model = MergedModel(MergedModelConfig(**saved[0].model_config), found, saved)
    os.environ.pop(SHARD_VARIABLE, None)  # the merged run is of all questions
    check_output_folder(out)
    pipeline = make_pipeline(",".join(task.split("|")[0] for task in tasks), model, _options(out))
    _check_inputs(saved[0], {name: _input(vars(task.config)) for name, task in pipeline.tasks_dict.items()})
    finish(pipeline)
    n_questions = sum(len(docs) for docs in pipeline.documents_dict.values())
    print(f"{n_questions - len(model.missing)} of {n_questions} questions from {len(saved)} runs", file=sys.stderr)
    if model.missing:
        ids = ", ".join(question_id for _, question_id in sorted(model.missing)[:_SHOWN])
        more = ", …" if len(model.missing) > _SHOWN else ""
        print(
            f"{len(model.missing)} questions are missing and count as wrong: {ids}{more}\n"
            "The run is partial. (In EgoTempo they count neither as right nor as wrong.)",
            file=sys.stderr,
        )
    return 1 if model.missing else 0


def find_runs(folder: Path) -> list[SavedRun]:
    """Return the runs saved under ``folder``, oldest first. Raises ``InputError`` where there is none with details."""
    details: dict[str, dict[str, Path]] = {}
    for path in sorted(folder.rglob("details_*.parquet")):
        if match := DETAILS_NAME.fullmatch(path.name):
            details.setdefault(match["date"], {})[match["task"]] = path
    if not details:
        raise InputError(f"{folder}: holds no details of a run; run it with --save-details (--shard does so itself)")
    return [_saved_run(folder, date, paths) for date, paths in sorted(details.items())]


def collect_answers(runs: Sequence[SavedRun]) -> dict[QuestionKey, _Found]:
    """Return every question's answer. Raises ``EgobenchError`` where two runs answer one question differently."""
    found: dict[QuestionKey, _Found] = {}
    for run in runs:
        for task, path in sorted(run.details.items()):
            for question_id, generation in _read_details(path):
                if generation.finish_reason in UNANSWERED or ending(generation.finish_reason) is Ending.SERVICE_FAILURE:
                    continue
                first = found.setdefault((task, question_id), _Found(generation, path))
                if _said(first.generation) != _said(generation):
                    raise EgobenchError(
                        f"question {question_id} of {task} has two different answers, in {first.path} and in {path}; "
                        "leave one of the runs out"
                    )
    return found


def _saved_run(folder: Path, date: str, details: Mapping[str, Path]) -> SavedRun:
    results = next(iter(sorted(folder.rglob(f"results_{date}.json"))), None)
    if results is None:
        raise InputError(f"{folder}: details of {date} without a results_{date}.json beside them")
    try:
        saved = parse_json(results.read_text(encoding="utf-8"))
        inputs = {task: _input(config) for task, config in saved["config_tasks"].items()}
        return SavedRun(results, _record(results, date), saved["config_general"]["model_config"], inputs, details)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{results}: is not a results file of lighteval ({type(error).__name__}: {error})") from error


def _record(results: Path, date: str) -> RunRecord | None:
    """The record of a run, in the folder that its ``--output-dir`` named; results may lie some folders below."""
    folders = (folder for folder in results.parents if (folder / RECORDS_FOLDER).is_dir())
    return next((record for folder in folders if (record := record_of(folder, date))), None)


def _in_short(record: RunRecord) -> dict[str, Any]:
    """What identifies one of several merged runs, times aside."""
    return {
        "number": record.number,
        "shard": record.shard,
        "host": record.machine.host,
        "answered_by": record.model.key,
        "counts": asdict(record.counts),
    }


def _input(task_config: Mapping[str, Any]) -> str:
    """What a task config says of prompt, frames and dataset (see `docs.ChoicePrompt`)."""
    prompt = task_config["prompt_function"]
    return str(prompt if isinstance(prompt, str) else prompt.__name__)


def _read_details(path: Path) -> list[tuple[str, Generation]]:
    try:
        table = pq.read_table(path, columns=["doc", "model_response"]).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{path}: cannot be read as parquet: {error}") from error
    rows = []
    for row in table:
        response = row["model_response"]
        rows.append(
            (
                row["doc"]["specific"]["question_id"],
                Generation(
                    input=response["input"],
                    text=response["text"],
                    reasonings=response["reasonings"],
                    finish_reason=response.get("finish_reason", NORMAL_STOP),
                    answered_by=response.get("answered_by", ""),
                    thinking=bool(response.get("thinking")),
                    finish_reasons=response.get("finish_reasons"),
                    n_prompt_tokens=response.get("n_prompt_tokens"),
                    n_new_tokens=response.get("n_new_tokens"),
                    latency_s=response.get("latency_s"),
                ),
            )
        )
    return rows


def _said(generation: Generation) -> tuple[list[str], str]:
    return generation.text, generation.finish_reason


def _check_alike(runs: Sequence[SavedRun]) -> None:
    first = runs[0]
    ours = _shaping(first.model_config)
    for run in runs[1:]:
        names = [*differing(ours, _shaping(run.model_config)), *_servers_differ(first, run)]
        if names:
            raise InputError(
                f"{run.results} and {first.results} differ in the model's {', '.join(names)}; merge one model's runs"
            )
        _check_inputs(first, run.inputs, run.results)


def _shaping(config: Mapping[str, Any]) -> dict[str, Any]:
    """A model's settings but those that shape no answer, flat."""
    flat: dict[str, Any] = {}
    for name, value in config.items():
        flat |= _shaping(value) if isinstance(value, Mapping) and name == "endpoint" else {name: value}
    known = {name: value for name, value in flat.items() if name not in _SHAPING_NOTHING}
    return {**known, "identity": comparable(config.get("identity") or {})} if "identity" in config else known


def _servers_differ(first: SavedRun, second: SavedRun) -> list[str]:
    """What two runs' servers say otherwise of the model; what one of them does not say is no difference."""
    ours, theirs = (run.model_config.get("served") or {} for run in (first, second))
    return [
        f"{name} (by its server)"
        for name in _SAID_BY_SERVERS
        if None not in (ours.get(name), theirs.get(name)) and ours[name] != theirs[name]
    ]


def _check_inputs(run: SavedRun, inputs: Mapping[str, str], where: Path | None = None) -> None:
    for task in run.inputs.keys() & inputs.keys():
        if run.inputs[task] != inputs[task]:
            raise InputError(
                f"{task}: {where or 'here'} it is {inputs[task]}, in {run.results} {run.inputs[task]}; "
                "merge runs of the same questions, asked in the same way"
            )


def _options(out: Path) -> LightevalOptions:
    options = parse_lighteval_options(["--output-dir", str(out), "--save-details"], "egobench merge")
    assert options is not None
    return options
