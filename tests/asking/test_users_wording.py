"""A user's file of wording reproduces a paper's message byte for byte; what it leaves out is ours, and said."""

import pytest

from egobench_tasks.asking.options import shuffle_options
from egobench_tasks.asking.prompts import (
    OPEN_CHOICE_TEMPLATES,
    ClipFrames,
    Text,
    choice_segments,
    choice_templates,
    load_choice_templates,
    load_open_templates,
    open_segments,
    open_templates,
)
from egobench_tasks.asking.questions import ChoiceQuestion, Clip
from egobench_tasks.errors import InputError
from egobench_tasks.judge.prompt import JudgeItem, judge_messages, prompt_fingerprint

# What a paper might print: a heading over single clips too, "option" and "options", no line end after the instruction.
PAPER = '''
version = "paper"
single = """
  You see $n_clips clip.
$question
$options
Choose exactly $n_select $word of $n_options. Answer as $example"""
multi = """$question ($n_clips clips, $$5)\\n\\n$options\\n\\nSelect $n_select $word $verb right: $example"""
heading = "--- $label ---\\n"
single_heading = "--- CLIP_1 ---\\n"
clip_end = "\\n"
option = "($letter) $text"
between_options = " | "
end = ""
[plural]
word = ["option", "options"]
verb = ["that is", "that are"]
[egotempo]
video = "$question Look."
text = "$question Guess.\\n\\n"
single_heading = "Frames:\\n"
order = "text first"
end = ""
'''


def question(labels, answer):
    clips = tuple(Clip(f"{index}.mp4", 10.0, "0" * 64, label) for index, label in enumerate(labels))
    return ChoiceQuestion(
        "q", "Which\nof $these?", ("red $5", "green", "blue"), frozenset(answer), clips, "unit", "type"
    )


@pytest.fixture
def users(tmp_path, monkeypatch):
    """``users(text)``: a file of wording with it, named as a user does."""

    def write(text, variable="EGOBENCH_PROMPTS"):
        path = tmp_path / "mine.toml"
        path.write_text(text)
        monkeypatch.setenv(variable, str(path))
        return path

    return write


def message(labels, answer):
    asked = question(labels, answer)
    segments = choice_segments(asked, shuffle_options("q", asked.letters), choice_templates())
    return [part.text if isinstance(part, Text) else part.clip_index for part in segments]


def test_a_given_message_comes_out_byte_for_byte(users):
    users(PAPER)
    assert message([None], "A") == [
        "  You see 1 clip.\nWhich\nof $these?\n(A) red $5 | (B) blue | (C) green\n"
        'Choose exactly 1 option of 3. Answer as {"answer": ["A"]}',
        "--- CLIP_1 ---\n", 0, "\n",
    ]  # fmt: skip
    assert message(["CLIP_1", "VIDEO_A"], "AC") == [
        "Which\nof $these? (2 clips, $5)\n\n(A) red $5 | (B) blue | (C) green\n\n"
        'Select 2 options that are right: {"answer": ["A", "B"]}',
        "--- CLIP_1 ---\n", 0, "\n", "--- VIDEO_A ---\n", 1, "\n",
    ]  # fmt: skip
    assert choice_templates().fingerprint.startswith("paper-")


def test_frames_may_come_first(users):
    users(PAPER.replace('end = ""', 'end = "!"\norder = "frames first"', 1))
    assert [part if isinstance(part, int) else part[-3:] for part in message([None], "A")] == ["--\n", 0, "\n", "]}!"]


def test_egotempos_question_byte_for_byte(users):
    users(PAPER)
    templates = open_templates()
    assert open_segments("Where is $x?", templates, with_frames=True) == [
        Text("Where is $x? Look."), Text("Frames:\n"), ClipFrames(0),
    ]  # fmt: skip
    assert open_segments("Where?", templates, with_frames=False) == [Text("Where? Guess.\n\n")]


