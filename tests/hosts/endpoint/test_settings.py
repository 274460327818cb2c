from pathlib import Path

import pytest

from egobench_tasks.errors import InputError
from egobench_tasks.hosts.endpoint.settings import EndpointSettings, ImageDetail, load_endpoint_settings
from egobench_tasks.servers.settings import Thinking, TokensField

NEEDED = "base_url: http://127.0.0.1:8000/v1\nmodel: m\n"


@pytest.fixture
def load(tmp_path):
    """``load(text)``: the settings of a file with that text, the two that are needed added."""

    def read(text, needed=NEEDED):
        path = tmp_path / "endpoint.yaml"
        path.write_text(needed + text)
        return load_endpoint_settings(path)

    return read


def test_two_settings_are_enough_and_the_rest_follow_the_protocol(load):
    made = load("")
    assert made == EndpointSettings(base_url="http://127.0.0.1:8000/v1", model="m")
    assert (made.temperature, made.max_tokens_cap) == (0.0, 32768)
    assert made.first_budget(2048) == 2048


def test_every_setting_is_read(load):
    made = load(
        "api_key_variable: K\nconcurrency: 3\nrequests_per_minute: 30\ntimeout_s: 7\nmax_retries: 1\ntemperature: 1\n"
        "max_tokens: 100\nmax_tokens_cap: 200\nmax_tokens_field: max_completion_tokens\nthinking: auto\n"
        "image_detail: low\nextra_body: {top_k: 4}\n"
    )
    assert made == EndpointSettings(
        base_url="http://127.0.0.1:8000/v1", model="m", api_key_variable="K", concurrency=3, requests_per_minute=30,
        timeout_s=7, max_retries=1, temperature=1, max_tokens=100, max_tokens_cap=200,
        max_tokens_field=TokensField.MAX_COMPLETION_TOKENS, thinking=Thinking.AUTO, image_detail=ImageDetail.LOW,
        extra_body={"top_k": 4},
    )  # fmt: skip


@pytest.mark.parametrize(("text", "thinking"), [("on", Thinking.ON), ("off", Thinking.OFF), ("'on'", Thinking.ON)])
def test_a_bare_on_or_off_is_no_truth_value(load, text, thinking):
    assert load(f"thinking: {text}").thinking is thinking


def test_a_model_that_thinks_gets_the_reasoning_budget_unless_told_otherwise(load):
    assert load("thinking: on").first_budget(2048) == 16384
    assert load("thinking: on\nmax_tokens: 99").first_budget(2048) == 99
    assert load("max_tokens_cap: 99").first_budget(2048) == 99


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("concurency: 4", "unknown setting 'concurency'"),
        ("api_key: sk-1", "api_key does not belong in a file"),
        ("concurrency: 0", "concurrency must be at least 1, got 0"),
        ("max_tokens: 50000", "max_tokens 50000 lies above max_tokens_cap 32768: raise the cap, too"),
        ("max_tokens: 9\nmax_tokens_cap: 8", "max_tokens 9 lies above max_tokens_cap 8"),
        ("concurrency: many", "concurrency must be a whole number or one of auto; got 'many'"),
        ("concurrency: true", "concurrency must be a whole number or one of auto; got True"),
        ("concurrency: 1.5", "concurrency must be a whole number"),
        ("timeout_s: 0", "timeout_s must be a positive number"),
        ("timeout_s: .inf", "timeout_s must be a positive number"),
        ("requests_per_minute: -1", "requests_per_minute must be a positive number"),
        ("temperature: 3", r"temperature must lie in \[0, 2\]"),
        ("max_retries: -1", "max_retries must be at least 0"),
        ("max_retries:", "max_retries must be a whole number; got None"),
        ("thinking: maybe", "thinking must be one of auto, on, off; got 'maybe'"),
        ("image_detail: big", "image_detail must be one of auto, low, high"),
        ("extra_body: 1", "extra_body must be a mapping"),
        ("extra_body: {messages: []}", "extra_body must not hold messages"),
        ("extra_body: {stream: true}", "extra_body must not hold stream"),
    ],
)
def test_a_setting_that_cannot_be_is_named_with_its_file(load, text, says):
    with pytest.raises(InputError, match=f"endpoint.yaml: .*{says}"):
        load(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "must be a mapping"),
        ("- a", "must be a mapping"),
        ("model: m", "base_url must be set"),
        ("base_url: http://h/v1\nmodel: ''", "model is empty"),
        ("base_url: ftp://h\nmodel: m", "base_url must be like"),
        ("base_url: http://u:p@h/v1\nmodel: m", "user name or password"),
        ("a: [", "cannot read"),
    ],
)
def test_files_that_hold_no_endpoint(load, text, says):
    with pytest.raises(InputError, match=says):
        load(text, needed="")


def test_no_file_is_one_message():
    with pytest.raises(InputError, match=r"nowhere\.yaml: cannot read"):
        load_endpoint_settings(Path("nowhere.yaml"))


def test_a_key_of_odd_characters_is_refused():
    made = EndpointSettings(base_url="http://h/v1", model="m", api_key_variable="K")
    assert made.api_key({"K": " sk-1\n"}) == "sk-1"
    with pytest.raises(InputError, match=r"\$K holds characters"):
        made.api_key({"K": "sk\u20131"})
    assert EndpointSettings(base_url="http://h/v1", model="m").api_key({"K": "sk-1"}) is None


def test_identity_holds_what_shapes_an_answer_and_nothing_else():
    made = EndpointSettings(base_url="http://h/v1", model="m").identity()
    same = EndpointSettings(
        base_url="http://other/v1", model="m", concurrency=1, timeout_s=1, max_retries=0, max_tokens=5,
        api_key_variable="K", requests_per_minute=1, max_tokens_cap=9,
    ).identity()  # fmt: skip
    assert made == same
    for change in ({"temperature": 1.0}, {"thinking": Thinking.ON}, {"image_detail": ImageDetail.LOW}):
        assert EndpointSettings(base_url="http://h/v1", model="m", **change).identity() != made
