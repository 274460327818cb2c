import hashlib
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from egobench_tasks.cache import cache_dir
from egobench_tasks.files import sha256_of
from egobench_tasks.frames import store as store_module
from egobench_tasks.frames.decode import ClipError, decode_jpegs, decoder_version
from egobench_tasks.frames.spec import FrameSpec
from egobench_tasks.frames.store import FrameStore

SPEC = FrameSpec(sampling="budget", count=8)
SHA256 = hashlib.sha256(b"a clip").hexdigest()


@pytest.fixture
def clip(make_clip):
    return str(make_clip("x264 GOP 30"))


@pytest.fixture
def sha256(clip):
    """The clip's own."""
    return sha256_of(Path(clip))


@pytest.fixture
def copies(clip, tmp_path):
    """Make so many clips that show the same frames and are different files: ``{SHA-256: path}``."""

    def make(count):
        data = Path(clip).read_bytes()
        paths = {}
        for number in range(count):
            path = tmp_path / f"copy-{number}.mp4"
            # A box that every reader passes over (ISO/IEC 14496-12, 8.1.2).
            path.write_bytes(data + (9).to_bytes(4, "big") + b"free" + bytes([number]))
            paths[sha256_of(path)] = str(path)
        return paths

    return make


def entries(store):
    return sorted(store.root.glob("frames/*/*.frames"))


def test_what_is_stored_is_what_was_decoded(clip, sha256, tmp_path):
    store = FrameStore(tmp_path)
    fresh, stored = store.get(clip, sha256, SPEC), store.get("gone.mp4", sha256, SPEC)
    decoded = decode_jpegs(clip, SPEC)
    assert fresh == stored
    assert stored.jpegs == decoded.frames
    assert stored.times_s == decoded.times_s
    assert (stored.asked, stored.complete, stored.libavcodec) == (8, True, decoder_version())


def test_damage_is_remembered(make_clip, tmp_path):
    store, path = FrameStore(tmp_path), make_clip("x264 truncated")
    spec = FrameSpec(sampling="budget", count=8, tail="available")
    store.get(str(path), sha256_of(path), spec)
    stored = store.get("gone.mp4", sha256_of(path), spec)
    assert not stored.complete
    assert "cut short" in stored.damage
    assert len(stored.jpegs) < stored.asked


def test_another_clip_over_the_one_the_row_names_is_refused(clip, sha256, make_clip, tmp_path):
    other = make_clip("rotated 90")
    path, store = tmp_path / "clip.mp4", FrameStore(tmp_path / "store")
    path.write_bytes(other.read_bytes())
    with pytest.raises(ClipError) as caught:
        store.get(str(path), sha256, SPEC)
    assert sha256 in str(caught.value)
    assert sha256_of(other) in str(caught.value)
    assert not entries(store)
    path.write_bytes(Path(clip).read_bytes())
    assert store.get(str(path), sha256, SPEC).jpegs == decode_jpegs(clip, SPEC).frames


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        (lambda data: b"", "is empty"),
        (lambda data: b"version https://git-lfs.github.com/spec/v1\noid sha256:aa\n", "Git LFS pointer"),
        (lambda data: b"<html>Sign in</html>", "web page"),
        (lambda data: data[:-50], "cut short"),
    ],
)
def test_what_lies_in_the_clips_place_is_named(spoil, what, clip, sha256, tmp_path):
    path = tmp_path / "clip.mp4"
    path.write_bytes(spoil(Path(clip).read_bytes()))
    with pytest.raises(ClipError, match=rf"{what}.*{sha256}"):
        FrameStore(tmp_path / "store").get(str(path), sha256, SPEC)


@pytest.mark.parametrize("other_spec", [SPEC, FrameSpec(sampling="uniform", count=8)], ids=["clip", "spec"])
def test_an_entry_copied_under_anothers_name_is_not_served(other_spec, clip, sha256, copies, tmp_path):
    store = FrameStore(tmp_path / "store")
    ((other_sha256, other),) = copies(1).items()
    served = store.get(other, other_sha256, other_spec)
    (copied,) = entries(store)
    right = store.get(clip, sha256, SPEC)
    (entry,) = set(entries(store)) - {copied}
    entry.write_bytes(copied.read_bytes())
    assert not store.holds(sha256, SPEC)
    assert store.get(clip, sha256, SPEC) == right
    assert store.holds(sha256, SPEC)
    assert served.asked == 8


def test_content_spec_and_decoder_make_the_key(clip, sha256, tmp_path, monkeypatch):
    store = FrameStore(tmp_path)
    store.get(clip, sha256, SPEC)
    assert store.holds(sha256, SPEC)
    assert not store.holds(sha256, FrameSpec(sampling="budget", count=9))
    assert not store.holds(hashlib.sha256(b"another").hexdigest(), SPEC)
    monkeypatch.setattr(store_module, "decoder_version", lambda: "0.0.1")
    assert not store.holds(sha256, SPEC)


@pytest.mark.parametrize("sha256", ["", "../../etc/passwd", SHA256.upper(), SHA256[:-1]])
def test_a_key_is_a_hash(sha256, tmp_path):
    with pytest.raises(ValueError, match="64 lower-case hex digits"):
        FrameStore(tmp_path).get("a.mp4", sha256, SPEC)


def flip_middle(data):
    return data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :]


