"""Disks, permissions, locks and terminals: a message that says what, where and what to do, and exit code 2."""

import errno
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from egobench_tasks import cache, cli
from egobench_tasks.errors import InputError
from egobench_tasks.files import check_output_folder, inside, write_atomically
from egobench_tasks.judge.identity import JudgeIdentity
from egobench_tasks.judge.prompt import JudgeItem
from egobench_tasks.judge.store import VerdictStore
from egobench_tasks.judge.verdict import Judgement, Verdict
from egobench_tasks.locks import exclusive, try_exclusive


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.ENOLCK, errno.EMFILE])
def test_a_trouble_of_the_machine_ends_a_command_with_one_message(monkeypatch, capsys, code):
    def app():
        raise OSError(code, os.strerror(code), "/some/file")

    monkeypatch.setattr(cli, "app", app)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert said.startswith(f"egobench: /some/file: {os.strerror(code)}; ") and said.count("\n") == 1


def test_any_other_error_keeps_its_traceback(monkeypatch):
    def app():
        raise FileNotFoundError(errno.ENOENT, "No such file", "x")

    monkeypatch.setattr(cli, "app", app)
    with pytest.raises(FileNotFoundError):
        cli.main()


def test_a_terminal_that_cannot_show_a_sign_gets_another():
    program = "import sys; from egobench_tasks import cli; cli.app = lambda: print('\u00b1 1', flush=True); cli.main()"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    )
    assert done.stdout == b"? 1\n"


def test_a_reader_that_has_seen_enough_is_no_error():
    program = "from egobench_tasks import cli; cli.app = lambda: [print('x' * 999) for _ in range(9999)]; cli.main()"
    done = subprocess.run(
        f'{sys.executable} -c "{program}" | head -1', shell=True, capture_output=True, text=True, check=True
    )
    assert "Traceback" not in done.stderr


def test_an_output_folder_is_tried_and_nothing_is_left_in_it(tmp_path, monkeypatch):
    check_output_folder(tmp_path / "new" / "runs")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr("egobench_tasks.files.os.fsync", _full)
    with pytest.raises(InputError, match=r"runs: results cannot be written there \(No space left on device\)"):
        check_output_folder(tmp_path / "runs")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="results cannot be written there"):
        check_output_folder(tmp_path / "file" / "runs")


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "report.json"
    path.write_text("before")
    monkeypatch.setattr("egobench_tasks.files.os.fsync", _full)
    with pytest.raises(OSError, match="No space left"), write_atomically(path) as file:
        file.write(b"after")
    assert path.read_text() == "before" and list(tmp_path.iterdir()) == [path]


def _full(handle):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def no_locks(monkeypatch):
    """A file system without locks, as some network mounts are."""

    def refuse(*arguments):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", refuse)


def test_without_locks_a_lease_stands_for_one(tmp_path, no_locks):
    path, inside_now, most = tmp_path / "a.lock", [], []

    def work():
        for _ in range(5):
            with exclusive(path):
                inside_now.append(1)
                most.append(len(inside_now))
                inside_now.pop()

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    assert most == [1] * 15
    with try_exclusive(path) as first, try_exclusive(path) as second:
        assert (first, second) == (True, False)


def test_without_locks_verdicts_are_kept(tmp_path, no_locks):
    store, item = VerdictStore(tmp_path / "verdicts.jsonl"), JudgeItem("q", "a", "b", "c")
    store.append(item, JudgeIdentity("m", "w"), Judgement(Verdict(True, 5.0), None, "raw"))
    assert len(store.path.read_text().splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "path"),
    [("../../x", "x"), ("/models/m", "models/m"), ("org/m", "org/m"), ("..", "unnamed"), ("a/./b", "a/b")],
)
def test_a_models_name_cannot_climb_out_of_the_output_folder(name, path):
    assert inside(name) == path


