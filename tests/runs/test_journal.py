import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.runs.journal import Answer, Journal, answer_key


def answer(key="k", text="t", **values):
    return Answer(
        key=key, question_id="q", task="egogears:multi|0", prompt="p", text=text, finish_reason="stop", **values
    )


def test_what_was_appended_is_read_back_by_key(tmp_path):
    journal = Journal(tmp_path / "new" / "folder")
    assert journal.answers() == {}
    kept = answer("a", n_prompt_tokens=7, n_new_tokens=2, clip_notes=("short",))
    journal.append(kept)
    journal.append(answer("b"))
    assert Journal(journal.folder).answers() == {"a": kept, "b": answer("b")}


@given(st.text())
def test_any_text_reads_back(text):
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder))
        journal.append(answer(text=text))
        journal.close()
        assert journal.answers()["k"].text == text


def test_line_separators_inside_an_answer_do_not_tear_it(tmp_path):
    journal = Journal(tmp_path)
    journal.append(answer(text="one\u2028two\x85three\x0cfour\r\nfive"))
    assert journal.answers()["k"].text == "one\u2028two\x85three\x0cfour\r\nfive"


def test_a_line_that_a_kill_cut_short_is_asked_again_and_the_rest_kept(tmp_path):
    journal = Journal(tmp_path)
    for key in ("a", "b"):
        journal.append(answer(key))
    journal.close()
    (path,) = tmp_path.glob("*.jsonl")
    path.write_bytes(path.read_bytes()[:-9])
    assert set(journal.answers()) == {"a"}
    journal.append(answer("b"))
    assert set(journal.answers()) == {"a", "b"}


def test_killed_while_writing_every_answer_that_was_reported_is_there(tmp_path):
    code = (
        "import sys, pathlib; from egobench_tasks.runs.journal import Answer, Journal\n"
        "journal = Journal(pathlib.Path(sys.argv[1]))\n"
        "for i in range(100000):\n"
        "    journal.append(Answer(str(i), 'q', 't', 'p', 'x' * 3000, 'stop')); print(i, flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    reported = [int(process.stdout.readline()) for _ in range(20)]
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=10)
    assert {str(number) for number in reported} <= set(Journal(tmp_path).answers())


def test_a_key_depends_on_every_input_and_on_no_order():
    assert answer_key(a=1, b=[2]) == answer_key(b=[2], a=1)
    assert len({answer_key(a=1), answer_key(a=2), answer_key(b=1), answer_key(a="1")}) == 4
