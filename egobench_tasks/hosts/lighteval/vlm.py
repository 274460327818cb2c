"""Any vision-language model of transformers, asked by lighteval with labels and frames interleaved."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from accelerate.utils import broadcast_object_list, gather_object
from lighteval.models.model_output import ModelResponse
from lighteval.models.transformers.vlm_transformers_model import VLMTransformersModel, VLMTransformersModelConfig
from lighteval.tasks.requests import Doc
from PIL import Image
from tqdm import tqdm
from transformers import BatchFeature

from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.errors import EgobenchError
from egobench_tasks.frames.errors import ClipError
from egobench_tasks.hosts.lighteval.generation import Generation, generation
from egobench_tasks.hosts.lighteval.identity import model_identity, with_identity
from egobench_tasks.hosts.lighteval.messages import MessagePart, is_ours, message_parts
from egobench_tasks.hosts.lighteval.repeats import joined, key_rows, repeat_of, with_repeats
from egobench_tasks.hosts.lighteval.said import read_tokens
from egobench_tasks.hosts.lighteval.usage import usage_errors
from egobench_tasks.runs.attempts import ended_by_itself, growing_budgets, next_attempt
from egobench_tasks.runs.journal import (
    CLIP_UNREADABLE,
    Answer,
    Journal,
    answer_key,
    journal_folder,
    next_generation,
    question_key,
)
from egobench_tasks.runs.record import Answerer, Asked
from egobench_tasks.runs.repeats import check_repeats, current_repeats
from egobench_tasks.runs.sessions import session_of
from egobench_tasks.runs.tally import count
from egobench_tasks.scoring.answers import LENGTH_STOP, NORMAL_STOP
from egobench_tasks.scoring.reasoning import left_open

logger = logging.getLogger(__name__)

_REMEDY = "generation_parameters={temperature:0.7} among the model's arguments"
_SEED_DIGITS = 15  # of a key's hexadecimal ones: torch takes 64 bits, signed


@dataclass(frozen=True, slots=True)
class Batch:
    """Collated inputs of some documents. ``unreadable`` holds those whose clips could not be decoded."""

    docs: list[Doc]
    texts: list[str]
    inputs: BatchFeature | None
    unreadable: list[tuple[Doc, ClipError]]


class FrameVLM(VLMTransformersModel):
    """lighteval's vision class with frames decoded as each batch is made, and answers kept as they come.

    Documents of other tasks go to the stock class untouched.
    """

    def __init__(self, config: VLMTransformersModelConfig) -> None:
        with usage_errors():
            self._n_repeats = current_repeats()
            check_repeats(self._n_repeats, config.generation_parameters.temperature or 0.0, seed=None, remedy=_REMEDY)
        super().__init__(config)
        # One process's word counts for all: machines may have copied the model's files at different times.
        identity = model_identity(config, self.model_sha)
        self._identity, self._generation = broadcast_object_list([identity, next_generation(identity)])
        self.config = with_identity(config, self._identity)
        self.asked: Asked | None = None
        self._stop_ids = _stop_ids(self.model.generation_config.eos_token_id, self.eos_token_id)

    @property
    def answerer(self) -> Answerer:
        """Who answers, for the run's record."""
        return Answerer(
            name=self.config.model_name,
            key=answer_key(**self._identity),
            identity=self._identity,
            generation=self._generation,
        )

    def greedy_until(self, docs: list[Doc]) -> list[ModelResponse]:
        """Answer the documents in their order: from the journal where it has them, else by generating."""
        ours = [doc for doc in docs if is_ours(doc)]
        others = [doc for doc in docs if not is_ours(doc)]
        asked = with_repeats(ours, self._n_repeats)
        answered = iter(joined(self._answer(asked), len(ours)) if ours else [])
        stock = iter(super().greedy_until(others) if others else [])
        return [next(answered) if is_ours(doc) else next(stock) for doc in docs]

    def missing(self, docs: Sequence[Doc]) -> list[Doc]:
        """Return the documents, in their order, that lack an answer or one of their repeats."""
        kept = Journal(journal_folder(self._identity, self._generation)).answers()
        return [
            doc
            for doc in docs
            if any(self._next_attempt(one, kept)[1] is not None for one in with_repeats([doc], self._n_repeats))
        ]

    def _answer(self, docs: list[Doc]) -> list[Generation]:
        started_s = time.monotonic()
        journal = Journal(journal_folder(self._identity, self._generation), session_of(self.answerer))
        # Processes that saw different journals would share out different documents, and wait for each other forever.
        (kept,) = broadcast_object_list([journal.answers()])
        n_missing = sum(map(len, self._waiting(docs, kept).values()))
        if self.accelerator.is_main_process:
            logger.info(f"{len(docs) - n_missing} answers from the journal {journal.folder}, {n_missing} to generate")
        while waiting := self._waiting(docs, kept):
            budget_tokens = min(waiting)  # all questions are answered once before any is asked for longer answers
            for answer in self._generate_all(waiting[budget_tokens], budget_tokens, journal):
                kept[answer.key] = answer
        journal.close()
        answers = [self._last_attempt(doc, kept) for doc in docs]
        self.asked = Asked(counts=count(answers, n_asked=n_missing), seconds=time.monotonic() - started_s)
        thinking = bool(left_open(self._chat_text(["?"])))  # the template opens the reasoning for the model
        return [generation(answer, self.answerer.key, thinking=thinking) for answer in answers]

    def _waiting(self, docs: list[Doc], kept: Mapping[str, Answer]) -> dict[int, list[Doc]]:
        """The documents that lack an attempt, by the new tokens it is to have."""
        waiting: dict[int, list[Doc]] = {}
        for doc in docs:
            _, budget_tokens = self._next_attempt(doc, kept)
            if budget_tokens is not None:
                waiting.setdefault(budget_tokens, []).append(doc)
        return waiting

    def _generate_all(self, docs: list[Doc], budget_tokens: int, journal: Journal) -> Iterator[Answer]:
        """Generate over all processes, each its share, and yield every process's answers on each.

        Processes meet after every batch: one that runs far ahead would wait at the end for longer
        than the process group's time limit, and take the run down with it.
        """
        # The longest first: a prompt that does not fit the context or the memory fails in the first minute.
        docs = sorted(docs, key=_prompt_size, reverse=True)
        world = self.accelerator.num_processes
        share = docs[self.accelerator.process_index :: world]
        n_batches = -(-len(docs[::world]) // self.batch_size)
        batches = _prefetched(
            self._collate, [share[i * self.batch_size :][: self.batch_size] for i in range(n_batches)]
        )
        what = f"Answering in {budget_tokens:,} tokens"
        for batch in tqdm(batches, total=n_batches, desc=what, unit="batch", disable=self.disable_tqdm):
            answers = [*self._generate(batch, budget_tokens), *self._unreadable(batch, budget_tokens)]
            for answer in answers:
                if answer.finish_reason != CLIP_UNREADABLE:  # asked again once the clip can be read
                    journal.append(answer)
            yield from gather_object(answers)

    def _collate(self, docs: list[Doc]) -> Batch:
        """Decode the documents' frames and make the model's inputs. Runs in a thread beside generation."""
        readable: list[Doc] = []
        messages: list[list[MessagePart]] = []
        unreadable: list[tuple[Doc, ClipError]] = []
        for doc in docs:
            try:
                messages.append(message_parts(doc))
                readable.append(doc)
            except ClipError as error:
                unreadable.append((doc, error))
        if not readable:
            return Batch([], [], None, unreadable)
        texts = [self._chat_text(parts) for parts in messages]
        images = [[part for part in parts if isinstance(part, Image.Image)] for parts in messages]
        inputs = self.processor(
            text=texts,
            images=images if any(images) else None,
            padding="longest",
            return_tensors="pt",
            add_special_tokens=self.add_special_tokens and not self._starts_with_bos(texts),
        )
        for doc, mask in zip(readable, inputs["attention_mask"], strict=True):
            self._check_context(doc, int(mask.sum()))
        return Batch(readable, texts, inputs, unreadable)

    def _chat_text(self, parts: Sequence[MessagePart]) -> str:
        """The message in the model's chat template, images as its placeholders."""
        content = [{"type": "text", "text": part} if isinstance(part, str) else {"type": "image"} for part in parts]
        conversation = [{"role": "user", "content": content}]
        if self.config.system_prompt is not None:
            system = [{"type": "text", "text": self.config.system_prompt}]
            conversation.insert(0, {"role": "system", "content": system})
        return self.processor.apply_chat_template(conversation, tokenize=False, add_generation_prompt=True)

    def _starts_with_bos(self, texts: list[str]) -> bool:
        """Whether the chat template wrote the first token already; a second one shifts every answer."""
        bos = self.tokenizer.bos_token
        return bos is not None and texts[0].startswith(bos)

    def _check_context(self, doc: Doc, n_prompt_tokens: int) -> None:
        """Refuse a prompt that leaves no room: cutting it would cut frames, in silence."""
        if n_prompt_tokens >= self.max_length:
            raise EgobenchError(
                f"question {doc.specific['question_id']}: the prompt has {n_prompt_tokens} tokens, the model's context "
                f"{self.max_length}. Use a model with a longer context, or give max_length=… if its config is wrong."
            )

    @torch.inference_mode()
    def _generate(self, batch: Batch, budget_tokens: int) -> list[Answer]:
        if batch.inputs is None:
            return []
        inputs = batch.inputs.to(self.device)
        if self.torch_dtype is not None:
            inputs = inputs.to(self.torch_dtype)
        n_padded = inputs["input_ids"].shape[1]
        parameters = {
            **self.generation_config_dict,
            "eos_token_id": self._stop_ids,
            # lighteval asks for every step's scores over the vocabulary: gigabytes, and nobody reads them.
            "output_scores": False,
            "return_dict_in_generate": False,
            "do_sample": self.generation_config_dict["temperature"] > 0,
            "max_new_tokens": min(budget_tokens, self.max_length - n_padded),
        }
        if parameters["do_sample"]:
            # A run that goes on where one was killed must not draw what that one drew for another repeat.
            torch.manual_seed(int(self._key(batch.docs[0], budget_tokens)[:_SEED_DIGITS], 16))
        generated = self.model.generate(**inputs, **parameters)[:, n_padded:].cpu()
        return [
            self._answer_of(doc, budget_tokens, prompt, tokens.tolist(), int(mask.sum()))
            for doc, prompt, tokens, mask in zip(
                batch.docs, batch.texts, generated, batch.inputs["attention_mask"], strict=True
            )
        ]

    def _answer_of(self, doc: Doc, budget_tokens: int, prompt: str, tokens: list[int], n_prompt_tokens: int) -> Answer:
        stops = [index for index, token in enumerate(tokens) if token in self._stop_ids]
        said = read_tokens(self.tokenizer, tokens, self._stop_ids, prompt)
        return self._new_answer(
            doc,
            budget_tokens,
            text=said.text,
            reasoning=said.reasoning,
            finish_reason=NORMAL_STOP if stops else LENGTH_STOP,
            n_prompt_tokens=n_prompt_tokens,
            n_new_tokens=stops[0] + 1 if stops else len(tokens),
        )

    def _unreadable(self, batch: Batch, budget_tokens: int) -> list[Answer]:
        for doc, error in batch.unreadable:
            logger.error(f"question {doc.specific['question_id']} stays unanswered and scores 0: {error}")
        return [
            self._new_answer(doc, budget_tokens, text="", finish_reason=CLIP_UNREADABLE) for doc, _ in batch.unreadable
        ]

    def _new_answer(self, doc: Doc, budget_tokens: int, **values: Any) -> Answer:
        return Answer(
            key=self._key(doc, budget_tokens),
            question_id=doc.specific["question_id"],
            task=doc.task_name,
            prompt=doc.query,
            budget_tokens=budget_tokens,
            repeat=repeat_of(doc),
            **values,
        )

    def _next_attempt(self, doc: Doc, kept: Mapping[str, Answer]) -> tuple[Answer | None, int | None]:
        return next_attempt(kept, partial(self._key, doc), self._budgets(doc), _is_final)

    def _last_attempt(self, doc: Doc, kept: Mapping[str, Answer]) -> Answer:
        answer, _ = self._next_attempt(doc, kept)
        assert answer is not None  # nothing is waiting any more
        return answer

    def _key(self, doc: Doc, budget_tokens: int) -> str:
        return question_key(self._identity, key_rows(doc), doc.images, budget_tokens, self._generation)

    def _budgets(self, doc: Doc) -> Iterable[int]:
        """The first is the user's, if he names one, else the task's; it grows in either case (PROTOCOL 1.2)."""
        named = self.config.generation_size or self.config.generation_parameters.max_new_tokens
        return growing_budgets(named or doc.generation_size, EGOGEARS.max_new_tokens_cap)


def _is_final(answer: Answer) -> bool:
    """Whether a larger budget would change nothing: the model ended, or the context was full before the budget."""
    return ended_by_itself(answer) or (answer.n_new_tokens or 0) < (answer.budget_tokens or 0)


def _prefetched(make: Callable[[list[Doc]], Batch], items: Iterable[list[Doc]]) -> Iterator[Batch]:
    """Yield ``make(item)`` in order, the next one being made in a thread while the last is used."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        upcoming: Future[Batch] | None = None
        for item in items:
            ready, upcoming = upcoming, pool.submit(make, item)
            if ready is not None:
                yield ready.result()
        if upcoming is not None:
            yield upcoming.result()


def _prompt_size(doc: Doc) -> tuple[int, int]:
    """Frames asked for, then characters: a stand-in for tokens that needs no decoding."""
    return sum(request.spec.count or 0 for request in doc.images.requests), len(doc.query)


def _stop_ids(generation_config_ids: int | list[int] | None, tokenizer_id: int | None) -> list[int]:
    """All tokens that end an answer. lighteval passes the tokenizer's alone; chat models often end
    turns with another one, and would run on to the limit."""
    ids = generation_config_ids if isinstance(generation_config_ids, list) else [generation_config_ids]
    return sorted({token for token in [*ids, tokenizer_id] if token is not None})
