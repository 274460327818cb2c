"""The append-only log: what is acknowledged is read back, whatever is torn after it."""

import json
import multiprocessing
import random
import subprocess
import sys
import time

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from egobench_tasks.errors import InputError
from egobench_tasks.making.ids import check_id
from egobench_tasks.making.log import LogFile, ending_of, parse_log, read_log

TEXTS = st.text(max_size=8) | st.sampled_from(["\u2028", "é", '{"', "\n", "}\n{", "#torn"])
RECORD = st.dictionaries(st.sampled_from(["kind", "note", "question_id"]), TEXTS, min_size=1)


def line_of(record):
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


@settings(deadline=None)
@given(st.lists(st.tuples(RECORD, st.none() | st.integers(0, 200)), max_size=8))
def test_what_was_acknowledged_is_read_whatever_was_torn_between(writes):
    """Each write is whole, and acknowledged, or cut after some bytes: in its line, or in the mark of a tear."""
    data, acknowledged = b"", []
    for record, cut in writes:
        written = ending_of(data) + line_of(record)
        if cut is None or cut >= len(written) - 1:  # without its line end it is whole, too
            acknowledged.append(record)
            written = written if cut is None else written[:-1]
        else:
            written = written[:cut]
        data += written
        assert [dict(one) for one in parse_log(data, "f").records] == acknowledged
    assert parse_log(data + ending_of(data), "f").torn_bytes == 0


@settings(deadline=None)
@given(st.lists(RECORD, min_size=2, max_size=5), st.data())
def test_damage_anywhere_but_at_the_end_is_refused(records, data):
    lines = [line_of(record) for record in records]
    number = data.draw(st.integers(0, len(lines) - 2))
    lines[number] = lines[number][: data.draw(st.integers(1, len(lines[number]) - 2))] + b"\n"
    assume(not lines[number].endswith(b"#torn\n"))
    with pytest.raises(InputError, match=f"f: line {number + 1} is damaged"):
        parse_log(b"".join(lines), "f")


def test_a_torn_line_is_told_once_and_stays(tmp_path):
    log = LogFile(tmp_path / "r1.jsonl")
    log.append({"kind": "a"})
    log.path.write_bytes(log.path.read_bytes() + b'{"kind": "b", "no')
    assert read_log(log.path).torn_bytes == 17
    log.append({"kind": "c"})
    kept = read_log(log.path)
    assert ([record["kind"] for record in kept.records], kept.torn_bytes) == (["a", "c"], 0)
    assert b'{"kind": "b", "no#torn\n' in log.path.read_bytes()


WRITER = """
import sys
from pathlib import Path
from egobench_tasks.making.log import LogFile
log = LogFile(Path(sys.argv[1]))
for number in range(100_000):
    log.append({"number": number, "note": "x" * (number * 7919 % 5000)})
    print(number, flush=True)
"""


@pytest.mark.parametrize("seed", range(4))
def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path, seed):
    path, generator = tmp_path / "r1.jsonl", random.Random(seed)
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    acknowledged = [int(writer.stdout.readline())]
    time.sleep(generator.uniform(0, 0.2))
    writer.kill()
    acknowledged += [int(line) for line in writer.stdout.read().split("\n")[:-1]]
    kept = [record["number"] for record in read_log(path).records]
    assert kept[: len(acknowledged)] == acknowledged and len(kept) <= len(acknowledged) + 1
    LogFile(path).append({"number": -1})
    assert [record["number"] for record in read_log(path).records] == [*kept, -1]


def hold(path, ready, done):
    with LogFile(path).held():
        ready.set()
        done.wait(30)


def test_two_pages_of_one_person_are_refused(tmp_path):
    path, spawn = tmp_path / "r1.jsonl", multiprocessing.get_context("fork")
    ready, done = spawn.Event(), spawn.Event()
    other = spawn.Process(target=hold, args=(path, ready, done))
    other.start()
    assert ready.wait(30)
    with pytest.raises(InputError, match="a page for r1 is open already"), LogFile(path).held():
        pass
    done.set()
    other.join(30)
    with LogFile(path).held() as log:
        assert log.records == ()


@pytest.mark.parametrize("text", ["r1", "p03", "ab1234"])
def test_ids(text):
    assert check_id(text, "--reviewer") == text


@pytest.mark.parametrize("text", ["anna", "Anna", "R1", "r", "1", "tom1", "r1 ", "r12345", "../r1", "", "r१"])
def test_names_are_no_ids(text):
    with pytest.raises(InputError, match=r"--reviewer: .* is no id"):
        check_id(text, "--reviewer")
