"""`egobench check`: nothing in a sound folder, and every planted fault by its rule."""

import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import av
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dataset_scripts.check.clips import has_faststart
from dataset_scripts.check.files import number_findings
from dataset_scripts.check.finding import Severity, as_json, as_lines
from dataset_scripts.check.folder import check_folder
from dataset_scripts.egogears.build import build_egogears
from dataset_scripts.egogears.table import SCHEMAS
from dataset_scripts.egotempo.build import build_egotempo
from egobench_tasks.errors import InputError


@dataclass(frozen=True)
class Built:
    """A built folder, and what a test needs to damage it."""

    root: Path

    def rules(self, severity=Severity.ERROR) -> set[str]:
        return {finding.rule for finding in check_folder(self.root) if finding.severity is severity}

    def rows(self, name) -> list[dict]:
        return pq.read_table(self.root / name / "metadata.parquet").to_pylist()

    def write_rows(self, name, rows, schema=None) -> None:
        table = pa.Table.from_pylist(rows, schema=schema or SCHEMAS[name])
        pq.write_table(table, self.root / name / "metadata.parquet")

    def change_row(self, name, index=0, **fields) -> None:
        rows = self.rows(name)
        rows[index] |= fields
        self.write_rows(name, rows)

    def clip(self, name="single") -> Path:
        """The first row's clip, as a file that no other name shares."""
        path = self.root / name / self.rows(name)[0]["file_name"]
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(content)
        return path

    def card(self, old, new) -> None:
        path = self.root / "README.md"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))


@pytest.fixture
def built(release, tmp_path) -> Built:
    build_egogears(release.root, tmp_path / "egogears")
    folder = Built(tmp_path / "egogears")
    assert check_folder(folder.root) == []
    return folder


def test_the_sample_is_sound(sample_folder):
    assert check_folder(sample_folder / "egogears") == []


def test_real_records_of_egogears_are_sound(real_release, tmp_path):
    build_egogears(real_release.root, tmp_path / "egogears")
    assert check_folder(tmp_path / "egogears") == []


def test_the_real_annotations_of_egotempo_are_sound(shared_dir, tmp_path):
    build_egotempo(shared_dir / "data" / "egotempo" / "egotempo_openQA.json", tmp_path / "egotempo")
    assert check_folder(tmp_path / "egotempo") == []


def test_no_folder_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        check_folder(tmp_path / "absent")


def test_an_empty_folder_has_no_table_card_or_report(tmp_path):
    assert {finding.rule for finding in check_folder(tmp_path)} == {"table", "card", "report"}


# Files and places


def test_a_missing_clip(built):
    built.clip().unlink()
    assert built.rules() == {"clip-missing"}


@pytest.mark.parametrize("name", ["../multi/videos/x.mp4", "/etc/hostname", "https://example.org/x.mp4"])
def test_a_path_out_of_the_folder(built, name):
    built.change_row("single", file_name=name)
    assert "clip-outside" in built.rules()


def test_a_link_out_of_the_folder(built, tmp_path):
    clip = built.clip()
    clip.rename(tmp_path / clip.name)
    clip.symlink_to(tmp_path / clip.name)
    assert built.rules() == {"clip-outside"}


def test_a_file_name_that_tells_the_route(built):
    clip, name = built.clip(), "videos/P03_FastWalk_Night_Traj02.mp4"
    clip.rename(built.root / "single" / name)
    built.change_row("single", file_name=name)
    assert built.rules() == {"clip-name"}


def test_a_file_that_no_row_names(built):
    (built.root / "single" / "videos" / ".half.tmp").write_bytes(b"")
    assert built.rules(Severity.WARNING) == {"stray-file"}


def test_too_many_files_in_a_folder(built):
    names = built.root / "notes"
    names.mkdir()
    for number in range(10_000):
        os.link(built.root / "eval.yaml", names / str(number))
    assert built.rules() == {"too-many-files"}


