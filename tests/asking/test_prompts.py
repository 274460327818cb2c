from pathlib import Path

import pytest

from egobench_tasks.asking.options import shuffle_options
from egobench_tasks.asking.prompts import ClipFrames, Text, choice_segments, load_choice_templates
from egobench_tasks.asking.questions import ChoiceQuestion, Clip
from egobench_tasks.errors import InputError

# The exact prompts, frozen: scores under another wording do not compare. Change them with a new `version` only.
FROZEN_FINGERPRINT = "choice-1-221923624c7a"


def question(labels=("CLIP_1", "CLIP_C"), options=("red $5", "green {x}", "blue"), answer="AC"):
    clips = tuple(Clip(f"{index}.mp4", 10.0, "0" * 64, label) for index, label in enumerate(labels))
    return ChoiceQuestion("q", "Which of $these?\nTwo lines.", tuple(options), frozenset(answer), clips, "unit", "type")


def segments_of(asked, templates=None):
    return choice_segments(asked, shuffle_options("q", asked.letters), templates or load_choice_templates())


def test_the_wording_is_frozen():
    assert load_choice_templates().fingerprint == FROZEN_FINGERPRINT


def test_multi_message_is_instruction_then_each_label_and_its_frames():
    segments = segments_of(question())
    assert [type(segment) for segment in segments] == [Text, Text, ClipFrames, Text, ClipFrames]
    assert [segments[1], segments[2]] == [Text("\nCLIP_1\n"), ClipFrames(0)]
    assert [segments[3], segments[4]] == [Text("\nCLIP_C\n"), ClipFrames(1)]


def test_a_repeated_label_keeps_both_clips_apart_by_index():
    assert [s for s in segments_of(question(("VIDEO_A", "VIDEO_A"))) if isinstance(s, ClipFrames)] == [
        ClipFrames(0),
        ClipFrames(1),
    ]


def test_instruction_holds_question_options_count_and_example_unchanged():
    text = segments_of(question())[0].text
    # shuffle_options("q", "ABC") shows A, C, B
    assert "Which of $these?\nTwo lines." in text
    assert "A. red $5\nB. blue\nC. green {x}\n" in text
    assert "select: 2" in text
    assert '{"answer": ["A", "B"]}' in text
    assert text.endswith("\n")


def test_single_message_has_no_label():
    segments = segments_of(question(labels=(None,)))
    assert [type(segment) for segment in segments] == [Text, ClipFrames]
    assert "single clip of at most 60 seconds" in segments[0].text


def write(folder: Path, text: str) -> Path:
    path = folder / "templates.toml"
    path.write_text(text)
    return path


def test_a_users_file_replaces_the_wording(tmp_path):
    path = write(tmp_path, 'version = "mine"\nsingle = "S $question $options"\nmulti = "M $question|$options|$$1"\n')
    templates = load_choice_templates(path)
    assert templates.fingerprint.startswith("mine-")
    assert segments_of(question(), templates)[0].text == (
        "M Which of $these?\nTwo lines.|A. red $5\nB. blue\nC. green {x}|$1\n"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version = ", "cannot read"),
        ('version = "1"\nmulti = "$question $options"\n', "needs the keys"),
        ('single = "$question $options"\n', "needs a version"),
        ('version = "1"\nsingle = "$question $options"\nlone = ""\n', "unknown lone"),
        ('version = 1\nsingle = "$question $options"\nmulti = "$question $options"\n', "version must be text, got 1"),
        ('version = "1"\nsingle = "$question $options"\norder = "sideways"\n', "order must be one of text first"),
        ('version = "1"\nsingle = "$question $options"\nend = 1\n', "end must be text, got 1"),
        ('version = "1"\nsingle = "$question $options"\nheading = "$clip"\n', "heading: unknown placeholder"),
        ('version = "1"\nsingle = "$question $options"\noption = "$text"\n', r"option: the placeholder \['letter'\]"),
        ('version = "1"\nsingle = "$question $options"\n[plural]\nword = "s"\n', "plural must hold pairs"),
        ('version = "1"\nsingle = "$question"\nmulti = "$question $options"\n', r"single.*\['options'\] is missing"),
        ('version = "1"\nsingle = "$question $options $id"\nmulti = "$question $options"\n', "unknown placeholder"),
        ('version = "1"\nsingle = "$question $options 5$"\nmulti = "$question $options"\n', "stray"),
    ],
)
def test_a_template_file_that_cannot_be_used_is_named(tmp_path, text, message):
    with pytest.raises(InputError, match=message) as error:
        load_choice_templates(write(tmp_path, text))
    assert "templates.toml" in str(error.value)


def test_a_missing_template_file(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        load_choice_templates(tmp_path / "absent.toml")
