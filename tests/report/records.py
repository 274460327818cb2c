"""A ``run.json`` for tests."""

from egobench_tasks.runs.record import Answerer, Machine, Package, RunRecord, Times


def record_for(number, results_date, identity=None):
    """The record of a run that wrote its results under a date of lighteval's."""
    return RunRecord(
        number=number,
        times=Times(started_utc="2026-11-30T05:15:00Z", ended_utc="2026-11-30T05:16:00Z", results_date=results_date),
        command=("egobench", "run", "transformers", "model_name=m <b>", "egogears"),
        folder="/work",
        environment={},
        package=Package(version="0", commit=None, modified=False),
        libraries={},
        machine=Machine(host="h", system="s", python="3", n_cpus=2),
        model=Answerer(name="m", key="k", identity=identity or {}),
        tasks=(),
        decoding={},
        seeds={},
    )
