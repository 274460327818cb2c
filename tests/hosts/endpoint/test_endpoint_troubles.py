"""One bad thing costs one question: odd replies, refusals, limits, other runs at work, disks."""

import asyncio
import multiprocessing
import os
import re
import time

import pytest

from egobench_tasks.errors import EgobenchError, InputError
from egobench_tasks.hosts.endpoint.questions import EndpointAnswers
from egobench_tasks.runs.journal import Journal, journal_root
from egobench_tasks.runs.sessions import read_sessions
from egobench_tasks.servers import client as client_module
from egobench_tasks.servers.rounds import GIVE_UP_AFTER


def number_of(server, request):
    """Which question a request asks."""
    return int(server.parts_of(request)[0].split()[1])


def test_half_a_character_in_a_reply_does_not_kill_the_run_nor_the_next(server, settings, questions, ask):
    server.script = lambda request, n: server.say(server.completion('\ud800{"answer": ["A"]}'))
    answers, unanswered = ask(settings(), questions(3))
    assert unanswered == []
    assert answers["q0"].text == '\ufffd{"answer": ["A"]}'
    again, _ = ask(settings(), questions(3))
    assert (again, len(server.asked)) == (answers, 3)


ODD_REPLIES = {
    "deep": b'{"choices": ' + b"[" * 100_000,
    "large": b" " * (9 * 2**20),
    "number": {"choices": [{"message": {"content": 7}, "finish_reason": "stop"}]},
    "list": {"choices": [[]]},
    "page": b"<html>Sign in</html>",
}


def test_odd_replies_cost_one_question_each_which_is_named_and_asked_again(server, settings, questions, ask):
    odd = dict(enumerate(ODD_REPLIES.values()))
    server.script = lambda request, n: server.say(odd.get(number_of(server, request), server.completion()))
    answers, unanswered = ask(settings(max_retries=0), questions(8))
    assert [item.question_id for item in unanswered] == [f"q{index}" for index in odd]
    assert all(item.reason for item in unanswered)
    assert [key for key, answer in answers.items() if answer] == ["q5", "q6", "q7"]
    n_asked = len(server.asked)
    server.script = lambda request, n: server.say(server.completion())
    assert ask(settings(), questions(8))[1] == []
    assert {number_of(server, request) for request in server.asked[n_asked:]} == set(odd)


def test_refusals_of_single_questions_are_no_outage(server, settings, questions, ask):
    """20 of 32 are refused, in a row: the other 12 are asked in the same run."""

    def script(request, n):
        if number_of(server, request) < 20:
            return server.say({"error": "prompt too long"}, status=400)
        return server.say(server.completion())

    server.script = script
    answers, unanswered = ask(settings(concurrency=2), questions(32))
    assert len(server.asked) == 32
    assert sum(answer is not None for answer in answers.values()) == 12
    assert {item.reason for item in unanswered} == {'HTTP 400: {"error": "prompt too long"}'}


def test_another_run_begins_where_nothing_has_been_asked_yet(server, settings, questions, ask):
    server.script = lambda request, n: server.say({}, status=500)
    hasty = settings(max_retries=0, concurrency=1)
    _, unanswered = ask(hasty, questions(2 * GIVE_UP_AFTER))
    assert len(unanswered) == 2 * GIVE_UP_AFTER
    ask(hasty, questions(2 * GIVE_UP_AFTER))
    asked = [number_of(server, request) for request in server.asked]
    assert sorted(asked) == list(range(2 * GIVE_UP_AFTER))


def test_a_wrong_key_is_soon_given_up(server, settings, questions, ask):
    server.script = lambda request, n: server.say({"error": "no such key"}, status=401)
    _, unanswered = ask(settings(concurrency=1), questions(40))
    assert (len(unanswered), len(server.asked)) == (40, GIVE_UP_AFTER)


def test_a_limit_of_a_few_requests_a_while_without_a_word_is_waited_out(server, settings, questions, ask, monkeypatch):
    """4 requests per 1.5 s, far more waiting in all than max_retries would allow."""
    from egobench_tasks.servers import pace

    monkeypatch.setattr(pace, "_FIRST_BACKOFF_S", 0.1)
    let_in = []

    def script(request, n):
        recent = [time_s for time_s in let_in if time.monotonic() - time_s < 1.5]
        if len(recent) >= 4:
            return server.say({}, status=429)
        let_in.append(time.monotonic())
        return server.say(server.completion())

    server.script = script
    _, unanswered = ask(settings(concurrency=4), questions(12))
    assert unanswered == []


