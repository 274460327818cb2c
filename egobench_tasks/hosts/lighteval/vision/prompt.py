"""The chat template's part: a message becomes a prompt, and what a model reads is what the message said.

Public templates move images before the text (LLaVA's), drop them, or print a list of parts as Python prints it. So
a template is tried on a small message before the first question, and every prompt is compared with its message.
"""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from jinja2.exceptions import TemplateError
from transformers.utils.chat_template_utils import _get_template_variables

from egobench_tasks.errors import InputError
from egobench_tasks.hosts.lighteval.vision.settings import IN_ORDER
from egobench_tasks.texts import first_line, nearest


class Visual(StrEnum):
    """What stands in a message for something seen, in the words of chat templates."""

    IMAGE = "image"
    VIDEO = "video"


Part = str | Visual

REMEDY = f"Give chat_template=FILE, a Jinja template that keeps the order, or chat_template={IN_ORDER}, with which "
REMEDY += "egobench writes the marks of images into the text itself"


@dataclass(frozen=True, slots=True)
class PromptForm:
    """How messages of one model are written.

    Attributes:
        template: the chat template, in Jinja.
        variables: further variables of the template.
        system: a system message, if there is one.
        mark: a pattern of what stands for one image or video in the finished prompt.
        inline: the text that we write into the message's text for it; None where the template does so.
        as_string: the template takes a message's content as one text, not as a list of parts.
    """

    template: str
    variables: Mapping[str, Any]
    system: str | None
    mark: str = ""
    inline: str | None = None
    as_string: bool = False

    def render(self, processor: Any, parts: Sequence[Part]) -> str:
        """Return the message as the prompt that the processor takes, up to where the answer begins."""
        conversation = [{"role": "user", "content": self._content(parts)}]
        if self.system is not None:
            conversation.insert(0, {"role": "system", "content": self._content([self.system])})
        return processor.apply_chat_template(
            conversation,
            chat_template=self.template,
            tokenize=False,
            add_generation_prompt=True,
            **self.variables,
        )

    def _content(self, parts: Sequence[Part]) -> str | list[dict[str, str]]:
        if self.inline is None:
            return [{"type": part.value} if isinstance(part, Visual) else _text(part) for part in parts]
        text = "".join(self.inline if isinstance(part, Visual) else part for part in parts)
        return text if self.as_string else [_text(text)]

    def check(self, prompt: str, parts: Sequence[Part]) -> None:
        """Compare a prompt with its message. Raises ``InputError`` where they tell different stories."""
        fault = order_fault(prompt, parts, self.mark)
        if fault:
            raise InputError(f"the prompt does not keep the message's order: {fault}. {REMEDY}.")


def prompt_form(
    processor: Any,
    visual: Visual,
    *,
    template: str,
    in_order: bool,
    variables: Mapping[str, Any],
    system: str | None,
) -> PromptForm:
    """Return the form that writes messages in order, after trying it on a small message.

    Raises ``InputError`` where the template, as it stands, moves or drops texts, images or videos, takes only
    strings, writes the first token twice, or fails; and where a variable is none of the template's.
    """
    _check_variables(template, variables)
    form = PromptForm(template, variables, system)
    if in_order:
        return _in_order(form, processor, visual)
    fault, mark = _try(form, processor, visual)
    if fault:
        raise InputError(f"the model's chat template cannot be used as it is: {fault}. {REMEDY}.")
    return replace(form, mark=mark)


_TEXTS = ("Alpha-7 begins", "Bravo-7 follows", "Charlie-7 ends")


_PRINTED_PART = re.compile(r"""["']type["']: ["'](text|image|video)["']""")
"""What a list of parts looks like where a template prints it as if it were a text."""


def _probe(visual: Visual) -> list[Part]:
    first, second, third = _TEXTS
    return [first, visual, second, visual, visual, third]


def _try(form: PromptForm, processor: Any, visual: Visual) -> tuple[str | None, str]:
    """What is wrong with the form, if anything, and the pattern of its marks."""
    try:
        bare, full = form.render(processor, _TEXTS), form.render(processor, _probe(visual))
    except (TemplateError, ValueError, TypeError, KeyError) as error:
        return f"it fails on a message of texts and {visual}s ({type(error).__name__}: {first_line(error)})", ""
    if _PRINTED_PART.search(full):
        return "it takes a message as one string and prints a list of parts as it is", ""
    places = [full.find(text) for text in _TEXTS]
    if -1 in places or places != sorted(places) or any(full.count(text) != 1 for text in _TEXTS):
        return "texts are dropped, repeated or moved", ""
    bos = getattr(processor.tokenizer, "bos_token", None)
    if bos and full.lstrip().startswith(bos + bos):
        return f"it writes the first token, {bos}, twice", ""
    mark = mark_between(full, visual, processor)
    return order_fault(full, _probe(visual), mark) or _moved(bare, full), mark


