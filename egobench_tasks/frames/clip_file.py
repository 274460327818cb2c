"""A clip's file, opened so that its bytes alone decide what is decoded.

A dataset may come from anyone. A clip is a regular file (or a remote one) that is a container of the list
below; the demuxers that open further files or addresses (playlists, lists of files, text) are not on it, and
no protocol is there for them: the decoder gets an open file, not a name.
"""

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

import av
from av.container import InputContainer

from egobench_tasks.frames.errors import ClipError

FORMATS = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,flv,ogg,asf"
"""The demuxers that read clips, by the names libavformat gives them."""
CONTAINER_OPTIONS = {"format_whitelist": FORMATS, "protocol_whitelist": "fd"}
"""Whatever opens a clip gives libavformat these."""
# Remote files are read by range in blocks of this size: a clip's header and first frames cost one or two.
_REMOTE_BLOCK_BYTES = 2**20
_GENERATE_TIMES = 1  # AVFMT_FLAG_GENPTS
_HEAD_BYTES = 512
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_WEB_PAGES = (b"<!doctype html", b"<html")
_BOX_HEADER_BYTES = 8


@contextmanager
def open_clip(path: str) -> Iterator[io.BufferedIOBase]:
    """Open a local regular file, or an fsspec URL (``hf://…``, read by range).

    Raises ``ClipError`` for anything else, and for what fails while it is read.
    """
    try:
        if "://" in path:
            import fsspec  # 10 MB of memory that a local clip does without

            with fsspec.open(path, "rb", block_size=_REMOTE_BLOCK_BYTES) as file:
                yield file
        else:
            with _open_local(path) as file:
                yield file
    except (av.FFmpegError, OSError) as error:
        raise ClipError(path, f"cannot be read: {error.strerror or error}") from error


@contextmanager
def open_container(path: str) -> Iterator[InputContainer]:
    """Open a clip's container. Raises ``ClipError`` saying what the file is instead, where it is none of `FORMATS`."""
    with open_clip(path) as file:
        try:
            container = _open_container(file, is_local="://" not in path)
        except (av.FFmpegError, OSError) as error:
            raise ClipError(path, unlike_a_clip(file) or _words(error)) from error
        with container:
            # PyAV makes up the times that a container lacks; FFmpeg's program does not.
            container.flags &= ~_GENERATE_TIMES
            yield container


def _open_local(path: str) -> io.BufferedIOBase:
    # Without waiting: a pipe that nobody writes to would hold the run for ever.
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ClipError(path, "cannot be read: it is no regular file")
    return os.fdopen(descriptor, "rb")


def _open_container(file: io.BufferedIOBase, is_local: bool) -> InputContainer:
    if is_local:
        options = {**CONTAINER_OPTIONS, "fd": str(file.fileno())}
        return av.open("fd:", "r", metadata_errors="replace", container_options=options)
    return av.open(file, "r", metadata_errors="replace", container_options=CONTAINER_OPTIONS)


def unlike_a_clip(file: io.BufferedIOBase) -> str | None:
    """Return what a file is instead of a whole clip, and what to do; None where its bytes do not say."""
    file.seek(0)
    head = file.read(_HEAD_BYTES)
    if not head:
        return "is empty: fetch it again"
    if head.startswith(_LFS_POINTER):
        return "is a Git LFS pointer, not the video itself: fetch that with `git lfs pull`"
    if head.lstrip().lower().startswith(_WEB_PAGES):
        return "is a web page, not a video: fetch it again, and look at the page if it is one again (a login, an error)"
    if head[4:8] == b"ftyp" and _is_cut_short(file):
        return "is cut short, its last part is missing: fetch it again"
    if head.isascii() and b"\0" not in head:
        return "is text, not a video"
    return None


def _words(error: av.FFmpegError | OSError) -> str:
    if isinstance(error, av.ArgumentError):  # what libavformat says of a format that is not on the list
        return f"is of a format that is not read here; remux it (ffmpeg -c copy) to one of {FORMATS}"
    return f"cannot be read: {error.strerror or error}"


def _is_cut_short(file: io.BufferedIOBase) -> bool:
    """Whether an MP4's last box ends behind the file's end (ISO/IEC 14496-12, 4.2)."""
    size, position = file.seek(0, os.SEEK_END), 0
    while position < size:
        file.seek(position)
        header = file.read(2 * _BOX_HEADER_BYTES)
        box_size = int.from_bytes(header[:4], "big")
        if box_size == 1:
            box_size = int.from_bytes(header[8:16], "big")
        if box_size == 0:  # up to the end
            return False
        if box_size < _BOX_HEADER_BYTES:
            return False  # no box at all
        position += box_size
    return position > size