def test_egotempos_frames_come_before_the_question():
    segments = open_segments("Where is the cup?", load_open_templates(), with_frames=True)
    assert segments[0] == ClipFrames(0)
    assert len(segments) == 2 and "Where is the cup?" in segments[1].text
    closed = question([None], "A")
    segments = choice_segments(closed, shuffle_options("q", "ABC"), load_choice_templates(OPEN_CHOICE_TEMPLATES))
    assert [type(segment) for segment in segments] == [ClipFrames, Text]


def test_what_a_file_leaves_out_is_ours_and_said(users, caplog):
    path = users('version = "mine"\nsingle = "$question $options"\n')
    templates, ours = choice_templates(), load_choice_templates()
    assert (templates.multi, templates.layout) == (ours.multi, ours.layout)
    assert templates.single == "$question $options"
    assert open_templates() == load_open_templates()
    assert (
        f"{path} leaves out between_options, clip_end, end, heading, multi, option, order, single_heading"
        in caplog.text
    )
    assert f"{path} leaves out egotempo: there the wording is egobench's own" in caplog.text


def test_a_file_that_leaves_nothing_out_is_not_remarked_on(users, caplog):
    users(
        PAPER.replace('end = ""', 'end = ""\norder = "text first"', 1).replace(
            "[egotempo]", '[egotempo]\nclip_end = ""'
        )
    )
    choice_templates()
    open_templates()
    assert caplog.text == ""


@pytest.mark.parametrize("change", [('end = ""', 'end = " "'), ("--- $label", "-- $label"), ('"option"', '"one"')])
def test_every_part_of_the_layout_is_in_the_fingerprint(users, change):
    users(PAPER)
    before = choice_templates().fingerprint
    users(PAPER.replace(*change, 1))
    assert choice_templates().fingerprint != before


def test_a_file_that_cannot_be_used_is_named(users):
    for text, says in [('version = "1"\negotempo = 1\n', "must be a table"), ("[egotempo]\n", "needs a version")]:
        path = users(text)
        with pytest.raises(InputError, match=says) as error:
            open_templates()
        assert str(path) in str(error.value)


JUDGE = """
version = "paper"
system = ""
user = "Q: $question\\nRight: $gold_answer\\nSaid: $prediction\\n"
[[examples]]
question = "a?"
gold = "b"
prediction = "c"
reply = "{'pred': 'incorrect', 'score': 0}"
"""
ITEM = JudgeItem("q", "Where is $x?", "On it.", 'In\ud800 <it> "now"')


def test_the_judges_wording_byte_for_byte(users, caplog):
    ours = judge_messages(ITEM), prompt_fingerprint()
    users(JUDGE, "EGOBENCH_JUDGE_PROMPT")
    assert judge_messages(ITEM) == [
        {"role": "user", "content": "Q: a?\nRight: b\nSaid: c\n"},
        {"role": "assistant", "content": "{'pred': 'incorrect', 'score': 0}"},
        {"role": "user", "content": 'Q: Where is $x?\nRight: On it.\nSaid: In\\ud800 <it> "now"\n'},
    ]
    assert prompt_fingerprint().startswith("paper-") and caplog.text == ""
    assert ours[1].startswith("judge-1-") and ours[0][0]["role"] == "system"


def test_what_a_judges_file_leaves_out_is_ours_and_said(users, caplog):
    ours = judge_messages(ITEM)
    path = users('version = "mine"\nsystem = "Grade it."\n', "EGOBENCH_JUDGE_PROMPT")
    assert judge_messages(ITEM) == [{"role": "system", "content": "Grade it."}, *ours[1:]]
    assert f"{path} leaves out examples, user: there the judge's wording is egobench's own" in caplog.text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('system = ""\n', "needs a version"),
        ('version = "1"\nuser = "$question $prediction"\n', "user must hold \\$gold_answer"),
        ('version = "1"\nsystem = 1\n', "must be text"),
        ('version = "1"\n[[examples]]\nquestion = "a"\n', "an example needs"),
        ('version = "1"\nprompt = ""\n', "unknown prompt"),
    ],
)
def test_a_judges_file_that_cannot_be_used_is_named(users, text, says):
    path = users(text, "EGOBENCH_JUDGE_PROMPT")
    with pytest.raises(InputError, match=says) as error:
        judge_messages(ITEM)
    assert str(path) in str(error.value)
