"""One round of questions over all processes of a run, beside other runs on the same journal."""

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from accelerate import Accelerator
from accelerate.utils import broadcast_object_list, gather_object
from lighteval.tasks.requests import Doc

from egobench_tasks import stopping
from egobench_tasks.asking.messages import from_record
from egobench_tasks.asking.order import clips_together
from egobench_tasks.hosts.lighteval.sharing import Arrivals, ClaimedBatches
from egobench_tasks.hosts.lighteval.vision.ahead import measured, prepared_ahead, workers_for
from egobench_tasks.hosts.lighteval.vision.inputs import InputMaker
from egobench_tasks.hosts.lighteval.vision.prepare import Prepared, Question, prepare
from egobench_tasks.runs.claims import BEING_ASKED, Claims
from egobench_tasks.runs.journal import CLIP_UNREADABLE, Answer, Journal

_MOST_PAUSES = 60
"""Pauses, of a second each, after which processes meet: well before their group's time limit."""


@dataclass(frozen=True, slots=True)
class Round:
    """Documents that are each to be answered once, in as many new tokens.

    ``key`` is of a document's answer; ``answer`` generates those of a batch from its inputs, which ``maker`` makes.
    Answers go into ``journal`` as they come; ``arrivals`` are all that it got since the run began.
    """

    docs: Sequence[Doc]
    key: Callable[[Doc], str]
    answer: Callable[[Sequence[Doc], Prepared], Sequence[Answer]]
    maker: InputMaker
    batch_size: int
    accelerator: Accelerator
    journal: Journal
    arrivals: Arrivals

    def answers(self) -> Iterator[Answer]:
        """Yield every process's answers on each, and those of other runs that were at some of the questions.

        Where another run keeps its claims for long, some questions may be without an answer in the end. Processes meet
        after every batch: one that runs far ahead would wait at the end for longer than the process group's time limit,
        and take the run down with it. Raises `Stopped` in all of them where SIGTERM has come to one.
        """
        batches = self._batches()
        claims = Claims(self.journal.folder / "claims")
        claimed = ClaimedBatches(batches, claims, self.key, self.arrivals)
        prepared = self._prepared((list(map(_question, batch)) for batch in claimed.draw()), len(batches))
        try:
            for _ in batches:
                if any(gather_object([stopping.is_asked()])):
                    stopping.end()
                inputs = next(prepared)
                with claimed.oldest() as batch:
                    answers = self.answer(batch.docs, inputs)
                    del inputs  # its memory is filled with a later batch
                    for answer in answers:
                        if answer.finish_reason != CLIP_UNREADABLE:  # asked again once the clip can be read
                            self.journal.append(answer)
                yield from gather_object([*answers, *batch.found])
        finally:
            claimed.close()
        yield from self._answers_of_others(gather_object(claimed.left), claims)

    def _batches(self) -> list[Sequence[Doc]]:
        """This process's share, in as many batches as any other's."""
        docs = clips_together(self.docs, lambda doc: (doc.images, doc.query))
        world = self.accelerator.num_processes
        share = docs[self.accelerator.process_index :: world]
        n_batches = -(-len(docs[::world]) // self.batch_size)
        return [share[i * self.batch_size :][: self.batch_size] for i in range(n_batches)]

    def _prepared(self, batches: Iterator[Sequence[Question]], n_batches: int) -> Iterator[Prepared]:
        """The batches' inputs. The first, which holds the longest prompts, before the weights are read."""
        others: Iterator[Prepared] = iter(())
        for n_drawn, batch in enumerate(batches, 1):
            made, cost = measured(partial(prepare, self.maker, batch))
            first = [made]
            del made
            if batch:  # else other runs are at its questions
                workers = workers_for(cost, n_batches - n_drawn, self.accelerator.num_processes)
                others = prepared_ahead(self.maker, batches, workers)
            yield first.pop()  # nothing here holds it any longer
            yield from others

    def _answers_of_others(self, keys: Sequence[str], claims: Claims) -> list[Answer]:
        """Wait until another run's claim is free, all its answers are there, or a while is over; return what has come.

        One process waits for all.
        """

        def left() -> list[str]:
            found = self.arrivals.among(keys)
            return [key for key in keys if key not in found]

        if keys and self.accelerator.is_main_process:
            pauses = claims.pauses(left, BEING_ASKED.format)
            for pause_s in itertools.islice(pauses, _MOST_PAUSES):
                if stopping.is_asked():
                    break
                time.sleep(pause_s)
        (answers,) = broadcast_object_list([list(self.arrivals.among(keys).values())])
        return list(answers)


def _question(doc: Doc) -> Question:
    return Question(doc.specific["question_id"], tuple(from_record(doc.specific["segments"])), doc.images)
