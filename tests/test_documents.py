"""Users' YAML, TOML and JSON: whatever is wrong with one is one line, at once."""

import time

import pytest

from egobench_tasks.documents import read_json, read_toml, read_yaml
from egobench_tasks.errors import InputError

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "\n".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)

FAULTS = [
    (read_yaml, "model: a\nmodel: b\n", "key 'model' is given twice"),
    (read_yaml, "extra_body: {x: {k: 1, k: 2}}", "key 'k' is given twice"),
    (read_yaml, f"extra_body:\n  {BOMB.replace(chr(10), chr(10) + '  ')}", "aliases .* are not taken"),
    (read_yaml, "<<: *base", "aliases"),
    (read_yaml, "[" * 5000, "nested too deeply"),
    (read_yaml, "a: {? [1, 2] : 3}", "unhashable"),
    (read_yaml, "a: \x07", "special characters"),
    (read_json, '{"a": 1, "a": 2}', "key 'a' is given twice"),
    (read_json, '[{"b": {"a": 1, "a": 2}}]', "key 'a' is given twice"),
    (read_json, "[" * 100_000, "nested too deeply"),
    (read_json, "{", "Expecting property name"),
    (read_toml, "a = 1\na = 2", "Cannot overwrite a value"),
    (read_toml, "a = " + "[" * 100_000, "nested too deeply"),
]


@pytest.mark.parametrize(("read", "text", "says"), FAULTS)
def test_a_fault_is_one_line_that_names_the_file(tmp_path, read, text, says):
    path = tmp_path / "settings"
    path.write_text(text)
    started_s = time.monotonic()
    with pytest.raises(InputError, match=f"settings: cannot read the wishes: .*{says}") as error:
        read(path, "the wishes")
    assert "\n" not in str(error.value)
    assert time.monotonic() - started_s < 5


def test_what_is_no_file_of_text_is_one_line(tmp_path):
    (tmp_path / "latin").write_bytes("ü".encode("latin-1"))
    for name in ("latin", "nowhere", "."):
        with pytest.raises(InputError, match="cannot read the wishes"):
            read_yaml(tmp_path / name, "the wishes")


def test_ordinary_files_are_read(tmp_path):
    path = tmp_path / "file"
    path.write_text("\ufeffa: [1, {b: on}]\n")
    assert read_yaml(path, "it") == {"a": [1, {"b": True}]}
    path.write_text('{"a": {"a": 1}}')
    assert read_json(path, "it") == {"a": {"a": 1}}
