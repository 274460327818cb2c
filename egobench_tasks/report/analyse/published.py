"""The papers' own figures, as data (PROTOCOL 1.4 and 2), to stand beside a run's and never among them.

Rates are in [0, 1]. Every record says where its figure is from.
"""

from dataclasses import dataclass

EGOGEARS_SOURCE = "EgoGears, first multi-video leaderboard (arXiv 2609.37938)"
EGOGEARS_FINDINGS_SOURCE = "EgoGears, findings over 20 comparable configurations (arXiv 2609.37938)"
EGOTEMPO_SOURCE = "EgoTempo, CVPR 2025 (arXiv 2503.13646)"

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
    """A published accuracy on EgoTempo. ``setting`` is a task's setting (DESIGN.md), or what it is instead."""

    model: str
    setting: str
    accuracy: float


_GEMINI, _GPT = "Gemini 1.5 Flash", "GPT-4o"

EGOTEMPO = (
    OpenFigure("human", "video", 0.632),
    OpenFigure("random answer of the category", "text", 0.049),
    OpenFigure(_GEMINI, "text", 0.100),
    OpenFigure(_GEMINI, "center", 0.091),
    OpenFigure(_GEMINI, "fps0.1", 0.190),
    OpenFigure(_GEMINI, "fps0.5", 0.341),
    OpenFigure(_GEMINI, "fps1", 0.391),
    OpenFigure(_GEMINI, "fps1_random", 0.305),
    OpenFigure(_GEMINI, "fps1_shuffled", 0.323),
    OpenFigure(_GEMINI, "f4", 0.243),
    OpenFigure(_GEMINI, "f8", 0.279),
    OpenFigure(_GEMINI, "f16", 0.349),
    OpenFigure(_GEMINI, "f32", 0.361),
    OpenFigure(_GEMINI, "f64", 0.389),
    OpenFigure(_GPT, "f1", 0.129),
    OpenFigure(_GPT, "f4", 0.289),
    OpenFigure(_GPT, "f8", 0.353),
    OpenFigure(_GPT, "f16", 0.408),
    OpenFigure(_GPT, "f32", 0.401),
    OpenFigure(_GPT, "f64", 0.444),
)

# Multiple choice with four options: chance 25 %. PROTOCOL 2 names no model for these.
_UNNAMED = "closed form, model not named"
EGOTEMPO_CLOSED_FORM = (
    OpenFigure(_UNNAMED, "text", 0.362),
    OpenFigure(_UNNAMED, "center", 0.438),
    OpenFigure(_UNNAMED, "fps1", 0.609),
)
EGOTEMPO_CLOSED_FORM_CHANCE = 0.25
