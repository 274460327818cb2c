"""Datasets and runs with known outcomes, written by the real builders' and lighteval's own code.

Also used by `tests/bench/report.py`.
"""

import hashlib
import json
import random
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dataset_scripts.egogears.recordings import read_recording_name
from dataset_scripts.egogears.table import SCHEMAS
from dataset_scripts.repository.videofolder import configs_yaml, parquet_bytes
from egobench_tasks.asking.options import shuffle_options
from egobench_tasks.asking.prompts import load_choice_templates
from egobench_tasks.asking.questions import choice_question
from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.data import DatasetLocation, fingerprint, load_rows

CLIP = "videos/clip.mp4"
CODED = [
    f"{who}_{speed}_{light}_Traj0{route}_Trial01"
    for who, route in (("P01", 1), ("P01", 2), ("P03", 1))
    for speed in ("SlowWalk", "FastWalk", "Running")
    for light in ("Day", "Night")
]
# The last route lacks a combination; free names tell a speed at most.
RECORDINGS = [*CODED[:-1], "Hohenheim_laufen_schnell", "Asemwald_2"]
MULTI_UNITS = EGOGEARS.multi_units
MULTI_TYPES = ("event-order", "landmark-revisit", "divergence-point")


def single_row(number: int, n_options: int, answer: str) -> dict[str, Any]:
    recording = RECORDINGS[number % len(RECORDINGS)]
    about = read_recording_name(recording)
    return {
        **_common(f"s{number:04}", n_options, answer),
        "file_name": CLIP,
        "question_type": ("visual-grounded-qa", "spatial-temporal-reasoning")[number % 2],
        "category": ("Actor Action and Motion", "Scene")[number % 2],
        "unit": EGOGEARS.single_unit,
        "recording": recording,
        "start_s": 0.0,
        "end_s": 60.0,
        "participant": about.participant,
        "speed": about.speed,
        "lighting": about.lighting,
        "route": about.route,
        "duration_s": 60.0 if number % 20 else 17.4,
        "sha256": digest(f"s{number}"),
    }


def multi_row(number: int, n_options: int, answer: str, n_clips: int = 2, unit: str | None = None) -> dict[str, Any]:
    return {
        **_common(f"m{number:04}", n_options, answer),
        "file_name": CLIP,
        "file_names": [CLIP] * n_clips,
        "clip_labels": [f"CLIP_{index + 1}" for index in range(n_clips)],
        "clip_start_s": [None] * n_clips,
        "clip_end_s": [None] * n_clips,
        "clip_duration_s": [30.0] * n_clips,
        "clip_sha256": [digest(f"m{number} {index}") for index in range(n_clips)],
        "question_type": MULTI_TYPES[number % len(MULTI_TYPES)],
        "capability": None,
        "unit": unit or MULTI_UNITS[number % len(MULTI_UNITS)],
        "bundle": f"bundle_{number % 10 + 1:02}",
        "status": "confirmed",
    }


def digest(text: str) -> str:
    """A clip's digest: clips differ unless their texts are equal."""
    return hashlib.sha256(text.encode()).hexdigest()


def _common(question_id: str, n_options: int, answer: str) -> dict[str, Any]:
    return {
        "question_id": question_id,
        "question": f"What holds in question {question_id}?",
        "options": [f"Statement {letter} of {question_id}" for letter in string.ascii_uppercase[:n_options]],
        "answer": list(answer),
        "n_select": len(answer),
    }


def mixed_rows(n_single: int, n_multi: int, seed: int = 0) -> dict[str, list[dict[str, Any]]]:
    """Questions with 3 to 8 options and 1 to 4 answers, one answer for about half of them."""
    generator = random.Random(seed)

    def shape() -> tuple[int, str]:
        n_options = generator.randint(3, 8)
        n_select = 1 if generator.random() < 0.55 else generator.randint(1, min(4, n_options - 1))
        return n_options, "".join(sorted(generator.sample(string.ascii_uppercase[:n_options], n_select)))

    rows = {
        "single": [single_row(number, *shape()) for number in range(n_single)],
        "multi": [multi_row(number, *shape(), n_clips=1 + number % 5) for number in range(n_multi)],
    }
    return {config: rows_of for config, rows_of in rows.items() if rows_of}


@dataclass(frozen=True)
class Planted:
    """A dataset folder and its rows as `data.load_rows` gives them."""

    location: DatasetLocation
    rows: Mapping[str, list[dict[str, Any]]]
    fingerprints: Mapping[str, str]

    def row(self, question_id: str) -> dict[str, Any]:
        return next(row for rows in self.rows.values() for row in rows if row["question_id"] == question_id)


def plant(
    folder: Path,
    rows: Mapping[str, Sequence[Mapping[str, Any]]],
    clips: Mapping[str, Mapping[str, bytes]] = MappingProxyType({}),
) -> Planted:
    """Write a VideoFolder repository, whose clips are stubs: a report opens none.

    ``clips``: by config and file name those that are there beside the stub.
    """
    patterns = {}
    for config, members in rows.items():
        (folder / config / "videos").mkdir(parents=True)
        for name, content in {CLIP: b"no video", **clips.get(config, {})}.items():
            (folder / config / name).write_bytes(content)
        (folder / config / "metadata.parquet").write_bytes(parquet_bytes(members, SCHEMAS[config]))
        patterns[config] = [f"{config}/metadata.parquet", f"{config}/videos/*"]
    (folder / "README.md").write_text(f"---\n{configs_yaml(patterns)}\n---\n")
    location = DatasetLocation(str(folder))
    loaded = {config: load_rows(location, config) for config in rows}
    return Planted(
        location,
        {config: list(members) for config, members in loaded.items()},
        {config: fingerprint(members) for config, members in loaded.items()},
    )


