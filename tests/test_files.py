import hashlib
import signal
import subprocess
import sys
import time

import pytest

from egobench_tasks.files import sha256_of, write_atomically


def test_content_arrives_whole_and_nothing_else_stays(tmp_path):
    path = tmp_path / "a.json"
    with write_atomically(path) as file:
        file.write(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]
    assert sha256_of(path) == hashlib.sha256(b"new").hexdigest()


def test_an_exception_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError), write_atomically(path) as file:
        file.write(b"half")
        raise RuntimeError
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_kill_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b"old")
    code = (
        "import sys, time, pathlib; from egobench_tasks.files import write_atomically\n"
        "with write_atomically(pathlib.Path(sys.argv[1])) as file:\n"
        "    file.write(b'half'); file.flush(); print('writing', flush=True); time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"writing\n"
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=10)
    time.sleep(0.05)
    assert path.read_bytes() == b"old"
