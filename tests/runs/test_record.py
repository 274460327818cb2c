import json
import multiprocessing
import os
from dataclasses import replace

import pytest

from egobench_tasks.errors import InputError
from egobench_tasks.runs.record import (
    Answerer,
    AskedTask,
    Machine,
    Package,
    RunRecord,
    Times,
    begin,
    in_order,
    read_records,
    record_of,
    without_times,
    write,
)

TASK = AskedTask(
    name="egogears:multi|0",
    inputs="prompt p, frames f",
    dataset="/data/egogears",
    revision=None,
    fingerprint="0" * 16,
    n_questions=8,
    n_rows=8,
    n_published=1487,
    whole=False,
    max_new_tokens=2048,
)
RECORD = RunRecord(
    number=0,
    times=Times(started_utc="2026-10-25T00:30:00Z"),
    command=("egobench", "run", "endpoint", "e.yaml", "egogears"),
    folder="/work",
    environment={"EGOGEARS_DATA": "egogears"},
    package=Package(version="0.1.0", commit=None, modified=False),
    libraries={"torch": "2"},
    machine=Machine(host="h", system="Linux", python="3.11.7", n_cpus=2, gpus=("G",)),
    model=Answerer(name="m", key="k" * 32, identity={"a": [1, {"b": None}]}, server={"id": "m", "root": None}),
    tasks=(TASK,),
    decoding={"libavcodec": "62.28.102"},
    seeds={"python": 1234},
)


def saved(folder, date, **times):
    record = begin(folder, RECORD)
    write(folder, replace(record, times=replace(record.times, ended_utc="x", results_date=date, **times)))


def test_a_record_reads_back_as_it_was_written(tmp_path):
    begun = begin(tmp_path, RECORD)
    assert begun == replace(RECORD, number=1)
    assert read_records(tmp_path) == [begun]
    assert not begun.complete
    assert json.loads((tmp_path / "runs/0001/run.json").read_text())["times"] == {
        "started_utc": "2026-10-25T00:30:00Z", "ended_utc": None, "results_date": None, "seconds_a_question": None,
    }  # fmt: skip


def test_the_newer_of_two_results_is_the_later_run_although_the_clock_was_turned_back(tmp_path):
    """02:59 in summer time, then 02:10 in winter time: 11 minutes later."""
    summer, winter = "2026-10-25T02-59-00.000001", "2026-10-25T02-10-00.000001"
    saved(tmp_path, summer)
    saved(tmp_path, winter)
    assert in_order(tmp_path, [winter, summer, winter]) == [summer, winter]
    assert record_of(tmp_path, winter).number == 2
    assert record_of(tmp_path, "never") is None


def test_results_without_a_record_beside_others_are_not_put_in_order(tmp_path):
    saved(tmp_path, "2026-10-25T02-10-00")
    assert in_order(tmp_path, ["2026-10-25T02-10-00"]) == ["2026-10-25T02-10-00"]
    assert in_order(tmp_path / "elsewhere", ["2025-01-01T00-00-00"]) == ["2025-01-01T00-00-00"]
    with pytest.raises(InputError, match=r"no run\.json says when 2026-01-01T00-00-00 was made"):
        in_order(tmp_path, ["2026-10-25T02-10-00", "2026-01-01T00-00-00"])


def _begin_five(folder):
    for _ in range(5):
        begin(folder, RECORD)


def test_runs_that_begin_at_once_have_numbers_of_their_own(tmp_path):
    processes = [multiprocessing.get_context("fork").Process(target=_begin_five, args=(tmp_path,)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(30)
    assert [record.number for record in read_records(tmp_path)] == list(range(1, 21))


def test_a_run_killed_before_its_record_was_written_leaves_a_number_and_no_record(tmp_path):
    begin(tmp_path, RECORD)
    (tmp_path / "runs" / "0002").mkdir()
    assert begin(tmp_path, RECORD).number == 3
    assert [record.number for record in read_records(tmp_path)] == [1, 3]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"number": "1"}', "\ud800", "[" * 100_000])
def test_a_record_that_is_none_is_refused_by_its_path(tmp_path, content):
    path = tmp_path / "runs" / "0001" / "run.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(os.fsencode(content) if content.isascii() else b"\xff")
    with pytest.raises(InputError, match=str(path)):
        read_records(tmp_path)


def test_without_its_times_a_record_is_that_of_any_identical_run():
    later = replace(RECORD, times=Times(started_utc="2027", ended_utc="2028", results_date="d", seconds_a_question=1.5))
    assert without_times(later) == without_times(RECORD)
    assert without_times(replace(RECORD, folder="/elsewhere")) != without_times(RECORD)