@dataclass(frozen=True)
class Said:
    """A generation."""

    text: str
    finish_reason: str = "stop"


def reply(row: Mapping[str, Any], originals: str) -> Said:
    """The answer with these original letters, in the letters shown."""
    shown = {original: letter for letter, original in shuffle_options(row["question_id"], letters(row)).items()}
    return reply_shown("".join(sorted(shown[letter] for letter in originals)))


def reply_shown(shown: str) -> Said:
    return Said(f"Looking at the frames.\n{json.dumps({'answer': list(shown)})}")


def letters(row: Mapping[str, Any]) -> str:
    return string.ascii_uppercase[: len(row["options"])]


def gold(row: Mapping[str, Any]) -> str:
    return "".join(sorted(row["answer"]))


def right(row: Mapping[str, Any]) -> Said:
    return reply(row, gold(row))


def wrong(row: Mapping[str, Any]) -> Said:
    """As many options as are right, none of them where there are enough others."""
    others = [letter for letter in letters(row) if letter not in row["answer"]]
    return reply(row, "".join([*others, *gold(row)][: len(row["answer"])]))


@dataclass
class RunWriter:
    """Writes runs through lighteval's own tracker, prompts and metrics through ours."""

    planted: Planted
    n_frames: int = EGOGEARS.frames_per_question
    fingerprints: Mapping[str, str] | None = None
    docs: dict[str, dict[str, Any]] = field(default_factory=dict)

    def write(self, folder: Path, model: str, said: Mapping[str, Mapping[str, Said]]) -> Path:
        """Write what ``model`` said, by config and question id, as ``lighteval --save-details`` would.

        What it said under a probe stands under ``PROBE:CONFIG``.
        """
        from lighteval.logging.evaluation_tracker import EvaluationTracker
        from lighteval.logging.info_loggers import DetailsLogger
        from lighteval.models.dummy.dummy_model import DummyModelConfig

        from egobench_tasks.hosts.lighteval.generation import Generation
        from egobench_tasks.hosts.lighteval.metrics import ChoiceScores

        tracker = EvaluationTracker(output_dir=str(folder), save_details=True)
        config = DummyModelConfig(seed=0)
        tracker.general_config_logger.model_config = config
        tracker.general_config_logger.model_name = model
        for name, answers in said.items():
            task = self._task(name)
            tracker.task_config_logger.tasks_configs[f"{task.name}|0"] = task
            for question_id, generation in answers.items():
                doc = self._docs(name)[question_id]
                response = Generation(input=doc.query, text=[generation.text], finish_reason=generation.finish_reason)
                metric = ChoiceScores().compute(doc, response)
                tracker.details_logger.details[f"{task.name}|0"].append(DetailsLogger.Detail(doc, response, metric))
        tracker.save()
        return folder

    def _task(self, name: str) -> Any:
        from egobench_tasks.asking.probes import find_probe
        from egobench_tasks.hosts.lighteval.docs import egogears_task

        probe, _, config = name.rpartition(":")
        task = egogears_task(config, load_choice_templates(), find_probe(probe) if probe else None)
        task.prompt_function.n_frames = self.n_frames
        task.prompt_function.set_dataset((self.fingerprints or self.planted.fingerprints)[config])
        return task

    def _docs(self, name: str) -> dict[str, Any]:
        if name not in self.docs:
            task = self._task(name)
            prompt, config = task.prompt_function, name.rpartition(":")[2]
            rows = self.planted.rows[config]
            if prompt.probe:
                rows = [row for row in rows if prompt.probe.applies(choice_question(row))]
            self.docs[name] = {row["question_id"]: prompt(row, task.name) for row in rows}
        return self.docs[name]


def said_by(planted: Planted, speak: Any) -> dict[str, dict[str, Said]]:
    """What ``speak(row)`` answers to every question; None: the question was never asked."""
    return {
        config: {row["question_id"]: said for row in rows if (said := speak(row)) is not None}
        for config, rows in planted.rows.items()
    }


def memory_split(config: str, rows: Sequence[Mapping[str, Any]]) -> Any:
    """A split without a disk."""
    import pandas as pd

    from egobench_tasks.report.read.choice_questions import Split, attributes_of
    from egobench_tasks.report.read.clusters import with_clusters

    cell = {"bytes": None, "path": CLIP}
    full = [
        {**row, "video": cell, **({"videos": [cell] * len(row["clip_labels"])} if config == "multi" else {})}
        for row in rows
    ]
    questions = {row["question_id"]: choice_question(row) for row in full}
    attributes = [attributes_of(questions[row["question_id"]], row, config) for row in full]
    clustered = with_clusters(pd.DataFrame(attributes), [question.clips for question in questions.values()])
    return Split(config, "memory", "f" * 16, questions, clustered)


def memory_run(name: str, said: Mapping[str, Mapping[str, Said]], **settings: str) -> Any:
    """A run without a disk: what was said, by config and question id."""
    from egobench_tasks.report.read.responses import Response, Run, Settings, TaskRun

    def responses(answers: Mapping[str, Said]) -> Any:
        return lambda: [Response(question_id, one.text, one.finish_reason) for question_id, one in answers.items()]

    tasks = tuple(
        TaskRun(config, Path(f"{name}.parquet"), Settings(**settings), responses(answers))
        for config, answers in said.items()
    )
    return Run(name, Path(name), tasks)
