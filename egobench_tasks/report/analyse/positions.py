"""Whether a model prefers a letter: what it chose against what was right, by position shown (PROTOCOL 1.4)."""

import string

import numpy as np
import pandas as pd

from egobench_tasks.report.analyse.overall import RUN, SPLIT
from egobench_tasks.report.analyse.tables import Column, Kind, Table, table
from egobench_tasks.report.read.choice_results import Results


def position_rates(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each shown letter, over the questions that showed it.

    ``shown`` counts those questions, ``right`` is the share of them where the letter was right,
    ``chosen`` where it was chosen, ``excess`` their difference, ``recall`` the share of right ones
    that were chosen.
    """
    rows = []
    for letter in string.ascii_uppercase:
        members = outcomes[outcomes["shown_letters"].str.contains(letter, regex=False)]
        if members.empty:
            break
        right = members["shown_gold"].str.contains(letter, regex=False)
        chosen = members["shown_predicted"].str.contains(letter, regex=False)
        rows.append(
            {
                "letter": letter,
                "shown": len(members),
                "right": float(right.mean()),
                "chosen": float(chosen.mean()),
                "excess": float(chosen.mean() - right.mean()),
                "recall": float(chosen[right].mean()) if right.any() else np.nan,
            }
        )
    return pd.DataFrame(rows)


def positions_table(results: Results) -> Table:
    """Letter bias of every run and split."""
    rows = [
        {"run": run, "config": config, **row}
        for (config, run), outcomes in results.outcomes.groupby(["config", "run"], sort=False)
        for row in position_rates(outcomes).to_dict("records")
    ]
    columns = [
        RUN,
        SPLIT,
        Column("letter", "Shown letter", Kind.TEXT),
        Column("shown", "Questions showing it", Kind.COUNT),
        Column("right", "Right %", Kind.PERCENT),
        Column("chosen", "Chosen %", Kind.PERCENT),
        Column("excess", "Chosen less right (points)", Kind.POINTS),
        Column("recall", "Chosen when right %", Kind.PERCENT),
    ]
    note = "Letters as shown, after the shuffle. A model without a preference chooses a letter as often as it is right."
    return table("positions", "Position and letter bias", note, columns, rows)


def confusion(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Return how often each shown letter was chosen (columns) where each was right (rows).

    Over questions with one right answer that were answered with one letter.
    """
    single = outcomes[(outcomes["n_select"] == 1) & (outcomes["shown_predicted"].str.len() == 1)]
    counts = pd.crosstab(single["shown_gold"], single["shown_predicted"])
    letters = sorted(set(counts.index) | set(counts.columns))
    return counts.reindex(index=letters, columns=letters, fill_value=0)
