"""What stands behind a reviewer's page: each message becomes a record on disk before the page hears of it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode

from egobench_tasks.browse.library import Library
from egobench_tasks.errors import InputError
from egobench_tasks.making.audit.finding import Finding
from egobench_tasks.making.log import LogFile
from egobench_tasks.making.pages.html import clip_addresses, clips_html, render
from egobench_tasks.making.pages.page import View, refusal
from egobench_tasks.making.review.decision import (
    GOLD,
    REASON_TITLES,
    Action,
    Decision,
    Mark,
    OwnAnswer,
    Reason,
    Revealed,
    Said,
    TakenBack,
    to_record,
)
from egobench_tasks.making.review.folder import Reviews
from egobench_tasks.making.review.queue import ALL, DISPUTES, Queue, make_queue
from egobench_tasks.making.review.repair import Fields, Repair, field, read_repair
from egobench_tasks.making.review.settle import keys_of
from egobench_tasks.making.review.sheet import Sheet, content_of
from egobench_tasks.making.review.state import NO_OPINION, Opinion, Opinions, after, against_marks, to_take_back
from egobench_tasks.making.seen import Seen
from egobench_tasks.runs.record import utc_now

_NO_REPAIR = Repair(None, None)


class ReviewDesk:
    """One reviewer's page over a dataset. ``blind``: marks, or words of one's own, before the gold is shown.

    ``said``: all that they said so far, of which ``opinions`` is the sum.
    """

    def __init__(
        self,
        library: Library,
        reviewer: str,
        log: LogFile,
        opinions: Opinions,
        others: Reviews,
        findings: Sequence[Finding] = (),
        *,
        blind: bool = False,
        said: Iterable[Said] = (),
    ) -> None:
        self.title = f"{library.title}: review by {reviewer}"
        self._library, self._reviewer, self._log, self._others, self._blind = library, reviewer, log, others, blind
        self._opinions = dict(opinions)
        self._to_take_back: tuple[str, ...] = ()
        for one in said:
            self._to_take_back = to_take_back(self._to_take_back, one)
        self._findings: dict[str, list[Finding]] = {}
        for finding in findings:
            if finding.question_id in library.pages:
                self._findings.setdefault(finding.question_id, []).append(finding)
        rest = (entry.question_id for entry in library.entries if entry.question_id not in self._findings)
        self._all = [*self._findings, *rest]  # what was found is looked at first, in the audit's order

    @property
    def n_decided(self) -> int:
        """How many questions this reviewer has decided on their own."""
        return sum(self._opinion(question_id).decision is not None for question_id in self._all)

    def open(self, query: Mapping[str, str]) -> View:
        """See `pages.page.Desk`: ``?question=ID&queue=disputes``; without a question, the first that is undecided."""
        queue = self._queue(query.get("queue", ""))
        question_id = query.get("question") or ""
        if question_id in self._library.pages:
            return self._view(question_id, queue)
        notice = f"There is no question {question_id} in this dataset." if question_id else ""
        return self._view(queue.undecided_after(""), queue, notice)

    def act(self, message: Mapping[str, Any]) -> View:
        """See `pages.page.Desk`."""
        question_id = str(message.get("question", ""))
        queue = self._queue(dict(parse_qsl(str(message.get("place", "")).removeprefix("?"))).get("queue", ""))
        if question_id not in self._library.pages:
            return self.open({})
        sheet = self._sheet(question_id, queue)
        try:
            match message.get("do"):
                case "go":
                    return self._go(question_id, queue, str(message.get("to", "")))
                case "mark":
                    self._mark(sheet, str(message.get("option", "")), str(message.get("seen", "")))
                case "own":
                    self._keep(sheet, OwnAnswer, text=self._own_answer(message.get("fields") or {}))
                case "reveal":
                    self._reveal(sheet)
                case "undo":
                    return self._take_back(queue)
                case "decide":
                    self._decide(sheet, queue, message)
                    queue = self._queue(queue.name)
                    return self._view(queue.undecided_after(question_id), queue, decided=question_id)
        except (InputError, OSError) as error:
            return self._view(question_id, queue, refusal(error), panel=str(message.get("action", "")))
        return self._view(question_id, queue)

    def _mark(self, sheet: Sheet, option: str, seen: str) -> None:
        if option not in sheet.to_mark or seen not in list(Seen):
            raise InputError(f"there is no option {option!r} to mark so")
        if not sheet.may_mark:
            raise InputError("the gold was shown: what was marked without it stays")
        if option == GOLD and not sheet.may_see_gold:
            raise InputError("write down an answer of your own first")
        self._keep(sheet, Mark, option=option, seen=Seen(seen))

    @staticmethod
    def _own_answer(fields: Fields) -> str:
        text = field(fields, "own_answer")
        if not text:
            raise InputError("write down an answer of your own first")
        return text

    def _reveal(self, sheet: Sheet) -> None:
        if sheet.content.options and sheet.unmarked:
            raise InputError(f"mark every option first: {', '.join(sheet.unmarked)}")
        if not sheet.content.options and not sheet.opinion.own_answer:
            raise InputError("write down an answer of your own first")
        if not sheet.may_see_gold:
            self._keep(sheet, Revealed)

    def _take_back(self, queue: Queue) -> View:
        """Take the last thing said back, whichever question it was of, and show that question."""
        if not self._to_take_back:
            raise InputError("there is nothing to take back; what was said before the gold was shown stays")
        question_id = self._to_take_back[-1]
        self._keep(self._sheet(question_id, queue), TakenBack)
        queue = self._queue(queue.name)
        return self._view(question_id, queue if question_id in queue.ids else self._queue(ALL))

    def _decide(self, sheet: Sheet, queue: Queue, message: Mapping[str, Any]) -> None:
        fields: Fields = message.get("fields") or {}
        try:
            action, reason = Action(str(message.get("action"))), Reason(str(message.get("reason", "")))
        except ValueError as error:
            raise InputError(f"a decision is none of these: {error}") from None
        repair = _NO_REPAIR
        if action is not Action.DROP and not sheet.may_see_gold:
            raise InputError("look at the gold first")
        if action is Action.CONFIRM:
            self._check_confirm(sheet, reason)
        elif reason is Reason.NONE:
            raise InputError("choose a reason")
        if action is Action.REPAIR:
            repair = read_repair(fields, sheet.content, [clip.duration_s for clip in sheet.page.clips])
        self._keep(
            sheet,
            Decision,
            action=action,
            reason=reason,
            note=field(fields, f"note_{action}"),
            content=repair.content,
            evidence=repair.evidence,
            settles=self._settled(sheet, queue, field(fields, "settles")),
        )

    @staticmethod
    def _settled(sheet: Sheet, queue: Queue, on_show: str) -> dict[str, str]:
        """The decisions that a third settles: those that were on show, and are still the last ones."""
        if not queue.is_disputes:
            return {}
        if sheet.ruling is None or sheet.settles != on_show:
            raise InputError("meanwhile the others have decided anew: look again, or go back to all questions (t)")
        return keys_of(sheet.ruling.parties)

    @staticmethod
    def _check_confirm(sheet: Sheet, reason: Reason) -> None:
        if sheet.unmarked:
            raise InputError(f"mark first: {', '.join(sheet.unmarked)}")
        against = against_marks(sheet.content, sheet.opinion.marks)
        if against and reason is Reason.NONE:
            raise InputError(f"your marks speak against the gold ({', '.join(against)}): say why it is confirmed")

    def _keep(self, sheet: Sheet, kind: type[Said], **values: Any) -> None:
        """Write a record, and only then take it for said. What is said in sight of the gold stands after `Revealed`."""
        question_id = sheet.page.entry.question_id
        if sheet.may_see_gold and not self._opinion(question_id).revealed and kind is not Revealed:
            self._keep(sheet, Revealed)
        about: dict[str, Any] = {"question_id": question_id, "shown": sheet.content.digest, "reviewer": self._reviewer}
        said = kind(**about, when_utc=utc_now(), **values)
        self._log.append(to_record(said))
        self._opinions[question_id] = after(self._opinion(question_id), said)
        self._to_take_back = to_take_back(self._to_take_back, said)

    def _opinion(self, question_id: str) -> Opinion:
        return self._opinions.get(question_id, NO_OPINION)

    def _sheet(self, question_id: str, queue: Queue) -> Sheet:
        page = self._library.page(question_id)
        assert page is not None  # asked for ids of the library alone
        ruling = queue.waiting.get(question_id) if queue.is_disputes else None
        return Sheet(page, content_of(page), self._opinion(question_id), ruling, self._blind)

    def _queue(self, name: str) -> Queue:
        return make_queue(name, self._all, self._opinions, self._others.read())

    def _go(self, question_id: str, queue: Queue, to: str) -> View:
        match to:
            case "next" | "previous":
                return self._view(queue.after(question_id, -1 if to == "previous" else 1), queue)
            case "undecided":
                return self._view(queue.undecided_after(question_id), queue)
            case "disputes":
                other = self._queue(ALL if queue.is_disputes else DISPUTES)
                if not other.ids:
                    return self._view(question_id, queue, "Nothing is in dispute that you could settle.")
                return self._view(other.undecided_after(""), other)
        return self._view(question_id, queue)

    def _view(self, question_id: str, queue: Queue, notice: str = "", *, decided: str = "", panel: str = "") -> View:
        sheet = self._sheet(question_id, queue)
        ahead = dict.fromkeys((queue.undecided_after(question_id), queue.after(question_id)))
        addresses = [one for next_id in ahead for one in clip_addresses(self._library.page(next_id))]
        form = render(
            "review.html.j2",
            sheet=sheet,
            reviewer=self._reviewer,
            address="?" + urlencode({"question": question_id} | ({"queue": queue.name} if queue.is_disputes else {})),
            ahead=addresses,
            queue=queue,
            n_decided=self.n_decided,
            n_all=len(self._all),
            notice=notice,
            decided=decided,
            panel=panel,
            blind=self._blind,
            findings=self._findings.get(question_id, ()),
            reasons=list(REASON_TITLES.items()),
            seen=list(Seen),
            may_undo=bool(self._to_take_back),
            against=against_marks(sheet.content, sheet.opinion.marks),
        )
        return View(question_id, clips_html(sheet.page), form)
