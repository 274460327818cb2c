"""The HTML of the list, a question and its frames: nothing in a dataset or a run gets out of its place."""

import time
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egobench_tasks.browse.catalogue import PAGE_SIZE, Entry, Filters, Verdict, matching
from egobench_tasks.browse.html import Beside, list_html, message_html, question_html, strips_html, style
from egobench_tasks.browse.question import QuestionPage, RunAnswer, ShownClip, shown_options, split_reasoning
from egobench_tasks.browse.strips import Strip
from egobench_tasks.frames.lazy import FrameList
from egobench_tasks.scoring.reasoning import split_reasoning as reasoning_of

NASTY = """<script>alert(1)</script><img src=x onerror="alert(2)">'"&amp; {{value}} ${value} `"""
VOID = {"img", "br", "hr"}


class Page(HTMLParser):
    """Elements with their attributes, and the text; fails on what is not closed."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.elements, self.open, self.words = [], [], []
        self.feed(html)
        self.close()
        assert self.open == []
        self.text = "".join(self.words)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    def of(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def page_of(text, **changes):
    entry = Entry(text, text, {"config": text, "unit": text}, {text: Verdict.WRONG})
    return replace(
        QuestionPage(
            entry=entry,
            clips=(ShownClip(text, f"/videos/{text}.mp4", 17.04), ShownClip(None, None, None)),
            options=shown_options([text, "two"], "AB", frozenset("A"), {"A": "B", "B": "A"}),
            answer="",
            answers=(
                RunAnswer(
                    text, Verdict.WRONG, f"<think>{text}</think>{text}", text, "stop", text, frozenset("A"), text, text
                ),
            ),
            frames=FrameList(()),
            frames_rule=text,
        ),
        **changes,
    )


@pytest.mark.parametrize("text", [NASTY, "plain"])
def test_only_our_own_elements_come_out(text):
    everything = [
        list_html([page_of(text).entry], [text], 1, text),
        list_html([page_of(text).entry], [text], 1, beside=Beside({text: text}, "/report")),
        question_html(page_of(text), lambda path: path, {text: text}),
        question_html(page_of(text), lambda path: path),
        question_html(page_of(text, options=(), answer=text), lambda path: path),
        strips_html(page_of(text), [Strip(text, (b"jpeg",), (0.5,), text), Strip(None, (), (), None)]),
        message_html(text),
    ]
    for html in everything:
        page = Page(html)
        assert page.of("script") == []
        assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
        assert all(image["src"].startswith("data:image/jpeg;base64,") for image in page.of("img"))
        assert text in page.text


def structure(html):
    return [tag for tag, _ in Page(html).elements]


@settings(deadline=None)  # the first example compiles the templates
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), min_size=1))
def test_no_text_changes_the_structure(text):
    if "think>" not in text and text.strip():
        assert structure(question_html(page_of(text), str)) == structure(question_html(page_of("plain"), str))
        link = Page(list_html([page_of(text).entry], [text], 1)).of("a")[0]
        assert parse_qs(urlsplit(link["href"]).query)["question"] == [text]
        assert link["data-question"] == text


@given(st.text() | st.lists(st.sampled_from(["<think>", "</think>", "a", "\n"])).map("".join))
def test_splitting_reasoning_loses_no_character(text):
    reasoning, rest = split_reasoning(text)
    assert reasoning + rest == text
    assert rest == (reasoning_of(text).answer or "")


def test_reasoning_is_folded_and_the_answer_is_not():
    html = question_html(page_of("plain"), str)
    folded = html[html.index("<details>") : html.rindex("</details>")]
    assert folded.count("<pre>") == 2  # what the host kept apart, and what stands in the text
    assert '<pre class="eb-raw">plain</pre>' not in folded
    assert '<pre class="eb-raw">plain</pre>' in html
    assert "open" not in Page(html).of("details")[0]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("<think>a", ("<think>a", "")),
        ("a</think>b", ("a</think>", "b")),
        # What scoring reads as the answer is not folded away (PROTOCOL 1.3, rule 1).
        ("a</think><think>b", ("a</think>", "<think>b")),
        ("[THINK]a[/THINK]b", ("[THINK]a[/THINK]", "b")),
        ("◁think▷a", ("◁think▷a", "")),
        ("plain", ("", "plain")),
    ],
)
def test_reasoning_is_folded_where_scoring_cuts_it(text, parts):
    assert split_reasoning(text) == parts


def test_options_stand_in_shown_order_with_both_letters_and_marks():
    options = shown_options(["one", "two", "three"], "ABC", frozenset("BC"), {"A": "C", "B": "A", "C": "B"})
    assert [(option.shown, option.original, option.text, option.is_gold) for option in options] == [
        ("A", "C", "three", True),
        ("B", "A", "one", False),
        ("C", "B", "two", True),
    ]
    answer = RunAnswer("run", Verdict.WRONG, chosen=frozenset("AB"))
    rows = question_html(page_of("plain", options=options, answers=(answer,)), str).split("<tr")[2:]
    assert ["eb-gold" in row.split(">")[0] for row in rows] == [True, False, True]
    assert ["chose" in row for row in rows] == [True, True, False]
    assert ["eb-mark eb-right" in row for row in rows] == [True, False, False]
    assert ["eb-mark eb-wrong" in row for row in rows] == [False, True, False]


def test_clips_wait_to_be_played_and_a_missing_one_says_so():
    page = Page(question_html(page_of("plain"), lambda path: f"/file{path}"))
    (video,) = page.of("video")
    assert video["src"] == "/file/videos/plain.mp4" and video["preload"] == "metadata"
    assert "controls" in video and "autoplay" not in video
    assert "not in this dataset folder" in page.text


def test_a_window_of_a_longer_video_is_where_players_start():
    clip = ShownClip(None, "/v.mp4", 60.0, (3.5, 10.0))
    page = Page(question_html(page_of("plain", clips=(clip,)), str))
    assert page.of("video")[0]["src"] == "/v.mp4#t=3.5,10"
    assert "3.5 s to 10.0 s of 60.0 s" in " ".join(page.text.split())


def test_every_frame_has_its_time():
    page = Page(strips_html(page_of("plain"), [Strip("CLIP_1", (b"1", b"2"), (0.25, 1.75)), Strip("B", (b"3",), (9,))]))
    assert [image["alt"] for image in page.of("img")] == ["Frame at 0.2 s", "Frame at 1.8 s", "Frame at 9.0 s"]
    assert "3 frames" in page.text


def test_the_style_fetches_nothing():
    assert "url(" not in style() and "@import" not in style()


def test_ten_thousand_questions_are_searched_at_once_and_sent_by_the_hundred():
    listed = [
        Entry(f"q{number:05d}", f"Which of the walls is passed {number} times?", {}, {"run": Verdict.RIGHT}, ("a", "b"))
        for number in range(10_000)
    ]
    started_s = time.process_time()
    found = matching(listed, Filters(words="wall 99"))
    html = list_html(found, ["run"], len(listed))
    everything = list_html(listed, ["run"], len(listed), "q09999")
    assert time.process_time() - started_s < 2  # 0.1 s where it was written
    assert len(found) == sum("99" in f"{number:05d}" for number in range(10_000))
    assert len(Page(html).of("a")) == len(Page(everything).of("a")) == PAGE_SIZE
    assert len(everything.encode()) < 60_000
    assert "9901 to 10000" in everything and 'data-question="q09999"' in everything
    assert Page(everything).of("button")[-1].get("disabled", "no") is None  # nothing comes later


def test_runs_are_named_with_their_folder_and_the_report_is_linked():
    entry = page_of("plain").entry
    page = Page(list_html([entry], ["plain"], 1, beside=Beside({"plain": "runs/qwen"}, "/report")))
    assert "runs/qwen" in page.text and "/report" in [link["href"] for link in page.of("a")]
    assert "Report" not in Page(list_html([entry], ["plain"], 1)).text
    assert "runs/qwen" in Page(question_html(page_of("plain"), str, {"plain": "runs/qwen"})).text
