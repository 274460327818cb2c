"""Tables as LaTeX: whatever a name holds, a row stays a row and nothing in it is a command."""

import re

from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.report.analyse.tables import Column, Kind, table
from egobench_tasks.report.show.latex import _ESCAPES, _TYPESET, escape, render_latex

COLUMNS = [
    Column("run", "Run", Kind.RUN),
    Column("rate", "Exact %", Kind.PERCENT, low="low", high="high"),
    Column("more", "More", Kind.COUNT, aside=True),
]


def body(text):
    return text.split("\\midrule\n")[1].split("\\bottomrule")[0]


@given(st.text(st.sampled_from(sorted(_TYPESET | _ESCAPES.keys()))))
def test_an_escaped_name_reads_back_as_itself(text):
    back = {after: before for before, after in _ESCAPES.items()}
    pattern = "|".join(map(re.escape, sorted(back, key=len, reverse=True)))
    assert re.sub(pattern, lambda found: back[found[0]], escape(text)) == " ".join(text.split())


@given(st.text(min_size=1))
def test_no_name_adds_a_cell_a_row_or_a_comment(name):
    lines = body(render_latex(table("k", "T", "", COLUMNS, [{"run": name, "rate": 0.5, "more": 1}]))).splitlines()
    assert len(lines) == 1 and lines[0].endswith(r" \\")
    assert len(re.findall(r"(?<!\\)&", lines[0])) == 1
    assert not re.search(r"(?<!\\)%", lines[0])


def test_a_row_has_the_columns_shown_at_first_with_their_intervals():
    rows = [{"run": "a_b [1]", "rate": 0.384, "low": 0.35, "high": 0.42, "more": 7}, {"run": "[x]", "rate": None}]
    text = render_latex(table("two_words", "50 % & more", "A note. With two.", COLUMNS, rows))
    assert "% A note\n% With two.\n" in text and r"\caption{50 \% \& more}" in text and "tab:two-words" in text
    assert r"\begin{tabular}{lr}" in text and text.count("rule\n") == 3
    assert body(text) == "a\\_b [1] & 38.4 {\\scriptsize (35.0 to 42.0)} \\\\\n{}[x] & -- \\\\\n"
