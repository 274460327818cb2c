"""Is the model behind an old name still the one whose answers are kept? What has changed around it says whether to ask.

A served model is known by a name alone. Where its address, what the server says of it, or the day is another than when
answers were kept, some of their questions are asked again (`runs.recheck`): a server that came back elsewhere loses
nothing, and another model behind the name is not believed.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from egobench_tasks.errors import EgobenchError, InputError
from egobench_tasks.hosts.endpoint.client import EndpointClient
from egobench_tasks.hosts.endpoint.settings import EndpointSettings
from egobench_tasks.runs.journal import Answer
from egobench_tasks.runs.recheck import Recheck, ask_again, choose, n_each
from egobench_tasks.runs.record import utc_now
from egobench_tasks.runs.sessions import Place, Session, believed
from egobench_tasks.scoring.answers import NORMAL_STOP, parse_answer
from egobench_tasks.scoring.open import token_f1
from egobench_tasks.servers import read_model_list

_EVERY_LETTER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SAME_WORDS = 0.5
"""Token F1 from which two open answers say the same; a served model words one answer in several ways."""
_RECENT_S, _SECOND_LOOK_S = 24 * 3600, 1.1
_SHOWN_CHARACTERS = 60


async def find_place(client: EndpointClient, settings: EndpointSettings) -> Place | None:
    """Look at who serves, where and when; None where the server cannot be reached."""
    address, day = settings.base_url.rstrip("/"), utc_now()[:10]
    body = await client.model_list()
    if body is None:
        return None
    served = read_model_list(body, settings.model)
    if served.created_s is not None and abs(time.time() - served.created_s) < _RECENT_S:
        await asyncio.sleep(_SECOND_LOOK_S)  # many servers give the time of the look
        if read_model_list(await client.model_list() or "", settings.model) != served:
            served = replace(served, created_s=None)
    return Place(address=address, day=day, served=served)


async def check_same_model(
    settings: EndpointSettings,
    place: Place,
    sessions: Mapping[str, Session],
    kept: Mapping[str, Sequence[Answer]],
    ask: Callable[[Answer], Awaitable[Answer | None]],
) -> tuple[frozenset[str], int]:
    """Return the sessions whose answers are this model's, and how many kept questions were asked again to see it.

    Args:
        settings: of the model that stands behind the name now.
        place: where it is.
        sessions: the journal's.
        kept: the answers that this run would take, by their session.
        ask: puts an answer's question again; None where that fails.

    Raises ``InputError`` where some are another model's, ``EgobenchError`` where none of a session can be asked again.
    """
    trusted = believed(sessions, place)
    doubted: dict[Place | None, dict[str, Sequence[Answer]]] = {}
    for stem, answers in kept.items():
        if stem not in trusted:
            known = sessions[stem].place if stem in sessions else None
            doubted.setdefault(known.server if known else None, {})[stem] = answers
    rechecks: dict[Place | None, Recheck[Answer]] = {}
    for server, answers_of in doubted.items():
        chosen = choose(answers_of, lambda answer: answer.key, n_each(len(doubted)))
        print(f"asking {len(chosen)} kept questions again: is {settings.model} still the same model?", file=sys.stderr)
        rechecks[server] = await ask_again(
            chosen, ask, same_answer, concurrency=settings.concurrency, sampled=settings.temperature != 0
        )
        if not rechecks[server].comparisons:
            raise EgobenchError(
                f"{settings.model} at {place} answers none of {len(chosen)} questions whose answers are kept; whether "
                "it is the model that gave them cannot be seen. Look at the server, and run the same command again"
            )
    if any(recheck.another_kind for recheck in rechecks.values()):
        raise InputError(_what_differs(settings, place, doubted, rechecks))
    stems = {stem for answers_of in doubted.values() for stem in answers_of}
    return trusted | stems, sum(len(recheck.comparisons) for recheck in rechecks.values())


def same_answer(kept: Answer, again: Answer) -> bool:
    """Whether two answers to one question are as alike as one model's are.

    The same question takes the same prompt tokens of one model. Letters must be the same letters; an open answer may
    be worded otherwise.
    """
    counts = (kept.n_prompt_tokens, again.n_prompt_tokens)
    if None not in counts and counts[0] != counts[1]:
        return False
    if kept.text.strip() == again.text.strip():
        return True
    letters = [parse_answer(answer.text, _EVERY_LETTER, NORMAL_STOP).letters for answer in (kept, again)]
    if any(letters):
        return letters[0] == letters[1]
    return token_f1(again.text, kept.text) >= _SAME_WORDS


def _what_differs(
    settings: EndpointSettings,
    place: Place,
    doubted: Mapping[Place | None, Mapping[str, Sequence[Answer]]],
    rechecks: Mapping[Place | None, Recheck[Answer]],
) -> str:
    """Which answers are whose, an example of how they differ, and how to go on."""
    lines = [f"{settings.model} at {place} is another model than the one whose answers are kept under this name:"]
    for server, recheck in rechecks.items():
        n_kept = sum(map(len, doubted[server].values()))
        says = "come back otherwise" if recheck.another_kind else "come back otherwise, no more than one model's own"
        lines.append(
            f"  {n_kept} answers of {server or 'a server not written down'}: of {len(recheck.comparisons)} asked again "
            f"{len(recheck.different)} {says}"
        )
    example = next(item for recheck in rechecks.values() if recheck.another_kind for item in recheck.different)
    lines += [
        f"  such as {example.kept.question_id}: kept {_shown(example.kept)}, now {_shown(example.again)}",
        "No kept answer was taken for this model's, and none is lost. To go on:",
        "  serve the earlier model again, or",
        "  --fresh asks this one every question anew, and later runs go on with its answers, or",
        "  `label: NAME` in the endpoint's settings keeps a model's answers apart from its namesake's",
    ]
    return "\n".join(lines)


def _shown(answer: Answer) -> str:
    text = answer.text.strip()
    cut = text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
    tokens = "" if answer.n_prompt_tokens is None else f" ({answer.n_prompt_tokens:,} prompt tokens)"
    return f"{cut!r}{tokens}"
