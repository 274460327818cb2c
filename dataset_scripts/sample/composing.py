"""Makes one question out of the walks of its clips, so that it cannot be answered without the frames' order or labels.

Statements are drawn at random and judged against the script. A question whose answer would be the same with every
clip played backwards, or with the labels moved round by one, is thrown away.
"""

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from dataset_scripts.sample.asking import Asking, WhichAfterTurn, WhichClips, WhichOrder, WhichStatements
from dataset_scripts.sample.statements import (
    AfterTurn,
    InOrder,
    Label,
    LeadsBack,
    OnSides,
    Sentence,
    Start,
    Statement,
    Walks,
)
from dataset_scripts.sample.walks import Lighting, Pace, Walk


class Kind(Enum):
    """What a question asks for."""

    STATEMENTS = "statements"
    ORDER = "order"
    CLIPS = "clips"
    AFTER_TURN = "after turn"


@dataclass(frozen=True, slots=True)
class Draft:
    """A question in data: what it asks, and the statement that each option makes."""

    asking: Asking
    statements: tuple[Statement, ...]

    def answer(self, walks: Walks) -> tuple[int, ...]:
        """The indices of the options that are true of the walks."""
        return tuple(index for index, statement in enumerate(self.statements) if statement.holds(walks))


def compose(
    rng: random.Random, kind: Kind, walks: Walks, n_options: int, n_select: int | None, *, same_place: bool = False
) -> Draft | None:
    """Return a question with that many options and right ones (None: some, not all), or None where a draw gave none.

    ``same_place`` says that the clips walk one route, so that statements on direction make sense.
    """
    draft: Draft | None
    if kind is Kind.STATEMENTS:
        draft = _statements(rng, walks, n_options, n_select or rng.randrange(1, n_options), same_place)
    elif kind is Kind.ORDER:
        draft = _order(rng, walks, n_options)
    elif kind is Kind.CLIPS:
        draft = _clips(rng, walks)
    else:
        draft = _after_turn(rng, walks)
    if draft is None or len(draft.statements) != n_options:
        return None
    n_true = len(draft.answer(walks))
    if not 0 < n_true < n_options or n_select not in (None, n_true):
        return None
    return draft if _needs_order_and_labels(draft, walks) else None


def _needs_order_and_labels(draft: Draft, walks: Walks) -> bool:
    answer = draft.answer(walks)
    backwards = {label: [walk.played_backwards() for walk in clips] for label, clips in walks.items()}
    if draft.answer(backwards) == answer:
        return False
    labels = list(walks)
    relabelled = dict(zip(labels[1:] + labels[:1], walks.values(), strict=True))
    return len(labels) == 1 or draft.answer(relabelled) != answer


def _statements(rng: random.Random, walks: Walks, n_options: int, n_select: int, same_place: bool) -> Draft | None:
    """Draw sentences until there are enough true and enough false ones."""
    true: list[Sentence] = []
    false: list[Sentence] = []
    for _ in range(400):
        sentence = _sentence(rng, walks, same_place)
        group, size = (true, n_select) if sentence.holds(walks) else (false, n_options - n_select)
        if len(group) < size and sentence not in group:
            group.append(sentence)
        if len(true) + len(false) == n_options:
            return Draft(WhichStatements(), tuple(rng.sample([*true, *false], n_options)))
    return None


def _sentence(rng: random.Random, walks: Walks, same_place: bool) -> Sentence:
    label = rng.choice(list(walks))
    # Mostly about what this clip shows; at times about what another does, which only the labels tell apart.
    shown = rng.choice(walks[label] if rng.random() < 0.8 else [walk for clips in walks.values() for walk in clips])
    makers: list[Callable[[], Sentence]] = [
        lambda: InOrder(label, tuple(rng.sample(shown.landmarks, 3))),
        lambda: _on_sides(rng, label, shown),
        lambda: _start(rng, label, shown),
    ]
    weights = [5, 3, 2]
    labels = [str(other) for other in walks if other is not None]
    if same_place and len(labels) > 1:
        makers.append(lambda: LeadsBack(*rng.sample(labels, 2)))
        weights.append(2)
    return rng.choices(makers, weights)[0]()


def _on_sides(rng: random.Random, label: Label, shown: Walk) -> OnSides:
    """Two landmarks in either order, each on its side, or at times on the other."""
    first, second = rng.sample(shown.passages, 2)
    first_side, second_side = (
        passage.side if rng.random() < 0.8 else passage.side.other for passage in (first, second)
    )
    return OnSides(label, first.landmark, first_side, second.landmark, second_side)


def _start(rng: random.Random, label: Label, shown: Walk) -> Start:
    lighting = shown.lighting if rng.random() < 0.8 else rng.choice(list(Lighting))
    pace = shown.pace if rng.random() < 0.8 else rng.choice(list(Pace))
    return Start(label, lighting, pace, rng.choice(shown.landmarks))


def _order(rng: random.Random, walks: Walks, n_options: int) -> Draft | None:
    """The right order of three or four landmarks among other orders of theirs."""
    label = rng.choice(list(walks))
    shown = rng.choice(walks[label]).landmarks
    size = 3 if n_options <= 6 else 4
    if len(shown) < size:
        return None
    kept = sorted(rng.sample(range(len(shown)), size))
    right = tuple(shown[index] for index in kept)
    others = [order for order in itertools.permutations(right) if order != right]
    orders = [right, *rng.sample(others, n_options - 1)]
    return Draft(WhichOrder(label), tuple(InOrder(label, order) for order in rng.sample(orders, n_options)))


def _clips(rng: random.Random, walks: Walks) -> Draft | None:
    """Two landmarks that several clips show, in one order or the other."""
    everywhere = [landmark for clips in walks.values() for walk in clips for landmark in walk.landmarks]
    first, second = rng.sample(sorted(set(everywhere), key=str), 2)
    statements = [InOrder(label, (first, second)) for label in walks]
    return Draft(WhichClips(first, second), tuple(sorted(statements, key=lambda statement: str(statement.label))))


def _after_turn(rng: random.Random, walks: Walks) -> Draft | None:
    """All landmarks of a clip: which come after one of its turns?"""
    label = rng.choice(list(walks))
    shown = rng.choice(walks[label])
    turns = list(shown.turns())
    if not turns:
        return None
    turn = rng.choice(turns)
    landmarks = rng.sample(shown.landmarks, len(shown.landmarks))
    return Draft(WhichAfterTurn(label, turn), tuple(AfterTurn(label, turn, landmark) for landmark in landmarks))
