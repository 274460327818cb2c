"""A server that cuts prompts answers other questions than were asked: its answers are not kept."""

import asyncio
import io

import pytest
from PIL import Image

from egobench_tasks.hosts.endpoint.cut_prompts import PromptMeter, _image_size
from egobench_tasks.hosts.endpoint.message import data_uri, user_message
from egobench_tasks.runs.journal import Journal, journal_root
from egobench_tasks.servers.client import ServerClient
from egobench_tasks.servers.reply import Reply


def count_by(server, tokens_of):
    """``tokens_of(sizes in pixels)``: what the server counts for a prompt's pictures, in replies and sight check."""

    def counted(request, n):
        images = [Image.open(io.BytesIO(part)) for part in server.parts_of(request) if isinstance(part, bytes)]
        usage = {"prompt_tokens": 5 + tokens_of([image.size for image in images]), "completion_tokens": 3}
        return server.say({**server.completion(), "usage": usage})

    server.script = server.sight = counted


def by_area(sizes):
    return sum(width * height // 784 for width, height in sizes)


def kept():
    return [answer for folder in journal_root().glob("*") for answer in Journal(folder).answers().values()]


@pytest.mark.parametrize(
    "reply_tokens", [lambda n: 12 * n, lambda n: min(512, 100 * n)], ids=["an eighth of each", "capped for all"]
)
def test_fewer_prompt_tokens_than_the_images_must_take_is_no_answer(server, settings, questions, ask, reply_tokens):
    def script(request, n):
        n_images = sum(isinstance(part, bytes) for part in server.parts_of(request))
        usage = {"prompt_tokens": 9 + reply_tokens(n_images), "completion_tokens": 3}
        return server.say({**server.completion(), "usage": usage})

    server.script = script
    _, unanswered = ask(settings(), questions(2, frames=8))
    assert [item.finish_reason for item in unanswered] == ["request_failed"] * 2
    for item in unanswered:
        assert f"the server cuts prompts: it counted {9 + reply_tokens(8)} prompt tokens" in item.reason
        assert "the 8 images sent to it take 800" in item.reason
    assert kept() == []


@pytest.mark.parametrize(
    "tokens_of",
    [
        by_area,
        lambda sizes: 100 * len(sizes),
        lambda sizes: 2900 if len(sizes) == 1 else 196 * len(sizes),
    ],
    ids=["small frames take less", "all the same", "one alone is tiled"],
)
def test_what_a_server_counts_honestly_is_kept(server, settings, questions, ask, tokens_of):
    count_by(server, tokens_of)
    _, unanswered = ask(settings(), questions(1, frames=8))
    assert (unanswered, len(kept())) == ([], 1)


def test_a_server_that_counts_no_tokens_says_nothing_of_cuts(server, settings, questions, ask):
    server.script = lambda request, n: server.say(server.completion(usage=False))
    assert ask(settings(), questions(1, frames=8))[1] == []


def complaints(server, settings, sizes, counts):
    """What the meter has to say of replies to a message of pictures of these sizes."""
    made = {}
    for size in set(sizes):
        file = io.BytesIO()
        Image.new("RGB", size).save(file, format="JPEG")
        made[size] = file.getvalue()
    message = user_message(["q", *(made[size] for size in sizes)], settings())

    async def measure():
        async with ServerClient(settings()) as client:
            meter = PromptMeter(client, settings(), 165)
            return [await meter.complaint(message, Reply("", "", "stop", count, 1)) for count in counts]

    return asyncio.run(measure())


def test_pictures_of_every_size_are_measured_once_and_only_where_a_count_is_low(server, settings):
    """960x540 take four times what the sight check's picture does: a cap above its figure is a cap still."""
    count_by(server, by_area)
    sizes = [(960, 540)] * 20 + [(270, 480)] * 4
    whole = by_area(sizes)
    assert complaints(server, settings, sizes, [5 * whole // 4 + 9, None]) == [None, None]
    assert server.requests == []
    cut, uncut, again = complaints(server, settings, sizes, [whole - 1, whole, whole // 2])
    assert (
        uncut is None and f"it counted {whole - 1:,} prompt tokens, and the 24 images sent to it take {whole:,}" in cut
    )
    assert again and len(server.requests) == 3


@pytest.mark.parametrize(
    "options", [{}, {"progressive": True}, {"quality": 100}, {"comment": b"x" * 900}, {"exif": b"x" * 300}]
)
def test_a_size_is_read_from_a_jpegs_head_as_pillow_reads_it(options):
    file = io.BytesIO()
    Image.effect_noise((97, 31), 80).save(file, format="JPEG", **options)
    assert _image_size(data_uri(file.getvalue())) == (97, 31)


def test_a_head_that_is_not_plain_is_left_to_pillow():
    file = io.BytesIO()
    Image.new("RGB", (97, 31)).save(file, format="JPEG")
    padded = file.getvalue()[:2] + b"\xff\xff" + file.getvalue()[2:]  # bytes of filling before a mark, as may be
    assert _image_size(data_uri(padded)) == (97, 31)
