"""Chat templates as they are found, and what becomes of a message in them."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egobench_tasks.errors import InputError
from egobench_tasks.hosts.lighteval.vision.prompt import Visual, order_fault, prompt_form

IMAGES_FIRST = (
    "{% for m in messages %}{{ m['role'].upper() }}: "
    "{% for p in m['content'] if p['type'] == 'image' %}{{ '<image>\n' }}{% endfor %}"
    "{% for p in m['content'] if p['type'] == 'text' %}{{ p['text'] + ' ' }}{% endfor %}"
    "{% endfor %}{% if add_generation_prompt %}ASSISTANT:{% endif %}"
)
STRING_ONLY = "{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] }}{% endfor %}<|assistant|>"
PRINTS_A_LIST = "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}{% endfor %}<|assistant|>"
DROPS_IMAGES = "{% for m in messages %}{% for p in m['content'] if p['text'] %}{{ p['text'] }}{% endfor %}{% endfor %}"
_PART = "{% if p['type'] == 'image' %}<image>{% else %}{{ p['text'] }}{% endif %}"
DROPS_TEXT = "{% for m in messages %}{% for p in m['content'] if not p['text'] %}<image>{% endfor %}{% endfor %}"
LAST_TEXT_ONLY = DROPS_TEXT + "{{ messages[-1]['content'][-1]['text'] }}"
BOTH_ENDS = "<image>{% for m in messages %}{% for p in m['content'] %}" + _PART + "{% endfor %}{% endfor %}"
IN_ORDER = (
    "{{ bos_token }}{% for m in messages %}{{ m['role'] }}: {% for p in m['content'] %}"
    "{% if p['type'] == 'image' %}<image>{% else %}{{ p['text'] | trim }}{% endif %}{% endfor %}\n{% endfor %}"
)
NUMBERED = (
    "{% set n = namespace(i=0) %}{% for m in messages %}{% for p in m['content'] %}{% if p['type'] == 'image' %}"
    "{% set n.i = n.i + 1 %}Picture {{ n.i }}: <|pic|>{% else %}{{ p['text'] }}{% endif %}{% endfor %}{% endfor %}"
)
MESSAGE = ["Question?\n", "CLIP_1\n", Visual.IMAGE, Visual.IMAGE, "CLIP_2\n", Visual.IMAGE]


@pytest.fixture(scope="module")
def processor(tiny_llava):
    from transformers import AutoProcessor

    return AutoProcessor.from_pretrained(tiny_llava)


def form_of(processor, template, *, in_order=False, **variables):
    return prompt_form(processor, Visual.IMAGE, template=template, in_order=in_order, variables=variables, system=None)


@pytest.mark.parametrize(
    ("template", "says"),
    [
        (IMAGES_FIRST, "0 images where the message has 1"),
        (STRING_ONLY, "it fails on a message"),
        (PRINTS_A_LIST, "takes a message as one string"),
        (DROPS_IMAGES, "0 images where the message has 1"),
        (DROPS_TEXT, "dropped"),
        (LAST_TEXT_ONLY, "dropped"),
        (BOTH_ENDS, "1 images where the message has 0"),
        ("{{ bos_token }}" + IN_ORDER, "twice"),
        ("{% for m in messages %}", "not Jinja"),
        ("{{ raise_exception('only one image') }}", "only one image"),
    ],
)
def test_a_template_that_does_not_say_what_the_message_says_is_refused(processor, template, says):
    with pytest.raises(InputError, match=says) as error:
        form_of(processor, template)
    assert "not Jinja" in says or "chat_template=FILE" in str(error.value)


@pytest.mark.parametrize("template", [IN_ORDER, NUMBERED])
def test_a_template_that_keeps_order_is_used_as_it_is(processor, template):
    form = form_of(processor, template)
    prompt = form.render(processor, MESSAGE)
    form.check(prompt, MESSAGE)
    assert form.inline is None
    assert re.sub(r"\s+", "", re.sub(form.mark, "@", prompt)).partition("Question")[2].startswith("?CLIP_1@@CLIP_2@")


@pytest.mark.parametrize("template", [IMAGES_FIRST, STRING_ONLY, PRINTS_A_LIST, DROPS_IMAGES, IN_ORDER])
def test_in_order_writes_the_marks_into_the_text_of_the_models_own_template(processor, template):
    form = form_of(processor, template, in_order=True)
    prompt = form.render(processor, MESSAGE)
    form.check(prompt, MESSAGE)
    assert re.sub(r"\s+", "", prompt).count("CLIP_1<image><image>CLIP_2<image>") == 1


def test_in_order_cannot_mend_a_template_that_drops_text(processor):
    with pytest.raises(InputError, match="does not keep even one text"):
        form_of(processor, DROPS_TEXT, in_order=True)


def test_llavas_own_mark_is_kept_with_its_line_end(processor):
    assert form_of(processor, IMAGES_FIRST, in_order=True).inline == "<image>\n"


def test_a_mark_that_a_question_holds_itself_is_found_out(processor):
    form = form_of(processor, IN_ORDER)
    message = ["What does <image> mean?", Visual.IMAGE]
    with pytest.raises(InputError, match="does not keep"):
        form.check(form.render(processor, message), message)


def test_unknown_variables_of_the_template_are_refused_with_the_nearest(processor):
    template = "{% if enable_thinking %}<think>{% endif %}" + IN_ORDER
    assert form_of(processor, template, enable_thinking=True).render(processor, ["a"]).startswith("<think>")
    with pytest.raises(InputError, match="did you mean enable_thinking"):
        form_of(processor, template, enable_thinkin=True)


texts = st.text(st.characters(codec="ascii", exclude_characters="@"), min_size=1).filter(str.strip)
messages = st.lists(st.one_of(texts, st.just(Visual.IMAGE)), min_size=2, max_size=12)


@settings(max_examples=60)
@given(messages)
def test_a_faithful_prompt_has_no_fault(parts):
    prompt = "".join("@" if isinstance(part, Visual) else part.strip() for part in parts)
    assert order_fault(prompt, parts, "@") is None


@settings(max_examples=60)
@given(messages)
def test_a_prompt_with_all_its_images_last_has_one(parts):
    shuffled = sorted(parts, key=lambda part: isinstance(part, Visual))
    prompt = "".join("@" if isinstance(part, Visual) else part.strip() for part in shuffled)
    moved = [isinstance(part, Visual) for part in shuffled] != [isinstance(part, Visual) for part in parts]
    assert (order_fault(prompt, parts, "@") is not None) == moved
