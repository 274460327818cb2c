"""Picking candidates: so many of each kind, and no recording too often."""

import random
from collections import Counter
from collections.abc import Sequence

from egobench_tasks.making.draft.candidate import Candidate

MAX_PER_RECORDING = 15
"""EgoGears' cap (its appendix C.4)."""


def pick(
    candidates: Sequence[Candidate], per_kind: int, *, cap: int = MAX_PER_RECORDING, seed: int = 0
) -> list[Candidate]:
    """Return up to ``per_kind`` candidates of each kind, at most ``cap`` of one recording over all kinds.

    Kinds take turns, the scarcest first, each drawing from its own candidates in an order that ``seed`` gives; so a
    recording's places are not all taken by whichever kind comes first. The result is in the order given. Which are
    picked does not depend on the order given.
    """
    waiting: dict[str, list[Candidate]] = {}
    for one in sorted(candidates, key=lambda one: one.question_id):
        waiting.setdefault(one.kind, []).append(one)
    for kind, own in waiting.items():
        random.Random(f"{seed} {kind}").shuffle(own)
    kinds = sorted(waiting, key=lambda kind: (len(waiting[kind]), kind))
    taken: dict[str, list[Candidate]] = {kind: [] for kind in kinds}
    of_recording: Counter[str] = Counter()
    for _ in range(per_kind):
        for kind in kinds:
            own = waiting[kind]
            place = next((at for at, one in enumerate(own) if of_recording[one.recording] < cap), None)
            if place is not None:
                one = own.pop(place)
                of_recording[one.recording] += 1
                taken[kind].append(one)
    ids = {one.question_id for own in taken.values() for one in own}
    return [one for one in candidates if one.question_id in ids]
