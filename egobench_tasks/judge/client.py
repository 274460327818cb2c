"""Asking a judge behind an OpenAI-compatible endpoint, many items at a time.

One item's failure never ends a run: it becomes a judgement without a verdict. Every judgement is
on the disk before the next question goes out, so a run that is killed goes on where it stopped.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tqdm import tqdm

from egobench_tasks import stopping
from egobench_tasks.judge.identity import JudgeIdentity, served_identity
from egobench_tasks.judge.prompt import JudgeItem, judge_messages
from egobench_tasks.judge.same_judge import check_same_judge
from egobench_tasks.judge.settings import JudgeSettings
from egobench_tasks.judge.store import VerdictStore, verdict_key
from egobench_tasks.judge.verdict import Judgement, NoVerdict, read_verdict
from egobench_tasks.runs.attempts import growing_budgets
from egobench_tasks.runs.claims import Claims
from egobench_tasks.runs.same_model import find_place
from egobench_tasks.runs.sessions import Place
from egobench_tasks.servers.client import ServerClient, tell
from egobench_tasks.servers.failures import FailureKind, RequestFailed
from egobench_tasks.servers.pace import rest
from egobench_tasks.servers.rounds import Outcome, ask_all

_FAILURES: Mapping[FailureKind, NoVerdict] = {
    FailureKind.TIMEOUT: NoVerdict.TIMEOUT,
    FailureKind.CONNECTION: NoVerdict.CONNECTION,
    FailureKind.RATE_LIMITED: NoVerdict.RATE_LIMITED,
    FailureKind.SERVER_ERROR: NoVerdict.SERVER_ERROR,
    FailureKind.MISCONFIGURED: NoVerdict.REFUSED,
    FailureKind.REFUSED: NoVerdict.REFUSED,
    FailureKind.NO_COMPLETION: NoVerdict.BAD_RESPONSE,
    FailureKind.BAD_REPLY: NoVerdict.BAD_RESPONSE,
    FailureKind.TOO_LARGE: NoVerdict.BAD_RESPONSE,
}
OUTAGES = frozenset(failure for kind, failure in _FAILURES.items() if kind.is_outage)
"""Failures that any other item would have met too, as far as a kept judgement tells."""

_places: dict[tuple[str, str], Place | None] = {}
"""Where judges are, by address and model: looked at once a process, since Inspect judges answers one by one."""
_NOT_ASKED = Judgement(None, NoVerdict.NOT_ASKED, "")
_SHOWN_CHARACTERS = 300


def stored_judgements(items: Sequence[JudgeItem], identity: JudgeIdentity, store: VerdictStore) -> list[Judgement]:
    """Return what the store holds of one judge's judgements, one an item, without asking anyone."""
    keys = [verdict_key(item, identity) for item in items]
    found = store.find(frozenset(keys), identity.served)
    return [found.get(key, _NOT_ASKED) for key in keys]


def judge(
    items: Sequence[JudgeItem], settings: JudgeSettings, store: VerdictStore, *, fresh: bool = False
) -> list[Judgement]:
    """Judge all items, asking only for verdicts the store lacks; see `judge_async`."""
    return asyncio.run(judge_async(items, settings, store, fresh=fresh))


async def judge_async(
    items: Sequence[JudgeItem], settings: JudgeSettings, store: VerdictStore, *, fresh: bool = False
) -> list[Judgement]:
    """Return one judgement an item, in the items' order; equal items are asked once.

    ``fresh``: this judge's verdicts so far are not taken, now or later.

    Raises no error for a judge that fails: see `Judgement.failure` for what went wrong. Raises ``InputError`` where
    kept verdicts are those of another judge of this name (see `same_judge`). Another run that is asking the same judge
    for verdicts of this store is waited for. Raises `Stopped` where SIGTERM came before all were asked for.
    """
    identity = served_identity(settings)
    if fresh:
        store.begin_anew(identity)
    before = stored_judgements(items, identity, store)
    place = await _look_at_judge(items, before, settings, identity, store)
    if not _without_verdict(items, before, identity):
        return before
    store.check()
    claims, claim = Claims(store.path.parent / "claims"), _claim_key(items, identity)
    while True:
        with claims.claim(claim) as is_ours:
            if is_ours:
                before = stored_judgements(items, identity, store)  # another run may have asked meanwhile
                missing = _without_verdict(items, before, identity)
                if missing:
                    await _ask_all(missing, settings, identity, store, place)
                break
        for pause_s in claims.pauses(lambda: [claim], lambda _: f"{settings.model} is being asked by"):
            await rest(pause_s)
    judgements = stored_judgements(items, identity, store)
    if stopping.is_asked() and (left := _without_verdict(items, judgements, identity)):
        raise stopping.stopped(len(items) - len(left), len(items), "verdicts", store.path, fresh=fresh)
    return judgements


