"""Mistakes as users make them, each typed at a command line: one short message that names the remedy, no traceback."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PLAIN = ("--custom-tasks", "egobench_tasks.tasks")
MOST_LINES = 5

# name: the command line, where {…} stands for what `world` has, and what the message must name
MISTAKES = {
    "task": ("egobench run transformers {model} egogear", r"did you mean egogears\?.*egobench tasks"),
    "part": ("egobench run transformers {model} egogears:both", r"did you mean egogears:multi\?"),
    "setting": ("egobench run endpoint {endpoint} egotempo_f7", r"did you mean egotempo_f8\?"),
    "foreign task": ("egobench run transformers {model} mmlu", "the benchmarks are egogears and egotempo"),
    "closed form": ("egobench run transformers {model} egotempo_choice", "set EGOBENCH_CHOICES"),
    "model": ("egobench run transformers model_name=/no/model egogears", "/no/model: there is no such folder"),
    "model setting": ("egobench run transformers {model},batchsize=2 egogears", r"did you mean batch_size\?"),
    "option": ("egobench run endpoint {endpoint} egogears --outputdir x", "--output-dir"),
    "shard": ("egobench run transformers {model} egogears --shard 5/4", "such as 2/4"),
    "repeats": ("egobench run endpoint {endpoint} egogears --repeats 2", "set temperature"),
    "no argument": ("egobench run endpoint {endpoint}", "Missing argument"),
    "command": ("egobench runn", r"Did you mean 'run'\?"),
    "endpoint file": ("egobench run endpoint absent.yaml egogears", "absent.yaml: .*No such file"),
    "endpoint setting": ("egobench run endpoint {typo} egogears", r"did you mean concurrency\?"),
    "server down": ("egobench run endpoint {endpoint} egogears", "does not answer.*connection"),
    "other dataset": ("egobench run transformers {model} egogears", "this is EgoTempo's.*EGOGEARS_DATA"),
    "revision": ("egobench run transformers {model} egogears", "EGOGEARS_DATA: .*no branch, tag or commit .* '@x'"),
    "no category": ("egobench run endpoint {endpoint} egotempo", "egotempo:counting_actions"),
    "no dataset": ("egobench run endpoint {endpoint} egotempo", "egobench build egotempo"),
    "missing clips": ("egobench build egogears --source {holed} --out x", r"in all \d+ clips.*, .*, .* and \d+ more"),
    "output": ("egobench run endpoint {endpoint} egogears --output-dir {file}/x", "name another folder"),
    "output of a build": ("egobench build egogears --source {raw} --out {file}/x", "name another folder"),
    "report's extra": ("egobench report {file}", r"pip install .*\[report\]"),
    "browser's extra": ("egobench browse {data}", r"pip install .*\[browse\]"),
    "no run": ("egobench report absent", "--output-dir"),
    "nothing to compare": ("egobench compare {data} absent", "--save-details"),
    "format": ("egobench report {data} --format pdf", "known are.*html"),
    "frames of the other": ("egobench frames {data} --spec fps1", "its own are center, f8"),
    "port": ("egobench browse {data} --port 99999", "65535"),
    "no samples": ("egobench run transformers {model} egogears --max-samples 0", "leave it out to ask everything"),
    "judge": ("egobench judge {data}", "--model and --base-url"),
    "word of a task": ("egobench tasks swaped", r"did you mean swapped\?"),
    "plain task": ("lighteval accelerate {model} egogear --vision-model {plain}", r"did you mean egogears\?"),
    "plain part": ("lighteval accelerate {model} egotempo:x|0 --vision-model {plain}", "egotempo:counting_actions"),
    "plain few-shots": ("lighteval accelerate {model} egogears|x --vision-model {plain}", "NAME or NAME|0"),
    "plain solved examples": ("lighteval accelerate {model} egogears:single|5 --vision-model {plain}", "single|0"),
    "plain type": ("lighteval accelerate {model},dtype=fp17 egogears|0 --vision-model {plain}", "no 'fp17'.*fp16"),
    "plain without eyes": ("lighteval accelerate {model} egogears|0 {plain}", "--vision-model"),
    "plain model": (
        "lighteval accelerate model_name=/no/m egogears|0 --vision-model {plain}",
        "/no/m: there is no such folder",
    ),
    "plain custom file": ("lighteval custom x absent.py egogears|0 {plain}", "absent.py: no such file"),
    "plain output": ("lighteval custom o {oracle} egogears|0 {plain} --output-dir {file}/x", "another --output-dir"),
    "plain dataset": ("lighteval custom o {oracle} egogears|0 {plain}", "this is EgoTempo's"),
}
ENVIRONMENT = {
    "other dataset": {"EGOGEARS_DATA": "{egotempo}"},
    "revision": {"EGOGEARS_DATA": "org/name@@x"},
    "plain dataset": {"EGOGEARS_DATA": "{egotempo}"},
    "no category": {"EGOTEMPO_DATA": "{egotempo}"},
}
HIDDEN = {"report's extra": ["matplotlib"], "browser's extra": ["gradio"]}


@pytest.fixture(scope="session")
def world(sample_folder, tiny_llava, tmp_path_factory):
    """What the command lines name: datasets whole, holed and of one category, settings right and mistyped."""
    from dataset_scripts.egotempo.build import build_egotempo

    folder = tmp_path_factory.mktemp("world")
    annotation = {"clip_id": "v_0.0_5.0", "question": "How often?", "answer": "Twice."}
    rows = [{**annotation, "question_id": "v_0", "question_type": "counting actions"}]
    (folder / "annotations.json").write_text(json.dumps({"info": {}, "annotations": rows}))
    build_egotempo(folder / "annotations.json", folder / "egotempo")
    shutil.copytree(sample_folder / "raw", folder / "holed")
    for clip in sorted((folder / "holed").rglob("*.mp4"))[:5]:
        clip.unlink()
    server = "base_url: http://127.0.0.1:9/v1\nmodel: m\nmax_retries: 0\n"
    (folder / "endpoint.yaml").write_text(server)
    (folder / "typo.yaml").write_text(f"{server}concurency: 3\n")
    (folder / "file").write_text("")
    named = {name: folder / name for name in ("egotempo", "holed", "file")}
    named |= {"endpoint": folder / "endpoint.yaml", "typo": folder / "typo.yaml", "plain": " ".join(PLAIN)}
    oracle = Path(__file__).parents[2] / "dataset_scripts" / "sample" / "oracle_model.py"
    named |= {"data": sample_folder / "egogears", "raw": sample_folder / "raw", "oracle": oracle}
    return {**named, "model": f"model_name={tiny_llava}"}


def told(text):
    """The message and what follows it, or all that click says of a wrong use; lighteval's own log stands before."""
    said = re.search(r"^(egobench: |Usage: )[\s\S]*", text, re.MULTILINE)
    return said.group().strip().splitlines() if said else []


