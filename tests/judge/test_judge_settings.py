"""The judge's settings, from the environment, a YAML file and the command line's options."""

import pytest

from egobench_tasks.errors import InputError
from egobench_tasks.judge.settings import JudgeSettings, load_settings

ENVIRON = {"EGOBENCH_JUDGE_BASE_URL": "http://127.0.0.1:1/v1", "EGOBENCH_JUDGE_MODEL": "m"}


def test_nothing_configured_is_no_judge():
    assert load_settings({"HOME": "/root", "EGOBENCH_JUDGE_API_KEY": "secret"}) is None


def test_the_environment_configures_a_judge():
    environ = ENVIRON | {"EGOBENCH_JUDGE_TIMEOUT_S": "2.5", "EGOBENCH_JUDGE_CONCURRENCY": "3"}
    expected = JudgeSettings(base_url="http://127.0.0.1:1/v1", model="m", timeout_s=2.5, concurrency=3)
    assert load_settings(environ) == expected


def test_options_go_before_the_environment_and_the_environment_before_the_file(tmp_path):
    config = tmp_path / "judge.yaml"
    config.write_text("base_url: https://judge.example/v1\nmodel: in-file\nmax_tokens: 100\ntimeout_s: 9\n")
    settings = load_settings(
        {
            "EGOBENCH_JUDGE_CONFIG": str(config),
            "EGOBENCH_JUDGE_MODEL": "in-environment",
            "EGOBENCH_JUDGE_TIMEOUT_S": "8",
        },
        overrides={"timeout_s": 7.0, "base_url": None},
    )
    assert settings == JudgeSettings(
        base_url="https://judge.example/v1", model="in-environment", max_tokens=100, timeout_s=7.0
    )


def test_a_cap_below_a_verdicts_usual_budget_bounds_it():
    assert JudgeSettings(base_url="http://h/v1", model="m", max_tokens_cap=100).first_budget == 100
    assert JudgeSettings(base_url="http://h/v1", model="m").first_budget == 512


def test_a_file_alone_is_enough_and_a_given_file_goes_before_the_variable(tmp_path):
    (tmp_path / "judge.yaml").write_text("base_url: http://localhost/v1\nmodel: m\n")
    settings = load_settings({"EGOBENCH_JUDGE_CONFIG": str(tmp_path / "none.yaml")}, config=tmp_path / "judge.yaml")
    assert settings is not None and settings.model == "m"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("base_url: http://h/v1\nmodle: m", "unknown setting 'modle'"),
        ("base_url: http://h/v1\nmodel: 7", "model must be text; got 7"),
        ("base_url: http://h/v1\nmodel: m\nconcurrency: 1.5", "concurrency must be a whole number"),
        ("base_url: http://h/v1\nmodel: m\nconcurrency: true", "concurrency must be a whole number"),
        ("base_url: http://h/v1\nmodel: m\nmax_tokens: 20000", "max_tokens 20000 lies above max_tokens_cap 16384"),
        ("base_url: http://h/v1\nmodel: m\ntimeout_s: soon", "timeout_s must be a number; got 'soon'"),
        ("model: m", "no base_url"),
        ("- model", "must be a mapping"),
        ("a: [", "cannot read"),
        ("api_key: s3cret", "api_key does not belong in a file"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(tmp_path, text, message):
    config = tmp_path / "judge.yaml"
    config.write_text(text)
    with pytest.raises(InputError, match=message) as error:
        load_settings({}, config=config)
    assert "s3cret" not in str(error.value)


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"EGOBENCH_JUDGE_MODEL": "m"}, "no base_url: set EGOBENCH_JUDGE_BASE_URL"),
        (ENVIRON | {"EGOBENCH_JUDGE_RETRIES": "1"}, "EGOBENCH_JUDGE_RETRIES: unknown setting"),
        (ENVIRON | {"EGOBENCH_JUDGE_MAX_RETRIES": "few"}, "MAX_RETRIES must be a whole number"),
        (ENVIRON | {"EGOBENCH_JUDGE_CONCURRENCY": "0"}, "concurrency must be at least 1"),
        (ENVIRON | {"EGOBENCH_JUDGE_TIMEOUT_S": "nan"}, "timeout_s must be a positive number"),
        (ENVIRON | {"EGOBENCH_JUDGE_BASE_URL": "127.0.0.1:8000"}, "base_url must be like"),
        (ENVIRON | {"EGOBENCH_JUDGE_BASE_URL": "http://h:port/v1"}, "base_url must be like"),
        (ENVIRON | {"EGOBENCH_JUDGE_BASE_URL": "http://me:s3cret@h/v1"}, "holds a user name or password"),
        ({"EGOBENCH_JUDGE_CONFIG": "/no/such/file"}, "cannot read"),
    ],
)
def test_a_wrong_environment_is_refused_with_its_variable(variables, message):
    with pytest.raises(InputError, match=message) as error:
        load_settings(variables)
    assert "s3cret" not in str(error.value)


def test_the_key_is_never_part_of_the_settings(monkeypatch):
    monkeypatch.setenv("EGOBENCH_JUDGE_API_KEY", "s3cret")
    assert "s3cret" not in repr(load_settings(ENVIRON | {"EGOBENCH_JUDGE_API_KEY": "s3cret"}))