def test_too_many_files_in_all():
    files = [f"{number // 9_999}/{number}" for number in range(100_000)]
    assert [finding.where for finding in number_findings(files)] == ["."]
    assert not list(number_findings(files[:-1]))


# Clips


def test_a_clip_that_does_not_decode(built):
    built.clip().write_bytes(b"no video" * 100)
    assert built.rules() == {"clip-broken"}


def test_a_clip_cut_short(built, make_clip):
    clip = built.clip()
    clip.write_bytes(clip.read_bytes()[:-400])
    assert built.rules() == {"clip-broken"}


def test_a_clip_without_a_duration(built):
    clip = built.clip()
    remux(clip, {"movflags": "empty_moov+frag_keyframe"})
    data = clip.read_bytes()
    clip.write_bytes(data[: data.index(b"moof") - 4])  # a header that promises pictures, and none
    assert built.rules() == {"clip-broken"}


def test_a_clip_whose_header_is_last(built):
    clip = built.clip()
    assert has_faststart(clip)
    remux(clip, {})
    assert not has_faststart(clip)
    assert built.rules(Severity.WARNING) == {"clip-faststart"}


def test_a_clip_of_other_bytes(built):
    clip = built.clip()
    clip.write_bytes(clip.read_bytes() + b"\0\0\0\x08free")
    assert built.rules() == {"clip-checksum"}


def test_a_duration_that_is_not_the_clips(built):
    built.change_row("single", duration_s=7.5)
    assert built.rules() == {"clip-duration"}


# Rows


def test_a_table_that_cannot_be_read(built):
    (built.root / "multi" / "metadata.parquet").write_bytes(b"PAR1")
    assert "table" in built.rules()


def test_an_id_given_twice(built):
    built.change_row("single", question_id="s2")
    assert built.rules() == {"question-id"}


@pytest.mark.parametrize("answer", [["A", "H"], [], ["A", "A"]])
def test_an_answer_that_is_none_of_the_options(built, answer):
    built.change_row("single", answer=answer, n_select=len(answer))
    assert built.rules() == {"answer"}


def test_a_number_to_select_that_is_not_the_answers(built):
    built.change_row("single", n_select=3)
    assert built.rules() == {"answer"}


def test_a_column_that_is_missing(built):
    rows = [{name: value for name, value in row.items() if name != "unit"} for row in built.rows("single")]
    built.write_rows("single", rows, SCHEMAS["single"].remove(SCHEMAS["single"].get_field_index("unit")))
    assert built.rules() == {"schema"}


def test_a_column_of_another_type(built):
    schema = SCHEMAS["single"]
    index = schema.get_field_index("n_select")
    built.write_rows("single", built.rows("single"), schema.set(index, pa.field("n_select", pa.float64())))
    assert built.rules() == {"schema"}


@pytest.mark.parametrize("kind", [pa.int64(), pa.string(), pa.list_(pa.string()), pa.list_(pa.int64())])
def test_columns_of_any_type_are_findings_and_no_crash(built, kind):
    value = 1 if kind in (pa.int64(), pa.list_(pa.int64())) else "x"
    column = pa.array([[value] if pa.types.is_list(kind) else value, None], kind)
    for name, schema in SCHEMAS.items():
        pq.write_table(pa.table(dict.fromkeys(schema.names, column)), built.root / name / "metadata.parquet")
    assert built.rules() == {"schema"}


def test_a_null_where_a_text_is_due(built):
    built.change_row("single", question=None)
    assert built.rules() == {"null"}


def test_lists_of_unequal_length(built):
    built.change_row("multi", clip_labels=["CLIP_1"])
    assert built.rules() == {"clip-lists"}


def test_a_span_that_ends_before_it_starts(built):
    built.change_row("single", start_s=9.0, end_s=3.0)
    assert built.rules() == {"times"}


def test_a_row_too_large_for_the_viewer(built):
    built.change_row("evidence", evidence=[{"letter": "A", "text": "x" * 15_000}])
    assert built.rules(Severity.WARNING) == {"row-size"}


