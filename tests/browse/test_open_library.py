"""EgoTempo as a library: windows, missing clips, answers and verdicts of several settings."""

import json
import math
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dataset_scripts.egotempo.build import build_egotempo
from egobench_tasks.browse.catalogue import Verdict
from egobench_tasks.browse.html import list_html, question_html
from egobench_tasks.browse.load import load_library
from egobench_tasks.browse.strips import decode_strips
from egobench_tasks.data import DatasetLocation
from egobench_tasks.errors import InputError
from egobench_tasks.frames.store import FrameStore
from egobench_tasks.hosts.lighteval.saved_task import UNRECORDED
from egobench_tasks.judge.identity import JudgeIdentity
from egobench_tasks.judge.prompt import JudgeItem
from egobench_tasks.judge.verdict import Judgement
from egobench_tasks.judge.verdict import Verdict as JudgesVerdict
from egobench_tasks.judge.verdict_files import write_verdicts

CATEGORY = "counting actions"
N_QUESTIONS = 5
SAID = {
    0: ("<think>hm</think>Twice.", "stop", 1.0),
    1: ("Never.", "stop", 0.0),
    2: ("<think>hm", "length", 0.0),
    3: ("Thrice, I think.", "stop", None),
}


@pytest.fixture(scope="module")
def location(sample_folder, tmp_path_factory):
    """Five questions on windows of one video; the last one's video is not there."""
    folder = tmp_path_factory.mktemp("egotempo")
    (folder / "videos").mkdir()
    clip = next((sample_folder / "egogears" / "multi" / "videos").iterdir())
    shutil.copy(clip, folder / "videos" / "uid.mp4")
    rows = [
        {
            "question_id": question_id(number),
            "clip_id": f"{'uid' if number < N_QUESTIONS - 1 else 'absent'}_{float(number)}_{number + 6.0}",
            "question_type": CATEGORY,
            "question": f"How often, in part {number}?",
            "answer": "Twice.",
        }
        for number in range(N_QUESTIONS)
    ]
    (folder / "annotations.json").write_text(json.dumps({"info": {}, "annotations": rows}))
    build_egotempo(folder / "annotations.json", folder / "egotempo", videos=folder / "videos")
    return DatasetLocation(str(folder / "egotempo"))


def question_id(number):
    return f"uid.{number}_{number}"


@pytest.fixture
def run(tmp_path):
    rows = [
        {
            "doc": {
                "specific": {
                    "question_id": question_id(number),
                    "question": f"How often, in part {number}?",
                    "answer": "Twice.",
                    "category": CATEGORY,
                }
            },
            "model_response": {"text": [text], "finish_reason": finish_reason, "reasonings": ["apart"]},
            "metric": {"judged": float(right is not None), "judge_accuracy": math.nan if right is None else right},
        }
        for number, (text, finish_reason, right) in SAID.items()
    ]
    for task in ("egotempo_f4:counting_actions|0", "egotempo:counting_actions|0"):
        path = tmp_path / "run" / "details" / "m" / "date" / f"details_{task}_2026-11-30T05-15-00.1.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows), path)
    return tmp_path / "run"


def test_each_setting_is_a_run_with_texts_and_verdicts(location, run):
    library = load_library(location, [run])
    assert set(library.runs) == {f"m, judged by {UNRECORDED.name} ({setting})" for setting in ("f4", "fps1")}
    assert [entry.facets for entry in library.entries] == [{"category": CATEGORY}] * N_QUESTIONS
    expected = [Verdict.RIGHT, Verdict.WRONG, Verdict.NO_ANSWER, Verdict.NO_VERDICT, Verdict.LOST]
    for name in library.runs:
        assert [entry.verdicts[name] for entry in library.entries] == expected
    answers = library.page(question_id(0)).answers
    assert {(answer.text, answer.reasoning) for answer in answers} == {("<think>hm</think>Twice.", "apart")}
    assert library.page(question_id(4)).answers[0].failure == "missing"
    assert "1 lost (partial)" in list_html(library.entries, library.runs, N_QUESTIONS)


def test_a_judges_score_and_reason_are_shown(location, run):
    item = JudgeItem(question_id(1), "How often, in part 1?", "Twice.", "Never.")
    given = Judgement(JudgesVerdict(True, 4.0, "close <enough>"), None, "")
    write_verdicts(run, JudgeIdentity("later", "judge-1"), [("egotempo_f4:counting_actions", item, given)])
    library = load_library(location, [run])
    page = library.page(question_id(1))
    (answer,) = [answer for answer in page.answers if answer.run == "m, judged by later (f4)"]
    assert (answer.verdict, answer.score) == (Verdict.RIGHT, "judged 4 of 5")
    assert "close &lt;enough&gt;" in question_html(page, str)


def test_gold_clip_and_frames_of_the_runs_setting(location, run, tmp_path):
    page = load_library(location, [run]).page(question_id(0))
    assert (page.answer, page.options) == ("Twice.", ())
    (strip,) = decode_strips(page, FrameStore(tmp_path / "store"))
    assert len(strip.jpegs) == (4 if "f4" in page.frames_rule else 6)
    html = question_html(page, str)
    assert "Gold answer" in html and "<video" in html and "<table" not in html


def test_without_a_clip_there_is_the_question_alone(location, tmp_path):
    page = load_library(location, []).page(question_id(N_QUESTIONS - 1))
    assert page.clips[0].path is None
    assert decode_strips(page, FrameStore(tmp_path / "store")) == ()
    assert "<video" not in question_html(page, str)
    assert "the default" in page.frames_rule


def test_runs_of_the_other_benchmark_are_refused(location, run, sample_runs):
    with pytest.raises(InputError, match="answer EgoGears"):
        load_library(location, sample_runs.paths[:1])
    with pytest.raises(InputError, match="answer EgoTempo"):
        load_library(sample_runs.location, [run])
