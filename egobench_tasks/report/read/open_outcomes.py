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


@dataclass(frozen=True, slots=True)
class OpenOutcome:
    """One run's answer to one question, as judged.

    ``setting`` is a task's, such as ``text``, ``center``, ``f16`` or ``fps1_shuffled`` (DESIGN.md).
    ``correct`` is None where there is no verdict: neither right nor wrong. A question that the run
    never answered is no such case: it is wrong.
    """

    run: str
    setting: str
    question_id: str
    category_code: str
    duration_s: float | None
    correct: bool | None


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
    """Return outcomes as a table: the fields of `OpenOutcome`, ``duration`` (its bin) and ``judged``.

    ``correct`` is a float (1, 0, NaN for no verdict).
    """
    frame = pd.DataFrame([asdict(outcome) for outcome in outcomes])
    frame["correct"] = frame["correct"].astype("Float64").astype(float)
    frame["judged"] = frame["correct"].notna()
    frame["duration"] = [None if pd.isna(value) else duration_bin(value) for value in frame["duration_s"]]
    return frame
