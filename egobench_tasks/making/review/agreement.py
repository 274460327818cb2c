"""How far people agree beyond chance, on nominal labels: Cohen's kappa, Fleiss' kappa, Krippendorff's alpha. Pure.

The formulas are the textbook ones; the tests hold them against independent libraries. A rating is any hashable label,
None where a person gave none. Each is NaN where it is not defined: nothing to compare, or all labels the same, so that
chance alone would agree throughout.
"""

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

Label = Hashable | None
Ratings = Sequence[Sequence[Label]]
"""A row for each unit (a question, or an option), a column for each person; the same people in every row."""


def cohen_kappa(first: Sequence[Label], second: Sequence[Label]) -> float:
    """Return Cohen's kappa of two people over the units that both rated (Cohen 1960)."""
    pairs = [(one, two) for one, two in zip(first, second, strict=True) if one is not None and two is not None]
    if not pairs:
        return math.nan
    n = len(pairs)
    firsts, seconds = Counter(one for one, _ in pairs), Counter(two for _, two in pairs)
    expected = sum(count * seconds[label] for label, count in firsts.items()) / n**2
    return _beyond(sum(one == two for one, two in pairs) / n, expected)


def fleiss_kappa(ratings: Ratings) -> float:
    """Return Fleiss' kappa over the units that everybody rated (Fleiss 1971)."""
    whole = [row for row in ratings if row and None not in row]
    n_people = len(whole[0]) if whole else 0
    if n_people < 2:
        return math.nan
    observed = math.fsum(_same_pairs(row) for row in whole) / (len(whole) * n_people * (n_people - 1))
    totals = Counter(label for row in whole for label in row)
    expected = math.fsum((count / totals.total()) ** 2 for count in totals.values())
    return _beyond(observed, expected)


def krippendorff_alpha(ratings: Ratings) -> float:
    """Return Krippendorff's alpha for nominal labels over the units that two people or more rated (2011).

    People may have rated different units: a unit counts with as many ratings as it has.
    """
    units = [[label for label in row if label is not None] for row in ratings]
    pairable = [row for row in units if len(row) > 1]
    totals = Counter(label for row in pairable for label in row)
    n = totals.total()
    if n == 0 or len(totals) < 2:
        return math.nan
    # Of the coincidences, those that lie off the diagonal: a unit's pairs of different labels.
    disagreeing = math.fsum((len(row) * (len(row) - 1) - _same_pairs(row)) / (len(row) - 1) for row in pairable)
    expected = n**2 - sum(count**2 for count in totals.values())
    return 1.0 - (n - 1) * disagreeing / expected


def cohen_kappas(people: Sequence[str], ratings: Ratings) -> Mapping[tuple[str, str], float]:
    """Return Cohen's kappa of every two people."""
    columns = {name: [row[index] for row in ratings] for index, name in enumerate(people)}
    return {
        (one, two): cohen_kappa(columns[one], columns[two])
        for index, one in enumerate(people)
        for two in people[index + 1 :]
    }


def _same_pairs(row: Sequence[Label]) -> int:
    """How many ordered pairs of one unit's ratings are of the same label."""
    return sum(count * (count - 1) for count in Counter(row).values())


def _beyond(observed: float, expected: float) -> float:
    return (observed - expected) / (1 - expected) if expected < 1 else math.nan
