"""What stands behind the page of an exam: whose place an address opens, what is asked there, what was answered."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode

from egobench_tasks.browse.library import Library
from egobench_tasks.browse.question import QuestionPage
from egobench_tasks.errors import InputError
from egobench_tasks.making.exam.sitting import (
    Given,
    HandedIn,
    Record,
    Sitting,
    TakenBack,
    after,
    choice_text,
    chosen_letters,
    to_record,
)
from egobench_tasks.making.log import LogFile
from egobench_tasks.making.pages.html import clip_addresses, clips_html, render
from egobench_tasks.making.pages.page import View, refusal
from egobench_tasks.runs.record import utc_now
from egobench_tasks.texts import well_formed

_MOST_SECONDS = 24 * 3600.0


class Candidate:
    """One person at their exam; what they answer is on disk before the page says so."""

    def __init__(self, participant: str, log: LogFile, sitting: Sitting) -> None:
        self.participant, self.sitting, self._log = participant, sitting, log

    def keep(self, record: Record) -> None:
        """Write a record, and only then take it for said."""
        self._log.append(to_record(record))
        self.sitting = after(self.sitting, record)


class ExamDesk:
    """The page of an exam for one person or several, each under an address of their own.

    ``frames_of`` makes the HTML of a question's frames; None where whole clips are shown. ``finished`` is called once
    everybody has handed in.
    """

    def __init__(
        self,
        library: Library,
        question_ids: Sequence[str],
        candidates: Sequence[Candidate],
        finished: Callable[[], None],
        frames_of: Callable[[QuestionPage], str] | None = None,
    ) -> None:
        self.title = f"{library.title}: exam"
        self._library, self._ids, self._finished, self._frames_of = library, question_ids, finished, frames_of
        self._candidates = {one.participant: one for one in candidates}

    def open(self, query: Mapping[str, str]) -> View:
        """See `pages.page.Desk`: ``?participant=p1&number=7``; without a number, the first question unanswered."""
        candidate = self._candidate(query)
        if candidate is None:
            return View("", "", render("message.html.j2", message="Open the link that you were given."))
        number = query.get("number", "")
        index = int(number) - 1 if number.isascii() and number.isdecimal() else -1
        return self._view(candidate, index if 0 <= index < len(self._ids) else self._open_after(candidate, -1))

    def act(self, message: Mapping[str, Any]) -> View:
        """See `pages.page.Desk`."""
        query = dict(parse_qsl(str(message.get("place", "")).removeprefix("?")))
        candidate = self._candidate(query)
        if candidate is None or message.get("question") not in self._ids:
            return self.open(query)
        index = self._ids.index(str(message["question"]))
        try:
            match message.get("do"):
                case "answer":
                    self._answer(candidate, self._ids[index], message)
                    index = self._open_after(candidate, index)
                case "undo":
                    index = self._take_back(candidate)
                case "hand_in":
                    self._hand_in(candidate)
                case "go":
                    index = self._place(candidate, index, str(message.get("to", "")))
        except (InputError, OSError) as error:
            return self._view(candidate, index, refusal(error))
        return self._view(candidate, index)

    def _candidate(self, query: Mapping[str, str]) -> Candidate | None:
        if "participant" in query or len(self._candidates) > 1:
            return self._candidates.get(query.get("participant", ""))
        return next(iter(self._candidates.values()))

    def _answer(self, candidate: Candidate, question_id: str, message: Mapping[str, Any]) -> None:
        if candidate.sitting.handed_in:
            raise InputError("It is handed in: nothing can be changed any more.")
        given = [str(one) for one in (message.get("fields") or {}).get("answer") or ()]
        text = read_answer(self._page(question_id), given)
        candidate.keep(
            Given(question_id=question_id, text=text, seconds=_seconds(message.get("seconds")), when_utc=utc_now())
        )

    def _take_back(self, candidate: Candidate) -> int:
        """Take the answer given last back, and return the place of its question."""
        if candidate.sitting.handed_in:
            raise InputError("It is handed in: nothing can be changed any more.")
        if not candidate.sitting.given:
            raise InputError("There is no answer to take back.")
        question_id = candidate.sitting.given[-1].question_id
        candidate.keep(TakenBack(question_id=question_id, when_utc=utc_now()))
        return self._ids.index(question_id)

    def _hand_in(self, candidate: Candidate) -> None:
        left = [index + 1 for index, one in enumerate(self._ids) if one not in candidate.sitting.answers]
        if left:
            raise InputError(f"Not answered yet: {', '.join(map(str, left[:20]))}{', …' if len(left) > 20 else ''}")
        if not candidate.sitting.handed_in:
            candidate.keep(HandedIn(when_utc=utc_now()))
        if all(one.sitting.handed_in for one in self._candidates.values()):
            self._finished()

    def _open_after(self, candidate: Candidate, index: int) -> int:
        """The next question without an answer, round the end; the next one where all have one, the last at the end."""
        n = len(self._ids)
        following = [(index + distance) % n for distance in range(1, n + 1)]
        unanswered = (one for one in following if self._ids[one] not in candidate.sitting.answers)
        return next(unanswered, min(index + 1, n - 1))

    def _place(self, candidate: Candidate, index: int, to: str) -> int:
        match to:
            case "next":
                return min(index + 1, len(self._ids) - 1)
            case "previous":
                return max(index - 1, 0)
            case "unanswered":
                return self._open_after(candidate, index)
        return index

    def _page(self, question_id: str) -> QuestionPage:
        page = self._library.page(question_id)
        assert page is not None  # asked for ids of the library alone
        return page

    def _view(self, candidate: Candidate, index: int, notice: str = "") -> View:
        question_id, sitting = self._ids[index], candidate.sitting
        page, given = self._page(question_id), sitting.answers.get(question_id)
        ahead = {self._open_after(candidate, index), min(index + 1, len(self._ids) - 1)} - {index}
        pages_ahead = [self._page(self._ids[one]) for one in sorted(ahead)]
        form = render(
            "exam.html.j2",
            page=page,
            n_select=sum(option.is_gold for option in page.options),
            chosen=chosen_letters(given.text) if given and page.options else [],
            text=given.text if given else "",
            is_answered=given is not None,
            participant=candidate.participant,
            address="?" + urlencode({"participant": candidate.participant, "number": index + 1}),
            ahead=[] if self._frames_of else [one for later in pages_ahead for one in clip_addresses(later)],
            number=index + 1,
            n_questions=len(self._ids),
            n_answered=sum(one in sitting.answers for one in self._ids),
            handed_in=sitting.handed_in,
            may_undo=bool(sitting.given) and not sitting.handed_in,
            notice=notice,
        )
        if self._frames_of is None:
            return View(question_id, clips_html(page), form)
        return View(question_id, self._frames_of(page), form)


def read_answer(page: QuestionPage, given: Sequence[str]) -> str:
    """Return an answer in a model's words: the letters chosen, as shown, or the text.

    Raises ``InputError`` saying what is missing: people choose as many options as they were told to, which keeps
    slips of a finger out of their score.
    """
    if not page.options:
        text = well_formed(given[0]).strip() if given else ""
        if not text:
            raise InputError("Write down an answer.")
        return text
    letters = set(given) & {option.shown for option in page.options}
    n_select = sum(option.is_gold for option in page.options)
    if len(letters) != n_select:
        raise InputError(f"Choose {n_select}: {len(letters)} {'is' if len(letters) == 1 else 'are'} chosen.")
    return choice_text(letters)


def _seconds(value: object) -> float:
    """What the page says of the time, as far as it can be."""
    seconds = float(value) if isinstance(value, int | float) else 0.0
    return round(seconds, 3) if 0 <= seconds <= _MOST_SECONDS else 0.0