def _without_verdict(
    items: Iterable[JudgeItem], judgements: Iterable[Judgement], identity: JudgeIdentity
) -> list[JudgeItem]:
    """The items to ask for, each text once."""
    missing = {
        verdict_key(item, identity): item
        for item, judgement in zip(items, judgements, strict=True)
        if judgement.verdict is None
    }
    return list(missing.values())


def _claim_key(items: Sequence[JudgeItem], identity: JudgeIdentity) -> str:
    """One claim a judge, since a round asks for many items; one an item where they come singly, as Inspect's do."""
    return verdict_key(items[0], identity) if len(items) == 1 else identity.digest


async def _look_at_judge(
    items: Sequence[JudgeItem],
    before: Sequence[Judgement],
    settings: JudgeSettings,
    identity: JudgeIdentity,
    store: VerdictStore,
) -> Place | None:
    """Return where the judge is, None where it cannot be reached, having made sure that kept verdicts are its own."""
    kept = {
        verdict_key(item, identity)
        for item, judgement in zip(items, before, strict=True)
        if judgement.verdict is not None
    }
    async with ServerClient(settings) as client:
        known = (settings.base_url, settings.model)
        if known not in _places:
            _places[known] = await find_place(client.model_list, *known)
        place = _places[known]
        if place is not None and kept:

            async def ask(item: JudgeItem) -> Judgement:
                return (await _ask(client, settings, item))[0]

            await check_same_judge(settings, identity, place, store, kept, ask)
    return place


async def _ask_all(
    items: Sequence[JudgeItem],
    settings: JudgeSettings,
    identity: JudgeIdentity,
    store: VerdictStore,
    place: Place | None,
) -> None:
    given: list[Judgement] = []

    async def ask_one(item: JudgeItem) -> Outcome:
        judgement, outcome = await _ask(client, settings, item)
        store.append(item, identity, judgement, place)
        given.append(judgement)
        progress.update()
        return outcome

    # Inspect scores one answer at a time: no bar for each.
    shown = {"desc": f"judging ({settings.model})", "unit": "answer", "disable": len(items) == 1}
    async with ServerClient(settings) as client:
        with tqdm(total=len(items), **shown) as progress:
            await ask_all(ask_one, items, client)
            if len(items) > 1:
                _tell_of(given, settings.model)


async def _ask(client: ServerClient, settings: JudgeSettings, item: JudgeItem) -> tuple[Judgement, Outcome]:
    """Ask with growing budgets until a reply ends by itself; a refused larger budget leaves the smaller reply."""
    judgement: Judgement | None = None
    for budget_tokens in growing_budgets(settings.first_budget, settings.max_tokens_cap):
        try:
            reply, _ = await client.complete(judge_messages(item), budget_tokens)
        except RequestFailed as error:
            outcome = Outcome.OUTAGE if error.kind.is_outage else Outcome.ALIVE
            return judgement or Judgement(None, _FAILURES[error.kind], str(error)), outcome
        reading = read_verdict(reply.text, reply.finish_reason)
        judgement = Judgement(reading.verdict, reading.failure, reply.text)
        if reading.failure is not NoVerdict.TRUNCATED:
            break
    assert judgement is not None  # there is a first budget
    return judgement, Outcome.ALIVE


def _tell_of(given: Sequence[Judgement], model: str) -> None:
    """Say why answers have no verdict, with the words of one each, and which verdicts speak against themselves."""
    failed = [judgement for judgement in given if judgement.failure is not None]
    for failure, count in Counter(judgement.failure for judgement in failed).most_common():
        words = next(judgement.raw for judgement in failed if judgement.failure is failure)
        tell(f"{model} gave no verdict on {count} of {len(given)} answers ({failure}), such as: {_short(words)}")
    odd = [judgement for judgement in given if judgement.verdict is not None and judgement.verdict.contradicts_itself]
    if odd:
        tell(
            f"{len(odd)} of {model}'s verdicts contradict their own score, such as: {_short(odd[0].raw)}; "
            "`pred` counts, as the benchmark's accuracy is of `pred`"
        )


def _short(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= _SHOWN_CHARACTERS else f"{line[:_SHOWN_CHARACTERS]} …"
