"""Questions that another run on the same journal is at are left to it, and its answers are taken."""

import threading

import pytest

from egobench_tasks.hosts.lighteval.sharing import Arrivals, ClaimedBatches
from egobench_tasks.runs import claims
from egobench_tasks.runs.claims import Claims
from egobench_tasks.runs.journal import Answer, Journal


def answer(key):
    return Answer(key, "q", "t", "p", "said by another run", "stop")


def test_what_another_run_holds_or_has_answered_is_not_drawn(tmp_path):
    journal, other = Journal(tmp_path), Journal(tmp_path)
    theirs = Claims(tmp_path / "claims")
    batches = ClaimedBatches([["a", "b"], ["c"], ["d"]], Claims(tmp_path / "claims"), str, Arrivals(journal))
    with theirs.claim("a"), theirs.claim("c"):
        drawn = batches.draw()
        assert next(drawn) == ["b"]
        other.append(answer("d"))  # read with the next batch, and not forgotten by the one after
        assert [next(drawn), next(drawn)] == [[], []]
        assert not theirs.is_free("b") and theirs.is_free("e")
    assert batches.left == ["a", "c"]
    with batches.oldest() as first:
        assert (list(first.docs), list(first.found)) == (["b"], [])
    assert theirs.is_free("b")
    batches.close()
    assert theirs.is_free("d")


def test_a_run_waits_for_the_answers_of_another(vlm, docs_of, count_generations, monkeypatch):
    told = []
    model, docs = vlm(), docs_of("single")
    journal = Journal(model_folder(model))
    keys = [model._key(doc, 64) for doc in docs]
    held, go_on = threading.Event(), threading.Event()

    def other_run():
        with Claims(journal.folder / "claims").claim(keys[0]) as is_ours:
            assert is_ours
            held.set()
            go_on.wait(60)
            journal.append(answer(keys[0]))

    thread = threading.Thread(target=other_run)
    thread.start()
    assert held.wait(10)
    monkeypatch.setattr(claims, "tell", lambda line: (told.append(line), go_on.set()))
    responses = model.greedy_until(docs)
    thread.join()
    assert responses[0].text == ["said by another run"]
    assert len(count_generations) == len(docs) - 1
    assert len(told) == 1 and told[0].startswith("1 questions are being asked by process")


def model_folder(model):
    from egobench_tasks.runs.journal import journal_folder

    return journal_folder(model._identity, model._generation)


@pytest.mark.parametrize("at", [0, 1])
def test_sigterm_ends_a_run_before_its_next_batch(vlm, docs_of, monkeypatch, at):
    import os
    import signal

    from egobench_tasks.stopping import Stopped, ending_on_sigterm

    model, docs = vlm(batch_size=1), docs_of("single")
    stock = type(model)._generate

    def generate(self, *arguments):
        os.kill(os.getpid(), signal.SIGTERM)
        return stock(self, *arguments)

    monkeypatch.setattr(type(model), "_generate", generate)
    with ending_on_sigterm():
        if at == 0:
            os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(Stopped, match=rf"{at} of {len(docs)} answers are kept in \S+; the same command goes on"):
            model.greedy_until(docs)
    assert len(Journal(model_folder(model)).answers()) == at
    monkeypatch.undo()
