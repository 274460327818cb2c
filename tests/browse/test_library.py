"""The sample as a library: what is listed and opened is what the dataset, the runs and the hosts say."""

import shutil
import time
from pathlib import Path

import pytest
from planted import RunWriter, mixed_rows, plant, right, said_by
from sample_runs import HASTY, THINKER

from egobench_tasks.asking.choice import show_choice
from egobench_tasks.asking.messages import jpeg_parts
from egobench_tasks.asking.probes import PROBES
from egobench_tasks.asking.prompts import load_choice_templates
from egobench_tasks.asking.questions import choice_question
from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.browse.catalogue import Filters, Verdict, matching
from egobench_tasks.browse.html import list_html, question_html
from egobench_tasks.browse.load import load_library
from egobench_tasks.browse.strips import decode_strips
from egobench_tasks.data import DatasetLocation
from egobench_tasks.errors import InputError
from egobench_tasks.frames.store import FrameStore
from egobench_tasks.report.read.choice_questions import load_split
from egobench_tasks.report.read.choice_results import score_runs
from egobench_tasks.report.read.runs import find_runs
from egobench_tasks.runs.journal import Answer, Journal


@pytest.fixture(scope="module")
def library(sample_runs):
    return load_library(sample_runs.location, sample_runs.paths)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return FrameStore(tmp_path_factory.mktemp("store"))


def test_every_question_is_listed_with_what_it_can_be_filtered_by(library, sample_runs):
    assert [entry.question_id for entry in library.entries] == [row["question_id"] for row in sample_runs.rows]
    for entry, row in zip(library.entries, sample_runs.rows, strict=True):
        assert entry.question == row["question"]
        assert entry.facets["config"] == ("multi" if "videos" in row else "single")
        for facet in ("unit", "question_type", "category", "status"):
            assert entry.facets.get(facet) == row.get(facet)


def test_verdicts_are_the_reports(library, sample_runs):
    results = score_runs(find_runs(sample_runs.paths).choice, lambda config: load_split(sample_runs.location, config))
    assert library.runs == tuple(results.labels) == (THINKER, HASTY)
    for row in results.outcomes.itertuples():
        (entry,) = [one for one in library.entries if one.question_id == row.question_id]
        assert (entry.verdicts[row.run] is Verdict.RIGHT) == (row.exact_set == 1.0)
        assert (entry.verdicts[row.run] is Verdict.NO_ANSWER) == (row.state != "answered")
    assert {verdict for entry in library.entries for verdict in entry.verdicts.values()} >= {
        Verdict.RIGHT,
        Verdict.WRONG,
        Verdict.NO_ANSWER,
    }


def test_a_page_holds_clips_options_gold_and_answers_as_they_are(library, sample_runs):
    for number, row in enumerate(sample_runs.rows):
        page = library.page(row["question_id"])
        cells = row["videos"] if "videos" in row else [row["video"]]
        assert [clip.path for clip in page.clips] == [cell["path"] for cell in cells]
        assert [clip.label for clip in page.clips] == list(row.get("clip_labels", [None]))
        assert {option.original: option.text for option in page.options} == dict(
            zip("ABCDEFGH", row["options"], strict=False)
        )
        assert {option.original for option in page.options if option.is_gold} == set(row["answer"])
        thinker, hasty = page.answers
        assert thinker.text.startswith("<think>\nThe first clip shows a <b>door</b>")
        gold = {option.shown for option in page.options if option.is_gold}
        assert (thinker.verdict is Verdict.RIGHT) == (thinker.chosen == gold) == (number % 3 != 2)
        if number % 2:
            assert (hasty.verdict, hasty.failure) == (Verdict.NO_ANSWER, "truncated")
            assert (hasty.text, hasty.finish_reason) == ("<think>\nLooking at", "length")
        assert thinker.frames == "v2,budget,count=64,max_width_px=480,jpeg=ffmpeg-q3,tail=strict at least 4 a clip"


def test_the_strips_are_the_frames_of_the_message(library, sample_runs, store):
    """Byte for byte what a host sends for the question of the most clips, in its order."""
    row = max(sample_runs.rows, key=lambda row: len(row.get("videos", [0])))
    strips = decode_strips(library.page(row["question_id"]), store)
    shown = show_choice(row, load_choice_templates(), EGOGEARS.frames_per_question, EGOGEARS.min_frames_per_clip)
    shown.frames.store = store
    sent = [part for part in jpeg_parts(shown.segments, shown.frames) if isinstance(part, bytes)]
    assert [jpeg for strip in strips for jpeg in strip.jpegs] == sent
    assert len(sent) == 64
    assert [strip.label for strip in strips] == list(row["clip_labels"])
    for strip in strips:
        assert len(strip.times_s) == len(strip.jpegs)
        assert list(strip.times_s) == sorted(strip.times_s)