def test_no_mistake_ends_in_a_traceback(commands, world):
    faults = []
    for name, (line, remedy) in MISTAKES.items():
        words = [word for part in line.split() for word in part.format(**world).split()]
        environment = {key: value.format(**world) for key, value in ENVIRONMENT.get(name, {}).items()}
        code, text = commands(*words, hidden=HIDDEN.get(name, ()), **environment)
        lines = told(text)
        if "Traceback" in text or code not in (1, 2) or not 0 < len(lines) <= MOST_LINES:
            faults.append(f"{name}: exit code {code}, {len(lines)} lines: {text[-2000:]}")
        elif not re.search(remedy, " ".join(lines)):
            faults.append(f"{name}: does not name {remedy!r}: {lines}")
    assert len(MISTAKES) >= 30
    assert not faults, "\n\n".join(faults)


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (["{model},batchsize=2", "egogears|0"], r"did you mean batch_size\?"),
        (["tiny-model", "egogears|0"], r'given as "model_name=FOLDER_OR_NAME'),
        (["{model}", "egogears"], r'write "egogears\|0"'),
    ],
)
def test_plain_lighteval_is_told_of_what_it_trips_over_before_our_tasks(world, sample_folder, words, remedy):
    """A real process: what listens begins when Python starts. In the folder that holds ./egogears."""
    from egobench_tasks.hosts.lighteval.offline import let_plain_lighteval_start

    let_plain_lighteval_start()
    program = Path(sys.executable).parent / "lighteval"
    command = [str(program), "accelerate", *(word.format(**world) for word in words), "--vision-model", *PLAIN]
    done = subprocess.run(command, cwd=sample_folder, env=os.environ, capture_output=True, text=True, check=False)
    lines = told(done.stderr)
    assert (done.returncode, len(lines), "Traceback" in done.stderr) == (2, 1, False), done.stderr[-3000:]
    assert re.search(remedy, lines[0])


def test_other_programs_start_as_ever(tmp_path):
    from egobench_tasks.hosts.lighteval.plain import STARTER

    code = f"{STARTER}\nprint([name for name in sys.modules if name.startswith('egobench')], sys.excepthook)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("[] <built-in function excepthook>")


def test_no_help_text_loses_what_stands_in_brackets(commands):
    code, text = commands("egobench", "frames", "--help")
    assert code == 0 and "ORG/NAME[@REVISION]" in text
    assert "ORG/NAME[@REVISION]" in commands("egobench", "browse", "--help")[1]


def test_that_no_judge_is_configured_is_said_once(commands, world, egotempo_of_two):
    _, text = commands("egobench", "run", "endpoint", world["endpoint"], "egotempo", EGOTEMPO_DATA=str(egotempo_of_two))
    assert text.count("no judge is configured") == 1


@pytest.fixture(scope="session")
def egotempo_of_two(tmp_path_factory):
    """A question in each category, without a clip."""
    from dataset_scripts.egotempo.build import build_egotempo
    from egobench_tasks.benchmarks import EGOTEMPO

    folder = tmp_path_factory.mktemp("clipless")
    rows = [
        {"question_id": f"v_{n}", "clip_id": "v_0.0_5.0", "question_type": name, "question": "Why?", "answer": "So."}
        for n, name in enumerate(EGOTEMPO.category_codes)
    ]
    (folder / "annotations.json").write_text(json.dumps({"info": {}, "annotations": rows}))
    build_egotempo(folder / "annotations.json", folder / "egotempo")
    return folder / "egotempo"