def test_a_shared_cache_that_may_not_be_written_has_a_layer_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.setenv("EGOBENCH_CACHE", str(tmp_path / "shared"))
    monkeypatch.setattr(cache, "own_cache_dir", lambda: tmp_path / "own")
    assert cache.own_layer(cache.cache_dir() / "journal") == tmp_path / "shared" / "journal"
    monkeypatch.setattr(cache, "may_write", lambda folder: False)
    assert cache.own_layer(cache.cache_dir() / "journal") == tmp_path / "own" / "journal"
    assert cache.own_layer(tmp_path / "elsewhere") == tmp_path / "elsewhere"


def test_a_file_where_the_cache_is_to_be_is_told_and_nothing_is_kept_elsewhere(tmp_path, monkeypatch):
    """It was passed over without a word, and all that the user wanted there lay in his home."""
    (tmp_path / "file").touch()
    monkeypatch.setenv(cache.CACHE_VARIABLE, str(tmp_path / "file"))
    with pytest.raises(InputError, match=r"file: is a file, where the cache's folder is to be; .*EGOBENCH_CACHE"):
        cache.own_layer(cache.cache_dir() / "frames")


USE_STORE = """
import os, sys, tempfile
from pathlib import Path
from egobench_tasks.frames.spec import FrameSpec, Sampling
from egobench_tasks.frames.store import FrameStore
from egobench_tasks.runs.journal import Answer, Journal, journal_root
clip, sha256, user, group, *counts = sys.argv[1:]

def use(store, journal):
    for count in map(int, counts):
        spec = FrameSpec(sampling=Sampling.BUDGET, count=count)
        assert len(store.get(clip, sha256, spec).jpegs) == count
    journal.append(Answer("k" + user, "q", "t", "p", "x", "stop"))
    return sorted(journal.answers())

with tempfile.TemporaryDirectory() as folder:  # loads what Python loads late: another user may not read it from here
    use(FrameStore(Path(folder)), Journal(Path(folder)))
os.umask(0o022)
os.setgroups([int(group)])
os.setgid(int(group))
os.setuid(int(user))
print(use(FrameStore(), Journal(journal_root() / "one")))
"""


@pytest.fixture
def two_users(tiny_clip):
    """``two_users(mode)``: a cache of that mode for two users of one group, who use it one after the other."""
    if os.geteuid() != 0:
        pytest.skip("only root can become two users")
    folder = Path(tempfile.mkdtemp(prefix="egobench-users-"))  # tmp_path is closed to others
    folder.chmod(0o755)
    clip = folder / "clip.mp4"
    shutil.copyfile(tiny_clip[0], clip)
    clip.chmod(0o644)

    def run(mode):
        shared = folder / "cache"
        shared.mkdir()
        os.chown(shared, 1501, 1500)
        shared.chmod(mode)
        said = []
        for user, counts in ((1501, "2"), (1502, "2 3")):
            home = folder / str(user)
            home.mkdir()
            os.chown(home, user, 1500)
            environment = {
                **os.environ,
                "EGOBENCH_CACHE": str(shared),
                "HOME": str(home),
                "XDG_CACHE_HOME": f"{home}/c",
            }
            command = [sys.executable, "-c", USE_STORE, str(clip), tiny_clip[1], str(user), "1500", *counts.split()]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=folder, check=False)
            assert done.returncode == 0, done.stderr[-2000:]
            said.append(done.stdout.strip())
        n_shared = len(list(shared.rglob("*.frames")))
        return said, n_shared, len(list((folder / "1502").rglob("*.frames")))

    yield run
    shutil.rmtree(folder)


def test_two_users_share_what_a_group_may_write(two_users):
    said, n_shared, n_own = two_users(0o2770)
    assert said == ["['k1501']", "['k1501', 'k1502']"]
    assert (n_shared, n_own) == (2, 0)


def test_a_second_user_reads_the_firsts_cache_and_keeps_the_rest_in_one_of_his_own(two_users):
    said, n_shared, n_own = two_users(0o755)
    assert said == ["['k1501']", "['k1502']"]  # answers are private
    assert (n_shared, n_own) == (1, 1)
