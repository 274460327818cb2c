"""Memory that making a batch takes, and what a job may still fill."""

from egobench_tasks.hosts.lighteval.vision import memory
from egobench_tasks.hosts.lighteval.vision.memory import available_bytes, with_peak


def test_what_is_held_only_for_a_while_counts():
    import numpy as np

    def make():
        for_a_while = np.ones(200_000_000, np.uint8)
        return int(for_a_while[0])

    made, peak_bytes = with_peak(make)
    assert made == 1
    assert 150_000_000 < peak_bytes < 400_000_000


def test_a_limit_of_a_group_above_holds_and_pages_of_files_are_free(tmp_path, monkeypatch):
    own = tmp_path / "own"
    own.write_text("0::/job/step\n")
    for folder, limit, used in [("job", "10000", "4000"), ("job/step", "max", "4000")]:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "memory.max").write_text(f"{limit}\n")
        (tmp_path / folder / "memory.current").write_text(f"{used}\n")
        (tmp_path / folder / "memory.stat").write_text("anon 1000\ninactive_file 3000\n")
    monkeypatch.setattr(memory, "_CGROUPS", tmp_path)
    monkeypatch.setattr(memory, "_OWN_CGROUP", own)
    assert available_bytes() == 9000


def test_without_control_groups_the_machine_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "_OWN_CGROUP", tmp_path / "none")
    assert available_bytes() > 0
