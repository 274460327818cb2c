"""How a question's words name its clips, and the same words with other labels. Pure.

The dataset's text says ``CLIP_1`` and ``VIDEO_A``, and in places "Video A", "clip 2" or "Videos B and C".
"""

import random
import re
import string
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

_LABEL = re.compile(r"(?P<kind>[A-Za-z]+)_(?P<suffix>[A-Z0-9]+)")
_ARTICLES = frozenset("AI")


def named_labels(text: str, labels: Iterable[str]) -> frozenset[str]:
    """Return which of the labels a text names, in whatever form.

    >>> sorted(named_labels("Videos B and C part; VIDEO_A goes on", ["VIDEO_A", "VIDEO_B", "VIDEO_C", "VIDEO_D"]))
    ['VIDEO_A', 'VIDEO_B', 'VIDEO_C']
    """
    return frozenset(mention.label for mention in _mentions(text, labels))


def rename_labels(text: str, renamed: Mapping[str, str]) -> str:
    """Return the text with every label it names replaced, all at once; each keeps the form in which it was named.

    >>> rename_labels("CLIP_1 and CLIP_10, then clip 1", {"CLIP_1": "CLIP_10", "CLIP_10": "CLIP_1"})
    'CLIP_10 and CLIP_1, then clip 10'
    """
    parts, end = [], 0
    for mention in _mentions(text, renamed):
        new = renamed[mention.label]
        parts += [text[end : mention.start], _suffix(new) if mention.is_suffix else new]
        end = mention.end
    return "".join([*parts, text[end:]])


def names_suffix_alone(text: str, labels: Iterable[str]) -> bool:
    """Whether a text names a clip by the end of its label alone, as "B, then A" does: words that cannot be renamed
    with certainty.

    A lone number counts where the whole text consists of such ends, the articles "A" and "I" where no word follows.
    """
    labels = list(labels)
    suffixes = {_suffix(label) for label in labels}
    rest = _without_mentions(text, labels)
    words = re.findall(r"\w+", rest)
    if words and suffixes.issuperset(words):
        return True
    letters = {suffix for suffix in suffixes if suffix.isalpha()}
    for match in re.finditer(r"(?<!\w)[A-Z]+(?!\w)", rest):
        is_article = match[0] in _ARTICLES and re.match(r"\s+[a-z]", rest[match.end() :])
        if match[0] in letters and not is_article:
            return True
    return False


def fresh_labels(labels: Iterable[str], generator: random.Random) -> dict[str, str]:
    """Return ``{label: new label}``: of the same kind, each ending as none of the question's labels does.

    The new ends are letters, which tell no order as numbers do.
    """
    distinct = sorted(set(labels))
    taken = {_suffix(label) for label in distinct} | _ARTICLES
    letters = [letter for letter in string.ascii_uppercase if letter not in taken]
    pool = letters if len(letters) >= len(distinct) else [*letters, *(2 * letter for letter in letters)]
    ends = generator.sample(pool, len(distinct))
    return {label: f"{_kind(label)}_{end}" for label, end in zip(distinct, ends, strict=True)}


@dataclass(frozen=True, slots=True)
class _Mention:
    """Where a text names a label: all of it, or (``is_suffix``) its end after "Video" or in a list of such ends."""

    label: str
    start: int
    end: int
    is_suffix: bool


def _mentions(text: str, labels: Iterable[str]) -> Iterator[_Mention]:
    """Yield every mention, in the order of the text."""
    labels = list(labels)
    found = {mention.start: mention for mention in [*_spoken(text, labels), *_literal(text, labels)]}
    yield from (found[start] for start in sorted(found))


def _literal(text: str, labels: Iterable[str]) -> Iterator[_Mention]:
    """Labels as they stand; ``CLIP_1`` is not in ``CLIP_10``."""
    for label in labels:
        for match in re.finditer(rf"(?<!\w){re.escape(label)}(?!\w)", text):
            yield _Mention(label, match.start(), match.end(), is_suffix=False)


def _spoken(text: str, labels: Iterable[str]) -> Iterator[_Mention]:
    """Labels as words: "Video A", "clip 2", and lists after the plural, "Videos A, B and C"."""
    by_kind: dict[str, dict[str, str]] = {}
    for label in labels:
        if match := _LABEL.fullmatch(label):
            by_kind.setdefault(match["kind"], {})[match["suffix"]] = label
    for kind, label_of in by_kind.items():
        suffix = rf"(?:{'|'.join(map(re.escape, sorted(label_of, key=len, reverse=True)))})(?!\w)"
        one = rf"(?i:{kind})[ _-]{suffix}"
        several = rf"(?i:{kind}s)[ ]{suffix}(?:, {suffix})*(?:,? (?:and|or|&) {suffix})?"
        for phrase in re.finditer(rf"(?<!\w)(?:{one}|{several})", text):
            if phrase[0] in label_of.values():
                continue  # see `_literal`
            for end in re.finditer(rf"(?<![A-Za-z0-9]){suffix}", phrase[0]):
                start = phrase.start() + end.start()
                yield _Mention(label_of[end[0]], start, start + len(end[0]), is_suffix=True)


def _without_mentions(text: str, labels: Iterable[str]) -> str:
    parts, end = [], 0
    for mention in _mentions(text, labels):
        parts.append(text[end : mention.start])
        end = mention.end
    return "".join([*parts, text[end:]])


def _kind(label: str) -> str:
    match = _LABEL.fullmatch(label)
    return match["kind"] if match else "CLIP"


def _suffix(label: str) -> str:
    match = _LABEL.fullmatch(label)
    return match["suffix"] if match else label
