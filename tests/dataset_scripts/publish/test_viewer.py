"""What the Hub's viewer does with a published dataset, emulated: it streams rows, and reads clips' headers."""

import json

import pytest

# The viewer cuts a config's first rows to 200 kB, and shows a hundred of them at most.
MAX_FIRST_ROWS_BYTES, N_FIRST_ROWS = 200_000, 100

VIEW = """
import itertools, json, sys
import av, fsspec
from datasets import List, Video, load_dataset
repo_id, config, n_rows = sys.argv[1], sys.argv[2], int(sys.argv[3])
rows = load_dataset(repo_id, config, split="test", streaming=True)
features = {name: str(feature) for name, feature in rows.features.items() if "Video" in str(feature)}
first = list(itertools.islice(rows.decode(False), n_rows))
clips = {video["path"] for row in first for video in [row["video"], *(row.get("videos") or [])] if video}
headers = []
for path in sorted(clips):
    with fsspec.open(path, "rb", block_size=2**20) as file, av.open(file) as container:
        stream = container.streams.video[0]
        headers.append([container.duration, stream.width, stream.height, float(stream.average_rate), stream.frames])
print(json.dumps({"features": features, "bytes": len(json.dumps(first)), "clips": len(clips), "headers": headers}))
"""


@pytest.fixture
def view(hub_python):
    def run(repo_id, config):
        done = hub_python(VIEW, repo_id, config, N_FIRST_ROWS)
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout)

    return run


def test_the_sample_in_the_viewer(publish, view, sample_folder):
    assert publish(sample_folder / "egogears").returncode == 0
    single, multi, evidence = (view("org/gears", config) for config in ("single", "multi", "evidence"))
    assert list(single["features"]) == ["video"]
    assert set(multi["features"]) == {"video", "videos"}
    assert multi["features"]["videos"].startswith("List(")
    assert all(seen["bytes"] < MAX_FIRST_ROWS_BYTES for seen in (single, multi, evidence))
    assert (single["clips"], multi["clips"], evidence["clips"]) == (4, 17, 0)
    assert all(value > 0 for seen in (single, multi) for header in seen["headers"] for value in header)
