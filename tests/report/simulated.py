"""Scripted models over probes, without a disk: what each answers to a question under each probe is known."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planted import MULTI_TYPES, digest, memory_split, multi_row, reply_shown

from egobench_tasks.asking.probes import PROBES
from egobench_tasks.asking.questions import ChoiceQuestion
from egobench_tasks.asking.view import CentralFrame, ChoiceView, NoFrames, plain_view
from egobench_tasks.report.read.choice_results import Results, score_runs
from egobench_tasks.report.read.responses import Cost, Response, Run, Settings, TaskRun

ORDER_TYPE = MULTI_TYPES[0]
"""The type of question that the simulated models need the frames' order for."""
THINGS = ("a gate", "a bench", "a tram")


@dataclass(frozen=True)
class Asked:
    """A question as a model meets it: ``probe`` is "" for the benchmark itself."""

    question: ChoiceQuestion
    probe: str
    view: ChoiceView

    def luck(self, *parts: Any) -> random.Random:
        """A generator of its own for every question and purpose, the same under every probe."""
        return random.Random(" ".join(map(str, (self.question.question_id, *parts))))


Model = Callable[[Asked], str]
"""From a question to the original letters answered."""


def labelled_rows(count: int, cluster_size: int = 4) -> list[dict[str, Any]]:
    """Questions whose options come in pairs, one a clip, so that exchanged headings imply another right option."""
    rows = []
    for number in range(count):
        row = multi_row(number, 6, "ABCDEF"[number % 6])
        row["question"] = "Which of these is true?"
        row["options"] = [f"{label} passes {thing}" for thing in THINGS for label in ("CLIP_1", "CLIP_2")]
        row["clip_sha256"] = [digest(f"{number // cluster_size} {index}") for index in range(2)]
        rows.append(row)
    return rows


def guess(asked: Asked, *parts: Any) -> str:
    """One option by its content, whatever is shown and in whatever order."""
    return asked.luck("guess", *parts).choice(asked.question.letters)


def oracle(asked: Asked) -> str:
    """Sees, binds and follows order; without what a question needs it guesses."""
    ordered = asked.question.question_type == ORDER_TYPE
    if asked.probe in ("blind", "optionsonly") or (ordered and asked.probe in ("shuffled", "reversed", "center")):
        return guess(asked)
    return gold_of(asked)


def blind_guesser(asked: Asked) -> str:
    """Answers from the words alone."""
    return guess(asked)


def always_first(asked: Asked) -> str:
    """Takes what is shown first."""
    return next(iter(asked.view.shown_to_original.values()))


def label_ignorer(asked: Asked) -> str:
    """Takes the first clip shown for CLIP_1, whatever stands over it."""
    if asked.probe == "blind":
        return guess(asked)
    letters = "".join(sorted(asked.question.answer))
    return other_clip(letters) if asked.probe == "reordered" else letters


def gold_of(asked: Asked) -> str:
    """What is right of what is shown: the set that exchanged headings imply, else the dataset's."""
    return "".join(sorted(asked.view.implied or asked.question.answer))


def other_clip(letters: str) -> str:
    """The same said of the other clip: options come in pairs."""
    return "".join(sorted("BADCFE"["ABCDEF".index(letter)] for letter in letters))


def simulated_run(name: str, model: Model, split: Any, probes: Sequence[str], cost: bool = False) -> Run:
    """A run of a scripted model: the benchmark, and the probes named."""
    return Run(
        name,
        Path(name),
        (_task(name, model, split, "", cost),),
        probes=tuple(_task(name, model, split, probe, cost) for probe in probes),
    )


def simulated_results(models: dict[str, Model], probes: Sequence[str], count: int = 240, **options: Any) -> Results:
    """Score scripted models over `labelled_rows`."""
    split = memory_split("multi", labelled_rows(count, options.pop("cluster_size", 4)))
    runs = [simulated_run(name, model, split, probes, **options) for name, model in models.items()]
    return score_runs(runs, lambda config: split)


def _task(name: str, model: Model, split: Any, probe: str, cost: bool) -> TaskRun:
    def responses() -> list[Response]:
        found = []
        for question_id, question in split.questions.items():
            view = PROBES[probe].view(question, CentralFrame()) if probe else plain_view(question, NoFrames())
            if view is None:
                continue
            shown_of = {original: shown for shown, original in view.shown_to_original.items()}
            letters = model(Asked(question, probe, view))
            said = reply_shown("".join(sorted(shown_of[letter] for letter in letters)))
            frames = int(probe[1:]) if probe[:1] == "f" and probe[1:].isdecimal() else 64
            took = Cost(100 + 100 * frames, 10, frames / 64) if cost else Cost()
            found.append(Response(question_id, said.text, said.finish_reason, cost=took))
        return found

    return TaskRun("multi", Path(f"{name}.parquet"), Settings(), responses, probe)
