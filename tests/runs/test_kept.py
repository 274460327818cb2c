import pytest
from typer.testing import CliRunner

from egobench_tasks.cli import app
from egobench_tasks.errors import InputError
from egobench_tasks.runs.circumstances import our_environment, this_command
from egobench_tasks.runs.differences import differing
from egobench_tasks.runs.journal import Answer, Journal
from egobench_tasks.runs.record import Answerer
from egobench_tasks.runs.sessions import Place, session_of


@pytest.fixture
def journal(tmp_path, monkeypatch):
    """Three answers of m from two servers, one of n from this machine, and one of before there were sessions."""
    monkeypatch.setenv("EGOBENCH_JOURNAL", str(tmp_path / "journal"))
    monkeypatch.setenv("COLUMNS", "200")

    def keep(key, n_answers, name=None, address=None):
        place = Place(address=address, day="2026-11-30") if address else None
        session = session_of(Answerer(name=name, key=key, identity={"model": name}), place) if name else None
        file = Journal(tmp_path / "journal" / key, session)
        for index in range(n_answers):
            file.append(Answer(f"{key}{index}", f"q{index}", "egogears:multi|0", "p", "t", "stop"))

    keep("aa11", 2, "m", "http://one/v1")
    keep("aa11", 1, "m", "http://two/v1")
    keep("ab22", 1, "n")
    keep("cc33", 1)
    return tmp_path / "journal"


def run(*arguments):
    return CliRunner().invoke(app, ["journal", *arguments])


def test_the_list_says_whose_how_many_when_and_from_where(journal):
    shown = run("list").output
    assert "aa11" in shown and "http://one/v1" in shown and "http://two/v1" in shown
    (line,) = [line for line in shown.splitlines() if "aa11" in line]
    assert line.split()[:3] == ["aa11", "m", "3"] and "Z" in line
    assert "not written down" in shown


def test_showing_a_model_names_its_sessions_and_what_its_key_is_of(journal):
    shown = run("show", "m").output
    assert shown.startswith("aa11: 3 answers of m")
    assert "2 answers, http://one/v1" in shown and "1 answers, http://two/v1" in shown and '"model": "m"' in shown
    assert "ab22" not in shown


def test_only_what_is_named_is_cleared_and_only_with_yes(journal):
    before = sorted(journal.rglob("*"))
    done = run("clear", "m")
    assert isinstance(done.exception, InputError) and "--yes" in str(done.exception) and "3 answers of m" in done.output
    assert sorted(journal.rglob("*")) == before
    assert run("clear", "m", "cc", "--yes").exit_code == 0
    assert [path.name for path in journal.iterdir()] == ["ab22"]


@pytest.mark.parametrize("name", ["", "zz", "M"])
def test_a_name_that_nothing_has_clears_nothing(journal, name):
    done = run("clear", "m", name, "--yes")
    assert isinstance(done.exception, InputError) and "it holds m, n, not written down" in str(done.exception)
    assert len(list(journal.iterdir())) == 3


def test_no_journal_at_all_is_an_empty_list(tmp_path, monkeypatch):
    monkeypatch.setenv("EGOBENCH_JOURNAL", str(tmp_path / "none"))
    assert run("list").exit_code == 0


def test_no_key_stands_among_a_runs_variables():
    environ = {
        "EGOBENCH_JUDGE_API_KEY": "sk-1", "EGOBENCH_JUDGE_MODEL": "j", "EGOGEARS_DATA": "x", "EGOTEMPO_DATA": "",
        "HOME": "/root",
    }  # fmt: skip
    assert our_environment(environ) == {"EGOBENCH_JUDGE_MODEL": "j", "EGOGEARS_DATA": "x"}


def test_a_command_is_named_as_a_user_calls_it(monkeypatch):
    monkeypatch.setattr("sys.argv", ["/venv/bin/lighteval", "accelerate", "a"])
    assert this_command() == ("lighteval", "accelerate", "a")
    monkeypatch.setattr("sys.argv", ["/src/egobench_tasks/cli.py", "run"])
    assert this_command() == ("egobench", "run")


def test_differences_are_named_by_their_path():
    first = {"files": {"a.json": "1", "b.json": "2"}, "dtype": None, "sizes": (1, 2)}
    assert differing(first, {"files": {"a.json": "1", "b.json": "3"}, "dtype": None, "sizes": [1, 2]}) == [
        "files.b.json"
    ]
    assert differing(first, {"files": {}, "sizes": (2, 1)}) == ["dtype", "files.a.json", "files.b.json", "sizes"]
