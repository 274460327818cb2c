import hashlib

import pytest

from egobench_tasks.frames.fill import FillReport, fill_store
from egobench_tasks.frames.lazy import FrameRequest
from egobench_tasks.frames.spec import FrameSpec
from egobench_tasks.frames.store import FrameStore

SPEC = FrameSpec(sampling="budget", count=4)


def request(path, name, spec=SPEC):
    return FrameRequest(str(path), hashlib.sha256(name.encode()).hexdigest(), spec)


@pytest.mark.parametrize("workers", [1, 2])
def test_filling_and_filling_again(workers, make_clip, tmp_path, capsys):
    clip = make_clip("x264 GOP 30")
    good = [request(clip, name) for name in "abc"] + [request(clip, "a", FrameSpec(sampling="central"))]
    bad = [request(tmp_path / "one.mp4", "d"), request(tmp_path / "two.mp4", "e")]
    store = FrameStore(tmp_path / "store")
    report = fill_store([bad[0], *good, *good, bad[1]], store, workers)
    assert (report.decoded, report.already_there) == (4, 0)
    assert [error.path for error in report.failed] == [bad[0].path, bad[1].path]
    assert all(store.holds(item.sha256, item.spec) for item in good)
    assert "6/6" in capsys.readouterr().err
    assert fill_store([*good, request(clip, "f")], store, workers) == FillReport(1, 4, ())


def test_nothing_to_do(tmp_path):
    assert fill_store([], FrameStore(tmp_path), workers=4) == FillReport(0, 0, ())