def test_a_limit_that_never_lifts_ends_after_the_time_set(server, settings, questions, ask):
    server.script = lambda request, n: server.say({"error": "try again in 50ms"}, status=429)
    _, unanswered = ask(settings(max_stall_s=0.5, concurrency=2), questions(20))
    assert len(unanswered) == 20
    assert "no reply for" in unanswered[0].reason


def test_the_concurrency_is_found_out(server, settings, questions, ask):
    def script(request, n):
        busy = server.open > 6
        return server.say(
            {"error": "try again in 20ms"} if busy else server.completion(), 429 if busy else 200, delay_s=0.03
        )

    server.script = script
    answers, unanswered = ask(settings(concurrency="auto"), questions(60))
    assert unanswered == [] and all(answers.values())
    assert 4 < server.most_open < 20


@pytest.mark.parametrize("usage", [True, False])
def test_a_model_that_reasons_before_its_first_word_passes_the_sight_check(server, settings, questions, ask, usage):
    """Its reply is empty in fewer than 600 tokens; without counts only whole answers tell."""

    def sight(request, n):
        if request["max_tokens"] < 600:
            return server.say(server.completion("", "length", usage=False))
        sees = len(server.parts_of(request)) > 1
        return server.say(server.completion("disc" if sees else "none", usage=False))

    server.sight = sight
    assert ask(settings(), questions(1))[1] == []


def test_a_refusal_of_a_small_budget_does_not_end_the_sight_check(server, settings, questions, ask):
    seeing = server.sight

    def sight(request, n):
        if request["max_tokens"] < 1000:
            return server.say({"error": "max_tokens was reached before the answer"}, status=400)
        return seeing(request, n)

    server.sight = sight
    assert ask(settings(), questions(1))[1] == []


def test_a_server_that_wants_a_picture_in_every_question_passes(server, settings, questions, ask, capfd):
    seeing = server.sight

    def sight(request, n):
        if len(server.parts_of(request)) == 1:
            return server.say({"error": "a picture is required"}, status=400)
        return seeing(request, n)

    server.sight = sight
    assert ask(settings(), questions(1))[1] == []
    assert "a picture is required" in capfd.readouterr().err


def test_pictures_in_another_quality_and_size_are_another_identity(server, settings, questions, ask):
    import io

    from PIL import Image

    (question,) = questions(1)
    ask(settings(), [question])
    ask(settings(jpeg_quality=30, jpeg_width_px=32), [question])
    (plain,), (small,) = (
        [part for part in server.parts_of(one) if isinstance(part, bytes)][:1] for one in server.asked
    )
    assert plain == question.frames.clips()[0].jpegs[0]
    assert Image.open(io.BytesIO(small)).size == (32, 18)
    assert len(list(journal_root().iterdir())) == 2


def _ask_all(settings, questions, result):
    unanswered = asyncio.run(EndpointAnswers(settings).ask(questions))
    result.put(len(unanswered))


def test_two_runs_on_one_journal_ask_each_question_once(server, settings, questions, ask, monkeypatch):
    server.script = lambda request, n: server.say(server.completion(), delay_s=0.03)
    made, asked = settings(concurrency=4), questions(40)
    fork = multiprocessing.get_context("fork")
    result = fork.Queue()
    others = [fork.Process(target=_ask_all, args=(made, asked, result)) for _ in range(2)]
    for process in others:
        process.start()
    for process in others:
        process.join(60)
    assert [result.get(timeout=5) for _ in others] == [0, 0]
    assert sorted(number_of(server, request) for request in server.asked) == list(range(40))


def test_a_run_that_was_killed_leaves_no_claim_behind(server, settings, questions, ask):
    server.script = lambda request, n: server.say(server.completion(), delay_s=30 if len(server.asked) <= 2 else 0)
    made, asked = settings(concurrency=2, timeout_s=60.0), questions(4)
    fork = multiprocessing.get_context("fork")
    process = fork.Process(target=_ask_all, args=(made, asked, fork.Queue()))
    process.start()
    deadline_s = time.monotonic() + 30
    while len(server.asked) < 2 and time.monotonic() < deadline_s:
        time.sleep(0.02)
    process.kill()
    process.join()
    started_s = time.monotonic()
    assert ask(made, asked)[1] == []
    assert time.monotonic() - started_s < 10
    assert len(server.asked) == 6


