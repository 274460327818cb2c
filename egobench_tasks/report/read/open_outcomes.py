"""EgoTempo's side of a report: what a judge said of each open answer, and the setting it was given in (PROTOCOL 2)."""

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum

import pandas as pd

from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.errors import InputError
from egobench_tasks.report.read.choice_questions import duration_bin

CODES = tuple(EGOTEMPO.category_codes.values())


class OpenState(StrEnum):
    """What became of a question. CORRECT and INCORRECT are a judge's words.

    UNANSWERED: the model gave no answer, which is wrong. NO_VERDICT: an answer that no judge has decided on, neither
    right nor wrong (PROTOCOL 2). LOST: no answer, and that is not the model's doing (no clip, a failed request, a part
    of the run that is not there): neither right nor wrong, and the run is partial.
    """

    CORRECT = "correct"
    INCORRECT = "incorrect"
    UNANSWERED = "unanswered"
    NO_VERDICT = "no verdict"
    LOST = "lost"


JUDGED = (OpenState.CORRECT, OpenState.INCORRECT)
_CORRECT = {OpenState.CORRECT: 1.0, OpenState.INCORRECT: 0.0, OpenState.UNANSWERED: 0.0}


@dataclass(frozen=True, slots=True)
class OpenOutcome:
    """One run's answer to one question, as one judge sees it.

    ``setting`` is a task's, such as ``text``, ``center``, ``f16`` or ``fps1_shuffled`` (DESIGN.md). ``video`` is that
    of the question's clip: questions on one video hang together.
    """

    run: str
    setting: str
    question_id: str
    category_code: str
    duration_s: float | None
    state: OpenState
    video: str | None = None


class Order(StrEnum):
    """How sampled frames are picked and put in order."""

    UNIFORM = "uniform"
    RANDOM = "random"
    SHUFFLED = "shuffled"


@dataclass(frozen=True, slots=True)
class OpenSetting:
    """What a model was given. At most one of ``n_frames`` and ``rate_hz`` is set; neither for text only."""

    name: str
    n_frames: int | None = None
    rate_hz: float | None = None
    order: Order = Order.UNIFORM

    @property
    def base(self) -> str:
        """The setting's name without its order."""
        return self.name.removesuffix(f"_{self.order}")

    @property
    def is_single_frame(self) -> bool:
        """Whether the model saw one frame only."""
        return self.n_frames == 1

    @property
    def is_video(self) -> bool:
        """Whether the model saw several frames in their order."""
        return self.order is Order.UNIFORM and (self.rate_hz is not None or (self.n_frames or 0) > 1)


_SETTING = re.compile(
    r"text|center|(?:f(?P<frames>[1-9]\d*)|fps(?P<rate>\d+(?:\.\d+)?))(?:_(?P<order>random|shuffled))?"
)


def read_setting(name: str) -> OpenSetting:
    """Read a setting's name. Raises ``InputError`` for one that no task has."""
    match = _SETTING.fullmatch(name)
    if match is None:
        raise InputError(
            f"EgoTempo has no setting {name!r}; settings are text, center, f16, fps1, fps1_shuffled and so on"
        )
    if match["frames"] is None and match["rate"] is None:
        return OpenSetting(name, n_frames=1 if name == "center" else None)
    return OpenSetting(
        name,
        n_frames=int(match["frames"]) if match["frames"] else None,
        rate_hz=float(match["rate"]) if match["rate"] else None,
        order=Order(match["order"] or Order.UNIFORM),
    )


def open_frame(outcomes: Iterable[OpenOutcome]) -> pd.DataFrame:
    """Return outcomes as a table: the fields of `OpenOutcome`, ``duration`` (its bin), ``correct`` and ``decided``.

    ``correct`` is 1 or 0 where a question is decided, by a judge or by having no answer; NaN elsewhere.
    """
    frame = pd.DataFrame([asdict(outcome) for outcome in outcomes])
    frame["correct"] = frame["state"].map(_CORRECT).astype(float)
    frame["decided"] = frame["correct"].notna()
    frame["duration"] = [None if pd.isna(value) else duration_bin(value) for value in frame["duration_s"]]
    return frame
