"""EgoGears' probes: the same questions with one thing changed, to tell why a model fails.

A probe is one named value. Tasks, reports and the browser list what stands in `PROBES`, so a new one
needs nothing but its entry there: a rule of frames, a function from view to view, or both.
"""

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from egobench_tasks.asking.labels import fresh_labels, named_labels, names_suffix_alone, rename_labels
from egobench_tasks.asking.prompts import ClipView
from egobench_tasks.asking.questions import ChoiceQuestion, choice_question
from egobench_tasks.asking.view import CentralFrame, ChoiceView, FrameRule, NoFrames, OtherBudget, plain_view
from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.errors import InputError

if TYPE_CHECKING:
    from datasets import Dataset

PROBES_NAME = "probes"
"""As a task name: all of `SET_OF_PROBES`."""
SET_OF_PROBES = ("blind", "center", "shuffled", "reordered", "swapped", "perm1", "perm2")
BUDGETS = (8, 16, 32, 128, 256)
PERMUTATIONS = (1, 2, 3, 4)
WITHHELD = "(withheld)"
"""Stands for the question where only its options are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One change to every question.

    ``changes``: what, in words that follow "shown with". ``expects``: what a sound model does then.
    ``frames``: the rule of frames; None for the benchmark's own. ``change``: from the view that the
    frames give to the one that is shown, None where the probe does not apply to the question.
    ``seed``: the seed of what is drawn, from a question's id; None where nothing is. ``multi_only``: it needs labels
    or several clips, and single questions have neither. ``same_answer``: a sound model names the same options.
    """

    name: str
    changes: str
    expects: str
    frames: FrameRule | None = None
    change: Callable[[ChoiceView], ChoiceView | None] = lambda view: view
    seed: Callable[[str], str] | None = None
    multi_only: bool = False
    same_answer: bool = False

    def view(self, question: ChoiceQuestion, frames: FrameRule) -> ChoiceView | None:
        """Return what this probe shows of a question; None where it does not apply to it.

        ``frames`` is the benchmark's rule, for probes that leave the frames alone.
        """
        return self.change(plain_view(question, self.frames or frames))

    def applies(self, question: ChoiceQuestion) -> bool:
        """Whether the question is asked at all: whatever frames are shown, words and clips decide."""
        return self.view(question, CentralFrame()) is not None


def probe_task(name: str) -> str:
    """The name of a probe's tasks, its configs aside."""
    return f"{EGOGEARS.name}_{name}"


def probe_configs(probe: Probe) -> list[str]:
    """The configs that a probe has questions in."""
    return [config for config in EGOGEARS.rows if config == "multi" or not probe.multi_only]


def rows_asked(rows: "Dataset", probe: Probe) -> "Dataset":
    """Return the rows that a probe applies to. Raises ``InputError`` where it applies to none."""
    chosen = [index for index, row in enumerate(rows) if probe.applies(choice_question(row))]
    if not chosen:
        raise InputError(f"the probe {probe.name} applies to none of these {len(rows)} questions; leave it out")
    return rows.select(chosen)


def find_probe(name: str) -> Probe:
    """Return the probe of a name. Raises ``InputError`` naming those there are."""
    if name not in PROBES:
        raise InputError(f"no probe {name!r}; there are {', '.join(PROBES)}")
    return PROBES[name]


def _blind(view: ChoiceView) -> ChoiceView:
    return replace(view, did="no frames and no labels' lines")


def _options_only(view: ChoiceView) -> ChoiceView:
    return replace(view, question=replace(view.question, question=WITHHELD), did="no frames and no question")


def _reversed(view: ChoiceView) -> ChoiceView:
    clips = (replace(clip, order=tuple(range(_n_frames(view, clip)))[::-1]) for clip in view.clips)
    return replace(view, clips=tuple(clips), did="each clip's frames backwards")


def _shuffled(view: ChoiceView) -> ChoiceView:
    generator = random.Random(view.question.question_id)
    clips = []
    for clip in view.clips:
        order = list(range(_n_frames(view, clip)))
        generator.shuffle(order)
        clips.append(replace(clip, order=tuple(order)))
    return replace(view, clips=tuple(clips), did="each clip's frames in a drawn order")


def _n_frames(view: ChoiceView, clip: ClipView) -> int:
    return view.specs[clip.index].count or 1


def _reordered(view: ChoiceView) -> ChoiceView | None:
    if len(view.clips) < 2:
        return None
    clips = list(view.clips)
    random.Random(view.question.question_id).shuffle(clips)
    if tuple(clips) == view.clips:
        clips = [*clips[1:], clips[0]]
    order = ", ".join(str(clip.index + 1) for clip in clips)
    return replace(view, clips=tuple(clips), did=f"clips of the dataset in the order {order}")


def _renamed(view: ChoiceView) -> ChoiceView | None:
    """Not where the text names a clip in words that cannot be renamed with certainty: the question would fall apart."""
    if not _named(view) or any(names_suffix_alone(text, view.labels) for text in view.texts):
        return None
    new = fresh_labels(view.labels, random.Random(view.question.question_id))
    question, *options = (rename_labels(text, new) for text in view.texts)
    return replace(
        view,
        question=replace(view.question, question=question, options=tuple(options)),
        clips=_under(view.clips, new),
        did=", ".join(f"{old} is {new[old]}" for old in view.labels),
    )