def test_rows_lost_since_the_build(built):
    built.write_rows("single", built.rows("single")[:1])
    assert built.rules() == {"report"}


# People


def test_a_column_that_names_people(built, upstream):
    schema = SCHEMAS["evidence"].append(pa.field("human_decided_by", pa.string()))
    built.write_rows(
        "evidence", [row | {"human_decided_by": upstream.person} for row in built.rows("evidence")], schema
    )
    assert built.rules() == {"personal-name"}


@pytest.mark.parametrize("reason", ["trusted_human_clear:Avery", "asked:Avery Quill", "Avery"])
def test_a_name_among_the_reasons(built, reason):
    built.change_row("evidence", reasons=["human_rules_out_gold:D", reason])
    assert built.rules() == {"personal-name"}


def test_a_mail_address_in_a_text(built):
    built.change_row("single", question="Ask avery.quill@example.org: where?")
    assert built.rules() == {"personal-name"}


# Card and registration


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("license: mit", "license: mit-licence"),
        ("license: mit", "note: none"),
        ("- multiple-choice", "- multi-choice"),
        ("- n<1K", "- 1K<n<10K"),
        ("- n<1K", "- small"),
        ("- en\n", "- english\n"),
        ("pretty_name: EgoGears", "pretty_name: ''"),
        ("- video\n", "- film\n"),
        ("license: mit", "license: mit\nlicense: mit"),
        ("license: mit", "license: [mit"),
        ("---\n", ""),
    ],
)
def test_a_fault_of_the_card(built, old, new):
    built.card(old, new)
    assert built.rules() == {"card"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("- single/videos/*", "- single/clips/*"),
        ("- evidence/metadata.parquet", "- evidence/meta.parquet"),
        ("  default: true\n", ""),
        ("configs:", "config:"),
    ],
)
def test_configs_that_do_not_fit_the_files(built, old, new):
    built.card(old, new)
    assert "card-config" in built.rules()


@pytest.mark.parametrize(
    "text",
    [
        None,
        "name: [",
        "- a list",
        "name: x\ndescription: x\nevaluation_framework: x\ntasks: []",
        "name: x\ndescription: x\nevaluation_framework: x\ntasks: [{id: a, config: single}, {id: a, config: multi}]",
        "name: x\ndescription: x\nevaluation_framework: x\ntasks: [{id: a, config: triple}]",
        "description: x\nevaluation_framework: x\ntasks: [{id: a, config: single}]",
    ],
)
def test_a_fault_of_the_registration(built, text):
    path = built.root / "eval.yaml"
    path.unlink()
    if text is not None:
        path.write_text(text)
    assert built.rules() == {"registration"}


def test_egotempos_card_must_forbid_sharing_its_clips(shared_dir, tmp_path):
    build_egotempo(shared_dir / "data" / "egotempo" / "egotempo_openQA.json", tmp_path / "egotempo")
    folder = Built(tmp_path / "egotempo")
    folder.card("clips_may_be_shared: false", "clips_may_be_shared: true")
    assert folder.rules() == {"card"}


# What is printed


def test_one_line_a_finding_errors_first(built):
    (built.root / "single" / "videos" / "stray.txt").write_bytes(b"")
    built.clip().unlink()
    findings = check_folder(built.root)
    lines = as_lines(findings).splitlines()
    assert [line.split()[0] for line in lines] == ["error", "warning", "1"]
    assert re.fullmatch(r"1 errors, 1 warnings", lines[-1])
    assert [one["rule"] for one in json.loads(as_json(findings))] == ["clip-missing", "stray-file"]


def remux(path, options):
    """Write a clip's packets into another container layout."""
    old = path.with_name("old")
    shutil.move(path, old)
    with av.open(str(old)) as source, av.open(str(path), "w", format="mp4", options=options) as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.dts is not None:
                packet.stream = stream
                target.mux(packet)
    old.unlink()
