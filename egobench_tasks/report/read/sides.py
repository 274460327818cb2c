"""What stands beside a run's own answers: its answers under probes, and its repeated answers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import pandas as pd

from egobench_tasks.report.read.choice_outcomes import COSTS, METRICS, Outcome, outcomes_frame
from egobench_tasks.report.read.states import UNFINISHED

_COLUMNS = ("run", "config", "question_id", "predicted", "implied", "repeat", *METRICS, *COSTS)


def n_unfinished(outcomes: Sequence[Outcome]) -> int:
    """Return how many questions another attempt may still answer."""
    return sum(outcome.state in UNFINISHED for outcome in outcomes)


@dataclass(slots=True)
class Side:
    """Gathers outcomes of one kind; ``column`` tells them apart: "probe" (its name) or "repeat" (its number)."""

    column: str
    frames: list[pd.DataFrame] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def add(self, run: str, config: str, parts: Iterable[tuple[str | int, Sequence[Outcome]]]) -> None:
        """Take the outcomes of probes or repeats of one run and config; what is not whole is left out, and said."""
        for name, outcomes in parts:
            missing = n_unfinished(outcomes)
            if missing:
                said = (
                    f"{run}, {config}, {self.column} {name}: {missing} of {len(outcomes)} questions are missing or "
                    "failed for reasons that are not the model's; it is left out until it is finished"
                )
                self.notices += [] if said in self.notices else [said]
                continue
            frame = outcomes_frame(run, config, outcomes)
            frame["implied"] = [outcome.implied for outcome in outcomes]
            frame[self.column] = name
            self.frames.append(frame)

    def add_probe(self, run: str, config: str, probe: str, repeats: Sequence[Sequence[Outcome]]) -> None:
        """Take all of a probe's answers, each with its number (``repeat``); those that are not whole are left out."""
        n_before = len(self.frames)
        self.add(run, config, [(probe, outcomes) for outcomes in repeats])
        for number, frame in enumerate(self.frames[n_before:]):
            frame["repeat"] = number

    def frame(self, attributes: pd.DataFrame) -> pd.DataFrame:
        """Return all of them as one table, joined with the questions' attributes; no rows where there are none."""
        if not self.frames:
            return pd.DataFrame(columns=[*dict.fromkeys([*_COLUMNS, self.column, *attributes.columns])])
        rows = pd.concat(self.frames, ignore_index=True)
        return rows.merge(attributes, on=["config", "question_id"], validate="m:1")
