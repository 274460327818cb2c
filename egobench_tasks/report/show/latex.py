"""A table as LaTeX for a paper, in booktabs' style: the columns that a page shows first."""

from collections.abc import Sequence

from egobench_tasks.report.analyse.tables import Cell, Column, Kind, Table, cells

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "−": r"$-$",
    "–": r"--",
    "…": r"\ldots{}",
    "◊": r"$\diamond$",
}
_MAX_IDS = 10


def render_latex(table: Table) -> str:
    """Return a ``table`` environment, with the table's note in comments above it.

    Needs the packages booktabs, and fontenc with T1. Names are escaped; a cell's interval stands after its value,
    small.
    """
    shown = [(place, column) for place, column in enumerate(table.columns) if not column.aside]
    align = "".join("l" if column.kind.is_text else "r" for _, column in shown)
    head = " & ".join(escape(column.title) for _, column in shown)
    body = [" & ".join(_cell(column, row[place]) for place, column in shown) for row in cells(table)]
    lines = [
        *(f"% {line}" for line in " ".join(table.note.split()).split(". ") if line),
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape(table.title)}}}",
        rf"\label{{tab:{table.key.replace('_', '-')}}}",
        rf"\begin{{tabular}}{{{align}}}",
        r"\toprule",
        rf"{head} \\",
        r"\midrule",
        *(rf"{row} \\" for row in body),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Keep every character from being read as LaTeX, and a cell on one line.

    >>> print(escape("50 % of a_b & {c}"))
    50 \\% of a\\_b \\& \\{c\\}
    """
    return "".join(_ESCAPES.get(character, character) for character in " ".join(text.split()))


def _cell(column: Column, cell: Cell) -> str:
    if column.kind is Kind.QUESTIONS:
        return escape(_some(cell.text.split(" ")))
    # A cell that opens with a bracket would be read as an option of the line end before it.
    text = escape(cell.text)
    text = f"{{}}{text}" if text.startswith(("[", "*")) else text
    return text if cell.interval is None else rf"{text} {{\scriptsize ({escape(cell.interval)})}}"


def _some(ids: Sequence[str]) -> str:
    return " ".join(ids[:_MAX_IDS]) + (" …" if len(ids) > _MAX_IDS else "")