def _swapped(view: ChoiceView) -> ChoiceView | None:
    """The first two labels that the text names, in the order of the clips; clips that share a label move together."""
    named = _named(view)
    if len(named) < 2:
        return None
    first, second = named[:2]
    exchanged = {first: second, second: first}
    return replace(
        view,
        clips=_under(view.clips, exchanged),
        did=f"the headings {first} and {second} exchanged",
        implied=_implied(view.question, exchanged),
    )


def _named(view: ChoiceView) -> list[str]:
    found = frozenset().union(*(named_labels(text, view.labels) for text in view.texts))
    return [label for label in view.labels if label in found]


def _under(clips: tuple[ClipView, ...], labels: Mapping[str, str]) -> tuple[ClipView, ...]:
    return tuple(replace(clip, label=clip.label and labels.get(clip.label, clip.label)) for clip in clips)


def _implied(question: ChoiceQuestion, exchanged: Mapping[str, str]) -> frozenset[str] | None:
    """The options that are right after the exchange: those whose words, exchanged too, are those of a right one.

    None where the question itself names one of the two, or an option says what no other says of the other clip.
    """
    letter_of = {text: letter for letter, text in zip(question.letters, question.options, strict=True)}
    becomes = {letter: letter_of.get(rename_labels(text, exchanged)) for text, letter in letter_of.items()}
    if len(letter_of) < len(question.options) or None in becomes.values():
        return None
    if named_labels(question.question, exchanged):
        return None
    return frozenset(letter for letter, other in becomes.items() if other in question.answer)


def _unlabelled(view: ChoiceView) -> ChoiceView | None:
    if len(view.clips) < 2:
        return None
    return replace(view, clips=tuple(replace(clip, label=None) for clip in view.clips), did="no headings")


def _permuted(number: int, view: ChoiceView) -> ChoiceView | None:
    orders = _orders(view, number)
    if orders is None:
        return None
    shown = dict(zip(view.shown_to_original, orders[-1], strict=True))
    return replace(view, shown_to_original=shown, did=f"the dataset's options in the order {', '.join(orders[-1])}")


def _orders(view: ChoiceView, number: int) -> list[list[str]] | None:
    """The options' own order and the first ``number`` others, each drawn until it is new; None: there are too few."""
    orders = [list(view.shown_to_original.values())]
    if math.factorial(len(orders[0])) <= number:
        return None
    for drawn in range(1, number + 1):
        generator = random.Random(_permutation_seed(drawn, view.question.question_id))
        order = list(view.question.letters)
        generator.shuffle(order)
        while order in orders:
            generator.shuffle(order)
        orders.append(order)
    return orders


def _permutation_seed(number: int, question_id: str) -> str:
    return f"{question_id} {number}"


_ALL = (
    Probe(
        name="blind",
        changes="no frames and no labels' lines",
        expects="falls to chance: what is left is guessable from words",
        frames=NoFrames(),
        change=_blind,
    ),
    Probe(
        name="optionsonly",
        changes="its options alone, no frames and no question",
        expects="falls to chance: what is left is in the wording of the options",
        frames=NoFrames(),
        change=_options_only,
    ),
    Probe(
        name="center",
        changes="the central frame of each clip",
        expects="falls where order or motion matters",
        frames=CentralFrame(),
    ),
    *(
        Probe(
            name=f"f{total}",
            changes=f"{total} frames in place of the benchmark's",
            expects="rises with the frames, then levels off",
            frames=OtherBudget(total),
        )
        for total in BUDGETS
    ),
    Probe(
        name="reversed",
        changes="each clip's frames backwards",
        expects="falls on order and turns, not on what is there",
        change=_reversed,
    ),
    Probe(
        name="shuffled",
        changes="each clip's frames in a drawn order",
        expects="falls on order and turns, not on what is there",
        change=_shuffled,
        seed=str,
    ),
    Probe(
        name="reordered",
        changes="its clips in another order, each with its own label",
        expects="answers the same",
        change=_reordered,
        seed=str,
        multi_only=True,
        same_answer=True,
    ),
    Probe(
        name="renamed",
        changes="fresh labels, in headings and text",
        expects="answers the same",
        change=_renamed,
        seed=str,
        multi_only=True,
        same_answer=True,
    ),
    Probe(
        name="swapped",
        changes="the headings of two clips that the text names exchanged, the text left alone",
        expects="moves its answer with the evidence",
        change=_swapped,
        multi_only=True,
    ),
    Probe(
        name="unlabelled",
        changes="no headings",
        expects="falls where binding matters",
        change=_unlabelled,
        multi_only=True,
    ),
    *(
        Probe(
            name=f"perm{number}",
            changes=f"its options in another order ({number} of {len(PERMUTATIONS)})",
            expects="answers the same",
            change=partial(_permuted, number),
            seed=partial(_permutation_seed, number),
            same_answer=True,
        )
        for number in PERMUTATIONS
    ),
)

PROBES: dict[str, Probe] = {probe.name: probe for probe in _ALL}
"""All probes by name, in the order in which they are listed."""
