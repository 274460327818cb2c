"""A judge asked for one answer at a time, which is how Inspect scores."""

from inspect_ai.util import concurrency

from egobench_tasks.judge.client import OUTAGES, judge_async, stored_judgements
from egobench_tasks.judge.identity import served_identity
from egobench_tasks.judge.prompt import JudgeItem
from egobench_tasks.judge.settings import JudgeSettings
from egobench_tasks.judge.store import VerdictStore
from egobench_tasks.judge.verdict import Judgement
from egobench_tasks.servers.rounds import GIVE_UP_AFTER


class SampleJudge:
    """Judges single answers, no more at once than the judge's settings allow; what the store holds is not asked again.

    A server that has failed for `GIVE_UP_AFTER` answers in a row is asked no more in this run: each
    answer would wait for all its timeouts.
    """

    def __init__(self, settings: JudgeSettings, store: VerdictStore) -> None:
        self._settings = settings
        self._store = store
        self._failures_in_a_row = 0

    async def judgement(self, item: JudgeItem) -> Judgement:
        """Return the verdict on one answer, or why there is none."""
        async with concurrency(f"judge {self._settings.model}", self._settings.most_at_once):
            if self._failures_in_a_row >= GIVE_UP_AFTER:
                (judgement,) = stored_judgements([item], served_identity(self._settings), self._store)
                return judgement
            (judgement,) = await judge_async([item], self._settings, self._store)
        self._failures_in_a_row = self._failures_in_a_row + 1 if judgement.failure in OUTAGES else 0
        return judgement
