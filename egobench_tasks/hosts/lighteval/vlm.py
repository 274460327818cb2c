"""Any vision-language model of transformers, asked by lighteval with labels and frames interleaved."""

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from functools import cached_property, partial
from typing import Any

import torch
from accelerate import Accelerator, InitProcessGroupKwargs
from accelerate.utils import broadcast_object_list
from lighteval.models.model_output import ModelResponse
from lighteval.models.transformers.vlm_transformers_model import VLMTransformersModel, VLMTransformersModelConfig
from lighteval.models.utils import _simplify_name
from lighteval.tasks.prompt_manager import PromptManager
from lighteval.tasks.requests import Doc
from lighteval.utils.cache_management import SampleCache
from tqdm import tqdm

from egobench_tasks import stopping
from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.errors import InputError
from egobench_tasks.hosts.lighteval.generation import Generation, generation
from egobench_tasks.hosts.lighteval.identity import model_identity, with_identity
from egobench_tasks.hosts.lighteval.messages import is_ours
from egobench_tasks.hosts.lighteval.repeats import joined, key_rows, repeat_of, with_repeats
from egobench_tasks.hosts.lighteval.rounds import Round
from egobench_tasks.hosts.lighteval.said import all_stop_ids, read_tokens
from egobench_tasks.hosts.lighteval.sharing import Arrivals
from egobench_tasks.hosts.lighteval.usage import usage_errors
from egobench_tasks.hosts.lighteval.vision.model import VisionModel
from egobench_tasks.hosts.lighteval.vision.prepare import Prepared
from egobench_tasks.hosts.lighteval.vision.settings import FrameVLMConfig
from egobench_tasks.runs.attempts import ended_by_itself, growing_budgets, next_attempt
from egobench_tasks.runs.journal import (
    CLIP_UNREADABLE,
    Answer,
    Journal,
    answer_key,
    is_fresh,
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
from egobench_tasks.texts import some_of

logger = logging.getLogger(__name__)

_REMEDY = "generation_parameters={temperature:0.7} among the model's arguments"
_SEED_DIGITS = 15  # of a key's hexadecimal ones: torch takes 64 bits, signed
_PROCESSES_MEET_WITHIN = timedelta(seconds=3000)


class FrameVLM(VLMTransformersModel):
    """lighteval's vision class with frames decoded as each batch is made, and answers kept as they come.

    The weights are read when the first question is asked: what is wrong with the settings, the template, the
    options or the longest prompt is found before, and a run whose answers are all kept needs none.
    Documents of other tasks go to the stock class untouched.
    """

    def __init__(self, config: VLMTransformersModelConfig) -> None:
        with usage_errors():
            self._n_repeats = current_repeats()
            check_repeats(self._n_repeats, config.generation_parameters.temperature or 0.0, seed=None, remedy=_REMEDY)
        # Not the stock class's own, which reads the weights first and knows one kind of model.
        self.config = FrameVLMConfig.of(config)
        self.accelerator = Accelerator(kwargs_handlers=[InitProcessGroupKwargs(timeout=_PROCESSES_MEET_WITHIN)])
        self.device = torch.device(self.config.device) if self.config.device else self.accelerator.device
        self.torch_dtype = self.config.torch_dtype
        self.use_chat_template = True
        self.batch_size = self.config.batch_size
        self.model_name = _simplify_name(self.config.model_name)
        with usage_errors():
            self._vision = VisionModel(self.config, self._placement(), self.device)
        self.processor = self._vision.processor
        self.transformers_config = self._vision.checkpoint.config
        self._max_length = self._vision.max_length
        self._add_special_tokens = self.config.add_special_tokens
        self.generation_config_dict = {
            **self.config.generation_parameters.to_transformers_dict(),
            "pad_token_id": self.pad_token_id,
            "eos_token_id": self.eos_token_id,
            "renormalize_logits": True,
        }
        self.prompt_manager = PromptManager(
            use_chat_template=True, tokenizer=self.tokenizer, system_prompt=self.config.system_prompt
        )
        self._cache = SampleCache(self.config)
        self.model_sha = self.config.get_model_sha()
        # One process's word counts for all: machines may have copied the model's files at different times.
        identity = model_identity(self.config, self.model_sha)
        self._identity, self._generation = broadcast_object_list([identity, next_generation(identity)])
        self.config = with_identity(self.config.named(), self._identity)
        self.asked: Asked | None = None
        self._unread: list[str] = []

    @cached_property
    def model(self) -> Any:
        """The model with its weights."""
        with usage_errors():
            return self._vision.weights

    @property
    def _samples(self) -> bool:
        return float(self.generation_config_dict["temperature"]) > 0

    @cached_property
    def _stop_ids(self) -> list[int]:
        return all_stop_ids(self.model.generation_config.eos_token_id, self.eos_token_id)

    def _placement(self) -> dict[str, Any]:
        """Where transformers is to put the weights; empty where they go to ``self.device`` as a whole."""
        device_map = self.config.device_map
        if device_map is not None:
            if self.accelerator.num_processes > 1:
                raise InputError(
                    "device_map: each of several processes would take all devices; start one process, or leave it out"
                )
            return {"device_map": device_map}
        if self.config.device is None:
            is_parallel, max_memory, device_map = self.init_model_parallel(self.config.model_parallel)
            if is_parallel:
                return {"device_map": device_map, "max_memory": max_memory}
        return {"device_map": {"": self.device}} if self.config.quantization_name else {}

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
        """Answer the documents in their order: from the journal where it has them, else by generating.

        Questions that another run is at are left to it, and waited for. Raises `Stopped` where SIGTERM comes before all
        are answered.
        """
        ours = [doc for doc in docs if is_ours(doc)]
        others = [doc for doc in docs if not is_ours(doc)]
        asked = with_repeats(ours, self._n_repeats)
        answered = iter(joined(self._answer(asked), len(ours)) if ours else [])
        if self._unread:
            logger.error(f"{len(self._unread)} questions stay unanswered, their clips unread: {some_of(self._unread)}")
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
            if self._samples and self.batch_size > 1:
                logger.warning(
                    f"temperature above 0: questions are asked one at a time, not {self.batch_size}, so that no answer "
                    "depends on what is asked beside it"
                )
            logger.info(f"{len(docs) - n_missing} answers from the journal {journal.folder}, {n_missing} to generate")
        arrivals = Arrivals(journal)
        try:
            with tqdm(total=n_missing, unit="answer", disable=self.disable_tqdm) as progress:
                while waiting := self._waiting(docs, kept):
                    budget_tokens = min(waiting)  # all questions are answered once before any is asked for longer ones
                    progress.set_description(f"Answering in {budget_tokens:,} tokens")
                    for answer in self._round(waiting[budget_tokens], budget_tokens, journal, arrivals).answers():
                        kept[answer.key] = answer
                        if not _is_final(answer) and budget_tokens < EGOGEARS.max_new_tokens_cap:
                            progress.total += 1  # a cut one is asked for again
                        progress.update()
        except stopping.Stopped:
            n_done = len(docs) - sum(map(len, self._waiting(docs, kept).values()))
            raise stopping.stopped(n_done, len(docs), "answers", journal.folder, fresh=is_fresh()) from None
        finally:
            journal.close()
        answers = [self._last_attempt(doc, kept) for doc in docs]
        self.asked = Asked(counts=count(answers, n_asked=n_missing), seconds=time.monotonic() - started_s)
        thinking = bool(left_open(self._vision.prompt(["?"])))  # the template opens the reasoning for the model
        return [generation(answer, self.answerer.key, thinking=thinking) for answer in answers]

    def _waiting(self, docs: list[Doc], kept: Mapping[str, Answer]) -> dict[int, list[Doc]]:
        """The documents that lack an attempt, by the new tokens it is to have."""
        waiting: dict[int, list[Doc]] = {}
        for doc in docs:
            _, budget_tokens = self._next_attempt(doc, kept)
            if budget_tokens is not None:
                waiting.setdefault(budget_tokens, []).append(doc)
        return waiting

    def _round(self, docs: Sequence[Doc], budget_tokens: int, journal: Journal, arrivals: Arrivals) -> Round:
        return Round(
            docs,
            key=lambda doc: self._key(doc, budget_tokens),
            answer=lambda docs, inputs: [
                *self._generate(docs, inputs, budget_tokens),
                *self._unreadable(docs, inputs, budget_tokens),
            ],
            maker=self._vision.maker,
            # Rows of a batch draw from one generator: a sampled answer would depend on what is asked beside it.
            batch_size=1 if self._samples else self.batch_size,
            accelerator=self.accelerator,
            journal=journal,
            arrivals=arrivals,
        )

    @torch.inference_mode()
    def _generate(self, docs: Sequence[Doc], prepared: Prepared, budget_tokens: int) -> list[Answer]:
        if prepared.inputs is None:
            return []
        parameters = {
            **self.generation_config_dict,
            "eos_token_id": self._stop_ids,
            # lighteval asks for every step's scores over the vocabulary: gigabytes, and nobody reads them.
            "output_scores": False,
            "return_dict_in_generate": False,
            "do_sample": self._samples,
        }
        if self._samples:
            # One question a batch: its draws are its own, whatever was asked before and wherever the run was killed.
            torch.manual_seed(int(self._key(docs[prepared.readable[0]], budget_tokens)[:_SEED_DIGITS], 16))
        generated = self._vision.new_tokens(prepared.inputs, budget_tokens, **parameters)
        masks = prepared.inputs["attention_mask"]
        return [
            self._answer_of(docs[place], budget_tokens, prompt, tokens.tolist(), int(mask.sum()))
            for place, prompt, tokens, mask in zip(prepared.readable, prepared.texts, generated, masks, strict=True)
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

    def _unreadable(self, docs: Sequence[Doc], prepared: Prepared, budget_tokens: int) -> list[Answer]:
        self._unread += [f"{docs[place].specific['question_id']} ({error})" for place, error in prepared.unreadable]
        return [
            self._new_answer(docs[place], budget_tokens, text="", finish_reason=CLIP_UNREADABLE)
            for place, _ in prepared.unreadable
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
