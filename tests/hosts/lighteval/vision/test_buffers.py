"""Buffers of a worker: filled again, and never while the run still holds something of them."""

import gc
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
from egobench_tasks.hosts.lighteval.vision.buffers import LARGE_BYTES, Buffers, received  # noqa: E402
from egobench_tasks.hosts.lighteval.vision.prepare import Prepared  # noqa: E402

N_NUMBERS = LARGE_BYTES


def batch(value, n_numbers=N_NUMBERS):
    from transformers import BatchFeature

    return Prepared((0,), (), BatchFeature({"pixel_values": torch.full((n_numbers,), value), "ids": torch.arange(3)}))


def place(lent):
    return lent.prepared.inputs["pixel_values"].data_ptr()


def test_a_buffer_is_filled_again_when_the_run_is_done_with_it():
    buffers = Buffers()
    first = buffers.lend(batch(1))
    begins = place(first)
    taken = received(first)
    assert torch.equal(taken.inputs["pixel_values"], batch(1).inputs["pixel_values"])
    assert torch.equal(taken.inputs["ids"], torch.arange(3))
    assert first.prepared.inputs["pixel_values"].is_shared()
    assert [int(state[0]) for state in first.states] == [1]
    assert place(buffers.lend(batch(2))) != begins


@pytest.mark.parametrize(
    "hold", [lambda pixels: pixels[5:9], lambda pixels: pixels.view(torch.int32), lambda pixels: pixels[3:].numpy()]
)
def test_a_slice_that_is_kept_keeps_the_buffer(hold):
    import weakref

    given_back = []
    pixels = torch.zeros(N_NUMBERS)
    weakref.finalize(pixels.untyped_storage(), given_back.append, True)
    kept = hold(pixels)
    del pixels
    gc.collect()
    assert not given_back
    del kept
    gc.collect()
    assert given_back


def test_what_a_failed_batch_took_is_free_for_the_next():
    buffers = Buffers()
    begins = buffers.empty((N_NUMBERS,), torch.float32).data_ptr()
    buffers.begin()
    assert buffers.empty((N_NUMBERS,), torch.float32).data_ptr() == begins


def test_a_tensor_made_in_a_buffer_is_not_copied():
    from transformers import BatchFeature

    buffers = Buffers()
    pixels = buffers.empty((2, N_NUMBERS // 2), torch.float32).fill_(3)
    lent = buffers.lend(Prepared((0,), (), BatchFeature({"pixel_values": pixels[:1], "more": pixels})))
    assert place(lent) == pixels.data_ptr()


_ROUNDS = """
from types import SimpleNamespace
import torch
from transformers import BatchFeature
from egobench_tasks.hosts.lighteval.vision import ahead
from egobench_tasks.hosts.lighteval.vision.buffers import received
from egobench_tasks.hosts.lighteval.vision.prepare import Prepared

def made(number):
    buffers = ahead._own.buffers
    buffers.begin()
    pixels = torch.full((2**20,), float(number))
    return buffers.lend(Prepared((0,), (), BatchFeature({"pixel_values": pixels})))

if __name__ == "__main__":
    workers = ahead._processes(SimpleNamespace(processor=None), 2)
    futures = [workers.submit(made, number) for number in range(3)]
    kept = []
    for number in range(30):
        pixels = received(futures.pop(0).result()).inputs["pixel_values"]
        futures.append(workers.submit(made, number + 3))
        assert bool((pixels == number).all()), number
        if number % 3 == 0:
            kept.append((number, pixels[7::1000]))
        del pixels
    workers.shutdown(cancel_futures=True)
    print(sum(bool((held == number).all()) for number, held in kept), "right")
"""


@pytest.mark.slow
def test_batches_from_processes_are_right_whether_they_are_kept_or_not(tmp_path):
    """Real workers, many batches: of a third a slice is kept, and looked at after all were made."""
    script = tmp_path / "rounds.py"
    script.write_text(_ROUNDS)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert done.stdout == "10 right\n", done.stderr
