"""Publishing to a small Hub through the real huggingface_hub, and loading back through the real datasets."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dataset_scripts.egotempo.build import build_egotempo

LOAD = """
import json, sys
from datasets import load_dataset
from egobench_tasks.data import DatasetLocation, load_rows
repo_id, config, revision, how = sys.argv[1:]
if how == "plain":
    rows = load_rows(DatasetLocation(repo_id, revision), config)
else:
    rows = load_dataset(repo_id, config, revision=revision, split="test", streaming=True).decode(False)
print(json.dumps(list(rows)))
"""


def loaded(hub_python, config, how, repo_id="org/gears", revision="v1.0"):
    done = hub_python(LOAD, repo_id, config, revision, how)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def without_clips(rows):
    return [{k: v for k, v in row.items() if k not in ("file_name", "file_names", "video", "videos")} for row in rows]


def published_files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_publish_tag_and_load_back(publish, hub, hub_python, gears, secret):
    done = publish(gears, tag="v1.0")
    assert done.returncode == 0, done.stderr
    sha = hub.repositories["org/gears"].tags["v1.0"]
    assert f"org/gears@v1.0 holds {len(published_files(gears))} files" in done.stdout
    assert sha in done.stdout
    files = dict(hub.files("org/gears", "v1.0"))
    assert files.pop(".gitattributes")
    assert files == published_files(gears)
    for config in ("single", "multi", "evidence"):
        rows = pq.read_table(gears / config / "metadata.parquet").to_pylist()
        assert without_clips(loaded(hub_python, config, "plain")) == without_clips(rows)
        streamed = loaded(hub_python, config, "streaming")
        assert without_clips(streamed) == without_clips(rows)
        for row, named in zip(streamed, rows, strict=True):
            clips = [video for video in (row["video"], *(row.get("videos") or ())) if video]
            names = [name for name in (named["file_name"], *(named.get("file_names") or ())) if name]
            at = f"hf://datasets/org/gears@{sha}/{config}/"
            assert clips == [{"bytes": None, "path": at + name} for name in names]


def test_a_second_publication_changes_nothing(publish, hub, gears):
    first, n_received = publish(gears, tag="v1.0"), len(hub.received)
    second = publish(gears, tag="v1.0")
    assert (second.returncode, second.stdout) == (0, first.stdout)
    assert len(hub.received) == n_received
    assert len(hub.repositories["org/gears"].commits) == 2  # the Hub's own first one, and ours


def test_a_tag_does_not_move(publish, hub, gears, release):
    from dataset_scripts.egogears.build import build_egogears

    assert publish(gears, tag="v1.0").returncode == 0
    before = dict(hub.repositories["org/gears"].commits)
    release.change(release.multi_file, 0, answer=["D"])
    build_egogears(release.root, gears)
    done = publish(gears, tag="v1.0")
    assert done.returncode == 2
    assert "tag v1.0 stands on other data" in done.stderr
    assert hub.repositories["org/gears"].commits == before
    assert publish(gears, tag="v1.1").returncode == 0
    assert set(hub.repositories["org/gears"].tags) == {"v1.0", "v1.1"}


def test_clips_that_left_the_dataset_leave_the_repository(publish, hub, gears, release):
    from dataset_scripts.egogears.build import build_egogears

    assert publish(gears).returncode == 0
    rows = release.rows(release.multi_file)[:1]
    release.multi_file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    release.change(release.multi_file, 0, clips=[{"label": "CLIP_1", "path": "media/m1/CLIP_1_0_2.mp4"}])
    build_egogears(release.root, gears)
    assert publish(gears).returncode == 0
    assert set(hub.files("org/gears")) - {".gitattributes"} == set(published_files(gears))


def test_a_killed_upload_sends_only_what_is_missing(publish, publishing, hub, gears):
    hub.hold_after = 3
    with publishing(gears, "org/gears"):
        assert hub.held.wait(60)
    first = list(hub.received)
    assert len(first) == 3
    hub.release.set()
    hub.hold_after = None
    assert publish(gears).returncode == 0
    assert len(hub.received) == len(set(hub.received))  # nothing twice
    large = {path for path in published_files(gears) if path.endswith((".mp4", ".parquet"))}
    assert len(hub.received) == len({published_files(gears)[path] for path in large})


def test_a_corrupted_upload_is_found_and_not_tagged(publish, hub, gears):
    clip = next((gears / "single" / "videos").iterdir())
    hub.corrupt = lambda data: data[:-1] + b"!" if data == clip.read_bytes() else data
    done = publish(gears, tag="v1.0")
    assert done.returncode == 1
    assert f"single/videos/{clip.name} has other content there" in done.stderr
    assert not hub.repositories["org/gears"].tags


def test_a_shortened_upload_is_found(publish, hub, gears):
    clip = next((gears / "single" / "videos").iterdir())
    hub.corrupt = lambda data: data[:-1] if data == clip.read_bytes() else data
    done = publish(gears)
    assert f"single/videos/{clip.name} has {clip.stat().st_size - 1} bytes there" in done.stderr


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, "hf auth login"),
        (403, "may not write"),
        (409, "another change came in between"),
        (429, "wait a few minutes"),
        (500, "the Hub has a failure"),
        (503, "the Hub has a failure"),
    ],
)
def test_what_the_hub_refuses(publish, hub, gears, secret, status, advice):
    hub.fail = lambda method, path: status if "/commit/" in path else None
    done = publish(gears)
    assert done.returncode == 1
    assert f"the Hub answered {status}" in done.stderr
    assert advice in done.stderr
    assert "Traceback" not in done.stderr


def test_an_upload_that_is_refused(publish, hub, gears):
    hub.fail = lambda method, path: 403 if method == "PUT" else None
    done = publish(gears)
    assert (done.returncode, "the Hub answered 403" in done.stderr) == (1, True)
    assert "Traceback" not in done.stderr


def test_a_card_that_the_hub_refuses(publish, hub, gears):
    hub.fail = lambda method, path: 400 if path == "/api/validate-yaml" else None
    done = publish(gears)
    assert (done.returncode, "the Hub refuses the data" in done.stderr) == (1, True)
    assert "README.md" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_repository_that_may_not_be_made(publish, hub, gears):
    hub.fail = lambda method, path: 403 if path == "/api/repos/create" else None
    done = publish(gears)
    assert (done.returncode, "may not write" in done.stderr) == (1, True)


def test_no_connection(publish, gears):
    done = publish(gears, environment={"HF_ENDPOINT": "http://127.0.0.1:9"})
    assert (done.returncode, "no connection to the Hub" in done.stderr) == (1, True)


def test_no_token(publish, hub, gears):
    done = publish(gears, environment={"HF_TOKEN": ""})
    assert (done.returncode, "hf auth login" in done.stderr) == (2, True)
    assert not hub.requests


def test_the_token_is_nowhere(publish, hub, gears, secret, tmp_path):
    outputs = [publish(gears, tag="v1.0"), publish(gears, tag="v1.0")]
    hub.fail = lambda method, path: 500 if "/commit/" in path else None
    outputs.append(publish(gears, "org/other", environment={"HF_DEBUG": "1", "HF_HUB_VERBOSITY": "debug"}))
    assert all(secret.token not in done.stdout + done.stderr for done in outputs)
    holding = [path for path in tmp_path.rglob("*") if path.is_file() and secret.token.encode() in path.read_bytes()]
    assert holding == []


def test_a_folder_with_faults_is_not_sent(publish, hub, gears):
    next((gears / "single" / "videos").iterdir()).unlink()
    done = publish(gears)
    assert (done.returncode, "clip-missing" in done.stderr) == (2, True)
    assert not hub.requests


def test_a_dry_run_sends_nothing(publish, hub, gears):
    done = publish(gears, dry_run=True)
    assert done.returncode == 0
    assert "would publish" in done.stdout
    assert not hub.requests


def test_private_and_gated(publish, hub, gears):
    assert publish(gears, "org/closed", private=True, gated="manual").returncode == 0
    assert (hub.repositories["org/closed"].private, hub.repositories["org/closed"].gated) == (True, "manual")
    assert publish(gears, "org/open").returncode == 0
    assert not hub.repositories["org/open"].private
    done = publish(gears, "org/open", private=True)
    assert (done.returncode, "is public already" in done.stderr) == (2, True)


def test_egotempos_annotations_load_back_whole(publish, hub_python, shared_dir, tmp_path):
    folder = tmp_path / "egotempo"
    build_egotempo(shared_dir / "data" / "egotempo" / "egotempo_openQA.json", folder)
    assert publish(folder, "org/tempo", tag="v1.0").returncode == 0
    rows = pq.read_table(folder / "test" / "metadata.parquet").to_pylist()
    assert len(rows) == 500
    for how in ("plain", "streaming"):
        assert without_clips(loaded(hub_python, "default", how, "org/tempo")) == without_clips(rows)


def test_real_records_of_egogears_load_back(publish, hub_python, real_release, tmp_path):
    from dataset_scripts.egogears.build import build_egogears

    folder = tmp_path / "real"
    build_egogears(real_release.root, folder)
    assert publish(folder, tag="v1.0").returncode == 0
    for config in ("single", "multi", "evidence"):
        rows = pq.read_table(folder / config / "metadata.parquet").to_pylist()
        streamed = loaded(hub_python, config, "streaming")
        assert without_clips(streamed) == without_clips(rows)
        assert len(json.dumps(streamed[:100])) < 200_000  # where the viewer would cut cells


@pytest.fixture
def tempo_with_clips(shared_dir, tmp_path, make_clip) -> Path:
    """EgoTempo with one clip, which stands in for Ego4D's."""
    annotations = shared_dir / "data" / "egotempo" / "egotempo_openQA.json"
    clip_id = json.loads(annotations.read_text())["annotations"][0]["clip_id"].removesuffix(".mp4")
    make_clip(tmp_path / "videos" / f"{clip_id}.mp4", 3)
    build_egotempo(annotations, tmp_path / "egotempo", videos=tmp_path / "videos")
    return tmp_path / "egotempo"


@pytest.mark.parametrize("options", [{}, {"private": True}, {"may_share_ego4d_clips": True}])
def test_ego4d_clips_are_refused(publish, hub, tempo_with_clips, options):
    done = publish(tempo_with_clips, "org/tempo", **options)
    assert (done.returncode, "Ego4D" in done.stderr) == (2, True)
    assert not hub.requests


def test_ego4d_clips_with_leave_go_to_a_private_repository(publish, hub, tempo_with_clips):
    done = publish(tempo_with_clips, "org/tempo", private=True, may_share_ego4d_clips=True)
    assert done.returncode == 0, done.stderr
    assert hub.repositories["org/tempo"].private
    assert any(path.endswith(".mp4") for path in hub.files("org/tempo"))
