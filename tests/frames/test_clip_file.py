"""A clip is a container's bytes and nothing else: what it may not be, and what it may not open."""

import os
import socket
import threading

import pytest

from egobench_tasks.frames.decode import decode_jpegs
from egobench_tasks.frames.errors import ClipError
from egobench_tasks.frames.source import open_source
from egobench_tasks.frames.spec import FrameSpec

SPEC = FrameSpec(sampling="budget", count=4)
LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 12345\n"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (LFS_POINTER, "Git LFS pointer.*git lfs pull"),
        (b"\n<!DOCTYPE html><html><body>Sign in</body></html>", "web page"),
        (b"words\n" * 100, "is text"),
        (b"#EXTM3U\n#EXTINF:2,\n/etc/passwd\n#EXT-X-ENDLIST\n", "is text"),
        (bytes(5000), "Invalid data"),
    ],
)
def test_what_a_file_is_instead_of_a_clip(content, reason, tmp_path):
    path = tmp_path / "clip.mp4"
    path.write_bytes(content)
    with pytest.raises(ClipError, match=reason) as caught:
        decode_jpegs(str(path), SPEC)
    assert caught.value.path == str(path)


def test_a_movie_cut_before_its_index_is_cut_short(make_clip, tmp_path):
    path, data = tmp_path / "clip.mp4", make_clip("x264 GOP 30").read_bytes()
    for kept in (len(data) // 2, 60):
        path.write_bytes(data[:kept])
        with pytest.raises(ClipError, match="is cut short"):
            decode_jpegs(str(path), SPEC)


def test_a_pipe_is_no_clip_and_holds_nobody_up(tmp_path):
    path = tmp_path / "clip.mp4"
    os.mkfifo(path)
    with pytest.raises(ClipError, match="no regular file"):
        decode_jpegs(str(path), SPEC)


@pytest.fixture
def listener():
    """A server on this machine that counts who calls: ``(its port, the calls)``."""
    calls = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                calls.append(connection.recv(100))
                connection.close()

        threading.Thread(target=listen, daemon=True).start()
        yield server.getsockname()[1], calls
        server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("suffix", [".mp4", ".m3u8", ".ffconcat", ".sdp", "%03d.png"])
def test_nothing_but_the_clip_is_opened(suffix, make_clip, listener, tmp_path):
    """A playlist named another file of the user's, and the decoder showed it."""
    port, calls = listener
    canary = tmp_path / "canary.mp4"
    canary.write_bytes(make_clip("x264 GOP 30").read_bytes())
    os.utime(canary, (1, canary.stat().st_mtime))  # long unread: any reading shows in its time of access
    unread = canary.stat().st_atime_ns
    playlist = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\n{}\n#EXT-X-ENDLIST\n"
    concat = "ffconcat version 1.0\nfile {}\n"
    dash = '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><BaseURL>{}</BaseURL></MPD>'
    session = "v=0\no=- 0 0 IN IP4 127.0.0.1\nc=IN IP4 127.0.0.1\nm=video {} RTP/AVP 96\na=rtpmap:96 H264/90000\n"
    listed = "[playlist]\nNumberOfEntries=1\nFile1={}\n"
    for template in (playlist, concat, dash, session, listed):
        for target in (canary, f"file:{canary}", f"http://127.0.0.1:{port}/x.ts", f"tcp://127.0.0.1:{port}"):
            path = tmp_path / f"clip{suffix}"
            path.write_text(template.format(target))
            with pytest.raises(ClipError):
                decode_jpegs(str(path), SPEC)
    assert not calls
    assert canary.stat().st_atime_ns == unread
    canary.read_bytes()
    if canary.stat().st_atime_ns == unread:
        pytest.skip("this file system keeps no times of access: no reading would show")


def test_the_stream_is_the_one_that_ffmpegs_program_takes(make_clip, ffmpeg, tmp_path):
    small, large = make_clip("x264 smaller than the limit"), make_clip("x264 GOP 30")
    path = tmp_path / "two.mkv"
    ffmpeg("-i", small, "-i", large, "-map", 0, "-map", 1, "-c", "copy", "-disposition", 0, path)
    with open_source(str(path), SPEC) as source:
        assert source.stream.index == 1
    ffmpeg("-i", small, "-i", large, "-map", 0, "-map", 1, "-c", "copy", "-disposition:0", "default",
           "-disposition:1", 0, path)  # fmt: skip
    with open_source(str(path), SPEC) as source:
        assert source.stream.index == 0
