"""Claims: one holder at a time, and none for longer than its holder lives, on whichever machine."""

import multiprocessing
import os
import threading
import time
from contextlib import ExitStack

from egobench_tasks.runs import claims as claims_module
from egobench_tasks.runs.claims import Claims


def hold(folder, connection):
    with Claims(folder).claim("k") as is_ours:
        connection.send(is_ours)
        time.sleep(60)


def test_one_process_holds_a_claim_until_it_ends_it_or_is_killed(tmp_path):
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    other = fork.Process(target=hold, args=(tmp_path, sender))
    other.start()
    assert receiver.recv()
    claims = Claims(tmp_path)
    with claims.claim("k") as is_ours:
        assert not is_ours
    assert claims.holder("k").startswith(f"process {other.pid} on ")
    other.kill()
    other.join()
    with claims.claim("k") as is_ours:
        assert is_ours


def test_a_claim_of_another_machine_ends_once_it_is_not_renewed_for_the_lease(tmp_path, monkeypatch):
    monkeypatch.setattr(claims_module, "LEASE_S", 0.5)
    claims = Claims(tmp_path)
    with claims.claim("k"):
        marker = (tmp_path / "k.claim").read_text()
    host = os.uname().nodename
    assert f"host={host}" in marker or host in marker
    (tmp_path / "k.claim").write_text(marker.replace(host, "node-that-died"))
    assert not claims.is_free("k")
    assert claims.holder("k").endswith("on node-that-died")
    time.sleep(0.7)
    assert claims.is_free("k")


def test_whoever_waits_says_for_whom_and_stops_once_a_key_is_free_or_nothing_is_left(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(claims_module, "tell", told.append)
    mine, others = Claims(tmp_path), Claims(tmp_path)
    with others.claim("a"), others.claim("b"):
        pauses = mine.pauses(lambda: ["a", "b"], "{} questions are being asked by".format)
        assert next(pauses) == next(pauses) == 1.0
        assert list(mine.pauses(list, str)) == []
    assert list(pauses) == []
    assert told == [f"2 questions are being asked by process {os.getpid()} on {os.uname().nodename}; waiting for it"]


def test_a_claim_whose_holder_was_killed_before_it_wrote_its_name_ends(tmp_path, monkeypatch):
    """Seen after a kill -9 at that very moment: the next run waited for it for ever."""
    monkeypatch.setattr(claims_module, "_TORN_S", 0.3)
    (tmp_path / "k.claim").touch()
    claims = Claims(tmp_path)
    assert not claims.is_free("k")
    assert not claims.is_free("k")  # its holder may be about to write
    time.sleep(0.4)
    claims.is_free("k")
    assert claims.is_free("k")


def test_many_claims_are_renewed_by_one_thread(tmp_path, monkeypatch):
    """A thread a claim: over 2,000 questions memory grew by a fifth."""
    monkeypatch.setattr(claims_module, "LEASE_S", 0.6)
    mine, others = Claims(tmp_path), Claims(tmp_path)
    with ExitStack() as stack:
        assert all(stack.enter_context(mine.claim(f"k{n}")) for n in range(32))
        leases = [thread for thread in threading.enumerate() if "lease" in thread.name]
        assert len(leases) == 1
        written_s = [(tmp_path / f"k{n}.claim").stat().st_mtime for n in range(32)]
        deadline_s = time.monotonic() + 20
        while any((tmp_path / f"k{n}.claim").stat().st_mtime == written_s[n] for n in range(32)):
            assert time.monotonic() < deadline_s, "not renewed"
            time.sleep(0.05)
        assert not others.is_free("k0")
    assert mine.is_free("k0") and others.is_free("k31")


def test_a_forked_process_renews_its_own_claims(tmp_path, monkeypatch):
    monkeypatch.setattr(claims_module, "LEASE_S", 0.6)
    claims = Claims(tmp_path)
    with claims.claim("parents"):
        fork = multiprocessing.get_context("fork")
        receiver, sender = fork.Pipe(duplex=False)
        child = fork.Process(target=hold, args=(tmp_path, sender))
        child.start()
        try:
            assert receiver.recv()
            path = tmp_path / "k.claim"
            written_s, deadline_s = path.stat().st_mtime, time.monotonic() + 20
            while path.stat().st_mtime == written_s:
                assert time.monotonic() < deadline_s, "not renewed"
                time.sleep(0.05)
        finally:
            child.kill()
            child.join()


def test_a_claim_that_another_took_meanwhile_is_not_renewed_for_it(tmp_path, monkeypatch):
    monkeypatch.setattr(claims_module, "LEASE_S", 0.3)
    claims = Claims(tmp_path)
    with claims.claim("k"):
        other = tmp_path / "other"
        other.write_text("another's")
        other.replace(tmp_path / "k.claim")
        os.utime(tmp_path / "k.claim", (1.0, 1.0))
        time.sleep(0.5)
        assert (tmp_path / "k.claim").stat().st_mtime == 1.0
