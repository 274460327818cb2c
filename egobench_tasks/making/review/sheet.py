"""One question as a reviewer has it before them."""

from dataclasses import dataclass

from egobench_tasks.browse.question import QuestionPage, ShownOption
from egobench_tasks.making.review.decision import GOLD, Content
from egobench_tasks.making.review.settle import Ruling, keys_of
from egobench_tasks.making.review.state import Opinion


@dataclass(frozen=True, slots=True)
class Sheet:
    """``ruling``: the dispute that is to be settled here, None where the decision is the reviewer's own. ``blind``:
    whether the gold is hidden until it is asked for."""

    page: QuestionPage
    content: Content
    opinion: Opinion
    ruling: Ruling | None
    blind: bool

    @property
    def may_see_gold(self) -> bool:
        """Whether the gold is shown."""
        return self.opinion.revealed or not self.blind

    @property
    def to_mark(self) -> list[str]:
        """What is to be looked for in the clips: the options' letters, or an open question's answer."""
        return [option.original for option in self.options] if self.content.options else [GOLD]

    @property
    def options(self) -> list[ShownOption]:
        """The options in the dataset's order."""
        return sorted(self.page.options, key=lambda option: option.original)

    @property
    def repaired(self) -> Content:
        """What a repair starts from: this reviewer's last one, or the question as it is."""
        last = self.opinion.last
        return self.content if last is None or last.content is None else last.content

    @property
    def settles(self) -> str:
        """The decisions in dispute, as a form holds them."""
        parties = {} if self.ruling is None else keys_of(self.ruling.parties)
        return " ".join(f"{reviewer}={key}" for reviewer, key in parties.items())

    @property
    def unmarked(self) -> list[str]:
        """What of it has no mark yet."""
        return [option for option in self.to_mark if option not in self.opinion.marks]

    @property
    def may_mark(self) -> bool:
        """Whether marks may still be given: those given without the gold stay as they are once it was shown."""
        return not (self.blind and self.opinion.revealed and self.content.options)


def content_of(page: QuestionPage) -> Content:
    """Return what of a question can be repaired, as the dataset has it."""
    options = sorted(page.options, key=lambda option: option.original)
    if not options:
        return Content(page.entry.question, (), (page.answer,))
    right = tuple(option.original for option in options if option.is_gold)
    return Content(page.entry.question, tuple(option.text for option in options), right)
