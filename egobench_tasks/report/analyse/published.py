"""The papers' own figures, as data (PROTOCOL 1.4 and 2), to stand beside a run's.

Rates are in [0, 1]. Every record says where its figure is from, and which harness and judge made it.
"""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

EGOGEARS_SOURCE = "EgoGears, first multi-video leaderboard (arXiv 2609.37938)"
EGOGEARS_HARNESS = (
    "an older and laxer harness of the authors': free text was searched for letters where there was no JSON, answers "
    "were cut at 2,048 tokens and not asked again, failed questions were left out"
)
EGOGEARS_FINDINGS_SOURCE = "EgoGears, findings over 20 comparable configurations (arXiv 2609.37938)"
EGOTEMPO_SOURCE = "EgoTempo, CVPR 2025 (arXiv 2503.13646), tables 3 to 7"
EGOTEMPO_HARNESS = "the authors' own"
EGOTEMPO_JUDGE = "Gemini 1.5 Pro, in the paper's wording"

# Chance of an exact answer on the 531 questions over independent recordings.
CHANCE_INDEPENDENT_RECORDINGS = 0.0447


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """One model on the multi split as first released."""

    model: str
    exact_set: float
    overlap: float
    wellformed: float


MULTI_LEADERBOARD = (
    LeaderboardRow("Qwen3-VL-235B-A22B-Thinking", 0.3840, 0.7632, 0.7216),
    LeaderboardRow("GLM-4.6V", 0.3685, 0.6857, 0.8245),
    LeaderboardRow("Gemma-4-31B-it", 0.3315, 0.5985, 0.9973),
    LeaderboardRow("Qwen3-VL-235B-A22B-Instruct", 0.2858, 0.5557, 0.9960),
    LeaderboardRow("Qwen2.5-VL-72B-Instruct", 0.2636, 0.5346, 0.9966),
    LeaderboardRow("InternVL3.5-241B-A28B", 0.2421, 0.5193, 0.9980),
    LeaderboardRow("Qwen3-VL-8B", 0.1688, 0.4382, 0.9966),
    LeaderboardRow("Qwen2.5-VL-7B", 0.0982, 0.3449, 0.9926),
    LeaderboardRow("ERNIE-4.5-VL-28B-A3B", 0.0403, 0.6779, 0.4008),
)


@dataclass(frozen=True, slots=True)
class EgoGearsFindings:
    """What the paper finds over its configurations; differences are of rates, multi less single."""

    configurations: int = 20
    configurations_that_drop: int = 20
    mean_drop: float = -0.225
    mean_drop_one_answer: float = -0.146
    mean_drop_partial_credit: float = -0.133
    median_partial_credit_gain_single: float = 0.092
    median_partial_credit_gain_multi: float = 0.183
    least_rank_agreement: float = 0.98


FINDINGS = EgoGearsFindings()


@dataclass(frozen=True, slots=True)
class OpenFigure:
    """A published accuracy on EgoTempo and those of its categories, by code. ``table`` is the paper's.

    ``setting`` is a task's (`asking.open_settings`): the central frame is ``center`` in every table. What saw no
    setting of a model's has a word of its own: a person ``video``, a guess ``chance``.
    """

    model: str
    setting: str
    accuracy: float
    categories: Mapping[str, float]
    table: int
    closed_form: bool = False

    @property
    def is_model(self) -> bool:
        """Whether a model answered under a setting of ours, not a person and not chance."""
        return self.setting not in ("video", "chance")


# Some figures stand in several tables; tables 4 and 5 give a few categories otherwise than table 3, with equal means.
_EGOTEMPO_FILE = Path(__file__).parent / "egotempo_published.csv"


def _read_figures() -> Iterable[OpenFigure]:
    with _EGOTEMPO_FILE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            table, model, setting, form = (row.pop(name) for name in ("table", "model", "setting", "form"))
            rates = {name: round(float(percent) / 100, 4) for name, percent in row.items()}
            average = rates.pop("average")
            yield OpenFigure(model, setting, average, rates, int(table), closed_form=form == "closed")


EGOTEMPO_TABLES = tuple(_read_figures())
"""All rows of the paper's tables 3 to 7, in their order; one name for a model that the paper calls by several."""


def _first_of_each(figures: Iterable[OpenFigure]) -> tuple[OpenFigure, ...]:
    """Each model and setting once, as the first table that has it gives it; people and chance first."""
    found: dict[tuple[str, str], OpenFigure] = {}
    for figure in figures:
        found.setdefault((figure.model, figure.setting), figure)
    return tuple(sorted(found.values(), key=lambda figure: figure.is_model))


EGOTEMPO = _first_of_each(figure for figure in EGOTEMPO_TABLES if not figure.closed_form)
EGOTEMPO_CLOSED_FORM = _first_of_each(figure for figure in EGOTEMPO_TABLES if figure.closed_form)
"""Multiple choice with four options, of which one is right (table 6)."""

EGOTEMPO_CLOSED_FORM_CHANCE = 0.25