@pytest.mark.parametrize(
    "harm", [lambda data: data[:-1], lambda data: data + b"x", lambda data: b"", lambda data: b"\0" * 900, flip_middle]
)
def test_a_harmed_entry_is_made_anew(harm, clip, sha256, tmp_path):
    store = FrameStore(tmp_path)
    whole = store.get(clip, sha256, SPEC)
    (entry,) = entries(store)
    entry.write_bytes(harm(entry.read_bytes()))
    assert store.get(clip, sha256, SPEC) == whole
    assert FrameStore(tmp_path).get("gone.mp4", sha256, SPEC) == whole


def test_a_read_only_store_serves_what_it_has(clip, sha256, tmp_path, monkeypatch):
    store = FrameStore(tmp_path)
    whole = store.get(clip, sha256, SPEC)

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "utime", refuse)
    assert store.get("gone.mp4", sha256, SPEC) == whole


def test_a_clip_that_does_not_decode_leaves_nothing(tmp_path):
    store = FrameStore(tmp_path)
    for _ in range(2):
        with pytest.raises(ClipError):
            store.get(str(tmp_path / "missing.mp4"), SHA256, SPEC)
    assert not entries(store)


def test_the_least_recently_used_go_first(copies, tmp_path):
    clips = copies(5)
    names = list(clips)
    store = FrameStore(tmp_path / "store")
    store.get(clips[names[0]], names[0], SPEC)
    size = entries(store)[0].stat().st_size
    limited = FrameStore(store.root, max_bytes=3 * size)
    for name in names[1:3]:
        limited.get(clips[name], name, SPEC)
    for age, name in enumerate(reversed(names[:3])):
        (entry,) = (path for path in entries(store) if path.name.startswith(name))
        os.utime(entry, (10**9 - age, 10**9 - age))
    limited.get("gone.mp4", names[0], SPEC)  # used: it stays
    limited.get(clips[names[3]], names[3], SPEC)
    assert {path.name[:64] for path in entries(store)} == {names[0], names[2], names[3]}
    FrameStore(store.root, max_bytes=1).get(clips[names[4]], names[4], SPEC)
    assert {path.name[:64] for path in entries(store)} == {names[4]}, "the newest stays, however large"


def test_what_killed_writers_left_is_removed_after_a_day(clip, sha256, tmp_path):
    store = FrameStore(tmp_path)
    store.get(clip, sha256, SPEC)
    folder = entries(store)[0].parent
    old, new = folder / ".old.tmp", folder / ".new.tmp"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 100_000,) * 2)
    store.get(clip, sha256, FrameSpec(sampling="central"))
    assert not old.exists()
    assert new.exists()


def test_the_variable_names_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("EGOBENCH_CACHE", str(tmp_path / "here"))
    assert FrameStore().root == cache_dir() == tmp_path / "here"
    monkeypatch.delenv("EGOBENCH_CACHE")
    assert cache_dir().name == "egobench"


def _fill(root, clips, log):
    """Ask for every clip, and note each decoding's beginning and end."""
    decode = store_module._decode

    def noted(path, spec):
        with Path(log).open("ab", buffering=0) as file:
            file.write(f"begin {os.getpid()} {noted.name}\n".encode())
            result = decode(path, spec)
            file.write(f"end {os.getpid()} {noted.name}\n".encode())
        return result

    store_module._decode = noted
    store = FrameStore(Path(root))
    for name, path in clips:
        noted.name = name
        assert len(store.get(path, name, SPEC).jpegs) == 8


def test_eight_processes_fill_one_store(clip, copies, tmp_path):
    clips = list(copies(12).items())
    names = [name for name, _ in clips]
    log = tmp_path / "log"
    context = multiprocessing.get_context("fork")
    processes = [
        context.Process(target=_fill, args=(tmp_path / "store", clips[turn:] + clips[:turn], log)) for turn in range(8)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
        assert process.exitcode == 0
    begun = [line.split()[2] for line in log.read_text().splitlines() if line.startswith("begin")]
    assert sorted(begun) == sorted(names), "every clip decoded exactly once"
    store = FrameStore(tmp_path / "store")
    reference = decode_jpegs(clip, SPEC).frames
    assert all(store.get("gone.mp4", name, SPEC).jpegs == reference for name in names)
    assert len(entries(store)) == len(names)


_ENDLESS_FILL = """
import itertools, sys
from pathlib import Path
from egobench_tasks.frames.spec import FrameSpec
from egobench_tasks.frames.store import FrameStore
store = FrameStore(Path(sys.argv[1]))
for number in itertools.count(2):
    store.get(sys.argv[2], sys.argv[3], FrameSpec(sampling="budget", count=number))
    print(number, flush=True)
"""


def test_kill_9_loses_nothing_that_was_finished(clip, sha256, tmp_path):
    finished = 2
    for pause_s in (0.0, 0.013, 0.029, 0.041, 0.067):
        process = subprocess.Popen(
            [sys.executable, "-c", _ENDLESS_FILL, tmp_path, clip, sha256], stdout=subprocess.PIPE, text=True
        )
        for _ in range(finished):
            process.stdout.readline()
        time.sleep(pause_s)
        process.send_signal(signal.SIGKILL)
        lines = process.stdout.read().split()
        process.wait()
        finished = int(lines[-1]) + 1 if lines else finished + 2
        store = FrameStore(tmp_path)
        for number in range(2, finished):
            spec = FrameSpec(sampling="budget", count=number)
            assert store.get("gone.mp4", sha256, spec).jpegs == decode_jpegs(clip, spec).frames
    # Nor does a killed process hold a lock: the clip it was at is decoded by the next.
    assert len(store.get(clip, sha256, FrameSpec(sampling="budget", count=finished)).jpegs) == finished
