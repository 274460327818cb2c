"""Finding things in a raw release: files, bundles, checksums."""

import gzip
import io
import tarfile

import pytest

from dataset_scripts.egogears.release import (
    Bundles,
    SourceManifest,
    index_tar,
    multi_questions,
    read_checksums,
    read_source_manifest,
    single_clip,
    single_questions,
)
from dataset_scripts.repository.clips import check_clip
from egobench_tasks.errors import InputError


def test_the_single_questions_are_found_in_each_place_upstream_puts_them(release):
    place = single_questions(release.root)
    assert place == release.single_file
    repair = release.root / "single_video_567" / "human_answer_repair_567" / place.name
    repair.parent.mkdir()
    place.rename(repair)
    assert single_questions(release.root) == repair
    top = release.root / "human_answer_repair_567" / place.name
    top.parent.mkdir()
    repair.rename(top)
    assert single_questions(release.root) == top


def test_what_is_not_there_is_named_with_what_to_do(release):
    release.multi_file.unlink()
    with pytest.raises(InputError, match=r"holds no v2/runningbench_v2_kept\.jsonl.*--only single"):
        multi_questions(release.root)
    with pytest.raises(InputError, match="no such folder"):
        single_questions(release.root / "nowhere")


def test_a_clip_has_the_same_facts_in_a_folder_and_in_a_tar(release):
    path = "media/m1/CLIP_1_0_2.mp4"
    unpacked = Bundles(release.root).clip("bundle_01", path)
    facts = check_clip(unpacked)
    release.to_tars()
    packed = Bundles(release.root).clip("bundle_01", path)
    assert unpacked.is_whole_file and not packed.is_whole_file
    assert check_clip(packed) == facts


def test_a_clip_that_is_nowhere_is_none(release):
    assert single_clip(release.root, "videos/none.mp4") is None
    assert Bundles(release.root).clip("bundle_01", "media/m9/CLIP_1.mp4") is None
    assert Bundles(release.root).clip("bundle_09", "media/m1/CLIP_1_0_2.mp4") is None


def make_tar(path, *members):
    with tarfile.open(path, "w") as tar:
        for member, data in members:
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return path


def named(name, kind=tarfile.REGTYPE, target=""):
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


@pytest.mark.parametrize(
    ("member", "message"),
    [
        (named("b/../../etc/cron.d/x"), "leaves its folder"),
        (named("/etc/passwd"), "leaves its folder"),
        (named("..\\x"), "leaves its folder"),
        (named("b/link", tarfile.SYMTYPE, "/etc/passwd"), "is a link"),
        (named("b/hard", tarfile.LNKTYPE, "b/other"), "is a link"),
        (named("b/pipe", tarfile.FIFOTYPE), "no plain file"),
        (named("b/device", tarfile.CHRTYPE), "no plain file"),
    ],
)
def test_a_tar_with_a_dangerous_member_is_refused(tmp_path, member, message):
    tar = make_tar(tmp_path / "b.tar", (named("b/good"), b"x"), (member, b""))
    with pytest.raises(InputError, match=rf"b\.tar: member .*{message}"):
        index_tar(tar)


def test_a_tar_that_is_cut_off_or_compressed_is_refused(tmp_path):
    tar = make_tar(tmp_path / "b.tar", (named("b/one"), b"x" * 5000), (named("b/two"), b"y" * 5000))
    whole = tar.read_bytes()
    for size in (0, 100, 700, 3000, 6000, 7000):
        tar.write_bytes(whole[:size])
        with pytest.raises(InputError, match=r"b\.tar: (not a whole|cut off)"):
            index_tar(tar)
    tar.write_bytes(gzip.compress(whole))
    with pytest.raises(InputError, match="uncompressed"):
        index_tar(tar)


def test_the_last_version_of_a_tar_member_counts_and_dots_in_front_do_not(tmp_path):
    tar = make_tar(tmp_path / "b.tar", (named("./b/one"), b"old"), (named("b"), b"dir"), (named("b/one"), b"new"))
    with index_tar(tar)["b/one"].open() as file:
        assert file.read() == b"new"


def test_checksums_are_read_by_column(release):
    checksums = read_checksums(release.root)
    clip = check_clip(single_clip(release.root, "videos/s1.mp4"))
    assert checksums["videos/s1.mp4"] == clip.sha256
    release.checksums_file.unlink()
    assert read_checksums(release.root) is None


@pytest.mark.parametrize("line", ["s1,videos/s1.mp4,5", "s1,videos/s1.mp4,5,abc", "s1,videos/s1.mp4,5," + "g" * 64])
def test_a_checksum_that_is_none_is_named_by_line(release, line):
    release.checksums_file.write_text(f"a,b,c,d\n{line}\n")
    with pytest.raises(InputError, match=r"video_sha256\.csv: line 2: column 4"):
        read_checksums(release.root)


def test_the_source_manifest_gives_its_counts(release):
    path = release.checksums_file.with_name("source_manifest.json")
    assert read_source_manifest(release.root) == SourceManifest(None, None)
    path.write_text('{"questions": 2, "answer_count_distribution": {"1": 1, "2": 1}, "note": "x"}')
    assert read_source_manifest(release.root) == SourceManifest(2, {1: 1, 2: 1})
    for broken in ("{", "[]", '{"answer_count_distribution": 5}', '{"answer_count_distribution": {"x": 1}}'):
        path.write_text(broken)
        with pytest.raises(InputError, match=r"source_manifest\.json: cannot be read"):
            read_source_manifest(release.root)
