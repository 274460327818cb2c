"""Tables as LaTeX, put through pdfLaTeX itself: every table of a report, and names of all that a keyboard has."""

import shutil
import subprocess

import pytest
from planted import right, said_by, wrong

from egobench_tasks.report.analyse.tables import Column, Kind, table
from egobench_tasks.report.show.latex import _ESCAPES, _TYPESET, render_latex
from egobench_tasks.report.show.write import build_document

PDFLATEX = shutil.which("pdflatex")
pytestmark = pytest.mark.skipif(PDFLATEX is None, reason="no pdflatex here (Debian: texlive-latex-recommended)")

PREAMBLE = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{booktabs}\begin{document}"


def typeset(folder, tables):
    """Return what pdfLaTeX says of a paper with the tables; it stops at the first error."""
    pages = [f"{render_latex(one)}\\clearpage" for one in tables]
    (folder / "paper.tex").write_text("\n".join([PREAMBLE, *pages, r"\end{document}"]), encoding="utf-8")
    command = [PDFLATEX, "-halt-on-error", "-interaction=nonstopmode", "paper.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=120)
    said = done.stdout.decode("utf-8", "replace")
    assert done.returncode == 0 and (folder / "paper.pdf").stat().st_size, said[-2000:]
    return said


def test_every_table_of_a_report_is_typeset(planted, writer, tmp_path):
    def speak(modulus):
        return lambda row: wrong(row) if int(row["question_id"][1:]) % modulus == 0 else right(row)

    names = {"evil_<script>|*name*": 2, "100 % & #1 {x} ~^$\\": 3}
    paths = [
        writer.write(tmp_path / str(place), name, said_by(planted, speak(modulus)))
        for place, (name, modulus) in enumerate(names.items())
    ]
    tables = build_document(paths, lambda benchmark: planted.location).tables
    assert len(tables) > 5
    typeset(tmp_path, tables)


@pytest.mark.parametrize(
    "name",
    [
        "".join(sorted(_TYPESET)),
        "".join(_ESCAPES),
        "Qwen3-千问 Модель 🤖 αβκ Ħ ſ",
        "[a] *b* \x07 \x00 \ufeff \u200b e\u0301",
    ],
    ids=["set by the kernel", "escaped", "other scripts", "marks and controls"],
)
def test_a_name_of_any_characters_is_typeset(tmp_path, name):
    columns = [Column("run", name, Kind.RUN), Column("rate", "Exact %", Kind.PERCENT, low="low", high="high")]
    rows = [{"run": name, "rate": 0.384, "low": 0.35, "high": 0.42}, {"run": f"[{name}", "rate": None}]
    typeset(tmp_path, [table("a_key", name, f"A note. {name}", columns, rows)])
