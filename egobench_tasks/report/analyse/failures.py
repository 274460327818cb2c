"""Which questions: those without an answer, run by run, and those that most runs get wrong."""

from egobench_tasks.report.analyse.overall import RUN, SPLIT
from egobench_tasks.report.analyse.tables import Column, Kind, Table, table
from egobench_tasks.report.read.choice_results import Results
from egobench_tasks.report.read.states import ANSWERED, STATES, TITLES, UNFINISHED

_MAX_HARDEST = 50


def unanswered_table(results: Results) -> Table:
    """The questions without an answer, by run, split and reason."""
    unanswered = results.outcomes[results.outcomes["state"] != ANSWERED]
    found = dict(list(unanswered.groupby(["run", "config", "state"], sort=False)["question_id"]))
    rows = [
        {"run": run, "config": config, "reason": TITLES[state], "count": len(ids), "question_ids": tuple(ids)}
        for run in results.labels
        for config in results.configs
        for state in STATES
        if (ids := found.get((run, config, state))) is not None
    ]
    columns = [
        RUN,
        SPLIT,
        Column("reason", "Reason", Kind.TEXT),
        Column("count", "Questions", Kind.COUNT),
        Column("question_ids", "Which", Kind.QUESTIONS),
    ]
    note = "They score as wrong. Missing and failed ones are asked again when the run is started again."
    return table("unanswered", "Questions without an answer", note, columns, rows)


def hardest_table(results: Results) -> Table:
    """The questions that the most runs get wrong, in each split's order where equal.

    Of a question count the runs that were asked it: what a run lacks is no failure of its model.
    """
    rows = []
    for config in results.configs:
        exact, jaccard = results.matrix(config, "exact_set"), results.matrix(config, "jaccard")
        about = results.splits[config].attributes.set_index("question_id")
        asked = ~results.matrix(config, "state").isin(UNFINISHED)
        right, credit, n_runs = exact[asked].sum(axis=1), jaccard[asked].mean(axis=1), asked.sum(axis=1)
        for question_id in exact.index[((n_runs > 0) & (right <= 0.5 * n_runs)).to_numpy()]:
            rows.append(
                {
                    "config": config,
                    "question_id": question_id,
                    "right": int(right[question_id]),
                    "runs": int(n_runs[question_id]),
                    "jaccard": float(credit[question_id]),
                    **about.loc[question_id, ["unit", "question_type", "question"]].to_dict(),
                }
            )
    rows.sort(key=lambda row: (row["right"] / row["runs"], row["jaccard"]))
    columns = [
        SPLIT,
        Column("question_id", "Question", Kind.QUESTION),
        Column("right", "Runs right", Kind.COUNT),
        Column("runs", "Of runs asked", Kind.COUNT),
        Column("jaccard", "Mean Jaccard %", Kind.PERCENT),
        Column("unit", "Unit", Kind.TERM),
        Column("question_type", "Type", Kind.TERM),
        Column("question", "Text", Kind.TEXT),
    ]
    note = (
        f"At most {_MAX_HARDEST}. Their frames stand beside them where the store of frames has them. "
        "`egobench browse` opens a question by its id; with `--browse-url` the ids here lead there."
    )
    return table("hardest", "Questions that most runs get wrong", note, columns, rows[:_MAX_HARDEST])
