"""Is the judge behind an old name still the one whose verdicts are kept? See `runs.same_model`, which asks."""

from collections.abc import Awaitable, Callable, Collection

from egobench_tasks.judge.identity import JudgeIdentity
from egobench_tasks.judge.prompt import JudgeItem
from egobench_tasks.judge.settings import JudgeSettings
from egobench_tasks.judge.store import KeptVerdict, VerdictStore
from egobench_tasks.judge.verdict import Judgement
from egobench_tasks.runs.same_model import Model, Work, check_same_model, in_short
from egobench_tasks.runs.sessions import Place


def _shown(kept: KeptVerdict) -> str:
    said = "correct" if kept.verdict.correct else "incorrect"
    score = "no score" if kept.verdict.score is None else f"{kept.verdict.score:g}"
    return f"{said}, {score} of {in_short(kept.item.prediction)}"


def _same(kept: KeptVerdict, again: KeptVerdict) -> bool:
    """Whether two verdicts on one answer are one judge's: pass or fail, and the score, which tells judges apart."""
    return (kept.verdict.correct, kept.verdict.score) == (again.verdict.correct, again.verdict.score)


VERDICTS: Work[KeptVerdict] = Work(
    noun="verdicts",
    key=lambda kept: kept.key,
    title=lambda kept: in_short(kept.item.question),
    shown=_shown,
    same=_same,
    ways=(
        "egobench judge RUN --fresh asks this one for every verdict anew, and later runs go on with its verdicts, or",
        "a label (EGOBENCH_JUDGE_LABEL=NAME) keeps this judge's verdicts apart from its namesake's",
    ),
)


async def check_same_judge(
    settings: JudgeSettings,
    identity: JudgeIdentity,
    place: Place,
    store: VerdictStore,
    keys: Collection[str],
    ask: Callable[[JudgeItem], Awaitable[Judgement]],
) -> None:
    """Make sure that the kept verdicts that a run takes are this judge's; what was seen is noted in the store.

    Args:
        settings: the judge's.
        identity: the judge, as its verdicts are kept.
        place: where it is now.
        store: the verdicts.
        keys: of the kept verdicts that are to be taken.
        ask: judges an item now.

    Raises what `runs.same_model.check_same_model` raises. Those asked for again are any of the judge's in the store,
    not only those to be taken: a host that judges answers one by one has no more than one at a time.
    """
    sessions, kept = store.work_of(identity)
    taken = {stem: items for stem, items in kept.items() if any(item.key in keys for item in items)}

    async def again(item: KeptVerdict) -> KeptVerdict | None:
        verdict = (await ask(item.item)).verdict
        return None if verdict is None else KeptVerdict(item.key, item.item, verdict)

    model = Model(identity.name, place, settings.most_at_once, sampled=False)
    confirmed, n_asked_again = await check_same_model(model, VERDICTS, sessions, taken, again)
    if n_asked_again:
        store.confirm(identity, place, confirmed)
