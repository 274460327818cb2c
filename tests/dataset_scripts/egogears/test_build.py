"""The EgoGears builder as a whole: what it makes, what it refuses, what it repeats and resumes."""

import io
import json
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from rich.console import Console

from dataset_scripts.egogears.build import build_egogears
from dataset_scripts.repository.build_report import print_report
from dataset_scripts.repository.videofolder import REPORT_NAME, journal_file, staging_folder
from egobench_tasks.errors import InputError


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def times(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def rows(out, config):
    return pq.read_table(out / config / "metadata.parquet").to_pylist()


def warnings(report, kind):
    return [(finding.config, finding.question_id) for finding in report.warnings if finding.kind == kind]


@pytest.fixture
def out(tmp_path):
    return tmp_path / "egogears"


def assert_untouched(out):
    assert not out.exists()
    assert not staging_folder(out).exists()


def test_the_tables_hold_what_the_release_says(release, out):
    build_egogears(release.root, out)
    one, two = rows(out, "single")
    assert (one["question_id"], one["answer"], one["n_select"]) == ("s1", ["B"], 1)
    assert one["options"] == ["Left", "Right", "Not at all"]
    assert (one["participant"], one["speed"], one["lighting"], one["route"]) == ("P03", "fast_walk", "night", "Traj02")
    assert (two["participant"], two["speed"], two["lighting"], two["route"]) == (None, "slow_walk", None, None)
    assert (one["start_s"], one["end_s"]) == (60, 62)
    assert (one["duration_s"], two["duration_s"]) == pytest.approx((2, 1))
    first, second = rows(out, "multi")
    assert first["clip_labels"] == ["CLIP_1", "CLIP_2"]
    assert (first["clip_start_s"], first["clip_end_s"]) == ([0, 10], [2, 12])
    assert (second["clip_start_s"], second["clip_end_s"]) == ([None], [None])
    assert first["clip_sha256"][0] == second["clip_sha256"][0]
    assert first["file_name"] == first["file_names"][0] == f"videos/{first['clip_sha256'][0]}.mp4"
    assert first["capability"] is None
    assert (first["bundle"], second["bundle"]) == ("bundle_01", "bundle_02")
    assert [row["question_id"] for row in rows(out, "evidence")] == ["m1", "m2"]


def test_every_clip_is_stored_once_under_its_content(release, out):
    report = build_egogears(release.root, out)
    assert sorted(path.name for path in out.rglob("*.mp4")) == sorted(
        {row["sha256"] + ".mp4" for row in rows(out, "single")}
        | {digest + ".mp4" for row in rows(out, "multi") for digest in row["clip_sha256"]}
    )
    assert [(one.rows, one.clips, one.clip_uses) for one in report.summaries] == [(2, 2, 2), (2, 2, 3)]


def test_neither_names_nor_tables_tell_a_person_or_a_condition(release, out, upstream):
    build_egogears(release.root, out)
    for path in out.rglob("*"):
        assert not any(word in path.name for word in ("P03", "Night", "Traj", "CLIP", "FastWalk"))
        if path.name.endswith((".json", ".md")):
            assert upstream.person not in path.read_text()
    for config in ("single", "multi", "evidence"):
        assert upstream.person not in repr(rows(out, config))
    assert rows(out, "evidence")[0]["reasons"] == ["human_rules_out_gold:D", "asked"]


def test_tars_and_folders_build_the_same_bytes(release, out, tmp_path):
    build_egogears(release.root, out)
    release.to_tars()
    build_egogears(release.root, tmp_path / "from_tars")
    assert tree(out) == tree(tmp_path / "from_tars")


def test_links_and_copies_hold_the_same_bytes(release, out, tmp_path):
    build_egogears(release.root, out, link="hard")
    build_egogears(release.root, tmp_path / "copied", link="copy")
    assert tree(out) == tree(tmp_path / "copied")
    sources = {path.stat().st_ino for path in release.root.rglob("*.mp4")}
    assert {path.stat().st_ino for path in out.rglob("*.mp4")} <= sources
    assert not {path.stat().st_ino for path in (tmp_path / "copied").rglob("*.mp4")} & sources


def test_a_second_run_changes_nothing(release, out):
    build_egogears(release.root, out)
    before, bytes_before = times(out), tree(out)
    report = build_egogears(release.root, out)
    assert report.written.unchanged and report.written.clips_reused == 4
    assert tree(out) == bytes_before
    assert times(out) == before
    assert list(out.parent.glob(".*")) == []


def test_the_folder_does_not_depend_on_where_and_when(release, out, tmp_path, monkeypatch):
    build_egogears(release.root, out)
    shutil.copytree(release.root, tmp_path / "elsewhere" / "raw")
    monkeypatch.chdir(tmp_path / "elsewhere")
    build_egogears(Path("raw"), Path("built"))
    assert tree(tmp_path / "elsewhere" / "built") == tree(out)


@pytest.mark.parametrize(("only", "configs"), [("single", {"single"}), ("multi", {"multi", "evidence"})])
def test_one_split_alone(release, out, only, configs):
    other = release.multi_file if only == "single" else release.single_file
    other.unlink()
    report = build_egogears(release.root, out, only=only)
    assert {path.parent.name for path in out.glob("*/metadata.parquet")} == configs == set(report.configs)


def test_one_split_grows_into_both_but_both_do_not_shrink(release, out):
    build_egogears(release.root, out, only="multi")
    report = build_egogears(release.root, out)
    assert (report.written.clips_stored, report.written.clips_reused) == (2, 2)
    with pytest.raises(InputError, match="also holds evidence, multi"):
        build_egogears(release.root, out, only="single")
    assert len(rows(out, "multi")) == 2


def test_a_corrected_release_updates_the_folder(release, out):
    build_egogears(release.root, out)
    release.change(release.multi_file, 1, answer=["D"])
    report = build_egogears(release.root, out)
    assert rows(out, "multi")[1]["answer"] == ["D"]
    assert (report.written.clips_stored, report.written.removed) == (0, 0)
    assert report.written.files_written == 3  # the table, and the card and the report, which count answers


def break_line(release):
    with release.multi_file.open("a") as file:
        file.write('{"review_id": "m3", \n')


def damage_clip(release):
    clip = release.bundles / "bundle_01/media/m1/CLIP_2_10_12.mp4"
    clip.unlink()  # the built folder may hold a link to it
    clip.write_bytes(b"no video")


def change_clip(release):
    path = release.root / "single_video_567/videos/s1.mp4"
    shutil.copyfile(release.root / "single_video_567/videos/s2.mp4", path)


def escape(release):
    shutil.rmtree(release.bundles / "bundle_02")
    with tarfile.open(release.bundles / "bundle_02.tar", "w") as tar:
        tar.addfile(tarfile.TarInfo("../../../../../tmp/escaped"))


def link_member(release):
    shutil.rmtree(release.bundles / "bundle_02")
    with tarfile.open(release.bundles / "bundle_02.tar", "w") as tar:
        member = tarfile.TarInfo("bundle_02/media/m2/CLIP_A.mp4")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/hostname"
        tar.addfile(member)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (break_line, r"runningbench_v2_kept\.jsonl: line 3: broken JSON"),
        (lambda r: r.change(r.single_file, 1, question=...), r"human_eval\.jsonl: line 2: field 'question' is missing"),
        (lambda r: r.change(r.single_file, 1, id="s1"), r"line 2: id s1 is also that of .*line 1"),
        (lambda r: r.change(r.multi_file, 0, answer=["A", "H"]), r"line 1: field 'answer' names 'H'"),
        (
            lambda r: r.change(r.multi_file, 0, options={"A": "x", "C": "y"}),
            r"line 1: field 'options' is lettered A, C",
        ),
        (
            lambda r: (r.root / "single_video_567/videos/s2.mp4").unlink(),
            r"line 2: question s2: clip videos/s2\.mp4 is m",
        ),
        (
            lambda r: shutil.rmtree(r.bundles / "bundle_02"),
            r"question m2: clip bundle_02/media/m2/CLIP_A\.mp4 is missing",
        ),
        (damage_clip, r"CLIP_2_10_12\.mp4: not a clip that decodes"),
        (change_clip, r"s1\.mp4: its SHA-256 is [0-9a-f]{64}, video_sha256\.csv says [0-9a-f]{64}"),
        (escape, r"bundle_02\.tar: member '.*escaped' leaves its folder"),
        (link_member, r"bundle_02\.tar: member '.*CLIP_A\.mp4' is a link"),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(release, out, damage, message):
    damage(release)
    with pytest.raises(InputError, match=message) as error:
        build_egogears(release.root, out)
    assert error.value.exit_code == 2
    assert_untouched(out)


def test_bad_input_leaves_an_earlier_build_as_it_was(release, out):
    build_egogears(release.root, out)
    before = tree(out)
    damage_clip(release)
    with pytest.raises(InputError, match="decodes"):
        build_egogears(release.root, out)
    assert tree(out) == before


def test_a_stored_clip_that_went_bad_is_stored_again(release, out):
    build_egogears(release.root, out, link="copy")
    before = tree(out)
    stored = next((out / "multi" / "videos").iterdir())
    stored.write_bytes(stored.read_bytes()[::-1])
    report = build_egogears(release.root, out, link="copy")
    assert (report.written.clips_stored, report.written.clips_reused) == (1, 3)
    assert tree(out) == before


def test_a_folder_that_holds_something_else_is_left_alone(release, out):
    out.mkdir()
    (out / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="did not make"):
        build_egogears(release.root, out)
    assert tree(out) == {"thesis.tex": b"years of work"}


def test_partial_drops_questions_without_clips_and_counts_them(release, out):
    (release.root / "single_video_567/videos/s2.mp4").unlink()
    shutil.rmtree(release.bundles / "bundle_02")
    report = build_egogears(release.root, out, partial=True)
    assert [(drop.config, drop.question_id) for drop in report.dropped] == [("single", "s2"), ("multi", "m2")]
    assert "media/m2/CLIP_A.mp4" in report.dropped[1].reason
    assert [row["question_id"] for row in rows(out, "multi")] == ["m1"]
    assert json.loads((out / REPORT_NAME).read_text())["dropped"][0]["question_id"] == "s2"


def test_partial_still_refuses_a_clip_that_does_not_decode(release, out):
    damage_clip(release)
    with pytest.raises(InputError, match="decodes"):
        build_egogears(release.root, out, partial=True)
    assert_untouched(out)


def test_partial_refuses_a_split_without_any_clip(release, out):
    shutil.rmtree(release.bundles)
    with pytest.raises(InputError, match="multi: no question has its clips"):
        build_egogears(release.root, out, partial=True)


def test_rows_that_upstream_dropped_are_dropped(release, out):
    release.change(release.multi_file, 1, status="dropped")
    report = build_egogears(release.root, out)
    assert [(drop.question_id, drop.reason) for drop in report.dropped] == [("m2", "dropped upstream")]


@pytest.mark.parametrize(
    ("change", "kind", "where"),
    [
        ({"options": {"A": "x", "B": "x", "C": "y", "D": "z"}}, "equal_options", ("multi", "m1")),
        ({"n_select": 3}, "n_select", ("multi", "m1")),
        ({"n_select": None}, "n_select", ("multi", "m1")),
        ({"unit": "dream"}, "unknown_unit", ("multi", "m1")),
        ({"question_type": "dream"}, "unknown_question_type", ("multi", "m1")),
        ({"status": "maybe"}, "unknown_status", ("multi", "m1")),
    ],
)
def test_what_upstream_may_hold_is_kept_and_pointed_out(release, out, change, kind, where):
    assert warnings(build_egogears(release.root, out.with_name("before")), kind) == []
    release.change(release.multi_file, 0, **change)
    report = build_egogears(release.root, out)
    assert warnings(report, kind) == [where]
    assert rows(out, "multi")[0]["n_select"] == 2
    assert kind in [finding["kind"] for finding in json.loads((out / REPORT_NAME).read_text())["warnings"]]


def test_a_repeated_label_is_kept_in_order(release, out):
    clips = [{"label": "VIDEO_A", "path": f"media/m1/CLIP_{i}_{t}_{t + 2}.mp4"} for i, t in ((2, 10), (1, 0))]
    release.change(release.multi_file, 0, clips=clips)
    report = build_egogears(release.root, out)
    assert warnings(report, "repeated_label") == [("multi", "m1")]
    row = rows(out, "multi")[0]
    assert (row["clip_labels"], row["clip_start_s"]) == (["VIDEO_A", "VIDEO_A"], [10, 0])


def test_single_questions_have_their_warnings_too(release, out):
    release.change(release.single_file, 0, unit="30s", options={"A": "x", "B": "y", "C": " y"})
    lines = release.checksums_file.read_text().splitlines()
    release.checksums_file.write_text("\n".join(lines[:2]) + "\n")
    report = build_egogears(release.root, out)
    assert warnings(report, "unknown_unit") == [("single", "s1")]
    assert warnings(report, "equal_options") == [("single", "s1")]
    assert warnings(report, "no_checksum") == [("single", "s2")]


def test_a_release_without_checksums_is_built_and_says_so(release, out):
    release.checksums_file.unlink()
    assert warnings(build_egogears(release.root, out), "no_checksum") == [("single", "")]


def test_counts_are_compared_with_the_published_ones_and_the_manifest(release, out):
    manifest = release.checksums_file.with_name("source_manifest.json")
    manifest.write_text(json.dumps({"questions": 2, "answer_count_distribution": {"1": 2}}))
    messages = [f.message for f in build_egogears(release.root, out).warnings if f.kind == "count_differs"]
    assert "questions in all: 2 rows, published 567" in messages
    assert "questions in all: 2 rows, published 1487" in messages
    assert "unit cross_video: 0 rows, published 132" in messages
    assert "answers 1: 1 rows, source_manifest.json says 2" in messages
    assert not any("in all: 2 rows, source_manifest" in message for message in messages)


def test_the_report_prints_as_tables(release, out):
    (release.root / "single_video_567/videos/s2.mp4").unlink()
    report = build_egogears(release.root, out, partial=True)
    console = Console(file=io.StringIO(), width=200)
    print_report(report, console)
    text = console.file.getvalue()
    assert "single" in text and "567" in text and "clip missing" in text and "count_differs" in text
    assert "3 clips stored" in text
    print_report(build_egogears(release.root, out, partial=True), console)
    assert "nothing to change" in console.file.getvalue()


BUILD = """
import sys, time
from pathlib import Path
from dataset_scripts.repository import clips, videofolder
from dataset_scripts.egogears.build import build_egogears

def slowly(function):
    def slow(*arguments):
        time.sleep(float(sys.argv[3]))
        return function(*arguments)
    return slow

clips.check_clip = slowly(clips.check_clip)
videofolder._store_clip = slowly(videofolder._store_clip)
report = build_egogears(Path(sys.argv[1]), Path(sys.argv[2]), link="copy")
print(report.written.clips_stored, report.written.clips_reused, report.checked_before)
"""


def run_build(release, out, pause_s=0.0):
    """Start a build; a pause before each clip leaves time to kill it."""
    command = [sys.executable, "-c", BUILD, release.root, out, str(pause_s)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def kill_when(process, condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert process.poll() is None, "the build ended before it could be killed"
        assert time.monotonic() < deadline
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.fixture
def large_release(tmp_path, upstream, make_clip):
    """60 clips that differ, so that a build takes long enough to be killed."""
    clip = make_clip(tmp_path / "clip.mp4", 20, width_px=128, height_px=128).read_bytes()
    count = iter(range(1000))

    def clip_for(path):
        numbered = tmp_path / "numbered.mp4"
        # a "free" box at the end of an MP4 file changes its hash and nothing else
        numbered.write_bytes(clip + (12).to_bytes(4, "big") + b"free" + next(count).to_bytes(4, "big"))
        return numbered

    multi = [upstream.multi(f"m{index}") for index in range(25)]
    return upstream.write_release(tmp_path / "raw", [upstream.single(f"s{i}") for i in range(10)], multi, clip_for)


def test_a_build_killed_while_checking_resumes(large_release, out):
    journal = journal_file(out)
    killed = run_build(large_release, out, pause_s=0.05)
    kill_when(killed, lambda: journal.is_file() and journal.read_text().count("\n") > 10)
    assert_untouched(out)
    process = run_build(large_release, out)
    stored, reused, checked_before = map(int, process.communicate()[0].split())
    assert process.returncode == 0
    assert (stored, reused) == (60, 0)
    assert 9 <= checked_before < 60
    assert not journal.exists()


def test_a_build_killed_while_storing_resumes(large_release, out, tmp_path):
    stage = staging_folder(out)
    killed = run_build(large_release, out, pause_s=0.05)
    kill_when(killed, lambda: len(list(stage.rglob("*.mp4"))) > 5)
    assert not out.exists()
    process = run_build(large_release, out)
    stored, reused, checked_before = map(int, process.communicate()[0].split())
    assert process.returncode == 0
    assert stored + reused == 60 and reused >= 5 and checked_before == 60
    assert not stage.exists()
    build_egogears(large_release.root, tmp_path / "straight", link="copy")
    assert tree(out) == tree(tmp_path / "straight")