@pytest.mark.parametrize("probe", ["reversed", "reordered", "swapped", "center", "blind"])
def test_a_probes_page_shows_what_its_host_sends(library, sample_runs, store, probe):
    row = next(row for row in sample_runs.rows if PROBES[probe].applies(choice_question(row)) and "videos" in row)
    page = library.page(row["question_id"], probe)
    shown = show_choice(row, load_choice_templates(), 64, 4, PROBES[probe])
    shown.frames.store = store
    parts = jpeg_parts(shown.segments, shown.frames)
    strips = decode_strips(page, store)
    assert [jpeg for strip in strips for jpeg in strip.jpegs] == [part for part in parts if isinstance(part, bytes)]
    assert [f"\n{strip.label}\n" for strip in strips] == [part for part in parts[1:] if isinstance(part, str)]
    assert probe in page.probes and page.message == shown.readable()
    assert {answer.verdict for answer in page.answers} == {Verdict.NOT_ASKED}
    html = question_html(page, lambda path: path)
    assert f'data-probe="{probe}"' in html and f"&amp;probe={probe}" in html


def test_a_probe_that_does_not_apply_has_no_page(library, sample_runs):
    single = sample_runs.rows[0]["question_id"]
    assert library.page(single, "swapped") is None and library.page(single, "mirrored") is None
    assert "swapped" not in library.page(single).probes


def test_a_clip_that_does_not_decode_says_so_in_its_strip(sample_folder, store, tmp_path):
    shutil.copytree(sample_folder / "egogears", tmp_path / "egogears")
    library = load_library(DatasetLocation(str(tmp_path / "egogears")), [])
    page = max(map(library.page, library.pages), key=lambda page: len(page.clips))
    Path(page.clips[1].path).write_bytes(b"no video")
    strips = decode_strips(page, FrameStore(tmp_path / "store"))
    assert strips[1].jpegs == () and Path(page.clips[1].path).name in strips[1].problem
    assert strips[0].jpegs and strips[0].problem is None


def test_only_folders_of_clips_are_served(library, sample_folder):
    dataset = sample_folder / "egogears"
    assert library.video_folders == (dataset / "multi" / "videos", dataset / "single" / "videos")
    assert {path.suffix for folder in library.video_folders for path in folder.rglob("*")} == {".mp4"}


def test_a_question_that_is_not_there_has_no_page(library):
    assert library.page("no such question") is None


def test_a_config_that_a_run_lacks_was_not_asked(sample_runs, tmp_path):
    shutil.copytree(sample_runs.paths[0], tmp_path / "run")
    for path in (tmp_path / "run").rglob("*egogears:single*"):
        path.unlink()
    library = load_library(sample_runs.location, [tmp_path / "run"])
    for entry in library.entries:
        assert (entry.verdicts[THINKER] is Verdict.NOT_ASKED) == (entry.facets["config"] == "single")
        if entry.facets["config"] == "single":
            assert library.page(entry.question_id).answers[0].verdict is Verdict.NOT_ASKED


def test_runs_over_other_questions_are_refused(sample_runs, tmp_path):
    planted = plant(tmp_path / "other", mixed_rows(3, 0))
    run = RunWriter(planted).write(tmp_path / "run", "m", said_by(planted, right))
    with pytest.raises(InputError, match="another dataset revision"):
        load_library(sample_runs.location, [run])
    with pytest.raises(InputError, match="answers the config 'multi'; this dataset has single"):
        load_library(planted.location, [sample_runs.paths[0]])


def test_a_dataset_of_neither_benchmark_is_refused(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "metadata.parquet").write_bytes(b"")
    (tmp_path / "README.md").write_text("---\nconfigs:\n- config_name: x\n  data_files: data/*\n---\n")
    with pytest.raises(InputError, match="neither EgoGears' nor EgoTempo's"):
        load_library(DatasetLocation(str(tmp_path)), [])


def test_reasoning_that_a_host_kept_apart_is_shown_whatever_kept_it(sample_runs, tmp_path):
    """It was read from lighteval's details alone: of a journal and of an Inspect log the browser showed none."""
    (entry, *_) = load_library(sample_runs.location, []).entries
    task = f"egogears:{entry.facets['config']}|0"
    journal = Journal(tmp_path / "journal")
    journal.append(Answer("key", entry.question_id, task, "prompt", '{"answer": ["A"]}', "stop", reasoning="because"))
    journal.close()
    library = load_library(sample_runs.location, [tmp_path / "journal"])
    assert library.page(entry.question_id).answers[0].reasoning == "because"


def test_500_questions_list_in_under_a_second(tmp_path):
    planted = plant(tmp_path / "many", mixed_rows(100, 400))
    run = RunWriter(planted).write(tmp_path / "run", "m", said_by(planted, right))
    library = load_library(planted.location, [run])
    started = time.perf_counter()
    found = matching(library.entries, Filters(verdicts={"m": "right"}))
    html = list_html(found, library.runs, 500)
    elapsed_s = time.perf_counter() - started
    assert len(found) == 500
    assert html.count('class="eb-entry"') == 100  # a page of them
    assert elapsed_s < 0.5  # the browser's half is measured in test_browser.py
