"""Runs of the scripted models over the probes: ordinary folders, written in seconds from the sample's script.

No clip is rendered: what the frames of a message show follows from the script (`dataset_scripts.sample.truth`).
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planted import CLIP, Planted, RunWriter, Said, multi_row, plant, single_row

from dataset_scripts.sample.questions import SampleQuestion, multi_questions, single_questions
from dataset_scripts.sample.scripted import SCRIPTED_MODELS
from dataset_scripts.sample.truth import scripted_message, see_script
from dataset_scripts.sample.world import make_world
from egobench_tasks.asking.choice import show_choice
from egobench_tasks.asking.probes import PROBES, Probe, probe_configs
from egobench_tasks.asking.prompts import load_choice_templates
from egobench_tasks.asking.questions import choice_question
from egobench_tasks.benchmarks import EGOGEARS


@dataclass(frozen=True)
class ProbeRuns:
    """A dataset with known truth and a run of each scripted model over it and the probes, by the model's name."""

    planted: Planted
    questions: Mapping[str, SampleQuestion]
    paths: Mapping[str, Path]


def plant_sample(
    folder: Path, n_single: int, n_multi: int, seed: int = 0, n_worlds: int = 1
) -> tuple[Planted, dict[str, SampleQuestion]]:
    """Write the sample's questions with stubs for clips; return the dataset and the questions by id.

    Questions of one world share its clips and hang together: ``n_worlds`` is how many clusters a report finds, or more.
    """
    worlds = [(make_world(seed + number), seed + number) for number in range(n_worlds)]
    made = {}
    for name, make, count in (("single", single_questions, n_single), ("multi", multi_questions, n_multi)):
        of_world = [list(make(world, count, world_seed)) for world, world_seed in worlds]
        made[name] = [of_world[number % n_worlds][number] for number in range(count)]
    rows = {
        "single": [_single(number, question, number % n_worlds) for number, question in enumerate(made["single"])],
        "multi": [_multi(number, question, number % n_worlds) for number, question in enumerate(made["multi"])],
    }
    planted = plant(folder, {config: members for config, members in rows.items() if members})
    return planted, {question.question_id: question for members in made.values() for question in members}


def answers(
    planted: Planted, questions: Mapping[str, SampleQuestion], model: str, probe: Probe | None
) -> dict[str, dict[str, Said]]:
    """What a scripted model says to every question that a probe (None: the benchmark itself) asks, by config and id."""
    templates = load_choice_templates()
    said: dict[str, dict[str, Said]] = {}
    for config, rows in planted.rows.items():
        if probe and config not in probe_configs(probe):
            continue
        said[config] = {}
        for row in rows:
            if probe and not probe.applies(choice_question(row)):
                continue
            shown = show_choice(row, templates, EGOGEARS.frames_per_question, EGOGEARS.min_frames_per_clip, probe)
            walks = [clip.scene.walk for _, clip in questions[row["question_id"]].clips]
            said[config][row["question_id"]] = Said(SCRIPTED_MODELS[model](scripted_message(shown, walks), see_script))
    return said


def write_probe_runs(
    folder: Path,
    *,
    n_single: int = 24,
    n_multi: int = 60,
    seed: int = 0,
    n_worlds: int = 1,
    probes: Collection[str] | None = None,
) -> ProbeRuns:
    """Write the dataset and the runs; ``probes``: all of them where none are named."""
    planted, questions = plant_sample(folder / "egogears", n_single, n_multi, seed, n_worlds)
    writer = RunWriter(planted)
    paths = {}
    for model in SCRIPTED_MODELS:
        said = answers(planted, questions, model, None)
        for name in PROBES if probes is None else probes:
            found = answers(planted, questions, model, PROBES[name])
            said |= {f"{name}:{config}": members for config, members in found.items() if members}
        paths[model] = writer.write(folder / model, model, said)
    return ProbeRuns(planted, questions, paths)


def _single(number: int, question: SampleQuestion, world: int) -> dict[str, Any]:
    ((_, clip),) = question.clips
    row = single_row(number, len(question.options), "".join(question.answer))
    return {**row, **_words(question), "duration_s": float(clip.scene.duration_s), "sha256": _digest(clip, world)}


def _multi(number: int, question: SampleQuestion, world: int) -> dict[str, Any]:
    clips = [clip for _, clip in question.clips]
    row = multi_row(number, len(question.options), "".join(question.answer), len(clips), question.plan.unit)
    return {
        **row,
        **_words(question),
        "file_names": [CLIP] * len(clips),
        "clip_labels": [label for label, _ in question.clips],
        "clip_duration_s": [float(clip.scene.duration_s) for clip in clips],
        "clip_sha256": [_digest(clip, world) for clip in clips],
        "question_type": question.plan.question_type,
    }


def _words(question: SampleQuestion) -> dict[str, Any]:
    return {
        "question_id": question.question_id,
        "question": question.question,
        "options": list(question.options),
        "answer": list(question.answer),
    }


def _digest(clip: Any, world: int) -> str:
    return hashlib.sha256(f"{world} {clip.recording} {clip.start_s} {clip.end_s}".encode()).hexdigest()