def _moved(bare: str, full: str) -> str | None:
    """Whether images show before or after the whole message, where a message without any has nothing."""
    first, _, third = _TEXTS
    same_head = bare.partition(first)[0] == full.partition(first)[0]
    same_tail = bare.partition(third)[2] == full.partition(third)[2]
    return None if same_head and same_tail else "something stands before or after the texts only where there are images"


def mark_between(full: str, visual: Visual, processor: Any) -> str:
    """The pattern of one image's mark in a rendered `_probe`; numbers in it may differ from image to image."""
    between = full[full.find(_TEXTS[0]) + len(_TEXTS[0]) : full.find(_TEXTS[1])].strip()
    token = getattr(processor, f"{visual}_token", None)
    if isinstance(token, str) and between.count(token) == 1:
        return re.escape(token)
    return re.sub(r"\d+", r"\\d+", re.escape(between))


def order_fault(prompt: str, parts: Sequence[Part], mark: str) -> str | None:
    """Return how a prompt's order of texts and marks differs from the message's; None where it does not.

    A template may trim texts and put anything but marks around them. ``mark``: a pattern of one image or video.
    """
    pattern, end, n_marks = re.compile(mark or r"(?!)"), 0, 0
    for part in [*parts, None]:  # None: the end of the prompt, which closes the last run of images
        if isinstance(part, Visual):
            n_marks += 1
            continue
        text = "" if part is None else part.strip()
        if part is not None and not text:
            continue
        if pattern.search(text):
            return f"the text {text[:40]!r} itself holds what marks an image"
        # Beyond the marks that must come first: a short text may stand in a mark by chance.
        beyond = end
        for found in itertools.islice(pattern.finditer(prompt, end), n_marks):
            beyond = found.end()
        begin = len(prompt) if part is None else prompt.find(text, beyond)
        if begin < 0:
            return f"the text {text[:40]!r} is missing or has moved"
        n_found = len(pattern.findall(prompt, end, begin))
        if n_found != n_marks:
            return f"{n_found} images where the message has {n_marks}, before {text[:40]!r}"
        end, n_marks = begin + len(text), 0
    return None


def _in_order(form: PromptForm, processor: Any, visual: Visual) -> PromptForm:
    """The template given one text that holds the marks already: nothing is left for it to move."""
    token = getattr(processor, f"{visual}_token", None)
    inline = _own_mark(form, processor, visual) or token
    if not isinstance(inline, str):
        raise InputError(
            f"chat_template={IN_ORDER}: neither the template nor the processor says how a {visual} is marked in a "
            "text. Give chat_template=FILE, a Jinja template that keeps the order."
        )
    mark = re.escape(token if isinstance(token, str) and token in inline else inline.strip())
    faults = []
    for as_string in (False, True):
        tried = replace(form, mark=mark, inline=inline, as_string=as_string)
        fault, _ = _try(tried, processor, visual)
        if not fault:
            return tried
        faults.append(fault)
    raise InputError(
        f"chat_template={IN_ORDER}: the template does not keep even one text as it is: {faults[0]}. "
        "Give chat_template=FILE, a Jinja template that keeps the order."
    )


def _own_mark(form: PromptForm, processor: Any, visual: Visual) -> str | None:
    """What the template itself writes for one image, wherever it puts it; None where that cannot be seen."""
    try:
        bare, one, two = (form.render(processor, [*[visual] * n, _TEXTS[0]]) for n in range(3))
    except (TemplateError, ValueError, TypeError, KeyError):
        return None
    extra = _inserted(bare, one)
    if not extra or _inserted(bare, two) != 2 * extra or _PRINTED_PART.search(one):
        return None
    return extra


def _inserted(bare: str, full: str) -> str | None:
    """The one piece that ``full`` has more than ``bare``; None where they differ otherwise."""
    head = next((place for place, (a, b) in enumerate(zip(bare, full, strict=False)) if a != b), len(bare))
    tail = len(bare) - head
    return full[head : len(full) - tail] if bare[head:] == full[len(full) - tail :] else None


def _check_variables(template: str, variables: Mapping[str, Any]) -> None:
    try:
        known = _get_template_variables(template)
    except TemplateError as error:
        raise InputError(f"the chat template is not Jinja: {first_line(error)}") from None
    for name in variables:
        if name not in known:
            hint = nearest(name, known - _GIVEN) if known - _GIVEN else "it has none"
            raise InputError(f"chat_template_kwargs: the model's template has no variable {name!r}; {hint}")


_GIVEN = {"messages", "add_generation_prompt", "bos_token", "eos_token", "tools", "documents", "raise_exception"}
"""Variables that transformers sets itself."""


def _text(text: Part) -> dict[str, str]:
    return {"type": "text", "text": str(text)}