def test_a_run_says_whom_it_waits_for(server, settings, questions, ask, capfd):
    from egobench_tasks.runs.claims import Claims

    (question,) = questions(1)
    answers = EndpointAnswers(settings())
    claims = Claims(answers.journal.folder / "claims")

    async def run():
        with claims.claim(answers._claim_key(question)) as is_ours:
            assert is_ours
            asking = asyncio.create_task(EndpointAnswers(settings()).ask([question]))
            await asyncio.sleep(1.0)
            assert server.asked == []
        return await asking

    assert asyncio.run(run()) == []
    assert len(server.asked) == 1
    assert f"being asked by process {os.getpid()} on " in capfd.readouterr().err


def test_a_journal_that_cannot_be_written_is_one_message_before_anything_is_asked(
    server, settings, questions, ask, tmp_path
):
    (tmp_path / "journal").write_text("a file where a folder should be")
    with pytest.raises(InputError, match=r"answers cannot be kept there.*EGOBENCH_JOURNAL"):
        ask(settings(), questions(1))
    assert server.requests == []


def test_a_full_disk_ends_the_run_and_keeps_what_was_answered(server, settings, questions, ask, monkeypatch):
    stock, n_written = os.fsync, iter(range(99))

    def fsync(handle):
        if next(n_written) == 3:
            raise OSError(28, "No space left on device")
        stock(handle)

    made, asked = settings(concurrency=1), questions(6)
    with monkeypatch.context() as patch:
        patch.setattr("egobench_tasks.runs.journal.os.fsync", fsync)
        with pytest.raises(OSError, match="No space left"):
            ask(made, asked)
    assert ask(made, asked)[1] == []
    assert len(server.asked) <= 7


def test_the_journal_is_the_users_own_unless_its_folder_is_shared_on_purpose(
    server, settings, questions, ask, tmp_path
):
    ask(settings(), questions(1))
    (folder,) = journal_root().iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.glob("*.jsonl")} == {0o600}
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o2770)
    os.environ["EGOBENCH_JOURNAL"] = str(shared)  # monkeypatched by `settings`
    ask(settings(model="n"), questions(1))
    (folder,) = shared.iterdir()
    assert folder.stat().st_mode & 0o7777 == 0o2770
    assert {path.stat().st_mode & 0o777 for path in folder.glob("*.jsonl")} == {0o660}


def test_bad_lines_pipes_and_folders_in_a_journal_are_passed_over(server, settings, questions, ask):
    ask(settings(concurrency=1), questions(2))
    (folder,) = journal_root().iterdir()
    (path,) = folder.glob("*.jsonl")
    first, second = path.read_text().splitlines()
    lines = [
        first.replace('"clip_notes": []', '"clip_notes": null'),
        second.replace('"text": ', '"text": 7, "x": '),
        second.replace('"n_new_tokens": 3', '"n_new_tokens": "3"'),
        second.replace('"n_new_tokens": 3', f'"n_new_tokens": {10**400}'),
        second.replace('"n_new_tokens": 3', '"n_new_tokens": -3'),
        second.replace('"n_new_tokens": 3', '"n_new_tokens": true'),
        second.replace('"repeat": 0', '"repeat": -1'),
        re.sub('"latency_s": [^,]*', '"latency_s": NaN', second),
        re.sub('"latency_s": [^,]*', '"latency_s": 1e999', second),
        "[" * 100_000,
        second[:40],
    ]
    assert len(set(lines)) == 11 and first not in lines and second not in lines
    path.write_text("\n".join(lines) + "\n")
    os.mkfifo(folder / "pipe.jsonl")
    os.mkfifo(folder / "pipe.session.json")
    (folder / "folder.jsonl").mkdir()
    kept = Journal(folder).answers()
    assert [answer.question_id for answer in kept.values()] == ["q0"]
    assert len(read_sessions(folder)) == 1


def test_a_silent_server_is_told_of(server, settings, questions, ask, monkeypatch, capfd):
    monkeypatch.setattr(client_module, "SILENCE_S", 0.3)
    server.script = lambda request, n: server.say(server.completion(), delay_s=1)
    ask(settings(), questions(1))
    assert "no reply for" in capfd.readouterr().err


def test_an_outage_ends_the_sight_check_with_the_servers_words(server, settings, questions, ask):
    server.sight = lambda request, n: server.say({"error": "no such model m"}, status=404)
    with pytest.raises(EgobenchError, match=r"text alone: HTTP 404.*no such model m"):
        ask(settings(), questions(1))
