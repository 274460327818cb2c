"""Scores of open answers without a judge: exact match after normalisation, and token F1.

They need no network and never change, so every run has them. They are no stand-in for a judge:
two answers that mean the same in other words do not match.
"""

import re
import unicodedata
from collections import Counter

_UNITS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBERS = {word: value for value, word in enumerate(_UNITS)} | {
    word: 10 * value for value, word in enumerate(_TENS, start=2)
}
_ADVERBS = {"once": ("1", "time"), "twice": ("2", "times"), "thrice": ("3", "times")}
_ARTICLES = frozenset({"a", "an", "the"})
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
# A number with its decimal point, or a run of letters and digits.
_TOKEN = re.compile(r"\d+\.\d+|[^\W_]+")


def exact_match(prediction: str, gold: str) -> float:
    """Return 1.0 where both answers are the same tokens after `normalise`, else 0.0.

    >>> exact_match("three times", "3 Times.")
    1.0
    """
    return float(normalise(prediction) == normalise(gold))


def token_f1(prediction: str, gold: str) -> float:
    """Return the harmonic mean of precision and recall over the answers' tokens, in [0, 1].

    Tokens are those of `normalise`, counted as often as they occur. Two answers without tokens match.

    >>> token_f1("a red cup", "The cup.")
    0.6666666666666666
    """
    predicted, wanted = Counter(normalise(prediction)), Counter(normalise(gold))
    if not predicted or not wanted:
        return float(predicted == wanted)
    return 2 * (predicted & wanted).total() / (predicted.total() + wanted.total())


def normalise(answer: str) -> list[str]:
    """Return an answer's tokens: lower case, no punctuation, no articles, numbers up to 99 as digits.

    >>> normalise("The person claps twenty-one times!")
    ['person', 'claps', '21', 'times']
    """
    text = unicodedata.normalize("NFKC", answer).casefold()
    text = _THOUSANDS.sub("", re.sub(r"['’]", "", text))
    return _with_digits([token for token in _TOKEN.findall(text) if token not in _ARTICLES])


def _with_digits(tokens: list[str]) -> list[str]:
    """Write number words as digits; "twenty one" is one number."""
    digits: list[str] = []
    after_tens = False
    for token in tokens:
        value = _NUMBERS.get(token)
        if value is None:
            digits.extend(_ADVERBS.get(token, (token,)))
        elif after_tens and 1 <= value <= 9:
            digits[-1] = str(int(digits[-1]) + value)
        else:
            digits.append(str(value))
        after_tens = token in _TENS
    return digits


def offline_scores(answer: str | None, gold: str) -> dict[str, float]:
    """Return ``exact_match``, ``token_f1`` and ``answered`` in [0, 1]: what needs no judge. No answer scores 0."""
    if answer is None:
        return {"exact_match": 0.0, "token_f1": 0.0, "answered": 0.0}
    return {"exact_match": exact_match(answer, gold), "token_f1": token_f1(answer, gold), "answered": 1.0}
